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

// segments is a [Source] for the chunks of one row group: small ones that stand
// near each other are fetched together, when the first of them is read, and
// their bytes are let go when the last of them has been.
type segments struct {
	Source
	list []*segment // in file order, apart from each other
}

type segment struct {
	begin, end int64
	chunks     int

	mu     sync.Mutex
	data   []byte
	unread int64 // bytes of chunks not yet handed out
}

// joinChunks plans the segments of chunks, of which those above small bytes
// stay by themselves.
func joinChunks(src Source, chunks []chunk, small int64) *segments {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b chunk) int { return cmp.Compare(a.begin, b.begin) })
	s := &segments{Source: src}
	var last *segment
	for _, c := range chunks {
		size := c.end - c.begin
		if size > small {
			continue
		}
		if last == nil || c.begin < last.end || c.begin-last.end > segmentGap || c.end-last.begin > segmentMax {
			last = &segment{begin: c.begin, end: c.begin}
			s.list = append(s.list, last)
		}
		last.end = c.end
		last.chunks++
		last.unread += size
	}
	// One chunk alone needs no plan, and overlapping ones are not worth one.
	s.list = slices.DeleteFunc(s.list, func(g *segment) bool { return g.chunks < 2 })
	return s
}

func (s *segments) ReadRange(ctx context.Context, p []byte, off int64) error {
	for _, g := range s.list {
		if off >= g.begin && off+int64(len(p)) <= g.end {
			return g.read(ctx, s.Source, p, off)
		}
	}
	return s.Source.ReadRange(ctx, p, off)
}

func (g *segment) read(ctx context.Context, src Source, p []byte, off int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.data == nil {
		data := make([]byte, g.end-g.begin)
		if err := src.ReadRange(ctx, data, g.begin); err != nil {
			return err
		}
		g.data = data
	}
	copy(p, g.data[off-g.begin:])
	if g.unread -= int64(len(p)); g.unread <= 0 {
		g.data = nil
	}
	return nil
}
