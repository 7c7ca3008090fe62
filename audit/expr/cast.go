package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// castTo converts; a row without a value in the new type gets the cast's mark.
func (e *Evaluator) castTo(n *node, s *scope) *Vec {
	from := n.args[0].typ
	if from.Kind == Null {
		return allNull(n, s)
	}
	a := e.eval(n.args[0], s)
	switch n.typ.Kind {
	case Date:
		return e.toDate(n, s, a)
	case from.Kind:
		if n.typ.Kind == Bool || n.typ.Kind == Text {
			return a
		}
	}
	out := s.out(n)
	out.follow(a)
	switch n.typ.Kind {
	case Bool:
		out.makeBits()
	case Float:
		out.makeFloats()
	case Text:
		out.makeTexts()
	default:
		out.makeBigs()
	}
	for i := range s.rows {
		if out.mark(i) == present && !out.put(i, n.typ, a, from) {
			out.setMark(i, n.cast)
		}
	}
	if n.typ.Kind.exact() {
		out.narrow()
	}
	return out
}

// put sets value i from one of another type; false when it has none.
func (v *Vec) put(i int, to Type, a *Vec, from Type) (ok bool) {
	switch {
	case to.Kind == Text:
		var text string
		text, ok = textOf(a, i, from)
		v.Texts[i] = []byte(text)
	case to.Kind == Bool:
		word := strings.ToLower(string(a.Texts[i]))
		v.Bits[i] = bit(word == "true")
		ok = word == "true" || word == "false"
	case to.Kind == Float:
		v.Floats[i], ok = floatOf(a, i, from)
		if to.single {
			v.Floats[i] = float64(float32(v.Floats[i]))
		}
	case to.Kind == Number:
		v.Bigs[i], ok = numberOf(a, i, from, to)
	case from.Kind == Text:
		var d decimal
		if d, ok = parseTime(to.Kind, string(a.Texts[i])); ok {
			v.Bigs[i] = d.rounded(to.Scale)
		}
	default:
		v.Bigs[i], ok = decimal{a.big(i), from.Scale}.rounded(to.Scale), true
	}
	return ok
}

func textOf(a *Vec, i int, t Type) (string, bool) {
	switch t.Kind {
	case Bool:
		return strconv.FormatBool(a.Bits[i] == 1), true
	case Float:
		return floatText(a.Floats[i], t), true
	case Text:
		return string(a.Texts[i]), utf8.Valid(a.Texts[i])
	case Number:
		return decimal{a.big(i), t.Scale}.String(), true
	}
	return timeText(t, decimal{a.big(i), t.Scale})
}

func floatText(f float64, t Type) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 0):
		return map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
	case t.single:
		return strconv.FormatFloat(f, 'g', -1, 32)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func floatOf(a *Vec, i int, t Type) (float64, bool) {
	switch t.Kind {
	case Bool:
		return float64(a.Bits[i]), true
	case Float:
		return a.Floats[i], true
	case Number:
		return nearest(a, i, t.Scale), true
	}
	switch text := string(a.Texts[i]); text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	default:
		d, err := parseDecimal(text)
		if err != nil {
			return 0, false
		}
		return d.float(64), true
	}
}

// numberOf rounds to the scale, halves away from zero. A text with digits that an
// integer has no place for is none.
func numberOf(a *Vec, i int, from, to Type) (*big.Int, bool) {
	var d decimal
	switch from.Kind {
	case Bool:
		d = decimal{big.NewInt(int64(a.Bits[i])), 0}
	case Number:
		d = decimal{a.big(i), from.Scale}
	case Float:
		f := a.Floats[i]
		if f != f || math.IsInf(f, 0) {
			return nil, false
		}
		exact, err := parseDecimal(new(big.Rat).SetFloat64(f).FloatString(to.Scale))
		if err != nil {
			return nil, false
		}
		d = exact
	default:
		parsed, err := parseDecimal(string(a.Texts[i]))
		if err != nil || to.Scale == 0 && parsed.scale > 0 {
			return nil, false
		}
		d = parsed
	}
	n := d.rounded(to.Scale)
	if b := to.bound; b != nil {
		value := decimal{n, to.Scale}
		if value.cmp(b.low) < 0 || value.cmp(b.high) > 0 {
			return nil, false
		}
	}
	return n, true
}

// toDate is date(x) and cast(x as date). Only the cast of a text can fail, and
// times too far away to have a day.
func (e *Evaluator) toDate(n *node, s *scope, a *Vec) *Vec {
	from := n.args[0].typ
	if from.Kind == Date {
		return a
	}
	out := s.out(n)
	out.follow(a)
	days := out.makeInts()
	for i := range days {
		if days[i] = 0; out.mark(i) != present {
			continue
		}
		day, ok := int64(0), false
		if a.Bigs == nil && from.Kind != Text {
			day, ok = dayAt(from, floorDiv(a.Ints[i], power(from.Scale)), e.program.zone), true
		} else if from.Kind == Text {
			var d decimal
			if d, ok = parseTime(Date, string(a.Texts[i])); ok {
				day = d.unscaled.Int64()
			}
		} else {
			day, ok = dayOf(from, decimal{a.big(i), from.Scale}, e.program.zone)
		}
		if days[i] = day; !ok {
			out.setMark(i, max(n.cast, null))
		}
	}
	return out
}
