package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
		{"no bucket's name", refuse(400, "InvalidBucketName"), 1, "outside", "no name of a bucket"},
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
	write := func(cert []byte) {
		body := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
		if err := os.WriteFile(bundle, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(secure.Certificate().Raw)
	reach(t, secure.URL, bundle, 2, "no_warehouse", "wap init")
	reach(t, strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), bundle, 1, "outside", "the certificate is for another host")

	old := httptest.NewUnstartedServer(refuse(404, "NoSuchKey"))
	old.Config.ErrorLog = secure.Config.ErrorLog
	cert := expired(t)
	old.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	old.StartTLS()
	defer old.Close()
	write(cert.Certificate[0])
	reach(t, old.URL, bundle, 1, "outside", "not valid now")
	reach(t, secure.URL, filepath.Join(t.TempDir(), "none.pem"), 2, "usage", "")
}

// expired is a certificate of this host, of last century.
func expired(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(1998, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
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

// TestNoWorkWithoutCredentials: what is wrong with them shows at the first
// request, or before it, and the command has not run.
func TestNoWorkWithoutCredentials(t *testing.T) {
	for _, c := range []struct {
		name, key string
		answer    http.HandlerFunc
		requests  int32
		hint      string
	}{
		{"none", "", refuse(403, "AccessDenied"), 0, "set AWS_ACCESS_KEY_ID"},
		{"expired", "access", refuse(400, "ExpiredToken"), 1, "log in again"},
		{"wrong", "access", refuse(403, "InvalidAccessKeyId"), 1, "this store does not know these credentials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var requests atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				c.answer(w, r)
			}))
			defer srv.Close()
			for name, value := range map[string]string{
				"AWS_ACCESS_KEY_ID": c.key, "AWS_SECRET_ACCESS_KEY": c.key, "AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1", "AWS_PROFILE": "",
				"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
			} {
				t.Setenv(name, value)
			}
			ran := filepath.Join(t.TempDir(), "ran")
			var stdout, stderr bytes.Buffer
			s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, environ: os.Environ(), openStore: store.Open}
			code := s.run(t.Context(), []string{"run", "orders/dt=1", "-r", "r", "-w", "s3://bucket/lake", "--endpoint-url", srv.URL, "--checks", "builtin", "--", "touch", ran})
			if code != 1 || !strings.Contains(stderr.String(), "wap: hint: ") || !strings.Contains(stderr.String(), c.hint) {
				t.Errorf("exit %d: %s", code, stderr.String())
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the command has run")
			}
			if n := requests.Load(); n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
		})
	}
}

// TestProxy: a store is reached through the proxy of the environment.
func TestProxy(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.Host)
		refuse(404, "NoSuchKey")(w, r)
	}))
	defer proxy.Close()
	cmd := exec.Command("wap", "ls", "-w", "s3://bucket/lake", "--endpoint-url", "http://store.invalid", "--json")
	cmd.Env = append(os.Environ(), "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=", "http_proxy=",
		"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1", "AWS_CA_BUNDLE=",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if host := asked.Load(); host != "store.invalid" || !strings.Contains(string(out), `"kind":"no_warehouse"`) {
		t.Errorf("the proxy was asked for %v; %v: %s", host, err, out)
	}
}
