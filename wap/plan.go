package wap

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// plan is what a passed candidate makes of the tree, whatever the newest state
// is.
type plan struct {
	w         *Warehouse
	rec       *record
	ref       manifest.Ref // of ev
	ev        *Evidence
	manifests []*manifest.Manifest // as ev.Partitions; nil where one is emptied
}

// plan reads the evidence and the manifests that passed.
func (w *Warehouse) plan(ctx context.Context, rec *record, ref *manifest.EvidenceRef) (*plan, error) {
	ev, err := load[Evidence](ctx, w, ref.Ref)
	if err != nil {
		return nil, err
	}
	p := &plan{w: w, rec: rec, ref: ref.Ref, ev: ev, manifests: make([]*manifest.Manifest, len(ev.Partitions))}
	if wrong := p.unbound(ref); wrong != "" {
		return nil, rec.notAsWritten(ref.Key, wrong)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	for i, e := range ev.Partitions {
		if e.After == nil {
			continue
		}
		g.Go(func() (err error) {
			p.manifests[i], err = load[manifest.Manifest](ctx, w, *e.After)
			return err
		})
	}
	return p, g.Wait()
}

// unbound says how the evidence is not what the record takes it for, or nothing.
func (p *plan) unbound(ref *manifest.EvidenceRef) string {
	ev, rec := p.ev, p.rec
	scope, err := manifest.ParseScope(rec.Scope)
	switch {
	case ev.Run != rec.Run.Run || ev.Generation != rec.Generation:
		return "is of " + names(ev.Run, ev.Generation)
	case ev.Candidate != rec.Candidate.Digest:
		return "judged another candidate"
	case ev.Rules != ref.Rules:
		return "judged by other rules"
	case len(ev.Report.Blocking()) > 0:
		return "did not pass"
	case err != nil:
		return "has no scope to fit: " + err.Error()
	}
	for _, e := range ev.Partitions {
		part, err := manifest.ParsePartition(e.Path)
		switch {
		case err != nil || !scope.Contains(part):
			return "judged " + e.Path + ", outside the scope"
		case e.Mode != rec.Mode:
			return "judged " + e.Path + " for mode " + string(e.Mode)
		}
	}
	return ""
}

// propose makes the body that follows h: the newest tree with the candidate's
// partitions in it. Partitions that others published meanwhile do not conflict.
// Its round trips, serially: the snapshot, each level of the tree, the writes.
func (p *plan) propose(ctx context.Context, h *head) (*proposal, error) {
	g, gctx := errgroup.WithContext(ctx)
	var rec *record
	g.Go(func() (err error) {
		rec, err = p.recheckRecord(gctx)
		return err
	})
	g.Go(func() error { return p.recheckStaged(gctx) })
	var pr *proposal
	var objects []*written
	g.Go(func() (err error) {
		pr, objects, err = p.build(gctx, h)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	*p.rec = *rec
	// Acknowledged before anything names them. A crash here leaves nodes and a
	// snapshot that nothing names.
	return pr, p.w.createAll(ctx, objects)
}

// build makes tree and snapshot after h, without writing them.
func (p *plan) build(ctx context.Context, h *head) (*proposal, []*written, error) {
	st, err := p.w.at(ctx, h.base())
	if err != nil {
		return nil, nil, err
	}
	if err := p.conflicts(ctx, st); err != nil {
		return nil, nil, err
	}
	if err := p.recheckReads(ctx, st); err != nil {
		return nil, nil, err
	}
	root, nodes, totals, err := manifest.Apply(ctx, st, st.snap.Tree, p.changes(), p.w.cfg.NewID)
	if err != nil {
		return nil, nil, p.treeError(treeFault(err))
	}
	snap := &manifest.Snapshot{
		Operation: manifest.OpPublish, Tree: root, Totals: totals, Tags: st.snap.Tags,
		Horizon: st.snap.Horizon, Exports: st.snap.Exports, Runs: []manifest.SnapshotRun{p.entry()},
	}
	pr, obj, err := p.w.propose(h, snap)
	if err != nil {
		return nil, nil, err
	}
	objects := []*written{obj}
	for _, n := range nodes {
		objects = append(objects, &written{manifest.Ref{Key: n.Key, SHA256: manifest.SHA256Hex(n.Body)}, n.Body})
	}
	return pr, objects, nil
}

// treeError tells a table whose keys are used in another order from a tree that
// cannot be read.
func (p *plan) treeError(err error) error {
	var order *manifest.KeyOrderError
	var node *manifest.NodeConflictError
	if errors.As(err, &order) || errors.As(err, &node) {
		return failf(KindUsage, "%s cannot be published", p.rec.names()).because(err).
			hint("wap abort --run %s, and begin another run with the table's own keys", quote(p.rec.Run.Run))
	}
	return err
}

// changes are the candidate's partitions as the tree takes them.
func (p *plan) changes() []manifest.Change {
	var out []manifest.Change
	for i, e := range p.ev.Partitions {
		c := manifest.Change{Path: strings.Split(e.Path, "/")}
		if m := p.manifests[i]; m != nil {
			c.Leaf = &manifest.Leaf{Manifest: *e.After, Totals: m.Totals}
			if m.Table == nil {
				c.Table = func(old *manifest.Table) (*manifest.Table, error) {
					return manifest.MergeTable(old, m.Partition, m.Schemas)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// entry is what the snapshot says of the run.
func (p *plan) entry() manifest.SnapshotRun {
	run := manifest.SnapshotRun{
		Run: p.rec.Run.Run, Generation: p.rec.Generation, Effect: manifest.EffectPublished,
		Candidate: p.ev.Candidate, Rules: p.ev.Rules, Inputs: p.ev.Inputs, Waivers: p.ev.Waivers, Controls: p.ev.Controls,
		Evidence: &p.ref,
	}
	for _, e := range p.ev.Partitions {
		run.Partitions = append(run.Partitions, manifest.SnapshotPartition{Path: e.Path, Mode: e.Mode, Manifest: e.After, Totals: e.Totals})
	}
	return run
}

// conflicts compares what the partitions hold now with what they held when they
// were judged. In mode append another writer makes the evidence stale; in the
// others it has won. A run that replaces its whole scope loses to one that put a
// new partition into it, too.
func (p *plan) conflicts(ctx context.Context, st *state) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(p.w.cfg.Parallel)
	if p.rec.ReplaceScope {
		g.Go(func() error {
			return st.walkScope(ctx, p.rec, func(part manifest.Partition, e manifest.TreeEntry) error {
				judged := slices.ContainsFunc(p.ev.Partitions, func(j EvidencePartition) bool { return j.Path == part.Path })
				if judged {
					return nil
				}
				return p.conflict(ctx, part.Path, &e.Ref)
			})
		})
	}
	for _, e := range p.ev.Partitions {
		g.Go(func() error {
			now, err := st.manifestRef(ctx, strings.Split(e.Path, "/"))
			if err != nil || sameRef(now, e.Before) {
				return err
			}
			if p.rec.Mode == manifest.ModeAppend {
				return errStale
			}
			return p.conflict(ctx, e.Path, now)
		})
	}
	return g.Wait()
}

func sameRef(a, b *manifest.Ref) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// conflict names the run that won a partition.
func (p *plan) conflict(ctx context.Context, path string, now *manifest.Ref) error {
	winner := "another run removed it"
	if now != nil {
		m, err := load[manifest.Manifest](ctx, p.w, *now)
		if err != nil {
			return err
		}
		winner = names(m.Run, m.Generation) + " published it first"
	}
	return failf(KindConflict, "%s lost partition %s: %s", p.rec.names(), path, winner).
		hint("wap log %s; to put this run's output on top of it: wap abort --run %s, then wap redo %s --reason TEXT", path, quote(p.rec.Run.Run), quote(p.rec.Run.Run))
}

// recheckRecord reads the record again, after the pointer: whoever stops a run
// changes the record first. A record that has moved sends the call back to the
// top, history first: nothing is ever refused from this read alone.
func (p *plan) recheckRecord(ctx context.Context) (*record, error) {
	now, err := p.w.readRun(ctx, p.rec.Run.Run)
	if err != nil {
		return nil, err
	}
	if now == nil || now.Generation != p.rec.Generation || now.State != manifest.StateFrozen {
		return nil, errMoved
	}
	// Newer evidence by the same rules is on other manifests.
	if ref := passing(&now.Run, p.ev.Rules); ref == nil || ref.Ref != p.ref {
		return nil, errMoved
	}
	return now, nil
}

// recheckStaged looks whether what is to become visible is still what was
// audited.
func (p *plan) recheckStaged(ctx context.Context) error {
	var files []liveFile
	for _, m := range p.manifests {
		if m == nil {
			continue
		}
		for _, f := range m.Files {
			files = append(files, liveFile{f, m.Partition})
		}
	}
	return p.w.checkStaged(ctx, p.rec, files)
}

// checkStaged lists the run's own files among some: each object must still be
// what was sealed. Those of other runs are live already.
func (w *Warehouse) checkStaged(ctx context.Context, rec *record, files []liveFile) error {
	want := map[string]manifest.File{}
	var prefixes []string
	for _, f := range files {
		if f.Run == rec.Run.Run {
			want[f.Key] = f.File
			prefixes = append(prefixes, manifest.DataFolder+f.Partition.Table+"/"+manifest.Slug(f.Run)+"/")
		}
	}
	slices.Sort(prefixes)
	for _, prefix := range slices.Compact(prefixes) {
		for e, err := range w.cfg.Store.List(ctx, prefix) {
			if err != nil {
				return outside("list %s", prefix).because(err)
			}
			if f, ok := want[e.Key]; ok && sameObject(e, f) {
				delete(want, e.Key)
			}
		}
	}
	if len(want) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(want)))
	return failf(KindConflict, "%s is gone or changed since it was sealed", first).
		hint("wap abort --run %s, then wap redo %s --reason TEXT", quote(rec.Run.Run), quote(rec.Run.Run))
}

// sameObject compares a listed object with the audited file. Lists carry no
// version ids.
func sameObject(e store.Entry, f manifest.File) bool {
	return e.Size == f.Size && e.Version.ETag == f.ETag
}
