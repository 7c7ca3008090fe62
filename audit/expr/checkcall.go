package expr

import (
	"regexp"
	"strings"
)

// functions are all that can be called.
func functions() []string {
	return []string{"length", "lower", "upper", "trim", "substr", "abs", "round", "date", "coalesce", "regexp_like", "cast"}
}

func (c *checker) call(n *node) error {
	least, most := 1, 1
	switch n.sign {
	case "substr":
		least, most = 2, 3
	case "round":
		most = 2
	case "coalesce":
		most = len(n.args)
	case "regexp_like":
		least, most = 2, 2
	case "length", "lower", "upper", "trim", "abs", "date":
	case "count", "sum", "min", "max", "avg":
		return mistake(n.start, n.end, "%s is an aggregate, which stands in a metric alone", n.sign)
	default:
		return mistake(n.start, n.end, "unknown function %q, there are %s", n.sign, strings.Join(functions(), ", "))
	}
	if len(n.args) < least || len(n.args) > max(least, most) {
		return mistake(n.start, n.end, "%s does not take %d arguments", n.sign, len(n.args))
	}
	return c.signature(n)
}

// signature checks the arguments of a known function and sets its type.
func (c *checker) signature(n *node) (err error) {
	first := n.args[0]
	switch n.sign {
	case "length":
		n.typ = Type{Kind: Number}
		return want(first, n.sign, Text, Binary)
	case "lower", "upper", "trim":
		n.typ = Type{Kind: Text}
		return want(first, n.sign, Text)
	case "substr":
		n.typ = Type{Kind: Text}
		for _, a := range n.args[1:] {
			if err := want(a, n.sign+" behind its text", Number); err != nil {
				return err
			}
			if a.typ.Kind == Number && a.typ.Scale > 0 {
				return mistake(a.start, a.end, "substr takes integers behind its text")
			}
		}
		return want(first, n.sign, Text)
	case "abs":
		n.typ = first.typ
		n.typ.bound = nil
		return want(first, n.sign, Number, Float)
	case "round":
		return c.round(n)
	case "date":
		if first.typ.Kind == Text {
			if err := c.adapt(first, Type{Kind: Date}); err != nil {
				return err
			}
		}
		n.typ = Type{Kind: Date}
		return want(first, n.sign, Date, Timestamp, Instant)
	case "coalesce":
		n.typ, err = c.unified(n, n.args)
		return err
	}
	n.typ = Type{Kind: Bool}
	pattern := n.args[1]
	if pattern.op != opLiteral || pattern.value.kind != Text {
		return mistake(pattern.start, pattern.end, "regexp_like takes its pattern as a text in quotes")
	}
	for _, form := range []string{pattern.value.text, `\A(?:` + pattern.value.text + `)\z`} {
		re, err := regexp.Compile(form)
		if err != nil {
			return mistake(pattern.start, pattern.end, "the pattern does not compile: %s",
				strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		n.match = re.Match
	}
	return want(first, n.sign, Text)
}

// round keeps as many digits as its second argument, an integer literal, says.
func (c *checker) round(n *node) error {
	digits := 0
	if len(n.args) > 1 {
		d := n.args[1]
		if d.op != opLiteral || d.value.kind != Number || d.value.num.scale > 0 || d.value.num.unscaled.BitLen() > 6 {
			return mistake(d.start, d.end, "round takes the number of digits as an integer from 0 to 63")
		}
		digits = int(d.value.num.unscaled.Int64())
	}
	n.typ = n.args[0].typ
	n.typ.bound = nil
	if n.typ.Kind == Number {
		n.typ.Scale = min(n.typ.Scale, digits)
	}
	n.column = digits
	return want(n.args[0], n.sign, Number, Float)
}
