package s3test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// StripConditions returns a gateway to the server as some are: it knows nothing
// of conditional writes, drops their headers, and signs anew.
func StripConditions(t testing.TB, srv Server) Server {
	t.Helper()
	target, err := url.Parse(srv.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = target.Host
		if r.Out.Method == http.MethodPut {
			r.Out.Header.Del("If-Match")
			r.Out.Header.Del("If-None-Match")
		}
		sign(r.Out, srv)
	}}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	srv.Endpoint = front.URL
	srv.Name += " behind a gateway without conditions"
	return srv
}

// sign signs a request anew that a proxy has changed.
func sign(r *http.Request, srv Server) {
	r.Header.Del("Authorization")
	r.Header.Del("Accept-Encoding") // the transport adds its own after this is signed
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	keys := aws.Credentials{AccessKeyID: srv.AccessKey, SecretAccessKey: srv.SecretKey}
	err := signer.SignHTTP(r.Context(), keys, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", srv.Region, time.Now())
	if err != nil {
		panic(err) // it fails for nothing that a test can send
	}
}

// passOn is a proxy that changes nothing: requests stay signed for the name that
// the client called.
func passOn(t testing.TB, srv Server) *httputil.ReverseProxy {
	t.Helper()
	target, err := url.Parse(srv.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0), // clients do go away
	}
}

// BehindTLS returns a way to the server by TLS and HTTP/2, as the proxies are in
// front of most stores. Its certificate is in Server.CABundle.
func BehindTLS(t testing.TB, srv Server) Server {
	t.Helper()
	front := httptest.NewUnstartedServer(passOn(t, srv))
	front.EnableHTTP2 = true
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	srv.CABundle = filepath.Join(t.TempDir(), "ca.pem")
	body := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	if err := os.WriteFile(srv.CABundle, body, 0o600); err != nil {
		t.Fatal(err)
	}
	srv.direct = srv.Endpoint
	srv.Endpoint = front.URL
	srv.Name += " behind TLS"
	return srv
}

// Between returns a way to the server on which wrap sees every request before the
// server does, and may answer in its place.
func Between(t testing.TB, srv Server, wrap func(server http.Handler) http.Handler) Server {
	t.Helper()
	front := httptest.NewUnstartedServer(wrap(passOn(t, srv)))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.Start()
	t.Cleanup(front.Close)
	srv.Endpoint = front.URL
	return srv
}

// Forbid returns a way to the server on which the requests that deny picks are
// answered as a policy would: 403, AccessDenied.
func Forbid(t testing.TB, srv Server, deny func(*http.Request) bool) Server {
	t.Helper()
	srv = Between(t, srv, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !deny(r) {
				server.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			if r.Method != http.MethodHead {
				_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>")) // or the client has gone
			}
		})
	})
	srv.Name += " with fewer permissions"
	return srv
}
