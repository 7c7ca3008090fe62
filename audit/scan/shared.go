package scan

import (
	"bytes"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Shared is what files that are read together have in common: memory to read
// with, and the schema while it stays the same. The zero value is ready; its use
// may be concurrent.
type Shared struct {
	memory   freeList[*memory]
	segments freeList[buffer]

	mu   sync.Mutex
	last *fileSchema
}

// freeList keeps memory for the next who needs it, so much in all. Unlike a
// sync.Pool it keeps it over collections, which come quickly while little lives.
type freeList[T interface{ size() int64 }] struct {
	mu   sync.Mutex
	list []T
	held int64
}

// keepFree is how many bytes a list keeps at most.
const keepFree = 16 << 20

// take returns the zero value when there is none.
func (l *freeList[T]) take() (x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.list); n > 0 {
		x, l.list = l.list[n-1], l.list[:n-1]
		l.held -= x.size()
	}
	return x
}

func (l *freeList[T]) give(x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := x.size(); l.held+n <= keepFree {
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
