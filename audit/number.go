package audit

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// number is an exact decimal: unscaled × 10^-scale, scale ≥ 0.
type number struct {
	unscaled *big.Int
	scale    int
}

// maxDigits bounds what a written number may expand to: decimal256 has 76
// digits, float64 reaches 10^308 and, written in full, 10^-324.
const maxDigits = 400

// coreNumber is the number syntax of YAML's core schema, signs and exponents
// included; hexadecimal and octal have their own.
var coreNumber = regexp.MustCompile(`\A[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\z`)

// parseNumber reads a number from its source text, exactly.
func parseNumber(text string) (number, error) {
	if !coreNumber.MatchString(text) {
		return number{}, fmt.Errorf("%q is not a number", text)
	}
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxDigits || e < -maxDigits {
			return number{}, fmt.Errorf("number %q is out of range", text)
		}
		mantissa, exponent = text[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(fraction) > maxDigits {
		return number{}, fmt.Errorf("number %q has too many digits", text)
	}
	unscaled, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return number{}, fmt.Errorf("%q is not a number", text)
	}
	n := number{unscaled: unscaled, scale: len(fraction) - exponent}
	if n.scale < 0 {
		n.unscaled.Mul(n.unscaled, pow10(-n.scale))
		n.scale = 0
	}
	return n.reduced(), nil
}

func integer(v int64) number { return number{unscaled: big.NewInt(v)} }

// pow10 is 10^n, n ≥ 0.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// reduced drops trailing zeros of the fraction, so that equal values are
// written alike.
func (n number) reduced() number {
	ten, q, r := big.NewInt(10), new(big.Int), new(big.Int)
	u := new(big.Int).Set(n.unscaled)
	for n.scale > 0 {
		if q.QuoRem(u, ten, r); r.Sign() != 0 {
			break
		}
		u.Set(q)
		n.scale--
	}
	n.unscaled = u
	return n
}

// cmp compares by value.
func (n number) cmp(o number) int {
	a, b := n.unscaled, o.unscaled
	switch {
	case n.scale < o.scale:
		a = new(big.Int).Mul(a, pow10(o.scale-n.scale))
	case n.scale > o.scale:
		b = new(big.Int).Mul(b, pow10(n.scale-o.scale))
	}
	return a.Cmp(b)
}

// at returns n in units of 10^-scale, rounded down and up; both are equal when
// the value has no further digits.
func (n number) at(scale int) (floor, ceil *big.Int) {
	if scale >= n.scale {
		v := new(big.Int).Mul(n.unscaled, pow10(scale-n.scale))
		return v, v
	}
	q, m := new(big.Int).DivMod(n.unscaled, pow10(n.scale-scale), new(big.Int))
	if m.Sign() == 0 {
		return q, q
	}
	return q, new(big.Int).Add(q, big.NewInt(1))
}

func (n number) sub(o number) number {
	scale := max(n.scale, o.scale)
	a, _ := n.at(scale)
	b, _ := o.at(scale)
	return number{unscaled: new(big.Int).Sub(a, b), scale: scale}
}

// float64 is the nearest double.
func (n number) float64() float64 {
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil { // out of range: ParseFloat gives ±Inf, which is the nearest
		return f
	}
	return f
}

// float32 is the nearest single, as a double.
func (n number) float32() float64 {
	f, err := strconv.ParseFloat(n.String(), 32)
	if err != nil {
		return f
	}
	return f
}

// String writes the decimal in full.
func (n number) String() string { return decimalText(n.unscaled, n.scale) }

// decimalText writes unscaled × 10^-scale with exactly scale fraction digits.
func decimalText(unscaled *big.Int, scale int) string {
	if scale <= 0 {
		return new(big.Int).Mul(unscaled, pow10(-scale)).String()
	}
	s := new(big.Int).Abs(unscaled).String()
	if len(s) <= scale {
		s = strings.Repeat("0", scale-len(s)+1) + s
	}
	s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	if unscaled.Sign() < 0 {
		s = "-" + s
	}
	return s
}
