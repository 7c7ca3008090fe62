package scan

import (
	"context"
	"hash/crc32"
	"slices"
)

// pageReader yields the data pages of one column chunk.
type pageReader struct {
	chunk
	need    Need
	budget  int64
	window  window
	inflate inflater

	pos     int64 // of the next page header
	ordinal int   // of the next page
	seen    int64 // entries of the pages so far
	body    []byte
	dict    *Dictionary
	memory  *memory
}

// memory is what reading a chunk needs and the next chunk can use again.
type memory struct {
	window, spare []byte
	body          []byte
	inflate       inflater

	// Of a columnReader.
	def, rep []uint8
	indices  []uint32
	values   Values
}

// page is a data page ready to be decoded.
type page struct {
	ordinal  int
	offset   int64
	rep, def levelStream
	encoding int32
	values   []byte // encoded; nil when only levels were asked for
	left     int    // entries not yet read
}

// openChunk prepares to read a chunk's pages from src, readSize bytes at once.
// The reader must be closed.
func (f *File) openChunk(c chunk, need Need, src Source, readSize int64) *pageReader {
	m := f.opts.Shared.openMemory(c)
	r := &pageReader{
		chunk: c, need: need, budget: f.opts.PageBudget, pos: c.begin, memory: m,
		window:  window{src: src, whole: readSize, end: c.end, buf: m.window[:0], spare: m.spare[:0]},
		inflate: m.inflate, body: m.body[:0],
	}
	r.inflate.codec = c.codec
	r.window.adapt(need, c.end-c.begin)
	if need == ReadLevels && c.begin < c.data {
		r.window.readSize = min(r.window.readSize, headRead) // of a dictionary, to pass over it
	}
	return r
}

// close waits for reads that are under way and gives the reader's memory back.
// Pages and values that point into it must no longer be used.
func (r *pageReader) close(f *File) {
	if p := r.window.pending; p != nil {
		<-p.done
		r.window.spare = p.buf
	}
	m := r.memory
	m.window, m.spare, m.body, m.inflate = r.window.buf, r.window.spare, r.body, r.inflate
	f.opts.Shared.closeMemory(m)
}

// next returns the following data page, or nil behind the last one. The page
// before is no longer valid.
func (r *pageReader) next(ctx context.Context) (*page, error) {
	for r.seen < r.entries {
		if r.pos >= r.end {
			return nil, r.fault(BadRows, "the chunk ends after %d of %d values", r.seen, r.entries)
		}
		ordinal, offset := r.ordinal, r.pos
		p, err := r.read(ctx)
		if err != nil {
			return nil, r.at(ordinal, offset, err)
		}
		if p != nil && p.left > 0 {
			p.ordinal, p.offset = ordinal, offset
			return p, nil
		}
	}
	return nil, nil
}

// read reads one page of any type; nil when it holds no data.
func (r *pageReader) read(ctx context.Context) (*page, error) {
	head, err := r.header(ctx)
	if err != nil {
		return nil, err
	}
	at := r.pos + int64(head.size)
	left := r.end - at
	if int64(head.compressed) > left {
		return nil, faultf(BadPage, "page of %d bytes, %d are left in the chunk", head.compressed, left)
	}
	if n := max(int64(head.compressed), int64(head.uncompressed)); n > r.budget {
		return nil, faultf(OverBudget, "page of %d bytes, budget %d", n, r.budget)
	}
	r.pos = at + int64(head.compressed)
	r.ordinal++
	r.window.adapt(r.need, int64(head.compressed))
	switch head.typ {
	case dictionaryPage:
		if r.need == ReadLevels {
			return nil, nil
		}
		return nil, r.readDictionary(ctx, at, head)
	case dataPageV1, dataPageV2:
		r.seen += int64(head.values)
		if r.seen > r.entries {
			return nil, faultf(BadRows, "pages hold %d values, the footer says %d", r.seen, r.entries)
		}
		if head.typ == dataPageV1 {
			return r.readV1(ctx, at, head)
		}
		return r.readV2(ctx, at, head)
	}
	return nil, nil
}

// header reads the page header at pos, whose length is not known before.
func (r *pageReader) header(ctx context.Context) (pageHeader, error) {
	for n := int64(headRead); ; n *= 4 {
		buf, err := r.window.peek(ctx, r.pos, n)
		if err != nil {
			return pageHeader{}, err
		}
		head, err := parsePageHeader(buf)
		if err == nil || int64(len(buf)) < n || n >= maxPageHeader {
			return head, err
		}
	}
}

// raw returns a page's bytes as they stand in the file, checked by CRC.
func (r *pageReader) raw(ctx context.Context, at int64, head pageHeader) ([]byte, error) {
	src, err := r.window.peek(ctx, at, int64(head.compressed))
	if err != nil {
		return nil, err
	}
	if sum := crc32.ChecksumIEEE(src); head.hasCRC && sum != head.crc {
		return nil, faultf(BadChecksum, "CRC %08x, the page header says %08x", sum, head.crc)
	}
	return src, nil
}

// unpack decompresses src into buf, which it returns grown if need be. Without
// compression the bytes are used where they stand.
func (r *pageReader) unpack(buf, src []byte, size int) ([]byte, error) {
	if err := r.inflate.check(src, size); err != nil {
		return nil, err
	}
	if r.codec == uncompressed {
		return src, nil
	}
	buf = slices.Grow(buf[:0], size)[:size]
	return buf, r.inflate.inflate(buf, src)
}

func (r *pageReader) readV1(ctx context.Context, at int64, head pageHeader) (*page, error) {
	if r.need == ReadLevels {
		if r.column.MaxDef == 0 {
			// Nor repetition levels: every entry is a value.
			return &page{left: int(head.values), encoding: head.encoding}, nil
		}
		if p, err := r.readFrontV1(ctx, at, head); p != nil || err != nil {
			return p, err
		}
	}
	src, err := r.raw(ctx, at, head)
	if err != nil {
		return nil, err
	}
	body, err := r.unpack(r.body, src, int(head.uncompressed))
	if err != nil {
		return nil, err
	}
	if r.codec != uncompressed {
		r.body = body
	}
	return r.splitV1(body, head)
}

// readV2 reads no more than the levels when values are not needed: they stand
// in front, uncompressed.
func (r *pageReader) readV2(ctx context.Context, at int64, head pageHeader) (*page, error) {
	p := &page{left: int(head.values), encoding: head.encoding}
	levels := int(head.repBytes) + int(head.defBytes)
	var src []byte
	var err error
	if r.need == ReadLevels {
		src, err = r.window.peek(ctx, at, int64(levels))
	} else {
		src, err = r.raw(ctx, at, head)
	}
	if err != nil {
		return nil, err
	}
	if r.need == ReadValues {
		values := src[levels:]
		size := int(head.uncompressed) - levels
		switch {
		case !head.plainBody:
			if p.values, err = r.unpack(r.body, values, size); err != nil {
				return nil, err
			}
			if r.codec != uncompressed {
				r.body = p.values
			}
		case len(values) != size:
			return nil, faultf(BadPage, "%d bytes of values, the page header says %d", len(values), size)
		default:
			p.values = values
		}
	}
	// Repetition levels may be written, and are passed over, where there are none.
	p.rep = levelStream{max: r.column.MaxRep, hybrid: newHybrid(src[:head.repBytes], bitWidth(r.column.MaxRep))}
	p.def = levelStream{max: r.column.MaxDef, hybrid: newHybrid(src[head.repBytes:levels], bitWidth(r.column.MaxDef))}
	return p, nil
}

// readDictionary decodes the chunk's dictionary, which must come before its
// data and only once. Its memory is its own: it outlives the page.
func (r *pageReader) readDictionary(ctx context.Context, at int64, head pageHeader) error {
	if r.dict != nil {
		return faultf(BadPage, "the chunk has a second dictionary")
	}
	if head.encoding != encPlain && head.encoding != encPlainDictionary {
		return faultf(Unsupported, "dictionary in encoding %d (%s)", head.encoding, encodingName(head.encoding))
	}
	src, err := r.raw(ctx, at, head)
	if err != nil {
		return err
	}
	body, err := r.unpack(nil, src, int(head.uncompressed))
	if err != nil {
		return err
	}
	if r.codec == uncompressed {
		body = slices.Clone(body)
	}
	dec, err := newDecoder(r.column, encPlain, body, r.budget)
	if err != nil {
		return err
	}
	n := int(head.values)
	if most := maxPlainValues(r.column, len(body)); n > most {
		return faultf(BadPage, "dictionary of %d values in %d bytes", n, len(body))
	}
	d := &Dictionary{Len: n}
	if err := dec.decode(&d.Values, n); err != nil {
		return err
	}
	d.findBadUTF8(r.column)
	r.dict = d
	return nil
}

// maxPlainValues is how many PLAIN values size bytes can hold at most.
func maxPlainValues(c *Column, size int) int {
	switch {
	case c.Physical == PhysBool:
		return size * 8
	case c.Physical == PhysBytes:
		return size / lengthSize
	}
	return size / c.width()
}
