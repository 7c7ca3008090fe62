package expr

import (
	"math"
	"math/big"
	"math/bits"
)

// Most exact numbers fit 64 bits. What is here does without big integers where
// the result is the same to the last digit.

const (
	maxPower   = 18      // 10^18 is the last that int64 holds
	maxDouble  = 1 << 53 // integers up to here are doubles
	exactPower = 22      // 10^22 is the last that a double holds
)

// power is 10^n as an int64; n is at most maxPower.
func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// smallOrder compares values of two scales; nil where 64 bits do not do.
func smallOrder(a, b *Vec, digits int) func(i int) int {
	switch {
	case a.Bigs != nil || b.Bigs != nil || digits < -maxPower || digits > maxPower:
		return nil
	case digits < 0:
		order := smallOrder(b, a, -digits)
		return func(i int) int { return -order(i) }
	}
	by := uint64(power(digits))
	return func(i int) int { return scaledOrder(a.Ints[i], by, b.Ints[i]) }
}

// scaledOrder compares x times a positive number with y.
func scaledOrder(x int64, by uint64, y int64) int {
	switch {
	case x < 0 && y >= 0:
		return -1
	case x >= 0 && y < 0:
		return 1
	}
	order := 1
	hi, lo := bits.Mul64(magnitude(x), by)
	if m := magnitude(y); hi == 0 && lo <= m {
		order = 0
		if lo < m {
			order = -1
		}
	}
	if x < 0 {
		return -order
	}
	return order
}

// mixed compares value i, of a scale, with a float.
func mixed(v *Vec, i, scale int, f float64) int {
	if v.Bigs != nil || scale > exactPower || magnitude(v.Ints[i]) > maxDouble || f != f || math.IsInf(f, 0) {
		return mixedOrder(decimal{v.big(i), scale}, f)
	}
	// All three are doubles, and the sum is rounded once: its sign is exact.
	return floatOrder(0, math.FMA(f, math.Pow10(scale), -float64(v.Ints[i])))
}

// smallQuotient is the double nearest to x over y, of scales that are this far
// apart; y is not 0.
func smallQuotient(x, y int64, digits int) (q float64, ok bool) {
	if digits > maxPower || digits < -maxPower {
		return 0, false
	}
	xs, ys := power(max(digits, 0)), power(max(-digits, 0))
	hi, m := bits.Mul64(magnitude(x), uint64(xs))
	hi2, n := bits.Mul64(magnitude(y), uint64(ys))
	if hi != 0 || hi2 != 0 || m > maxDouble || n > maxDouble {
		return 0, false
	}
	q = float64(m) / float64(n)
	if m != 0 && (x < 0) != (y < 0) {
		q = -q
	}
	return q, true
}

// numbers is a function of numbers in three forms: of floats, of exact numbers
// that fit 64 bits, false where the result does not, and of all exact ones.
type numbers struct {
	float func(float64) float64
	small func(int64) (int64, bool)
	exact func(*big.Int) *big.Int
}

func negation() numbers {
	return numbers{
		func(f float64) float64 { return -f },
		func(x int64) (int64, bool) { return -x, x != math.MinInt64 },
		func(x *big.Int) *big.Int { return new(big.Int).Neg(x) },
	}
}

func absolute() numbers {
	return numbers{
		math.Abs,
		func(x int64) (int64, bool) { return int64(magnitude(x)), x != math.MinInt64 },
		func(x *big.Int) *big.Int { return new(big.Int).Abs(x) },
	}
}

// rounding goes from one scale to a smaller one.
func rounding(digits, from, to int) numbers {
	var per int64
	if from-to <= maxPower {
		per = power(from - to)
	}
	return numbers{
		func(f float64) float64 { return roundFloat(f, digits) },
		func(x int64) (int64, bool) {
			if per == 0 {
				return 0, false
			}
			q, r := x/per, x%per
			if magnitude(r) >= uint64(per)-magnitude(r) {
				if q++; x < 0 {
					q -= 2
				}
			}
			return q, true
		},
		func(x *big.Int) *big.Int { return decimal{x, from}.rounded(to) },
	}
}

// smallNumbers applies a function to numbers that fit 64 bits; false where a
// result does not, then nothing of it counts.
func (v *Vec) smallNumbers(x []int64, f func(int64) (int64, bool)) bool {
	out := v.makeInts()
	for i := range out {
		if out[i] = 0; v.mark(i) != present {
			continue
		}
		n, ok := f(x[i])
		if !ok {
			return false
		}
		out[i] = n
	}
	return true
}

// floorDiv rounds down.
func floorDiv(x, by int64) int64 {
	q := x / by
	if x%by < 0 {
		q--
	}
	return q
}
