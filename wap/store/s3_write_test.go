package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// fake answers each request as a test says and keeps them.
type fake struct {
	answer http.HandlerFunc

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		body = []byte("broken: " + err.Error())
	}
	f.mu.Lock()
	f.requests = append(f.requests, r)
	f.bodies = append(f.bodies, string(body))
	f.mu.Unlock()
	f.answer(w, r)
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// setCredentials hides whatever configuration the machine has.
func setCredentials(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_PROFILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "3",
	} {
		t.Setenv(name, value)
	}
}

func openFake(t *testing.T, answer http.HandlerFunc) (*fake, store.Store) {
	t.Helper()
	setCredentials(t)
	f := &fake{answer: answer}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	s, err := store.Open(t.Context(), "s3://bucket/p", store.Config{S3: store.S3Config{Endpoint: srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func coded(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>m</Message><RequestId>r1</RequestId></Error>`, code)
	}
}

// hangUp closes the connection after the request was read.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

const page = "<html><head><title>Welcome</title></head><body>proxy</body></html>"

// errUnknown stands for an outcome that nothing is known of.
var errUnknown = errors.New("unknown outcome")

func TestS3WriteAnswers(t *testing.T) {
	etag := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"e2"`) }
	for _, c := range []struct {
		name         string
		answer       http.HandlerFunc
		create, swap error
	}{
		{"success", etag, nil, nil},
		{"412", coded(412, "PreconditionFailed"), store.ErrExists, store.ErrVersionMismatch},
		{"412 without a code", status(412, ""), store.ErrExists, store.ErrVersionMismatch},
		{"500 with the code of 412", coded(500, "PreconditionFailed"), store.ErrExists, store.ErrVersionMismatch},
		{"200 with the code of 412", coded(200, "PreconditionFailed"), store.ErrExists, store.ErrVersionMismatch},
		{"409 conflict", coded(409, "ConditionalRequestConflict"), errUnknown, errUnknown},
		{"409 aborted", coded(409, "OperationAborted"), errUnknown, errUnknown},
		{"409 without a code", status(409, ""), errUnknown, errUnknown},
		{"404 key", coded(404, "NoSuchKey"), errUnknown, store.ErrNotFound},
		{"404 bucket", coded(404, "NoSuchBucket"), store.ErrNoBucket, store.ErrNoBucket},
		{"404 page", status(404, page), errUnknown, errUnknown},
		{"403", coded(403, "AccessDenied"), store.ErrForbidden, store.ErrForbidden},
		{"403 without a code", status(403, ""), store.ErrForbidden, store.ErrForbidden},
		{"400 expired", coded(400, "ExpiredToken"), store.ErrForbidden, store.ErrForbidden},
		{"403 clock", coded(403, "RequestTimeTooSkewed"), store.ErrForbidden, store.ErrForbidden},
		{"400 invalid", coded(400, "InvalidRequest"), store.ErrUnsupported, store.ErrUnsupported},
		{"400 slow", coded(400, "RequestTimeout"), errUnknown, errUnknown},
		{"400 page", status(400, page), errUnknown, errUnknown},
		{"501", coded(501, "NotImplemented"), store.ErrUnsupported, store.ErrUnsupported},
		{"301", coded(301, "PermanentRedirect"), store.ErrUnsupported, store.ErrUnsupported},
		{"503", coded(503, "SlowDown"), errUnknown, errUnknown},
		{"429", status(429, ""), errUnknown, errUnknown},
		{"500", coded(500, "InternalError"), errUnknown, errUnknown},
		{"502 page", status(502, page), errUnknown, errUnknown},
		{"200 without an etag", status(200, ""), errUnknown, errUnknown},
		{"200 page", status(200, page), errUnknown, errUnknown},
		{"no answer", hangUp, errUnknown, errUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, s := openFake(t, c.answer)
			v, err := s.Create(t.Context(), "k", []byte("body"))
			checkOutcome(t, "create", v, err, c.create)
			v, err = s.Swap(t.Context(), "k", store.Version{ETag: `"e1"`}, []byte("body"))
			checkOutcome(t, "swap", v, err, c.swap)
			if f.count() != 2 {
				t.Errorf("%d requests for two writes: each is sent once", f.count())
			}
		})
	}
}

func checkOutcome(t *testing.T, verb string, v store.Version, err, want error) {
	t.Helper()
	switch want {
	case nil:
		if err != nil || v.ETag != `"e2"` {
			t.Errorf("%s: %v, %v; want success", verb, v, err)
		}
	case errUnknown:
		if err == nil || store.Refused(err) {
			t.Errorf("%s: %v; want an unknown outcome", verb, err)
		}
	default:
		if !errors.Is(err, want) || !store.Refused(err) {
			t.Errorf("%s: %v; want %v", verb, err, want)
		}
	}
}

// What is proved never to have left is a refusal, what may have is not.
func TestS3NotSent(t *testing.T) {
	setCredentials(t)
	open := func(endpoint string) store.Store {
		s, err := store.Open(t.Context(), "s3://bucket", store.Config{S3: store.S3Config{Endpoint: endpoint}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err := open(closed.URL).Create(t.Context(), "k", nil)
	if !errors.Is(err, store.ErrNotSent) {
		t.Errorf("nobody listens: %v", err)
	}

	foreign := httptest.NewUnstartedServer(http.NotFoundHandler())
	foreign.Config.ErrorLog = nil
	foreign.StartTLS()
	defer foreign.Close()
	_, err = open(foreign.URL).Create(t.Context(), "k", nil)
	if !errors.Is(err, store.ErrNotSent) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("unknown certificate: %v", err)
	}

	// It was sent, and nobody waits for the answer any more.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer slow.Close()
	_, err = open(slow.URL).Create(ctx, "k", nil)
	if store.Refused(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("given up on: %v", err)
	}
}

// Over TLS, where the SDK would choose a trailer, too.
func TestS3WriteRequest(t *testing.T) {
	setCredentials(t)
	f := &fake{answer: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"e"`) }}
	srv := httptest.NewTLSServer(f)
	defer srv.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(bundle, cert, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), "s3://bucket/p", store.Config{S3: store.S3Config{
		Endpoint: srv.URL, CABundle: bundle, SSE: "aws:kms", KMSKey: "key", RequesterPays: true, BucketOwner: "123456789012",
	}})
	if err != nil {
		t.Fatal(err)
	}
	body := "the body"
	if _, err := s.Create(t.Context(), "a b/k=v", []byte(body)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Swap(t.Context(), "a b/k=v", store.Version{ETag: `W/"odd"`}, []byte(body)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Upload(t.Context(), "a b/k=v", strings.NewReader(body), int64(len(body))); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	for i, r := range f.requests {
		if r.Method != http.MethodPut || r.URL.Path != "/bucket/p/a b/k=v" || f.bodies[i] != body {
			t.Errorf("request %d: %s %q with %q", i, r.Method, r.URL.Path, f.bodies[i])
		}
		for name, want := range map[string]string{
			"X-Amz-Checksum-Sha256":                       base64.StdEncoding.EncodeToString(sum[:]),
			"Content-Encoding":                            "",
			"X-Amz-Trailer":                               "",
			"X-Amz-Server-Side-Encryption":                "aws:kms",
			"X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "key",
			"X-Amz-Request-Payer":                         "requester",
			"X-Amz-Expected-Bucket-Owner":                 "123456789012",
			"If-None-Match":                               []string{"*", "", ""}[i],
			"If-Match":                                    []string{"", `W/"odd"`, ""}[i],
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("request %d: %s is %q, want %q", i, name, got, want)
			}
		}
	}
}
