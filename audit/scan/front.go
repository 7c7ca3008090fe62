package scan

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

const (
	// frontRead is how much is asked from the source at once when only the
	// levels in front of large pages are wanted.
	frontRead = 32 << 10
	// frontGuess is how many compressed bytes are tried first.
	frontGuess = 4 << 10
	// headRead is how much is read for a page header alone.
	headRead = 1 << 10
)

// frontSize guesses how much of a chunk's data has to be read for the levels of
// one page, if it has one. A block of Zstandard's is decoded whole, as much of it
// as there is of the rest of the chunk.
func (c *chunk) frontSize() int64 {
	const block, more = 128 << 10, 8 << 10
	width := int64(bitWidth(c.column.MaxRep) + bitWidth(c.column.MaxDef))
	levels := min(c.entries*width/8, block)
	switch c.codec {
	case uncompressed, snappyCodec:
		return levels + more
	case lz4Raw, lz4Hadoop:
		return c.end - c.begin // there is no front
	}
	packed := int64(block)
	if c.plain > 0 && c.data <= c.begin { // a dictionary is packed unlike what follows it
		packed = min(block, int64(1.25*float64(block)*float64(c.end-c.begin)/float64(c.plain)))
	}
	return packed + more
}

// readFrontV1 reads the levels of a V1 page and no more of it than that takes:
// they stand in front, but inside what is compressed. The page is not read
// whole, so its CRC is not checked. It returns nil when it cannot tell from the
// front; then the page has to be read whole, and that verdict counts.
func (r *pageReader) readFrontV1(ctx context.Context, at int64, head pageHeader) (*page, error) {
	var body []byte
	for need := r.guessLevels(head); int64(len(body)) < need; {
		if need > int64(head.uncompressed) {
			return nil, nil
		}
		var err error
		if body, err = r.front(ctx, at, head, need); body == nil || err != nil {
			return nil, err
		}
		if need = r.levelBytes(body, head); need == 0 {
			return nil, nil
		}
	}
	return r.splitV1(body, head)
}

// guessLevels is how much of the page's front is decoded first. Bit-packed
// levels fit in it, unless they are long; a step of some decoders is 128 KiB
// anyway.
func (r *pageReader) guessLevels(head pageHeader) int64 {
	const most = 64 << 10
	width := int64(bitWidth(r.column.MaxRep) + bitWidth(r.column.MaxDef))
	return min(2*lengthSize+64+int64(head.values)*width/8, most, int64(head.uncompressed))
}

// splitV1 finds the levels at the front of body, and what follows them.
func (r *pageReader) splitV1(body []byte, head pageHeader) (p *page, err error) {
	p = &page{left: int(head.values), encoding: head.encoding}
	if p.rep, body, err = levelsV1(body, head.repEncoding, r.column.MaxRep, p.left); err != nil {
		return nil, err
	}
	p.def, p.values, err = levelsV1(body, head.defEncoding, r.column.MaxDef, p.left)
	return p, err
}

// levelBytes is how many bytes the levels take, as far as body, the front of
// the page, tells: when that is more than body has, there may be even more. It
// is 0 when their encoding is not known.
func (r *pageReader) levelBytes(body []byte, head pageHeader) (n int64) {
	for _, s := range []struct {
		encoding int32
		max      uint8
	}{{head.repEncoding, r.column.MaxRep}, {head.defEncoding, r.column.MaxDef}} {
		switch {
		case s.max == 0:
		case s.encoding == encBitPacked:
			n += (int64(head.values)*int64(bitWidth(s.max)) + 7) / 8
		case s.encoding != encRLE:
			return 0
		case n+lengthSize > int64(len(body)):
			return n + lengthSize
		default:
			n += lengthSize + int64(binary.LittleEndian.Uint32(body[n:]))
		}
	}
	return n
}

// front returns the first n bytes of a page's decompressed body; nil when this
// codec's front cannot be had, or does not decode.
func (r *pageReader) front(ctx context.Context, at int64, head pageHeader, n int64) ([]byte, error) {
	if n > int64(head.compressed) && r.codec == uncompressed {
		return nil, nil
	}
	if r.codec == uncompressed {
		return r.window.peek(ctx, at, n)
	}
	r.body = slices.Grow(r.body[:0], int(n))[:n]
	for try := n + frontGuess; ; try = max(2*try, int64(r.inflate.want)) {
		src, err := r.window.peek(ctx, at, min(try, int64(head.compressed)))
		if err != nil {
			return nil, err
		}
		if r.inflate.front(r.body, src) == int(n) {
			return r.body, nil
		}
		if len(src) == int(head.compressed) {
			return nil, nil
		}
	}
}

// front fills dst with the beginning of what src, itself a beginning,
// decompresses to, and returns how far it came.
func (z *inflater) front(dst, src []byte) (n int) {
	err := contain(BadPage, func() (err error) {
		switch z.codec {
		case snappyCodec:
			n, err = snappyFront(dst, src)
		case zstdCodec:
			n, err = z.zstdFront(dst, src)
		case gzipCodec, brotliCodec:
			n, err = z.streamFront(dst, src)
		}
		return err
	})
	if err != nil {
		return 0 // reading the page whole will say what is wrong with it
	}
	return n
}

func (z *inflater) streamFront(dst, src []byte) (int, error) {
	r, err := z.stream(src)
	if err != nil {
		return 0, err
	}
	return io.ReadFull(r, dst)
}

// snappyFront decodes Snappy's block format as far as dst or src goes.
func snappyFront(dst, src []byte) (int, error) {
	_, head := binary.Uvarint(src)
	if head <= 0 {
		return 0, nil
	}
	src = src[head:]
	d := 0
	for d < len(dst) && len(src) > 0 {
		size, offset, tag := snappyElement(src)
		if tag == 0 {
			break // cut off
		}
		src = src[tag:]
		if offset == 0 {
			n := copy(dst[d:], src[:min(size, len(src))])
			d, src = d+n, src[n:]
			if n < size {
				break
			}
			continue
		}
		if offset < 0 || offset > d {
			return 0, errors.New("copy from before the beginning")
		}
		// The copy may overlap itself, so it goes byte by byte.
		for end := min(d+size, len(dst)); d < end; d++ {
			dst[d] = dst[d-offset]
		}
	}
	return d, nil
}

// snappyElement reads one tag: the size of the literal or copy, the copy's
// offset (0 for a literal, −1 when it is 0), and the bytes the tag takes, 0 when
// src ends within it.
func snappyElement(src []byte) (size, offset, tag int) {
	var word [5]byte
	have := copy(word[:], src)
	low := int(word[0] >> 2)
	switch word[0] & 3 {
	case 0:
		size, tag = low+1, 1
		if low >= 60 {
			extra := low - 59
			tag += extra
			mask := uint32(1)<<(8*extra) - 1
			size = int(binary.LittleEndian.Uint32(word[1:])&mask) + 1
		}
		if tag > have {
			tag = 0
		}
		return size, 0, tag
	case 1:
		size, offset, tag = 4+low&7, int(word[0]&0xe0)<<3|int(word[1]), 2
	case 2:
		size, offset, tag = low+1, int(binary.LittleEndian.Uint16(word[1:])), 3
	case 3:
		size, offset, tag = low+1, int(binary.LittleEndian.Uint32(word[1:])), 5
	}
	if offset == 0 {
		offset = -1
	}
	if tag > have {
		tag = 0
	}
	return size, offset, tag
}
