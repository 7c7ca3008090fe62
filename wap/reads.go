package wap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// Read is something published that a candidate was compared with. While asking
// again gives the same answer, the evidence holds.
type Read struct {
	// Path is what was asked about: a partition, a table, or a URL.
	Path string `json:"path"`
	// Baseline is what was asked for among the table's partitions; null: all that
	// stands at the path.
	Baseline *audit.Baseline `json:"baseline"`
	// Found are the manifests or trees that stood there, in the order found; of a
	// URL the objects, each with the digest of its version.
	Found []manifest.Ref `json:"found"`
}

// same reports whether both asked the same.
func (r Read) same(o Read) bool {
	return r.Path == o.Path && (r.Baseline == nil) == (o.Baseline == nil) && (r.Baseline == nil || *r.Baseline == *o.Baseline)
}

// again asks a state the same.
func (r Read) again(ctx context.Context, st *state) ([]manifest.Ref, error) {
	if isURL(r.Path) {
		objects, _, err := (&Warehouse{cfg: st.w.cfg}).listURL(ctx, r.Path)
		return versionsOf(objects), err
	}
	if r.Baseline != nil && r.Baseline.Axis == audit.AxisHistory {
		// The run itself is not in it: it is not published.
		return st.w.history(ctx, st, pastStates{at: r.Path, limit: r.Baseline.Limit})
	}
	if r.Baseline != nil {
		own, err := manifest.ParsePartition(r.Path)
		if err != nil {
			return nil, failf(KindStoreBroken, "the evidence names a bad path").because(err)
		}
		_, refs, err := st.chosen(ctx, own, *r.Baseline)
		return refs, err
	}
	e, _, err := st.lookup(ctx, pathComponents(r.Path))
	if err != nil || e == nil {
		return nil, err
	}
	return []manifest.Ref{e.Ref}, nil
}

// versionsOf stands for what lies at a URL.
func versionsOf(objects []manifest.Object) []manifest.Ref {
	var out []manifest.Ref
	for _, o := range objects {
		out = append(out, manifest.Ref{Key: o.URL, SHA256: manifest.SHA256Hex(fmt.Appendf(nil, "%d %s %s", o.Size, o.ETag, o.VersionID))})
	}
	return out
}

// chosen lists the partitions that a baseline picks, with their manifests.
func (s *state) chosen(ctx context.Context, own manifest.Partition, want audit.Baseline) ([]manifest.Partition, []manifest.Ref, error) {
	var list []manifest.Partition
	refs := map[string]manifest.Ref{}
	if s.snap.Tree == nil {
		return nil, nil, nil
	}
	err := s.walk(ctx, pathComponents(own.Table), func(p manifest.Partition, e manifest.TreeEntry) error {
		list = append(list, p)
		refs[p.Path] = e.Ref
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	found := want.Choose(own, list)
	out := make([]manifest.Ref, len(found))
	for i, p := range found {
		out[i] = refs[p.Path]
	}
	return found, out, nil
}

// recheckReads looks whether what the candidate was compared with is still so. A
// difference makes the evidence stale: by the same rules the candidate may be
// found wanting now.
func (p *plan) recheckReads(ctx context.Context, st *state) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(p.w.cfg.Parallel)
	for _, r := range p.ev.Reads {
		g.Go(func() error {
			now, err := r.again(ctx, st)
			if err == nil && !slices.Equal(now, r.Found) {
				err = errStale
			}
			return err
		})
	}
	return g.Wait()
}

// pastStates gathers what a partition held, going back in time.
type pastStates struct {
	at      string // the partition
	limit   int64
	but     string // of this generation, by its name, nothing is taken
	effects map[string]manifest.Effect
	seen    map[manifest.Ref]bool
	out     []manifest.Ref // their manifests
}

// history lists the states that a partition had up to st, the newest first: what
// a run published there and nobody took back. It ends at the horizon.
func (w *Warehouse) history(ctx context.Context, st *state, past pastStates) ([]manifest.Ref, error) {
	past.effects, past.seen = map[string]manifest.Effect{}, map[manifest.Ref]bool{}
	past.look(st.snap)
	if past.full() {
		return past.out, nil
	}
	var bad error
	_, err := w.walkParents(ctx, st.base, max(0, st.snap.Horizon-1), func(e entry) bool {
		snap, err := load[manifest.Snapshot](ctx, w, e.Snapshot)
		if err == nil {
			past.look(snap)
		}
		bad = err
		return err == nil && !past.full()
	})
	return past.out, errors.Join(bad, err)
}

func (h *pastStates) full() bool { return int64(len(h.out)) >= h.limit }

// look takes in one snapshot. The newest word on a generation is what counts.
func (h *pastStates) look(snap *manifest.Snapshot) {
	for _, r := range snap.Runs {
		name := names(r.Run, r.Generation)
		if _, known := h.effects[name]; !known {
			h.effects[name] = r.Effect
		}
		if h.effects[name] != manifest.EffectPublished || r.Effect != manifest.EffectPublished || name == h.but {
			continue
		}
		for _, p := range r.Partitions {
			if p.Path != h.at || p.Manifest == nil || h.seen[*p.Manifest] || h.full() {
				continue
			}
			h.seen[*p.Manifest] = true
			h.out = append(h.out, *p.Manifest)
		}
	}
}
