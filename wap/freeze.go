package wap

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// frozen brings a run to a frozen candidate: `closing` ends intake, `frozen` is
// final for its generation. Whoever meets `closing` finishes it, and the first
// Swap decides. It returns the record as it then stands, in whatever state that
// is beyond `closing`.
func (w *Warehouse) frozen(ctx context.Context, run string) (*record, error) {
	for i := 0; ; i++ {
		rec, _, err := w.mustRun(ctx, run)
		if err != nil {
			return nil, err
		}
		switch rec.State {
		case manifest.StateOpening:
			err = w.open(ctx, rec)
		case manifest.StateOpen:
			// A crash after this Swap leaves `closing`: seals in flight finish the
			// freeze, and so does the next call.
			_, err = w.swapRun(ctx, rec, func(m *manifest.Run) { m.State = manifest.StateClosing })
		case manifest.StateClosing:
			_, err = w.freeze(ctx, rec)
		case manifest.StateAborting, manifest.StateCollecting:
			_, err = w.finishStop(ctx, rec)
		default:
			return rec, nil
		}
		if err != nil && !errors.Is(err, errMoved) {
			return rec, err
		}
		if err := pauseAfter(ctx, i); err != nil {
			return rec, outside("freeze %s", rec.names()).because(err)
		}
	}
}

// freeze finishes `closing`: to frozen with the seals there are, or back to open
// where a declared task has none (tasks_missing).
func (w *Warehouse) freeze(ctx context.Context, rec *record) (*record, error) {
	seals, missing, err := w.seals(ctx, &rec.Run)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		next, err := w.swapRun(ctx, rec, func(m *manifest.Run) { m.State = manifest.StateOpen })
		if err != nil {
			return nil, err
		}
		return next, w.missing(rec, missing)
	}
	c := &manifest.Candidate{}
	for _, s := range seals {
		c.Seals = append(c.Seals, s.ref)
		c.Totals = c.Totals.Add(s.seal.Totals)
	}
	c.Digest = manifest.CandidateDigest(c.Seals)
	return w.swapRun(ctx, rec, func(m *manifest.Run) {
		m.State, m.Candidate = manifest.StateFrozen, c
	})
}

// missing is the error of a run whose tasks have not all sealed.
func (w *Warehouse) missing(rec *record, tasks []string) error {
	return failf(KindTasksMissing, "%s: %d of %d tasks have no output yet: %s", rec.names(), len(tasks), len(rec.Tasks), strings.Join(byNumber(tasks), ", ")).
		hint("wap status %s", quote(rec.Run.Run))
}

// standingSeal is a seal with its name.
type standingSeal struct {
	ref  manifest.SealRef
	seal *manifest.Seal
}

// seals lists the seals of a generation, inherited ones included, sorted by
// task, and the declared tasks that have none.
func (w *Warehouse) seals(ctx context.Context, run *manifest.Run) (found []standingSeal, missing []string, err error) {
	have := map[string]bool{}
	prefix := manifest.SealPrefix(run.Run, run.Generation)
	for e, err := range w.cfg.Store.List(ctx, prefix) {
		if err != nil {
			return nil, nil, outside("list %s", prefix).because(err)
		}
		have[e.Key] = true
	}
	found = make([]standingSeal, len(run.Tasks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	for i, task := range run.Tasks {
		if at := slices.IndexFunc(run.Inherited, func(r manifest.SealRef) bool { return r.Task == task }); at >= 0 {
			found[i].ref = run.Inherited[at]
		} else if key := manifest.SealKey(run.Run, run.Generation, task); have[key] {
			found[i].ref = manifest.SealRef{Task: task, Ref: manifest.Ref{Key: key}}
		} else {
			missing = append(missing, task)
			continue
		}
		g.Go(func() (err error) {
			found[i], err = w.readSeal(ctx, found[i].ref)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(s standingSeal) bool { return s.seal == nil })
	slices.SortFunc(found, func(a, b standingSeal) int { return strings.Compare(a.ref.Task, b.ref.Task) })
	return found, missing, nil
}

// readSeal reads a seal whose checksum may not be known yet: the seal's own
// object is the first word on it.
func (w *Warehouse) readSeal(ctx context.Context, ref manifest.SealRef) (standingSeal, error) {
	if ref.SHA256 != "" {
		seal, err := load[manifest.Seal](ctx, w, ref.Ref)
		return standingSeal{ref, seal}, err
	}
	seal := new(manifest.Seal)
	body, _, err := fetch(ctx, w.cfg.Store, ref.Key, seal)
	if errors.Is(err, store.ErrNotFound) {
		err = outside("read %s", ref.Key).because(err)
	}
	ref.SHA256 = manifest.SHA256Hex(body)
	return standingSeal{ref, seal}, err
}
