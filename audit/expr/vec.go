package expr

import (
	"bytes"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// The marks of rows: a value is there, it is NULL, or the cast with this number
// failed on the way to it.
const (
	present uint8 = iota
	null
	failedMark
)

// MarkNull is the mark of a row without a value. Marks above it are of rows whose
// value cannot be computed; [Program.Failure] says why.
const MarkNull = null

// Vec is a value for each of N rows, in the slice that fits the type.
type Vec struct {
	N     int
	Marks []uint8 // nil when every row has a value

	Bits   []uint8    // Bool: 1 is true
	Ints   []int64    // exact kinds, in units of the type's scale
	Bigs   []*big.Int // the same where not all fit; nil at marked rows
	Floats []float64
	Texts  [][]byte

	// own memory of the slices above, which may also be a batch's
	marks, bits []uint8
	ints        []int64
	floats      []float64
	texts       [][]byte
	bigs        []*big.Int
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (v *Vec) makeBits() []uint8 {
	v.bits = sized(v.bits, v.N)
	v.Bits = v.bits
	return v.Bits
}

func (v *Vec) makeInts() []int64 {
	v.ints = sized(v.ints, v.N)
	v.Ints = v.ints
	return v.Ints
}

func (v *Vec) makeFloats() []float64 {
	v.floats = sized(v.floats, v.N)
	v.Floats = v.floats
	return v.Floats
}

func (v *Vec) makeTexts() [][]byte {
	v.texts = sized(v.texts, v.N)
	v.Texts = v.texts
	return v.Texts
}

func (v *Vec) makeBigs() []*big.Int {
	v.bigs = sized(v.bigs, v.N)
	clear(v.bigs)
	v.Bigs = v.bigs
	return v.Bigs
}

// makeMarks gives every row a mark, all present.
func (v *Vec) makeMarks() []uint8 {
	v.marks = sized(v.marks, v.N)
	clear(v.marks)
	v.Marks = v.marks
	return v.Marks
}

// True reports whether the condition holds in row i: NULL does not.
func (v *Vec) True(i int) bool { return v.Bits[i] == 1 && (v.Marks == nil || v.Marks[i] == present) }

// AllTrue reports whether the condition holds in each of n rows.
func (v *Vec) AllTrue(n int) bool {
	return v.Marks == nil && bytes.IndexByte(v.Bits[:n], 0) < 0
}

// Null reports whether row i has no value.
func (v *Vec) Null(i int) bool { return v.mark(i) == null }

// setMark marks one row.
func (v *Vec) setMark(i int, mark uint8) {
	if v.Marks == nil {
		v.makeMarks()
	}
	v.Marks[i] = mark
}

// mark is the mark of row i.
func (v *Vec) mark(i int) uint8 {
	if v.Marks == nil {
		return present
	}
	return v.Marks[i]
}

// follow takes over the marks of operands: what is NULL or failed stays so.
func (v *Vec) follow(operands ...*Vec) {
	for _, o := range operands {
		if o.Marks == nil {
			continue
		}
		if v.Marks == nil {
			v.makeMarks()
		}
		for i, m := range o.Marks[:v.N] {
			v.Marks[i] = max(v.Marks[i], m)
		}
	}
}

// big is value i of an exact kind, which has one.
func (v *Vec) big(i int) *big.Int {
	if v.Bigs != nil {
		return v.Bigs[i]
	}
	return big.NewInt(v.Ints[i])
}

// gather looks each row up: from holds a dictionary's values with a NULL behind
// them.
func (v *Vec) gather(from *Vec, vec *scan.Vector) {
	at := vec.Indices
	if vec.Def != nil {
		at = make([]uint32, vec.Entries)
		next, missing := 0, uint32(from.N-1)
		for i, def := range vec.Def {
			at[i] = missing
			if def == vec.Column.MaxDef {
				at[i] = vec.Indices[next]
				next++
			}
		}
	}
	marked := from.Marks != nil
	if marked && vec.Def == nil && countMarks(from.Marks[:from.N-1]) == 0 {
		marked = false
	}
	if marked {
		pick(v.makeMarks(), from.Marks, at)
	}
	switch {
	case from.Bigs != nil:
		pick(v.makeBigs(), from.Bigs, at)
	case from.Bits != nil:
		pick(v.makeBits(), from.Bits, at)
	case from.Ints != nil:
		pick(v.makeInts(), from.Ints, at)
	case from.Floats != nil:
		pick(v.makeFloats(), from.Floats, at)
	case from.Texts != nil:
		pick(v.makeTexts(), from.Texts, at)
	}
}

func pick[T any](dst, src []T, at []uint32) {
	for i, k := range at {
		dst[i] = src[k]
	}
}

func countMarks(marks []uint8) (n int) {
	for _, m := range marks {
		if m != present {
			n++
		}
	}
	return n
}
