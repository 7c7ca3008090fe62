package wap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Status tells about one run, or about every unfinished one: the open marks
// name them, so that not every run ever has to be read. Errors: not_found,
// outside, store_broken.
func (w *Warehouse) Status(ctx context.Context, run string) (*StatusResult, error) {
	h, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	res := &StatusResult{Sequence: h.Sequence}
	runs := []string{run}
	if run == "" {
		if runs, err = w.openRuns(ctx); err != nil {
			return res, err
		}
	}
	for _, name := range runs {
		rec, _, err := w.settled(ctx, name)
		if err != nil {
			return res, err
		}
		switch {
		case rec == nil && run == "":
			continue // a mark whose record is not there yet
		case rec == nil:
			_, _, err := w.mustRun(ctx, run)
			return res, err
		case run == "" && final(rec.State):
			// The mark outlived its generation: a call was killed in between.
			w.forget(ctx, rec)
			continue
		}
		s, err := w.runStatus(ctx, rec)
		if err != nil {
			return res, err
		}
		res.Runs = append(res.Runs, *s)
	}
	return res, nil
}

// openRuns lists the runs that have an open mark, sorted.
func (w *Warehouse) openRuns(ctx context.Context) ([]string, error) {
	var out []string
	for e, err := range w.cfg.Store.List(ctx, manifest.MarkPrefix) {
		if err != nil {
			return nil, outside("list %s", manifest.MarkPrefix).because(err)
		}
		var mark manifest.OpenMark
		_, _, err := fetch(ctx, w.cfg.Store, e.Key, &mark)
		if errors.Is(err, store.ErrNotFound) {
			continue // finished meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, mark.Run)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// briefly is a status without the tasks.
func (w *Warehouse) briefly(rec *record) *RunStatus {
	if rec == nil {
		return nil
	}
	s := &RunStatus{
		Run: rec.Run.Run, Generation: rec.Generation, State: rec.State, Scope: rec.Scope, Updated: rec.Updated,
	}
	if rec.Published != nil && final(rec.State) {
		s.Sequence = rec.Published.Sequence
	}
	s.Next = next(rec)
	return s
}

// next is what to type next.
func next(rec *record) string {
	run := quote(rec.Run.Run)
	switch rec.State {
	case manifest.StateOpening, manifest.StateOpen, manifest.StateClosing:
		return "run the tasks that are missing; or wap abort --run " + run
	case manifest.StateFrozen:
		return "wap publish --run " + run
	case manifest.StateRejected:
		return "wap show " + run + "; then wap redo " + run + " --reason TEXT"
	case manifest.StateAborting, manifest.StateCollecting:
		return "wap abort --run " + run
	case manifest.StatePublished:
		return "nothing; wap redo " + run + " --reason TEXT begins it anew"
	}
	return "wap redo " + run + " --reason TEXT begins it anew"
}

// runStatus tells what each task has come to.
func (w *Warehouse) runStatus(ctx context.Context, rec *record) (*RunStatus, error) {
	s := w.briefly(rec)
	attempts, err := w.attempts(ctx, rec, rec.Generation)
	if err != nil {
		return s, err
	}
	found, _, err := w.seals(ctx, &rec.Run)
	if err != nil {
		return s, err
	}
	for _, task := range byNumber(rec.Tasks) {
		t := TaskStatus{Task: task}
		for _, a := range attempts {
			if a.Task == task {
				t.Attempts++
			}
		}
		for _, f := range found {
			if f.ref.Task == task {
				t.Sealed, t.SealedBy, t.Rows = true, f.seal.Attempt, f.seal.Totals.Rows
				t.Inherited = f.seal.Generation != rec.Generation
			}
		}
		s.Tasks = append(s.Tasks, t)
	}
	return s, nil
}

// byNumber is a list of tasks in the order people expect: 2 before 10.
func byNumber(tasks []string) []string {
	return slices.SortedStableFunc(slices.Values(tasks), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX != nil || errY != nil {
			return strings.Compare(a, b)
		}
		return cmp.Compare(x, y)
	})
}

// attempts reads a generation's attempt records, oldest first.
func (w *Warehouse) attempts(ctx context.Context, rec *record, generation int64) ([]manifest.Attempt, error) {
	prefix := manifest.RunPrefix(rec.Run.Run) + fmt.Sprintf("g%d/attempts/", generation)
	var out []manifest.Attempt
	for e, err := range w.cfg.Store.List(ctx, prefix) {
		if err != nil {
			return nil, outside("list %s", prefix).because(err)
		}
		body, _, err := w.cfg.Store.Get(ctx, e.Key)
		if err != nil {
			return nil, outside("read %s", e.Key).because(err)
		}
		var a manifest.Attempt
		if err := decode(e.Key, body, &a); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b manifest.Attempt) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.Attempt, b.Attempt))
	})
	return out, nil
}

// Resolve tells what became of a run, and settles what was left half done by
// others. Errors: outcome_unknown while it is not over, not_found, outside,
// store_broken.
func (w *Warehouse) Resolve(ctx context.Context, run string) (*RunStatus, error) {
	rec, _, err := w.mustRun(ctx, run)
	if err != nil {
		return w.briefly(rec), err
	}
	s, err := w.runStatus(ctx, rec)
	if err != nil {
		return s, err
	}
	if !final(rec.State) && rec.State != manifest.StateRejected {
		return s, failf(KindUnknown, "%s is %s: it is not published, and may still be", rec.names(), rec.State).
			hint("%s", s.Next)
	}
	return s, nil
}

// Inputs returns the pinned listing of a task. Errors: not_found, outside,
// store_broken.
func (w *Warehouse) Inputs(ctx context.Context, run, task string) (*InputsResult, error) {
	rec, _, err := w.mustRun(ctx, run)
	if err != nil {
		return nil, err
	}
	if task == "" && len(rec.Tasks) == 1 {
		task = rec.Tasks[0]
	}
	res := &InputsResult{Run: run, Generation: rec.Generation, Task: task}
	generation := rec.Generation
	if rec.Redo != nil && rec.Redo.KeepPin {
		generation = rec.Redo.PinGeneration
	}
	for _, owner := range []string{task, manifest.SharedInputs} {
		if owner == "" {
			continue
		}
		p, err := w.readPin(ctx, rec, generation, owner)
		if err != nil {
			return res, err
		}
		if p != nil {
			res.Inputs, res.Summary = p.inputs.Inputs, p.summary()
			return res, nil
		}
	}
	return res, failf(KindNotFound, "%s has no pinned inputs", rec.names()).hint("--input, in the call that begins the run")
}
