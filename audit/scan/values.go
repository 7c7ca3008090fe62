package scan

import (
	"encoding/binary"
	"math"
	"slices"
)

// reset empties the values and keeps their memory.
func (v *Values) reset() {
	v.Bools, v.Int32s, v.Int64s = v.Bools[:0], v.Int32s[:0], v.Int64s[:0]
	v.Int96s, v.Floats, v.Doubles = v.Int96s[:0], v.Floats[:0], v.Doubles[:0]
	v.Bytes.reset()
}

// appendFixed appends the values that stand, PLAIN, in src: a whole number of
// them. For FIXED_LEN_BYTE_ARRAY it copies.
func (v *Values) appendFixed(c *Column, src []byte) {
	switch c.Physical {
	case PhysInt32:
		v.Int32s = slices.Grow(v.Int32s, len(src)/4)
		for ; len(src) >= 4; src = src[4:] {
			v.Int32s = append(v.Int32s, int32(binary.LittleEndian.Uint32(src)))
		}
	case PhysInt64:
		v.Int64s = slices.Grow(v.Int64s, len(src)/8)
		for ; len(src) >= 8; src = src[8:] {
			v.Int64s = append(v.Int64s, int64(binary.LittleEndian.Uint64(src)))
		}
	case PhysFloat:
		v.Floats = slices.Grow(v.Floats, len(src)/4)
		for ; len(src) >= 4; src = src[4:] {
			v.Floats = append(v.Floats, math.Float32frombits(binary.LittleEndian.Uint32(src)))
		}
	case PhysDouble:
		v.Doubles = slices.Grow(v.Doubles, len(src)/8)
		for ; len(src) >= 8; src = src[8:] {
			v.Doubles = append(v.Doubles, math.Float64frombits(binary.LittleEndian.Uint64(src)))
		}
	case PhysInt96:
		v.Int96s = slices.Grow(v.Int96s, len(src)/12)
		for ; len(src) >= 12; src = src[12:] {
			v.Int96s = append(v.Int96s, Int96(src))
		}
	case PhysFixed:
		v.Bytes.appendFixed(src, c.TypeLength)
	}
}

// gather appends from's values at the given positions.
func (v *Values) gather(c *Column, from *Values, at []uint32) {
	switch c.Physical {
	case PhysBool:
		v.Bools = gather(v.Bools, from.Bools, at)
	case PhysInt32:
		v.Int32s = gather(v.Int32s, from.Int32s, at)
	case PhysInt64:
		v.Int64s = gather(v.Int64s, from.Int64s, at)
	case PhysInt96:
		v.Int96s = gather(v.Int96s, from.Int96s, at)
	case PhysFloat:
		v.Floats = gather(v.Floats, from.Floats, at)
	case PhysDouble:
		v.Doubles = gather(v.Doubles, from.Doubles, at)
	case PhysBytes:
		for _, i := range at {
			v.Bytes.append(from.Bytes.At(int(i)))
		}
	case PhysFixed:
		for _, i := range at {
			v.Bytes.appendFixed(from.Bytes.At(int(i)), c.TypeLength)
		}
	}
}

func gather[T any](dst, from []T, at []uint32) []T {
	dst = slices.Grow(dst, len(at))
	for _, i := range at {
		dst = append(dst, from[i])
	}
	return dst
}

// prefix is a view of the first n values.
func (v *Values) prefix(c *Column, n int) Values {
	switch c.Physical {
	case PhysBool:
		return Values{Bools: v.Bools[:n]}
	case PhysInt32:
		return Values{Int32s: v.Int32s[:n]}
	case PhysInt64:
		return Values{Int64s: v.Int64s[:n]}
	case PhysInt96:
		return Values{Int96s: v.Int96s[:n]}
	case PhysFloat:
		return Values{Floats: v.Floats[:n]}
	case PhysDouble:
		return Values{Doubles: v.Doubles[:n]}
	}
	return Values{Bytes: v.Bytes.prefix(n)}
}

// drop removes the first n values.
func (v *Values) drop(c *Column, n int) {
	switch c.Physical {
	case PhysBool:
		v.Bools = drop(v.Bools, n)
	case PhysInt32:
		v.Int32s = drop(v.Int32s, n)
	case PhysInt64:
		v.Int64s = drop(v.Int64s, n)
	case PhysInt96:
		v.Int96s = drop(v.Int96s, n)
	case PhysFloat:
		v.Floats = drop(v.Floats, n)
	case PhysDouble:
		v.Doubles = drop(v.Doubles, n)
	default:
		v.Bytes.drop(n)
	}
}

// drop moves what follows the first n elements to the front.
func drop[T any](s []T, n int) []T { return s[:copy(s, s[n:])] }

// owned is how many bytes the values take beyond the page they came from.
func (v *Values) owned() int64 {
	n := len(v.Bools) + 4*(len(v.Int32s)+len(v.Floats)+len(v.Bytes.Offsets)) +
		8*(len(v.Int64s)+len(v.Doubles)) + 12*len(v.Int96s)
	if v.Bytes.own {
		n += len(v.Bytes.Data)
	}
	return int64(n)
}
