package scan

import "encoding/binary"

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
			for i := range n {
				dst[i] = uint8(h.bits())
			}
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
		if h.packed != nil {
			h.unpack(part)
		} else {
			for i := range part {
				part[i] = h.value
			}
		}
		var top uint32
		for _, v := range part {
			top = max(top, v)
		}
		if top >= limit {
			return faultf(BadPage, "dictionary index %d, the dictionary has %d values", top, limit)
		}
		h.run -= n
		dst = dst[n:]
	}
	return nil
}

// unpack reads len(dst) values of the current bit-packed run: eight bytes at a
// time while they last.
func (h *hybrid) unpack(dst []uint32) {
	mask := uint64(1)<<h.width - 1
	width, bit, buf := h.width, h.bit, h.packed
	i := 0
	for ; i < len(dst) && bit>>3+8 <= len(buf); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(buf[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	h.bit = bit
	for ; i < len(dst); i++ {
		dst[i] = h.bits()
	}
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
