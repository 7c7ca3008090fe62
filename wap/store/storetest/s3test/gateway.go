package s3test

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Gateway is an HTTP front of a server on which requests and answers go wrong
// by rules.
type Gateway struct {
	Endpoint string // URL of the server behind it
	CABundle string // file of the certificate to trust, with TLS

	srv    Server
	front  *httptest.Server
	client *http.Client

	mu    sync.Mutex
	rules []*Rule
	held  []*request
	last  map[string]*reply // to GETs, by path
	seen  []string          // "METHOD key" of what came
	loose int               // bodies without a length of their own: chunked, or with a trailer
}

// NewGateway returns a front without rules.
func NewGateway(t testing.TB, srv Server) *Gateway {
	t.Helper()
	g := newGateway(srv)
	g.front = httptest.NewServer(g)
	t.Cleanup(g.front.Close)
	g.Endpoint = g.front.URL
	return g
}

// NewTLSGateway returns one that is spoken to by TLS, over which the SDK forms
// bodies and signatures in another way.
func NewTLSGateway(t testing.TB, srv Server) *Gateway {
	t.Helper()
	g := newGateway(srv)
	g.front = httptest.NewUnstartedServer(g)
	g.front.Config.ErrorLog = log.New(io.Discard, "", 0) // a sender that goes in its handshake
	g.front.StartTLS()
	t.Cleanup(g.front.Close)
	g.Endpoint = g.front.URL
	g.CABundle = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.front.Certificate().Raw})
	if err := os.WriteFile(g.CABundle, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return g
}

// serverTimeout is for one request to the server behind: it is busy with others.
const serverTimeout = 60 * time.Second

func newGateway(srv Server) *Gateway {
	return &Gateway{
		srv: srv, last: map[string]*reply{},
		client: &http.Client{
			Timeout:       serverTimeout,
			Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Script adds rules; they may be added while requests come. Of several that a
// request is struck by, the first one holds.
func (g *Gateway) Script(rules ...Rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range rules {
		g.rules = append(g.rules, &r)
	}
}

// Unfired returns the rules that struck nothing, for a test to fail on.
func (g *Gateway) Unfired() []Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Rule
	for _, r := range g.rules {
		if r.struck == 0 {
			out = append(out, *r)
		}
	}
	return out
}

// Count is how many requests of a method came for keys with this end.
func (g *Gateway) Count(method, key string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, s := range g.seen {
		if strings.HasPrefix(s, method+" ") && strings.HasSuffix(s, key) {
			n++
		}
	}
	return n
}

// Loose is how many requests had a body in chunks or with a trailer, which some
// stores reject.
func (g *Gateway) Loose() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.loose
}

// Release ends the front: it waits for what is under way, also for senders that
// have gone, and then lets what is held reach the server, oldest first. It
// returns the server's answers, which nobody else gets to see.
func (g *Gateway) Release() []int {
	g.front.Close()
	g.mu.Lock()
	held := g.held
	g.held = nil
	g.mu.Unlock()
	var out []int
	for _, r := range held {
		out = append(out, g.send(r).status)
	}
	return out
}

// request is one that can be sent again.
type request struct {
	method, uri, host string
	header            http.Header
	body              []byte
}

// reply is an answer that can be given again.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ServeHTTP does with a request what the rules want.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return // its sender has gone
	}
	rule, stale := g.note(in)
	r := &request{in.Method, in.RequestURI, in.Host, in.Header.Clone(), body}
	if rule.Before != nil {
		rule.Before()
	}
	var own *reply
	switch rule.Act {
	case Forward:
		own = g.send(r)
	case Twice:
		g.send(r)
		own = g.send(r)
	case Strip:
		own = g.send(r.stripped(g.srv))
	case Hold:
		g.mu.Lock()
		g.held = append(g.held, r)
		g.mu.Unlock()
	}
	if rule.After != nil {
		rule.After()
	}
	out := rule.Answer.give(own, stale)
	if out == nil {
		reset(w)
		return
	}
	if in.Method == http.MethodGet && rule.Answer == Genuine {
		g.mu.Lock()
		g.last[in.URL.Path] = out
		g.mu.Unlock()
	}
	maps.Copy(w.Header(), out.header)
	w.WriteHeader(out.status)
	if in.Method != http.MethodHead {
		_, _ = w.Write(out.body) // or its sender has gone
	}
}

// note counts a request and returns the rule that it is struck by.
func (g *Gateway) note(in *http.Request) (Rule, *reply) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, in.Method+" "+in.URL.Path)
	if len(in.TransferEncoding) > 0 || len(in.Trailer) > 0 || strings.Contains(in.Header.Get("Content-Encoding"), "aws-chunked") {
		g.loose++
	}
	var hit Rule
	for _, r := range g.rules {
		if r.counts(in) && hit.struck == 0 && r.strikes() {
			hit = *r
		}
	}
	return hit, g.last[in.URL.Path]
}

// send sends a request to the server, whatever has become of its sender.
func (g *Gateway) send(r *request) *reply {
	out, err := http.NewRequest(r.method, g.srv.Endpoint+r.uri, bytes.NewReader(r.body))
	if err != nil {
		panic(err) // it was one already
	}
	out.Header, out.Host = r.header.Clone(), r.host // both are signed
	res, err := g.client.Do(out)
	if err != nil {
		return document(http.StatusBadGateway, "BadGateway")
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return document(http.StatusBadGateway, "BadGateway")
	}
	return &reply{res.StatusCode, res.Header, body}
}

// stripped is the request as a gateway sends it that knows of no conditions.
func (r *request) stripped(srv Server) *request {
	out, err := http.NewRequest(r.method, srv.Endpoint+r.uri, nil)
	if err != nil {
		panic(err) // it was one already
	}
	out.Header = r.header.Clone()
	out.Header.Del("If-Match")
	out.Header.Del("If-None-Match")
	out.ContentLength = int64(len(r.body))
	sign(out, srv)
	return &request{r.method, r.uri, out.Host, out.Header, r.body}
}

// give is what the sender sees; nil is a reset.
func (a Answer) give(own, stale *reply) *reply {
	switch a {
	case Genuine:
		return own
	case InternalError:
		return document(http.StatusInternalServerError, "InternalError")
	case SlowDown:
		return document(http.StatusServiceUnavailable, "SlowDown")
	case InConflict:
		return document(http.StatusConflict, "ConditionalRequestConflict")
	case FailedPage:
		return page(http.StatusPreconditionFailed)
	case Denied:
		return document(http.StatusForbidden, "AccessDenied")
	case Moved:
		return document(http.StatusMovedPermanently, "PermanentRedirect")
	case ErrorInside:
		return document(http.StatusOK, "InternalError")
	case NoETag:
		return own.without("Etag")
	case Truncated:
		return &reply{own.status, own.header, own.body[:len(own.body)/2]}
	case Short:
		half := &reply{own.status, own.header.Clone(), own.body[:len(own.body)/2]}
		half.header.Set("Content-Length", strconv.Itoa(len(half.body)))
		return half
	case Stale:
		return stale
	}
	return nil
}

func (r *reply) without(name string) *reply {
	if r == nil {
		return &reply{status: http.StatusOK}
	}
	out := &reply{r.status, r.header.Clone(), r.body}
	out.header.Del(name)
	return out
}

// document is an answer as S3 gives it.
func document(status int, code string) *reply {
	body := []byte("<Error><Code>" + code + "</Code><Message>So the test wants it.</Message></Error>")
	return &reply{status, http.Header{"Content-Type": {"application/xml"}}, body}
}

// page is an answer of some host that is no object store.
func page(status int) *reply {
	return &reply{status, http.Header{"Content-Type": {"text/html"}}, []byte("<html><body><h1>" + http.StatusText(status) + "</h1></body></html>")}
}

// reset ends the connection by a reset, not by an orderly end.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	under := conn
	if t, ok := conn.(*tls.Conn); ok {
		under = t.NetConn()
	}
	if tcp, ok := under.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // an orderly end is as good
	}
	under.Close()
}
