package scan

// Types of pages.
const (
	dataPageV1     = 0
	indexPage      = 1
	dictionaryPage = 2
	dataPageV2     = 3
)

// maxPageHeader bounds a page header. Ours ignore the statistics in it, which
// can be long.
const maxPageHeader = 16 << 20

// pageHeader is parquet.thrift's PageHeader, less what is not used.
type pageHeader struct {
	size         int // bytes of the header itself
	typ          int32
	compressed   int32
	uncompressed int32
	crc          uint32
	hasCRC       bool

	values      int32 // entries of a data page, values of a dictionary
	encoding    int32
	defEncoding int32 // V1
	repEncoding int32 // V1
	nulls       int32 // V2
	rows        int32 // V2
	defBytes    int32 // V2
	repBytes    int32 // V2
	plainBody   bool  // V2: the values are not compressed
}

// parsePageHeader reads the header at the front of buf.
func parsePageHeader(buf []byte) (pageHeader, error) {
	c := cursor{buf: buf}
	h := pageHeader{}
	var seen, last int16
	for c.err == nil {
		id, typ := c.field(last)
		if typ == tStop {
			break
		}
		last = id
		switch {
		case id == 1 && typ == tI32:
			h.typ = c.i32()
			seen |= 1
		case id == 2 && typ == tI32:
			h.uncompressed = c.i32()
			seen |= 2
		case id == 3 && typ == tI32:
			h.compressed = c.i32()
			seen |= 4
		case id == 4 && typ == tI32:
			h.crc, h.hasCRC = uint32(c.i32()), true
		case id == 5 && typ == tStruct:
			h.parseV1(&c)
			seen |= 8
		case id == 7 && typ == tStruct:
			h.parseDictionary(&c)
			seen |= 16
		case id == 8 && typ == tStruct:
			h.parseV2(&c)
			seen |= 32
		default:
			c.skip(typ, 1)
		}
	}
	if c.err != nil {
		return h, c.err
	}
	h.size = c.pos
	return h, h.check(seen)
}

// check compares the header with its own type. seen has a bit for each of the
// required fields, and for each of the three kinds of detail.
func (h *pageHeader) check(seen int16) error {
	if seen&7 != 7 {
		return faultf(BadPage, "page header lacks its type or sizes")
	}
	if h.compressed < 0 || h.uncompressed < 0 {
		return faultf(BadPage, "page sizes %d and %d", h.compressed, h.uncompressed)
	}
	var want int16
	switch h.typ {
	case dataPageV1:
		want = 8
	case dictionaryPage:
		want = 16
	case dataPageV2:
		want = 32
	}
	if want != 0 && seen&want == 0 {
		return faultf(BadPage, "page of type %d lacks its header", h.typ)
	}
	if want != 0 && h.values < 0 {
		return faultf(BadPage, "page of %d values", h.values)
	}
	if h.typ == dataPageV2 {
		if h.defBytes < 0 || h.repBytes < 0 || int64(h.defBytes)+int64(h.repBytes) > int64(min(h.compressed, h.uncompressed)) {
			return faultf(BadPage, "levels of %d and %d bytes in a page of %d", h.repBytes, h.defBytes, h.compressed)
		}
	}
	return nil
}

func (h *pageHeader) parseV1(c *cursor) {
	h.parseFields(c, []*int32{1: &h.values, 2: &h.encoding, 3: &h.defEncoding, 4: &h.repEncoding})
}

func (h *pageHeader) parseDictionary(c *cursor) {
	h.parseFields(c, []*int32{1: &h.values, 2: &h.encoding})
}

func (h *pageHeader) parseV2(c *cursor) {
	h.parseFields(c, []*int32{
		1: &h.values, 2: &h.nulls, 3: &h.rows, 4: &h.encoding, 5: &h.defBytes, 6: &h.repBytes,
	})
}

// parseFields reads a struct whose wanted fields are numbers, and V2's flag.
func (h *pageHeader) parseFields(c *cursor, into []*int32) {
	isV2 := len(into) == 7
	var seen int
	var last int16
	for c.err == nil {
		id, typ := c.field(last)
		if typ == tStop {
			break
		}
		last = id
		switch {
		case id > 0 && int(id) < len(into) && typ == tI32:
			*into[id] = c.i32()
			seen++
		case isV2 && id == 7 && (typ == tTrue || typ == tFalse):
			h.plainBody = typ == tFalse
		default:
			c.skip(typ, 2)
		}
	}
	if seen < len(into)-1 {
		c.fail("page header lacks a required field")
	}
}
