package s3test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = target.Host
		if r.Out.Method == http.MethodPut {
			r.Out.Header.Del("If-Match")
			r.Out.Header.Del("If-None-Match")
		}
		r.Out.Header.Del("Authorization")
		r.Out.Header.Del("Accept-Encoding") // the transport adds its own after this is signed
		keys := aws.Credentials{AccessKeyID: srv.AccessKey, SecretAccessKey: srv.SecretKey}
		err := signer.SignHTTP(r.Out.Context(), keys, r.Out, r.Out.Header.Get("X-Amz-Content-Sha256"), "s3", srv.Region, time.Now())
		if err != nil {
			panic(err) // it fails for nothing that a test can send
		}
	}}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	srv.Endpoint = front.URL
	srv.Name += " behind a gateway without conditions"
	return srv
}

// Forbid returns a way to the server on which the requests that deny picks are
// answered as a policy would: 403, AccessDenied.
func Forbid(t testing.TB, srv Server, deny func(*http.Request) bool) Server {
	t.Helper()
	target, err := url.Parse(srv.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !deny(r) {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>")) // or the client has gone
		}
	}))
	t.Cleanup(front.Close)
	srv.Endpoint = front.URL
	srv.Name += " with fewer permissions"
	return srv
}
