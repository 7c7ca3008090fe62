package audit

import (
	"context"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// levelCounter is an assertion whose states can be fed by a column's level
// counts, where it wants no value: levelState is what it opens.
type levelCounter interface {
	// nullPlaces is how many NULLs it wants to know the places of; false when
	// it needs batches.
	nullPlaces() (int, bool)
}

type levelState interface {
	count(u *unit, c *scan.LevelCounts)
}

// leafCount asks for the level counts of one leaf.
type leafCount struct {
	leaf   int
	places int
}

// countable lists the leaves of which nobody needs a batch: those that are not
// repeated, where NULLs are all that is asked.
func (r *reading) countable() []leafCount {
	file := r.unit.file
	if r.p.full && !file.live {
		return nil
	}
	columns := file.scan.Columns()
	places, batches := make([]int, len(columns)), make([]bool, len(columns))
	for _, t := range r.trials {
		counter, ok := r.p.trials[t].assertion.(levelCounter)
		n := 0
		if ok {
			n, ok = counter.nullPlaces()
		}
		for _, slot := range r.p.trials[t].wants {
			leaf := file.refs[slot].Column
			places[leaf] = max(places[leaf], n)
			batches[leaf] = batches[leaf] || !ok || r.p.consts[slot] != nil
		}
	}
	var list []leafCount
	for _, leaf := range r.leaves() {
		if !batches[leaf] && columns[leaf].MaxRep == 0 && r.broken[leaf] == nil {
			list = append(list, leafCount{leaf, places[leaf]})
		}
	}
	return list
}

// countLevels feeds what the levels of one leaf say to those who want it.
func (r *reading) countLevels(ctx context.Context, ask leafCount) error {
	file := r.unit.file
	counts, err := r.plan.Count(ctx, ask.leaf, ask.places)
	if err != nil {
		return err
	}
	check, err := file.scan.CheckStatistics(r.unit.group, ask.leaf)
	if err != nil {
		return err
	}
	check.ObserveLevels(&counts)
	r.compare(check, ask.leaf)
	for slot, ref := range file.refs {
		if ref.Column == ask.leaf && r.p.consts[slot] == nil && file.absent[slot] == nil {
			r.nulls[slot] += counts.Nulls()
		}
	}
	for i, t := range r.trials {
		if state, ok := r.states[i].(levelState); ok && r.reads(t, ask) {
			state.count(r.unit, &counts)
		}
	}
	return nil
}

// reads reports whether a trial reads a leaf.
func (r *reading) reads(trial int, ask leafCount) bool {
	return slices.ContainsFunc(r.p.trials[trial].wants, func(slot int) bool {
		return r.unit.file.refs[slot].Column == ask.leaf
	})
}

// unfed are the states without those that level counts feed.
func (r *reading) unfed() []state {
	list := slices.Clone(r.states)
	for i, t := range r.trials {
		if slices.ContainsFunc(r.counted, func(ask leafCount) bool { return r.reads(t, ask) }) {
			list[i] = nil
		}
	}
	return list
}

// nullPlaces: it looks at no value where it has no predicate.
func (r *rowCheck) nullPlaces() (int, bool) {
	if r.compile != nil {
		return 0, false
	}
	if !r.failNull {
		return 0, true
	}
	return int(r.check.Samples), true
}

// count takes in a whole column chunk that is not repeated.
func (s *rowState) count(u *unit, c *scan.LevelCounts) {
	_, null := c.Of(s.ref)
	s.rows += c.Rows
	s.nulls(c.Rows, null)
	if !s.of.failNull {
		return
	}
	for _, row := range c.NullPlaces(s.ref, int(s.of.check.Samples)) {
		s.sample(u, u.first+row, Value{Column: s.of.path, Null: true})
	}
}
