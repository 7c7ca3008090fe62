package audit

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// reckoned are the rows of one group on one side.
type reckoned struct {
	values []Value // of the columns that name it
	place  uint64  // its first row
	rows   int64
	sums   []accumulator // by metric; nil where it is no sum
	// distinct is filled in when both sides are complete.
	distinct []int64
}

// reckoner computes metrics by group over rows, on one side.
type reckoner struct {
	by      []int // slots
	columns []int // slots by metric; -1 for row_count
	metrics []reckonedMetric
	names   []string // of the columns of by
	sets    []*tally // by metric; nil where it counts no distinct values
	side    int
	limit   int // groups
}

// errGroups: there are more groups than can be held.
var errGroups = errors.New("too many groups")

// reckonerState is a row group's part.
type reckonerState struct {
	of      *reckoner
	unit    int
	leaves  []*scan.Column // by metric, of this file
	groups  map[string]*reckoned
	batches []*batch
	rows    int64
	failure error

	key, scrap []byte
}

func (r *reckoner) open(u *unit, unit int) *reckonerState {
	s := &reckonerState{of: r, unit: unit, groups: map[string]*reckoned{}}
	for k, slot := range r.columns {
		var leaf *scan.Column
		if slot >= 0 {
			leaf = u.file.leaves[slot]
		}
		s.leaves = append(s.leaves, leaf)
		s.batches = append(s.batches, nil)
		if r.sets[k] != nil {
			s.batches[k] = r.sets[k].batch()
		}
	}
	return s
}

func (s *reckonerState) add(v *view) {
	if s.failure != nil {
		return
	}
	by := newPositions(v, s.of.by)
	var columns []*positions
	for _, slot := range s.of.columns {
		if slot < 0 {
			columns = append(columns, nil)
			continue
		}
		columns = append(columns, newPositions(v, []int{slot}))
	}
	s.rows += int64(v.rows)
	for row := range v.rows {
		g := s.group(v, row, by.of(row))
		if g == nil {
			return
		}
		g.rows++
		for k, p := range columns {
			if p == nil {
				continue
			}
			if at := p.of(row)[0]; at >= 0 {
				s.value(k, g, v.cols[s.of.columns[k]], at)
			}
		}
	}
}

// value takes in a present value of metric k's column.
func (s *reckonerState) value(k int, g *reckoned, vec *scan.Vector, at int) {
	values, pos := vec.Lookup(at)
	switch sum := g.sums[k].(type) {
	case *exactSum:
		sum.n++
		if classOf(sum.col) != signed {
			sum.addBig(exactAt(sum.col, values, pos))
			return
		}
		sum.integerSum.add(sum.col.Int64At(values, pos), 1)
	case *floatSum:
		sum.n++
		x := sum.col.FloatAt(values, pos)
		if x != x || math.IsInf(x, 0) {
			sum.special += x
			return
		}
		sum.one(x)
	default:
		s.scrap = binary.AppendUvarint(s.scrap[:0], uint64(len(s.key)))
		s.scrap = append(s.scrap, s.key...)
		s.scrap = appendKey(s.scrap, vec.Column, values, pos)
		s.batches[k].add(s.scrap, s.of.side, nowhere)
	}
}

// group finds the group of a row; nil when there are too many.
func (s *reckonerState) group(v *view, row int, at []int) *reckoned {
	s.key = s.key[:0]
	for i, slot := range s.of.by {
		s.key = appendGroupKey(s.key, v.cols[slot], at[i])
	}
	g := s.groups[string(s.key)]
	if g != nil {
		return g
	}
	if len(s.groups) >= s.of.limit {
		s.failure = errGroups
		return nil
	}
	g = &reckoned{place: placeOf(s.unit, v.place(row)), sums: make([]accumulator, len(s.of.metrics)), distinct: make([]int64, len(s.of.metrics))}
	for i, slot := range s.of.by {
		cell := Value{Column: s.of.names[i], Null: at[i] < 0}
		if at[i] >= 0 {
			cell.Text = cutCell(vectorText(v.cols[slot], at[i]))
		}
		g.values = append(g.values, cell)
	}
	for k, m := range s.of.metrics {
		if m.kind == "sum" {
			g.sums[k] = emptySum(s.leaves[k])
		}
	}
	s.groups[string(s.key)] = g
	return g
}

// emptySum is nil for a column that cannot be added up.
func emptySum(leaf *scan.Column) accumulator {
	switch {
	case !isNumeric(leaf):
		return nil
	case classOf(leaf) == floating:
		return &floatSum{col: leaf}
	}
	return &exactSum{col: leaf}
}

// appendGroupKey appends a value in a form that a control file can write, too:
// numbers compare by value, whatever their types.
func appendGroupKey(dst []byte, vec *scan.Vector, at int) []byte {
	if at < 0 {
		return appendGroupText(dst, "", true)
	}
	values, pos := vec.Lookup(at)
	if classOf(vec.Column) == texts && vec.Column.Type.Kind != scan.UUID {
		return appendGroupText(dst, string(rawAt(values, pos)), false)
	}
	text := textAt(vec.Column, values, pos)
	if n, err := parseNumber(text); err == nil {
		text = n.String()
	}
	return appendGroupText(dst, text, false)
}

func appendGroupText(dst []byte, text string, null bool) []byte {
	if null {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(append(dst, 1), uint64(len(text)))
	return append(dst, text...)
}

// merge takes a finished state into the groups of its side.
func (r *reckoner) merge(into map[string]*reckoned, s *reckonerState) error {
	for key, g := range s.groups { // the order does not matter: each goes to its own
		have := into[key]
		if have == nil {
			if len(into) >= r.limit {
				return errGroups
			}
			into[key] = g
			continue
		}
		have.rows += g.rows
		have.place = min(have.place, g.place)
		for k, sum := range g.sums {
			if sum != nil {
				have.sums[k].merge(sum)
			}
		}
	}
	for _, b := range s.batches {
		if b == nil || s.failure != nil {
			continue
		}
		s.failure = b.flush()
	}
	return s.failure
}

// count fills in the distinct values of both sides.
func (r *reckoner) count(sides [2]map[string]*reckoned) error {
	for k, set := range r.sets {
		if set == nil {
			continue
		}
		err := set.each(func(tuple []byte, p *pair) error {
			n, width := binary.Uvarint(tuple)
			key := tuple[width : width+int(n)]
			for side := range sides {
				if p.rows[side] > 0 {
					sides[side][string(key)].distinct[k]++
				}
			}
			return nil
		})
		if err = cmp.Or(err, set.close()); err != nil {
			return err
		}
	}
	return nil
}

// reckonedMetric is what is computed: row_count, sum(x) or count_distinct(x).
type reckonedMetric struct {
	kind, column string
}

func (m reckonedMetric) String() string {
	if m.column == "" {
		return m.kind
	}
	return m.kind + "(" + m.column + ")"
}

func parseReckoned(text string) (reckonedMetric, bool) {
	kind, rest, ok := strings.Cut(text, "(")
	column, closed := strings.CutSuffix(rest, ")")
	m := reckonedMetric{strings.TrimSpace(kind), strings.TrimSpace(column)}
	switch {
	case text == "row_count":
		return m, true
	case !ok || !closed || m.column == "":
		return m, false
	}
	return m, m.kind == "sum" || m.kind == "count_distinct"
}

// amount is a metric's value. None, NaN and infinities have no exact one, and
// equal nothing.
type amount struct {
	exact *big.Rat
	text  string
}

// amountOf is metric k of a group.
func (g *reckoned) amountOf(k int, m reckonedMetric) amount {
	whole := func(n int64) amount { return amount{exact: new(big.Rat).SetInt64(n), text: fmt.Sprint(n)} }
	switch m.kind {
	case "row_count":
		return whole(g.rows)
	case "count_distinct":
		return whole(g.distinct[k])
	}
	if g.sums[k] == nil {
		return amount{text: "nothing"} // no row
	}
	v, ok := g.sums[k].value()
	switch sum := g.sums[k].(type) {
	case *exactSum:
		if ok {
			return amount{exact: new(big.Rat).SetFrac(v.exact, pow10(scaleOf(sum.col))), text: v.text}
		}
	case *floatSum:
		if ok {
			return amount{exact: new(big.Rat).SetFloat64(v.f), text: v.text}
		}
	}
	return amount{text: "nothing"}
}

// agrees compares exactly. What is absent on both sides agrees with nothing.
func (a amount) agrees(o amount, tolerance number) bool {
	if a.exact == nil || o.exact == nil {
		return false
	}
	off := new(big.Rat).Sub(a.exact, o.exact)
	return off.Abs(off).Cmp(tolerance.rat()) <= 0
}
