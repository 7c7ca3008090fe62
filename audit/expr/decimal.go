package expr

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// decimal is unscaled × 10^-scale, scale ≥ 0.
type decimal struct {
	unscaled *big.Int
	scale    int
}

// maxDigits bounds what a written number expands to.
const maxDigits = 400

func zero() *big.Int              { return new(big.Int) }
func one() *big.Int               { return big.NewInt(1) }
func negated(n *big.Int) *big.Int { return new(big.Int).Neg(n) }

func powerOf10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// parseDecimal reads digits with a fraction and an exponent, signed or not.
func parseDecimal(text string) (decimal, error) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxDigits || e < -maxDigits {
			return decimal{}, fmt.Errorf("the number %s is out of range", text)
		}
		mantissa, exponent = text[:i], e
	}
	sign := strings.TrimLeft(mantissa, "+-")
	whole, fraction, _ := strings.Cut(sign, ".")
	if len(mantissa)-len(sign) > 1 || whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return decimal{}, fmt.Errorf("%q is not a number", text)
	}
	if len(whole)+len(fraction) > maxDigits {
		return decimal{}, fmt.Errorf("the number %.20s… has too many digits", text)
	}
	n, _ := new(big.Int).SetString(whole+fraction, 10)
	if mantissa[0] == '-' {
		n.Neg(n)
	}
	d := decimal{n, len(fraction) - exponent}
	if d.scale < 0 {
		d.unscaled.Mul(d.unscaled, powerOf10(-d.scale))
		d.scale = 0
	}
	return d, nil
}

// at is d in units of 10^-scale, rounded down and up.
func (d decimal) at(scale int) (floor, ceil *big.Int) {
	if scale >= d.scale {
		v := new(big.Int).Mul(d.unscaled, powerOf10(scale-d.scale))
		return v, v
	}
	q, m := new(big.Int).DivMod(d.unscaled, powerOf10(d.scale-scale), new(big.Int))
	if m.Sign() == 0 {
		return q, q
	}
	return q, new(big.Int).Add(q, one())
}

// rounded is d in units of 10^-scale, halves away from zero.
func (d decimal) rounded(scale int) *big.Int {
	if scale >= d.scale {
		floor, _ := d.at(scale)
		return floor
	}
	per := powerOf10(d.scale - scale)
	half := new(big.Int).Rsh(per, 1)
	n := new(big.Int).Abs(d.unscaled)
	n.Quo(n.Add(n, half), per)
	if d.unscaled.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

func (d decimal) cmp(o decimal) int {
	scale := max(d.scale, o.scale)
	a, _ := d.at(scale)
	b, _ := o.at(scale)
	return a.Cmp(b)
}

// float is the nearest double, or single.
func (d decimal) float(bits int) float64 {
	f, err := strconv.ParseFloat(d.String(), bits)
	if err != nil { // out of range: the infinity is the nearest
		return f
	}
	return f
}

func (d decimal) String() string {
	s := new(big.Int).Abs(d.unscaled).String()
	if d.scale > 0 {
		if len(s) <= d.scale {
			s = strings.Repeat("0", d.scale-len(s)+1) + s
		}
		s = s[:len(s)-d.scale] + "." + s[len(s)-d.scale:]
	}
	if d.unscaled.Sign() < 0 {
		s = "-" + s
	}
	return s
}
