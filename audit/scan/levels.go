package scan

import "encoding/binary"

// errMidRow: a chunk's first entry continues a row that never began.
var errMidRow = faultf(BadPage, "the chunk begins within a row")

// levelStream decodes the definition or repetition levels of one page.
type levelStream struct {
	max    uint8
	hybrid hybrid

	// The deprecated BIT_PACKED encoding: values most significant bit first.
	legacy []byte
	bit    int
}

// Encodings of values and levels, numbered as in parquet.thrift.
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encBitPacked       = 4
	encDeltaBinary     = 5
	encDeltaLength     = 6
	encDeltaBytes      = 7
	encRLEDictionary   = 8
	encByteStreamSplit = 9
)

// levelsV1 reads the header of a V1 page's level stream at the front of body
// and returns what follows the stream. entries is the page's count.
func levelsV1(body []byte, encoding int32, max uint8, entries int) (levelStream, []byte, error) {
	s := levelStream{max: max}
	if max == 0 {
		return s, body, nil
	}
	switch encoding {
	case encRLE:
		if len(body) < 4 {
			return s, nil, faultf(BadPage, "page of %d bytes has no room for its levels", len(body))
		}
		n := binary.LittleEndian.Uint32(body)
		if uint64(n) > uint64(len(body)-4) {
			return s, nil, faultf(BadPage, "levels of %d bytes in a page of %d", n, len(body))
		}
		s.hybrid = newHybrid(body[4:4+n], bitWidth(max))
		return s, body[4+n:], nil
	case encBitPacked:
		n := (int64(entries)*int64(bitWidth(max)) + 7) / 8
		if n > int64(len(body)) {
			return s, nil, faultf(BadPage, "%d bit-packed levels in a page of %d bytes", entries, len(body))
		}
		s.legacy = body[:n]
		return s, body[n:], nil
	}
	return s, nil, faultf(Unsupported, "level encoding %d (%s)", encoding, encodingName(encoding))
}

// read fills dst and fails on a level above the maximum.
func (s *levelStream) read(dst []uint8) error {
	if s.max == 0 {
		clear(dst)
		return nil
	}
	if s.legacy != nil {
		s.readLegacy(dst)
	} else if err := s.hybrid.levels(dst); err != nil {
		return err
	}
	var top uint8
	for _, v := range dst {
		top = max(top, v)
	}
	if top > s.max {
		return faultf(BadPage, "level %d, the column's maximum is %d", top, s.max)
	}
	return nil
}

func (s *levelStream) readLegacy(dst []uint8) {
	width := bitWidth(s.max)
	for i := range dst {
		var v uint8
		for range width {
			v = v<<1 | s.legacy[s.bit>>3]>>(7-s.bit&7)&1
			s.bit++
		}
		dst[i] = v
	}
}

// allMax consumes up to n levels and returns how many, as long as they stand in
// one run at the maximum; the caller reads the rest with read.
func (s *levelStream) allMax(n int) (int, error) {
	if s.max == 0 {
		return n, nil
	}
	if s.legacy != nil {
		return 0, nil
	}
	return s.hybrid.same(s.max, n)
}

// repeats tells which level the coming entries have, n of them at most, as long
// as they stand in one run; n is 0 when they do not. pass consumes them.
func (s *levelStream) repeats(most int) (level uint8, n int, err error) {
	if s.max == 0 {
		return 0, most, nil
	}
	if s.legacy != nil {
		return 0, 0, nil
	}
	if err := s.hybrid.next(); err != nil {
		return 0, 0, err
	}
	if s.hybrid.packed != nil {
		return 0, 0, nil
	}
	if s.hybrid.value > uint32(s.max) {
		return 0, 0, faultf(BadPage, "level %d, the column's maximum is %d", s.hybrid.value, s.max)
	}
	return uint8(s.hybrid.value), min(most, s.hybrid.run), nil
}

func (s *levelStream) pass(n int) {
	if s.max > 0 {
		s.hybrid.run -= n
	}
}

func encodingName(e int32) string {
	switch e {
	case encPlain:
		return "PLAIN"
	case encPlainDictionary:
		return "PLAIN_DICTIONARY"
	case encRLE:
		return "RLE"
	case encBitPacked:
		return "BIT_PACKED"
	case encDeltaBinary:
		return "DELTA_BINARY_PACKED"
	case encDeltaLength:
		return "DELTA_LENGTH_BYTE_ARRAY"
	case encDeltaBytes:
		return "DELTA_BYTE_ARRAY"
	case encRLEDictionary:
		return "RLE_DICTIONARY"
	case encByteStreamSplit:
		return "BYTE_STREAM_SPLIT"
	}
	return "unknown"
}
