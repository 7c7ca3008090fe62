package scan

import (
	"encoding/binary"
	"unicode/utf8"
)

// isText reports whether the column's values must be UTF-8.
func (c *Column) isText() bool {
	switch c.Type.Kind {
	case String, JSON, Enum:
		return c.Physical == PhysBytes
	}
	return false
}

// findBadUTF8 notes which values of a text dictionary are not UTF-8.
func (d *Dictionary) findBadUTF8(c *Column) {
	if !c.isText() || d.Values.Bytes.ascii() {
		return
	}
	for i := range d.Len {
		if utf8.Valid(d.Values.Bytes.At(i)) {
			continue
		}
		if d.bad == nil {
			d.bad = make([]bool, d.Len)
		}
		d.bad[i] = true
	}
}

// countBadUTF8 sets the vector's counts.
func (v *Vector) countBadUTF8() {
	if !v.Column.isText() {
		return
	}
	if v.Dict != nil {
		if v.Dict.bad == nil {
			return
		}
		for i, at := range v.Indices {
			if v.Dict.bad[at] {
				v.noteBadUTF8(i)
			}
		}
		return
	}
	b := &v.Values.Bytes
	if b.ascii() {
		return
	}
	for i := range b.count {
		if !utf8.Valid(b.At(i)) {
			v.noteBadUTF8(i)
		}
	}
}

func (v *Vector) noteBadUTF8(i int) {
	if v.BadUTF8 == 0 {
		v.FirstBadUTF8 = i
	}
	v.BadUTF8++
}

// ascii reports whether no byte between the first string and the end of the
// last is above 127. The lengths in between take part: a length of 128 or more
// can only make the answer false, which is always safe.
func (b *Bytes) ascii() bool {
	if b.count == 0 {
		return true
	}
	s := b.Data[b.Offsets[0]:b.Offsets[b.count]]
	const high = 0x8080808080808080
	for ; len(s) >= 32; s = s[32:] {
		any := binary.LittleEndian.Uint64(s) | binary.LittleEndian.Uint64(s[8:]) |
			binary.LittleEndian.Uint64(s[16:]) | binary.LittleEndian.Uint64(s[24:])
		if any&high != 0 {
			return false
		}
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
