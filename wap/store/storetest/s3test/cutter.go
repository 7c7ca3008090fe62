package s3test

import (
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
)

// Cutter is a TCP proxy that breaks connections: each after a random number of
// bytes in one direction, by a reset or a plain end, until it has broken a
// number of them. Connections after that are left alone.
type Cutter struct {
	Endpoint string // URL of the server behind it

	target string
	span   int64 // bytes within which a connection breaks

	mu   sync.Mutex
	rng  *rand.Rand
	left int
	open map[net.Conn]bool
}

// Cut returns a proxy in front of the server that breaks n connections, each
// within span bytes, chosen by the seed.
func Cut(t testing.TB, srv Server, n int, span int64, seed uint64) *Cutter {
	t.Helper()
	if !strings.HasPrefix(srv.Endpoint, "http://") {
		t.Skipf("%s is reached by TLS, whose certificate names no proxy", srv.Name)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cutter{
		Endpoint: "http://" + l.Addr().String(),
		target:   strings.TrimPrefix(srv.Endpoint, "http://"),
		span:     span,
		rng:      rand.New(rand.NewPCG(seed, 0)),
		left:     n,
		open:     map[net.Conn]bool{},
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { c.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.closeAll()
		serving.Wait()
	})
	return c
}

// Left is how many connections are still to be broken.
func (c *Cutter) Left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// plan is where one connection breaks; -1 is never.
type plan struct {
	requests, answers int64
	reset             bool
}

func (c *Cutter) plan(conns ...net.Conn) plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		c.open[conn] = true
	}
	p := plan{-1, -1, c.rng.IntN(2) == 0}
	if c.left <= 0 {
		return p
	}
	at := c.rng.Int64N(c.span)
	if c.rng.IntN(2) == 0 {
		p.requests = at
	} else {
		p.answers = at
	}
	return p
}

func (c *Cutter) serve(client net.Conn) {
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		client.Close()
		return
	}
	p := c.plan(client, server)
	var once sync.Once
	end := func(cut bool) {
		once.Do(func() {
			c.mu.Lock()
			if cut {
				c.left--
			}
			delete(c.open, client)
			delete(c.open, server)
			c.mu.Unlock()
			if tcp, ok := client.(*net.TCPConn); ok && cut && p.reset {
				_ = tcp.SetLinger(0) // the other kind of end is as good
			}
			client.Close()
			server.Close()
		})
	}
	var both sync.WaitGroup
	both.Go(func() { end(pipe(server, client, p.requests)) })
	both.Go(func() { end(pipe(client, server, p.answers)) })
	both.Wait()
}

// pipe copies until an end, or until limit bytes went through, which it reports.
func pipe(to io.Writer, from io.Reader, limit int64) (cut bool) {
	if limit < 0 {
		_, _ = io.Copy(to, from) // either side may end it
		return false
	}
	n, err := io.CopyN(to, from, limit)
	return err == nil && n == limit
}

func (c *Cutter) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		conn.Close()
	}
}
