package scan

import (
	"bytes"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Shared is what files that are read together have in common: memory to read
// with, and the schema while it stays the same. The zero value is ready; its use
// may be concurrent.
type Shared struct {
	// Keep is how many bytes of memory wait for their next use at most; 0 means
	// 16 MiB. Pages that do not fit make each chunk ask for memory of its own.
	Keep int64

	memory   freeList[*memory]
	segments freeList[buffer]

	mu   sync.Mutex
	last *fileSchema
}

// openMemory returns memory to read a chunk with.
func (s *Shared) openMemory(c chunk) *memory {
	if m := s.memory.take(c.plain); m != nil {
		return m
	}
	return new(memory)
}

func (s *Shared) closeMemory(m *memory) { s.memory.give(m, s.keep()) }

// openBuffer returns n bytes.
func (s *Shared) openBuffer(n int64) buffer {
	return slices.Grow(s.segments.take(n)[:0], int(n))[:n]
}

func (s *Shared) closeBuffer(b buffer) { s.segments.give(b, s.keep()) }

func (s *Shared) keep() int64 {
	if s.Keep > 0 {
		return s.Keep
	}
	return 16 << 20
}

// freeList keeps memory for the next who needs it, so much in all. Unlike a
// sync.Pool it keeps it over collections, which come quickly while little lives.
type freeList[T interface{ size() int64 }] struct {
	mu   sync.Mutex
	list []T
	held int64
}

// take returns the least that is large enough for so many bytes, else the
// largest there is, or the zero value.
func (l *freeList[T]) take(bytes int64) (x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	best := -1
	for i, y := range l.list {
		if best < 0 {
			best = i
			continue
		}
		n, least := y.size(), l.list[best].size()
		if n > least && least < bytes || n < least && n >= bytes {
			best = i
		}
	}
	if best >= 0 {
		x = l.list[best]
		l.list = slices.Delete(l.list, best, best+1)
		l.held -= x.size()
	}
	return x
}

// give keeps memory, unless that makes it more than so many bytes in all.
func (l *freeList[T]) give(x T, keep int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := x.size(); l.held+n <= keep {
		l.list, l.held = append(l.list, x), l.held+n
	}
}

type buffer []byte

func (b buffer) size() int64 { return int64(cap(b)) }

func (m *memory) size() int64 {
	n := cap(m.window) + cap(m.spare) + cap(m.body) + cap(m.inflate.frame) + cap(m.inflate.blocks) +
		cap(m.def) + cap(m.rep) + 4*cap(m.indices)
	v := &m.values
	n += cap(v.Bools) + 4*(cap(v.Int32s)+cap(v.Floats)+cap(v.Bytes.Offsets)) + 8*(cap(v.Int64s)+cap(v.Doubles)) +
		12*cap(v.Int96s) + cap(v.Bytes.buffer)
	return int64(n)
}

// schemaOf returns the schema that stands in a footer as raw.
func (s *Shared) schemaOf(raw []byte, source *schema.Schema) (*fileSchema, error) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if last != nil && bytes.Equal(last.raw, raw) {
		return last, nil
	}
	f := &fileSchema{source: source, raw: bytes.Clone(raw)}
	if err := f.build(); err != nil {
		return nil, err
	}
	f.source = nil
	s.mu.Lock()
	s.last = f
	s.mu.Unlock()
	return f, nil
}

// SameSchema reports whether both files share one schema in memory: then their
// columns and references are the same. False says nothing.
func (f *File) SameSchema(o *File) bool { return f.fileSchema == o.fileSchema }
