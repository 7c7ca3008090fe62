package store_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

const partBytes = 8 << 20 // of a multipart upload

// openTLS is openFake behind TLS, by a certificate that is named in the settings.
func openTLS(t *testing.T, answer http.HandlerFunc) (*fake, store.Store) {
	t.Helper()
	setCredentials(t)
	f := &fake{answer: answer}
	srv := httptest.NewTLSServer(f)
	t.Cleanup(srv.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(bundle, cert, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), "s3://bucket/p", store.Config{S3: store.S3Config{Endpoint: srv.URL, CABundle: bundle}})
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// multipart answers an upload in parts as a store does that computes checksums,
// or others where these are given.
func multipart(part, whole string) http.HandlerFunc {
	var mu sync.Mutex
	sums := map[string][]byte{} // by part number
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPost:
			all := sha256.New()
			for _, n := range slices.Sorted(maps.Keys(sums)) {
				all.Write(sums[n])
			}
			sum := whole
			if sum == "" {
				sum = fmt.Sprintf("%s-%d", base64.StdEncoding.EncodeToString(all.Sum(nil)), len(sums))
			}
			fmt.Fprintf(w, "<CompleteMultipartUploadResult><ETag>&quot;e&quot;</ETag><ChecksumSHA256>%s</ChecksumSHA256></CompleteMultipartUploadResult>", sum)
		case r.Method == http.MethodPut:
			sum := r.Header.Get("X-Amz-Checksum-Sha256")
			sums[r.URL.Query().Get("partNumber")], _ = base64.StdEncoding.DecodeString(sum)
			if part != "" {
				sum = part
			}
			w.Header().Set("X-Amz-Checksum-Sha256", sum)
			w.Header().Set("ETag", `"part"`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

// Every part goes out with its SHA-256 in a plain header, over TLS too, and the
// last request names all of them.
func TestS3PartRequests(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		f, s := openFake(t, multipart("", ""))
		partRequests(t, f, s)
	})
	t.Run("TLS", func(t *testing.T) {
		f, s := openTLS(t, multipart("", ""))
		partRequests(t, f, s)
	})
}

func partRequests(t *testing.T, f *fake, s store.Store) {
	const size = 2*partBytes + 1000
	e, err := s.Upload(t.Context(), "k", endless{}, size)
	if err != nil || e.Size != size || e.Version.ETag != `"e"` {
		t.Fatalf("upload: %+v, %v", e, err)
	}
	sizes := map[string]int{"1": partBytes, "2": partBytes, "3": 1000}
	for i, r := range f.requests {
		n := r.URL.Query().Get("partNumber")
		switch {
		case n != "":
			sum := sha256.Sum256([]byte(f.bodies[i]))
			if len(f.bodies[i]) != sizes[n] || r.Header.Get("X-Amz-Checksum-Sha256") != base64.StdEncoding.EncodeToString(sum[:]) ||
				r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) || !strings.Contains(r.Header.Get("Authorization"), ";x-amz-checksum-sha256;") ||
				r.Header.Get("X-Amz-Trailer") != "" || r.Header.Get("Content-Encoding") != "" {
				t.Errorf("part %s of %d bytes: %v", n, len(f.bodies[i]), r.Header)
			}
			delete(sizes, n)
		case r.URL.Query().Has("uploads"):
			if r.Header.Get("X-Amz-Checksum-Algorithm") != "SHA256" {
				t.Errorf("the upload began with %v", r.Header)
			}
		case r.Method == http.MethodPost:
			if strings.Count(f.bodies[i], "<ChecksumSHA256>") != 3 {
				t.Errorf("the upload ended with %s", f.bodies[i])
			}
		}
	}
	if len(sizes) != 0 || f.count() != 5 {
		t.Errorf("parts %v are missing in %d requests", sizes, f.count())
	}
}

// A store that says that it holds other bytes than were sent is believed:
// nothing is left of the upload.
func TestS3PartsDiffer(t *testing.T) {
	other := base64.StdEncoding.EncodeToString(make([]byte, sha256.Size))
	for name, answer := range map[string]http.HandlerFunc{
		"a part":         multipart(other, ""),
		"all":            multipart("", other+"-3"),
		"a part is less": multipart("", other+"-2"),
	} {
		f, s := openFake(t, answer)
		_, err := s.Upload(t.Context(), "k", endless{}, 2*partBytes+1000)
		if err == nil || !strings.Contains(err.Error(), "another SHA-256") {
			t.Errorf("%s: %v", name, err)
		}
		var removed []string
		for _, r := range f.requests {
			if r.Method == http.MethodDelete {
				removed = append(removed, r.URL.RawQuery)
			}
		}
		if len(removed) != 2 || !strings.Contains(removed[0], "uploadId=u") || strings.Contains(removed[1], "uploadId") {
			t.Errorf("%s: removed %q, want the parts and the object", name, removed)
		}
	}
}
