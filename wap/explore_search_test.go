package wap

import (
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wap-cli/wap/wap/store/faultstore"
)

var (
	exploreN     = flag.Int("explore.n", 0, "number of random schedules; 0: few")
	exploreSeed  = flag.Uint64("explore.seed", 1, "seed of the random schedules")
	exploreToEnd = flag.Bool("explore.all", false, "explore every scenario to its end, however long it takes")
)

// scenario is what is explored.
type scenario struct {
	name    string
	without bool // no warehouse yet
	prepare func(k *kit)
	actors  []actor
	build   func(k *kit) []actor
	// How many writes may go wrong in one execution, in these ways, and whose
	// (empty: anybody's); and how many clients may be killed.
	faults  int
	kinds   []faultstore.Kind
	faulty  string
	crashes int
	// preemptions is how often a client that could go on has to wait for another
	// one; 0: any number of times. Where clients undo each other's steps and try
	// again, there would be no end without it.
	preemptions int
	// check adds to what holds in every scenario, at the end of an execution.
	check func(t *testing.T, ex *execution, w *world)

	kit *kit
}

// maxSteps is far beyond any execution that comes to an end; fewExecutions is
// where a scenario is cut off unless -explore.all is given, and maxExecutions
// what it may cost then.
const (
	maxSteps      = 2000
	fewExecutions = 700
	maxExecutions = 100_000
)

// crossing is a state that was met: its choices and what they lead to.
type crossing struct {
	actions []action
	next    []uint64 // 0: not known yet
	alone   []bool   // the step did nothing but its operation
}

// find returns the index of a choice here, or -1.
func (c *crossing) find(a action) int { return slices.Index(c.actions, a) }

// todo returns the first choice whose end is not known, or -1.
func (c *crossing) todo() int { return slices.Index(c.next, 0) }

// search is an exhaustive exploration: depth first, each state once.
//
// A state is the shared objects, what each client was answered so far, what
// clients said, and what may still go wrong (execution.state). Executions that
// meet in a state go on in the same ways, and the checker judges changes as they
// happen and the rest from the state at the end, so that one of them stands for
// all. The states form a graph without cycles; each path through it is an
// interleaving. Where two choices of a state commute and one order was executed,
// where the other one leads is known.
type search struct {
	sc         *scenario
	crossings  map[uint64]*crossing
	contest    *contest
	path       []visit
	root       uint64
	executions int
	ends       int
	succeeded  map[string]bool // actors whose last call answered 0 at some end
}

// visit is a state on the current path with the choice that is taken there.
type visit struct {
	state uint64
	taken int
}

// explore goes through every interleaving of a scenario.
func explore(t *testing.T, sc scenario) {
	t.Helper()
	sc.kit = newKit(t, &sc)
	sc.actors = sc.build(sc.kit)
	s := &search{sc: &sc, crossings: map[uint64]*crossing{}, contest: newContest(), succeeded: map[string]bool{}}
	cut := false
	synctest.Test(t, func(t *testing.T) {
		for more := true; more; more = len(s.path) == 0 && len(s.crossings) == 0 || s.advance() {
			s.execute(t)
			if s.contest.grew { // what was explored so far skipped choices
				s.contest.grew, s.path, s.ends = false, nil, 0
				clear(s.crossings)
			}
			if s.executions >= maxExecutions {
				t.Fatalf("more than %d executions: %d states so far, %d ends", maxExecutions, len(s.crossings), s.ends)
			}
			if cut = s.executions >= fewExecutions && !*exploreToEnd; cut {
				break
			}
		}
	})
	if cut {
		t.Logf("%s: cut off after %d executions, %d states and %d ends; -explore.all goes to the end",
			t.Name(), s.executions, len(s.crossings), s.ends)
		return
	}
	for _, a := range sc.actors {
		if !a.refuses && !s.succeeded[a.name] {
			t.Errorf("%s comes to no good end anywhere: the scenario shows nothing", a.name)
		}
	}
	bound := ""
	if sc.preemptions > 0 {
		bound = fmt.Sprintf(" with at most %d preemptions", sc.preemptions)
	}
	t.Logf("%s: %s interleavings%s through %d states to %d ends, in %d executions",
		t.Name(), count(s.crossings, s.root), bound, len(s.crossings), s.ends, s.executions)
}

// execute runs along the path, and from there on into states not met before.
func (s *search) execute(t *testing.T) {
	s.executions++
	ex := newExecution(s.sc, s.contest)
	defer tell(t, ex)()
	defer ex.end()
	for i := 0; ; i++ {
		if s.contest.grew {
			return
		}
		state, actions := ex.state(), ex.actions()
		if i > maxSteps {
			t.Fatalf("no end after %d steps", i)
		}
		if i < len(s.path) {
			if s.path[i].state != state {
				t.Fatalf("step %d is not what it was: the execution depends on something but its choices", i)
			}
			ex.take(actions[s.path[i].taken])
			continue
		}
		ex.judgeNow(t)
		if i > 0 {
			s.arrive(s.path[i-1], state, ex.alone())
		}
		if s.crossings[state] != nil {
			return
		}
		if i == 0 {
			s.root = state
		}
		c := &crossing{actions, make([]uint64, len(actions)), make([]bool, len(actions))}
		s.crossings[state] = c
		if len(actions) == 0 {
			s.ends++
			s.note(ex)
			ex.judgeEnd(t)
			ex.judgeRetry(t)
			return
		}
		if i > 0 {
			s.infer(s.path[i-1], c)
		}
		first := c.todo()
		if first < 0 {
			return
		}
		s.path = append(s.path, visit{state, first})
		ex.take(actions[first])
	}
}

// note looks at who came to a good end.
func (s *search) note(ex *execution) {
	for _, p := range ex.players {
		if n := len(p.reports); n > 0 && p.reports[n-1].code == 0 {
			s.succeeded[p.name] = true
		}
	}
}

// arrive notes where a choice led.
func (s *search) arrive(from visit, state uint64, alone bool) {
	c := s.crossings[from.state]
	c.next[from.taken], c.alone[from.taken] = state, alone
}

// infer fills in what is known of a state from the one before it: where another
// choice was taken first, and the same one then.
func (s *search) infer(from visit, c *crossing) {
	before := s.crossings[from.state]
	a := before.actions[from.taken]
	if !before.alone[from.taken] || s.sc.preemptions > 0 { // the order would be part of the state
		return
	}
	for i, b := range before.actions {
		if i == from.taken || before.next[i] == 0 || !before.alone[i] || !commute(a, b) {
			continue
		}
		other, here := s.crossings[before.next[i]], c.find(b)
		if there := other.find(a); here >= 0 && there >= 0 {
			c.next[here], c.alone[here] = other.next[there], other.alone[there]
		}
	}
}

// advance takes the next choice at the deepest state that has one left.
func (s *search) advance() bool {
	for len(s.path) > 0 {
		v := &s.path[len(s.path)-1]
		if v.taken = s.crossings[v.state].todo(); v.taken >= 0 {
			return true
		}
		s.path = s.path[:len(s.path)-1]
	}
	return false
}

// count is the number of paths from a state to an end.
func count(crossings map[uint64]*crossing, root uint64) *big.Int {
	known := map[uint64]*big.Int{}
	var from func(uint64) *big.Int
	from = func(state uint64) *big.Int {
		if n := known[state]; n != nil {
			return n
		}
		n := new(big.Int)
		for _, next := range crossings[state].next {
			n.Add(n, from(next))
		}
		if len(crossings[state].next) == 0 {
			n.SetInt64(1)
		}
		known[state] = n
		return n
	}
	return from(root)
}

// tell makes the story of an execution part of its failure.
func tell(t *testing.T, ex *execution) func() {
	failed := t.Failed()
	return func() {
		if t.Failed() && !failed {
			t.Log(ex.story())
		}
	}
}

// wander runs one execution of random choices. Things go wrong rarely: an
// execution in which everybody dies at once shows little.
func wander(t *testing.T, sc *scenario, rng *rand.Rand) {
	ex := newExecution(sc, nil)
	defer tell(t, ex)()
	defer ex.end()
	for i := 0; ; i++ {
		ex.judgeNow(t)
		actions := ex.actions()
		if len(actions) == 0 {
			break
		}
		if i > maxSteps {
			t.Fatalf("no end after %d steps", i)
		}
		a := actions[rng.IntN(len(actions))]
		for (a.kill || a.fault != faultstore.NoFault) && rng.IntN(8) > 0 {
			a = actions[rng.IntN(len(actions))]
		}
		ex.take(a)
	}
	ex.judgeEnd(t)
	if rng.IntN(8) == 0 {
		ex.judgeRetry(t)
	}
}

// wanderMany runs random executions and names the seed of one that fails.
func wanderMany(t *testing.T, sc scenario, from, to int) {
	t.Helper()
	sc.kit = newKit(t, &sc)
	sc.actors = sc.build(sc.kit)
	synctest.Test(t, func(t *testing.T) {
		i := from
		defer func() {
			if t.Failed() {
				t.Logf("this was schedule %d of seed %d", i, *exploreSeed)
			}
		}()
		for ; i < to; i++ {
			wander(t, &sc, rand.New(rand.NewPCG(*exploreSeed, uint64(i))))
		}
	})
	t.Logf("%s: schedules %d to %d of %d clients, seed %d", sc.name, from, to-1, len(sc.actors), *exploreSeed)
}
