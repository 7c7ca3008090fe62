package store_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// changing is a file that somebody writes to: each read gives other bytes.
type changing struct{ reads atomic.Int32 }

func (c *changing) ReadAt(p []byte, _ int64) (int, error) {
	n := c.reads.Add(1)
	for i := range p {
		p[i] = byte(n)
	}
	return len(p), nil
}

// What is sent, and sent again, are the bytes that the checksum is of.
func TestS3UploadReadsOnce(t *testing.T) {
	f, s := openFake(t, inTurn(coded(500, "InternalError"), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"e"`)
	}))
	src := new(changing)
	if _, err := s.Upload(t.Context(), "k", src, 1000); err != nil {
		t.Fatal(err)
	}
	if src.reads.Load() != 1 || f.count() != 2 {
		t.Errorf("%d reads for %d requests", src.reads.Load(), f.count())
	}
	for i, r := range f.requests {
		sum := sha256.Sum256([]byte(f.bodies[i]))
		if got := r.Header.Get("X-Amz-Checksum-Sha256"); got != base64.StdEncoding.EncodeToString(sum[:]) {
			t.Errorf("request %d goes with checksum %s of other bytes", i, got)
		}
	}
}

// begun counts what is read of it from the start as held.
type begun struct {
	endless
	held *peak
}

func (b begun) ReadAt(p []byte, off int64) (int, error) {
	if off == 0 {
		b.held.begin()
	}
	return b.endless.ReadAt(p, off)
}

// Uploads in one request are held in memory: not many large ones at once.
func TestS3WholeUploadsBounded(t *testing.T) {
	setCredentials(t)
	var held peak
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		held.end()
		w.Header().Set("ETag", `"e"`)
	}))
	defer srv.Close()
	s, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: store.S3Config{Endpoint: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	const files = 10
	errs := make(chan error, files)
	for i := range files {
		go func() {
			_, err := s.Upload(t.Context(), fmt.Sprint(i), begun{held: &held}, 2*partBytes)
			errs <- err
		}()
	}
	for range files {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := held.most.Load(); n < 1 || n > 4 {
		t.Errorf("%d files of 16 MiB held at once, want at most 4", n)
	}
}
