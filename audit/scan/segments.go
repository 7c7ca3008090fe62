package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

const (
	// segmentGap is how many unwanted bytes may lie between two chunks that are
	// fetched in one request.
	segmentGap = 64 << 10
	// segmentMax is the largest request that is put together from chunks.
	segmentMax = 4 << 20
)

// span is a range of bytes in the file.
type span struct {
	begin, end int64
	cut        bool // what follows will be read, too
}

// segments is a [Source] for the chunks of one row group: parts of them that
// stand near each other are fetched together, when the first of them is read, if
// not before, and are let go when all of it has been read.
type segments struct {
	Source
	list     []*segment // in file order, apart from each other
	shared   *Shared
	fetching sync.WaitGroup
}

type segment struct {
	span
	parts int

	once sync.Once     // who fetches it
	done chan struct{} // closed once it is fetched
	err  error

	shared *Shared
	buffer []byte

	mu     sync.Mutex
	data   []byte
	unread int64 // bytes of parts not yet handed out
}

// joinSpans plans the segments of spans. Overlapping ones are read each by
// itself, but for the first.
func joinSpans(src Source, spans []span, shared *Shared) *segments {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
	s := &segments{Source: src, shared: shared}
	var last *segment
	for _, c := range spans {
		switch {
		case c.end <= c.begin:
			continue
		case last != nil && c.begin < last.end:
			continue
		case last == nil, last.cut, c.begin-last.end > segmentGap, c.end-last.begin > segmentMax:
			last = &segment{span: span{begin: c.begin}, done: make(chan struct{}), shared: shared}
			s.list = append(s.list, last)
		}
		last.end, last.cut = c.end, c.cut
		last.parts++
		last.unread += c.end - c.begin
	}
	return s
}

// dropSingles removes segments of one part, which bring nothing unless they are
// fetched ahead.
func (s *segments) dropSingles() {
	s.list = slices.DeleteFunc(s.list, func(g *segment) bool { return g.parts < 2 })
}

func (s *segments) ReadRange(ctx context.Context, p []byte, off int64) error {
	for _, g := range s.list {
		if off < g.begin || off >= g.end {
			continue
		}
		n := min(int64(len(p)), g.end-off)
		if err := g.read(ctx, s.Source, p[:n], off); err != nil || n == int64(len(p)) {
			return err
		}
		return s.ReadRange(ctx, p[n:], off+n)
	}
	return s.Source.ReadRange(ctx, p, off)
}

// close waits for what is being fetched, and gives the memory back.
func (s *segments) close() {
	s.fetching.Wait()
	for _, g := range s.list {
		if g.buffer != nil {
			s.shared.closeBuffer(g.buffer)
			g.buffer, g.data = nil, nil
		}
	}
	s.list = nil
}

// fetch reads the segment, unless somebody does or did.
func (g *segment) fetch(ctx context.Context, src Source) error {
	mine := false
	g.once.Do(func() { mine = true })
	if !mine {
		<-g.done
		return g.err
	}
	defer close(g.done)
	g.buffer = g.shared.openBuffer(g.end - g.begin)
	if g.err = src.ReadRange(ctx, g.buffer, g.begin); g.err == nil {
		g.data = g.buffer
	}
	return g.err
}

func (g *segment) read(ctx context.Context, src Source, p []byte, off int64) error {
	if err := g.fetch(ctx, src); err != nil {
		return err
	}
	g.mu.Lock()
	data := g.data
	if g.unread -= int64(len(p)); g.unread <= 0 {
		g.data = nil
	}
	g.mu.Unlock()
	if data == nil {
		return src.ReadRange(ctx, p, off) // it was let go
	}
	copy(p, data[off-g.begin:])
	return nil
}
