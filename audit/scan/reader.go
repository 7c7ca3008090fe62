package scan

import (
	"context"
	"slices"
)

const (
	// softLimit ends a batch at a row's edge once a column has copied so much.
	softLimit = 4 << 20
	// entryStep is how many entries of a repeated or copying column are read at
	// once: its rows are counted, and its bytes held against the limits, after
	// each step.
	entryStep = 1024
)

// columnReader buffers entries of one column chunk until whole rows of all
// columns can be handed out together. What a batch does not take stays.
type columnReader struct {
	pages  *pageReader
	column *Column
	page   *page // nil before the first, and when the one before is used up

	decoder decoder // of the page; nil when it holds dictionary indices
	inPlace bool    // the decoder's values point into the page
	hybrid  hybrid  // the page's dictionary indices

	entries int
	have    int     // entries that hold a value
	starts  int     // entries that begin a row
	allMax  bool    // def stands for entries at MaxDef, and is not filled
	def     []uint8 // empty while allMax
	rep     []uint8 // empty when MaxRep is 0
	values  Values
	indices []uint32
	indexed bool // the values are in indices, not in values
	done    bool // no page is left
}

// complete is how many whole rows are buffered. The last row of a repeated
// column ends only when the next one begins.
func (r *columnReader) complete() int {
	if r.column.MaxRep == 0 || r.done {
		return r.starts
	}
	return max(0, r.starts-1)
}

// fill buffers rows until there are want whole ones, or fewer, but at least
// one, when going on would cost a copy or much memory. None means that the
// chunk has ended.
func (r *columnReader) fill(ctx context.Context, want int) error {
	for r.complete() < want && !r.done {
		if r.page == nil {
			if r.values.Bytes.inPage() && r.complete() >= max(1, want/8) {
				return nil
			}
			if err := r.nextPage(ctx); err != nil {
				return err
			}
			continue
		}
		if r.complete() >= 1 && (r.held() >= softLimit || r.mixes()) {
			return nil
		}
		if err := r.step(want); err != nil {
			return r.pages.at(r.page.ordinal, r.page.offset, err)
		}
		if r.page.left == 0 {
			r.page = nil
		}
		if r.complete() == 0 && r.held() > r.pages.budget {
			return r.pages.fault(OverBudget, "one row takes more than %d bytes", r.pages.budget)
		}
	}
	return nil
}

// held is the memory of what is buffered, less what still stands in the page.
func (r *columnReader) held() int64 {
	return r.values.owned() + int64(4*len(r.indices)+len(r.def)+len(r.rep))
}

// mixes reports whether the page's values have another form than those that
// are buffered.
func (r *columnReader) mixes() bool {
	return r.pages.need == ReadValues && r.have > 0 && r.indexed != (r.decoder == nil)
}

// nextPage moves to the following page. Values of the one before that are still
// buffered are copied out of it first.
func (r *columnReader) nextPage(ctx context.Context) error {
	if r.values.Bytes.inPage() {
		r.values.Bytes.detach()
	}
	p, err := r.pages.next(ctx)
	if err != nil {
		return err
	}
	if p == nil {
		r.done = true
		return nil
	}
	r.page = p
	if r.pages.need == ReadLevels {
		return nil
	}
	return r.pages.at(p.ordinal, p.offset, r.startValues())
}

func (r *columnReader) startValues() (err error) {
	r.decoder, r.inPlace = nil, false
	if e := r.page.encoding; e != encRLEDictionary && e != encPlainDictionary {
		r.decoder, err = newDecoder(r.column, e, r.page.values, r.pages.budget)
		switch r.decoder.(type) {
		case *plainBytes, *plainStrings, *deltaLengths:
			r.inPlace = true
		}
		return err
	}
	if r.pages.dict == nil {
		return faultf(BadPage, "dictionary indices without a dictionary")
	}
	r.hybrid = hybrid{}
	if len(r.page.values) == 0 {
		return nil // every entry is NULL
	}
	width := int(r.page.values[0])
	if width > 32 {
		return faultf(BadPage, "dictionary indices of %d bits", width)
	}
	r.hybrid = newHybrid(r.page.values[1:], width)
	return nil
}

// step reads entries of the current page: as many as are wanted, or a part.
func (r *columnReader) step(want int) error {
	n := min(r.page.left, entryStep)
	if r.column.MaxRep == 0 && !r.copies() {
		n = min(r.page.left, want-r.starts)
	}
	if r.column.MaxRep == 0 {
		n = min(n, want-r.starts)
		r.starts += n
	} else if err := r.readRep(n); err != nil {
		return err
	}
	present, err := r.readDef(n)
	if err != nil {
		return err
	}
	r.entries += n
	r.page.left -= n
	before := r.have
	r.have += present
	if r.pages.need == ReadLevels {
		return nil
	}
	return r.readValues(present, before > 0)
}

// copies reports whether the page's decoder appends strings of any length.
func (r *columnReader) copies() bool {
	_, delta := r.decoder.(*deltaStrings)
	return delta || r.values.Bytes.own
}

func (r *columnReader) readRep(n int) error {
	at := len(r.rep)
	r.rep = slices.Grow(r.rep, n)[:at+n]
	part := r.rep[at:]
	if err := r.page.rep.read(part); err != nil {
		return err
	}
	if r.starts == 0 && part[0] != 0 {
		return errMidRow
	}
	r.starts += countPresent(part, 0)
	return nil
}

// readDef reads n definition levels and returns how many values they announce.
func (r *columnReader) readDef(n int) (int, error) {
	same, err := r.page.def.allMax(n)
	if err != nil {
		return 0, err
	}
	if same == n && r.allMax {
		return n, nil
	}
	if r.allMax {
		r.def = slices.Grow(r.def[:0], r.entries+n)[:r.entries]
		fill(r.def, r.column.MaxDef)
		r.allMax = false
	}
	at := len(r.def)
	r.def = slices.Grow(r.def, n)[:at+n]
	part := r.def[at:]
	fill(part[:same], r.column.MaxDef)
	if err := r.page.def.read(part[same:]); err != nil {
		return 0, err
	}
	return countPresent(part, r.column.MaxDef), nil
}

// readValues decodes n values into the form of those that are buffered already
// or, when none is, into the page's own.
func (r *columnReader) readValues(n int, buffered bool) error {
	if r.decoder != nil {
		if r.indexed && buffered {
			if err := r.lookUp(r.indices); err != nil {
				return err
			}
		}
		r.indices, r.indexed = r.indices[:0], false
		return r.decoder.decode(&r.values, n)
	}
	if !buffered {
		r.indexed = true
	}
	at := len(r.indices)
	r.indices = slices.Grow(r.indices, n)[:at+n]
	part := r.indices[at:]
	if err := r.hybrid.indices(part, uint32(r.pages.dict.Len)); err != nil {
		return err
	}
	if r.indexed {
		return nil
	}
	r.indices = r.indices[:0]
	return r.lookUp(part)
}

// lookUp appends the dictionary's values at the given positions: one row has
// both forms. Few positions can stand for many bytes, so those are counted
// first.
func (r *columnReader) lookUp(at []uint32) error {
	from := &r.pages.dict.Values
	size := int64(len(r.values.Bytes.Data))
	if from.Bytes.count > 0 {
		for _, i := range at {
			size += int64(len(from.Bytes.At(int(i))))
		}
	}
	if size > r.pages.budget {
		return faultf(OverBudget, "one row takes more than %d bytes", r.pages.budget)
	}
	r.values.gather(r.column, from, at)
	return nil
}
