package audit

import (
	"encoding/binary"
	"fmt"
	"os"
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

// write adds blocks of a part's entries.
func (f *spillFile) write(p *keyPart, blocks [][]uint64) error {
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
	seg := segment{offset: f.end}
	for _, b := range blocks {
		for len(b) > 0 {
			n := min(len(b), (spillStep-len(f.buf))/8)
			for _, e := range b[:n] {
				f.buf = binary.LittleEndian.AppendUint64(f.buf, e)
			}
			if b = b[n:]; len(f.buf) < spillStep {
				continue
			}
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	if err := f.flush(); err != nil {
		return err
	}
	seg.length = f.end - seg.offset
	p.segments = append(p.segments, seg)
	return nil
}

// spillStep is how many bytes are written or read at once.
const spillStep = 256 << 10

func (f *spillFile) flush() error {
	if _, err := f.file.WriteAt(f.buf, f.end); err != nil {
		return fmt.Errorf("write temporary file for keys: %w", err)
	}
	f.end += int64(len(f.buf))
	f.buf = f.buf[:0]
	return nil
}

// read calls fn with a segment's entries, which are valid during the call.
func (f *spillFile) read(s segment, fn func(entries []uint64)) error {
	buf := make([]byte, min(spillStep, s.length))
	entries := make([]uint64, 0, len(buf)/8)
	for s.length > 0 {
		buf = buf[:min(int64(len(buf)), s.length)]
		if _, err := f.file.ReadAt(buf, s.offset); err != nil {
			return fmt.Errorf("read temporary file for keys: %w", err)
		}
		entries = entries[:0]
		for b := buf; len(b) > 0; b = b[8:] {
			entries = append(entries, binary.LittleEndian.Uint64(b))
		}
		fn(entries)
		s.offset += int64(len(buf))
		s.length -= int64(len(buf))
	}
	return nil
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
