package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

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

// Credentials that say themselves that they are over are not tried.
func TestS3ExpiredCredentials(t *testing.T) {
	setCredentials(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	file := filepath.Join(t.TempDir(), "config")
	const program = `echo '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "s", "Expiration": "2001-02-03T04:05:06Z"}'`
	if err := os.WriteFile(file, []byte("[default]\ncredential_process = "+program+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CONFIG_FILE", file)
	_, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: store.S3Config{Endpoint: "http://127.0.0.1:1"}})
	if !errors.Is(err, store.ErrForbidden) || !strings.Contains(err.Error(), "expired") || !strings.Contains(store.Remedy(err), "log in again") {
		t.Errorf("%v; remedy %q", err, store.Remedy(err))
	}
}

// Uploads share a bounded number of buffers: all at once they would need 1 GB.
func TestS3UploadsBounded(t *testing.T) {
	var uploads, parts peak
	setCredentials(t)
	var id atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			uploads.begin()
			fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%d</UploadId></InitiateMultipartUploadResult>", id.Add(1))
		case r.Method == http.MethodPost:
			uploads.end()
			io.WriteString(w, "<CompleteMultipartUploadResult><ETag>&quot;e&quot;</ETag></CompleteMultipartUploadResult>")
		default:
			parts.begin()
			_, _ = io.Copy(io.Discard, r.Body)
			parts.end()
			w.Header().Set("ETag", `"part"`)
		}
	}))
	defer srv.Close()
	s, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: store.S3Config{Endpoint: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	const files = 100
	errs := make(chan error, files)
	for i := range files {
		go func() {
			_, err := s.Upload(t.Context(), fmt.Sprint(i), endless{}, 16<<20+1)
			errs <- err
		}()
	}
	for range files {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if u, p := uploads.most.Load(), parts.most.Load(); u < 1 || u > 2 || p < 1 || p > 2*5 || id.Load() != files {
		t.Errorf("%d of %d uploads at once, and %d parts; want at most 2, and 5 of each", u, id.Load(), p)
	}
}

// peak is the most that went on at a time.
type peak struct{ now, most atomic.Int32 }

func (p *peak) begin() {
	n := p.now.Add(1)
	for m := p.most.Load(); n > m && !p.most.CompareAndSwap(m, n); m = p.most.Load() {
	}
}

func (p *peak) end() { p.now.Add(-1) }

// endless yields the same byte for ever.
type endless struct{}

func (endless) ReadAt(p []byte, _ int64) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// An endpoint that is given comes before those of the environment.
func TestS3EndpointGiven(t *testing.T) {
	setCredentials(t)
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	var asked atomic.Int32
	given := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		coded(404, "NoSuchKey")(w, r)
	}))
	defer given.Close()
	s, err := store.Open(t.Context(), "s3://bucket/p", store.Config{S3: store.S3Config{Endpoint: given.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) || asked.Load() != 1 {
		t.Errorf("%v, after %d requests", err, asked.Load())
	}
}
