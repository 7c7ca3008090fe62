package audit

import (
	"context"
	"fmt"
	"math/bits"
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

	keys  keyWriters
	dense intRange  // that is expected of integers
	order *keyOrder // that is expected of texts; nil: none
	// unitShift turns a unit's index into its name in the set.
	unitShift uint
	rows      int64 // live ones included
	tested    int64
	missing   int64   // rows with a NULL, or a NaN where that fails
	found     surplus // once it is finished
	samples   []Sample
}

type keyState struct {
	of      *keyCheck
	hasher  keyHasher
	unit    int // its name in the set
	order   *keyRange
	rows    int64
	tested  int64
	missing int64
	samples []Sample
}

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
	s := k.hashing(u)
	if k.order != nil {
		s.order = &keyRange{unit: u}
	}
	return s
}

// hashing is a state that adds the keys of all rows to the set.
func (k *keyCheck) hashing(u *unit) *keyState {
	return &keyState{of: k, hasher: keyHasher{slots: k.slots}, unit: k.nameOf(u)}
}

// nameOf is a unit's name in the set.
func (k *keyCheck) nameOf(u *unit) int { return u.index >> k.unitShift }

// add takes rows in. Those of a row group that is read twice, because another
// column of it is broken, come twice; the second pass sorts that out.
func (s *keyState) add(v *view) {
	s.rows += int64(v.rows)
	if s.order != nil && !s.order.take(v.cols[s.of.slots[0]]) {
		s.addRising(v)
		return
	}
	w := s.of.keys.take()
	defer s.of.keys.give(w)
	if w.dense != nil {
		s.addIntegers(v, w)
		return
	}
	hashes, flags := s.hasher.hash(v)
	if flags == nil {
		s.tested += int64(v.rows)
		w.add(hashes, s.unit)
		return
	}
	for row, h := range hashes {
		if s.counts(v, row, flags[row]) {
			w.put(w.set.entry(h, s.unit))
		}
	}
}

// addIntegers takes in rows of a key that is one integer.
func (s *keyState) addIntegers(v *view, w *keyWriter) {
	vec := v.cols[s.of.slots[0]]
	w.dense.add(s.hasher.integers(vec), s.unit)
	s.tested += int64(vec.Present)
	s.addNulls(v, w)
}

// addNulls takes in the rows without a key, of one column.
func (s *keyState) addNulls(v *view, w *keyWriter) {
	vec := v.cols[s.of.slots[0]]
	if vec.Present == v.rows {
		return
	}
	for row := range v.rows {
		if vec.IsNull(row) && s.counts(v, row, keyNull) {
			w.put(w.set.entry(nullHash, s.unit))
		}
	}
}

// counts reports whether a row with something in its key is tested like any
// other.
func (s *keyState) counts(v *view, row int, flags uint8) bool {
	switch s.of.role(flags) {
	case keyTested:
		s.tested++
		return true
	case keyViolates:
		// What is live was judged when it was published.
		if !v.unit.file.live {
			s.violation(v, row)
		}
	}
	return false
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
	if s.order != nil && s.order.rows > 0 {
		k.order.ranges = append(k.order.ranges, *s.order)
	}
}

func (k *keyCheck) finish(ctx context.Context, p *judgement) verdict {
	var found surplus
	err := k.hashLate(ctx, p)
	if err == nil {
		found, err = k.confirm(ctx, p)
	}
	if err == nil {
		err = k.keys.set.close()
	}
	if err != nil {
		return verdict{failure: p.failureOf(err)}
	}
	k.found = found
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

// orderMemory is for texts that are expected to rise, and do not.
const orderMemory = 16 << 20

// plan implements keeper.
func (k *keyCheck) plan(units []*unit) int64 {
	set := &k.keys.set
	set.unitBits = uint(bits.Len(uint(max(0, len(units)-1))))
	k.unitShift = set.unitBits - min(set.unitBits, maxUnitBits)
	set.unitBits -= k.unitShift
	if len(k.slots) == 1 {
		if r, ok := denseRange(units, k.slots[0]); ok {
			k.dense = r
			return r.bytes()
		}
		if expectOrder(units, k.slots[0]) {
			k.order = &keyOrder{}
			return min(rowsOf(units)*8, orderMemory)
		}
	}
	return rowsOf(units) * 8
}

// limit implements keeper.
func (k *keyCheck) limit(share memoryShare) {
	memory := share.bytes
	if k.dense != (intRange{}) && k.dense.bytes() <= memory {
		k.keys.dense = newDenseKeys(k.dense)
		memory -= k.dense.bytes()
	}
	k.keys.set.budget = memory
}
