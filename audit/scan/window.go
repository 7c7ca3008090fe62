package scan

import (
	"context"
	"slices"
)

// window reads one column chunk front to back through a buffer that slides over
// it. With ahead set, the bytes behind the buffer are fetched meanwhile.
type window struct {
	src      Source
	readSize int64 // how much to ask for at least
	whole    int64 // readSize when everything is wanted
	end      int64 // of the chunk, in the file

	buf   []byte // bytes of the file from start on
	start int64

	ahead   bool
	pending *fetch
	spare   []byte // memory for the next fetch
}

// fetch is a read in the background of what follows a window's buffer.
type fetch struct {
	pos  int64
	buf  []byte
	err  error
	done chan struct{}
}

// peek returns the n bytes at pos, or as many as there are before the chunk's
// end. They are valid until the next call. pos never goes backwards.
func (w *window) peek(ctx context.Context, pos, n int64) ([]byte, error) {
	n = min(n, w.end-pos)
	if have := w.start + int64(len(w.buf)) - pos; pos < w.start || have < n {
		if err := w.slide(ctx, pos, n); err != nil {
			return nil, err
		}
	}
	at := pos - w.start
	return w.buf[at : at+n : at+n], nil
}

// slide moves the buffer to pos, with n bytes at least.
func (w *window) slide(ctx context.Context, pos, n int64) error {
	next := w.start + int64(len(w.buf))
	tail := w.buf[len(w.buf)-int(min(max(next-pos, 0), int64(len(w.buf)))):]
	ready, err := w.await()
	if err != nil {
		return err
	}
	if ready == nil || ready.pos != pos+int64(len(tail)) {
		err = w.read(ctx, pos, tail, min(max(n, w.readSize), w.end-pos))
	} else {
		err = w.join(ctx, pos, tail, ready.buf, n)
	}
	if err != nil {
		w.buf = w.buf[:0]
		return err
	}
	if w.ahead {
		w.prefetch(ctx, w.start+int64(len(w.buf)))
	}
	return nil
}

// read keeps tail, which stands at the end of the buffer, and reads on until
// there are want bytes from pos.
func (w *window) read(ctx context.Context, pos int64, tail []byte, want int64) error {
	kept := len(tail)
	if int64(cap(w.buf)) < want {
		w.buf = append(make([]byte, 0, want), tail...)
	} else {
		copy(w.buf[:kept], tail)
	}
	w.buf, w.start = w.buf[:want], pos
	return w.src.ReadRange(ctx, w.buf[kept:], pos+int64(kept))
}

// join makes the buffer of tail and of what was fetched to follow it, and reads
// what is still missing.
func (w *window) join(ctx context.Context, pos int64, tail, fetched []byte, n int64) error {
	if len(tail) == 0 && int64(len(fetched)) >= n {
		w.buf, w.spare, w.start = fetched, w.buf[:0], pos
		return nil
	}
	have := int64(len(tail) + len(fetched))
	joined := append(slices.Grow(w.buf[:0], int(max(n, have))), tail...)
	joined = append(joined, fetched...)
	w.buf, w.spare, w.start = joined, fetched[:0], pos
	if have >= n {
		return nil
	}
	w.buf = w.buf[:n]
	return w.src.ReadRange(ctx, w.buf[have:], pos+have)
}

// prefetch begins to read from pos on, if there is anything.
func (w *window) prefetch(ctx context.Context, pos int64) {
	n := min(w.readSize, w.end-pos)
	if n <= 0 || w.pending != nil {
		return
	}
	f := &fetch{pos: pos, buf: slices.Grow(w.spare[:0], int(n))[:n], done: make(chan struct{})}
	w.pending, w.spare = f, nil
	go func() {
		defer close(f.done)
		f.err = w.src.ReadRange(ctx, f.buf, f.pos)
	}()
}

// await returns the pending fetch, if any, once it has ended.
func (w *window) await() (*fetch, error) {
	f := w.pending
	if f == nil {
		return nil, nil
	}
	<-f.done
	w.pending = nil
	return f, f.err
}

// adapt chooses how much to read ahead after a page of a given size: little
// when only fronts are wanted and pages are large enough to skip the rest.
func (w *window) adapt(need Need, page int64) {
	w.readSize = w.whole
	if need == ReadLevels && page >= 4*frontRead {
		w.readSize = min(w.whole, frontRead)
	}
}
