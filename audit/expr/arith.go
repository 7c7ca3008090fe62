package expr

import (
	"math"
	"math/big"
	"math/bits"
)

func (e *Evaluator) arith(n *node, s *scope) *Vec {
	left, right := n.args[0].typ, n.args[1].typ
	if left.Kind == Null || right.Kind == Null {
		return allNull(n, s)
	}
	a, b := e.eval(n.args[0], s), e.eval(n.args[1], s)
	if n.typ.Kind == Float {
		if left.Kind == Number && right.Kind == Number {
			return quotients(n, s, a, b)
		}
		return floats(n, s, converted(a, s.rows, left, n.typ), converted(b, s.rows, right, n.typ))
	}
	scale := n.typ.Scale
	if n.sign != "*" {
		a = converted(a, s.rows, left, Type{Kind: Number, Scale: scale})
		b = converted(b, s.rows, right, Type{Kind: Number, Scale: scale})
	}
	out := s.out(n)
	out.follow(a, b)
	if a.Bigs == nil && b.Bigs == nil && out.intArith(n.sign, a.Ints, b.Ints) {
		return out
	}
	out.bigArith(n.sign, a, b)
	return out
}

// intArith computes in 64 bits; false when a value overflows, then nothing of it
// counts.
func (v *Vec) intArith(sign string, a, b []int64) bool {
	out := v.makeInts()
	for i := range out {
		if v.mark(i) != present {
			out[i] = 0
			continue
		}
		x, y := a[i], b[i]
		switch sign {
		case "+":
			z := x + y
			if (x^z)&(y^z) < 0 {
				return false
			}
			out[i] = z
		case "-":
			z := x - y
			if (x^y)&(x^z) < 0 {
				return false
			}
			out[i] = z
		case "*":
			hi, lo := bits.Mul64(magnitude(x), magnitude(y))
			if hi != 0 || lo > math.MaxInt64 {
				return false
			}
			out[i] = x * y
		case "%":
			if y == 0 {
				v.setMark(i, null)
				continue
			}
			out[i] = x % y
		}
	}
	return true
}

// magnitude is |x|, of the least number too.
func magnitude(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}

func (v *Vec) bigArith(sign string, a, b *Vec) {
	out := v.makeBigs()
	for i := range out {
		if v.mark(i) != present {
			continue
		}
		x, y, z := a.big(i), b.big(i), new(big.Int)
		switch sign {
		case "+":
			out[i] = z.Add(x, y)
		case "-":
			out[i] = z.Sub(x, y)
		case "*":
			out[i] = z.Mul(x, y)
		case "%":
			if y.Sign() == 0 {
				v.setMark(i, null)
				continue
			}
			out[i] = z.Rem(x, y)
		}
	}
}

// quotients divides exact numbers: the double nearest to the quotient, NULL where
// the divisor is 0.
func quotients(n *node, s *scope, a, b *Vec) *Vec {
	out := s.out(n)
	fs := out.makeFloats()
	out.follow(a, b)
	up, down := powerOf10(n.args[1].typ.Scale), powerOf10(n.args[0].typ.Scale)
	for i := range fs {
		if fs[i] = 0; out.mark(i) != present {
			continue
		}
		if a.Bigs == nil && b.Bigs == nil && b.Ints[i] != 0 {
			if q, ok := smallQuotient(a.Ints[i], b.Ints[i], n.args[1].typ.Scale-n.args[0].typ.Scale); ok {
				fs[i] = q
				continue
			}
		}
		x, y := a.big(i), b.big(i)
		if y.Sign() == 0 {
			out.setMark(i, null)
			continue
		}
		num, den := new(big.Int).Mul(x, up), new(big.Int).Mul(y, down)
		fs[i], _ = new(big.Rat).SetFrac(num, den).Float64()
	}
	return out
}

func floats(n *node, s *scope, a, b *Vec) *Vec {
	out := s.out(n)
	fs := out.makeFloats()
	x, y := a.Floats[:s.rows], b.Floats[:s.rows]
	for i := range fs {
		switch n.sign {
		case "+":
			fs[i] = x[i] + y[i]
		case "-":
			fs[i] = x[i] - y[i]
		case "*":
			fs[i] = x[i] * y[i]
		case "/":
			fs[i] = x[i] / y[i]
		case "%":
			fs[i] = math.Mod(x[i], y[i])
		}
	}
	out.follow(a, b)
	return out
}

func (e *Evaluator) negate(n *node, s *scope) *Vec {
	if n.typ.Kind == Null {
		return allNull(n, s)
	}
	return mapNumbers(n, s, e.eval(n.args[0], s), negation())
}

// mapNumbers applies a function to numbers, exact ones as big integers of their
// scale where 64 bits do not hold the result.
func mapNumbers(n *node, s *scope, a *Vec, of numbers) *Vec {
	out := s.out(n)
	out.follow(a)
	if n.typ.Kind == Float {
		fs := out.makeFloats()
		for i, f := range a.Floats[:s.rows] {
			fs[i] = of.float(f)
		}
		return out
	}
	if a.Bigs == nil && out.smallNumbers(a.Ints, of.small) {
		return out
	}
	bigs := out.makeBigs()
	for i := range bigs {
		if out.mark(i) == present {
			bigs[i] = of.exact(a.big(i))
		}
	}
	out.narrow()
	return out
}

// narrow holds big numbers in 64 bits where all fit.
func (v *Vec) narrow() {
	for i, x := range v.Bigs {
		if v.mark(i) == present && !x.IsInt64() {
			return
		}
	}
	ints := v.makeInts()
	for i, x := range v.Bigs {
		if ints[i] = 0; v.mark(i) == present {
			ints[i] = x.Int64()
		}
	}
	v.Bigs = nil
}

// converted holds the first n values in another type, without loss except for an
// exact number that becomes the nearest float.
func converted(v *Vec, n int, from, to Type) *Vec {
	switch {
	case to.Kind == Float && from.Kind == Number:
		out := &Vec{N: n, Marks: v.Marks}
		for i := range out.makeFloats() {
			if v.mark(i) == present {
				out.Floats[i] = nearest(v, i, from.Scale)
			}
		}
		return out
	case !to.Kind.exact() || from.Scale == to.Scale:
		return v
	}
	out := &Vec{N: n, Marks: v.Marks}
	if v.Bigs == nil && out.rescale(v.Ints, to.Scale-from.Scale) {
		return out
	}
	by := powerOf10(to.Scale - from.Scale)
	for i := range out.makeBigs() {
		if v.mark(i) == present {
			out.Bigs[i] = new(big.Int).Mul(v.big(i), by)
		}
	}
	return out
}

// rescale multiplies by a power of ten; false when a value overflows.
func (v *Vec) rescale(x []int64, digits int) bool {
	if digits > 18 {
		return false
	}
	by := powerOf10(digits).Int64()
	limit := math.MaxInt64 / by
	for i := range v.makeInts() {
		if x[i] > limit || x[i] < -limit {
			return false
		}
		v.Ints[i] = x[i] * by
	}
	return true
}

// nearest is value i as a double.
func nearest(v *Vec, i, scale int) float64 {
	if v.Bigs == nil && scale == 0 {
		return float64(v.Ints[i])
	}
	// Both are exact doubles, so that their quotient is rounded once.
	if v.Bigs == nil && magnitude(v.Ints[i]) <= 1<<53 && scale <= 22 {
		return float64(v.Ints[i]) / math.Pow10(scale)
	}
	return decimal{v.big(i), scale}.float(64)
}
