package wap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// MainTask is the task of a run that has but one.
const MainTask = "main"

// Begin opens or joins a run, pins its inputs and, for a task that is not
// sealed yet, records an attempt. A published run is no error: the result's
// State says so. Errors: usage, gate_closed (rejected), stopped, input_not_ready,
// outside, store_broken.
func (w *Warehouse) Begin(ctx context.Context, req BeginRequest) (*BeginResult, error) {
	s, err := w.begin(ctx, req)
	if s == nil {
		return nil, err
	}
	return s.result(), err
}

// session is a begun run as one call works on it.
type session struct {
	w       *Warehouse
	rec     *record
	scope   manifest.Scope
	task    string // empty: none
	attempt string // empty: none was started
	pin     *pin
	sealed  *manifest.Seal // the seal that stands for the task, or nil
}

// begin is Begin with what the other calls need of it.
func (w *Warehouse) begin(ctx context.Context, req BeginRequest) (*session, error) {
	req, err := w.checkBegin(req)
	if err != nil {
		return nil, err
	}
	rec, err := w.join(ctx, req)
	if err != nil {
		return nil, err
	}
	s := &session{w: w, rec: rec, task: req.Task}
	if s.task == "" && len(rec.Tasks) == 1 {
		s.task = rec.Tasks[0]
	}
	if s.scope, err = manifest.ParseScope(rec.Scope); err != nil {
		return nil, failf(KindStoreBroken, "scope of %s", rec.names()).because(err)
	}
	if err := w.agrees(rec, req, s.task); err != nil {
		return s, err
	}
	if rec.State == manifest.StatePublished {
		return s, nil
	}
	if err := w.standing(rec); err != nil {
		return s, err
	}
	if err := s.findSeal(ctx); err != nil || s.sealed != nil {
		return s, err
	}
	if s.pin, err = w.pinInputs(ctx, rec, s.task, req); err != nil || s.task == "" {
		return s, err
	}
	return s, s.startAttempt(ctx)
}

// checkBegin refuses what cannot be right whatever the record says, and brings
// the rest into its canonical form.
func (w *Warehouse) checkBegin(req BeginRequest) (BeginRequest, error) {
	if err := checkRunName(req.Run); err != nil {
		return req, err
	}
	if len(req.Scope) > 0 {
		scope, err := manifest.ParseScope(req.Scope)
		if err != nil {
			return req, failf(KindUsage, "scope").because(err)
		}
		req.Scope = scope.Strings()
	}
	switch req.Mode {
	case "", manifest.ModeOverwrite, manifest.ModeAppend, manifest.ModeReplace:
	default:
		return req, failf(KindUsage, "unknown mode %q", req.Mode).hint("overwrite, append or replace")
	}
	if req.ReplaceScope && req.Mode != "" && req.Mode != manifest.ModeOverwrite {
		return req, failf(KindUsage, "--replace scope needs mode overwrite, not %s", req.Mode)
	}
	if req.Tasks != nil {
		req.Tasks = slices.Clone(req.Tasks)
		slices.Sort(req.Tasks)
		if d := len(slices.Compact(slices.Clone(req.Tasks))); d != len(req.Tasks) || d == 0 {
			return req, failf(KindUsage, "the list of tasks is empty or names one twice: %s", strings.Join(req.Tasks, ", "))
		}
	}
	for _, t := range append(slices.Clone(req.Tasks), req.Task) {
		if t == "" && t == req.Task {
			continue
		}
		if err := manifest.CheckName(t); err != nil || t == manifest.SharedInputs {
			return req, failf(KindUsage, "task name %q cannot be used", t).because(err)
		}
	}
	return req, nil
}

// join returns the record in the state that decides what comes next: creating
// it, opening it, and finishing what others left half done.
func (w *Warehouse) join(ctx context.Context, req BeginRequest) (*record, error) {
	for i := 0; ; i++ {
		rec, _, err := w.settled(ctx, req.Run)
		switch {
		case err != nil:
		case rec == nil:
			err = w.createRun(ctx, req)
		case rec.State == manifest.StateOpening:
			if err = w.agrees(rec, req, req.Task); err == nil {
				err = w.open(ctx, rec)
			}
		case rec.State == manifest.StateClosing:
			_, err = w.freeze(ctx, rec)
			if isKind(err, KindTasksMissing) { // open again: this task may be the one
				err = nil
			}
		case rec.State == manifest.StateAborting || rec.State == manifest.StateCollecting:
			_, err = w.finishStop(ctx, rec)
		default:
			return rec, nil
		}
		if err != nil && !errors.Is(err, errMoved) {
			return nil, err
		}
		if err := pauseAfter(ctx, i); err != nil {
			return nil, outside("begin run %q", req.Run).because(err)
		}
	}
}

// pauseAfter backs off once a loop that normally passes once or twice goes on.
func pauseAfter(ctx context.Context, i int) error {
	if i < 3 {
		return ctx.Err()
	}
	return pause(ctx, i-3)
}

// createRun writes generation 1's open mark and then its record. Nothing else
// of a run is written before its record. A crash between the two leaves a mark
// without a record, which stays: somebody may be about to write it.
func (w *Warehouse) createRun(ctx context.Context, req BeginRequest) error {
	if len(req.Scope) == 0 {
		return failf(KindNotFound, "there is no run %q, and no scope to begin it with", req.Run).
			hint("wap begin SCOPE --run %s", quote(req.Run))
	}
	if err := w.checkTables(ctx, req.Scope); err != nil {
		return err
	}
	// Made once to find what is wrong with it: a call that is refused leaves no
	// mark. Its floor is of before the mark, so that it cannot be the one to store.
	if _, err := w.newRecord(ctx, req); err != nil {
		return err
	}
	if err := w.mark(ctx, req.Run, 1); err != nil {
		return err
	}
	body, err := w.newRecord(ctx, req)
	if err != nil {
		return err
	}
	// Won or lost, the record that stands is read next.
	_, _, err = w.claim(ctx, manifest.RunKey(req.Run), body)
	return err
}

// mark creates a generation's open mark, or finds it there.
func (w *Warehouse) mark(ctx context.Context, run string, generation int64) error {
	body, err := manifest.Encode(&manifest.OpenMark{Format: manifest.Format, Run: run, Generation: generation})
	if err != nil {
		return failf(KindUsage, "run name %q", run).because(err)
	}
	_, _, err = w.claim(ctx, manifest.MarkKey(run, generation), body)
	return err
}

// newRecord encodes generation 1's record before its base is known.
func (w *Warehouse) newRecord(ctx context.Context, req BeginRequest) ([]byte, error) {
	h, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	rec := &manifest.Run{
		Format: manifest.Format, Warehouse: w.id, Run: req.Run, Generation: 1,
		State: manifest.StateOpening, Nonce: w.cfg.NewID(), Floor: h.Sequence,
		Now: w.cfg.Now(), Updated: w.cfg.Now(),
		Scope: req.Scope, Mode: req.Mode, ReplaceScope: req.ReplaceScope, Tasks: req.Tasks, Inputs: req.Inputs,
	}
	if rec.Mode == "" {
		rec.Mode = manifest.ModeOverwrite
	}
	if rec.Tasks == nil {
		rec.Tasks = []string{MainTask}
		if req.Task != "" {
			rec.Tasks = []string{req.Task}
		}
	}
	refs, err := w.resolveSources(ctx, h, req.Inputs)
	if err != nil {
		return nil, err
	}
	rec.References = refs
	for _, r := range refs {
		rec.Floor = min(rec.Floor, r.Sequence)
	}
	if err := w.agrees(&record{Run: *rec}, req, req.Task); err != nil {
		return nil, err
	}
	body, err := manifest.Encode(rec)
	if err != nil {
		return nil, failf(KindUsage, "run %q", req.Run).because(err)
	}
	return body, nil
}

// open takes the base: the pointer as it is read after the record was seen. The
// first Swap decides, and everybody uses what they then read.
func (w *Warehouse) open(ctx context.Context, rec *record) error {
	if len(rec.References) > 0 {
		// gc may have read the pointer before our floor stood in a record; once the
		// pointer moved, its fence either kept the references or is visible.
		if err := w.fence(ctx, "begin "+rec.names()); err != nil {
			return unpublished(err)
		}
	}
	h, err := w.head(ctx)
	if err != nil {
		return err
	}
	if len(rec.References) > 0 {
		snap, err := load[manifest.Snapshot](ctx, w, h.Snapshot)
		if err != nil {
			return err
		}
		if snap.Horizon > rec.Floor {
			_, err := w.stop(ctx, rec, manifest.StateAborting, "an input's state was collected while the run began")
			if err != nil {
				return err
			}
			return failf(KindStopped, "%s reads sequence %d, which was collected meanwhile: the horizon is %d", rec.names(), rec.Floor, snap.Horizon).
				hint("begin another run with a newer @REF")
		}
	}
	base := h.base()
	var inherited []manifest.SealRef
	if rec.Redo != nil {
		if rec.Redo.KeepPin {
			base = *rec.Redo.Base
		}
		if inherited, err = w.inherit(ctx, rec, base); err != nil {
			return err
		}
	}
	_, err = w.swapRun(ctx, rec, func(m *manifest.Run) {
		m.State, m.Base, m.Inherited = manifest.StateOpen, &base, inherited
		if m.FirstBase == nil {
			m.FirstBase = &base
		}
	})
	return err
}

// agrees refuses a request that contradicts the record.
func (w *Warehouse) agrees(rec *record, req BeginRequest, task string) error {
	differ := func(what string, has, given []string) error {
		return failf(KindUsage, "%s has %s %s, this call gives %s", rec.names(), what,
			strings.Join(has, ", "), strings.Join(given, ", ")).
			hint("another run name for other work, or leave %s out to take the record's", what)
	}
	switch {
	case len(req.Scope) > 0 && !slices.Equal(req.Scope, rec.Scope):
		return differ("scope", rec.Scope, req.Scope)
	case req.Mode != "" && req.Mode != rec.Mode:
		return differ("mode", []string{string(rec.Mode)}, []string{string(req.Mode)})
	case req.ReplaceScope && !rec.ReplaceScope:
		return differ("--replace", []string{"partition"}, []string{"scope"})
	case req.Tasks != nil && !slices.Equal(req.Tasks, rec.Tasks):
		return differ("tasks", rec.Tasks, req.Tasks)
	case task != "" && !slices.Contains(rec.Tasks, task):
		return failf(KindUsage, "%s has no task %q: its tasks are %s", rec.names(), task, strings.Join(rec.Tasks, ", ")).
			hint("--tasks lists them all, in the call that begins the run")
	}
	return nil
}

// standing turns a state that no attempt can change into its error; nil for
// states that work goes on from, and for published.
func (w *Warehouse) standing(rec *record) error {
	run := quote(rec.Run.Run)
	switch rec.State {
	case manifest.StateRejected:
		return failf(KindGateClosed, "%s was rejected: its output failed the audit", rec.names()).
			hint("wap show %s; then `wap audit --run %s --checks FILE` for other rules on the same bytes, or `wap redo %s --reason TEXT` for new output", run, run, run)
	case manifest.StateAborted, manifest.StateAborting:
		return failf(KindStopped, "%s", strings.TrimSuffix(rec.names()+" was aborted: "+rec.Reason, ": ")).hint("wap redo %s --reason TEXT begins it anew", run)
	case manifest.StateCollected, manifest.StateCollecting:
		return failf(KindStopped, "%s was given up for stale and collected", rec.names()).hint("wap redo %s --reason TEXT begins it anew", run)
	case manifest.StateRevoked:
		return failf(KindStopped, "%s was published and undone at sequence %d", rec.names(), rec.Published.Sequence).
			hint("wap redo %s --reason TEXT begins it anew", run)
	}
	return nil
}

// quote makes a name safe to paste into a shell.
func quote(name string) string {
	for _, r := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/=:@+,", r) {
			return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
	}
	return name
}
