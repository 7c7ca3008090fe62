package audit

import (
	"context"
	"strconv"

	"github.com/wap-cli/wap/audit/expr"
	"github.com/wap-cli/wap/audit/scan"
)

// filtered lets an assertion see only the rows for which its `where` is true.
type filtered struct {
	inner assertion
	where *compiled
	// seen and kept count rows before and after the condition.
	seen, kept int64
	failure    *Failure
}

type filteredState struct {
	narrower
	inner   state
	failure *Failure
}

// filteredKeeper is a filtered assertion that keeps something for every row.
type filteredKeeper struct {
	*filtered
	keeper
}

// rescanner is an assertion that reads rows a second time.
type rescanner interface{ only(where *compiled) }

// filter wraps an assertion when its check has a `where`.
func (b *binding) filter(c *Check, inner assertion) (assertion, error) {
	if c.Where == nil {
		return inner, nil
	}
	where := &compiled{condition: c.Where} // no row will be seen
	if !b.fileless {
		var err error
		if where, err = b.condition(c.Where); err != nil {
			return nil, err
		}
	}
	f := &filtered{inner: inner, where: where}
	if again, ok := inner.(rescanner); ok && !b.fileless {
		again.only(where)
	}
	if k, ok := inner.(keeper); ok {
		return &filteredKeeper{f, k}, nil
	}
	return f, nil
}

func (f *filtered) open(u *unit) state {
	return &filteredState{narrower: *newNarrower(f.where), inner: f.inner.open(u)}
}

func (s *filteredState) add(v *view) {
	some, failure := s.narrow(v)
	if failure != nil && s.failure == nil {
		s.failure = failure
	}
	if some != nil {
		s.inner.add(some)
	}
}

func (f *filtered) merge(st state) {
	s := st.(*filteredState)
	f.seen += s.seen
	f.kept += s.kept
	if f.failure == nil {
		f.failure = s.failure
	}
	f.inner.merge(s.inner)
}

func (f *filtered) finish(ctx context.Context, p *judgement) verdict {
	if f.failure != nil {
		return verdict{failure: f.failure}
	}
	v := f.inner.finish(ctx, p)
	v.expected += " where " + f.where.condition.text
	v.rows, v.grade = f.seen, GradeScan
	v.counts = append(v.counts, Count{"rows_outside_where", f.seen - f.kept})
	v.metrics = nil // they would pass for those of all rows
	return v
}

// narrower cuts batches down to the rows for which a condition is true.
type narrower struct {
	where      *compiled
	eval       *expr.Evaluator
	vectors    []*scan.Vector
	rows       []int32
	seen, kept int64
}

func newNarrower(where *compiled) *narrower {
	return &narrower{where: where, eval: where.NewEvaluator()}
}

// narrow returns the view of the chosen rows, v itself when all are, nil when
// none is. A row for which the condition cannot be computed is a failure.
func (n *narrower) narrow(v *view) (*view, *Failure) {
	n.vectors = n.where.vectors(n.vectors, v)
	truth := n.eval.Eval(v.rows, n.vectors)
	n.rows = n.rows[:0]
	for row := range v.rows {
		if truth.True(row) {
			n.rows = append(n.rows, int32(row))
		}
	}
	failure := n.where.firstFailure(v, truth.Marks)
	n.seen += int64(v.rows)
	n.kept += int64(len(n.rows))
	switch len(n.rows) {
	case 0:
		return nil, failure
	case v.rows:
		return v, failure
	}
	out := &view{unit: v.unit, first: v.first, rows: len(n.rows), places: n.rows, cols: make([]*scan.Vector, len(v.cols))}
	for i, vec := range v.cols {
		if vec != nil {
			out.cols[i] = chosen(vec, n.rows)
		}
	}
	return out, failure
}

// narrowed hands on the chosen rows of each view.
func (c *compiled) narrowed(fn func(v *view)) func(v *view) {
	if c == nil {
		return fn
	}
	n := newNarrower(c)
	return func(v *view) {
		// What fails here failed in the first pass too.
		if some, _ := n.narrow(v); some != nil {
			fn(some)
		}
	}
}

// with adds the condition's slots to an assertion's own.
func (c *compiled) with(slots []int) []int {
	if c == nil {
		return slots
	}
	return append(slots[:len(slots):len(slots)], c.slots...)
}

// selection is some columns of the rows that a condition chooses.
type selection struct {
	slots []int
	where *compiled // nil: all rows
}

// rescan reads it again in some row groups.
func (s selection) rescan(ctx context.Context, p *judgement, units []*unit, again pass) error {
	return p.rescan(ctx, units, s.where.with(s.slots), pass{
		open: func(u *unit) state {
			into := again.open(u)
			return chosenRows{into, s.where.narrowed(into.add)}
		},
		take: func(st state) { again.take(st.(chosenRows).state) },
	})
}

// chosenRows is a state that sees no more than the rows of a selection.
type chosenRows struct {
	state
	feed func(v *view)
}

func (s chosenRows) add(v *view) { s.feed(v) }

// rowTally counts the rows that it is shown.
type rowTally struct {
	check *Check
	rows  int64
}

type tallyState struct{ rows int64 }

func (t *rowTally) open(*unit) state { return &tallyState{} }
func (s *tallyState) add(v *view)    { s.rows += int64(v.rows) }
func (t *rowTally) merge(s state)    { t.rows += s.(*tallyState).rows }

func (t *rowTally) finish(context.Context, *judgement) verdict {
	lo, hi := integerBounds(t.check)
	return verdict{
		holds: t.rows >= lo && t.rows <= hi, tested: t.rows, observed: strconv.FormatInt(t.rows, 10),
		expected: comparisonText(t.check), grade: GradeScan,
	}
}
