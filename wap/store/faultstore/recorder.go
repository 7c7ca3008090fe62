package faultstore

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wap-cli/wap/wap/store"
)

// Verb names an operation of a store.
type Verb string

const (
	Create   Verb = "create"
	Swap     Verb = "swap"
	Get      Verb = "get"
	List     Verb = "list"
	Delete   Verb = "delete"
	Upload   Verb = "upload"
	GetRange Verb = "getrange"
	Head     Verb = "head"
)

// Verbs lists all verbs.
func Verbs() []Verb { return []Verb{Create, Swap, Get, List, Delete, Upload, GetRange, Head} }

// Phase is a side of an operation.
type Phase int

const (
	Before Phase = iota // numbered, nothing asked yet
	After               // acted, or failed to
)

// Op is one operation. It spans what the caller waits for: a List until its
// last entry was taken, a GetRange until its answer, not its body.
type Op struct {
	Seq    int    // from 1, in the order of beginning, over all users of a Recorder
	Client string // Config.Client
	Verb   Verb
	Key    string // the prefix, for List
	Phase  Phase
	Fault  Kind // what was planned for it, or NoFault

	Begin, End time.Time // as [time.Now] had it; see Rounds
	// Known After:
	Requests int   // to the store: 1, for List one per 1,000 entries begun
	Sent     int64 // bytes of bodies
	Received int64 // bytes of bodies; of a GetRange those asked for
	Err      error
}

// listPage is how many entries object stores put in one answer.
const listPage = 1000

// Recorder keeps the operations of one or more wrappers, and the last two
// states that it saw of each object. The zero value is ready.
type Recorder struct {
	mu   sync.Mutex
	ops  []Op // by Seq
	past map[string]*history
}

// history is what an object was before its newest write, and after it.
type history struct{ old, now state }

type state struct {
	known, exists bool
	body          []byte
	version       store.Version
}

func (r *Recorder) begin(op *Op, client string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.Seq = len(r.ops) + 1
	op.Client = client
	op.Begin = time.Now()
	r.ops = append(r.ops, *op)
}

func (r *Recorder) end(op *Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	op.End = time.Now()
	r.ops[op.Seq-1] = *op
}

// Ops returns the operations so far, in the order of beginning. One that is
// still in progress has Phase Before.
func (r *Recorder) Ops() []Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ops)
}

// Len is the number of operations begun so far: the end of a part of Ops.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ops)
}

// saw notes the state of an object; a state that differs makes it the newest.
func (r *Recorder) saw(key string, now state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now.known = true
	now.body = bytes.Clone(now.body)
	if r.past == nil {
		r.past = map[string]*history{}
	}
	h := r.past[key]
	if h == nil {
		h = new(history)
		r.past[key] = h
	}
	if h.now.known && h.now.exists == now.exists && h.now.version == now.version {
		return
	}
	h.old, h.now = h.now, now
}

// before returns the state before the newest one.
func (r *Recorder) before(key string) (state, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.past[key]
	if h == nil || !h.old.known {
		return state{}, false
	}
	return h.old, true
}

// Count is what some operations cost.
type Count struct {
	Ops            int
	Requests       int
	Sent, Received int64 // bytes
	ByVerb         map[Verb]int
}

// CountOps adds up operations, such as Ops()[from:to].
func CountOps(ops []Op) Count {
	c := Count{ByVerb: map[Verb]int{}}
	for _, op := range ops {
		c.Ops++
		c.Requests += op.Requests
		c.Sent += op.Sent
		c.Received += op.Received
		c.ByVerb[op.Verb]++
	}
	return c
}

// Rounds returns the number of serial round trips in ops: the length of the
// longest chain in which each operation begins no earlier than the one before
// it ended. Operations that overlap cost one round together.
//
// Whether two requests were meant to run in parallel shows only if they take
// time. So give every wrapper the same Delay, and run the code inside
// [testing/synctest.Test]: its clock stands still while anything computes, all
// requests sent at one moment begin and end together, and the result does not
// depend on the scheduler. A lock of package sync must not be held across an
// operation there: synctest cannot tell that such a lock waits for the clock.
func Rounds(ops []Op) int {
	done := slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Phase != After })
	slices.SortStableFunc(done, func(a, b Op) int { return a.End.Compare(b.End) })
	rounds := 0
	var last time.Time
	for _, op := range done { // greedy by end: the largest set without overlap
		if !op.Begin.Before(last) {
			rounds++
			last = op.End
		}
	}
	return rounds
}

// Log renders operations one a line, without times, for golden comparisons.
func Log(ops []Op) string {
	var b strings.Builder
	for _, op := range ops {
		b.WriteString(string(op.Verb) + " " + op.Key)
		if op.Fault != NoFault {
			b.WriteString(" [" + op.Fault.String() + "]")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
