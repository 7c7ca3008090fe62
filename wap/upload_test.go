package wap

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// slowWriter is a task that has not finished: it writes to its file while the
// file is uploaded.
type slowWriter struct {
	store.Store
	path string
}

func (s *slowWriter) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (store.Entry, error) {
	if err := os.Chtimes(s.path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		return store.Entry{}, err
	}
	return s.Store.Upload(ctx, key, src, size)
}

func TestFileWrittenDuringUpload(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	path := l.file("p.parquet", orders(1, 3))
	w := l.client(&slowWriter{l.store, path})
	b, err := w.Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	wantCode(t, err, 0)
	req := StageRequest{Run: "r", Attempt: b.Attempt, Partition: "orders/dt=1", Files: []string{path}}
	_, err = w.Stage(ctx, req)
	wantCode(t, err, 3)
	if r := examine(t, l.store).records["r"]; r.State != manifest.StateOpen {
		t.Errorf("the run is %s", r.State)
	}
	_, err = l.open().Stage(ctx, req)
	wantCode(t, err, 0)
}

// TestUploading: every byte is counted once, up to the sum of all files.
func TestUploading(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	files := []string{l.file("a.parquet", orders(1, 500)), l.file("b.parquet", orders(1000, 900))}
	var want int64
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		want += info.Size()
	}
	var last, calls atomic.Int64
	cfg := l.config(l.store)
	cfg.Uploading = func(done, total int64) {
		if total != want || done <= last.Load() || done > total {
			t.Errorf("%d of %d after %d", done, total, last.Load())
		}
		last.Store(done)
		calls.Add(1)
	}
	w, err := Open(ctx, cfg)
	wantCode(t, err, 0)
	_, err = w.Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	wantCode(t, err, 0)
	_, err = w.Stage(ctx, StageRequest{Run: "r", Partition: "orders/dt=1", Files: files})
	wantCode(t, err, 0)
	if last.Load() != want || calls.Load() < 2 {
		t.Errorf("%d of %d bytes in %d calls", last.Load(), want, calls.Load())
	}
}

// TestSummedFile: the digest is of the whole file, in whatever order and however
// often it was read.
func TestSummedFile(t *testing.T) {
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	want := newDigest()
	want.Write(data)
	for name, reads := range map[string][][2]int64{
		"once":       {{0, 400}, {400, 600}},
		"twice":      {{0, 400}, {0, 1000}, {0, 1000}},
		"overlaps":   {{0, 400}, {300, 400}, {100, 100}, {690, 310}},
		"never":      nil,
		"backwards":  {{500, 500}, {0, 500}},
		"with a gap": {{0, 300}, {400, 600}},
	} {
		f := &summedFile{src: bytes.NewReader(data), sum: newDigest()}
		for _, r := range reads {
			if _, err := f.ReadAt(make([]byte, r[1]), r[0]); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := f.hex(1000); err != nil || got != want.hex() {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want.hex())
		}
	}
}
