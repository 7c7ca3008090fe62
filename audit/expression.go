package audit

import (
	"context"

	"github.com/wap-cli/wap/audit/expr"
	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// expressionKinds judge rows by what their columns are together.
func expressionKinds() []*kind {
	return []*kind{{
		name: "expression", aliases: []string{"satisfies", "expression_is_true"}, rows: true,
		scalar: "expr", nulls: []string{"fail", "skip"},
		params: []param{{name: "expr", required: true, read: readCondition}},
		bind:   bindExpression,
	}}
}

func readCondition(r *reader, n *yaml.Node, name string) (any, bool) { return r.condition(n, name) }

// rowExpression counts rows for which an expression is not true. NULL violates: a
// gate fails closed.
type rowExpression struct {
	check    *Check
	expr     *compiled
	columns  []string
	skipNull bool

	tested, bad, nulls int64
	failure            *Failure
	samples            []Sample
}

type expressionState struct {
	of      *rowExpression
	eval    *expr.Evaluator
	vectors []*scan.Vector

	tested, bad, nulls int64
	failure            *Failure
	samples            []Sample
}

func bindExpression(c *Check, b *binding) (assertion, error) {
	condition, _ := get[*condition](c, "expr")
	compiled, err := b.condition(condition)
	if err != nil {
		return nil, err
	}
	e := &rowExpression{check: c, expr: compiled, skipNull: c.Nulls == "skip"}
	for _, slot := range compiled.slots {
		e.columns = append(e.columns, b.slots[slot].path)
	}
	return e, nil
}

func (e *rowExpression) open(*unit) state {
	return &expressionState{of: e, eval: e.expr.NewEvaluator()}
}

func (s *expressionState) add(v *view) {
	s.vectors = s.of.expr.vectors(s.vectors, v)
	truth := s.eval.Eval(v.rows, s.vectors)
	if f := s.of.expr.firstFailure(v, truth.Marks); f != nil && s.failure == nil {
		s.failure = f
	}
	s.tested += int64(v.rows)
	if truth.AllTrue(v.rows) {
		return
	}
	var at *positions
	for row := range v.rows {
		if truth.True(row) {
			continue
		}
		if truth.Null(row) {
			if s.nulls++; s.of.skipNull {
				continue
			}
		}
		s.bad++
		if int64(len(s.samples)) < s.of.check.Samples {
			if at == nil {
				at = newPositions(v, s.of.expr.slots)
			}
			s.samples = append(s.samples, s.of.sample(v, row, at.of(row)))
		}
	}
}

// sample shows the values of the expression's columns.
func (e *rowExpression) sample(v *view, row int, at []int) Sample {
	out := Sample{File: v.unit.file.key(), Row: v.place(row)}
	for i, slot := range e.expr.slots {
		cell := Value{Column: e.columns[i], Null: at[i] < 0}
		switch {
		case redacted(e.check, cell.Column):
			cell = Value{Column: cell.Column, Text: redactedText}
		case at[i] >= 0:
			cell.Text = cutCell(vectorText(v.cols[slot], at[i]))
		}
		out.Values = append(out.Values, cell)
	}
	return out
}

func (e *rowExpression) merge(st state) {
	s := st.(*expressionState)
	e.tested += s.tested
	e.bad += s.bad
	e.nulls += s.nulls
	if e.failure == nil {
		e.failure = s.failure
	}
	e.samples = appendSamples(e.samples, s.samples, e.check.Samples)
}

func (e *rowExpression) finish(context.Context, *judgement) verdict {
	if e.failure != nil {
		return verdict{failure: e.failure}
	}
	v := verdict{
		counted: true, violations: e.bad, tested: e.tested, expected: e.expr.condition.text,
		grade: GradeScan, samples: e.samples, counts: []Count{{"null_results", e.nulls}},
	}
	if e.skipNull {
		v.tested -= e.nulls
	}
	return v
}
