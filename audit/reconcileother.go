package audit

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// otherSide computes, or is told, what there should be.
func (r *reconcile) otherSide(ctx context.Context, p *judgement) (*theirs, error) {
	switch r.with.kind {
	case refInputRows:
		n, err := p.audit.published().InputRows(ctx)
		if err != nil {
			return nil, err
		}
		return &theirs{groups: map[string][]amount{"": {{exact: new(big.Rat).SetInt64(n), text: fmt.Sprint(n)}}}}, nil
	case refControl:
		b := binding{part: p.part}
		name, err := b.substitute(r.with.paths[0])
		if err != nil {
			return nil, dataFailure("%s", err)
		}
		controls, err := p.audit.published().Controls(ctx, name)
		if err != nil {
			return nil, err
		}
		out, err := r.declared(name, p.part.Path, controls)
		return out, cmp.Or(err, r.count([2]map[string]*reckoned{r.ours, nil}))
	}
	return r.readOther(ctx, p)
}

// readOther reckons the same over other partitions.
func (r *reconcile) readOther(ctx context.Context, p *judgement) (*theirs, error) {
	parts, err := p.others(ctx, r.with)
	if err != nil {
		return nil, err
	}
	groups := map[string]*reckoned{}
	out := &theirs{groups: map[string][]amount{}, values: map[string][]Value{}, at: map[string]Sample{}}
	for i := range parts {
		if len(parts[i].Files) == 0 {
			continue
		}
		if err := r.readPart(ctx, p, &parts[i], groups, out); err != nil {
			return nil, err
		}
	}
	if len(r.by) == 0 && len(groups) == 0 {
		groups[""] = &reckoned{sums: make([]accumulator, len(r.metrics)), distinct: make([]int64, len(r.metrics))}
	}
	if err := r.count([2]map[string]*reckoned{r.ours, groups}); err != nil {
		return nil, err
	}
	for key, g := range groups {
		for k, m := range r.metrics {
			out.groups[key] = append(out.groups[key], g.amountOf(k, m))
		}
		out.values[key] = g.values
	}
	return out, nil
}

// readPart adds one partition to the groups of the other side.
func (r *reconcile) readPart(ctx context.Context, p *judgement, part *Partition, groups map[string]*reckoned, out *theirs) error {
	o, err := p.openOther(ctx, part, otherColumns{r.paths, r.check.Where})
	if err != nil {
		return err
	}
	if len(o.slots) == 0 {
		_, err := countingColumn(o.files[0])
		return dataFailure("%s: %s", part.Path, err)
	}
	there := reckoner{metrics: r.metrics, names: r.by, sets: r.sets, side: otherSide, limit: r.reckoner.limit}
	leaves, err := r.place(&there, o.columnAgain)
	if err != nil {
		return dataFailure("%s: %s", part.Path, err)
	}
	for k, m := range r.metrics {
		at := len(r.by) + k
		if m.kind == "count_distinct" && len(r.leaves) > 0 {
			if err := sameValues(r.leaves[at], leaves[at]); err != nil {
				return dataFailure("%s", err)
			}
		}
	}
	var failure error
	err = o.scanOther(ctx, pass{
		open: func(u *unit) state { return there.open(u, u.index) },
		take: func(st state) {
			s := st.(*reckonerState)
			for key, g := range s.groups {
				if _, known := out.at[key]; !known {
					rows := o.rowsAt([]uint64{g.place}, 0)
					out.at[key] = Sample{File: rows[0].unit.file.key(), Row: rows[0].row}
				}
			}
			if failure == nil {
				failure = there.merge(groups, s)
			}
		},
	})
	return cmp.Or(err, failure)
}

// paths are the columns to read of another partition; one, where rows alone are
// counted.
func (r *reconcile) paths(j *judgement) []string {
	paths := slices.Clone(r.by)
	for _, m := range r.metrics {
		if m.column != "" && !slices.Contains(paths, m.column) {
			paths = append(paths, m.column)
		}
	}
	if len(paths) == 0 {
		if first, err := countingColumn(j.files[0]); err == nil {
			paths = append(paths, first)
		}
	}
	return paths
}

// countingColumn is whatever column comes first: the rows that a footer claims
// are those of its values.
func countingColumn(f *openFile) (string, error) {
	if len(f.scan.Columns()) == 0 {
		return "", fmt.Errorf("file %s has no column to count its rows by", f.Key)
	}
	return f.scan.Columns()[0].Dotted, nil
}

// columnAgain finds a column that was bound.
func (o *other) columnAgain(path string, _ bool) (int, *scan.Column, error) {
	for i, slot := range o.slots {
		if o.judgement.slots[slot].path == path {
			return slot, o.leaves[i], nil
		}
	}
	return 0, nil, fmt.Errorf("no column %s", path)
}
