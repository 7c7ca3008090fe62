package scan

import (
	"context"
	"math/bits"
)

// LevelCounts is what the levels of one column chunk, or of several added up,
// say. No value was decoded for it, so it is exact for NULLs and nothing else.
type LevelCounts struct {
	Rows    int64
	Entries int64
	// Counts[rep][def] is the number of entries at these levels.
	Counts [][]int64
	// NullRows is the number of rows in which at least one instance of the
	// leaf is NULL.
	NullRows int64
}

// Add adds o, counts of another chunk of the same column.
func (c *LevelCounts) Add(o LevelCounts) {
	if c.Counts == nil {
		c.Counts = newCounts(len(o.Counts), len(o.Counts[0]))
	}
	c.Rows += o.Rows
	c.Entries += o.Entries
	c.NullRows += o.NullRows
	for rep := range o.Counts {
		for def, n := range o.Counts[rep] {
			c.Counts[rep][def] += n
		}
	}
}

// Of counts the instances of a path at or above the column, and the NULLs among
// them. For a path that is not repeated the instances are the rows.
func (c *LevelCounts) Of(r Ref) (instances, nulls int64) {
	for rep := 0; rep <= int(r.Rep) && rep < len(c.Counts); rep++ {
		for def, n := range c.Counts[rep] {
			if def >= int(r.Exists) {
				instances += n
				if def < int(r.NonNull) {
					nulls += n
				}
			}
		}
	}
	return instances, nulls
}

func newCounts(reps, defs int) [][]int64 {
	counts := make([][]int64, reps)
	for i := range counts {
		counts[i] = make([]int64, defs)
	}
	return counts
}

// CountLevels reads the levels of every page of one column chunk and none of
// its values.
func (f *File) CountLevels(ctx context.Context, rg, column int) (LevelCounts, error) {
	c, err := f.chunk(rg, column)
	if err != nil {
		return LevelCounts{}, err
	}
	t := tally{column: c.column, counts: newCounts(int(c.column.MaxRep)+1, int(c.column.MaxDef)+1)}
	pages := f.openChunk(c, ReadLevels, f.src, f.opts.ReadSize)
	defer pages.close(f)
	for {
		if err := ctx.Err(); err != nil {
			return LevelCounts{}, err
		}
		p, err := pages.next(ctx)
		if err != nil {
			return LevelCounts{}, err
		}
		if p == nil {
			break
		}
		if err := t.page(p); err != nil {
			return LevelCounts{}, pages.at(p.ordinal, p.offset, err)
		}
	}
	if t.rows != c.rows {
		return LevelCounts{}, c.fault(BadRows, "the column has %d rows, the row group %d", t.rows, c.rows)
	}
	if t.rowHasNull {
		t.nullRows++
	}
	return LevelCounts{Rows: t.rows, Entries: c.entries, Counts: t.counts, NullRows: t.nullRows}, nil
}

// tally counts the levels of one chunk.
type tally struct {
	column     *Column
	counts     [][]int64
	rows       int64
	nullRows   int64
	rowHasNull bool // of the row that is being read
	def, rep   [entryStep]uint8
}

func (t *tally) page(p *page) error {
	if t.column.MaxRep == 0 {
		t.rows += int64(p.left)
		before := t.present()
		if err := p.def.tally(p.left, t.counts[0]); err != nil {
			return err
		}
		t.nullRows += int64(p.left) - (t.present() - before)
		return nil
	}
	for p.left > 0 {
		n, err := t.run(p)
		if err != nil {
			return err
		}
		if p.left -= n; n > 0 {
			continue
		}
		n = min(p.left, entryStep)
		if err := p.rep.read(t.rep[:n]); err != nil {
			return err
		}
		if err := p.def.read(t.def[:n]); err != nil {
			return err
		}
		if t.rows == 0 && t.rep[0] != 0 {
			return errMidRow
		}
		t.entries(t.rep[:n], t.def[:n])
		p.left -= n
	}
	return nil
}

// run counts entries in one step while both kinds of levels repeat themselves,
// and returns how many: billions of NULLs can stand in a few bytes.
func (t *tally) run(p *page) (int, error) {
	rep, n, err := p.rep.repeats(p.left)
	if n < 2 || err != nil {
		return 0, err
	}
	def, n, err := p.def.repeats(n)
	if n < 2 || err != nil {
		return 0, err
	}
	if t.rows == 0 && rep != 0 {
		return 0, errMidRow
	}
	// The first two entries settle whether the row before had a NULL; each of
	// the rest is like the second.
	t.entries([]uint8{rep, rep}, []uint8{def, def})
	more := int64(n - 2)
	t.counts[rep][def] += more
	if rep == 0 {
		t.rows += more
		if t.rowHasNull {
			t.nullRows += more
		}
	}
	p.rep.pass(n)
	p.def.pass(n)
	return n, nil
}

func (t *tally) present() int64 { return t.counts[0][t.column.MaxDef] }

func (t *tally) entries(rep, def []uint8) {
	ref := t.column.Ref
	for i, r := range rep {
		if r == 0 {
			t.rows++
			if t.rowHasNull {
				t.nullRows++
			}
			t.rowHasNull = false
		}
		d := def[i]
		t.counts[r][d]++
		if d >= ref.Exists && d < ref.NonNull {
			t.rowHasNull = true
		}
	}
}

// tally counts n levels into counts, a run at a time.
func (s *levelStream) tally(n int, counts []int64) error {
	if s.max == 0 {
		counts[0] += int64(n)
		return nil
	}
	if s.legacy != nil {
		return s.tallyPieces(n, counts)
	}
	for n > 0 {
		if err := s.hybrid.next(); err != nil {
			return err
		}
		k := min(n, s.hybrid.run)
		switch {
		case s.hybrid.packed == nil && s.hybrid.value > uint32(s.max):
			return faultf(BadPage, "level %d, the column's maximum is %d", s.hybrid.value, s.max)
		case s.hybrid.packed == nil:
			counts[s.hybrid.value] += int64(k)
			s.hybrid.run -= k
		case s.max == 1:
			ones := s.hybrid.ones(k)
			counts[1] += int64(ones)
			counts[0] += int64(k - ones)
		default:
			if err := s.tallyPieces(k, counts); err != nil {
				return err
			}
		}
		n -= k
	}
	return nil
}

// tallyPieces expands the levels a piece at a time.
func (s *levelStream) tallyPieces(n int, counts []int64) error {
	var piece [entryStep]uint8
	for n > 0 {
		part := piece[:min(n, entryStep)]
		if err := s.read(part); err != nil {
			return err
		}
		for _, v := range part {
			counts[v]++
		}
		n -= len(part)
	}
	return nil
}

// ones counts set bits among the next n values of a bit-packed run of width 1.
func (h *hybrid) ones(n int) int {
	h.run -= n
	count := 0
	for ; n > 0 && h.bit&7 != 0; n-- {
		count += int(h.packed[h.bit>>3] >> (h.bit & 7) & 1)
		h.bit++
	}
	whole := h.packed[h.bit>>3:][:n>>3]
	for _, b := range whole {
		count += bits.OnesCount8(b)
	}
	h.bit += n &^ 7
	for n &= 7; n > 0; n-- {
		count += int(h.packed[h.bit>>3] >> (h.bit & 7) & 1)
		h.bit++
	}
	return count
}
