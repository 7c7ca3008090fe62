package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// refuse answers as S3 does.
func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
		}
	}
}

func htmlPage(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", `"5f3e"`)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>Sign in</body></html>\n")
	}
}

// TestWhatIsWrongWithTheStore: each is told apart, with a hint that helps, and
// none passes for a warehouse that is not there.
func TestWhatIsWrongWithTheStore(t *testing.T) {
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		refuse(301, "PermanentRedirect")(w, r)
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		code   int
		kind   string
		hint   string
	}{
		{"another region", elsewhere, 1, "outside", "--region eu-central-1"},
		{"another region, not told", refuse(400, "AuthorizationHeaderMalformed"), 1, "outside", "another region"},
		{"no bucket", refuse(404, "NoSuchBucket"), 2, "not_found", "bucket's name"},
		{"no permission", refuse(403, "AccessDenied"), 1, "outside", "s3:ListBucket"},
		{"unknown key", refuse(403, "InvalidAccessKeyId"), 1, "outside", "AWS_ACCESS_KEY_ID"},
		{"wrong secret", refuse(403, "SignatureDoesNotMatch"), 1, "outside", "AWS_SECRET_ACCESS_KEY"},
		{"expired", refuse(400, "ExpiredToken"), 1, "outside", "log in again"},
		{"clock", refuse(403, "RequestTimeTooSkewed"), 1, "outside", "clock"},
		{"page", htmlPage(200), 1, "outside", "no S3 store"},
		{"page not found", htmlPage(404), 1, "outside", "no S3 store"},
		{"page forbidden", htmlPage(403), 1, "outside", ""},
		{"empty", func(http.ResponseWriter, *http.Request) {}, 1, "outside", "no S3 store"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(c.answer)
			defer srv.Close()
			reach(t, srv.URL, "", c.code, c.kind, c.hint)
		})
	}
}

// TestWhatIsWrongWithTheConnection is what happens before there is an answer.
func TestWhatIsWrongWithTheConnection(t *testing.T) {
	secure := httptest.NewUnstartedServer(refuse(404, "NoSuchKey"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes do fail
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(refuse(404, "NoSuchKey"))
	defer plain.Close()
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // the wait for a store that may come back is not what is tested
	reach(t, secure.URL, "", 1, "outside", "s3.ca_bundle")
	reach(t, strings.Replace(plain.URL, "http:", "https:", 1), "", 1, "outside", "use http://")
	closed := httptest.NewServer(nil)
	closed.Close()
	reach(t, closed.URL, "", 1, "outside", "nothing listens there")
	reach(t, "http://no-such-host.invalid", "", 1, "outside", `no host "no-such-host.invalid"`)
	reach(t, "localhost:9000", "", 2, "usage", "")

	// With the authority named, the certificate is trusted: there is no warehouse.
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	body := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(bundle, body, 0o600); err != nil {
		t.Fatal(err)
	}
	reach(t, secure.URL, bundle, 2, "no_warehouse", "wap init")
}

// reach lists a warehouse at an endpoint and wants this failure.
func reach(t *testing.T, endpoint, bundle string, code int, kind, hint string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_CA_BUNDLE": bundle,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	var stdout, stderr bytes.Buffer
	s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
	got := s.run(t.Context(), []string{"ls", "-w", "s3://bucket/lake", "--endpoint-url", endpoint, "--json"})
	want := fmt.Sprintf(`"error":{"code":%d,"kind":%q,`, code, kind)
	if got != code || !strings.Contains(stdout.String(), want) || strings.Contains(stdout.String(), "no warehouse") != (kind == "no_warehouse") {
		t.Errorf("exit %d: %s", got, stdout.String())
	}
	if hint == "" {
		return
	}
	if _, said, _ := strings.Cut(stderr.String(), "hint: "); !strings.Contains(said, hint) {
		t.Errorf("says %q, want a hint with %q", stderr.String(), hint)
	}
}
