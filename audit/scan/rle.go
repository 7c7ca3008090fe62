package scan

import (
	"encoding/binary"
	"slices"
)

// hybrid decodes Parquet's RLE / bit-packed hybrid: levels, dictionary indices
// and RLE booleans. It reads ahead of nothing: a run of a million equal values
// costs the same as one of two.
type hybrid struct {
	buf   []byte // what follows the current run
	width int    // bits of a value, 0 to 32

	run    int    // values left in the current run
	packed []byte // the current run's bytes when it is bit-packed, else nil
	bit    int    // position in packed, in bits
	value  uint32 // the value of a repeated run
}

func newHybrid(buf []byte, width int) hybrid { return hybrid{buf: buf, width: width} }

// next makes sure that the current run is not empty.
func (h *hybrid) next() error {
	for h.run == 0 {
		head, n := binary.Uvarint(h.buf)
		if n <= 0 {
			return faultf(BadPage, "run-length data ends early")
		}
		h.buf = h.buf[n:]
		count := head >> 1
		if count > 1<<31 {
			return faultf(BadPage, "run of %d values", count)
		}
		if head&1 == 1 {
			h.startPacked(int(count))
			continue
		}
		size := (h.width + 7) / 8
		if size > len(h.buf) {
			return faultf(BadPage, "run-length data ends within a value")
		}
		h.value = 0
		for i := range size {
			h.value |= uint32(h.buf[i]) << (8 * i)
		}
		if h.width < 32 && h.value>>h.width != 0 {
			return faultf(BadPage, "run of value %d, which needs more than %d bits", h.value, h.width)
		}
		h.buf = h.buf[size:]
		h.packed, h.run = nil, int(count)
	}
	return nil
}

// startPacked begins a run of groups of eight values. The last run of a page
// may be cut off: values that are not needed are not always written.
func (h *hybrid) startPacked(groups int) {
	h.run, h.bit = groups*8, 0
	size := groups * h.width
	if size > len(h.buf) {
		size = len(h.buf)
		h.run = size * 8 / h.width
	}
	h.packed, h.buf = h.buf[:size], h.buf[size:]
	if h.width == 0 {
		h.packed, h.value = nil, 0
	}
}

// levels fills dst.
func (h *hybrid) levels(dst []uint8) error {
	for len(dst) > 0 {
		if err := h.next(); err != nil {
			return err
		}
		n := min(h.run, len(dst))
		if h.packed == nil {
			fill(dst[:n], uint8(h.value))
		} else {
			unpack(h, dst[:n])
		}
		h.run -= n
		dst = dst[n:]
	}
	return nil
}

func fill(dst []uint8, v uint8) {
	for i := range dst {
		dst[i] = v
	}
}

// same consumes up to n values and returns how many, when the current run
// repeats v; else 0.
func (h *hybrid) same(v uint8, n int) (int, error) {
	if err := h.next(); err != nil {
		return 0, err
	}
	if h.packed != nil || h.value != uint32(v) {
		return 0, nil
	}
	n = min(n, h.run)
	h.run -= n
	return n, nil
}

// indices fills dst with values, each of which must be below limit.
func (h *hybrid) indices(dst []uint32, limit uint32) error {
	for len(dst) > 0 {
		if err := h.next(); err != nil {
			return err
		}
		n := min(h.run, len(dst))
		part := dst[:n]
		top := h.value
		if h.packed != nil {
			top = unpack(h, part)
		} else {
			for i := range part {
				part[i] = h.value
			}
		}
		if top >= limit {
			// The bits of all values together are too large; one of them may be.
			if top = slices.Max(part); top >= limit {
				return faultf(BadPage, "dictionary index %d, the dictionary has %d values", top, limit)
			}
		}
		h.run -= n
		dst = dst[n:]
	}
	return nil
}

// unpack reads len(dst) values of the current bit-packed run and returns the
// bits that any of them has. Values come in groups of eight that begin at a
// byte; the ones within a group are cut out of as few loads as they fit.
func unpack[T uint8 | uint32](h *hybrid, dst []T) (or T) {
	i := 0
	for ; i < len(dst) && h.bit%(8*h.width) != 0; i++ {
		dst[i] = T(h.bits())
		or |= dst[i]
	}
	if h.width <= 15 {
		for ; i+8 <= len(dst); i += 8 {
			src := h.packed[h.bit>>3:]
			if len(src) < 16 {
				// Short runs are common: levels with a NULL here and there.
				var end [16]byte
				copy(end[:], src)
				src = end[:]
			}
			or |= unpack8(dst[i:i+8:i+8], src, h.width)
			h.bit += 8 * h.width
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = T(h.bits())
		or |= dst[i]
	}
	return or
}

// unpack8 reads a group of eight values of at most 15 bits. src has 16 bytes.
func unpack8[T uint8 | uint32](dst []T, src []byte, width int) T {
	w := uint(width) & 15
	mask := uint64(1)<<w - 1
	x := binary.LittleEndian.Uint64(src)
	y := binary.LittleEndian.Uint64(src[w>>1:]) >> (w & 1 * 4)
	_ = dst[7]
	dst[0], dst[1] = T(x&mask), T(x>>w&mask)
	dst[2], dst[3] = T(x>>(2*w)&mask), T(x>>(3*w)&mask)
	dst[4], dst[5] = T(y&mask), T(y>>w&mask)
	dst[6], dst[7] = T(y>>(2*w)&mask), T(y>>(3*w)&mask)
	return dst[0] | dst[1] | dst[2] | dst[3] | dst[4] | dst[5] | dst[6] | dst[7]
}

// bits reads one value of the current bit-packed run.
func (h *hybrid) bits() uint32 {
	v := packedBits(h.packed, h.bit, h.width)
	h.bit += h.width
	return uint32(v)
}

// packedBits reads width ≤ 57 bits at a position, least significant first.
// What would stand beyond the end reads as 0.
func packedBits(buf []byte, bit, width int) uint64 {
	at := bit >> 3
	var word uint64
	if at+8 <= len(buf) {
		word = binary.LittleEndian.Uint64(buf[at:])
	} else {
		for i := at; i < len(buf); i++ {
			word |= uint64(buf[i]) << (8 * (i - at))
		}
	}
	return word >> (bit & 7) & (1<<width - 1)
}
