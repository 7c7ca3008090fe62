package scan

import (
	"encoding/binary"
)

// decoder yields the values of one data page in order.
type decoder interface {
	// decode appends the next n values to dst. The values may point into the
	// page; they are detached before the page goes.
	decode(dst *Values, n int) error
}

// newDecoder prepares to decode a page's values, which are data to its end.
// Dictionary pages' indices have their own path.
func newDecoder(c *Column, encoding int32, data []byte, budget int64) (decoder, error) {
	switch encoding {
	case encPlain:
		switch c.Physical {
		case PhysBool:
			return &plainBools{data: data}, nil
		case PhysBytes:
			return &plainBytes{data: data}, nil
		case PhysFixed:
			return &plainStrings{column: c, data: data}, nil
		}
		return &plainFixed{column: c, data: data}, nil
	case encRLE:
		if c.Physical == PhysBool {
			return newRLEBools(data)
		}
	case encDeltaBinary:
		if c.Physical == PhysInt32 || c.Physical == PhysInt64 {
			return newDeltaInts(c, data)
		}
	case encDeltaLength:
		if c.Physical == PhysBytes {
			return newDeltaLengths(data)
		}
	case encDeltaBytes:
		if c.Physical == PhysBytes || c.Physical == PhysFixed {
			return newDeltaStrings(c, data, budget)
		}
	case encByteStreamSplit:
		if c.width() > 0 && c.Physical != PhysInt96 {
			return newStreamSplit(c, data)
		}
	}
	return nil, faultf(Unsupported, "encoding %d (%s) of %s values", encoding, encodingName(encoding), c.Physical)
}

func short(n int) error { return faultf(BadPage, "page ends before its values, %d are missing", n) }

type plainFixed struct {
	column *Column
	data   []byte
}

func (d *plainFixed) decode(dst *Values, n int) error {
	w := d.column.width()
	if have := len(d.data) / w; n > have {
		return short(n - have)
	}
	dst.appendFixed(d.column, d.data[:n*w])
	d.data = d.data[n*w:]
	return nil
}

// plainStrings are FIXED_LEN_BYTE_ARRAY values: used where they stand.
type plainStrings struct {
	column *Column
	data   []byte
	used   int
}

func (d *plainStrings) decode(dst *Values, n int) error {
	w := d.column.TypeLength
	if have := (len(d.data) - d.used) / w; n > have {
		return short(n - have)
	}
	b := &dst.Bytes
	switch {
	case n == 0:
		return nil
	case b.count == 0:
		b.Data, b.Width, b.own = d.data[d.used:], w, false
		b.count = n
	case !b.own:
		// The earlier values are this page's, and these follow them.
		b.count += n
	default:
		b.appendFixed(d.data[d.used:d.used+n*w], w)
	}
	d.used += n * w
	return nil
}

// plainBytes are BYTE_ARRAY values: used where they stand, each behind the four
// bytes of its length.
type plainBytes struct {
	data []byte
	used int
}

const lengthSize = 4

func (d *plainBytes) decode(dst *Values, n int) error {
	b := &dst.Bytes
	if b.count == 0 {
		b.reset()
		b.Data, b.Gap = d.data, lengthSize
		b.Offsets = append(b.Offsets, uint32(d.used))
	}
	b.growOffsets(n)
	at := d.used
	for range n {
		if len(d.data)-at < lengthSize {
			return short(n)
		}
		size := int64(binary.LittleEndian.Uint32(d.data[at:]))
		end := int64(at) + lengthSize + size
		if end > int64(len(d.data)) {
			return faultf(BadPage, "string of %d bytes, %d are left in the page", size, len(d.data)-at-lengthSize)
		}
		if b.own {
			b.append(d.data[at+lengthSize : end])
		} else {
			b.Offsets = append(b.Offsets, uint32(end))
			b.count++
		}
		at = int(end)
	}
	d.used = at
	return nil
}

type plainBools struct {
	data []byte
	bit  int
}

func (d *plainBools) decode(dst *Values, n int) error {
	if have := len(d.data)*8 - d.bit; n > have {
		return short(n - have)
	}
	for range n {
		dst.Bools = append(dst.Bools, d.data[d.bit>>3]>>(d.bit&7)&1 == 1)
		d.bit++
	}
	return nil
}

type rleBools struct {
	hybrid hybrid
	levels []uint8
}

func newRLEBools(data []byte) (decoder, error) {
	if len(data) < lengthSize {
		// A page without a value may leave out even the length.
		return &rleBools{hybrid: newHybrid(nil, 1)}, nil
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-lengthSize) {
		return nil, faultf(BadPage, "run-length data of %d bytes in %d", n, len(data)-lengthSize)
	}
	return &rleBools{hybrid: newHybrid(data[lengthSize:lengthSize+n], 1)}, nil
}

func (d *rleBools) decode(dst *Values, n int) error {
	if cap(d.levels) < n {
		d.levels = make([]uint8, n)
	}
	levels := d.levels[:n]
	if err := d.hybrid.levels(levels); err != nil {
		return err
	}
	for _, v := range levels {
		dst.Bools = append(dst.Bools, v == 1)
	}
	return nil
}
