package wap

import (
	"context"
	"hash/maphash"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// Which operations are choices, and why the others are none.
//
// Two operations of different clients commute when neither can see, or be
// refused because of, the other. That holds for every key of which one client
// alone knows the name until the object is there and never changes again:
// snapshots, trees, manifests, evidence, attempts and data files. Their names
// hold a ULID of the client that writes them; others learn a name from the
// pointer, a run record or a seal, all of them written after the object was
// acknowledged; and nothing explored here deletes one. Listing data files
// belongs to them: who lists looks for names that it knows.
//
// What is left are the keys that several clients name by themselves:
//
//   - the pointer and the run records, which change;
//   - open marks, which are created and deleted. Nothing explored here reads one,
//     so they are no choices; that a generation is marked as long as it is
//     unfinished is asserted after every step;
//   - seals, pinned inputs and the warehouse object: created once, by whoever is
//     first, and never changed. While such an object is absent, reading and
//     creating it do not commute; once it is there, every answer about it is the
//     same for ever, so that the operation may as well act at once. Listing
//     seals is a choice always.
//
// Of these keys a scenario's clients contest some, and others not: what one
// client alone touches, or what all only read, commutes again. Which ones are
// contested is found by exploring: an exploration that meets a key it took for
// uncontested, and that no longer is, begins anew with what it learnt
// (contest). The last one has then shown that its assumption was right.
//
// Every answer about a contested key, choice or not, goes into what is known of
// the client that got it: two executions in which the shared objects are equal
// and each client was given the same answers go on in the same ways
// (explore_search_test.go leans on that).

// shared reports whether several clients may name a key by themselves.
func shared(key string) bool { return mutable(key) || once(key) || sealFolder(key) || isMark(key) }

// mutable keys change.
func mutable(key string) bool {
	return key == manifest.PointerKey || strings.HasSuffix(key, "/run.json")
}

func isMark(key string) bool { return strings.HasPrefix(key, manifest.MarkPrefix) }

// once keys are created by whoever is first.
func once(key string) bool {
	return key == manifest.WarehouseKey ||
		strings.HasPrefix(key, manifest.RunsPrefix) && (strings.Contains(key, "/tasks/") || strings.Contains(key, "/inputs/")) && !sealFolder(key)
}

// sealFolder is the prefix of a listing of seals.
func sealFolder(key string) bool {
	return strings.HasPrefix(key, manifest.RunsPrefix) && strings.HasSuffix(key, "/tasks/")
}

// contest is what is known about who touches which shared key.
type contest struct {
	touching map[string]map[int]bool // key → client → whether it writes
	open     map[string]bool         // contested keys
	grew     bool                    // since it was last looked at
}

func newContest() *contest {
	return &contest{touching: map[string]map[int]bool{}, open: map[string]bool{}}
}

// note says that a client is about to touch a key. Listings touch the folder of
// what they list, and so does whoever creates something there. A client whose
// writes may land later contests with itself.
func (c *contest) note(client int, op faultstore.Op, astray bool) {
	key := op.Key
	if i := strings.Index(key, "/tasks/"); i >= 0 && (op.Verb == faultstore.Create || op.Verb == faultstore.List) {
		c.touch(client, key[:i+len("/tasks/")], op, astray)
	}
	c.touch(client, key, op, astray)
}

func (c *contest) touch(client int, key string, op faultstore.Op, astray bool) {
	by := c.touching[key]
	if by == nil {
		by = map[int]bool{}
		c.touching[key] = by
	}
	by[client] = by[client] || writes(op.Verb)
	writers := 0
	for _, w := range by {
		if w {
			writers++
		}
	}
	if contested := writers > 0 && (len(by) > 1 || astray && by[client]); contested && !c.open[key] {
		c.open[key], c.grew = true, true
	}
}

// contested reports whether what is answered about a key depends on what other
// clients do. The other answers follow from a client's own past, and some of
// them may be left out by chance: when one of its requests fails, those that it
// has not sent yet are cancelled.
func (ex *execution) contested(key string) bool { return ex.contest == nil || ex.contest.open[key] }

// meets reports whether an operation must be a choice. The caller holds ex.lock.
func (ex *execution) meets(op faultstore.Op) bool {
	switch {
	case !ex.contested(op.Key):
		return false
	case op.Verb == faultstore.Create && mutable(op.Key), once(op.Key):
		_, err := ex.mem.Head(context.Background(), op.Key)
		return err != nil
	}
	return mutable(op.Key) || sealFolder(op.Key)
}

// writes reports whether a verb may change an object.
func writes(v faultstore.Verb) bool {
	return v == faultstore.Create || v == faultstore.Swap || v == faultstore.Delete
}

// commute reports whether two choices of one state, neither of which ended a
// call, lead to the same state in either order. A creation commutes with nothing:
// it turns operations that others have yet to come to into foregone conclusions.
func commute(a, b action) bool {
	if a.player == b.player || a.verb == faultstore.Create || b.verb == faultstore.Create {
		return false
	}
	if a.kill || b.kill {
		return true
	}
	return a.key != b.key || !writes(a.verb) && !writes(b.verb)
}

// answer is what a client now knows more: a fingerprint of an operation's answer.
func (ex *execution) answer(op faultstore.Op) uint64 {
	text := opText(op)
	if op.Err != nil {
		return hashOf(text, op.Err.Error())
	}
	switch op.Verb {
	case faultstore.Get:
		return mix(hashOf(text, "found"), ex.content(op.Key))
	case faultstore.List:
		sum := uint64(0)
		for e, err := range ex.mem.List(context.Background(), op.Key) {
			if err != nil {
				panic(err)
			}
			sum += hashOf(e.Key, "listed")
		}
		return mix(hashOf(text, "listed"), sum)
	}
	return hashOf(text, "done")
}

// content is a fingerprint of an object as it is; 0: absent.
func (ex *execution) content(key string) uint64 {
	e, err := ex.mem.Head(context.Background(), key)
	if err != nil {
		return 0
	}
	return hashOf(key, e.Version.ETag)
}

// refresh looks at a shared object after something was done to it.
func (ex *execution) refresh(key string) {
	now := ex.content(key)
	if now == ex.contents[key] {
		return
	}
	ex.contents[key] = now
	ex.noteSeal(key)
	if now == 0 || key != manifest.PointerKey && !strings.HasSuffix(key, "/run.json") {
		return
	}
	body, _, err := ex.mem.Get(context.Background(), key)
	if err != nil {
		panic(err)
	}
	ex.changed = append(ex.changed, changed{key, ex.bodies[key], body})
	ex.bodies[key] = body
}

// noteSeal remembers seals that were created when their generation was over.
func (ex *execution) noteSeal(key string) {
	for record, body := range ex.bodies {
		folder := strings.TrimSuffix(record, "run.json")
		if record == manifest.PointerKey || !strings.HasPrefix(key, folder) || !strings.Contains(key, "/tasks/") {
			continue
		}
		r := decoded[manifest.Run](ex, body)
		over := r.State == manifest.StateAborting || final(r.State)
		ex.late[key] = over || !strings.HasPrefix(key, manifest.SealPrefix(r.Run, r.Generation))
	}
}

// state is a fingerprint of everything that decides what can still happen and
// what the checker will say of it. Of the dead only their writes on the way are
// left, of those that are done what they said.
func (ex *execution) state() uint64 {
	sum := uint64(0)
	for key, c := range ex.contents {
		sum += mix(hashOf(key, "holds"), c)
	}
	sum = mix(sum, uint64(ex.faults)<<32|uint64(ex.crashes))
	for key, late := range ex.late {
		if late {
			sum += hashOf(key, "late")
		}
	}
	if ex.sc.preemptions > 0 {
		sum = mix(sum, uint64(ex.preemptions)<<32|uint64(ex.current))
	}
	for _, p := range ex.players {
		switch {
		case p.dead:
			sum = mix(sum, 1)
		case p.finished:
			sum = mix(sum, 2)
		default:
			sum = mix(sum, p.past)
		}
		for _, r := range p.reports {
			sum = mix(sum, r.fingerprint())
		}
		for _, z := range p.zombies {
			sum = mix(sum, z)
		}
	}
	return sum
}

var hashSeed = maphash.MakeSeed()

func hashOf(a, b string) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	h.WriteString(a)
	h.WriteByte(0)
	h.WriteString(b)
	return h.Sum64()
}

// mix combines two fingerprints; the order matters.
func mix(a, b uint64) uint64 {
	x := a*0x9E3779B97F4A7C15 ^ (b + 0x7F4A7C159E3779B9)
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 29
	x *= 0x94D049BB133111EB
	return x ^ x>>32
}
