package store

import (
	"context"
	"fmt"
	"io"
)

// chunk is how much is copied between two looks at the context, in bytes.
const chunk = 1 << 20

// copyAll copies exactly size bytes of src to dst; a shorter source is
// io.ErrUnexpectedEOF.
func copyAll(ctx context.Context, dst io.Writer, src io.ReaderAt, size int64) error {
	if size < 0 {
		return fmt.Errorf("size %d is negative", size)
	}
	buf := make([]byte, min(size, chunk))
	for off := int64(0); off < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(size-off, chunk)]
		n, err := src.ReadAt(b, off)
		if n < len(b) {
			if err == io.EOF || err == nil {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("read source at %d of %d: %w", off+int64(n), size, err)
		}
		if _, err := dst.Write(b); err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

func checkRange(off, n int64) error {
	if off < 0 || n < 0 {
		return fmt.Errorf("range of %d bytes from %d", n, off)
	}
	return nil
}

// exactReader reads left bytes of src. A source that ends too early is
// io.ErrUnexpectedEOF: a cut connection can look like a clean end.
type exactReader struct {
	src  io.Reader
	left int64
}

func (r *exactReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.src.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF {
		if r.left > 0 {
			return n, io.ErrUnexpectedEOF
		}
		return n, io.EOF
	}
	return n, err
}
