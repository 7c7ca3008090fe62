package expr

import (
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// column loads a column's values once a batch.
func (e *Evaluator) column(n *node, s *scope) *Vec {
	vec := e.vectors[n.column]
	if s != &e.batch {
		// A dictionary's values, and a NULL.
		out := s.out(n)
		out.N = vec.Dict.Len
		load(out, n.typ, vec.Column, &vec.Dict.Values)
		out.N++
		out.pad(n.typ.Kind)
		out.setMark(out.N-1, null)
		return out
	}
	if s.loaded[n.id] {
		return &s.buffers[n.id]
	}
	s.loaded[n.id] = true
	out := s.out(n)
	out.N = vec.Present
	load(out, n.typ, vec.Column, &vec.Values)
	out.N = s.rows
	if vec.Def != nil {
		out.spread(n.typ.Kind, vec)
	}
	return out
}

// load reads v.N values of a column. A decimal or an unsigned number that does
// not fit 64 bits turns all of them into big ones.
func load(out *Vec, t Type, c *scan.Column, v *scan.Values) {
	switch {
	case t.Kind == Bool:
		bits := out.makeBits()
		for i := range bits {
			bits[i] = bit(v.Bools[i])
		}
	case t.Kind == Float && v.Doubles != nil:
		out.Floats = v.Doubles[:out.N]
	case t.Kind == Float:
		floats := out.makeFloats()
		for i := range floats {
			floats[i] = c.FloatAt(v, i)
		}
	case t.Kind.bytes():
		texts := out.makeTexts()
		for i := range texts {
			texts[i] = v.Bytes.At(i)
		}
	case t.Kind.exact():
		loadExact(out, c, v)
	}
}

func loadExact(out *Vec, c *scan.Column, v *scan.Values) {
	unsigned := c.Type.Kind == scan.Uint64
	switch {
	case v.Int64s != nil && !unsigned:
		out.Ints = v.Int64s[:out.N]
		return
	case v.Int32s != nil:
		ints := out.makeInts()
		for i := range ints {
			ints[i] = c.Int64At(v, i)
		}
		return
	}
	ints := out.makeInts()
	for i := range ints {
		n, ok := wideAt(c, v, i)
		if !ok || n.Hi != int64(n.Lo)>>63 {
			loadBig(out, c, v)
			return
		}
		ints[i] = int64(n.Lo)
	}
}

// wideAt is a value that fits 128 bits, if it does.
func wideAt(c *scan.Column, v *scan.Values, i int) (scan.Int128, bool) {
	switch {
	case v.Int96s != nil:
		n := instant(v.Int96s[i])
		return scan.Int128{Hi: n.Int64() >> 63, Lo: uint64(n.Int64())}, n.IsInt64()
	case c.Type.Kind == scan.Uint64:
		return scan.Int128{Lo: c.Uint64At(v, i)}, true
	}
	return c.DecimalAt(v, i)
}

// instant is an INT96 in nanoseconds since 1970.
func instant(t scan.Int96) *big.Int {
	s, ns := t.Instant()
	n := big.NewInt(s)
	return n.Add(n.Mul(n, big.NewInt(1e9)), big.NewInt(int64(ns)))
}

func loadBig(out *Vec, c *scan.Column, v *scan.Values) {
	bigs := out.makeBigs()
	for i := range bigs {
		switch {
		case v.Int96s != nil:
			bigs[i] = instant(v.Int96s[i])
		case c.Type.Kind == scan.Uint64:
			bigs[i] = new(big.Int).SetUint64(c.Uint64At(v, i))
		default:
			bigs[i] = c.BigDecimalAt(v, i)
		}
	}
}

// pad makes room for one more row behind N-1 loaded ones, in memory of its own.
func (v *Vec) pad(k Kind) {
	n := v.N - 1
	switch {
	case v.Bigs != nil:
		v.Bigs = append(v.Bigs[:n:n], nil)
	case k.exact():
		v.Ints = append(v.Ints[:n:n], 0)
	case k == Float:
		v.Floats = append(v.Floats[:n:n], 0)
	case k == Bool:
		v.Bits = append(v.Bits[:n:n], 0)
	case k.bytes():
		v.Texts = append(v.Texts[:n:n], nil)
	}
}

// spread moves present values to their rows and marks the others NULL.
func (v *Vec) spread(k Kind, vec *scan.Vector) {
	at := make([]int32, 0, vec.Present)
	marks := v.makeMarks()
	for row, def := range vec.Def {
		if def == vec.Column.MaxDef {
			at = append(at, int32(row))
		} else {
			marks[row] = null
		}
	}
	switch {
	case v.Bigs != nil:
		v.Bigs = scatter(v.Bigs, at, v.N)
	case k.exact():
		v.Ints = scatter(v.Ints, at, v.N)
	case k == Float:
		v.Floats = scatter(v.Floats, at, v.N)
	case k == Bool:
		v.Bits = scatter(v.Bits, at, v.N)
	case k.bytes():
		v.Texts = scatter(v.Texts, at, v.N)
	}
}

// scatter puts values at their places among n.
func scatter[T any](src []T, at []int32, n int) []T {
	dst := make([]T, n)
	for i, row := range at {
		dst[row] = src[i]
	}
	return dst
}

func bit(yes bool) uint8 {
	var b uint8
	if yes {
		b = 1
	}
	return b
}
