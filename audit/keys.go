package audit

import (
	"context"
	"fmt"
	"math/bits"
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

	set keyset
	// unitShift turns a unit's index into its name in the set.
	unitShift uint
	failure   error
	rows      int64 // live ones included
	tested    int64
	missing   int64 // rows with a NULL, or a NaN where that fails
	samples   []Sample
}

type keyState struct {
	of      *keyCheck
	hasher  keyHasher
	unit    int // its name in the set
	entries []uint64
	scratch []uint64
	failure error
	rows    int64
	tested  int64
	missing int64
	samples []Sample
}

// keyBatch is how many entries a row group holds back before they go to the set.
// Those of a row group that is read twice, because another column of it is
// broken, go there twice; the second pass sorts that out.
const keyBatch = 1 << 15

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
	n := min(max(u.rows, 0), keyBatch)
	return &keyState{
		of: k, hasher: keyHasher{slots: k.slots}, unit: k.nameOf(u),
		entries: make([]uint64, 0, n), scratch: make([]uint64, n),
	}
}

// nameOf is a unit's name in the set.
func (k *keyCheck) nameOf(u *unit) int { return u.index >> k.unitShift }

func (s *keyState) add(v *view) {
	hashes, flags := s.hasher.hash(v)
	s.rows += int64(v.rows)
	if flags == nil {
		s.tested += int64(v.rows)
		for _, h := range hashes {
			s.keep(h)
		}
		return
	}
	for row, h := range hashes {
		switch s.of.role(flags[row]) {
		case keyTested:
			s.tested++
			s.keep(h)
		case keyViolates:
			// What is live was judged when it was published.
			if !v.unit.file.live {
				s.violation(v, row)
			}
		}
	}
}

func (s *keyState) keep(hash uint64) {
	if len(s.entries) == cap(s.entries) {
		s.flush()
	}
	s.entries = append(s.entries, s.of.set.entry(hash, s.unit))
}

func (s *keyState) flush() {
	s.scratch = slices.Grow(s.scratch[:0], len(s.entries))[:len(s.entries)]
	if err := s.of.set.add(s.entries, s.scratch); err != nil && s.failure == nil {
		s.failure = err
	}
	s.entries = s.entries[:0]
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

func (k *keyCheck) finish(ctx context.Context, p *judgement) verdict {
	found, err := k.confirm(ctx, p)
	if err == nil {
		err = k.set.close()
	}
	if err != nil {
		return verdict{failure: p.failureOf(err)}
	}
	samples := append(k.samples, found.samples...)
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

// limit implements keeper.
func (k *keyCheck) limit(memory int64, units int) {
	k.set.budget = memory
	k.set.unitBits = uint(bits.Len(uint(max(0, units-1))))
	k.unitShift = k.set.unitBits - min(k.set.unitBits, maxUnitBits)
	k.set.unitBits -= k.unitShift
}
