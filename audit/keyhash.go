package audit

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/zeebo/xxh3"
)

// keyHasher hashes the key tuples of batches, a column at a time. Equal tuples
// have equal hashes; the opposite is for the caller to confirm.
type keyHasher struct {
	slots   []int
	hashes  []uint64
	flags   []uint8 // by row
	flagged bool    // some flag is set
	column  []uint64
	scraps  []byte
	// seen keeps the hashes of a dictionary's values while it is current.
	seen []dictHashes
}

type dictHashes struct {
	dict   *scan.Dictionary
	hashes []uint64
	nan    []bool
}

const (
	keyNull uint8 = 1 << iota // a NULL is in the key
	keyNaN                    // a NaN is in the key
)

// hash computes, for each row of v, the key's hash and what is in it; flags is
// nil when that is nothing. Both are valid until the next call.
func (k *keyHasher) hash(v *view) (hashes []uint64, flags []uint8) {
	if k.seen == nil {
		k.seen = make([]dictHashes, len(k.slots))
	}
	if len(k.slots) == 1 && v.cols[k.slots[0]].Def == nil {
		if values, nan := k.values(0, v.cols[k.slots[0]]); nan == nil {
			return values, nil
		}
	}
	if cap(k.hashes) < v.rows {
		k.hashes, k.flags = make([]uint64, v.rows), make([]uint8, v.rows)
	}
	k.hashes, k.flags = k.hashes[:v.rows], k.flags[:v.rows]
	clear(k.hashes)
	clear(k.flags)
	k.flagged = false
	for i, slot := range k.slots {
		k.add(i, v.cols[slot])
	}
	if !k.flagged {
		return k.hashes, nil
	}
	return k.hashes, k.flags
}

// add mixes one column in; the first is there by itself.
func (k *keyHasher) add(i int, vec *scan.Vector) {
	values, nan := k.values(i, vec)
	if vec.Def == nil {
		if i == 0 {
			copy(k.hashes, values)
		} else {
			for row, h := range values {
				k.hashes[row] = mix(k.hashes[row], h)
			}
		}
		for row, is := range nan {
			if is {
				k.flags[row] |= keyNaN
				k.flagged = true
			}
		}
		return
	}
	next := 0
	for row, def := range vec.Def {
		h := uint64(nullHash)
		if def != vec.Column.MaxDef {
			k.flags[row] |= keyNull
			k.flagged = true
		} else {
			if nan != nil && nan[next] {
				k.flags[row] |= keyNaN
				k.flagged = true
			}
			h = values[next]
			next++
		}
		if i > 0 {
			h = mix(k.hashes[row], h)
		}
		k.hashes[row] = h
	}
}

const nullHash = 0x9e3779b97f4a7c15

// mix folds a value's hash into a tuple's.
func mix(h, value uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, value^0xe7037ed1a0b428db)
	return hi ^ lo ^ bits.RotateLeft64(value, 31)
}

// values hashes the present values of a vector; nan is nil where there is none.
func (k *keyHasher) values(i int, vec *scan.Vector) (hashes []uint64, nan []bool) {
	if vec.Dict == nil {
		return k.hashValues(vec.Column, &vec.Values, vec.Present)
	}
	d := &k.seen[i]
	if d.dict != vec.Dict {
		h, n := k.hashValues(vec.Column, &vec.Dict.Values, vec.Dict.Len)
		d.dict, d.hashes, d.nan = vec.Dict, append(d.hashes[:0], h...), n
	}
	k.column = sized(k.column, vec.Present)
	for j, at := range vec.Indices {
		k.column[j] = d.hashes[at]
	}
	if d.nan == nil {
		return k.column, nil
	}
	nan = make([]bool, vec.Present)
	for j, at := range vec.Indices {
		nan[j] = d.nan[at]
	}
	return k.column, nan
}

// sized returns a slice of n elements, of any content.
func sized(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	return s[:n]
}

func (k *keyHasher) hashValues(c *scan.Column, v *scan.Values, n int) (hashes []uint64, nan []bool) {
	k.column = sized(k.column, n)
	switch classOf(c) {
	case signed, unsigned:
		integersOf(k.column, c, v)
		for i, x := range k.column {
			k.column[i] = spread(x)
		}
	case texts:
		for i := range k.column {
			k.column[i] = xxh3.Hash(v.Bytes.At(i))
		}
	case floating:
		for i := range k.column {
			f := canonicalFloat(c.FloatAt(v, i))
			if f != f {
				if nan == nil {
					nan = make([]bool, n)
				}
				nan[i] = true
			}
			k.column[i] = spread(math.Float64bits(f))
		}
	default:
		for i := range k.column {
			k.scraps = appendKey(k.scraps[:0], c, v, i)
			k.column[i] = k.bytes(c)
		}
	}
	return k.column, nan
}

// integersOf fills dst with the first values of a column of integers, negative
// ones in two's complement.
func integersOf(dst []uint64, c *scan.Column, v *scan.Values) {
	switch {
	case v.Int64s != nil:
		for i, x := range v.Int64s[:len(dst)] {
			dst[i] = uint64(x)
		}
	case classOf(c) == unsigned:
		for i, x := range v.Int32s[:len(dst)] {
			dst[i] = uint64(uint32(x))
		}
	default:
		for i, x := range v.Int32s[:len(dst)] {
			dst[i] = uint64(int64(x))
		}
	}
}

// integers are the present values of a column of integers; valid until the next
// call.
func (k *keyHasher) integers(vec *scan.Vector) []uint64 {
	if vec.Dict == nil {
		k.column = sized(k.column, vec.Present)
		integersOf(k.column, vec.Column, &vec.Values)
		return k.column
	}
	if k.seen == nil {
		k.seen = make([]dictHashes, 1)
	}
	d := &k.seen[0]
	if d.dict != vec.Dict {
		d.dict, d.hashes = vec.Dict, sized(d.hashes, vec.Dict.Len)
		integersOf(d.hashes, vec.Column, &vec.Dict.Values)
	}
	k.column = sized(k.column, vec.Present)
	for i, at := range vec.Indices {
		k.column[i] = d.hashes[at]
	}
	return k.column
}

// bytes hashes a value's key form. A wide decimal that fits 64 bits hashes as a
// narrow one does, as files may store the same column either way.
func (k *keyHasher) bytes(c *scan.Column) uint64 {
	if classOf(c) == wide && len(k.scraps) == 8 {
		return spread(binary.BigEndian.Uint64(k.scraps))
	}
	return xxh3.Hash(k.scraps)
}

// spread is splitmix64's finalizer: a bijection, so that one integer column has
// no collisions but those of the bits that a keyset takes away.
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendTuple appends the key of a row in a form that is equal exactly when the
// tuples are: each part is marked NULL, or stands with its length before it.
// at holds, by key column, the position of the row's value or -1 for NULL.
func (k *keyHasher) appendTuple(dst []byte, v *view, at []int) []byte {
	for i, slot := range k.slots {
		vec := v.cols[slot]
		if at[i] < 0 {
			dst = append(dst, 0)
			continue
		}
		values, pos := vec.Lookup(at[i])
		k.scraps = appendKey(k.scraps[:0], vec.Column, values, pos)
		dst = append(dst, 1)
		dst = binary.AppendUvarint(dst, uint64(len(k.scraps)))
		dst = append(dst, k.scraps...)
	}
	return dst
}

// positions maps rows to present values, for each of some columns.
type positions struct {
	v     *view
	slots []int
	index [][]int32 // by key column and row; nil where value i is row i's
	at    []int
}

func newPositions(v *view, slots []int) *positions {
	p := &positions{v: v, slots: slots, index: make([][]int32, len(slots)), at: make([]int, len(slots))}
	for i, slot := range slots {
		vec := v.cols[slot]
		if vec.Def == nil {
			continue
		}
		rows, next := make([]int32, v.rows), int32(0)
		for row, def := range vec.Def {
			rows[row] = -1
			if def == vec.Column.MaxDef {
				rows[row], next = next, next+1
			}
		}
		p.index[i] = rows
	}
	return p
}

// of returns the positions of a row's key; valid until the next call.
func (p *positions) of(row int) []int {
	for i := range p.slots {
		p.at[i] = row
		if p.index[i] != nil {
			p.at[i] = int(p.index[i][row])
		}
	}
	return p.at
}
