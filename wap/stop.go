package wap

import (
	"context"
	"errors"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// Stopping a publish that may be on its way takes three steps, in this order:
// the record leaves `frozen`; the pointer is seen to move once; the history is
// read. A publisher reads pointer, record, and then swaps: one that read the
// record before the first step loses its swap to the second, and one whose swap
// was faster is found by the third.

// Abort gives a run up for good. Errors: stopped (it is published), not_found,
// outside, outcome_unknown.
func (w *Warehouse) Abort(ctx context.Context, run, reason string) (*RunStatus, error) {
	for i := 0; ; i++ {
		rec, _, err := w.mustRun(ctx, run)
		if err != nil {
			return nil, err
		}
		switch rec.State {
		case manifest.StatePublished:
			return w.briefly(rec), failf(KindStopped, "%s is published at sequence %d: it cannot be aborted", rec.names(), rec.Published.Sequence).
				hint("wap show %s", quote(run))
		case manifest.StateAborted, manifest.StateCollected, manifest.StateRevoked:
			w.forget(ctx, rec)
			return w.briefly(rec), nil
		case manifest.StateAborting, manifest.StateCollecting:
			_, err = w.finishStop(ctx, rec)
		default:
			_, err = w.stop(ctx, rec, manifest.StateAborting, reason)
		}
		if err != nil && !errors.Is(err, errMoved) {
			return w.briefly(rec), err
		}
		if err := pauseAfter(ctx, i); err != nil {
			return w.briefly(rec), outside("abort %s", rec.names()).because(err)
		}
	}
}

// stop takes the record away from what a publisher accepts, and finishes.
func (w *Warehouse) stop(ctx context.Context, rec *record, to manifest.State, reason string) (*record, error) {
	// A crash after this Swap leaves `aborting`: whoever meets it finishes.
	next, err := w.swapRun(ctx, rec, func(m *manifest.Run) { m.State, m.Reason = to, reason })
	if err != nil {
		return nil, err
	}
	return w.finishStop(ctx, next)
}

// finishStop does the second and third step for a record that left `frozen`,
// and makes it final. The record it returns says what became of the run:
// `published` if the swap had been faster.
func (w *Warehouse) finishStop(ctx context.Context, rec *record) (*record, error) {
	if err := w.fence(ctx, strings.TrimSuffix(string(rec.State)+" "+rec.names()+": "+rec.Reason, ": ")); err != nil {
		return nil, err
	}
	now, _, err := w.settled(ctx, rec.Run.Run)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, failf(KindStoreBroken, "%s has vanished", manifest.RunKey(rec.Run.Run))
	}
	if now.Generation != rec.Generation || now.State != rec.State {
		return now, nil
	}
	done := manifest.StateAborted
	if now.State == manifest.StateCollecting {
		done = manifest.StateCollected
	}
	next, err := w.swapRun(ctx, now, func(m *manifest.Run) { m.State = done })
	if err != nil {
		return nil, err
	}
	w.forget(ctx, next)
	return next, nil
}
