package wap

import (
	"context"
	"errors"
	"fmt"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// record is a run record as it was read once.
type record struct {
	manifest.Run
	version store.Version
}

// names is how messages speak of it.
func (r *record) names() string { return names(r.Run.Run, r.Generation) }

func names(run string, generation int64) string {
	if generation > 1 {
		return fmt.Sprintf("run %q, generation %d", run, generation)
	}
	return fmt.Sprintf("run %q", run)
}

// final reports whether nothing but a redo can change the generation.
func final(s manifest.State) bool {
	switch s {
	case manifest.StatePublished, manifest.StateRevoked, manifest.StateAborted, manifest.StateCollected:
		return true
	}
	return false
}

// readRun reads a run's record, or nil where there is none.
func (w *Warehouse) readRun(ctx context.Context, run string) (*record, error) {
	key := manifest.RunKey(run)
	r := new(record)
	_, version, err := fetch(ctx, w.cfg.Store, key, &r.Run)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.version = version
	if r.Run.Run != run || r.Warehouse != w.id {
		return nil, failf(KindStoreBroken, "%s is the record of run %q in warehouse %s, not of %q in %s", key, r.Run.Run, r.Warehouse, run, w.id).
			hint(restoreHint, key)
	}
	return r, nil
}

// swapRun changes the record from exactly what was read. errMoved: somebody
// else was first, and nothing of this change can land any more. A fresh nonce
// keeps an old Swap from ever fitting again.
func (w *Warehouse) swapRun(ctx context.Context, r *record, change func(*manifest.Run)) (*record, error) {
	next := &record{Run: r.Run}
	change(&next.Run)
	next.Nonce, next.Updated = w.cfg.NewID(), w.cfg.Now()
	key := manifest.RunKey(r.Run.Run)
	body, err := manifest.Encode(&next.Run)
	if err != nil {
		return nil, failf(KindUsage, "encode %s", key).because(err)
	}
	for i := range sends {
		next.version, err = w.cfg.Store.Swap(ctx, key, r.version, body)
		if err = acknowledged(next.version, err); err == nil {
			return next, nil
		}
		if errors.Is(err, store.ErrForbidden) {
			break
		}
		// Refused or unknown, what stands there says which.
		now, readErr := w.readRun(ctx, r.Run.Run)
		switch {
		case readErr != nil:
			err = readErr
		case now == nil:
			return nil, failf(KindStoreBroken, "%s has vanished", key)
		case now.Nonce == next.Nonce:
			return now, nil
		case now.version != r.version:
			return nil, errMoved
		}
		if pause(ctx, i) != nil {
			break
		}
	}
	return nil, outside("change %s", key).because(err)
}

// settled reads a run's record and makes it say what the history says: history
// outranks the record, from any state of its generation. Every command starts
// here. It returns nil where there is no such run, and the head that was
// searched (nil while generation 1 is opening: nothing can be in the history).
//
// A crash before the Swap leaves the record behind; the next call settles it.
func (w *Warehouse) settled(ctx context.Context, run string) (*record, *head, error) {
	var last error
	for range sends {
		r, err := w.readRun(ctx, run)
		if err != nil || r == nil || r.FirstBase == nil {
			return r, nil, err
		}
		h, err := w.head(ctx)
		if err != nil {
			return nil, nil, err
		}
		found, err := w.find(ctx, h, &r.Run)
		if errors.Is(err, errGone) {
			// The horizon may have passed what was being read.
			last = err
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if found != nil && found.generation > r.Generation {
			last = failf(KindStoreBroken, "the history has generation %d of run %q, its record is at %d", found.generation, run, r.Generation)
			continue
		}
		r, err = w.settle(ctx, r, found)
		if errors.Is(err, errMoved) {
			last = outside("settle run %q", run).because(err)
			continue
		}
		return r, h, err
	}
	return nil, nil, last
}

// settle swaps the record to what the history's newest entry of its generation
// says, and deletes the open mark of a generation that is over.
func (w *Warehouse) settle(ctx context.Context, r *record, found *landing) (*record, error) {
	if found == nil {
		return r, nil
	}
	want := manifest.StatePublished
	if found.effect == manifest.EffectRevoked {
		want = manifest.StateRevoked
	}
	if r.State == want && r.Published != nil && *r.Published == found.Base {
		return r, nil
	}
	next, err := w.swapRun(ctx, r, func(m *manifest.Run) {
		m.State, m.Published = want, &found.Base
	})
	if err != nil {
		return nil, err
	}
	w.forget(ctx, next)
	return next, nil
}

// forget deletes the open mark of a generation that is over. A call that finds
// it over does so again: the one that ended it may have been killed in between.
func (w *Warehouse) forget(ctx context.Context, r *record) {
	w.remove(ctx, manifest.MarkKey(r.Run.Run, r.Generation))
}

// mustRun is settled for commands that need the run to exist.
func (w *Warehouse) mustRun(ctx context.Context, run string) (*record, *head, error) {
	if err := checkRunName(run); err != nil {
		return nil, nil, err
	}
	r, h, err := w.settled(ctx, run)
	if err == nil && r == nil {
		err = failf(KindNotFound, "there is no run %q in %s", run, w.cfg.Location).
			hint("wap status")
	}
	return r, h, err
}

// checkRunName refuses what cannot be a run's name.
func checkRunName(run string) error {
	if run == "" {
		return failf(KindUsage, "no run is named").
			hint("--run NAME, or WAP_RUN, or run: in wap.yaml: the logical unit of work, the same over every retry")
	}
	if err := manifest.CheckName(run); err != nil {
		return failf(KindUsage, "run name %q", run).because(err)
	}
	return nil
}
