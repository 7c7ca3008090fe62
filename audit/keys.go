package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// keyKinds judge tuples over all rows.
func keyKinds() []*kind {
	return []*kind{
		{
			name: "unique", aliases: []string{"duplicate", "unique_combination_of_columns"},
			columns: keyColumns, rows: true, nulls: []string{"distinct", "equal", "fail"},
			list: "columns", scalar: "columns",
			bind: func(c *Check, b *binding) (assertion, error) { return bindKey(c, b) },
		},
		{
			name: "primary_key", columns: keyColumns, rows: true, list: "columns", scalar: "columns",
			bind: func(c *Check, b *binding) (assertion, error) {
				k, err := bindKey(c, b)
				if err != nil {
					return nil, err
				}
				k.nullFails, k.nanFails, k.nullSkips = true, true, false
				k.expected = "every key once, without NULL and NaN"
				return k, nil
			},
		},
	}
}

// keyCheck counts surplus rows: of each group of rows with one key, all but the
// first. It finds the hashes that repeat, and confirms them by value in a second
// pass over the key's columns, which a key without repeats never needs.
type keyCheck struct {
	check    *Check
	slots    []int
	expected string

	nullSkips, nullFails, nanFails bool
	spansLive                      bool
	where                          *compiled // nil: all rows

	set     keyset
	failure error
	rows    int64 // live ones included
	tested  int64
	missing int64 // rows with a NULL, or a NaN where that fails
	samples []Sample
}

type keyState struct {
	of      *keyCheck
	hasher  keyHasher
	hashes  []uint64
	failure error
	rows    int64
	tested  int64
	missing int64
	samples []Sample
}

// keyBatch is how many hashes a row group holds back before they go to the set.
// Hashes of a row group that is read twice, because another column of it is
// broken, go there twice; the second pass sorts that out.
const keyBatch = 1 << 18

func bindKey(c *Check, b *binding) (*keyCheck, error) {
	k := &keyCheck{check: c, expected: "every key once"}
	k.nullSkips, k.nullFails = c.Nulls == "distinct", c.Nulls == "fail"
	for _, path := range c.Columns {
		slot, leaf, err := b.column(path, true)
		if err != nil {
			return nil, err
		}
		if leaf.MaxRep > 0 {
			return nil, fmt.Errorf("column %s has several values a row and cannot be part of a key", path)
		}
		k.slots = append(k.slots, slot)
	}
	b.spansLive, k.spansLive = true, true
	return k, nil
}

func (k *keyCheck) open(u *unit) state {
	return &keyState{of: k, hasher: keyHasher{slots: k.slots}, hashes: make([]uint64, 0, min(u.rows, keyBatch))}
}

func (s *keyState) add(v *view) {
	hashes, flags := s.hasher.hash(v)
	s.rows += int64(v.rows)
	for row, h := range hashes {
		switch s.of.role(flags[row]) {
		case keyTested:
			s.tested++
			if s.hashes = append(s.hashes, h); len(s.hashes) == keyBatch {
				s.flush()
			}
		case keyViolates:
			// What is live was judged when it was published.
			if !v.unit.file.live {
				s.violation(v, row)
			}
		}
	}
}

func (s *keyState) flush() {
	if err := s.of.set.add(s.hashes); err != nil && s.failure == nil {
		s.failure = err
	}
	s.hashes = s.hashes[:0]
}

// keyRole is what a row is to the assertion.
type keyRole uint8

const (
	keyTested keyRole = iota
	keySkipped
	keyViolates
)

func (k *keyCheck) role(flags uint8) keyRole {
	switch {
	case flags&keyNull != 0 && k.nullSkips:
		return keySkipped
	case flags&keyNull != 0 && k.nullFails, flags&keyNaN != 0 && k.nanFails:
		return keyViolates
	}
	return keyTested
}

func (s *keyState) violation(v *view, row int) {
	s.missing++
	if int64(len(s.samples)) < s.of.check.Samples {
		at := newPositions(v, s.of.slots).of(row)
		s.samples = append(s.samples, s.of.sample(v, row, at))
	}
}

// sample shows the key of a row.
func (k *keyCheck) sample(v *view, row int, at []int) Sample {
	out := Sample{File: v.unit.file.key(), Row: v.place(row)}
	for i, slot := range k.slots {
		cell := Value{Column: k.check.Columns[i], Null: at[i] < 0}
		switch {
		case redacted(k.check, cell.Column):
			cell = Value{Column: cell.Column, Text: redactedText}
		case at[i] >= 0:
			cell.Text = cutCell(vectorText(v.cols[slot], at[i]))
		}
		out.Values = append(out.Values, cell)
	}
	return out
}

func (k *keyCheck) merge(st state) {
	s := st.(*keyState)
	k.rows += s.rows
	k.tested += s.tested + s.missing
	k.missing += s.missing
	k.samples = appendSamples(k.samples, s.samples, k.check.Samples)
	s.flush()
	if k.failure == nil {
		k.failure = s.failure
	}
}

// surplus is what the second pass finds.
type surplus struct {
	rows, groups, inGroups int64
	samples                []placed
}

// placed is a sample with its place among all rows.
type placed struct {
	ordinal int64
	Sample
}

func (k *keyCheck) finish(ctx context.Context, p *judgement) verdict {
	found, err := k.confirm(ctx, p)
	if err == nil {
		err = k.set.close()
	}
	if err != nil {
		return verdict{failure: p.failureOf(err)}
	}
	samples := k.samples
	for _, s := range found.samples {
		samples = append(samples, s.Sample)
	}
	return verdict{
		counted: true, violations: found.rows + k.missing, tested: k.tested, rows: k.rows,
		expected: k.expected, grade: GradeScan,
		samples: samples[:min(len(samples), int(k.check.Samples))],
		counts: []Count{
			{"surplus_rows", found.rows}, {"groups", found.groups}, {"rows_in_groups", found.inGroups},
			{"null_rows", k.missing},
		},
	}
}

// confirm reads the key's columns again for the hashes that repeat.
func (k *keyCheck) confirm(ctx context.Context, p *judgement) (surplus, error) {
	var total surplus
	if k.failure != nil {
		return total, k.failure
	}
	// A candidate takes about 128 bytes with its key.
	limit := int(max(1024, k.set.budget/128))
	err := k.set.repeated(limit, func(hashes []uint64) error {
		g := newGroups(k, hashes)
		if err := p.rescan(ctx, k.units(p), k.where.with(k.slots), k.where.narrowed(g.add)); err != nil {
			return err
		}
		total.rows += g.surplus
		for _, group := range g.list {
			if group.count > 1 {
				total.groups++
				total.inGroups += group.count
			}
		}
		total.samples = append(total.samples, g.samples...)
		return nil
	})
	slices.SortFunc(total.samples, func(a, b placed) int { return int(a.ordinal - b.ordinal) })
	return total, err
}

// units are the row groups that were read, in order.
func (k *keyCheck) units(p *judgement) []*unit {
	return slices.DeleteFunc(p.units(), func(u *unit) bool { return u.file.live && !k.spansLive })
}

// groups gathers the rows of candidate hashes by their keys.
type groups struct {
	of      *keyCheck
	heads   map[uint64]int32 // hash to the first group, -1 while there is none
	list    []group
	arena   []byte
	hasher  keyHasher
	ordinal int64
	surplus int64
	samples []placed
}

type group struct {
	start, end int
	count      int64
	next       int32 // another key with the same hash, or -1
}

func newGroups(k *keyCheck, hashes []uint64) *groups {
	g := &groups{of: k, heads: make(map[uint64]int32, len(hashes)), hasher: keyHasher{slots: k.slots}}
	for _, h := range hashes {
		g.heads[h] = -1
	}
	return g
}

func (g *groups) add(v *view) {
	hashes, flags := g.hasher.hash(v)
	var at *positions
	for row, h := range hashes {
		head, candidate := g.heads[h]
		if !candidate || g.of.role(flags[row]) != keyTested {
			continue
		}
		if at == nil {
			at = newPositions(v, g.of.slots)
		}
		key := at.of(row)
		if !g.count(v, h, head, key) {
			continue
		}
		g.surplus++
		if int64(len(g.samples)) < g.of.check.Samples {
			g.samples = append(g.samples, placed{g.ordinal + int64(row), g.of.sample(v, row, key)})
		}
	}
	g.ordinal += int64(v.rows)
}

// count puts a row into its group, and reports whether the group had one.
func (g *groups) count(v *view, hash uint64, head int32, at []int) bool {
	start := len(g.arena)
	g.arena = g.hasher.appendTuple(g.arena, v, at)
	tuple := g.arena[start:]
	for i := head; i >= 0; i = g.list[i].next {
		if have := &g.list[i]; string(g.arena[have.start:have.end]) == string(tuple) {
			have.count++
			g.arena = g.arena[:start]
			return true
		}
	}
	g.list = append(g.list, group{start: start, end: len(g.arena), count: 1, next: head})
	g.heads[hash] = int32(len(g.list) - 1)
	return false
}

// distinctCount is count_distinct: the rows of a key less the surplus ones.
type distinctCount struct {
	*keyCheck
}

func bindDistinct(c *Check, b *binding) (assertion, error) {
	k, err := bindKey(c, b)
	if err != nil {
		return nil, err
	}
	b.spansLive, k.spansLive = false, false
	k.nullSkips = true
	return &distinctCount{k}, nil
}

func (d *distinctCount) finish(ctx context.Context, p *judgement) verdict {
	v := d.keyCheck.finish(ctx, p)
	if v.failure != nil {
		return v
	}
	out := verdict{tested: v.tested, expected: comparisonText(d.check), grade: GradeScan, counts: []Count{}}
	if v.tested == 0 {
		out.noValue, out.observed = true, "no value"
		return out
	}
	n := v.tested - v.violations
	lo, hi := integerBounds(d.check)
	out.holds, out.observed = n >= lo && n <= hi, strconv.FormatInt(n, 10)
	out.metrics = []manifest.Metric{metric("count_distinct", strings.Join(d.check.Columns, ","), out.observed)}
	return out
}

// only keeps the second pass to the rows of the first.
func (k *keyCheck) only(where *compiled) { k.where = where }

func (k *keyCheck) limitMemory(bytes int64) { k.set.budget = bytes }
