package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// bulkSizes includes more than one part of a multipart upload.
var bulkSizes = [...]int{0, 1, 1 << 20, 1<<20 + 1, 17<<20 + 3}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func testUpload(t *testing.T, open Handle) {
	s := open()
	data := noise(bulkSizes[len(bulkSizes)-1])
	var want []string
	for _, size := range bulkSizes {
		key := fmt.Sprintf("data/t/k=v/%d.parquet", size)
		body := string(data[:size])
		v := upload(t, s, key, body)
		wantObject(t, open(), key, body, v)
		want = append(want, key)
		for _, r := range []span{{0, 0, v}, {int64(size), 0, v}, {int64(size / 2), int64(size - size/2), v}, {int64(size / 3), int64(size / 3), v}} {
			if got := readRange(t, s, key, r.off, r.n, v); got != body[r.off:r.off+r.n] {
				t.Fatalf("read %d+%d of %q differs", r.off, r.n, key)
			}
		}
	}
	// A source longer than size is cut at size.
	if _, err := s.Upload(t.Context(), "data/cut", bytes.NewReader(data), 10); err != nil {
		t.Fatal(err)
	}
	e, err := s.Head(t.Context(), "data/cut")
	if err != nil || e.Size != 10 {
		t.Fatalf("head: %+v, %v; want 10 bytes", e, err)
	}
	wantKeys(t, s, "", append(want, "data/cut")...)
}

// failing is a source that fails, or ends, at a point.
type failing struct {
	data []byte
	at   int64
	fail func() error
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= f.at {
		return copy(p, f.data[off:]), nil
	}
	return 0, f.fail()
}

func testUploadBroken(t *testing.T, open Handle) {
	s := open()
	broken := errors.New("disk on fire")
	for _, size := range bulkSizes[1:] {
		data := noise(size)
		for _, end := range []error{broken, io.EOF} {
			for _, at := range []int{0, size / 2, size - 1} {
				key := fmt.Sprintf("data/%d.%d", size, at)
				_, err := s.Upload(t.Context(), key, failing{data, int64(at), func() error { return end }}, int64(size))
				want := end
				if end == io.EOF {
					want = io.ErrUnexpectedEOF
				}
				if !errors.Is(err, want) {
					t.Fatalf("upload of %d bytes broken at %d: %v, want %v", size, at, err, want)
				}
				wantAbsent(t, open(), key)
			}
		}
	}
	if _, err := s.Upload(t.Context(), "data/negative", bytes.NewReader(nil), -1); err == nil {
		t.Fatal("an upload of -1 bytes is no error")
	}
	wantKeys(t, s, "")
}

func testUploadCancelled(t *testing.T, open Handle) {
	s := open()
	size := bulkSizes[len(bulkSizes)-1]
	ctx, cancel := context.WithCancel(t.Context())
	src := failing{noise(size), int64(size / 2), func() error { cancel(); return ctx.Err() }}
	_, err := s.Upload(ctx, "data/x", src, int64(size))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	wantAbsent(t, s, "data/x")
	wantKeys(t, s, "")
}

func testRange(t *testing.T, open Handle) {
	s := open()
	v := upload(t, s, "r", "0123456789")
	for _, c := range []struct {
		off, n int64
		want   string
		err    error
	}{
		{0, 10, "0123456789", nil},
		{0, 0, "", nil},
		{3, 4, "3456", nil},
		{9, 1, "9", nil},
		{10, 0, "", nil},
		{0, 11, "0123456789", io.ErrUnexpectedEOF},
		{8, 5, "89", io.ErrUnexpectedEOF},
		{10, 1, "", io.ErrUnexpectedEOF},
		{500, 7, "", io.ErrUnexpectedEOF},
	} {
		got, err := readAll(t.Context(), s, "r", span{c.off, c.n, v})
		if string(got) != c.want || !errors.Is(err, c.err) || (c.err == nil && err != nil) {
			t.Fatalf("range %d+%d: %q, %v; want %q, %v", c.off, c.n, got, err, c.want, c.err)
		}
	}
	for _, bad := range []span{{-1, 1, v}, {0, -1, v}, {0, 1, store.Version{}}} {
		if _, err := s.GetRange(t.Context(), "r", bad.off, bad.n, bad.v); err == nil {
			t.Fatalf("range %+v is no error", bad)
		}
	}
	each(8, 32, func(i int) {
		off := int64(i % 5)
		got, err := readAll(t.Context(), s, "r", span{off, 5, v})
		if want := "0123456789"[off : off+5]; string(got) != want || err != nil {
			t.Errorf("range %d+5: %q, %v", off, got, err)
		}
	})
}

func testRangePinned(t *testing.T, open Handle) {
	s, other := open(), open()
	v1 := create(t, s, "p/x", "first")
	v2 := swap(t, other, "p/x", v1, "other")
	// Without its id: a versioned bucket still has what an id names.
	for _, n := range []int64{0, 5} {
		_, err := s.GetRange(t.Context(), "p/x", 0, n, store.Version{ETag: v1.ETag})
		refusal(t, err, store.ErrVersionMismatch)
	}
	if got := readRange(t, s, "p/x", 0, 5, v2); got != "other" {
		t.Fatalf("read %q", got)
	}
	// A reader that is open keeps its bytes, or says that it cannot.
	size := int64(4 << 20)
	data := noise(int(size))
	v := upload(t, s, "p/big", string(data))
	body, err := s.GetRange(t.Context(), "p/big", 0, size, v)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	head := make([]byte, 1000)
	if _, err := io.ReadFull(body, head); err != nil {
		t.Fatal(err)
	}
	remove(t, other, "p/big")
	rest, err := io.ReadAll(body)
	if err == nil && !bytes.Equal(append(head, rest...), data) {
		t.Fatal("bytes differ after a delete, without an error")
	}
	_, err = s.GetRange(t.Context(), "p/big", 0, size, store.Version{ETag: v.ETag})
	refusal(t, err, store.ErrNotFound)
	remove(t, s, "p/x")
	_, err = s.GetRange(t.Context(), "p/x", 0, 0, store.Version{ETag: v2.ETag})
	refusal(t, err, store.ErrNotFound)
}
