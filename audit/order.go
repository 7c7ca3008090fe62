package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// orderKinds judge each value by the one before it, in the order of the files'
// names and of the rows in them. NULLs are passed over.
func orderKinds() []*kind {
	return []*kind{
		{
			name: "monotonic", columns: eachColumn, rows: true, list: "columns", scalar: "columns",
			params: []param{
				{name: "order", fallback: "increasing", read: word("increasing", "decreasing")},
				{name: "strict", fallback: false, read: yesNo},
			},
			bind: bindMonotonic,
		},
		{
			name: "sequential", columns: eachColumn, rows: true, list: "columns", scalar: "columns",
			params: []param{{name: "step", fallback: int64(1), read: step}},
			bind:   bindSequential,
		},
	}
}

// follows reports whether a value may stand after another.
type follows func(before, after *extreme) bool

// sequence counts values that do not follow the one before.
type sequence struct {
	check    *Check
	slot     int
	leaf     *scan.Column
	ok       follows
	expected string

	tested, bad int64
	last        *extreme
	samples     []Sample
}

type sequenceState struct {
	of   *sequence
	slot int
	leaf *scan.Column // of this file

	tested, bad int64
	first, last *extreme
	firstAt     Sample
	samples     []Sample
}

func bindSequence(c *Check, b *binding, ok follows) (*sequence, error) {
	slot, leaf, err := b.column(c.Columns[0], true)
	if err != nil {
		return nil, err
	}
	if leaf.MaxRep > 0 {
		return nil, fmt.Errorf("column %s has several values a row and no order", leaf.Dotted)
	}
	if newExtreme(leaf, false) == nil {
		return nil, fmt.Errorf("column %s is %s, which has no order", leaf.Dotted, leaf.Type)
	}
	return &sequence{check: c, slot: slot, leaf: leaf, ok: ok}, nil
}

func bindMonotonic(c *Check, b *binding) (assertion, error) {
	order, _ := get[string](c, "order")
	strict, _ := get[bool](c, "strict")
	s, err := bindSequence(c, b, func(before, after *extreme) bool {
		n, ok := before.compare(after)
		if order == "decreasing" {
			n = -n
		}
		return ok && (n < 0 || n == 0 && !strict)
	})
	if err != nil {
		return nil, err
	}
	s.expected = order
	if strict {
		s.expected += ", no value twice"
	}
	return s, nil
}

func bindSequential(c *Check, b *binding) (assertion, error) {
	step, _ := get[int64](c, "step")
	by := big.NewInt(step)
	s, err := bindSequence(c, b, func(before, after *extreme) bool {
		return new(big.Int).Sub(after.stored(), before.stored()).Cmp(by) == 0
	})
	if err != nil {
		return nil, err
	}
	switch cl := classOf(s.leaf); {
	case cl != signed && cl != unsigned, s.leaf.Type.Kind == scan.Time, s.leaf.Type.Kind == scan.Timestamp, s.leaf.Type.Scale > 0:
		return nil, fmt.Errorf("column %s is %s, not an integer or a date", s.leaf.Dotted, s.leaf.Type)
	}
	s.expected = fmt.Sprintf("each value %d after the one before", step)
	return s, nil
}

// compare orders two single values; NaN has no order.
func (e *extreme) compare(o *extreme) (order int, ok bool) {
	switch {
	case e.nan || o.nan:
		return 0, false
	case e.class == floating:
		return cmp.Compare(e.f, o.f), true
	case e.class == texts:
		return bytes.Compare(e.b, o.b), true
	}
	return e.stored().Cmp(o.stored()), true
}

func (s *sequence) open(u *unit) state {
	return &sequenceState{of: s, slot: s.slot, leaf: u.file.leaves[s.slot]}
}

func (s *sequenceState) add(v *view) {
	vec := v.cols[s.slot]
	next := 0
	for row := range v.rows {
		if vec.IsNull(row) {
			continue
		}
		value, _ := newExtreme(s.leaf, false).(*extreme)
		values, at := vec.Lookup(next)
		value.take(values, at)
		next++
		s.tested++
		if s.last == nil {
			s.first, s.firstAt = value, s.of.sample(v, row, vec, next-1)
		} else if !s.of.ok(s.last, value) {
			s.bad++
			if int64(len(s.samples)) < s.of.check.Samples {
				s.samples = append(s.samples, s.of.sample(v, row, vec, next-1))
			}
		}
		s.last = value
	}
}

// take makes value i the only one.
func (e *extreme) take(v *scan.Values, i int) {
	switch e.class {
	case signed:
		e.signed(e.col.Int64At(v, i))
	case floating:
		e.float(e.col.FloatAt(v, i))
	case texts:
		e.bytes(v.Bytes.At(i))
	case unsigned, wide:
		e.exact(exactAt(e.col, v, i))
	}
}

func (q *sequence) sample(v *view, row int, vec *scan.Vector, value int) Sample {
	cell := Value{Column: q.leaf.Dotted, Text: redactedText}
	if !redacted(q.check, cell.Column) {
		cell.Text = cutCell(vectorText(vec, value))
	}
	return Sample{File: v.unit.file.key(), Row: v.place(row), Values: []Value{cell}}
}

// merge also judges the row group's first value by the last one before it.
func (q *sequence) merge(st state) {
	s := st.(*sequenceState)
	if s.last == nil {
		return
	}
	if q.last != nil && !q.ok(q.last, s.first) {
		q.bad++
		q.samples = appendSamples(q.samples, []Sample{s.firstAt}, q.check.Samples)
	}
	q.last = s.last
	q.tested += s.tested
	q.bad += s.bad
	q.samples = appendSamples(q.samples, s.samples, q.check.Samples)
}

func (q *sequence) finish(context.Context, *judgement) verdict {
	return verdict{
		counted: true, violations: q.bad, tested: q.tested, expected: q.expected,
		grade: GradeScan, samples: q.samples, counts: []Count{},
	}
}

// step reads an integer that is not 0.
func step(r *reader, n *yaml.Node, name string) (any, bool) {
	v, ok := r.integer(n, name)
	if ok && v == 0 {
		r.fail(n, "%s is 0", name)
		return nil, false
	}
	return v, ok
}
