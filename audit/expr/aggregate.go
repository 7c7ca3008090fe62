package expr

import (
	"math/big"
	"strings"
	"time"
)

// Aggregate is arithmetic over aggregates, whose types are right.
type Aggregate struct {
	root  *node
	calls []Call
	scale int
}

// Call is one aggregate of an expression: count, sum, min, max or avg. Argument
// is nil for count(*); the columns of all arguments are those that
// [AggregateColumns] lists.
type Call struct {
	Function string
	Argument *Program
}

// Scalar is one number: exact, or a float where Exact is nil. NULL has Null set.
type Scalar struct {
	Null  bool
	Exact *big.Rat
	Float float64
}

// Type is what the argument's values are; Number for count(*).
func (c Call) Type() Type {
	if c.Argument == nil {
		return Type{Kind: Number}
	}
	return c.Argument.root.typ
}

func isAggregate(word string) bool {
	switch word {
	case "count", "sum", "min", "max", "avg":
		return true
	}
	return false
}

func parseAggregate(text string) (*node, *parser, error) {
	return parseWith(text, &parser{over: true})
}

// AggregateColumns lists the paths of the columns that stand in the aggregates of
// a text. The error is an [*Error].
func AggregateColumns(text string) ([]string, error) {
	root, p, err := parseAggregate(text)
	if err != nil {
		return nil, err
	}
	if len(p.calls) == 0 {
		return nil, mistake(root.start, root.end, "there is no aggregate in it: count, sum, min, max, avg")
	}
	return p.columns, nil
}

// CompileAggregate reads arithmetic over aggregates and checks its types, as
// [Compile] does for values of rows.
func CompileAggregate(text string, types func(path string) Type, zone *time.Location) (*Aggregate, error) {
	root, p, err := parseAggregate(text)
	if err != nil {
		return nil, err
	}
	var columns []Type
	for _, path := range p.columns {
		columns = append(columns, types(path))
	}
	c := checker{columns: columns, zone: zone, seen: map[*node]bool{}}
	out := &Aggregate{root: root}
	for _, n := range p.calls {
		call := Call{Function: n.sign}
		if len(n.args) > 0 {
			arg := n.args[0]
			if err := c.check(arg); err != nil {
				return nil, err
			}
			if n.sign != "count" {
				if err := want(arg, n.sign, Number, Float); err != nil {
					return nil, err
				}
			}
			call.Argument = &Program{root: arg, columns: p.columns, types: columns, zone: zone, casts: map[uint8]*node{}}
			call.Argument.number(arg, map[*node]bool{})
			n.typ = arg.typ
		}
		if n.sign == "count" || n.typ.Kind == Null {
			n.typ = Type{Kind: Number}
		}
		out.calls = append(out.calls, call)
		out.scale = max(out.scale, n.typ.Scale)
	}
	return out, c.over(root)
}

// over checks what stands around aggregates.
func (c *checker) over(n *node) error {
	if n.op == opAggregate {
		return nil
	}
	for _, a := range n.args {
		if err := c.over(a); err != nil {
			return err
		}
	}
	switch {
	case n.op == opLiteral && n.value.kind == Number:
		n.typ = Type{Kind: Number}
	case n.op == opNegate:
		n.typ = n.args[0].typ
	case n.op == opArith && n.sign != "%":
		n.typ = n.args[0].typ
		if other := n.args[1].typ; n.typ.Kind != Unknown && (other.Kind == Float || other.Kind == Unknown) {
			n.typ = other
		}
	default:
		return mistake(n.start, n.end, "over aggregates stand numbers and + - * / alone")
	}
	return nil
}

// Calls lists the aggregates in the order of the text.
func (a *Aggregate) Calls() []Call { return a.calls }

// Inexact reports whether a float has a part in the result.
func (a *Aggregate) Inexact() bool { return a.root.typ.Kind == Float }

// Scale is the most digits behind the point that an argument has.
func (a *Aggregate) Scale() int { return a.scale }

// Value computes the expression from the values of its calls. Exact numbers stay
// exact, division included; a division by an exact 0 is NULL, and so is what has
// a NULL in it.
func (a *Aggregate) Value(calls []Scalar) Scalar { return scalarOf(a.root, calls) }

func scalarOf(n *node, calls []Scalar) Scalar {
	switch n.op {
	case opAggregate:
		return calls[n.column]
	case opLiteral:
		return Scalar{Exact: new(big.Rat).SetFrac(n.value.num.unscaled, powerOf10(n.value.num.scale))}
	case opNegate:
		x := scalarOf(n.args[0], calls)
		if x.Exact != nil {
			x.Exact = new(big.Rat).Neg(x.Exact)
		}
		x.Float = -x.Float
		return x
	}
	x, y := scalarOf(n.args[0], calls), scalarOf(n.args[1], calls)
	switch {
	case x.Null || y.Null:
		return Scalar{Null: true}
	case x.Exact != nil && y.Exact != nil:
		return exactly(n.sign, x.Exact, y.Exact)
	}
	return Scalar{Float: inFloats(n.sign, x.float(), y.float())}
}

// float is the nearest double of a number.
func (s Scalar) float() float64 {
	if s.Exact == nil {
		return s.Float
	}
	f, _ := s.Exact.Float64()
	return f
}

func exactly(sign string, x, y *big.Rat) Scalar {
	out := new(big.Rat)
	switch sign {
	case "+":
		out.Add(x, y)
	case "-":
		out.Sub(x, y)
	case "*":
		out.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return Scalar{Null: true}
		}
		out.Quo(x, y)
	}
	return Scalar{Exact: out}
}

func inFloats(sign string, x, y float64) float64 {
	switch sign {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	return x / y
}

// aggregate reads count(*), or a function with what it is computed of.
func (p *parser) aggregate(t token) (*node, error) {
	n := &node{op: opAggregate, sign: strings.ToLower(t.value), column: len(p.calls)}
	if p.inside {
		return nil, mistake(t.start, t.end, "%s stands inside of another aggregate", n.sign)
	}
	p.at += 2 // the name and "("
	following := p.peek()
	switch {
	case n.sign == "count" && p.take("*"):
	case following.is("distinct"):
		return nil, mistake(following.start, following.end, "distinct values are counted by the assertion count_distinct")
	default:
		p.inside = true
		arg, err := p.or()
		p.inside = false
		if err != nil {
			return nil, err
		}
		n.args = []*node{arg}
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	p.calls = append(p.calls, n)
	return p.made(n, t.start), nil
}
