package scan

import (
	"context"
	"slices"
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
	// Places[def] are the first rows of the chunk at that level, from 0, as many
	// as were asked for. Only below the column's MaxDef, and nil of a column that
	// is repeated.
	Places [][]int64
}

// Add adds o, counts of another chunk of the same column. Places stay those of
// the first.
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

// Nulls is the number of entries without a value.
func (c *LevelCounts) Nulls() int64 {
	n := c.Entries
	for rep := range c.Counts {
		n -= c.Counts[rep][len(c.Counts[rep])-1]
	}
	return n
}

// NullPlaces are the first rows, from 0 in the chunk, in which a path that is
// not repeated is NULL: as many as were asked for, or all.
func (c *LevelCounts) NullPlaces(r Ref, places int) []int64 {
	var rows []int64
	for def := range min(int(r.NonNull), len(c.Places)) {
		rows = append(rows, c.Places[def]...)
	}
	slices.Sort(rows)
	return rows[:min(places, len(rows))]
}

func newCounts(reps, defs int) [][]int64 {
	counts := make([][]int64, reps)
	for i := range counts {
		counts[i] = make([]int64, defs)
	}
	return counts
}

// CountLevels reads the levels of every page of one column chunk and none of
// its values. It notes the places of so many NULLs.
func (f *File) CountLevels(ctx context.Context, rg, column, places int) (LevelCounts, error) {
	c, err := f.chunk(rg, column)
	if err != nil {
		return LevelCounts{}, err
	}
	pages := f.openChunk(c, ReadLevels, f.src, f.opts.ReadSize)
	defer pages.close(f)
	return pages.countLevels(ctx, places)
}

func (r *pageReader) countLevels(ctx context.Context, places int) (LevelCounts, error) {
	t := newTally(r.column, places)
	for {
		if err := ctx.Err(); err != nil {
			return LevelCounts{}, err
		}
		p, err := r.next(ctx)
		if err != nil {
			return LevelCounts{}, err
		}
		if p == nil {
			break
		}
		if err := t.page(p); err != nil {
			return LevelCounts{}, r.at(p.ordinal, p.offset, err)
		}
	}
	if t.rows != r.rows {
		return LevelCounts{}, r.fault(BadRows, "the column has %d rows, the row group %d", t.rows, r.rows)
	}
	if t.rowHasNull {
		t.nullRows++
	}
	return LevelCounts{Rows: t.rows, Entries: r.entries, Counts: t.counts, NullRows: t.nullRows, Places: t.places}, nil
}

// tally counts the levels of one chunk.
type tally struct {
	column     *Column
	counts     [][]int64
	rows       int64
	nullRows   int64
	rowHasNull bool // of the row that is being read
	places     [][]int64
	most       int // places of each level that are wanted
	def, rep   [entryStep]uint8
}

func newTally(c *Column, places int) tally {
	t := tally{column: c, counts: newCounts(int(c.MaxRep)+1, int(c.MaxDef)+1), most: places}
	if c.MaxRep == 0 {
		t.places = make([][]int64, c.MaxDef)
	}
	return t
}

func (t *tally) page(p *page) error {
	if t.column.MaxRep == 0 {
		return t.flat(p)
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
