package scan

// maxSchemaDepth bounds the nesting of groups, and with it every level: both
// kinds fit a byte.
const maxSchemaDepth = 100

// checkSchema makes sure that the schema in a footer is a tree that can be
// built by recursion: numbers of children that are there, and few levels. It
// returns where it stands.
func checkSchema(footer []byte) (schema []byte, err error) {
	c := cursor{buf: footer}
	var last int16
	for c.err == nil {
		id, typ := c.field(last)
		if typ == tStop {
			break
		}
		last = id
		if id != 2 || typ != tList {
			c.skip(typ, 0)
			continue
		}
		at := c.pos
		if err := checkElements(&c); err != nil {
			return nil, err
		}
		schema = footer[at:c.pos]
	}
	return schema, c.err
}

// checkElements reads the schema's list, depth first, keeping for each open
// group how many children are still to come.
func checkElements(c *cursor) error {
	n, _ := c.list()
	var open []int
	for i := 0; i < n && c.err == nil; i++ {
		children := element(c)
		if children < 0 || children > n-i-1 {
			return faultf(BadFooter, "schema element %d has %d children, %d elements follow", i, children, n-i-1)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if i > 0 && len(open) == 0 {
			return faultf(BadFooter, "schema has %d elements outside its root", n-i)
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if children > 0 {
			open = append(open, children)
		}
		if len(open) > maxSchemaDepth {
			return faultf(BadFooter, "schema is nested deeper than %d", maxSchemaDepth)
		}
	}
	return c.err
}

// element reads one SchemaElement and returns its num_children. It hides a
// logical type that parquet.thrift did not have when this was written: the
// format asks readers to go by the physical type then, but the footer's decoder
// panics.
func element(c *cursor) (children int) {
	var last int16
	for c.err == nil {
		at := c.pos
		id, typ := c.field(last)
		if typ == tStop {
			break
		}
		last = id
		switch {
		case id == 5 && typ == tI32:
			children = int(c.i32())
		case id == 10 && typ == tStruct:
			known := knownLogical(*c)
			c.skip(typ, 1)
			if !known && c.err == nil {
				hideField(c.buf, at)
			}
		default:
			c.skip(typ, 1)
		}
	}
	return children
}

// knownLogical looks at the member of a LogicalType union: 1 to 18, without 9.
func knownLogical(c cursor) bool {
	id, typ := c.field(0)
	return typ == tStruct && id >= 1 && id <= 18 && id != 9
}

// hideField gives the field whose header stands at buf[at] an id that nobody
// knows, so that it is skipped. It is the last field that is known, so the ids
// of those that follow, which count from it, do not matter either. A header in
// the long form is left alone; no writer uses it here.
func hideField(buf []byte, at int) {
	if buf[at]>>4 != 0 {
		buf[at] |= 0xf0
	}
}
