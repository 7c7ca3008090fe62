package scan

import (
	"context"
	"fmt"
)

const (
	// readBudget is divided among the columns of a scan for what they read at
	// once.
	readBudget  = 64 << 20
	minReadSize = 64 << 10
)

// Plan is what will be read of one row group, known before the first byte is. It
// is used by one goroutine, and must be closed.
type Plan struct {
	file     *File
	rowGroup int
	readSize int64
	chunks   []plannedChunk // of the columns in batches
	src      *segments
	cancel   context.CancelFunc // of what Begin began
}

type plannedChunk struct {
	chunk
	need Need
}

// Plan prepares to read what req asks of row group rg, from 0.
func (f *File) Plan(rg int, req Request) (*Plan, error) {
	p := &Plan{file: f, rowGroup: rg, cancel: func() {}}
	var all []plannedChunk
	seen := make(map[int]bool, len(req.Columns)+len(req.Counted))
	add := func(want ColumnNeed) error {
		c, err := f.chunk(rg, want.Column)
		if err != nil {
			return err
		}
		if seen[want.Column] {
			return fmt.Errorf("scan column %s: requested twice", c.column.Dotted)
		}
		seen[want.Column] = true
		all = append(all, plannedChunk{c, want.Need})
		return nil
	}
	for _, want := range req.Columns {
		if err := add(want); err != nil {
			return nil, err
		}
	}
	p.chunks = all
	for _, column := range req.Counted {
		if err := add(ColumnNeed{column, ReadLevels}); err != nil {
			return nil, err
		}
	}
	p.readSize = min(f.opts.ReadSize, max(minReadSize, readBudget/int64(max(1, len(all)))))
	ahead := aheadOf(all, f.opts.PageBudget/8)
	var spans []span
	for _, c := range all {
		spans = append(spans, c.spans(p.readSize, max(p.readSize, ahead))...)
	}
	p.src = joinSpans(f.src, spans, f.opts.Shared)
	if !f.opts.ReadAhead {
		p.src.dropSingles()
	}
	return p, nil
}

// aheadOf is how much of each chunk's values is fetched ahead: all, if that is
// within a limit, else equal shares of it.
func aheadOf(chunks []plannedChunk, limit int64) int64 {
	total := int64(0)
	for _, c := range chunks {
		if c.need == ReadValues {
			total += c.end - c.begin
		}
	}
	if total <= limit {
		return limit
	}
	return limit / int64(len(chunks))
}

// spans are the parts of the chunk that are read whatever stands in them: of
// values as many bytes as are fetched ahead, in reads of size, else as far as one
// read goes. What has to be read of levels is a guess; pages tell.
func (c plannedChunk) spans(size, ahead int64) []span {
	upTo := func(from, n int64) span { return span{from, min(c.end, from+n), from+n < c.end} }
	switch {
	case c.need == ReadValues:
		var list []span
		for from, to := c.begin, min(c.end, c.begin+ahead); from < to; from += size {
			list = append(list, upTo(from, min(size, to-from)))
		}
		return list
	case c.column.MaxDef == 0:
		return []span{upTo(c.begin, headRead)}
	case c.begin < c.data && c.data < c.end:
		return []span{{begin: c.begin, end: min(c.data, c.begin+headRead)}, upTo(c.data, min(c.frontSize(), size))}
	}
	return []span{upTo(c.begin, min(c.frontSize(), size))}
}

// Bytes is how much memory what Begin fetches takes.
func (p *Plan) Bytes() (n int64) {
	for _, g := range p.src.list {
		n += g.end - g.begin
	}
	return n
}

// Requests is how many requests Begin makes.
func (p *Plan) Requests() int { return len(p.src.list) }

// Begin fetches what the plan begins with, in the background and all at once. No
// read outlives ctx's end by more than the source takes to notice, nor Close.
func (p *Plan) Begin(ctx context.Context) {
	ctx, p.cancel = context.WithCancel(ctx)
	for _, g := range p.src.list {
		p.src.fetching.Go(func() { _ = g.fetch(ctx, p.src.Source) }) // who reads it will see the error
	}
}

// Close ends what Begin began.
func (p *Plan) Close() {
	p.cancel()
	p.src.close()
}

// Count reads the levels of a column that was planned as counted.
func (p *Plan) Count(ctx context.Context, column, places int) (LevelCounts, error) {
	c, err := p.file.chunk(p.rowGroup, column)
	if err != nil {
		return LevelCounts{}, err
	}
	pages := p.file.openChunk(c, ReadLevels, p.src, p.readSize)
	defer pages.close(p.file)
	return pages.countLevels(ctx, places)
}

// Run reads the planned columns in step and calls fn with batches of up to
// Options.BatchRows rows, in order. It stops at fn's error and returns it as it
// is. A row group of no rows is read as nothing.
//
// When it returns nil, every requested page has been decoded as far as it was
// needed, and each column had exactly the rows that the footer gives the group.
func (p *Plan) Run(ctx context.Context, fn func(*Batch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	s := p.openScan()
	defer s.stop(cancel, p.file)
	return s.run(ctx, fn)
}

// ScanRowGroup is Plan, Begin where Options say so, Run and Close.
func (f *File) ScanRowGroup(ctx context.Context, rg int, req Request, fn func(*Batch) error) error {
	p, err := f.Plan(rg, req)
	if err != nil {
		return err
	}
	defer p.Close()
	if f.opts.ReadAhead {
		p.Begin(ctx)
	}
	return p.Run(ctx, fn)
}
