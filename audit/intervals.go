package audit

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/wap-cli/wap/audit/scan"
)

// intervalKinds judge whether a column's values leave nothing out.
func intervalKinds() []*kind {
	return []*kind{{
		name: "complete_intervals", columns: eachColumn, where: true,
		params: []param{
			{name: "every", required: true, read: spacing},
			{name: "from", read: bound}, {name: "to", read: bound},
			{name: "by", read: columnNames},
		},
		verify: verifyIntervals, bind: bindIntervals,
	}}
}

func verifyIntervals(c *Check) error {
	from, to := c.Params["from"], c.Params["to"]
	a, aok := asNumber(from)
	b, bok := asNumber(to)
	if aok && bok && a.cmp(b) > 0 {
		return fmt.Errorf("from %s is above to %s", a, b)
	}
	return textOrder("from", from, "to", to)
}

// intervals counts those of the intervals between two bounds, in each group, that
// no value lies in.
type intervals struct {
	check    *Check
	slot     int
	leaf     *scan.Column
	by       []int // slots
	step     int64 // in stored units
	from, to *int64
	memory   int64

	total intervalState
}

// intervalState says in which intervals values lie.
type intervalState struct {
	of      *intervals
	hasher  keyHasher
	keys    []byte
	groups  map[string]*filled
	list    []*filled // in the order of their first rows
	size    int64     // bytes, about
	tested  int64
	outside int64
	failure error
}

// filled are the intervals of one group that have a value: 64 to a block.
type filled struct {
	key    string
	blocks map[int64]uint64
	first  Sample // the group's first row
}

// maxIntervals bounds what one group is asked for.
const maxIntervals = 1 << 24

// maxMissing is how many a message names.
const maxMissing = 5

// count is how many intervals have a value.
func (g *filled) count() (n int64) {
	for _, set := range g.blocks {
		n += int64(bits.OnesCount64(set))
	}
	return n
}

func bindIntervals(c *Check, b *binding) (assertion, error) {
	slot, leaf, err := b.column(c.Columns[0], true)
	if err != nil {
		return nil, err
	}
	if leaf.MaxRep > 0 {
		return nil, fmt.Errorf("column %s has several values a row", leaf.Dotted)
	}
	i := &intervals{check: c, slot: slot, leaf: leaf}
	text, _ := get[string](c, "every")
	if i.step, err = stepOf(leaf, text); err != nil {
		return nil, err
	}
	if i.from, err = i.boundary(b, "from"); err != nil {
		return nil, err
	}
	if i.to, err = i.boundary(b, "to"); err != nil {
		return nil, err
	}
	switch {
	case i.from != nil && i.to != nil && *i.from > *i.to:
		return nil, fmt.Errorf("from is after to")
	case i.from == nil && onCalendar(leaf) && i.step > unitsPerDay(leaf):
		return nil, fmt.Errorf("intervals of more than a day need from, to know where they begin")
	}
	by, _ := get[[]string](c, "by")
	if i.by, err = b.plainColumns(by); err != nil {
		return nil, err
	}
	i.total.groups = map[string]*filled{}
	return i, nil
}

// plainColumns finds columns of one value a row.
func (b *binding) plainColumns(paths []string) ([]int, error) {
	var slots []int
	for _, path := range paths {
		slot, leaf, err := b.column(path, true)
		if err != nil {
			return nil, err
		}
		if leaf.MaxRep > 0 {
			return nil, fmt.Errorf("column %s has several values a row", path)
		}
		slots = append(slots, slot)
	}
	return slots, nil
}

func (i *intervals) boundary(b *binding, name string) (*int64, error) {
	lit, ok := get[literal](i.check, name)
	if !ok {
		return nil, nil
	}
	lit, err := b.literal(i.leaf, lit)
	if err != nil {
		return nil, err
	}
	n, err := exactLiteral(i.leaf, lit)
	if err != nil {
		return nil, err
	}
	floor, _ := n.at(scaleOf(i.leaf))
	if !floor.IsInt64() {
		return nil, fmt.Errorf("%s %s is out of range", name, lit)
	}
	at := floor.Int64()
	return &at, nil
}

// number is which interval a value lies in. Without from, intervals begin at
// multiples of their length, counted from 1970 or 0.
func (i *intervals) number(x int64) int64 {
	if i.from != nil { // x is not before
		return int64((uint64(x) - uint64(*i.from)) / uint64(i.step))
	}
	n := x / i.step
	if x%i.step < 0 {
		n--
	}
	return n
}

// begin is where an interval begins.
func (i *intervals) begin(n int64) string {
	at := new(big.Int).Mul(big.NewInt(n), big.NewInt(i.step))
	if i.from != nil {
		at.Add(at, big.NewInt(*i.from))
	}
	return exactText(i.leaf, at)
}

var _ keeper = (*intervals)(nil)

// plan implements keeper: few rows begin a group or an interval.
func (i *intervals) plan(units []*unit) int64 { return rowsOf(units)*4 + 1<<20 }

// limit implements keeper: row groups that are being read have a part each.
func (i *intervals) limit(memory memoryShare) { i.memory = memory.bytes / 4 }

func (i *intervals) open(*unit) state {
	return &intervalState{of: i, hasher: keyHasher{slots: i.by}, groups: map[string]*filled{}}
}

func (s *intervalState) add(v *view) {
	vec := v.cols[s.of.slot]
	at, by := newPositions(v, []int{s.of.slot}), newPositions(v, s.of.by)
	for row := range v.rows {
		pos := at.of(row)[0]
		if pos < 0 {
			continue
		}
		s.tested++
		// A group whose values all lie outside lacks every interval.
		s.keys = s.hasher.appendTuple(s.keys[:0], v, by.of(row))
		g := s.groups[string(s.keys)]
		if g == nil {
			if s.failure != nil {
				continue
			}
			g = s.group(string(s.keys), s.of.sample(v, row, by.of(row)))
		}
		values, k := vec.Lookup(pos)
		x := exactAt(vec.Column, values, k)
		if !x.IsInt64() || s.of.from != nil && x.Int64() < *s.of.from || s.of.to != nil && x.Int64() > s.of.end() {
			s.outside++
			continue
		}
		s.mark(g, s.of.number(x.Int64()))
	}
}

// end is the last value of the interval that `to` lies in.
func (i *intervals) end() int64 {
	n := i.number(*i.to)
	last := new(big.Int).Mul(big.NewInt(n), big.NewInt(i.step))
	if i.from != nil {
		last.Add(last, big.NewInt(*i.from))
	}
	if last.Add(last, big.NewInt(i.step-1)); !last.IsInt64() {
		return *i.to
	}
	return last.Int64()
}

// group begins a group whose first row is shown as first.
func (s *intervalState) group(key string, first Sample) *filled {
	g := &filled{key: key, blocks: map[int64]uint64{}, first: first}
	s.groups[key], s.list = g, append(s.list, g)
	s.grow(int64(2*len(key) + 256))
	return g
}

// grow counts bytes, and notes when they are too many.
func (s *intervalState) grow(n int64) {
	if s.size += n; s.failure == nil && s.size > s.of.memory {
		s.failure = fmt.Errorf("the groups and their intervals take more than %d bytes: give more memory, or choose rows by where", s.of.memory)
	}
}

func (s *intervalState) mark(g *filled, n int64) { s.fill(g, n>>6, 1<<(n&63)) }

func (s *intervalState) fill(g *filled, block int64, set uint64) {
	if _, known := g.blocks[block]; !known {
		s.grow(40)
	}
	if s.failure == nil {
		g.blocks[block] |= set
	}
}

// sample shows the group of a row.
func (i *intervals) sample(v *view, row int, at []int) Sample {
	out := Sample{File: v.unit.file.key(), Row: v.place(row)}
	by, _ := get[[]string](i.check, "by")
	out.Values = cells(v, i.check, cellsOf{by, i.by}, at)
	return out
}

// cellsOf are the columns of a sample.
type cellsOf struct {
	paths []string
	slots []int
}

// cells shows the values of some columns in a row; at has their positions.
func cells(v *view, c *Check, of cellsOf, at []int) []Value {
	var list []Value
	for i, slot := range of.slots {
		cell := Value{Column: of.paths[i], Null: at[i] < 0}
		switch {
		case redacted(c, cell.Column):
			cell = Value{Column: cell.Column, Text: redactedText}
		case at[i] >= 0:
			cell.Text = cutCell(vectorText(v.cols[slot], at[i]))
		}
		list = append(list, cell)
	}
	return list
}

func (i *intervals) merge(st state) {
	s, t := st.(*intervalState), &i.total
	t.of = i
	t.tested += s.tested
	t.outside += s.outside
	if t.failure == nil {
		t.failure = s.failure
	}
	for _, g := range s.list {
		if t.failure != nil {
			return
		}
		into := t.groups[g.key]
		if into == nil {
			into = t.group(g.key, g.first)
		}
		for block, set := range g.blocks {
			t.fill(into, block, set)
		}
	}
}

// bounds are the first and the last interval that is asked for.
func (i *intervals) bounds() (first, last int64) {
	started := false
	for _, g := range i.total.list {
		for block, set := range g.blocks {
			low := block<<6 + int64(bits.TrailingZeros64(set))
			high := block<<6 + 63 - int64(bits.LeadingZeros64(set))
			if !started {
				first, last, started = low, high, true
			}
			first, last = min(first, low), max(last, high)
		}
	}
	if i.from != nil {
		first = 0
	}
	if i.to != nil {
		last = i.number(*i.to)
	}
	return first, last
}

func (i *intervals) finish(context.Context, *judgement) verdict {
	t := &i.total
	if t.failure != nil {
		return verdict{failure: &Failure{Cause: CauseData, Message: t.failure.Error(), Column: i.leaf.Dotted}}
	}
	text, _ := get[string](i.check, "every")
	v := verdict{expected: "a value in every interval of " + text, grade: GradeScan, tested: t.tested}
	if t.tested == t.outside {
		v.noValue, v.observed = true, "no value"
		v.counts = []Count{{"rows_outside", t.outside}}
		return v
	}
	first, last := i.bounds()
	span := fmt.Sprintf("from %s to that of %s", i.begin(first), i.begin(last))
	if i.hidden() {
		span = "from the first to the last"
	}
	if last < first || uint64(last)-uint64(first) >= maxIntervals {
		return verdict{failure: &Failure{Cause: CauseData, Column: i.leaf.Dotted, Message: fmt.Sprintf(
			"%s there are more than %d intervals of %s", span, maxIntervals, text)}}
	}
	v.expected += ", " + span
	each := last - first + 1
	for _, g := range t.list {
		if lack := each - g.count(); lack > 0 {
			v.violations += lack
			i.show(&v, g, missing{first, last, lack})
		}
	}
	v.holds = v.violations == 0
	v.observed = fmt.Sprintf("%d of %d intervals missing", v.violations, each*int64(len(t.list)))
	v.counts = []Count{{"intervals", each}, {"groups", int64(len(t.list))}, {"rows_outside", t.outside}}
	return v
}
