package wap

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// candidate is a frozen generation's output with what it would make of the
// warehouse.
type candidate struct {
	rec        *record
	partitions []*candidatePartition // sorted by path
	inputs     []manifest.InputsRef
	controls   []manifest.Control
	reads      []Read // what it was compared with
}

// candidatePartition is one partition before and after.
type candidatePartition struct {
	partition manifest.Partition
	schemas   []manifest.Schema
	files     []manifest.File // new ones; Schema indexes schemas
	replaces  []string
	emptied   bool // of the scope, and without files in this run

	before *manifest.Ref // what the partition held; null: nothing
	live   *manifest.Manifest
	table  *manifest.Table // as of the same state; null: the table is new
}

// candidate reads the seals of a frozen record and, as of a state, what the
// partitions hold. Modes append and replace read the live manifests.
func (w *Warehouse) candidate(ctx context.Context, rec *record, st *state) (*candidate, error) {
	c := &candidate{rec: rec}
	seals := make([]standingSeal, len(rec.Candidate.Seals))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(w.cfg.Parallel)
	for i, ref := range rec.Candidate.Seals {
		g.Go(func() (err error) {
			seals[i], err = w.readSeal(gctx, ref)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	index := map[string]*candidatePartition{}
	for _, s := range seals {
		if wrong := rec.unfit(s); wrong != "" {
			return nil, rec.notAsWritten(s.ref.Key, wrong)
		}
		c.add(index, s)
	}
	if rec.ReplaceScope {
		if err := c.addEmptied(ctx, index, st); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.partitions, func(a, b *candidatePartition) int { return strings.Compare(a.partition.Path, b.partition.Path) })
	return c, c.readBefore(ctx, st)
}

// unfit says how a seal is not what the record takes it for, or nothing.
func (r *record) unfit(s standingSeal) string {
	scope, err := manifest.ParseScope(r.Scope)
	switch {
	case err != nil:
		return "has no scope to fit: " + err.Error()
	case s.seal.Run != r.Run.Run || s.seal.Generation > r.Generation:
		return "is of " + names(s.seal.Run, s.seal.Generation)
	case s.seal.Task != s.ref.Task:
		return "is of task " + s.seal.Task
	}
	for _, p := range s.seal.Partitions {
		if !scope.Contains(p.Partition) {
			return "holds " + p.Partition.Path + ", outside the scope"
		}
	}
	return ""
}

// notAsWritten is the error of a record that does not fit what it names. Both
// were checked when they were written: something else has changed the record.
func (r *record) notAsWritten(key, wrong string) error {
	return failf(KindStoreBroken, "%s names %s, which %s", manifest.RunKey(r.Run.Run), key, wrong).
		hint(restoreHint, manifest.RunKey(r.Run.Run))
}

// add merges one task's output.
func (c *candidate) add(index map[string]*candidatePartition, s standingSeal) {
	if s.seal.Inputs != nil {
		c.inputs = append(c.inputs, manifest.InputsRef{Task: s.ref.Task, Ref: *s.seal.Inputs})
	}
	c.controls = append(c.controls, s.seal.Controls...)
	for _, sp := range s.seal.Partitions {
		p := index[sp.Partition.Path]
		if p == nil {
			p = &candidatePartition{partition: sp.Partition}
			index[sp.Partition.Path] = p
			c.partitions = append(c.partitions, p)
		}
		p.replaces = append(p.replaces, sp.Replaces...)
		for _, f := range sp.Files {
			p.addFile(f, s.seal.Schemas[f.Schema])
		}
	}
}

// addFile appends a file under the index of its schema here.
func (p *candidatePartition) addFile(f manifest.File, schema manifest.Schema) {
	at := slices.IndexFunc(p.schemas, func(s manifest.Schema) bool { return sameSchema(s, schema) })
	if at < 0 {
		at = len(p.schemas)
		p.schemas = append(p.schemas, schema)
	}
	f.Schema = int64(at)
	p.files = append(p.files, f)
}

// addEmptied adds the scope's partitions that the run wrote nothing to.
func (c *candidate) addEmptied(ctx context.Context, index map[string]*candidatePartition, st *state) error {
	return st.walkScope(ctx, c.rec, func(p manifest.Partition, _ manifest.TreeEntry) error {
		if index[p.Path] == nil {
			c.partitions = append(c.partitions, &candidatePartition{partition: p, emptied: true})
		}
		return nil
	})
}

// readBefore looks up what the partitions hold in a state.
func (c *candidate) readBefore(ctx context.Context, st *state) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(st.w.cfg.Parallel)
	for _, p := range c.partitions {
		g.Go(func() error {
			e, table, err := st.lookup(ctx, p.partition.Components())
			if err != nil || e == nil || e.Kind != manifest.NodeManifest {
				if err == nil && e == nil && table == nil {
					_, table, err = st.lookup(ctx, pathComponents(p.partition.Table))
				}
				p.table = table
				return err
			}
			p.before, p.table = &e.Ref, table
			if c.rec.Mode != manifest.ModeOverwrite || len(p.partition.Keys) == 0 {
				p.live, err = load[manifest.Manifest](ctx, st.w, e.Ref)
			}
			if err == nil && p.live != nil && p.live.Table != nil {
				p.table = p.live.Table
			}
			return err
		})
	}
	return g.Wait()
}

// kept are the live files that stay beside the new ones: in mode append all but
// those of the run's own earlier generations, in mode replace all but the
// replaced.
func (c *candidate) kept(p *candidatePartition) []manifest.File {
	if p.live == nil || c.rec.Mode == manifest.ModeOverwrite {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.live.Files), func(f manifest.File) bool {
		if c.rec.Mode == manifest.ModeAppend {
			return f.Run == c.rec.Run.Run
		}
		return slices.Contains(p.replaces, f.Key)
	})
}

// manifest is what the partition holds after the run.
func (c *candidate) manifest(p *candidatePartition, rules *audit.Rules, report *audit.Report) (*manifest.Manifest, error) {
	all := *p
	all.files, all.schemas = nil, nil
	for _, f := range c.kept(p) {
		all.addFile(f, p.live.Schemas[f.Schema])
	}
	for _, f := range p.files {
		all.addFile(f, p.schemas[f.Schema])
	}
	slices.SortFunc(all.files, func(a, b manifest.File) int { return strings.Compare(a.Key, b.Key) })
	part := p.partition
	part.Keys = keyTypes(p, rules)
	m := &manifest.Manifest{
		Format: manifest.Format, Partition: part, Mode: c.rec.Mode, Run: c.rec.Run.Run, Generation: c.rec.Generation,
		Schemas: all.schemas, Files: all.files,
	}
	for _, f := range all.files {
		m.Totals = m.Totals.Add(manifest.Totals{Files: 1, Rows: f.Rows, Bytes: f.Size})
	}
	for _, r := range report.Partitions {
		if r.Path == part.Path {
			m.Metrics = r.Metrics
		}
	}
	if len(part.Keys) == 0 {
		table, err := manifest.MergeTable(p.table, part, m.Schemas)
		if err != nil {
			return nil, failf(KindUsage, "partition %s", part.Path).because(err)
		}
		m.Table = table
	}
	return m, nil
}

// keyTypes are the types of the partition's keys: the table's, else those of
// the checks file, else the stored column's, else string. Never guessed.
func keyTypes(p *candidatePartition, rules *audit.Rules) []manifest.KeyValue {
	keys := slices.Clone(p.partition.Keys)
	for i := range keys {
		keys[i].Type = "string"
		for _, s := range p.schemas {
			for _, c := range s.Columns {
				if len(c.Path) == 1 && c.Path[0] == keys[i].Name {
					keys[i].Type = c.Logical
				}
			}
		}
		if t, ok := rules.For(p.partition.Table).ColumnType(keys[i].Name); ok {
			keys[i].Type = t
		}
		if p.table != nil {
			for _, k := range p.table.Keys {
				if k.Name == keys[i].Name {
					keys[i].Type = k.Type
				}
			}
		}
	}
	return keys
}

// judged is the candidate as the audit sees it.
func (c *candidate) judged(ctx context.Context, st *state, rules *audit.Rules) ([]audit.Partition, error) {
	var out []audit.Partition
	for _, p := range c.partitions {
		if p.emptied {
			continue
		}
		part := audit.Partition{Partition: p.partition, Mode: c.rec.Mode, Files: st.w.auditFiles(p.files)}
		part.Keys = keyTypes(p, rules)
		switch kept := st.w.auditFiles(c.kept(p)); {
		case c.rec.Mode == manifest.ModeAppend:
			part.Live = kept
		case c.rec.Mode == manifest.ModeReplace:
			part.Files = append(kept, part.Files...)
			slices.SortFunc(part.Files, func(a, b audit.File) int { return strings.Compare(a.Key, b.Key) })
		case p.before != nil:
			e, _, err := st.lookup(ctx, p.partition.Components())
			if err != nil {
				return nil, err
			}
			part.Previous = &e.Totals
		}
		out = append(out, part)
	}
	return out, nil
}

// newFiles are what the run itself wrote.
func (c *candidate) newFiles() []liveFile {
	var out []liveFile
	for _, p := range c.partitions {
		for _, f := range p.files {
			out = append(out, liveFile{f, p.partition})
		}
	}
	return out
}

// auditFiles names manifest files for the audit.
func (w *Warehouse) auditFiles(files []manifest.File) []audit.File {
	out := make([]audit.File, 0, len(files))
	for _, f := range files {
		a := audit.File{
			Key: f.Key, Run: f.Run, Generation: f.Generation, Task: f.Task, Attempt: f.Attempt, Rows: f.Rows,
			Source: &storeSource{w.cfg.Store, f.Key, f.Size, version(f)},
		}
		if f.SHA256 != nil {
			a.SHA256 = *f.SHA256
		}
		out = append(out, a)
	}
	return out
}
