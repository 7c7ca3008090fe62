package audit

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
)

// spillFile keeps entries of a keyset that do not fit in memory. The zero value
// is ready. Reads may be concurrent, writes not.
type spillFile struct {
	file *os.File // nil until something is written
	end  int64
	buf  []byte
}

// segment is a piece of the spill file, in bytes.
type segment struct{ offset, length int64 }

func (f *spillFile) write(p *keyPart, entries []uint64) error {
	if len(entries) == 0 {
		return nil
	}
	if f.file == nil {
		file, err := os.CreateTemp("", "wap-keys-*")
		if err != nil {
			return fmt.Errorf("create temporary file for keys: %w", err)
		}
		f.file = file
		// Unlinked at once: nothing is left behind, however the process ends.
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("unlink temporary file for keys: %w", err)
		}
	}
	f.buf = f.buf[:0]
	for _, e := range entries {
		f.buf = binary.LittleEndian.AppendUint64(f.buf, e)
	}
	if _, err := f.file.WriteAt(f.buf, f.end); err != nil {
		return fmt.Errorf("write temporary file for keys: %w", err)
	}
	p.segments = append(p.segments, segment{f.end, int64(len(f.buf))})
	f.end += int64(len(f.buf))
	return nil
}

// read appends a segment's entries.
func (f *spillFile) read(dst []uint64, s segment) ([]uint64, error) {
	const step = 64 << 10
	buf := make([]byte, min(step, s.length))
	dst = slices.Grow(dst, int(s.length/8))
	for s.length > 0 {
		buf = buf[:min(int64(len(buf)), s.length)]
		if _, err := f.file.ReadAt(buf, s.offset); err != nil {
			return dst, fmt.Errorf("read temporary file for keys: %w", err)
		}
		for b := buf; len(b) > 0; b = b[8:] {
			dst = append(dst, binary.LittleEndian.Uint64(b))
		}
		s.offset += int64(len(buf))
		s.length -= int64(len(buf))
	}
	return dst, nil
}

func (f *spillFile) close() error {
	if f.file == nil {
		return nil
	}
	if err := f.file.Close(); err != nil {
		return fmt.Errorf("close temporary file for keys: %w", err)
	}
	return nil
}
