package s3test_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// brokenUpload: no parts are left of an upload that failed in its middle.
func brokenUpload(t *testing.T, srv s3test.Server) {
	root := srv.Root()
	s := srv.Open(t, root)
	const size = 40 << 20
	src := &endless{failAt: 30 << 20}
	abort := beginUpload(t, srv, root+"/begun")
	if n := pendingUploads(t, srv, root+"/begun"); n != 1 {
		t.Fatalf("%d uploads are seen where there is one", n)
	}
	abort()
	if _, err := s.Upload(t.Context(), "big", src, size); !errors.Is(err, errDisk) {
		t.Fatalf("upload: %v", err)
	}
	wantNoParts(t, srv, root+"/big")
	src = &endless{failAt: size}
	e, err := s.Upload(t.Context(), "big", src, size)
	if err != nil {
		t.Fatal(err)
	}
	if head, err := s.Head(t.Context(), "big"); err != nil || head.Version != e.Version || head.Size != size {
		t.Fatalf("head %+v, %v; upload said %+v", head, err, e)
	}
}

// cutUpload: every part breaks off once in its middle, and every answer to the
// read after it. The parts are sent again, each once, without the source being
// read again, and the read goes on where it was.
func cutUpload(t *testing.T, srv s3test.Server) {
	const size = 40 << 20
	const parts = size / partBytes
	var mu sync.Mutex
	sent, ranges := map[string]int{}, []string{}
	front := s3test.Between(t, srv, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			part := r.URL.Query().Get("partNumber")
			mu.Lock()
			sent[part]++
			first := part != "" && sent[part] == 1
			asked := r.Header.Get("Range")
			if asked != "" {
				ranges = append(ranges, asked)
			}
			mu.Unlock()
			switch {
			case first:
				_, _ = io.CopyN(io.Discard, r.Body, partBytes/2)
				panic(http.ErrAbortHandler)
			case asked != "":
				server.ServeHTTP(&cutAnswer{ResponseWriter: w, left: partBytes}, r)
			default:
				server.ServeHTTP(w, r)
			}
		})
	})
	front.Setenv(t)
	root := srv.Root()
	s := front.Open(t, root)
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	src := &readOnce{ReaderAt: bytes.NewReader(data)}
	e, err := s.Upload(t.Context(), "big", src, size)
	if err != nil {
		t.Fatal(err)
	}
	if n := src.bytes.Load(); n != size {
		t.Errorf("%d bytes of %d were read", n, size)
	}
	for n := range parts {
		if got := sent[fmt.Sprint(n+1)]; got != 2 {
			t.Errorf("part %d was sent %d times, want twice", n+1, got)
		}
	}
	body, err := s.GetRange(t.Context(), "big", 0, size, e.Version)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("read %d bytes of %d, the same: %v; %v", len(got), size, bytes.Equal(got, data), err)
	}
	for i, asked := range ranges {
		if want := fmt.Sprintf("bytes=%d-%d", i*partBytes, size-1); asked != want {
			t.Errorf("request %d was for %s, want %s", i+1, asked, want)
		}
	}
	if len(ranges) != parts {
		t.Errorf("%d requests for a body that breaks off %d times", len(ranges), parts-1)
	}
	wantNoParts(t, srv, root+"/big")
}

// partBytes is the size of a part.
const partBytes = 8 << 20

// readOnce counts what is read.
type readOnce struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (r *readOnce) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes.Add(int64(n))
	return n, err
}

// cutAnswer breaks off after so many bytes.
type cutAnswer struct {
	http.ResponseWriter
	left int
}

func (c *cutAnswer) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && n < len(p) {
		_ = http.NewResponseController(c.ResponseWriter).Flush() // what was written shall arrive
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// corruptUpload: a byte that changes on the way, in one request or in a part, is
// seen by the store, whose refusal is final: nothing is stored.
func corruptUpload(t *testing.T, srv s3test.Server) {
	front := s3test.Between(t, srv, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if part := r.URL.Query().Get("partNumber"); r.Method == http.MethodPut && (part == "" || part == "2") {
				r.Body = &flipped{ReadCloser: r.Body}
			}
			server.ServeHTTP(w, r)
		})
	})
	front.Setenv(t)
	root := srv.Root()
	s := front.Open(t, root)
	for _, size := range []int64{1000, 20 << 20} {
		_, err := s.Upload(t.Context(), "k", &endless{failAt: size}, size)
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("upload of %d bytes: %v", size, err)
		}
		if _, err := s.Head(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("after it: %v", err)
		}
		wantNoParts(t, srv, root+"/k")
	}
}

// flipped changes the first byte.
type flipped struct {
	io.ReadCloser
	done bool
}

func (f *flipped) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if n > 0 && !f.done {
		p[0] ^= 1
		f.done = true
	}
	return n, err
}

// wantNoParts asks about the very key: MinIO lists the uploads of no other prefix.
func wantNoParts(t *testing.T, srv s3test.Server, url string) {
	t.Helper()
	if n := pendingUploads(t, srv, url); n != 0 {
		t.Fatalf("%d uploads of %s are left", n, url)
	}
}

// beginUpload begins a multipart upload.
func beginUpload(t *testing.T, srv s3test.Server, url string) (abort func()) {
	t.Helper()
	loc, err := store.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	out, err := srv.Client().CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &loc.Bucket, Key: &loc.Prefix})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_, err := srv.Client().AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: &loc.Bucket, Key: &loc.Prefix, UploadId: out.UploadId})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func pendingUploads(t *testing.T, srv s3test.Server, url string) int {
	t.Helper()
	loc, err := store.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	out, err := srv.Client().ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &loc.Bucket, Prefix: &loc.Prefix})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Uploads)
}

var errDisk = errors.New("disk on fire")

// endless yields the same byte up to a point.
type endless struct{ failAt int64 }

func (e *endless) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > e.failAt {
		return 0, errDisk
	}
	copy(p, bytes.Repeat([]byte("x"), len(p)))
	return len(p), nil
}
