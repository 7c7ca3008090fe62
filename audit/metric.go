package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/wap-cli/wap/audit/expr"
	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// metricKinds compare a number that the file computes over all rows.
func metricKinds() []*kind {
	over := func(r *reader, n *yaml.Node, name string) (any, bool) {
		return r.expression(n, name, condition{over: true})
	}
	return []*kind{{
		name: "metric", where: true, verify: verifyAggregate, bind: bindComputed,
		params: append([]param{{name: "expr", required: true, read: over}},
			append(comparison(numeric), param{name: "tolerance", read: difference})...),
	}}
}

// computed is arithmetic over aggregates of the rows.
type computed struct {
	check     *Check
	condition *condition
	expr      *expr.Aggregate
	slots     []int
	holds     func(aggregateValue) bool

	total computedState
}

type computedState struct {
	of      *computed
	evals   []*expr.Evaluator // by call; nil for count(*)
	vectors []*scan.Vector
	rows    int64
	folds   []fold // by call
	failure *Failure
}

func bindComputed(c *Check, b *binding) (assertion, error) {
	m := &computed{check: c, holds: ratioWithin(c)}
	m.condition, _ = get[*condition](c, "expr")
	slots, types, err := b.operands(m.condition)
	if err != nil {
		return nil, err
	}
	m.slots = slots
	if m.expr, err = expr.CompileAggregate(m.condition.text, types, b.zone); err != nil {
		return nil, m.condition.problem(err)
	}
	_, equals := c.Params["equals"]
	if _, tolerance := c.Params["tolerance"]; equals && !tolerance && m.expr.Inexact() {
		return nil, fmt.Errorf("%s is inexact: equals needs a tolerance", m.condition.text)
	}
	m.total.folds = make([]fold, len(m.expr.Calls()))
	return m, nil
}

func (m *computed) open(*unit) state {
	s := &computedState{of: m, folds: make([]fold, len(m.expr.Calls()))}
	for _, call := range m.expr.Calls() {
		var eval *expr.Evaluator
		if call.Argument != nil {
			eval = call.Argument.NewEvaluator()
		}
		s.evals = append(s.evals, eval)
	}
	return s
}

func (s *computedState) add(v *view) {
	s.vectors = s.vectors[:0]
	for _, slot := range s.of.slots {
		s.vectors = append(s.vectors, v.cols[slot])
	}
	s.rows += int64(v.rows)
	for i, call := range s.of.expr.Calls() {
		if s.evals[i] == nil {
			s.folds[i].n += int64(v.rows)
			continue
		}
		values := s.evals[i].Eval(v.rows, s.vectors)
		if f := s.of.condition.failureOf(call.Argument, v, values.Marks); f != nil && s.failure == nil {
			s.failure = f
		}
		s.folds[i].add(call, values, v.rows)
	}
}

func (m *computed) merge(st state) {
	s, t := st.(*computedState), &m.total
	t.rows += s.rows
	if t.failure == nil {
		t.failure = s.failure
	}
	for i, call := range m.expr.Calls() {
		t.folds[i].merge(call, &s.folds[i])
	}
}

func (m *computed) finish(context.Context, *judgement) verdict {
	if m.total.failure != nil {
		return verdict{failure: m.total.failure}
	}
	v := verdict{
		expected: m.condition.text + " " + comparisonText(m.check), grade: GradeScan,
		counts: []Count{}, tested: m.total.rows,
	}
	var values []expr.Scalar
	for i, call := range m.expr.Calls() {
		values = append(values, m.total.folds[i].value(call))
	}
	got := m.expr.Value(values)
	if got.Null {
		v.noValue, v.observed, v.tested = true, "no value", 0
		return v
	}
	value := aggregateValue{ratio: got.Exact, f: got.Float, text: floatText(got.Float, scan.Double)}
	if got.Exact != nil {
		value.text = ratioText(got.Exact, m.expr.Scale())
	}
	v.observed, v.holds = value.text, m.holds(value)
	v.metrics = []manifest.Metric{metric(m.check.ID, "", value.text)}
	return v
}

// fold is one aggregate on its way.
type fold struct {
	n      int64 // values
	exact  integerSum
	floats compensated

	// the least or greatest value
	best      *big.Int
	bestFloat float64
	nan       bool
}

// add takes the values of a batch in; NULLs are left out.
func (f *fold) add(call expr.Call, v *expr.Vec, rows int) {
	if call.Type().Kind == expr.Null {
		return
	}
	for i := range rows {
		if v.Marks != nil && v.Marks[i] != 0 {
			continue
		}
		f.n++
		switch {
		case call.Function == "count":
		case v.Floats != nil:
			f.float(call, v.Floats[i])
		case v.Bigs != nil:
			f.integer(call, v.Bigs[i])
		case call.Function == "min" || call.Function == "max":
			f.integer(call, big.NewInt(v.Ints[i]))
		default:
			f.exact.add(v.Ints[i], 1)
		}
	}
}

func (f *fold) float(call expr.Call, x float64) {
	switch {
	case call.Function == "sum" || call.Function == "avg":
		f.floats.add(x, 1)
	case x != x:
		f.nan = true
	case f.best == nil || call.Function == "min" && x < f.bestFloat || call.Function == "max" && x > f.bestFloat:
		f.best, f.bestFloat = new(big.Int), x // there is one
	}
}

func (f *fold) integer(call expr.Call, x *big.Int) {
	switch {
	case call.Function == "sum" || call.Function == "avg":
		f.exact.addBig(x)
	case f.best == nil || call.Function == "min" && x.Cmp(f.best) < 0 || call.Function == "max" && x.Cmp(f.best) > 0:
		f.best = x
	}
}

// merge takes in what a later row group gathered.
func (f *fold) merge(call expr.Call, o *fold) {
	f.n += o.n
	f.exact.addBig(o.exact.total())
	f.floats.merge(&o.floats)
	f.nan = f.nan || o.nan
	switch {
	case o.best == nil:
	case call.Type().Kind == expr.Float:
		f.float(call, o.bestFloat)
	default:
		f.integer(call, o.best)
	}
}

// value: without a value a count is 0 and all else NULL; an extreme over NaN is
// NaN.
func (f *fold) value(call expr.Call) expr.Scalar {
	n := new(big.Rat).SetInt64(f.n)
	switch {
	case call.Function == "count":
		return expr.Scalar{Exact: n}
	case f.n == 0:
		return expr.Scalar{Null: true}
	case call.Type().Kind == expr.Float:
		return f.floatValue(call)
	}
	total := f.best
	if call.Function == "sum" || call.Function == "avg" {
		total = f.exact.total()
	}
	out := new(big.Rat).SetFrac(total, pow10(call.Type().Scale))
	if call.Function == "avg" {
		out.Quo(out, n)
	}
	return expr.Scalar{Exact: out}
}

func (f *fold) floatValue(call expr.Call) expr.Scalar {
	switch {
	case call.Function == "sum":
		return expr.Scalar{Float: f.floats.total()}
	case call.Function == "avg":
		return expr.Scalar{Float: f.floats.total() / float64(f.n)}
	case f.nan:
		return expr.Scalar{Float: math.NaN()}
	}
	return expr.Scalar{Float: f.bestFloat}
}
