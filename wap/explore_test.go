package wap

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// The explorer runs the real code of several clients on one store in memory, one
// operation at a time, and decides who goes next. Clients stop before each
// operation that may not commute with another client's (explore_shared_test.go
// says which those are, and why the others do). When all of them have stopped,
// the explorer picks one of the alternatives: let an operation act, let it go
// wrong, let a write that was held back land, kill a client. So an execution is
// a sequence of choices and nothing else: clocks stand still, ids are counted
// per client, back-off passes in no time (package synctest), and a replay checks
// at every step that it meets what it met before.
//
// Requests that one client has in flight at the same time are alternatives like
// any others.
//
// A client is killed where it is about to write something shared. What it does
// in between, reading included, touches nothing that another client could miss
// or meet: dying there is the same as dying at its next write, or as being done.

// actor is a client of a scenario: what it calls, and how it reports.
type actor struct {
	name string
	act  func(ctx context.Context, c *caller)
	// refuses: it never comes to a good end, and is there to stop others.
	refuses bool
}

// caller is what an actor works with.
type caller struct {
	kit *kit
	w   *Warehouse
	cfg Config // for calls that have no warehouse yet
	p   *player
}

// player is an actor in one execution.
type player struct {
	actor
	number int
	ex     *execution
	fs     *faultstore.Store
	cancel context.CancelFunc

	// Guarded by ex.lock while the client's goroutines run.
	asked    []*stop
	dead     bool
	finished bool
	reports  []*report

	past    uint64   // of all answers up to the last stop
	since   uint64   // of the answers since then, in any order
	zombies []uint64 // one for each write that is held back
}

// running reports whether the player has more to do.
func (p *player) running() bool { return !p.dead && !p.finished }

// stop is one operation that waits for the explorer.
type stop struct {
	op     faultstore.Op
	answer chan faultstore.Kind
}

// execution is one run of a scenario.
type execution struct {
	sc      *scenario
	mem     *store.Mem
	players []*player
	lock    sync.Mutex

	contest         *contest          // nil: everything shared is a choice
	faults, crashes int               // left
	current         int               // whose turn it was
	preemptions     int               // left, where they are bounded
	contents        map[string]uint64 // of shared objects
	bodies          map[string][]byte // of pointer and records
	late            map[string]bool   // seals that came when their generation was over
	touched         []string          // shared objects written in the step just taken
	changed         []changed         // and what became of pointer and records
	trace           []action
}

// newExecution starts a scenario's clients on a fresh copy of its prepared
// store. It must be called inside a synctest bubble.
func newExecution(sc *scenario, c *contest) *execution {
	ex := &execution{
		sc: sc, contest: c, mem: sc.kit.lab.store.Clone(), contents: map[string]uint64{}, bodies: map[string][]byte{}, late: map[string]bool{},
		faults: sc.faults, crashes: sc.crashes, preemptions: sc.preemptions,
	}
	for _, key := range sc.kit.keys {
		if shared(key) {
			ex.refresh(key)
		}
	}
	ex.changed = nil
	for i, a := range sc.actors {
		ex.players = append(ex.players, ex.start(a, i))
	}
	ex.settle()
	return ex
}

// start begins a client.
func (ex *execution) start(a actor, number int) *player {
	ctx, cancel := context.WithCancel(context.Background())
	p := &player{actor: a, number: number, ex: ex, cancel: cancel}
	p.fs = faultstore.New(ex.mem, faultstore.Config{Client: a.name, Choose: p.choose, OnOp: p.hear})
	c := &caller{kit: ex.sc.kit, cfg: ex.sc.kit.config(p.fs, a.name, number), p: p}
	go func() {
		defer func() {
			ex.lock.Lock()
			defer ex.lock.Unlock()
			p.finished = true
		}()
		if ex.sc.without {
			a.act(ctx, c)
			return
		}
		w, err := Open(ctx, c.cfg)
		if err != nil {
			c.say(report{verb: "open", code: Code(err), err: err})
			return
		}
		c.w = w
		a.act(ctx, c)
	}()
	return p
}

// choose is the store's question what is to become of an operation.
func (p *player) choose(_ context.Context, op faultstore.Op) faultstore.Kind {
	p.ex.lock.Lock()
	if p.dead {
		p.ex.lock.Unlock()
		return faultstore.FailBefore
	}
	if c := p.ex.contest; c != nil && shared(op.Key) && !isMark(op.Key) {
		c.note(p.number, op, p.ex.mayStray(p.name))
	}
	if !p.ex.meets(op) {
		p.ex.lock.Unlock()
		return faultstore.NoFault
	}
	s := &stop{op, make(chan faultstore.Kind, 1)}
	p.asked = append(p.asked, s)
	p.ex.lock.Unlock()
	return <-s.answer
}

// hear notes what a shared operation answered: a client's state is what it was
// answered so far.
func (p *player) hear(_ context.Context, op faultstore.Op) error {
	if op.Phase == faultstore.Before || !shared(op.Key) {
		return nil
	}
	heard := uint64(0) // only a search compares executions
	if p.ex.contest != nil {
		heard = p.ex.answer(op)
	}
	p.ex.lock.Lock()
	defer p.ex.lock.Unlock()
	if p.dead {
		return nil
	}
	if p.ex.contested(op.Key) {
		p.since += heard
	}
	if writes(op.Verb) {
		p.ex.touched = append(p.ex.touched, op.Key)
	}
	return nil
}

// say keeps a report, as long as anybody is there to make it.
func (c *caller) say(r report) {
	c.p.ex.lock.Lock()
	defer c.p.ex.lock.Unlock()
	if c.p.dead {
		return
	}
	r.at, r.player = len(c.p.ex.trace), c.p
	c.p.reports = append(c.p.reports, &r)
}

// nap is longer than any back-off and any grace.
const nap = time.Minute

// settle lets everybody run until all have stopped, ended or died. A client that
// backs off is woken: how long it slept makes no difference to anyone.
func (ex *execution) settle() {
	for {
		synctest.Wait()
		if !slices.ContainsFunc(ex.players, func(p *player) bool { return p.running() && len(p.asked) == 0 }) {
			break
		}
		time.Sleep(nap)
	}
	for _, p := range ex.players {
		if p.since != 0 {
			p.past, p.since = mix(p.past, p.since), 0
		}
		slices.SortFunc(p.asked, func(a, b *stop) int {
			return strings.Compare(string(a.op.Verb)+a.op.Key, string(b.op.Verb)+b.op.Key)
		})
	}
}

// end stops everybody. Nothing may be left running in the bubble.
func (ex *execution) end() {
	for _, p := range ex.players {
		ex.kill(p)
	}
	for {
		synctest.Wait()
		if !slices.ContainsFunc(ex.players, func(p *player) bool { return !p.finished }) {
			return
		}
		time.Sleep(nap)
	}
}

// kill ends a client where it is: nothing it asked for acts, and nothing it
// still says is heard.
func (ex *execution) kill(p *player) {
	ex.lock.Lock()
	defer ex.lock.Unlock()
	p.dead = p.dead || !p.finished
	p.cancel()
	for _, s := range p.asked {
		s.answer <- faultstore.FailBefore
	}
	p.asked = nil
}

// action is one choice.
type action struct {
	player int
	kill   bool
	land   int // 1: the oldest write held back, 2: the next …; 0: none
	stop   int // the operation that goes on
	fault  faultstore.Kind
	verb   faultstore.Verb // of what acts, empty for a kill
	key    string
	text   string
}

// actions lists what can happen next, in an order that depends on nothing but
// the choices so far.
func (ex *execution) actions() []action {
	var out []action
	for i, p := range ex.players {
		if !p.dead && ex.mayGo(i) {
			for n, s := range p.asked {
				out = append(out, ex.outcomes(action{player: i, stop: n}, s.op)...)
			}
			if ex.crashes > 0 && slices.ContainsFunc(p.asked, func(s *stop) bool { return writes(s.op.Verb) }) {
				out = append(out, action{player: i, kill: true, text: p.name + " is killed"})
			}
		}
		for n, op := range p.fs.Held() {
			out = append(out, action{player: i, land: n + 1, verb: op.Verb, key: op.Key, text: fmt.Sprintf("%s's %s lands", p.name, opText(op))})
		}
	}
	return out
}

// mayGo reports whether it can be a client's turn now.
func (ex *execution) mayGo(player int) bool {
	return ex.sc.preemptions == 0 || ex.preemptions > 0 || player == ex.current || !ex.interrupts(player)
}

// interrupts reports whether another client could go on.
func (ex *execution) interrupts(player int) bool {
	return player != ex.current && len(ex.players[ex.current].asked) > 0
}

// outcomes are what may become of one operation.
func (ex *execution) outcomes(a action, op faultstore.Op) []action {
	name := ex.players[a.player].name
	a.verb, a.key, a.text = op.Verb, op.Key, name+": "+opText(op)
	out := []action{a}
	if ex.faults == 0 || !writes(op.Verb) || !ex.mayStray(name) {
		return out
	}
	for _, kind := range ex.sc.kinds {
		b := a
		b.fault, b.text = kind, a.text+" ["+kind.String()+"]"
		out = append(out, b)
	}
	return out
}

// mayStray reports whether a client's writes may go wrong.
func (ex *execution) mayStray(client string) bool {
	return ex.sc.faults > 0 && (ex.sc.faulty == "" || ex.sc.faulty == client)
}

func opText(op faultstore.Op) string {
	return string(op.Verb) + " " + strings.TrimPrefix(op.Key, "_wap/")
}

// take does what was chosen and waits until everybody has stopped again.
func (ex *execution) take(a action) {
	p := ex.players[a.player]
	ex.trace, ex.changed, ex.touched = append(ex.trace, a), nil, nil
	switch {
	case a.kill:
		ex.crashes--
		ex.kill(p)
		ex.settle()
	case a.land > 0:
		landed := p.fs.Land(context.Background(), a.land-1)
		p.zombies = slices.Delete(p.zombies, a.land-1, a.land)
		ex.touched = append(ex.touched, landed.Op.Key)
	default:
		if ex.sc.preemptions > 0 && ex.interrupts(a.player) {
			ex.preemptions--
		}
		ex.current = a.player
		s := p.asked[a.stop]
		p.asked = slices.Delete(p.asked, a.stop, a.stop+1)
		if a.fault != faultstore.NoFault {
			ex.faults--
		}
		if a.fault == faultstore.ActLater {
			p.zombies = append(p.zombies, mix(p.past, hashOf(opText(s.op), "")))
		}
		s.answer <- a.fault
		ex.settle()
	}
	for _, key := range ex.touched {
		ex.refresh(key)
	}
	ex.arm()
}

// story tells an execution from its beginning.
func (ex *execution) story() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d steps:\n", ex.sc.name, len(ex.trace))
	for i, a := range ex.trace {
		fmt.Fprintf(&b, "%4d %s\n", i+1, a.text)
		for _, p := range ex.players {
			for _, r := range p.reports {
				if r.at == i+1 {
					fmt.Fprintf(&b, "     %s says %s\n", p.name, r)
				}
			}
		}
	}
	return b.String()
}
