package expr

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"
)

func (e *Evaluator) callOf(n *node, s *scope) *Vec {
	if n.sign == "coalesce" {
		return e.coalesce(n, s)
	}
	for _, a := range n.args {
		if a.typ.Kind == Null {
			return allNull(n, s)
		}
	}
	a := e.eval(n.args[0], s)
	switch n.sign {
	case "length":
		return length(n, s, a)
	case "lower":
		return mapTexts(n, s, a, bytes.ToLower)
	case "upper":
		return mapTexts(n, s, a, bytes.ToUpper)
	case "trim":
		return mapTexts(n, s, a, func(t []byte) []byte { return bytes.Trim(t, " ") })
	case "substr":
		return e.substr(n, s, a)
	case "abs":
		return mapNumbers(n, s, a, absolute())
	case "round":
		return mapNumbers(n, s, a, rounding(n.column, n.args[0].typ.Scale, n.typ.Scale))
	case "date":
		return e.toDate(n, s, a)
	}
	return matches(n, a, s)
}

// roundFloat rounds to the nearest value of so many digits, halves of whole
// numbers away from zero.
func roundFloat(f float64, digits int) float64 {
	if digits == 0 || f != f || math.IsInf(f, 0) {
		return math.Round(f)
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	if err != nil { // cannot overflow: it is no further from 0 than a float of so many digits
		return f
	}
	return out
}

func length(n *node, s *scope, a *Vec) *Vec {
	out := s.out(n)
	out.follow(a)
	ints, text := out.makeInts(), n.args[0].typ.Kind == Text
	for i, t := range a.Texts[:s.rows] {
		if ints[i] = int64(len(t)); text {
			ints[i] = int64(utf8.RuneCount(t))
		}
	}
	return out
}

func mapTexts(n *node, s *scope, a *Vec, f func([]byte) []byte) *Vec {
	out := s.out(n)
	out.follow(a)
	texts := out.makeTexts()
	for i, t := range a.Texts[:s.rows] {
		texts[i] = f(t)
	}
	return out
}

// substr counts characters from 1; positions before the text count too, as in
// SQL. A negative length is NULL.
func (e *Evaluator) substr(n *node, s *scope, a *Vec) *Vec {
	from := e.eval(n.args[1], s)
	var many *Vec
	if len(n.args) == 3 {
		many = e.eval(n.args[2], s)
	}
	out := s.out(n)
	out.follow(a, from)
	if many != nil {
		out.follow(many)
	}
	texts := out.makeTexts()
	for i := range texts {
		if texts[i] = nil; out.mark(i) != present {
			continue
		}
		start, end := clamp(from.big(i)), int64(math.MaxInt32)
		if many != nil {
			size := clamp(many.big(i))
			if size < 0 {
				out.setMark(i, null)
				continue
			}
			end = start + size
		}
		texts[i] = characters(a.Texts[i], start-1, end-1)
	}
	return out
}

// clamp is a number that is small enough to add.
func clamp(n *big.Int) int64 {
	if !n.IsInt64() {
		return int64(n.Sign()) * math.MaxInt32
	}
	return min(max(n.Int64(), -math.MaxInt32), math.MaxInt32)
}

// characters are those from start up to end, counted from 0.
func characters(t []byte, start, end int64) []byte {
	first, at := -1, int64(0)
	for i := 0; i < len(t); at++ {
		if first < 0 && at >= start {
			first = i
		}
		if at >= end {
			if first < 0 {
				return nil
			}
			return t[first:i]
		}
		_, size := utf8.DecodeRune(t[i:])
		i += size
	}
	if first < 0 {
		return nil
	}
	return t[first:]
}
