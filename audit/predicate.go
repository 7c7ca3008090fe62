package audit

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"unicode/utf8"

	"github.com/wap-cli/wap/audit/scan"
)

// predicate marks which of the first n values violate: bad[i] for value i.
type predicate func(v *scan.Values, n int, bad []bool)

// limits are the bounds of accepted_range.
type limits struct {
	lo, hi                   *literal
	exclusiveLo, exclusiveHi bool
}

// inRange compiles accepted_range for a column.
func inRange(c *scan.Column, l limits) (predicate, error) {
	switch cl := classOf(c); cl {
	case signed, unsigned, wide:
		return exactRange(c, cl, l)
	case floating:
		return floatRange(c, l)
	case texts:
		return bytesRange(c, l)
	case nothing:
		return func(*scan.Values, int, []bool) {}, nil
	}
	return nil, fmt.Errorf("column %s is %s, which has no order", c.Dotted, c.Type)
}

// exactBounds turns the limits into inclusive ones in stored units.
func exactBounds(c *scan.Column, l limits) (lo, hi *big.Int, err error) {
	one := big.NewInt(1)
	if l.lo != nil {
		n, err := exactLiteral(c, *l.lo)
		if err != nil {
			return nil, nil, err
		}
		floor, ceil := n.at(scaleOf(c))
		if lo = ceil; l.exclusiveLo {
			lo = new(big.Int).Add(floor, one)
		}
	}
	if l.hi != nil {
		n, err := exactLiteral(c, *l.hi)
		if err != nil {
			return nil, nil, err
		}
		floor, ceil := n.at(scaleOf(c))
		if hi = floor; l.exclusiveHi {
			hi = new(big.Int).Sub(ceil, one)
		}
	}
	return lo, hi, nil
}

func exactRange(c *scan.Column, cl class, l limits) (predicate, error) {
	lo, hi, err := exactBounds(c, l)
	if err != nil {
		return nil, err
	}
	first, last := new(big.Int).SetInt64(math.MinInt64), new(big.Int).SetInt64(math.MaxInt64)
	if cl == unsigned {
		first, last = new(big.Int), new(big.Int).SetUint64(math.MaxUint64)
	}
	if cl == wide {
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				x := wideAt(c, v, i)
				bad[i] = lo != nil && x.Cmp(lo) < 0 || hi != nil && x.Cmp(hi) > 0
			}
		}, nil
	}
	if lo == nil || lo.Cmp(first) < 0 {
		lo = first
	}
	if hi == nil || hi.Cmp(last) > 0 {
		hi = last
	}
	if lo.Cmp(hi) > 0 {
		return func(_ *scan.Values, n int, bad []bool) {
			for i := range n {
				bad[i] = true
			}
		}, nil
	}
	if cl == unsigned {
		a, b := lo.Uint64(), hi.Uint64()
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				x := c.Uint64At(v, i)
				bad[i] = x < a || x > b
			}
		}, nil
	}
	return signedRange(lo.Int64(), hi.Int64()), nil
}

func signedRange(lo, hi int64) predicate {
	return func(v *scan.Values, n int, bad []bool) {
		if v.Int64s != nil {
			for i, x := range v.Int64s[:n] {
				bad[i] = x < lo || x > hi
			}
			return
		}
		for i, x := range v.Int32s[:n] {
			bad[i] = int64(x) < lo || int64(x) > hi
		}
	}
}

// floatRange compares as IEEE does: NaN lies in no range.
func floatRange(c *scan.Column, l limits) (predicate, error) {
	lo, hi := math.Inf(-1), math.Inf(1)
	var err error
	if l.lo != nil {
		if lo, err = floatLiteral(c, *l.lo); err != nil {
			return nil, err
		}
	}
	if l.hi != nil {
		if hi, err = floatLiteral(c, *l.hi); err != nil {
			return nil, err
		}
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			x := c.FloatAt(v, i)
			ok := x >= lo && x <= hi
			if l.exclusiveLo && x == lo || l.exclusiveHi && x == hi {
				ok = false
			}
			bad[i] = !ok
		}
	}, nil
}

func bytesRange(c *scan.Column, l limits) (predicate, error) {
	var lo, hi []byte
	var err error
	if l.lo != nil {
		if lo, err = bytesLiteral(c, *l.lo); err != nil {
			return nil, err
		}
	}
	if l.hi != nil {
		if hi, err = bytesLiteral(c, *l.hi); err != nil {
			return nil, err
		}
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			x := v.Bytes.At(i)
			below, above := 1, -1
			if l.lo != nil {
				below = bytes.Compare(x, lo)
			}
			if l.hi != nil {
				above = bytes.Compare(x, hi)
			}
			bad[i] = below < 0 || above > 0 || below == 0 && l.exclusiveLo || above == 0 && l.exclusiveHi
		}
	}, nil
}

// oneOf compiles a set of values; the predicate marks the values outside it.
func oneOf(c *scan.Column, set []literal) (predicate, error) {
	switch cl := classOf(c); cl {
	case boolean:
		var allowed [2]bool
		for _, lit := range set {
			if lit.kind != litBool {
				return nil, mismatch(c, lit, "")
			}
			if lit.yes {
				allowed[1] = true
			} else {
				allowed[0] = true
			}
		}
		return func(v *scan.Values, n int, bad []bool) {
			for i, x := range v.Bools[:n] {
				bad[i] = x && !allowed[1] || !x && !allowed[0]
			}
		}, nil
	case signed, unsigned, wide:
		return exactSet(c, cl, set)
	case floating:
		return floatSet(c, set)
	case texts:
		allowed := map[string]struct{}{}
		for _, lit := range set {
			b, err := bytesLiteral(c, lit)
			if err != nil {
				return nil, err
			}
			allowed[string(b)] = struct{}{}
		}
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				_, ok := allowed[string(v.Bytes.At(i))]
				bad[i] = !ok
			}
		}, nil
	case nothing:
		return func(*scan.Values, int, []bool) {}, nil
	}
	return nil, fmt.Errorf("column %s is %s, whose values cannot be written", c.Dotted, c.Type)
}

func exactSet(c *scan.Column, cl class, set []literal) (predicate, error) {
	narrow, large := map[int64]struct{}{}, map[string]struct{}{}
	for _, lit := range set {
		n, err := exactLiteral(c, lit)
		if err != nil {
			return nil, err
		}
		floor, ceil := n.at(scaleOf(c))
		switch {
		case floor.Cmp(ceil) != 0: // more digits than the column has: equals none of its values
		case floor.IsInt64():
			narrow[floor.Int64()] = struct{}{}
		default:
			large[floor.String()] = struct{}{}
		}
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			if cl == signed {
				_, ok := narrow[c.Int64At(v, i)]
				bad[i] = !ok
				continue
			}
			x, ok := exactAt(c, v, i), false
			if x.IsInt64() {
				_, ok = narrow[x.Int64()]
			} else {
				_, ok = large[x.String()]
			}
			bad[i] = !ok
		}
	}, nil
}

// floatSet: NaN is in the set only when it is listed.
func floatSet(c *scan.Column, set []literal) (predicate, error) {
	allowed, nan := map[float64]struct{}{}, false
	for _, lit := range set {
		f, err := floatLiteral(c, lit)
		if err != nil {
			return nil, err
		}
		if f != f {
			nan = true
			continue
		}
		allowed[f] = struct{}{}
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			x := c.FloatAt(v, i)
			_, ok := allowed[x]
			bad[i] = !ok && (x == x || !nan)
		}
	}, nil
}

// not turns a predicate around.
func not(p predicate) predicate {
	return func(v *scan.Values, n int, bad []bool) {
		p(v, n, bad)
		for i := range n {
			bad[i] = !bad[i]
		}
	}
}

// either marks what any of both marks.
func either(p, q predicate) predicate {
	return func(v *scan.Values, n int, bad []bool) {
		p(v, n, bad)
		more := make([]bool, n)
		q(v, n, more)
		for i := range n {
			bad[i] = bad[i] || more[i]
		}
	}
}

// matching compiles a regular expression over the whole value, or, partial,
// over any part of it.
func matching(c *scan.Column, text string, partial string) (predicate, error) {
	if err := wantText(c); err != nil {
		return nil, err
	}
	if partial != "partial" {
		text = wholeValue(text)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			bad[i] = !re.Match(v.Bytes.At(i))
		}
	}, nil
}

// wholeValue makes a pattern match nothing less than a value.
func wholeValue(pattern string) string { return `\A(?:` + pattern + `)\z` }

func wantText(c *scan.Column) error {
	switch c.Type.Kind {
	case scan.String, scan.Enum, scan.JSON:
		return nil
	}
	return fmt.Errorf("column %s is %s, not a string", c.Dotted, c.Type)
}

// lengthBetween counts code points, or bytes.
func lengthBetween(c *scan.Column, unit string, lo, hi int64) (predicate, error) {
	if unit != "bytes" {
		if err := wantText(c); err != nil {
			return nil, fmt.Errorf("%w: `unit: bytes` counts those", err)
		}
	} else if classOf(c) != texts {
		return nil, fmt.Errorf("column %s is %s, not bytes", c.Dotted, c.Type)
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			b := v.Bytes.At(i)
			length := int64(len(b))
			if unit != "bytes" {
				length = int64(utf8.RuneCount(b))
			}
			bad[i] = length < lo || length > hi
		}
	}, nil
}

// isFinite marks NaN and both infinities.
func isFinite(c *scan.Column) (predicate, error) {
	switch classOf(c) {
	case signed, unsigned, wide, nothing:
		return func(*scan.Values, int, []bool) {}, nil
	case floating:
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				f := c.FloatAt(v, i)
				bad[i] = f != f || math.IsInf(f, 0)
			}
		}, nil
	}
	return nil, fmt.Errorf("column %s is %s, not a number", c.Dotted, c.Type)
}

// isNaN marks NaN, and nothing of a column that cannot hold it.
func isNaN(c *scan.Column) predicate {
	if classOf(c) != floating {
		return func(*scan.Values, int, []bool) {}
	}
	return func(v *scan.Values, n int, bad []bool) {
		for i := range n {
			f := c.FloatAt(v, i)
			bad[i] = f != f
		}
	}
}
