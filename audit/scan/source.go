package scan

import (
	"context"
	"io"
)

// ReaderAt makes a [Source] of size bytes from r, such as an open file. A file
// that has become shorter is io.ErrUnexpectedEOF.
func ReaderAt(r io.ReaderAt, size int64) Source { return readerAt{r: r, size: size} }

type readerAt struct {
	r    io.ReaderAt
	size int64
}

func (s readerAt) Size() int64 { return s.size }

func (s readerAt) ReadRange(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := s.r.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
