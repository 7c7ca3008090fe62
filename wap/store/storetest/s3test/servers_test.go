package s3test_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

func TestServers(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			srv.Setenv(t)
			t.Run("conformance", func(t *testing.T) { conformance(t, srv) })
			t.Run("conformance by TLS", func(t *testing.T) {
				front := s3test.BehindTLS(t, srv)
				front.Setenv(t)
				conformance(t, front)
			})
			t.Run("broken upload", func(t *testing.T) { brokenUpload(t, srv) })
			t.Run("cut upload", func(t *testing.T) { cutUpload(t, srv) })
			t.Run("wrong", func(t *testing.T) { wrongServer(t, srv) })
			if kind == s3test.MinIO { // versitygw needs a file system with attributes for it
				t.Run("versioned", func(t *testing.T) { versioned(t, srv) })
			}
		})
	}
}

func conformance(t *testing.T, srv s3test.Server) {
	storetest.Run(t, func(t *testing.T) storetest.Handle {
		root := srv.Root()
		return func() store.Store { return srv.Open(t, root) }
	})
}

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

// cutUpload: an upload and a read over connections that break go on where they
// were, and leave no parts.
func cutUpload(t *testing.T, srv s3test.Server) {
	const size = 40 << 20
	cutter := s3test.Cut(t, srv, 6, 6<<20, 1)
	root := srv.Root()
	s, err := store.Open(t.Context(), root, store.Config{S3: store.S3Config{Endpoint: cutter.Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	src := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(src) // never fails
	e, err := s.Upload(t.Context(), "big", bytes.NewReader(src), size)
	if err != nil {
		t.Fatal(err)
	}
	body, err := s.GetRange(t.Context(), "big", 0, size, e.Version)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, src) {
		t.Fatalf("read %d bytes of %d, the same: %v; %v", len(got), size, bytes.Equal(got, src), err)
	}
	if left := cutter.Left(); left > 3 {
		t.Errorf("only %d connections were cut", 6-left)
	}
	wantNoParts(t, srv, root+"/big")
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

// wrongServer: what is wrong is named, and never "absent".
func wrongServer(t *testing.T, srv s3test.Server) {
	missing := srv
	missing.Bucket = "wap-no-such-bucket"
	s := srv.Open(t, missing.Root())
	_, _, getErr := s.Get(t.Context(), "k")
	_, createErr := s.Create(t.Context(), "k", nil)
	_, swapErr := s.Swap(t.Context(), "k", store.Version{ETag: `"0"`}, nil)
	for i, err := range []error{getErr, createErr, swapErr, listError(t, s)} {
		if !errors.Is(err, store.ErrNoBucket) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("missing bucket: error %d is %v", i, err)
		}
	}
	for name, value := range map[string]string{"AWS_SECRET_ACCESS_KEY": "wrong", "AWS_ACCESS_KEY_ID": "nobody"} {
		t.Setenv(name, value)
		s := srv.Open(t, srv.Root())
		_, _, getErr := s.Get(t.Context(), "k")
		_, headErr := s.Head(t.Context(), "k")
		_, createErr := s.Create(t.Context(), "k", nil)
		_, uploadErr := s.Upload(t.Context(), "k", strings.NewReader("x"), 1)
		for i, err := range []error{getErr, headErr, createErr, uploadErr, s.Delete(t.Context(), "k"), listError(t, s)} {
			if !errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("wrong %s: error %d is %v", name, i, err)
			}
		}
	}
}

func listError(t *testing.T, s store.Store) error {
	t.Helper()
	var last error
	for _, err := range s.List(t.Context(), "") {
		last = err
	}
	return last
}

// versioned: the contract holds in a bucket with versions too, and what was
// pinned there can still be read when it was overwritten or deleted.
func versioned(t *testing.T, srv s3test.Server) {
	srv.Bucket = "wap-versioned"
	srv.MakeBucket(t, srv.Bucket)
	srv.KeepVersions(t, srv.Bucket)
	conformance(t, srv)

	s := srv.Open(t, srv.Root())
	v1, err := s.Create(t.Context(), "in", []byte("first"))
	if err != nil || v1.ID == "" {
		t.Fatalf("create: %+v, %v; want a version id", v1, err)
	}
	v2, err := s.Swap(t.Context(), "in", v1, []byte("other"))
	if err != nil {
		t.Fatal(err)
	}
	wantVersions(t, s, map[string]store.Version{"in": v2})
	for _, after := range []string{"overwritten", "deleted"} {
		r, err := s.GetRange(t.Context(), "in", 0, 5, v1)
		if err != nil {
			t.Fatalf("%s: %v", after, err)
		}
		body, err := io.ReadAll(r)
		r.Close()
		if err != nil || string(body) != "first" {
			t.Fatalf("%s: %q, %v", after, body, err)
		}
		if err := s.Delete(t.Context(), "in"); err != nil {
			t.Fatal(err)
		}
	}
	wantVersions(t, s, map[string]store.Version{})
	if _, err := s.GetRange(t.Context(), "in", 0, 5, store.Version{ETag: v1.ETag}); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("deleted, without its id: %v", err)
	}
}

// wantVersions checks the newest versions that a listing names.
func wantVersions(t *testing.T, s store.Store, want map[string]store.Version) {
	t.Helper()
	got := map[string]store.Version{}
	for e, err := range store.ListVersions(t.Context(), s, "") {
		if err != nil {
			t.Fatal(err)
		}
		got[e.Key] = e.Version
	}
	if !maps.Equal(got, want) {
		t.Fatalf("versions %v, want %v", got, want)
	}
}
