package scan

import "math/bits"

// Types of Thrift's compact protocol, as they stand in field and list headers.
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
	tUUID   = 13
)

const maxThriftDepth = 32

// cursor reads Thrift's compact protocol in place. Generated decoders allocate
// containers by the length that is written; this one allocates nothing, so it
// can look at hostile bytes first, and it reads page headers without garbage.
// The first error sticks; every method then returns zero.
type cursor struct {
	buf []byte
	pos int
	err error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = faultf(BadPage, format, args...)
		c.pos = len(c.buf)
	}
}

func (c *cursor) byte() byte {
	if c.pos >= len(c.buf) {
		c.fail("thrift: truncated")
		return 0
	}
	b := c.buf[c.pos]
	c.pos++
	return b
}

func (c *cursor) uvarint() uint64 {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.fail("thrift: number too long")
	return 0
}

func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// i32 reads a number that the format declares as 32 bits wide.
func (c *cursor) i32() int32 {
	v := c.varint()
	if int64(int32(v)) != v {
		c.fail("thrift: %d does not fit 32 bits", v)
		return 0
	}
	return int32(v)
}

// field reads a field header. typ is tStop at the struct's end.
func (c *cursor) field(last int16) (id int16, typ byte) {
	b := c.byte()
	if b == tStop {
		return 0, tStop
	}
	typ = b & 0x0f
	if delta := int16(b >> 4); delta != 0 {
		return last + delta, typ
	}
	return int16(c.varint()), typ
}

// list reads the header of a list or set. An element takes a byte at least, so
// size never exceeds the bytes that are left.
func (c *cursor) list() (size int, elem byte) {
	b := c.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = c.uvarint()
	}
	if n > uint64(len(c.buf)-c.pos) {
		c.fail("thrift: list of %d elements in %d bytes", n, len(c.buf)-c.pos)
		return 0, 0
	}
	return int(n), b & 0x0f
}

func (c *cursor) binary() []byte {
	n := c.uvarint()
	if n > uint64(len(c.buf)-c.pos) {
		c.fail("thrift: string of %d bytes in %d", n, len(c.buf)-c.pos)
		return nil
	}
	b := c.buf[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

func (c *cursor) advance(n int) {
	if n > len(c.buf)-c.pos {
		c.fail("thrift: truncated")
		return
	}
	c.pos += n
}

// skip passes over a field's value.
func (c *cursor) skip(typ byte, depth int) {
	if depth > maxThriftDepth {
		c.fail("thrift: nested deeper than %d", maxThriftDepth)
		return
	}
	switch typ {
	case tTrue, tFalse:
	case tByte:
		c.advance(1)
	case tI16, tI32, tI64:
		c.uvarint()
	case tDouble:
		c.advance(8)
	case tUUID:
		c.advance(16)
	case tBinary:
		c.binary()
	case tList, tSet:
		n, elem := c.list()
		for i := 0; i < n && c.err == nil; i++ {
			c.skipElem(elem, depth+1)
		}
	case tMap:
		c.skipMap(depth)
	case tStruct:
		c.skipStruct(depth)
	default:
		c.fail("thrift: unknown type %d", typ)
	}
}

// skipElem is skip for an element of a container, where a bool takes a byte.
func (c *cursor) skipElem(typ byte, depth int) {
	if typ == tTrue || typ == tFalse {
		c.advance(1)
		return
	}
	c.skip(typ, depth)
}

func (c *cursor) skipMap(depth int) {
	n := c.uvarint()
	if n > uint64(len(c.buf)-c.pos) {
		c.fail("thrift: map of %d entries in %d bytes", n, len(c.buf)-c.pos)
		return
	}
	if n == 0 {
		return
	}
	types := c.byte()
	for i := uint64(0); i < n && c.err == nil; i++ {
		c.skipElem(types>>4, depth+1)
		c.skipElem(types&0x0f, depth+1)
	}
}

func (c *cursor) skipStruct(depth int) {
	var last int16
	for c.err == nil {
		id, typ := c.field(last)
		if typ == tStop {
			return
		}
		c.skip(typ, depth+1)
		last = id
	}
}

// bitWidth is the number of bits that hold levels up to max.
func bitWidth(max uint8) int { return bits.Len8(max) }
