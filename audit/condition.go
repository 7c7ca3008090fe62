package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wap-cli/wap/audit/expr"
	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// condition is an expression of a checks file, with the place it was written at:
// one that is true or false, or arithmetic over aggregates.
type condition struct {
	text string
	file string
	node *yaml.Node
	over bool // over aggregates
}

// columns lists those that the text names.
func (c *condition) columns() ([]string, error) {
	if c.over {
		return expr.AggregateColumns(c.text)
	}
	return expr.Columns(c.text)
}

// constants lists the numbers and texts that stand in the text, which was parsed.
func (c *condition) constants() (numbers, texts []string) {
	numbers, texts, _ = expr.Constants(c.text)
	return numbers, texts
}

// simple reports whether the text compares columns with literals alone.
func (c *condition) simple() (bool, error) { return expr.Simple(c.text) }

// check finds what is wrong with the types of the text.
func (c *condition) check(types func(string) expr.Type, zone *time.Location) (err error) {
	if c.over {
		_, err = expr.CompileAggregate(c.text, types, zone)
	} else {
		_, err = expr.Condition(c.text, types, zone)
	}
	return err
}

// MarshalJSON writes the text alone: where it stands means nothing.
func (c *condition) MarshalJSON() ([]byte, error) { return json.Marshal(c.text) }

// place is the line and column of a byte of the text. Of a text over several
// lines it is where the text begins, and a note says which character is meant.
func (c *condition) place(offset int) (line, column int, note string) {
	before := c.text[:min(offset, len(c.text))]
	line, column = c.node.Line, c.node.Column
	characters := utf8.RuneCountInString(before)
	switch style := c.node.Style; {
	case c.node.Value != c.text, style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0, strings.Contains(c.text, "\n"):
		return line, column, fmt.Sprintf(", at character %d of the expression", characters+1)
	case style&yaml.SingleQuotedStyle != 0:
		column += 1 + strings.Count(before, "'") // which stands doubled
	case style&yaml.DoubleQuotedStyle != 0:
		column += 1 + strings.Count(before, `"`) + strings.Count(before, `\`)
	}
	return line, column + characters, ""
}

// problem is a mistake in the text as the checks file's.
func (c *condition) problem(err error) *ConfigError {
	out := &ConfigError{File: c.file, Message: err.Error(), Line: c.node.Line, Column: c.node.Column}
	var at *expr.Error
	if errors.As(err, &at) {
		var note string
		out.Line, out.Column, note = c.place(at.Offset)
		out.Message += note
	}
	return out
}

// condition reads an expression. Its types are checked once the types of all
// columns that the file declares are known.
func (r *reader) condition(n *yaml.Node, what string) (*condition, bool) {
	return r.expression(n, what, condition{})
}

func (r *reader) expression(n *yaml.Node, what string, c condition) (*condition, bool) {
	text, ok := r.fixed(n, what)
	if !ok {
		return nil, false
	}
	c.text, c.file, c.node = text, r.file, n
	columns, err := c.columns()
	switch {
	case err != nil:
		r.problems = append(r.problems, c.problem(err))
		return nil, false
	case len(columns) == 0 && c.over:
		r.failHint(n, "rows are counted by row_count", "%s names no column", what)
		return nil, false
	case len(columns) == 0:
		r.fail(n, "%s names no column", what)
		return nil, false
	}
	r.conditions = append(r.conditions, &c)
	return &c, true
}

// checkTypes finds what is wrong with the types of conditions as far as the file
// declares them.
func (p *parsing) checkTypes() {
	declared := func(path string) expr.Type {
		text, ok := p.out.ColumnType(path)
		if !ok {
			return expr.Type{}
		}
		t, err := scan.ParseType(text)
		if err != nil { // a nested type, which no value has
			return expr.Type{}
		}
		out, _ := expr.TypeOf(t)
		return out
	}
	for _, c := range p.conditions {
		if err := c.check(declared, p.out.timezone); err != nil {
			p.problems = append(p.problems, c.problem(err))
		}
	}
}

// compiled is a condition bound to a partition.
type compiled struct {
	*expr.Program
	condition *condition
	slots     []int // of its columns
}

// condition binds an expression to the columns of the files and the keys of the
// partition.
func (b *binding) condition(c *condition) (*compiled, error) {
	slots, types, err := b.operands(c)
	if err != nil {
		return nil, err
	}
	out := &compiled{condition: c, slots: slots}
	out.Program, err = expr.Condition(c.text, types, b.zone)
	if err != nil {
		return nil, c.problem(err)
	}
	return out, nil
}

// operands finds the columns of an expression, and their types.
func (b *binding) operands(c *condition) (slots []int, typeOf func(string) expr.Type, err error) {
	columns, err := c.columns()
	if err != nil {
		return nil, nil, c.problem(err)
	}
	types := map[string]expr.Type{}
	for _, path := range columns {
		slot, leaf, err := b.column(path, true)
		if err != nil {
			return nil, nil, err
		}
		t, ok := expr.TypeOf(leaf.Type)
		switch {
		case leaf.MaxRep > 0:
			return nil, nil, fmt.Errorf("column %s has several values a row and cannot stand in an expression", path)
		case !ok:
			return nil, nil, fmt.Errorf("column %s is %s, which cannot stand in an expression", path, leaf.Type)
		}
		types[path] = t
		slots = append(slots, slot)
	}
	return slots, func(path string) expr.Type { return types[path] }, nil
}

// vectors are the columns of a batch as the program wants them.
func (c *compiled) vectors(dst []*scan.Vector, v *view) []*scan.Vector {
	dst = dst[:0]
	for _, slot := range c.slots {
		dst = append(dst, v.cols[slot])
	}
	return dst
}

// firstFailure is why a row's result cannot be computed, or nil.
func (c *compiled) firstFailure(v *view, marks []uint8) *Failure {
	return c.condition.failureOf(c.Program, v, marks)
}

func (c *condition) failureOf(program *expr.Program, v *view, marks []uint8) *Failure {
	if !slices.ContainsFunc(marks, func(m uint8) bool { return m > markNull }) {
		return nil
	}
	for row, m := range marks {
		if why := program.Failure(m); why != "" {
			line, column, _ := c.place(0)
			return &Failure{Cause: CauseData, File: v.unit.file.Key, Message: fmt.Sprintf(
				"row %d: %s (%s:%d:%d)", v.place(row), why, c.file, line, column)}
		}
	}
	return nil
}

// markNull is how the evaluator marks NULL; failures are above it.
const markNull = expr.MarkNull
