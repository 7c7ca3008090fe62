// Package faultstore wraps a store to count what is asked of it, to slow it
// down, to stop it at a chosen operation, and to make it fail in the ways in
// which real stores do.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wap-cli/wap/wap/store"
)

// ErrInjected is what a planned fault returns when it has no error of its own.
// It is not a refusal: the caller has to take the outcome as unknown.
var ErrInjected = errors.New("injected fault")

// Config says what a Store does besides passing operations on. Its zero value
// only records them.
type Config struct {
	// Faults are what is going to go wrong.
	Faults []Fault
	// Choose picks a fault while things go on: it is asked once about each
	// operation that no Fault hits, before the operation acts, and may block, to
	// choose an interleaving. A kind that cannot happen to the verb is a mistake
	// of the test and panics.
	Choose func(ctx context.Context, op Op) Kind
	// Delay is slept before each operation, as the round trip to the store;
	// Delays overrides it for single verbs.
	Delay  time.Duration
	Delays map[Verb]time.Duration
	// OnOp is called before each operation, when it was numbered, and after it,
	// when it has acted and its answer is known. It may block, to choose an
	// interleaving, or end the process. An error before stops the operation
	// without acting; an error after takes the place of the answer.
	OnOp func(ctx context.Context, op Op) error
	// Client goes into each Op, to tell wrappers apart that share a Recorder.
	Client string
	// Recorder is shared by wrappers that count together; nil is one of its own.
	Recorder *Recorder
}

// Store is a wrapped store. All methods may be called concurrently.
type Store struct {
	inner store.Store
	cfg   Config
	rec   *Recorder

	mu     sync.Mutex
	faults []faultState // one per Config.Faults
	held   []heldWrite
}

type faultState struct {
	seen  int // operations that matched
	fired bool
}

var _ store.Store = (*Store)(nil)

// New wraps inner.
func New(inner store.Store, cfg Config) *Store {
	s := &Store{inner: inner, cfg: cfg, rec: cfg.Recorder, faults: make([]faultState, len(cfg.Faults))}
	if s.rec == nil {
		s.rec = new(Recorder)
	}
	return s
}

// Recorder returns the record of operations.
func (s *Store) Recorder() *Recorder { return s.rec }

// Unfired returns the planned faults that have not happened, for a test to fail
// on: a sweep that outgrew its operations proves nothing.
func (s *Store) Unfired() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []Fault
	for i, st := range s.faults {
		if !st.fired {
			left = append(left, s.cfg.Faults[i])
		}
	}
	return left
}

// plan returns the fault that hits op, if any. At most one does; the others
// that match count it as seen.
func (s *Store) plan(op *Op) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hit *Fault
	for i := range s.faults {
		f, st := &s.cfg.Faults[i], &s.faults[i]
		if !f.matches(op) || !s.applies(f, op) {
			continue
		}
		st.seen++
		if hit == nil && !st.fired && st.seen == max(f.N, 1) {
			st.fired = true
			op.Fault = f.Kind
			hit = f
		}
	}
	return hit
}

// applies is false for a stale read of an object whose past is not known.
func (s *Store) applies(f *Fault, op *Op) bool {
	if f.Kind != StaleGet {
		return true
	}
	_, ok := s.rec.before(op.Key)
	return ok
}

// action is an operation: do does it and fills in what it cost; fault is what
// happens instead under the kinds of fault that step leaves to the verb.
type action struct {
	do    func(ctx context.Context, op *Op) error
	fault func(f *Fault, op *Op) error
}

// run takes one operation through its life: number, hook, delay, fault or act,
// hook.
func (s *Store) run(ctx context.Context, op Op, act action) error {
	s.rec.begin(&op, s.cfg.Client)
	op.Err = s.step(ctx, &op, act)
	op.Phase = After
	s.rec.end(&op)
	if s.cfg.OnOp != nil {
		if err := s.cfg.OnOp(ctx, op); err != nil {
			return err
		}
	}
	return op.Err
}

func (s *Store) step(ctx context.Context, op *Op, act action) error {
	fault := s.plan(op)
	if fault == nil && s.cfg.Choose != nil {
		fault = s.choose(ctx, op)
	}
	if s.cfg.OnOp != nil {
		if err := s.cfg.OnOp(ctx, *op); err != nil {
			return err
		}
	}
	if err := s.sleep(ctx, op.Verb); err != nil {
		return fmt.Errorf("%s %q: %w: %w", op.Verb, op.Key, store.ErrNotSent, err)
	}
	switch {
	case fault == nil:
		return act.do(ctx, op)
	case fault.Kind == FailBefore:
		return fault.err(op)
	case fault.Kind == FailAfter && op.Verb != GetRange:
		_ = act.do(ctx, op) // the answer is lost, whatever it was
		return fault.err(op)
	case fault.Kind == ActTwice:
		_ = act.do(ctx, op) // a retry below us: only its second answer is seen
		return act.do(ctx, op)
	}
	return act.fault(fault, op)
}

// choose asks Choose for a fault.
func (s *Store) choose(ctx context.Context, op *Op) *Fault {
	kind := s.cfg.Choose(ctx, *op)
	if kind == NoFault {
		return nil
	}
	f := &Fault{Kind: kind}
	if !f.matches(op) {
		panic(fmt.Sprintf("%s cannot happen to %s %q", kind, op.Verb, op.Key))
	}
	op.Fault = kind
	return f
}

func (s *Store) sleep(ctx context.Context, v Verb) error {
	d, ok := s.cfg.Delays[v]
	if !ok {
		d = s.cfg.Delay
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// heldWrite is a write that is on its way.
type heldWrite struct {
	op   Op
	land func(ctx context.Context) error
}

// hold keeps a write back and returns what its caller is told.
func (s *Store) hold(f *Fault, op *Op, land func(ctx context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, heldWrite{*op, land})
	return f.err(op)
}

// Landing is what became of a write that was held back.
type Landing struct {
	Op  Op
	Err error // the store's answer, which the caller never sees
}

// Held returns the writes that ActLater holds back, oldest first.
func (s *Store) Held() []Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ops []Op
	for _, h := range s.held {
		ops = append(ops, h.op)
	}
	return ops
}

// Release lets the writes that are held back reach the store, oldest first.
func (s *Store) Release(ctx context.Context) []Landing {
	var landed []Landing
	for range s.Held() {
		landed = append(landed, s.Land(ctx, 0))
	}
	return landed
}

// Land lets one of the Held writes reach the store: the i-th, from 0.
func (s *Store) Land(ctx context.Context, i int) Landing {
	s.mu.Lock()
	h := s.held[i]
	s.held = slices.Delete(s.held, i, i+1)
	s.mu.Unlock()
	return Landing{h.op, h.land(ctx)}
}
