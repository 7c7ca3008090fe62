package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

func TestS3Servers(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			srv.Setenv(t)
			t.Run("conformance", func(t *testing.T) { conformance(t, srv) })
			t.Run("broken upload", func(t *testing.T) { brokenUpload(t, srv) })
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
	s := srv.Open(t, srv.Root())
	const size = 40 << 20
	src := &endless{failAt: 30 << 20}
	if _, err := s.Upload(t.Context(), "big", src, size); !errors.Is(err, errDisk) {
		t.Fatalf("upload: %v", err)
	}
	out, err := srv.Client().ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &srv.Bucket})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Uploads) != 0 {
		t.Fatalf("%d uploads are left", len(out.Uploads))
	}
	src = &endless{failAt: size}
	e, err := s.Upload(t.Context(), "big", src, size)
	if err != nil {
		t.Fatal(err)
	}
	if head, err := s.Head(t.Context(), "big"); err != nil || head.Version != e.Version || head.Size != size {
		t.Fatalf("head %+v, %v; upload said %+v", head, err, e)
	}
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
	client := srv.Client()
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &srv.Bucket}); err != nil {
		t.Fatal(err)
	}
	_, err := client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: &srv.Bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	conformance(t, srv)

	s := srv.Open(t, srv.Root())
	v1, err := s.Create(t.Context(), "in", []byte("first"))
	if err != nil || v1.ID == "" {
		t.Fatalf("create: %+v, %v; want a version id", v1, err)
	}
	if _, err := s.Swap(t.Context(), "in", v1, []byte("other")); err != nil {
		t.Fatal(err)
	}
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
	if _, err := s.GetRange(t.Context(), "in", 0, 5, store.Version{ETag: v1.ETag}); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("deleted, without its id: %v", err)
	}
}

func TestS3BadConfig(t *testing.T) {
	setCredentials(t)
	for text, cfg := range map[string]store.S3Config{
		"is no http":         {Endpoint: "localhost:9000"},
		"no http or https":   {Endpoint: "ftp://host"},
		"unknown encryption": {Endpoint: "http://127.0.0.1:1", SSE: "rot13"},
		"needs aws:kms":      {Endpoint: "http://127.0.0.1:1", SSE: "AES256", KMSKey: "k"},
		"read CA bundle":     {Endpoint: "http://127.0.0.1:1", CABundle: "/no/such/file"},
		"no-such-profile":    {Endpoint: "http://127.0.0.1:1", Profile: "no-such-profile"},
	} {
		s, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: cfg})
		if err == nil || s != nil || !strings.Contains(err.Error(), text) {
			t.Errorf("open with %+v: %v, %v; want %q", cfg, s, err, text)
		}
	}
}

// Without credentials nothing starts, and the metadata service is asked briefly.
func TestS3NoCredentials(t *testing.T) {
	setCredentials(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	cfg := store.Config{S3: store.S3Config{Endpoint: "http://127.0.0.1:1"}}
	if _, err := store.Open(t.Context(), "s3://bucket", cfg); !errors.Is(err, store.ErrForbidden) || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("no source: %v", err)
	}
	var asked atomic.Int32
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer metadata.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.URL)
	if _, err := store.Open(t.Context(), "s3://bucket", cfg); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("metadata service out of order: %v", err)
	}
	if n := asked.Load(); n == 0 || n > 8 {
		t.Errorf("the metadata service was asked %d times, want 1 to 8", n)
	}
	// It is the last source: with others, nobody asks.
	asked.Store(0)
	t.Setenv("AWS_ACCESS_KEY_ID", "access")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s, err := store.Open(t.Context(), "s3://bucket", cfg)
	if err != nil {
		t.Fatal(err)
	}
	if source := s.(*store.S3).CredentialSource(); source != "EnvConfigCredentials" || asked.Load() != 0 {
		t.Errorf("source %q, metadata service asked %d times", source, asked.Load())
	}
}

// Uploads share a bounded number of buffers: this many at once would need 4 GB.
func TestS3UploadsBounded(t *testing.T) {
	var now, most atomic.Int32
	setCredentials(t)
	var id atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%d</UploadId></InitiateMultipartUploadResult>", id.Add(1))
		case r.Method == http.MethodPost:
			now.Add(-1)
			io.WriteString(w, "<CompleteMultipartUploadResult><ETag>&quot;e&quot;</ETag></CompleteMultipartUploadResult>")
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"part"`)
		}
	}))
	defer srv.Close()
	s, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: store.S3Config{Endpoint: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	const files = 20
	errs := make(chan error, files)
	for i := range files {
		go func() {
			_, err := s.Upload(t.Context(), fmt.Sprint(i), &endless{failAt: 1 << 40}, 20<<20)
			errs <- err
		}()
	}
	for range files {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := most.Load(); n < 1 || n > 4 || id.Load() != files {
		t.Errorf("%d of %d uploads at once, want at most 4", n, id.Load())
	}
}
