package audit

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wap-cli/wap/audit/scan"
)

// rangeKinds judge rows that are ranges: from lower up to upper, that excluded.
func rangeKinds() []*kind {
	return []*kind{{
		name: "mutually_exclusive_ranges", rows: true, nulls: []string{"skip", "fail", "open"},
		params: []param{
			{name: "lower", required: true, read: columnName},
			{name: "upper", required: true, read: columnName},
			{name: "by", read: columnNames},
			{name: "gaps", fallback: "allowed", read: word("allowed", "not_allowed", "required")},
		},
		verify: verifyRanges, bind: bindRanges,
	}}
}

// verifyRanges also names the check after its columns.
func verifyRanges(c *Check) error {
	lower, _ := get[string](c, "lower")
	upper, _ := get[string](c, "upper")
	if lower == upper {
		return fmt.Errorf("lower and upper are the same column")
	}
	c.Columns = []string{lower, upper}
	return nil
}

// ranges sorts all ranges by where they begin, and counts those that begin
// before another one has ended, in each group.
type ranges struct {
	check *Check
	slots []int // lower, upper, then those of by
	paths []string
	gaps  string
	table rangeGroups
	file  runFile
	half  int64 // bytes for what is sorted
	unit  int64 // of them for a row group

	total rangeState
	runs  *runs[rangeRecord]
}

// rangeRecord is one row.
type rangeRecord struct {
	group        uint64 // its number in the table
	lower, upper ordered
	unit         uint32
	row          int64 // in the file
}

func (r rangeRecord) compare(o rangeRecord) int {
	return cmp.Or(cmp.Compare(r.group, o.group), r.lower.compare(o.lower), r.upper.compare(o.upper),
		r.comparePlace(o))
}

func (r rangeRecord) comparePlace(o rangeRecord) int {
	return cmp.Or(cmp.Compare(r.unit, o.unit), cmp.Compare(r.row, o.row))
}

func (r rangeRecord) with(rangeRecord) (rangeRecord, bool) { return r, false }

func (r rangeRecord) put(dst []byte) []byte {
	dst = r.upper.put(r.lower.put(binary.BigEndian.AppendUint64(dst, r.group)))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, r.unit), uint64(r.row))
}

func (r rangeRecord) get(src []byte) rangeRecord {
	r.group = binary.BigEndian.Uint64(src)
	r.lower, r.upper = r.lower.get(src[8:]), r.upper.get(src[24:])
	r.unit, r.row = binary.BigEndian.Uint32(src[40:]), int64(binary.BigEndian.Uint64(src[44:]))
	return r
}

// rangeGroups numbers the groups. Which number a group has depends on the
// parallelism; nothing that is reported does.
type rangeGroups struct {
	mu      sync.Mutex
	numbers map[string]uint64
	values  [][]Value // shown of a group
	size    int64     // bytes, about
	memory  int64
	full    bool
}

func (g *rangeGroups) number(key []byte, show func() []Value) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, known := g.numbers[string(key)]
	switch {
	case known:
		return n
	case g.size > g.memory:
		g.full = true
		return 0
	}
	values := show()
	n = uint64(len(g.values))
	g.numbers[string(key)], g.values = n, append(g.values, values)
	g.size += int64(len(key)) + 128
	for _, v := range values {
		g.size += int64(len(v.Text)) + 48
	}
	return n
}

type rangeState struct {
	of     *ranges
	hasher keyHasher
	key    []byte
	unit   uint32
	runs   *runs[rangeRecord]

	tested, bad, inverted, nulls int64
	samples                      []Sample
	tooWide                      bool
}

func bindRanges(c *Check, b *binding) (assertion, error) {
	r := &ranges{check: c}
	r.gaps, _ = get[string](c, "gaps")
	r.table.numbers = map[string]uint64{}
	var first *scan.Column
	for _, path := range c.Columns {
		_, leaf, err := b.column(path, true)
		switch {
		case err != nil:
			return nil, err
		case !hasOrdered(leaf):
			return nil, fmt.Errorf("column %s is %s, not a number or a time", path, leaf.Type)
		case first != nil && !first.Type.Equal(leaf.Type):
			return nil, fmt.Errorf("column %s is %s and column %s is %s", first.Dotted, first.Type, path, leaf.Type)
		}
		first = leaf
	}
	by, _ := get[[]string](c, "by")
	r.paths = slices.Concat(c.Columns, by)
	var err error
	r.slots, err = b.plainColumns(r.paths)
	return r, err
}

var _ keeper = (*ranges)(nil)

// plan implements keeper.
func (r *ranges) plan(units []*unit) int64 { return 4 * rowsOf(units) * recordBytes }

// limit implements keeper.
func (r *ranges) limit(memory memoryShare) {
	r.half, r.table.memory = memory.bytes/2, memory.bytes/4
	r.unit = min(r.half/max(8, memory.states), maxUnitMemory)
}

func (r *ranges) open(u *unit) state {
	return &rangeState{
		of: r, hasher: keyHasher{slots: r.slots[2:]}, unit: uint32(u.index),
		runs: newRuns[rangeRecord](&r.file, r.unit),
	}
}

func (s *rangeState) add(v *view) {
	positions := newPositions(v, s.of.slots)
	for row := range v.rows {
		at := positions.of(row)
		missing := at[0] < 0 || at[1] < 0
		if missing && s.of.check.Nulls != "open" {
			if s.nulls++; s.of.check.Nulls == "fail" {
				s.violation(v, row, at)
			}
			continue
		}
		lower, isLower := s.bound(v, 0, at, ordered{})
		upper, isUpper := s.bound(v, 1, at, ordered{math.MaxUint64, math.MaxUint64})
		if !isLower || !isUpper || lower.compare(upper) >= 0 {
			s.inverted++
			s.violation(v, row, at)
			continue
		}
		s.tested++
		s.key = s.hasher.appendTuple(s.key[:0], v, at[2:])
		group := s.of.table.number(s.key, func() []Value {
			return cells(v, s.of.check, cellsOf{s.of.paths[2:], s.of.slots[2:]}, at[2:])
		})
		s.runs.add(rangeRecord{group, lower, upper, s.unit, v.place(row)})
	}
}

// bound is one end of a range; ok is false when it has no place in an order.
func (s *rangeState) bound(v *view, i int, at []int, open ordered) (o ordered, ok bool) {
	if at[i] < 0 {
		return open, true
	}
	vec := v.cols[s.of.slots[i]]
	values, k := vec.Lookup(at[i])
	o, ok = orderedAt(vec.Column, values, k)
	s.tooWide = s.tooWide || !ok && classOf(vec.Column) != floating
	return o, ok
}

func (s *rangeState) violation(v *view, row int, at []int) {
	s.tested++
	s.bad++
	if int64(len(s.samples)) < s.of.check.Samples {
		s.samples = append(s.samples, Sample{File: v.unit.file.key(), Row: v.place(row),
			Values: cells(v, s.of.check, cellsOf{s.of.paths, s.of.slots}, at)})
	}
}

func (r *ranges) merge(st state) {
	s, t := st.(*rangeState), &r.total
	if r.runs == nil {
		r.runs = newRuns[rangeRecord](&r.file, r.half)
	}
	r.runs.take(s.runs)
	t.tested += s.tested
	t.bad += s.bad
	t.inverted += s.inverted
	t.nulls += s.nulls
	t.tooWide = t.tooWide || s.tooWide
	t.samples = appendSamples(t.samples, s.samples, r.check.Samples)
}

// conflicts are what the sorted ranges show.
type conflicts struct {
	groups, overlaps, gaps, touching int64
	shown                            []rangeRecord // the first in the order of rows
}

// compareRanges goes over the ranges in order. A row violates by how it begins:
// before the greatest end so far of its group, behind it where gaps are not
// allowed, at it where they are required.
func (r *ranges) compareRanges() (c conflicts, err error) {
	if r.runs == nil {
		return c, nil
	}
	var group uint64
	var end ordered
	started := false
	err = r.runs.each(func(k rangeRecord) bool {
		if !started || k.group != group {
			group, end, started = k.group, k.upper, true
			c.groups++
			return true
		}
		order, bad := k.lower.compare(end), true
		switch {
		case order < 0:
			c.overlaps++
		case order > 0 && r.gaps == "not_allowed":
			c.gaps++
		case order == 0 && r.gaps == "required":
			c.touching++
		default:
			bad = false
		}
		if bad {
			c.show(k, int(r.check.Samples))
		}
		if k.upper.compare(end) > 0 {
			end = k.upper
		}
		return true
	})
	c.cut(int(r.check.Samples))
	return c, err
}

func (c *conflicts) show(k rangeRecord, most int) {
	if c.shown = append(c.shown, k); len(c.shown) > 2*most+16 {
		c.cut(most)
	}
}

func (c *conflicts) cut(most int) {
	slices.SortFunc(c.shown, rangeRecord.comparePlace)
	c.shown = c.shown[:min(len(c.shown), most)]
}

func (r *ranges) finish(_ context.Context, p *judgement) verdict {
	t := &r.total
	c, err := r.compareRanges()
	if err = cmp.Or(err, r.file.close()); err != nil {
		return verdict{failure: p.failureOf(err)}
	}
	switch {
	case r.table.full:
		return verdict{failure: &Failure{Cause: CauseData, Message: fmt.Sprintf(
			"the groups take more than %d bytes: give more memory, or choose rows by where", r.table.memory)}}
	case t.tooWide:
		return verdict{failure: &Failure{Cause: CauseData, Message: "a bound has more than 128 bits"}}
	}
	v := verdict{
		counted: true, violations: t.bad + c.overlaps + c.gaps + c.touching, tested: t.tested, grade: GradeScan,
		expected: "ranges without overlaps", samples: t.samples,
		counts: []Count{{"overlaps", c.overlaps}, {"gaps", c.gaps}, {"without_gap", c.touching},
			{"not_a_range", t.inverted}, {"null_rows", t.nulls}, {"groups", c.groups}},
	}
	switch r.gaps {
	case "not_allowed":
		v.expected += " and gaps"
	case "required":
		v.expected += ", with gaps between them"
	}
	units := p.units()
	for _, k := range c.shown {
		v.samples = appendSamples(v.samples, []Sample{r.sample(k, units)}, r.check.Samples)
	}
	return v
}

// sample shows a range.
func (r *ranges) sample(k rangeRecord, units []*unit) Sample {
	u := units[k.unit]
	out := Sample{File: u.file.key(), Row: k.row}
	for i, at := range []ordered{k.lower, k.upper} {
		cell := Value{Column: r.paths[i], Null: at == ordered{} || at == ordered{math.MaxUint64, math.MaxUint64}}
		switch {
		case redacted(r.check, cell.Column):
			cell = Value{Column: cell.Column, Text: redactedText}
		case !cell.Null:
			cell.Text = at.text(u.file.leaves[r.slots[i]])
		}
		out.Values = append(out.Values, cell)
	}
	out.Values = append(out.Values, r.table.values[k.group]...)
	return out
}
