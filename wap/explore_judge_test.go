package wap

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// changed is a change of the pointer or of a record, in the step just taken.
type changed struct {
	key          string
	before, next []byte // before is nil where the object is new
}

// decoded decodes a body that was read from the store; nil stays nil.
func decoded[T any](ex *execution, body []byte) *T {
	if body == nil {
		return nil
	}
	v, _, err := recall[T](&ex.sc.kit.memo, body)
	if err != nil {
		panic(err)
	}
	return v
}

// view is the store as it is judged.
func (ex *execution) view() store.Store { return &recalling{ex.mem, &ex.sc.kit.memo} }

// record is a run's record as it is, or nil.
func (ex *execution) record(run string) *manifest.Run {
	return decoded[manifest.Run](ex, ex.bodies[manifest.RunKey(run)])
}

// pointer is the pointer as it is.
func (ex *execution) pointer() *manifest.Pointer {
	return decoded[manifest.Pointer](ex, ex.bodies[manifest.PointerKey])
}

// isFinal: the call said that this generation will not be published.
func (r *report) isFinal() bool {
	return r.verb == "audit" && r.code == 3 || r.verb == "abort" && r.code == 0 && r.state == manifest.StateAborted
}

// arm keeps track of what must not be published any more: a generation that was
// said to be over, until an audit by other rules lets it pass.
func (ex *execution) arm() {
	for _, c := range ex.changed {
		if !strings.HasSuffix(c.key, "/run.json") || c.before == nil {
			continue
		}
		for _, r := range ex.reports() {
			if r.armed && manifest.RunKey(r.run) == c.key {
				from, to := decoded[manifest.Run](ex, c.before), decoded[manifest.Run](ex, c.next)
				if to.Generation == r.generation && from.State == manifest.StateRejected && to.State == manifest.StateFrozen {
					r.armed = false
				}
			}
		}
	}
	for _, r := range ex.reports() {
		if r.at == len(ex.trace) && r.isFinal() {
			now := ex.record(r.run)
			r.armed = now.Generation != r.generation || now.State != manifest.StateFrozen
		}
	}
}

func (ex *execution) reports() []*report {
	var out []*report
	for _, p := range ex.players {
		out = append(out, p.reports...)
	}
	return out
}

// alone reports whether the step just taken was its operation and nothing else:
// it ended no call and touched no mark.
func (ex *execution) alone() bool {
	last := ex.trace[len(ex.trace)-1]
	return !slices.ContainsFunc(ex.touched, func(key string) bool { return key != last.key }) &&
		!slices.ContainsFunc(ex.reports(), func(r *report) bool { return r.at == len(ex.trace) })
}

// judgeNow asserts what must hold after every step.
func (ex *execution) judgeNow(t *testing.T) {
	t.Helper()
	for _, c := range ex.changed {
		if c.key == manifest.PointerKey {
			ex.judgePointer(t, c)
		} else {
			ex.judgeRecord(t, c)
		}
	}
	for _, key := range ex.touched {
		if isMark(key) || strings.HasSuffix(key, "/run.json") {
			ex.judgeMarks(t)
			break
		}
	}
	for _, r := range ex.reports() {
		if r.at != len(ex.trace) {
			continue
		}
		if r.code == 9 || (r.code == 1 || r.code == 5) && ex.faults == ex.sc.faults {
			t.Fatalf("nothing went wrong with the store, and %s says %v", r.player.name, r)
		}
		if r.verb == "seal" && r.code == 0 && ex.late[manifest.SealKey(r.run, r.generation, r.task)] {
			t.Fatalf("%s says %v, and the seal came when the generation was over", r.player.name, r)
		}
		if r.armed && chained(readChain(t, ex.view(), ex.pointer()), r.run, r.generation) != 0 {
			t.Fatalf("%s says %v, and it is published", r.player.name, r)
		}
	}
}

// judgePointer asserts that the pointer moved on by one whole step.
func (ex *execution) judgePointer(t *testing.T, c changed) {
	t.Helper()
	next := decoded[manifest.Pointer](ex, c.next)
	snap := new(manifest.Snapshot)
	readRef(t, ex.view(), next.Snapshot, snap)
	if c.before == nil {
		if next.Sequence != 0 || snap.Operation != manifest.OpInit {
			t.Fatalf("the pointer begins at %d", next.Sequence)
		}
		return
	}
	before := decoded[manifest.Pointer](ex, c.before)
	if next.Sequence != before.Sequence+1 || snap.Parent == nil || *snap.Parent != before.Snapshot || next.Warehouse != before.Warehouse {
		t.Fatalf("the pointer went from %d to %d, which is no child of it", before.Sequence, next.Sequence)
	}
	parent := new(manifest.Snapshot)
	readRef(t, ex.view(), before.Snapshot, parent)
	examineStep(t, ex.view(), parent, snap)
	for _, run := range snap.Runs {
		if rec := ex.record(run.Run); rec.Generation > run.Generation {
			t.Fatalf("%s is published after generation %d was opened", names(run.Run, run.Generation), rec.Generation)
		}
		for _, r := range ex.reports() {
			if r.armed && r.run == run.Run && r.generation == run.Generation {
				t.Fatalf("%s said %v, and then it is published", r.player.name, r)
			}
		}
	}
}

// judgeMarks asserts that unfinished generations are marked, from before their
// records say so.
func (ex *execution) judgeMarks(t *testing.T) {
	t.Helper()
	for key, body := range ex.bodies {
		if key == manifest.PointerKey {
			continue
		}
		r := decoded[manifest.Run](ex, body)
		if !final(r.State) && ex.contents[manifest.MarkKey(r.Run, r.Generation)] == 0 {
			t.Fatalf("%s is %s without an open mark", names(r.Run, r.Generation), r.State)
		}
	}
}

// judgeRecord asserts that a record goes where the protocol lets it.
func (ex *execution) judgeRecord(t *testing.T, c changed) {
	t.Helper()
	next := decoded[manifest.Run](ex, c.next)
	if c.before == nil {
		if next.State != manifest.StateOpening || next.Generation != 1 {
			t.Fatalf("run %q begins as %s", next.Run, next.State)
		}
		return
	}
	if wrong := brokenRecord(decoded[manifest.Run](ex, c.before), next); wrong != "" {
		t.Fatalf("run %q: %s", next.Run, wrong)
	}
}

// chained is the sequence that published a generation, or 0.
func chained(chain []*manifest.Snapshot, run string, generation int64) int64 {
	for _, s := range chain {
		for _, r := range s.Runs {
			if r.Run == run && r.Generation == generation && r.Effect == manifest.EffectPublished {
				return s.Sequence
			}
		}
	}
	return 0
}

// judgeEnd asserts what must hold when everybody is done and every write has
// landed.
func (ex *execution) judgeEnd(t *testing.T) {
	t.Helper()
	ex.judgeReports(t, ex.reports())
}

// judgeRetry lets everybody come again after the end: what was true is true
// still, and nobody is left where a retry cannot help.
func (ex *execution) judgeRetry(t *testing.T) {
	t.Helper()
	again := ex.again()
	ex.judgeReports(t, append(ex.reports(), again...))
	for _, r := range again {
		if r.code == 1 || r.code == 5 || r.code == 9 {
			t.Fatalf("%s: %v", r.player.name, r)
		}
	}
}

// judgeReports compares what was said with what is there.
func (ex *execution) judgeReports(t *testing.T, reports []*report) {
	t.Helper()
	w := examine(t, ex.view())
	pins := map[string]string{}
	for _, r := range reports {
		r.judge(t, ex, w)
		if r.inputs == "" {
			continue
		}
		key := names(r.run, r.generation) + "/" + r.task
		if pins[key] == "" {
			pins[key] = r.inputs
		}
		if pins[key] != r.inputs {
			t.Fatalf("attempts of %s were given different inputs", key)
		}
	}
	if ex.sc.check != nil {
		ex.sc.check(t, ex, w)
	}
}

// again runs every client once more, one after the other, on a store without
// faults: a retry must find its way from whatever was left.
func (ex *execution) again() []*report {
	var out []*report
	for i, a := range ex.sc.actors {
		p := &player{actor: actor{name: a.name + " again"}, ex: ex}
		c := &caller{kit: ex.sc.kit, cfg: ex.sc.kit.config(ex.mem, p.name, len(ex.players)+i), p: p}
		if !ex.sc.without {
			w, err := Open(context.Background(), c.cfg)
			if err != nil {
				panic(err)
			}
			c.w = w
		}
		a.act(context.Background(), c)
		out = append(out, p.reports...)
	}
	return out
}

// judge compares one report with the end.
func (r *report) judge(t *testing.T, ex *execution, w *world) {
	t.Helper()
	at := chained(w.chain, r.run, r.generation)
	rec := w.records[r.run]
	wrong := ""
	switch {
	case r.verb == "publish" && r.code == 0 && (at == 0 || at != r.sequence),
		r.verb == "audit" && r.code == 0 && r.sequence > 0 && at != r.sequence,
		r.verb == "begin" && r.code == 0 && r.state == manifest.StatePublished && at == 0,
		r.verb == "abort" && r.state == manifest.StatePublished && at == 0:
		wrong = "the history does not hold it"
	case r.verb == "publish" && r.code != 0 && r.code != 5 && r.code != 9 && publishes(w, r.player.name):
		wrong = "it published"
	case r.verb == "publish" && r.code == 4 && at != 0 && rec.Generation == r.generation,
		r.verb == "abort" && r.code == 0 && r.state == manifest.StateAborted && at != 0:
		wrong = "the history holds it"
	case r.verb == "redo" && r.code == 0 && rec.Generation < r.generation:
		wrong = "the record is older"
	case r.verb == "seal" && r.code == 0 && !r.sealStands(t, ex, rec):
		wrong = "another output stands"
	case r.verb == "seal" && r.code == 4 && r.attempt != "" && at != 0 && r.isIn(t, ex, rec):
		wrong = "its output is published"
	case r.verb == "read" && r.code == 0 && r.files != liveFiles(t, ex, w.chain[r.sequence]):
		wrong = "no state of the history is like that"
	case r.verb == "init" && r.code == 0 && r.files != w.pointer.Warehouse:
		wrong = "the pointer is of warehouse " + w.pointer.Warehouse
	}
	if wrong != "" {
		t.Fatalf("%s said %v, but %s", r.player.name, r, wrong)
	}
}

// publishes reports whether a client's own snapshot publishes something.
func publishes(w *world, client string) bool {
	return slices.ContainsFunc(w.chain, func(s *manifest.Snapshot) bool {
		return s.Operation == manifest.OpPublish && s.By == client
	})
}

// sealStands reports whether the seal that a call named is the task's, and in
// the candidate once that is frozen.
func (r *report) sealStands(t *testing.T, ex *execution, rec *manifest.Run) bool {
	if rec.Generation != r.generation {
		return true
	}
	if rec.Candidate != nil {
		return r.isIn(t, ex, rec)
	}
	seal := new(manifest.Seal)
	read(t, ex.view(), manifest.SealKey(r.run, r.generation, r.task), seal)
	return seal.Attempt == r.sealedBy
}

// isIn reports whether a record's candidate holds the seal that a call named.
func (r *report) isIn(t *testing.T, ex *execution, rec *manifest.Run) bool {
	if rec.Generation != r.generation || rec.Candidate == nil {
		return false
	}
	for _, ref := range rec.Candidate.Seals {
		seal := new(manifest.Seal)
		readRef(t, ex.view(), ref.Ref, seal)
		whose := r.sealedBy
		if r.code != 0 {
			whose = r.attempt
		}
		if ref.Task == r.task && seal.Attempt == whose {
			return true
		}
	}
	return false
}

// liveFiles are the files of a state, as a reader lists them.
func liveFiles(t *testing.T, ex *execution, snap *manifest.Snapshot) string {
	t.Helper()
	var files []string
	for path, ref := range partitionsOf(t, ex.view(), snap.Tree) {
		m := new(manifest.Manifest)
		readRef(t, ex.view(), ref, m)
		for _, f := range m.Files {
			files = append(files, path+"\x00"+f.Key)
		}
	}
	slices.Sort(files)
	out := ""
	for _, f := range files {
		_, key, _ := strings.Cut(f, "\x00")
		out += key + "\n"
	}
	return out
}
