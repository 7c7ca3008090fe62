package scan

// deltaStream decodes DELTA_BINARY_PACKED a miniblock at a time, so that what a
// page claims to hold costs nothing until it is read.
type deltaStream struct {
	buf       []byte // what follows the current miniblock
	total     uint64 // values in the stream, by its header
	read      uint64
	blockSize int
	miniSize  int
	widths    []byte // of the current block's miniblocks still to come
	minDelta  int64
	last      int64

	packed []byte // the current miniblock
	width  int
	bit    int
	left   int // values left in it
}

// maxMiniblock bounds what a header may say; writers use 128 to 256 a block.
const maxMiniblock = 1 << 20

func newDeltaStream(buf []byte) (*deltaStream, error) {
	c := cursor{buf: buf}
	block, minis, total, first := c.uvarint(), c.uvarint(), c.uvarint(), c.varint()
	if c.err != nil {
		return nil, faultf(BadPage, "delta header ends early")
	}
	if minis == 0 || block == 0 || block > maxMiniblock || block%minis != 0 || block/minis%8 != 0 {
		return nil, faultf(BadPage, "delta blocks of %d values in %d miniblocks", block, minis)
	}
	return &deltaStream{
		buf: buf[c.pos:], total: total, last: first, blockSize: int(block), miniSize: int(block / minis),
	}, nil
}

// next returns the following value.
func (d *deltaStream) next() (int64, error) {
	if d.read == d.total {
		return 0, short(1)
	}
	d.read++
	if d.read == 1 {
		return d.last, nil
	}
	if d.left == 0 {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	delta := d.packedDelta()
	d.left--
	d.last += d.minDelta + int64(delta)
	return d.last, nil
}

func (d *deltaStream) packedDelta() uint64 {
	var v uint64
	if d.width <= 56 {
		v = packedBits(d.packed, d.bit, d.width)
	} else {
		v = packedBits(d.packed, d.bit, 32) | packedBits(d.packed, d.bit+32, d.width-32)<<32
	}
	d.bit += d.width
	return v
}

// miniblock moves to the next miniblock, which may be the next block's first.
// The last one of a stream may be cut off behind its last value.
func (d *deltaStream) miniblock() error {
	if len(d.widths) == 0 {
		c := cursor{buf: d.buf}
		d.minDelta = c.varint()
		n := d.blockSize / d.miniSize
		if c.err != nil || n > len(d.buf)-c.pos {
			return faultf(BadPage, "delta block ends early")
		}
		d.widths = d.buf[c.pos : c.pos+n]
		d.buf = d.buf[c.pos+n:]
	}
	d.width, d.bit, d.left = int(d.widths[0]), 0, d.miniSize
	d.widths = d.widths[1:]
	if d.width > 64 {
		return faultf(BadPage, "delta of %d bits", d.width)
	}
	size := d.miniSize * d.width / 8
	if size > len(d.buf) {
		need := min(uint64(d.miniSize), d.total-d.read+1)
		if (need*uint64(d.width)+7)/8 > uint64(len(d.buf)) {
			return faultf(BadPage, "delta miniblock of %d bytes, %d are left", size, len(d.buf))
		}
		size = len(d.buf)
	}
	d.packed, d.buf = d.buf[:size], d.buf[size:]
	return nil
}

// rest passes over the values not read and returns what follows the stream. It
// unpacks nothing: a miniblock's width is its length.
func (d *deltaStream) rest() ([]byte, error) {
	for d.total > 1 && d.read < d.total {
		if d.read == 0 {
			d.read = 1
			continue
		}
		if d.left == 0 {
			if err := d.miniblock(); err != nil {
				return nil, err
			}
		}
		n := min(uint64(d.left), d.total-d.read)
		d.read += n
		d.left -= int(n)
	}
	// A block is written whole: the widths of miniblocks that are not needed
	// are there, their bytes are not.
	return d.buf, nil
}

type deltaInts struct {
	column *Column
	stream *deltaStream
}

func newDeltaInts(c *Column, data []byte) (decoder, error) {
	if len(data) == 0 {
		return &deltaInts{column: c, stream: &deltaStream{}}, nil
	}
	s, err := newDeltaStream(data)
	return &deltaInts{column: c, stream: s}, err
}

func (d *deltaInts) decode(dst *Values, n int) error {
	for range n {
		v, err := d.stream.next()
		if err != nil {
			return err
		}
		if d.column.Physical == PhysInt32 {
			dst.Int32s = append(dst.Int32s, int32(v)) // deltas wrap around
		} else {
			dst.Int64s = append(dst.Int64s, v)
		}
	}
	return nil
}

// deltaLengths is DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLengths struct {
	lengths *deltaStream
	data    []byte
	used    int
}

func newDeltaLengths(data []byte) (*deltaLengths, error) {
	if len(data) == 0 {
		return &deltaLengths{lengths: &deltaStream{}}, nil
	}
	ahead, err := newDeltaStream(data)
	if err != nil {
		return nil, err
	}
	lengths := *ahead
	rest, err := ahead.rest()
	return &deltaLengths{lengths: &lengths, data: rest}, err
}

// take returns the next string, as its place in data.
func (d *deltaLengths) take() (begin, end int, err error) {
	n, err := d.lengths.next()
	if err != nil {
		return 0, 0, err
	}
	if n < 0 || n > int64(len(d.data)-d.used) {
		return 0, 0, faultf(BadPage, "string of %d bytes, %d are left in the page", n, len(d.data)-d.used)
	}
	begin = d.used
	d.used += int(n)
	return begin, d.used, nil
}

func (d *deltaLengths) decode(dst *Values, n int) error {
	b := &dst.Bytes
	if b.count == 0 {
		b.reset()
		b.Data = d.data
		b.Offsets = append(b.Offsets, uint32(d.used))
	}
	b.growOffsets(n)
	for range n {
		begin, end, err := d.take()
		if err != nil {
			return err
		}
		if b.own {
			b.append(d.data[begin:end])
			continue
		}
		b.Offsets = append(b.Offsets, uint32(end))
		b.count++
	}
	return nil
}

// deltaStrings is DELTA_BYTE_ARRAY: each value is a prefix of the one before,
// and a suffix.
type deltaStrings struct {
	column   *Column
	prefixes *deltaStream
	suffixes *deltaLengths
	last     []byte
	budget   int64
}

func newDeltaStrings(c *Column, data []byte, budget int64) (decoder, error) {
	if len(data) == 0 {
		return &deltaStrings{column: c, prefixes: &deltaStream{}}, nil
	}
	ahead, err := newDeltaStream(data)
	if err != nil {
		return nil, err
	}
	prefixes := *ahead
	rest, err := ahead.rest()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest)
	return &deltaStrings{column: c, prefixes: &prefixes, suffixes: suffixes, budget: budget}, err
}

// decode copies: a page of a few bytes can stand for gigabytes, so the sum is
// held against the budget as it grows.
func (d *deltaStrings) decode(dst *Values, n int) error {
	b := &dst.Bytes
	for range n {
		keep, err := d.prefixes.next()
		if err != nil {
			return err
		}
		begin, end, err := d.suffixes.take()
		if err != nil {
			return err
		}
		if keep < 0 || keep > int64(len(d.last)) {
			return faultf(BadPage, "prefix of %d bytes, the value before has %d", keep, len(d.last))
		}
		d.last = append(d.last[:keep], d.suffixes.data[begin:end]...)
		if int64(len(b.Data)+len(d.last)) > d.budget {
			return faultf(OverBudget, "strings of more than %d bytes in one batch", d.budget)
		}
		if d.column.Physical == PhysBytes {
			b.append(d.last)
			continue
		}
		if len(d.last) != d.column.TypeLength {
			return faultf(BadPage, "value of %d bytes in a column of %d", len(d.last), d.column.TypeLength)
		}
		b.appendFixed(d.last, d.column.TypeLength)
	}
	return nil
}
