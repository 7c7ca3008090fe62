package scan

import "context"

// rowGroupScan pulls the columns of one row group in step.
type rowGroupScan struct {
	columns   []*columnReader
	batch     Batch
	batchRows int
	left      int64 // rows not handed out yet
}

func (p *Plan) openScan() *rowGroupScan {
	s := &rowGroupScan{batchRows: p.file.opts.BatchRows, batch: Batch{RowGroup: p.rowGroup, Columns: make([]Vector, len(p.chunks))}}
	for _, c := range p.chunks {
		r := &columnReader{column: c.column, allMax: true}
		r.pages = p.file.openChunk(c.chunk, c.need, p.src, p.readSize)
		m := r.pages.memory
		r.def, r.rep, r.indices, r.values = m.def, m.rep, m.indices, m.values
		r.pages.window.ahead = p.file.opts.ReadAhead && c.need == ReadValues
		s.columns = append(s.columns, r)
		s.left, s.batch.FirstRow = c.rows, c.firstRow
	}
	return s
}

func (s *rowGroupScan) run(ctx context.Context, fn func(*Batch) error) error {
	for s.left > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := s.fill(ctx)
		if err != nil {
			return err
		}
		if err := s.emit(n, fn); err != nil {
			return err
		}
	}
	return s.finish(ctx)
}

// stop ends the reads that are still under way: none outlives the scan.
func (s *rowGroupScan) stop(cancel context.CancelFunc, f *File) {
	cancel()
	for _, c := range s.columns {
		c.values.reset()
		m := c.pages.memory
		m.def, m.rep, m.indices, m.values = c.def[:0], c.rep[:0], c.indices[:0], c.values
		c.pages.close(f)
	}
}

// fill buffers rows in every column and returns how many all of them have.
func (s *rowGroupScan) fill(ctx context.Context) (int, error) {
	rows := int(min(s.left, int64(s.batchRows)))
	// A batch that ends where a page does needs no copy of strings.
	for _, c := range s.columns {
		if c.column.MaxRep == 0 && c.page != nil && c.inPlace {
			if n := c.entries + c.page.left; n >= s.batchRows/8 {
				rows = min(rows, n)
			}
		}
	}
	for _, c := range s.columns {
		if err := c.fill(ctx, rows); err != nil {
			return 0, err
		}
		n := c.complete()
		if n == 0 {
			return 0, c.pages.fault(BadRows, "the column has %d rows, the row group %d", c.pages.rows-s.left, c.pages.rows)
		}
		rows = min(rows, n)
	}
	return rows, nil
}

// emit hands out rows rows and drops them.
func (s *rowGroupScan) emit(rows int, fn func(*Batch) error) error {
	s.batch.Rows = rows
	for i, c := range s.columns {
		s.batch.Columns[i] = c.view(rows)
	}
	err := fn(&s.batch)
	for i, c := range s.columns {
		c.drop(&s.batch.Columns[i], rows)
	}
	s.left -= int64(rows)
	s.batch.FirstRow += int64(rows)
	return err
}

// finish makes sure that no column has more than the row group.
func (s *rowGroupScan) finish(ctx context.Context) error {
	for _, c := range s.columns {
		if c.entries == 0 && c.page == nil && !c.done {
			if err := c.nextPage(ctx); err != nil {
				return err
			}
		}
		if c.entries > 0 || c.page != nil {
			return c.pages.fault(BadRows, "the column has more rows than the row group's %d", c.pages.rows)
		}
	}
	return nil
}

// view exposes the first rows buffered rows.
func (r *columnReader) view(rows int) Vector {
	v := Vector{Column: r.column, Need: r.pages.need, Entries: r.entriesOf(rows)}
	v.Present = v.Entries
	if !r.allMax {
		v.Def, v.Present = r.def[:v.Entries], r.have
		if v.Entries < r.entries {
			v.Present = countPresent(v.Def, r.column.MaxDef)
		}
		if v.Present == v.Entries {
			v.Def = nil
		}
	}
	if r.column.MaxRep > 0 {
		v.Rep = r.rep[:v.Entries]
	}
	if r.pages.need == ReadLevels {
		return v
	}
	if r.indexed {
		v.Dict, v.Indices = r.pages.dict, r.indices[:v.Present]
	} else {
		v.Values = r.values.prefix(r.column, v.Present)
	}
	v.countBadUTF8()
	return v
}

// entriesOf is how many entries the first rows rows take.
func (r *columnReader) entriesOf(rows int) int {
	if r.column.MaxRep == 0 {
		return rows
	}
	if rows == r.starts {
		return r.entries
	}
	for i, v := range r.rep {
		if v != 0 {
			continue
		}
		if rows == 0 {
			return i
		}
		rows--
	}
	return r.entries
}

// drop removes what v exposed.
func (r *columnReader) drop(v *Vector, rows int) {
	entries := v.Entries
	r.starts -= rows
	r.entries -= entries
	r.have -= v.Present
	if !r.allMax {
		r.def = drop(r.def, entries)
	}
	if r.column.MaxRep > 0 {
		r.rep = drop(r.rep, entries)
	}
	if r.entries == 0 {
		r.allMax = true
		r.def = r.def[:0]
		r.indices = r.indices[:0]
		r.values.reset()
		r.indexed = false
		return
	}
	if r.pages.need == ReadLevels {
		return
	}
	if r.indexed {
		r.indices = drop(r.indices, v.Present)
	} else {
		r.values.drop(r.column, v.Present)
	}
}
