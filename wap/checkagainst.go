package wap

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// against gives a check what it compares files with: the warehouse, if one is
// named, and in place of published states the baseline that the call names.
type against struct {
	compared
	now    time.Time
	memory int64             // for an audit of the baseline
	parts  []audit.Partition // of the baseline; none: there is no baseline
	// published opens the warehouse when one of its paths is first asked for: a
	// check of files alone does not need it there.
	published func() (*compared, error)

	measuring sync.Mutex
	states    map[string][]*manifest.Manifest // as parts, by the table whose rules measured them
}

// against prepares what the targets are compared with.
func (c *checked) against(ctx context.Context, req CheckRequest, now time.Time) (*against, error) {
	out := &against{now: now, memory: c.cfg.Memory / 2, states: map[string][]*manifest.Manifest{}}
	out.rules, out.w = req.Rules, &Warehouse{cfg: c.cfg}
	if req.Baseline != "" {
		base := newChecked(c.cfg)
		base.wh = c.wh
		if err := base.add(ctx, req.Baseline); err != nil {
			return nil, err
		}
		out.parts, c.wh = base.partitions(req.Rules), base.wh
	}
	out.published = sync.OnceValues(func() (*compared, error) {
		err := c.open(ctx)
		return &compared{w: c.wh, rules: req.Rules}, err
	})
	return out, nil
}

// same finds the baseline's partition with the keys of p; a baseline of one
// partition is everybody's.
func (a *against) same(p *audit.Partition) int {
	if len(a.parts) == 1 {
		return 0
	}
	return slices.IndexFunc(a.parts, func(o audit.Partition) bool {
		return slices.EqualFunc(o.Keys, p.Keys, func(x, y manifest.KeyValue) bool { return x.Name == y.Name && x.Value == y.Value })
	})
}

// Baseline implements audit.Published.
func (a *against) Baseline(ctx context.Context, p *audit.Partition, want audit.Baseline) ([]*manifest.Manifest, error) {
	if len(a.parts) == 0 {
		return nil, nil
	}
	states, err := a.measured(ctx, p.Table)
	if err != nil {
		return nil, err
	}
	if len(a.parts) == 1 || want.Axis != audit.AxisPartitions {
		if at := a.same(p); at >= 0 {
			return states[at : at+1], nil
		}
		return nil, nil
	}
	var list []manifest.Partition
	for _, o := range a.parts {
		part := o.Partition
		part.Table = p.Table // wherever the baseline lies
		list = append(list, part)
	}
	var out []*manifest.Manifest
	for _, chosen := range want.Choose(p.Partition, list) {
		out = append(out, states[slices.IndexFunc(a.parts, func(o audit.Partition) bool { return o.Path == chosen.Path })])
	}
	return out, nil
}

// measured computes for the baseline what manifests would say of it, by the same
// rules.
func (a *against) measured(ctx context.Context, table string) ([]*manifest.Manifest, error) {
	a.measuring.Lock()
	defer a.measuring.Unlock()
	if states, ok := a.states[table]; ok {
		return states, nil
	}
	report, err := audit.Run(ctx, &audit.Rules{Default: a.rules.For(table)}, a.parts, audit.Options{Now: a.now, Memory: a.memory})
	if err != nil {
		return nil, err
	}
	var states []*manifest.Manifest
	for i, p := range a.parts {
		m := &manifest.Manifest{Partition: p.Partition, Run: "baseline", Metrics: report.Partitions[i].Metrics}
		m.Totals = manifest.Totals{Files: report.Partitions[i].Files, Rows: report.Partitions[i].Rows, Bytes: report.Partitions[i].Bytes}
		for _, f := range p.Files {
			file, schema, err := describe(ctx, f.Source, p.Keys)
			if err != nil {
				return nil, absent("baseline %s: %w", f.Key, err)
			}
			file.Key = f.Key
			if !slices.ContainsFunc(m.Schemas, func(s manifest.Schema) bool { return sameSchema(s, schema) }) {
				m.Schemas = append(m.Schemas, schema)
			}
		}
		states = append(states, m)
	}
	a.states[table] = states
	return states, nil
}

// Data implements audit.Published.
func (a *against) Data(ctx context.Context, p *audit.Partition, want audit.Reference) ([]audit.Partition, error) {
	switch {
	case want.Live:
		if at := a.same(p); at >= 0 {
			return a.parts[at : at+1], nil
		}
		return nil, nil
	case len(want.Files) == 0 && slices.ContainsFunc(a.parts, func(o audit.Partition) bool { return o.Path == want.Path }):
		at := slices.IndexFunc(a.parts, func(o audit.Partition) bool { return o.Path == want.Path })
		return a.parts[at : at+1], nil
	case len(want.Files) > 0:
		return a.compared.Data(ctx, p, want)
	case a.w.cfg.Store == nil:
		return nil, absent("no warehouse is named to look for %s in", want.Path)
	}
	published, err := a.published()
	if isKind(err, KindNoWarehouse) {
		return nil, absent("look for %s: %w", want.Path, err)
	}
	if err != nil {
		return nil, err
	}
	return published.Data(ctx, p, want)
}

// Controls implements audit.Published: outside of a run a name is a local file.
func (a *against) Controls(ctx context.Context, name string) ([]manifest.Control, error) {
	if isURL(name) || strings.Contains(name, "://") {
		return a.compared.Controls(ctx, name)
	}
	found, err := readControls(name, name, "")
	if err != nil {
		return nil, absent("%w", err)
	}
	return found, nil
}
