package wap

import (
	"context"
	"errors"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// head is the pointer as it was read once.
type head struct {
	manifest.Pointer
	version store.Version
}

// base names the head's snapshot.
func (h *head) base() manifest.Base {
	return manifest.Base{Sequence: h.Sequence, Snapshot: h.Snapshot}
}

// head reads the pointer. A pointer that vanished, belongs to another warehouse
// or went back is no lost race: exit 9, and nothing is deleted.
func (w *Warehouse) head(ctx context.Context) (*head, error) {
	h := new(head)
	_, version, err := fetch(ctx, w.cfg.Store, manifest.PointerKey, &h.Pointer)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failf(KindStoreBroken, "the pointer %s has vanished from %s", manifest.PointerKey, w.cfg.Location).
			hint(restoreHint, manifest.PointerKey)
	}
	if err != nil {
		return nil, err
	}
	h.version = version
	return h, w.checkHead(h)
}

// checkHead compares a pointer with what this process knows.
func (w *Warehouse) checkHead(h *head) error {
	if h.Warehouse != w.id {
		return failf(KindStoreBroken, "the pointer belongs to warehouse %s, not to %s", h.Warehouse, w.id)
	}
	w.seen.Lock()
	defer w.seen.Unlock()
	switch {
	case h.Sequence < w.newest.Sequence:
		return failf(KindStoreBroken, "the pointer went back from sequence %d to %d", w.newest.Sequence, h.Sequence)
	case h.Sequence == w.newest.Sequence && !w.newest.Snapshot.IsZero() && h.Snapshot != w.newest.Snapshot:
		return failf(KindStoreBroken, "sequence %d names another snapshot than before", h.Sequence)
	}
	w.newest = h.base()
	return nil
}

// entry is one step of the lineage: what a snapshot did to runs.
type entry struct {
	manifest.Base
	runs []manifest.RecentRun
}

// walk calls fn for the lineage of h, newest first, while fn returns true and
// the entry is readable and above sequence `after`. The pointer's own list
// costs nothing; older entries cost a read each. It returns the last entry's
// parent when the walk came down to `after`, else nil.
func (w *Warehouse) walk(ctx context.Context, h *head, after int64, fn func(entry) bool) (*manifest.Base, error) {
	last := h.base()
	for i, r := range h.Recent {
		if r.Sequence != h.Sequence-int64(i) {
			return nil, failf(KindStoreBroken, "the pointer's lineage has a gap at sequence %d", h.Sequence-int64(i))
		}
		last = manifest.Base{Sequence: r.Sequence, Snapshot: r.Snapshot}
		if r.Sequence <= after {
			return &last, nil
		}
		if !fn(entry{last, r.Runs}) {
			return nil, nil
		}
	}
	if len(h.Recent) == 0 {
		return nil, failf(KindStoreBroken, "the pointer at sequence %d has no lineage", h.Sequence)
	}
	after, err := w.readable(ctx, h, after)
	if err != nil {
		return nil, err
	}
	return w.walkParents(ctx, last, after, fn)
}

// walkParents goes on below from, over the snapshots' parents. Where from itself
// is not above `after` it may be gone, and nothing is read.
func (w *Warehouse) walkParents(ctx context.Context, from manifest.Base, after int64, fn func(entry) bool) (*manifest.Base, error) {
	if from.Sequence <= after {
		return nil, nil
	}
	snap, err := load[manifest.Snapshot](ctx, w, from.Snapshot)
	for err == nil && from.Sequence > 0 {
		if snap.Sequence != from.Sequence || snap.Parent == nil {
			return nil, failf(KindStoreBroken, "%s is not the snapshot of sequence %d", from.Snapshot.Key, from.Sequence)
		}
		from = manifest.Base{Sequence: from.Sequence - 1, Snapshot: *snap.Parent}
		if from.Sequence <= after {
			return &from, nil
		}
		if snap, err = load[manifest.Snapshot](ctx, w, from.Snapshot); err == nil && !fn(entry{from, recentRuns(snap.Runs)}) {
			return nil, nil
		}
	}
	return &from, err
}

// readable raises `after` to the horizon of h: the pointer's own list names
// entries below it, too, whose objects may be gone.
func (w *Warehouse) readable(ctx context.Context, h *head, after int64) (int64, error) {
	snap, err := load[manifest.Snapshot](ctx, w, h.Snapshot)
	if err != nil {
		return after, err
	}
	return max(after, snap.Horizon-1), nil
}

// recentRuns is what the pointer keeps of a snapshot's runs.
func recentRuns(runs []manifest.SnapshotRun) []manifest.RecentRun {
	out := make([]manifest.RecentRun, 0, len(runs))
	for _, r := range runs {
		out = append(out, manifest.RecentRun{Run: r.Run, Generation: r.Generation, Effect: r.Effect})
	}
	return out
}

// landing is where the history has a generation of a run.
type landing struct {
	manifest.Base
	generation int64
	effect     manifest.Effect
}

// find returns the newest entry of (first, h] about this generation of the run
// or a later one, or nil. It also proves that h descends from the states that
// the run's record knows: a pointer that was restored from a backup does not,
// however far it has moved on since.
func (w *Warehouse) find(ctx context.Context, h *head, r *manifest.Run) (*landing, error) {
	for _, k := range knownTo(r) {
		if h.Sequence < k.Sequence {
			return nil, failf(KindStoreBroken, "the pointer is at sequence %d, but by %s it %s at sequence %d", h.Sequence, manifest.RunKey(r.Run), k.what, k.Sequence).
				hint(restoreHint, manifest.PointerKey)
		}
	}
	var found *landing
	var lost error
	reached := h.Sequence + 1 // the oldest entry whose runs were looked at
	compare := func(at manifest.Base) bool {
		for _, k := range knownTo(r) {
			if k.Sequence == at.Sequence && k.Snapshot != at.Snapshot {
				lost = failf(KindStoreBroken, "the pointer lost its lineage: sequence %d is %s, by %s it %s at %s",
					at.Sequence, at.Snapshot.Key, manifest.RunKey(r.Run), k.what, k.Snapshot.Key).hint(restoreHint, manifest.PointerKey)
			}
		}
		return lost == nil
	}
	end, err := w.walk(ctx, h, r.FirstBase.Sequence, func(e entry) bool {
		reached = e.Sequence
		for _, run := range e.runs {
			if run.Run == r.Run && run.Generation >= r.Generation {
				found = &landing{e.Base, run.Generation, run.Effect}
			}
		}
		return compare(e.Base) && found == nil
	})
	if err == nil && end != nil {
		compare(*end)
	}
	if err = errors.Join(err, lost); err != nil {
		return nil, err
	}
	if cached := r.Published; found == nil && cached != nil && final(r.State) && reached <= cached.Sequence {
		return nil, failf(KindStoreBroken, "%s is %s at sequence %d by %s, and the history says nothing of it there",
			names(r.Run, r.Generation), r.State, cached.Sequence, manifest.RunKey(r.Run)).hint(restoreHint, manifest.PointerKey)
	}
	return found, nil
}

const restoreHint = "restore %s from its newest backup or object version; wap changes nothing here"

// knownState is a state that was the newest once, by a run's record.
type knownState struct {
	manifest.Base
	what string // the run did there
}

func knownTo(r *manifest.Run) []knownState {
	known := []knownState{{*r.FirstBase, "began"}}
	if r.Base != nil {
		known = append(known, knownState{*r.Base, "began"})
	}
	if r.Published != nil && final(r.State) {
		known = append(known, knownState{*r.Published, "was " + string(r.State)})
	}
	return known
}

// descends reports whether the state h holds want in its lineage, and whether
// the walk reached want's sequence at all: it may lie below the horizon.
func (w *Warehouse) descends(ctx context.Context, h *head, want manifest.Base) (ours, reached bool, err error) {
	if h.Sequence < want.Sequence {
		return false, false, nil
	}
	_, err = w.walk(ctx, h, want.Sequence-1, func(e entry) bool {
		if e.Sequence == want.Sequence {
			ours, reached = e.Snapshot == want.Snapshot, true
		}
		return !reached
	})
	return ours, reached, err
}
