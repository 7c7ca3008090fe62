package scan

// A shape says what a struct of the footer may hold, as far as lengths matter:
// the types of its containers, and about how many bytes one of it takes once
// decoded. The footer's decoder allocates a list by its written length before
// it reads an element, and reads the elements by the type it expects, not the
// one written, so both are checked before it runs.
type shape struct {
	cost   int64
	fields []shapeField
}

type shapeField struct {
	id   int16
	typ  byte   // tList or tStruct
	elem byte   // of a list
	of   *shape // of the struct, or of a list's structs
}

// footerShape is parquet.thrift's FileMetaData.
func footerShape() *shape {
	keyValue := &shape{cost: 64}
	statistics := &shape{cost: 160}
	element := &shape{cost: 512, fields: []shapeField{{id: 10, typ: tStruct, of: &shape{cost: 128}}}}
	sizes := &shape{cost: 64, fields: []shapeField{
		{id: 2, typ: tList, elem: tI64}, {id: 3, typ: tList, elem: tI64},
	}}
	geo := &shape{cost: 128, fields: []shapeField{{id: 2, typ: tList, elem: tI32}}}
	chunkMeta := &shape{cost: 224, fields: []shapeField{
		{id: 2, typ: tList, elem: tI32},
		{id: 3, typ: tList, elem: tBinary},
		{id: 8, typ: tList, elem: tStruct, of: keyValue},
		{id: 12, typ: tStruct, of: statistics},
		{id: 13, typ: tList, elem: tStruct, of: &shape{cost: 40}},
		{id: 16, typ: tStruct, of: sizes},
		{id: 17, typ: tStruct, of: geo},
	}}
	columnKey := &shape{cost: 64, fields: []shapeField{{id: 1, typ: tList, elem: tBinary}}}
	crypto := &shape{cost: 64, fields: []shapeField{{id: 2, typ: tStruct, of: columnKey}}}
	chunk := &shape{cost: 136, fields: []shapeField{
		{id: 3, typ: tStruct, of: chunkMeta}, {id: 8, typ: tStruct, of: crypto},
	}}
	rowGroup := &shape{cost: 136, fields: []shapeField{
		{id: 1, typ: tList, elem: tStruct, of: chunk},
		{id: 4, typ: tList, elem: tStruct, of: &shape{cost: 24}},
	}}
	return &shape{cost: 256, fields: []shapeField{
		{id: 2, typ: tList, elem: tStruct, of: element},
		{id: 4, typ: tList, elem: tStruct, of: rowGroup},
		{id: 5, typ: tList, elem: tStruct, of: keyValue},
		{id: 7, typ: tList, elem: tStruct, of: &shape{cost: 24}},
	}}
}

func (s *shape) field(id int16) *shapeField {
	for i := range s.fields {
		if s.fields[i].id == id {
			return &s.fields[i]
		}
	}
	return nil
}

// weigher adds up what a footer would take once decoded.
type weigher struct {
	cursor
	cost int64
}

// weigh returns the estimated size of the decoded footer in bytes, or an error
// when a length in it cannot be true.
func weigh(footer []byte) (int64, error) {
	w := weigher{cursor: cursor{buf: footer}, cost: int64(len(footer))}
	w.structOf(footerShape(), 0)
	return w.cost, w.err
}

func (w *weigher) structOf(s *shape, depth int) {
	w.cost += s.cost
	var last int16
	for w.err == nil {
		id, typ := w.field(last)
		if typ == tStop {
			return
		}
		last = id
		f := s.field(id)
		switch {
		case f == nil:
			w.skip(typ, depth+1)
		case f.typ != typ:
			w.fail("footer: field %d has type %d, expected %d", id, typ, f.typ)
		case typ == tStruct:
			w.structOf(f.of, depth+1)
		default:
			w.listOf(f, depth+1)
		}
	}
}

func (w *weigher) listOf(f *shapeField, depth int) {
	n, elem := w.list()
	if n > 0 && elem != f.elem {
		w.fail("footer: list of type %d, expected %d", elem, f.elem)
		return
	}
	for i := 0; i < n && w.err == nil; i++ {
		if f.of != nil {
			w.structOf(f.of, depth+1)
			continue
		}
		w.cost += 24
		w.skipElem(elem, depth+1)
	}
}
