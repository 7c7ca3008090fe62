package expr

import (
	"bytes"
	"math"
	"math/big"
)

// ordering tells whether an order, −1, 0 or +1, satisfies an operator. NaN has
// no order and satisfies <> alone.
const unordered = 2

func satisfies(sign string, order int) bool {
	switch sign {
	case "=":
		return order == 0
	case "<>":
		return order != 0
	case "<":
		return order == -1
	case "<=":
		return order == -1 || order == 0
	case ">":
		return order == 1
	}
	return order == 1 || order == 0
}

func flipped(sign string) string {
	switch sign {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return sign
}

func (e *Evaluator) compare(n *node, s *scope) *Vec {
	left, right, sign := n.args[0], n.args[1], n.sign
	if left.typ.Kind == Null || right.typ.Kind == Null {
		return allNull(n, s)
	}
	if left.op == opLiteral {
		left, right, sign = right, left, flipped(sign)
	}
	a := e.eval(left, s)
	if right.op == opLiteral && left.typ.Kind.exact() && right.typ.Kind.exact() && a.Bigs == nil {
		out := s.out(n)
		compareInts(out.makeBits(), a.Ints[:s.rows], sign, right.value.num, left.typ.Scale)
		out.follow(a)
		return out
	}
	if right.op == opLiteral && left.typ.Kind == Float && right.typ.Kind == Float {
		out := s.out(n)
		compareFloats(out.makeBits(), a.Floats[:s.rows], sign, right.value.float)
		out.follow(a)
		return out
	}
	b := e.eval(right, s)
	out := s.out(n)
	bits := out.makeBits()
	out.follow(a, b)
	order := orderOf(a, b, left.typ, right.typ)
	for i := range bits {
		if out.mark(i) == present {
			bits[i] = bit(satisfies(sign, order(i)))
		} else {
			bits[i] = 0
		}
	}
	return out
}

// compareInts compares with a literal, which need not be a value of the scale.
func compareInts(bits []uint8, x []int64, sign string, d decimal, scale int) {
	floor, ceil := d.at(scale)
	limit := floor
	if sign == "<" || sign == ">=" {
		limit = ceil
	}
	switch {
	case (sign == "=" || sign == "<>") && floor.Cmp(ceil) != 0:
		fill(bits, bit(sign == "<>"))
		return
	case !limit.IsInt64():
		fill(bits, bit(satisfies(sign, -limit.Sign())))
		return
	}
	k := limit.Int64()
	switch sign {
	case "=":
		for i, v := range x {
			bits[i] = bit(v == k)
		}
	case "<>":
		for i, v := range x {
			bits[i] = bit(v != k)
		}
	case "<":
		for i, v := range x {
			bits[i] = bit(v < k)
		}
	case "<=":
		for i, v := range x {
			bits[i] = bit(v <= k)
		}
	case ">":
		for i, v := range x {
			bits[i] = bit(v > k)
		}
	case ">=":
		for i, v := range x {
			bits[i] = bit(v >= k)
		}
	}
}

func compareFloats(bits []uint8, x []float64, sign string, k float64) {
	switch sign {
	case "=":
		for i, v := range x {
			bits[i] = bit(v == k)
		}
	case "<>":
		for i, v := range x {
			bits[i] = bit(v != k)
		}
	case "<":
		for i, v := range x {
			bits[i] = bit(v < k)
		}
	case "<=":
		for i, v := range x {
			bits[i] = bit(v <= k)
		}
	case ">":
		for i, v := range x {
			bits[i] = bit(v > k)
		}
	case ">=":
		for i, v := range x {
			bits[i] = bit(v >= k)
		}
	}
}

// orderOf compares the values of a row.
func orderOf(a, b *Vec, x, y Type) func(i int) int {
	switch {
	case x.Kind == Bool:
		return func(i int) int { return int(a.Bits[i]) - int(b.Bits[i]) }
	case x.Kind.bytes():
		return func(i int) int { return bytes.Compare(a.Texts[i], b.Texts[i]) }
	case x.Kind == Float && y.Kind == Float:
		return func(i int) int { return floatOrder(a.Floats[i], b.Floats[i]) }
	case x.Kind == Float:
		return func(i int) int { return reversed(mixed(b, i, y.Scale, a.Floats[i])) }
	case y.Kind == Float:
		return func(i int) int { return mixed(a, i, x.Scale, b.Floats[i]) }
	case x.Scale == y.Scale && a.Bigs == nil && b.Bigs == nil:
		return func(i int) int {
			switch p, q := a.Ints[i], b.Ints[i]; {
			case p < q:
				return -1
			case p > q:
				return 1
			}
			return 0
		}
	}
	if order := smallOrder(a, b, y.Scale-x.Scale); order != nil {
		return order
	}
	return func(i int) int { return decimal{a.big(i), x.Scale}.cmp(decimal{b.big(i), y.Scale}) }
}

func reversed(order int) int {
	if order == unordered {
		return order
	}
	return -order
}

func floatOrder(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return unordered
}

// mixedOrder compares an exact number with a float by their values.
func mixedOrder(d decimal, f float64) int {
	switch {
	case f != f:
		return unordered
	case math.IsInf(f, 0):
		return -int(math.Copysign(1, f))
	}
	exact := new(big.Rat).SetFrac(d.unscaled, powerOf10(d.scale))
	return exact.Cmp(new(big.Rat).SetFloat64(f))
}
