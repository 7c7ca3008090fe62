package wap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// Redo begins a run anew as its next generation. A redo that is killed and
// repeated with the same --generation opens one. Errors: usage (the state takes
// no redo, or the generation is too far ahead), not_found, outside,
// outcome_unknown.
func (w *Warehouse) Redo(ctx context.Context, req RedoRequest) (*RunStatus, error) {
	if req.Reason == "" {
		return nil, failf(KindUsage, "redo run %q without a reason", req.Run).hint("--reason TEXT: it stays in the record")
	}
	req.Tasks = slices.Clone(req.Tasks)
	slices.Sort(req.Tasks)
	req.Tasks = slices.Compact(req.Tasks)
	target := req.Generation
	for i := 0; ; i++ {
		rec, _, err := w.mustRun(ctx, req.Run)
		if err != nil {
			return nil, err
		}
		if target == 0 {
			target = rec.Generation + 1
			w.notify(Info, "opening "+names(req.Run, target), "")
		}
		switch {
		case rec.Generation >= target:
			w.remove(ctx, manifest.MarkKey(req.Run, target-1))
			return w.briefly(rec), nil
		case rec.Generation < target-1:
			return w.briefly(rec), failf(KindUsage, "run %q is at generation %d: %d cannot be opened next", req.Run, rec.Generation, target).
				hint("--generation %d", rec.Generation+1)
		case rec.State == manifest.StateAborting || rec.State == manifest.StateCollecting:
			_, err = w.finishStop(ctx, rec)
		case rec.State == manifest.StateRejected || final(rec.State):
			err = w.reopen(ctx, rec, target, req)
		default:
			return w.briefly(rec), failf(KindUsage, "%s is %s: only a run that is over can be redone", rec.names(), rec.State).
				hint("retry it, or `wap abort --run %s` first", quote(req.Run))
		}
		if err != nil && !errors.Is(err, errMoved) {
			return w.briefly(rec), err
		}
		if err := pauseAfter(ctx, i); err != nil {
			return w.briefly(rec), outside("redo %s", rec.names()).because(err)
		}
	}
}

// reopen stops a rejected run for good, creates the next generation's open mark,
// and swaps the record to it. A crash after the mark leaves a mark ahead of the
// record, which stays: this redo may be repeated.
func (w *Warehouse) reopen(ctx context.Context, rec *record, target int64, req RedoRequest) error {
	if req.KeepPin && rec.State != manifest.StateRejected {
		return failf(KindUsage, "%s is %s: --keep-pin goes with a rejected run, whose base nobody could collect", rec.names(), rec.State)
	}
	for _, t := range req.Tasks {
		if err := w.agrees(rec, BeginRequest{}, t); err != nil {
			return err
		}
	}
	// As createRun does: what is refused leaves no mark.
	if _, err := w.nextGeneration(ctx, &rec.Run, req); err != nil {
		return err
	}
	if rec.State == manifest.StateRejected {
		if err := w.fence(ctx, strings.TrimSuffix("redo "+rec.names()+": "+req.Reason, ": ")); err != nil {
			return unpublished(err)
		}
		now, _, err := w.mustRun(ctx, req.Run)
		if err != nil {
			return err
		}
		if now.version != rec.version {
			return errMoved
		}
	}
	if err := w.mark(ctx, req.Run, target); err != nil {
		return err
	}
	next, err := w.nextGeneration(ctx, &rec.Run, req)
	if err != nil {
		return err
	}
	_, err = w.swapRun(ctx, rec, func(m *manifest.Run) { *m = *next })
	return err
}

// nextGeneration is the record of a generation that is about to open.
func (w *Warehouse) nextGeneration(ctx context.Context, old *manifest.Run, req RedoRequest) (*manifest.Run, error) {
	h, err := w.head(ctx)
	if err != nil {
		return nil, err
	}
	redo := &manifest.Redo{
		Reason: req.Reason, By: w.cfg.By, Time: w.cfg.Now(), Tasks: req.Tasks, KeepPin: req.KeepPin, From: old.State,
	}
	next := *old
	next.Generation, next.State = old.Generation+1, manifest.StateOpening
	next.Floor, next.Base, next.Now = h.Sequence, nil, w.cfg.Now()
	next.References, next.Inherited, next.Candidate, next.Evidence = nil, nil, nil, nil
	next.Passed, next.Published, next.Reason, next.Redo = false, nil, "", redo
	if len(req.Tasks) > 0 && old.Candidate != nil {
		for _, s := range old.Candidate.Seals {
			if !slices.Contains(req.Tasks, s.Task) {
				redo.Seals = append(redo.Seals, s)
			}
		}
	}
	if req.KeepPin {
		redo.Base, next.Floor, next.Now = old.Base, min(old.Floor, old.Base.Sequence), old.Now
		next.References = old.References
		redo.PinGeneration = old.Generation
		if old.Redo != nil && old.Redo.KeepPin {
			redo.PinGeneration = old.Redo.PinGeneration
		}
		return &next, nil
	}
	if next.References, err = w.resolveSources(ctx, h, old.Inputs); err != nil {
		return nil, err
	}
	for _, r := range next.References {
		next.Floor = min(next.Floor, r.Sequence)
	}
	return &next, nil
}

// inherit decides which of the older generation's seals count as the new one's:
// all of them from a rejected generation, whose files gc keeps; else all, if
// their files are in the tree of the new base; else none.
func (w *Warehouse) inherit(ctx context.Context, rec *record, base manifest.Base) ([]manifest.SealRef, error) {
	if len(rec.Redo.Seals) == 0 || rec.Redo.From == manifest.StateRejected {
		return rec.Redo.Seals, nil
	}
	st, err := w.at(ctx, base)
	if err != nil {
		return nil, err
	}
	for _, ref := range rec.Redo.Seals {
		s, err := w.readSeal(ctx, ref)
		if errors.Is(err, errGone) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, p := range s.seal.Partitions {
			live, err := st.manifest(ctx, p.Partition.Components())
			if err != nil {
				return nil, err
			}
			if !holds(live, p.Files) {
				return nil, nil
			}
		}
	}
	return rec.Redo.Seals, nil
}

// holds reports whether a manifest lists all files.
func holds(m *manifest.Manifest, files []manifest.File) bool {
	if m == nil {
		return false
	}
	have := map[string]bool{}
	for _, f := range m.Files {
		have[f.Key] = true
	}
	return !slices.ContainsFunc(files, func(f manifest.File) bool { return !have[f.Key] })
}
