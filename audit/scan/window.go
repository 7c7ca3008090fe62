package scan

import "context"

// window reads one column chunk front to back through a buffer that slides over
// it.
type window struct {
	src      Source
	readSize int64 // how much to ask for at least
	whole    int64 // readSize when everything is wanted
	end      int64 // of the chunk, in the file

	buf   []byte // bytes of the file from start on
	start int64
}

// peek returns the n bytes at pos, or as many as there are before the chunk's
// end. They are valid until the next call. pos never goes backwards.
func (w *window) peek(ctx context.Context, pos, n int64) ([]byte, error) {
	n = min(n, w.end-pos)
	if have := w.start + int64(len(w.buf)) - pos; pos >= w.start && have >= n {
		return w.buf[pos-w.start:][:n:n], nil
	}
	want := min(max(n, w.readSize), w.end-pos)
	kept := 0
	if skip := pos - w.start; skip >= 0 && skip < int64(len(w.buf)) {
		kept = len(w.buf) - int(skip)
	}
	tail := w.buf[len(w.buf)-kept:]
	if int64(cap(w.buf)) < want {
		w.buf = append(make([]byte, 0, want), tail...)
	} else {
		copy(w.buf[:kept], tail)
	}
	w.buf, w.start = w.buf[:want], pos
	if err := w.src.ReadRange(ctx, w.buf[kept:], pos+int64(kept)); err != nil {
		w.buf = w.buf[:0]
		return nil, err
	}
	return w.buf[:n:n], nil
}

// adapt chooses how much to read ahead after a page of a given size: little
// when only fronts are wanted and pages are large enough to skip the rest.
func (w *window) adapt(need Need, page int64) {
	w.readSize = w.whole
	if need == ReadLevels && page >= 4*frontRead {
		w.readSize = min(w.whole, frontRead)
	}
}
