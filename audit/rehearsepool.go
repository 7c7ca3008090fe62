package audit

import (
	"math"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// poolOf are values of a type that tell apart what conditions with some literals
// can tell apart: the ends of the type, each literal, and its neighbours.
func poolOf(c *madeColumn, literals []literal, patterns []string) []madeValue {
	var list []madeValue
	switch leaf := c.leafOf(); classOf(leaf) {
	case boolean:
		list = []madeValue{true, false}
	case signed, unsigned, wide:
		list = exactPool(leaf, literals)
	case floating:
		list = floatPool(leaf, literals)
	default:
		list = textPool(leaf, literals, patterns)
	}
	if !c.required {
		list = append(list, nil)
	}
	return list
}

// typeEnds are the least and the greatest stored number of an exact type.
func typeEnds(t scan.Type) (low, high *big.Int) {
	bits := map[scan.Kind]uint{scan.Int8: 7, scan.Int16: 15, scan.Int32: 31, scan.Int64: 63, scan.Date: 31,
		scan.Uint8: 8, scan.Uint16: 16, scan.Uint32: 32, scan.Uint64: 64, scan.Timestamp: 63}
	one := big.NewInt(1)
	switch t.Kind {
	case scan.Decimal:
		high = new(big.Int).Sub(pow10(t.Precision), one)
		return new(big.Int).Neg(high), high
	case scan.Time:
		return new(big.Int), big.NewInt(86400*t.Unit.PerSecond() - 1)
	case scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64:
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits[t.Kind]), one)
	}
	high = new(big.Int).Lsh(one, bits[t.Kind])
	return new(big.Int).Neg(high), high.Sub(high, one)
}

func exactPool(leaf *scan.Column, literals []literal) []madeValue {
	low, high := typeEnds(leaf.Type)
	numbers := []*big.Int{low, high, big.NewInt(0), big.NewInt(1), big.NewInt(-1), big.NewInt(7), big.NewInt(400)}
	if onCalendar(leaf) {
		day := unitsPerDay(leaf)
		numbers = append(numbers, big.NewInt(20000*day), big.NewInt(20001*day), big.NewInt(20400*day))
	}
	for _, lit := range literals {
		n, err := exactLiteral(leaf, lit)
		if err != nil {
			continue // of another column
		}
		floor, ceil := n.at(scaleOf(leaf))
		one := big.NewInt(1)
		numbers = append(numbers, floor, ceil, new(big.Int).Sub(floor, one), new(big.Int).Add(ceil, one))
	}
	numbers = slices.DeleteFunc(numbers, func(n *big.Int) bool { return n.Cmp(low) < 0 || n.Cmp(high) > 0 })
	slices.SortFunc(numbers, (*big.Int).Cmp)
	numbers = slices.CompactFunc(numbers, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
	return asValues(numbers)
}

func asValues[T any](list []T) []madeValue {
	out := make([]madeValue, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

func floatPool(leaf *scan.Column, literals []literal) []madeValue {
	end, next := math.MaxFloat64, math.Nextafter
	if leaf.Type.Kind == scan.Float {
		end = math.MaxFloat32
		next = func(x, y float64) float64 { return float64(math.Nextafter32(float32(x), float32(y))) }
	}
	floats := []float64{-end, end, 0, 1, -1, 0.5, 7, 400, math.Inf(1), math.Inf(-1)}
	for _, lit := range literals {
		f, err := floatLiteral(leaf, lit)
		if err != nil || f != f {
			continue
		}
		floats = append(floats, f, next(f, math.Inf(1)), next(f, math.Inf(-1)))
	}
	slices.Sort(floats)
	return append(asValues(slices.Compact(floats)), math.NaN())
}

// kindsOfText are texts as different as texts are.
func kindsOfText() []string {
	return []string{"", " ", "a", "Z", "wap", "0", "-1", "12.5", "~", "\n", "a\nb", "\x00", "Ünïcödé", "日本", "\U0010FFFF",
		"a@b.example", "2025-03-05", "2025-03-05T00:00:00Z", "00000000-0000-4000-8000-000000000000", "10.0.0.1", "::1",
		"{}", "null", strings.Repeat("x", 300)}
}

func textPool(leaf *scan.Column, literals []literal, patterns []string) []madeValue {
	var texts []string
	switch leaf.Type.Kind {
	case scan.UUID, scan.FixedBinary:
		width := widthOf(leaf.Type)
		texts = []string{strings.Repeat("\x00", width), strings.Repeat("\xff", width), strings.Repeat("a", width)}
	default:
		texts = kindsOfText()
	}
	for _, lit := range literals {
		b, err := bytesLiteral(leaf, lit)
		switch {
		case err != nil:
		case leaf.Type.Kind == scan.UUID || leaf.Type.Kind == scan.FixedBinary:
			texts = append(texts, string(b))
		default:
			texts = append(texts, string(b), string(b)+"\x00", strings.ToUpper(string(b)), strings.ToLower(string(b)))
		}
		// A number may be one of a length.
		if n := lit.plain(); n.kind == litNumber && n.num.scale == 0 && n.num.unscaled.IsInt64() {
			for _, length := range []int64{n.num.unscaled.Int64() - 1, n.num.unscaled.Int64(), n.num.unscaled.Int64() + 1} {
				if length >= 0 && length <= 1<<14 && leaf.Type.Kind != scan.UUID && leaf.Type.Kind != scan.FixedBinary {
					texts = append(texts, strings.Repeat("x", int(length)))
				}
			}
		}
	}
	for _, p := range patterns {
		if re, err := syntax.Parse(p, syntax.Perl); err == nil && len(texts) < 200 {
			texts = append(texts, exampleOf(re))
		}
	}
	if leaf.Type.Kind == scan.FixedBinary {
		texts = slices.DeleteFunc(texts, func(s string) bool { return len(s) != leaf.Type.Width })
	}
	slices.Sort(texts)
	return asValues(slices.Compact(texts))
}

// exampleOf is a text that a pattern matches, unless its assertions stand in the
// way.
func exampleOf(re *syntax.Regexp) string {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return exampleOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			b.WriteString(exampleOf(sub))
		}
	case syntax.OpRepeat:
		b.WriteString(strings.Repeat(exampleOf(re.Sub[0]), re.Min))
	}
	return b.String()
}
