package expr

import (
	"time"
)

// checker gives every node its type.
type checker struct {
	columns []Type
	zone    *time.Location
	seen    map[*node]bool // nodes can be shared, between's operand is
}

func (c *checker) check(n *node) error {
	if c.seen[n] {
		return nil
	}
	c.seen[n] = true
	for _, a := range n.args {
		if err := c.check(a); err != nil {
			return err
		}
	}
	switch n.op {
	case opColumn:
		n.typ = c.columns[n.column]
	case opLiteral:
		n.typ = Type{Kind: n.value.kind, Scale: n.value.num.scale}
	case opAnd, opOr, opNot:
		n.typ = Type{Kind: Bool}
		for _, a := range n.args {
			if err := want(a, n.opName(), Bool); err != nil {
				return err
			}
		}
	case opCompare:
		n.typ = Type{Kind: Bool}
		return c.comparable(n, n.args[0], n.args[1])
	case opIn:
		n.typ = Type{Kind: Bool}
		return c.in(n)
	case opLike:
		n.typ = Type{Kind: Bool}
		return want(n.args[0], "like", Text)
	case opIsNull:
		n.typ = Type{Kind: Bool}
	case opArith, opNegate:
		return c.arithmetic(n)
	case opCase:
		return c.caseOf(n)
	case opCast:
		return c.cast(n)
	case opCall:
		return c.call(n)
	}
	return nil
}

func (n *node) opName() string {
	switch n.op {
	case opAnd:
		return "and"
	case opOr:
		return "or"
	case opNot:
		return "not"
	}
	return n.sign
}

// want requires one of some kinds; NULL and what is unknown fit everywhere.
func want(n *node, user string, kinds ...Kind) error {
	if n.typ.Kind == Unknown || n.typ.Kind == Null {
		return nil
	}
	for _, k := range kinds {
		if n.typ.Kind == k {
			return nil
		}
	}
	return mistake(n.start, n.end, "%s takes %s, this is %s", user, kinds[0], n.typ.Kind)
}

// comparable brings two operands to a kind that both can be compared in.
func (c *checker) comparable(n, a, b *node) error {
	if err := c.adapt(a, b.typ); err != nil {
		return err
	}
	if err := c.adapt(b, a.typ); err != nil {
		return err
	}
	x, y := a.typ.Kind, b.typ.Kind
	switch {
	case x == Unknown || y == Unknown || x == Null || y == Null, x == y:
	case x == Number && y == Float, x == Float && y == Number:
	case x.bytes() && y.bytes() && !a.typ.uuid && !b.typ.uuid:
	default:
		return mistake(n.start, n.end, "%s cannot be compared with %s", x, y)
	}
	if x == Bool && y == Bool && n.op == opCompare && n.sign != "=" && n.sign != "<>" {
		return mistake(n.start, n.end, "booleans have no order")
	}
	return nil
}

// adapt reads a literal as a value of another type: a text as a time or a UUID, a
// number as a float, of either width.
func (c *checker) adapt(n *node, to Type) error {
	if n.op != opLiteral {
		return nil
	}
	switch have := n.typ.Kind; {
	case have == Text && to.Kind >= Date:
		d, ok := parseTime(to.Kind, n.value.text)
		if !ok {
			return mistake(n.start, n.end, "'%s' is not %s%s", n.value.text, to.Kind, timeHint(to.Kind))
		}
		n.value.kind, n.value.num = to.Kind, d
		n.typ = Type{Kind: to.Kind, Scale: d.scale}
	case have == Text && to.uuid:
		b, ok := parseUUID(n.value.text)
		if !ok {
			return mistake(n.start, n.end, "'%s' is not a UUID", n.value.text)
		}
		n.value.text, n.typ, n.value.kind = b, to, Binary
	case have == Number && to.Kind == Float:
		bits := 64
		if to.single {
			bits = 32
		}
		n.value.kind, n.value.float, n.typ = Float, n.value.num.float(bits), to
	}
	return nil
}

// in makes a set where all values are literals of the operand's own kind, else a
// chain of equalities.
func (c *checker) in(n *node) error {
	subject := n.args[0]
	plain := subject.typ.Kind.exact() || subject.typ.Kind.bytes() || subject.typ.Kind == Float
	for _, a := range n.args[1:] {
		if err := c.comparable(n, subject, a); err != nil {
			return err
		}
		plain = plain && a.op == opLiteral && a.typ.Kind != Null && a.typ.Kind.exact() == subject.typ.Kind.exact()
	}
	if plain {
		n.set = newSet(subject.typ, n.args[1:])
		n.args = n.args[:1]
		return nil
	}
	var chain *node
	for _, a := range n.args[1:] {
		equal := &node{op: opCompare, sign: "=", args: []*node{subject, a}, start: a.start, end: a.end, typ: n.typ}
		if chain == nil {
			chain = equal
			continue
		}
		chain = &node{op: opOr, args: []*node{chain, equal}, start: n.start, end: n.end, typ: n.typ}
	}
	*n = *chain
	return nil
}

func (c *checker) arithmetic(n *node) error {
	name := "arithmetic"
	for _, a := range n.args {
		if err := want(a, name, Number, Float); err != nil {
			return err
		}
	}
	a := n.args[0].typ
	if n.op == opNegate {
		n.typ = a
		return nil
	}
	b := n.args[1].typ
	switch {
	case n.sign == "/" || a.Kind == Float || b.Kind == Float:
		n.typ = Type{Kind: Float}
		if a.Kind == Unknown || b.Kind == Unknown {
			n.typ.Kind = Unknown
		}
	case a.Kind == Unknown || b.Kind == Unknown:
		n.typ = Type{Kind: Unknown}
	case a.Kind == Null || b.Kind == Null:
		n.typ = Type{Kind: Null}
	case n.sign == "*":
		n.typ = Type{Kind: Number, Scale: a.Scale + b.Scale}
	default:
		n.typ = Type{Kind: Number, Scale: max(a.Scale, b.Scale)}
	}
	if n.typ.Scale > maxDigits {
		return mistake(n.start, n.end, "the product has more than %d digits behind the point", maxDigits)
	}
	return nil
}

// unified is the type that all of some values can be held in.
func (c *checker) unified(n *node, values []*node) (Type, error) {
	t := Type{Kind: Null}
	for _, v := range values {
		switch {
		case v.typ.Kind == Unknown || t.Kind == Unknown:
			t = Type{Kind: Unknown}
		case v.typ.Kind == Null:
		case t.Kind == Null:
			t = v.typ
		case t.Kind == Number && v.typ.Kind == Float, t.Kind == Float && v.typ.Kind == Number:
			t = Type{Kind: Float}
		case t.Kind != v.typ.Kind:
			return t, mistake(v.start, v.end, "%s is %s here and %s there", n.opText(), v.typ.Kind, t.Kind)
		case t.Kind == Float:
			t.single = t.single && v.typ.single
		default:
			t.Scale = max(t.Scale, v.typ.Scale)
		}
	}
	t.bound = nil
	return t, nil
}

func (n *node) opText() string {
	if n.op == opCase {
		return "case"
	}
	return n.sign
}

func (c *checker) caseOf(n *node) (err error) {
	var values []*node
	for i := 0; i+1 < len(n.args); i += 2 {
		if err := want(n.args[i], "when", Bool); err != nil {
			return err
		}
		values = append(values, n.args[i+1])
	}
	values = append(values, n.args[len(n.args)-1])
	n.typ, err = c.unified(n, values)
	return err
}

func (c *checker) cast(n *node) error {
	from := n.args[0].typ.Kind
	ok := from == Unknown || from == Null || from == n.typ.Kind || from == Text
	switch n.typ.Kind {
	case Text:
		ok = ok || from != Binary
	case Number, Float:
		ok = ok || from == Number || from == Float || from == Bool
	case Date:
		ok = ok || from == Timestamp || from == Instant
	}
	if !ok {
		return mistake(n.start, n.end, "%s cannot be cast to %s", from, n.target)
	}
	return nil
}
