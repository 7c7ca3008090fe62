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
	memory   sync.Pool // of *memory
	segments sync.Pool // of *[]byte

	mu   sync.Mutex
	last *fileSchema
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
