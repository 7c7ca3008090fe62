package audit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wap-cli/wap/audit/scan"
)

func relationshipKinds() []*kind {
	return []*kind{{
		name: "relationships", aliases: []string{"foreign_key"}, columns: keyColumns, rows: true,
		params: []param{{name: "to", required: true,
			read: referenceTo([]string{refTable, refPartition, refFiles}, "columns", "where")}},
		verify: verifyRelationships, bind: bindRelationships,
	}}
}

func verifyRelationships(c *Check) error {
	to, _ := get[reference](c, "to")
	if n := len(to.columns); n > 0 && n != len(c.Columns) {
		return fmt.Errorf("to names %d columns for a key of %d", n, len(c.Columns))
	}
	return nil
}

// relationships counts rows whose key no parent has. Both sides are counted in
// one tally, so that neither has to fit in memory.
type relationships struct {
	check  *Check
	to     reference
	slots  []int
	leaves []*scan.Column
	where  *compiled // nil: all rows

	set     tally
	rows    int64
	tested  int64
	failure error
}

type relationState struct {
	tuples
	*batch
	side, unit   int
	nulls        bool // a tuple with a NULL is one like any other
	rows, tested int64
}

func bindRelationships(c *Check, b *binding) (assertion, error) {
	r := &relationships{check: c}
	r.to, _ = get[reference](c, "to")
	for _, path := range c.Columns {
		slot, leaf, err := b.column(path, true)
		switch {
		case err != nil:
			return nil, err
		case leaf.MaxRep > 0:
			return nil, fmt.Errorf("column %s has several values a row and cannot be part of a key", path)
		}
		r.slots, r.leaves = append(r.slots, slot), append(r.leaves, leaf)
	}
	return r, nil
}

var _ keeper = (*relationships)(nil)

// plan implements keeper. How many rows are referred to is not known yet.
func (r *relationships) plan(units []*unit) int64 { return 2 * rowsOf(units) * tallyCost }

// limit implements keeper.
func (r *relationships) limit(memory memoryShare) { r.set.limit(memory.bytes, memory.states) }

// only keeps samples to the rows that were counted.
func (r *relationships) only(where *compiled) { r.where = where }

func (r *relationships) open(u *unit) state {
	return &relationState{tuples: tuples{slots: r.slots}, batch: r.set.batch(), side: judgedSide, unit: u.index}
}

func (s *relationState) add(v *view) {
	s.rows += int64(v.rows)
	for row, tuple := range s.read(v) {
		if s.null[row] && !s.nulls {
			continue // a key with a NULL refers to nothing
		}
		s.tested++
		s.batch.add(tuple, s.side, placeOf(s.unit, v.place(row)))
	}
}

func (r *relationships) merge(st state) {
	s := st.(*relationState)
	r.rows += s.rows
	r.tested += s.tested
	if r.failure == nil {
		r.failure = s.flush()
	}
}

func (r *relationships) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{
		counted: true, tested: r.tested, rows: r.rows, grade: GradeScan,
		expected: fmt.Sprintf("every key is one of %s", r.to),
	}
	parents, err := r.readParents(ctx, p)
	orphans, places := int64(0), least{n: int(r.check.Samples)}
	if err == nil {
		err = r.set.each(func(_ []byte, pair *pair) error {
			if pair.rows[judgedSide] > 0 && pair.rows[otherSide] == 0 {
				v.violations += pair.rows[judgedSide]
				orphans++
				places.add(pair.first[judgedSide])
			}
			return nil
		})
	}
	err = cmp.Or(err, r.set.close())
	if err == nil {
		// Of each key the first row.
		shown := &keyCheck{check: r.check, slots: r.slots, where: r.where}
		v.samples, err = p.samplesOf(ctx, shown, p.rowsAt(places.list, 0))
	}
	if err != nil {
		return verdict{failure: p.publishedFailure(err)}
	}
	v.counts = []Count{{"keys_without_parent", orphans}, {"null_keys", r.rows - r.tested}, {"parent_rows", parents}}
	return v
}

// readParents counts the parents' keys in, and returns how many rows there are.
func (r *relationships) readParents(ctx context.Context, p *judgement) (rows int64, err error) {
	if r.failure != nil {
		return 0, r.failure
	}
	parts, err := p.others(ctx, r.to)
	if err != nil {
		return 0, err
	}
	columns := r.to.columns
	if len(columns) == 0 {
		columns = r.check.Columns
	}
	for i := range parts {
		if len(parts[i].Files) == 0 {
			continue
		}
		o, err := p.openOther(ctx, &parts[i], otherColumns{func(*judgement) []string { return columns }, r.to.where})
		if err != nil {
			return rows, err
		}
		for k, leaf := range o.leaves {
			if err := sameValues(r.leaves[k], leaf); err != nil {
				return rows, dataFailure("%s", err)
			}
		}
		n, err := o.count(ctx, &r.set, false)
		if rows += n; err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// count puts the rows into a tally's other side, with or without those in which
// something is NULL, and returns how many there are.
func (o *other) count(ctx context.Context, set *tally, nulls bool) (rows int64, err error) {
	var failure error
	err = o.scanOther(ctx, pass{
		open: func(u *unit) state {
			return &relationState{
				tuples: tuples{slots: o.slots}, batch: set.batch(), side: otherSide, unit: o.first + u.index, nulls: nulls,
			}
		},
		take: func(st state) {
			s := st.(*relationState)
			rows += s.rows
			if failure == nil {
				failure = s.flush()
			}
		},
	})
	return rows, cmp.Or(err, failure)
}
