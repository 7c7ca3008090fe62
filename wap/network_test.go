package wap

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// TestNetwork is the matrix of what a network can do to a commit: each way in
// which the deciding write, or the read after it, can go wrong; with each rival
// there may be, before the write or between it and the read; on each server, by
// plain HTTP and by TLS. Real commands run through a gateway that makes it
// happen, and what they say is held against the raw objects once the last late
// write has landed.
func TestNetwork(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			srv.Setenv(t)
			l := &netLab{t: t, srv: srv, lab: &lab{t: t}}
			cases := l.matrix(kind)
			inFlight := make(chan struct{}, networkCases)
			var running sync.WaitGroup
			for _, c := range cases {
				inFlight <- struct{}{}
				running.Go(func() {
					defer func() { <-inFlight }()
					t.Run(c.name(), c.settle)
				})
			}
			running.Wait()
			t.Logf("%d cases on %s", len(cases), srv.Name)
		})
	}
}

// networkCases run at a time: most of each is waiting.
const networkCases = 12

// netLab is a server with warehouses to start from.
type netLab struct {
	t   *testing.T
	srv s3test.Server
	lab *lab
}

// config is a client's, with ids and a clock that are real.
func (l *netLab) config(st store.Store, by string) Config {
	c := l.lab.config(st)
	c.NewID, c.Now, c.Notify, c.By, c.CommitTimeout = nil, nil, nil, by, time.Minute
	return c
}

func (l *netLab) open(t *testing.T, st store.Store, by string) *Warehouse {
	t.Helper()
	w, err := Open(t.Context(), l.config(st, by))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// template prepares a warehouse and reads all of it.
func (l *netLab) template(prepare func(l *netLab, w *Warehouse)) []prepared {
	l.t.Helper()
	ctx := l.t.Context()
	st := l.srv.Open(l.t, l.srv.Root())
	if _, err := Init(ctx, l.config(st, "template")); err != nil {
		l.t.Fatal(err)
	}
	prepare(l, l.open(l.t, st, "template"))
	var all []prepared
	for e, err := range st.List(ctx, "") {
		if err != nil {
			l.t.Fatal(err)
		}
		body, _, err := st.Get(ctx, e.Key)
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, prepared{e.Key, body})
	}
	return all
}

// passed leaves a run one swap away from being published.
func (l *netLab) passed(w *Warehouse, run, partition string, rows []order) {
	l.t.Helper()
	ctx := l.t.Context()
	_, err := w.Begin(ctx, BeginRequest{Run: run, Scope: []string{partition}})
	wantCode(l.t, err, 0)
	_, err = w.Stage(ctx, StageRequest{Run: run, Partition: partition, Files: []string{l.lab.file("part.parquet", rows)}})
	wantCode(l.t, err, 0)
	_, err = w.Audit(ctx, AuditRequest{Run: run, Rules: l.lab.rules(keyed)})
	wantCode(l.t, err, 0)
}

// prepared is an object of a template.
type prepared struct {
	key  string
	body []byte
}

// call is a command; what it said is empty if it failed.
type call func(ctx context.Context, w *Warehouse) (said string, err error)

// netCase is one field of the matrix.
type netCase struct {
	trouble
	deed  *deed
	rival *rival
	when  when
	tls   bool

	lab      *netLab
	template []prepared
}

func (c *netCase) name() string {
	line := "http"
	if c.tls {
		line = "https"
	}
	return fmt.Sprintf("%s/%s/%s%s/%s", c.deed.name, c.trouble, c.rival.name, c.when, line)
}

// settle makes the case happen. One that goes on until a deadline is given more
// time where it did not get to what it is about, or was cut off in a request:
// the machine may be busy.
func (c *netCase) settle(t *testing.T) {
	timeout := time.Second
	for {
		o := c.run(t, timeout)
		wrong := o.wrong(t)
		if wrong == "" {
			return
		}
		if !c.always || timeout > 20*time.Second {
			t.Fatalf("%s\n%s", wrong, o)
		}
		timeout *= 3
	}
}

// netOutcome is what became of a case.
type netOutcome struct {
	*netCase
	direct  store.Store
	unfired []s3test.Rule
	loose   int

	said, rivalSaid string
	err, rivalErr   error
	late            []int // the server's answers to what came late
}

func (o *netOutcome) String() string {
	return fmt.Sprintf("the call said %d %q (%v), its rival %d %q (%v); late writes were answered %v",
		Code(o.err), o.said, o.err, Code(o.rivalErr), o.rivalSaid, o.rivalErr, o.late)
}

// run makes the case happen in a warehouse of its own.
func (c *netCase) run(t *testing.T, timeout time.Duration) *netOutcome {
	t.Helper()
	root := c.lab.srv.Root()
	o := &netOutcome{netCase: c, direct: remembering(c.lab.srv.Open(t, root), c.template)}
	fill(t, o.direct, c.template)
	front := s3test.NewGateway
	if c.tls {
		front = s3test.NewTLSGateway
	}
	g := front(t, c.lab.srv)
	g.Script(o.write(t, g))
	st, err := store.Open(t.Context(), root, store.Config{S3: store.S3Config{Endpoint: g.Endpoint, CABundle: g.CABundle}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := c.lab.config(st, "caller")
	if c.always {
		cfg.CommitTimeout = timeout
	}
	w, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	o.said, o.err = c.deed.act(t.Context(), w)
	o.unfired, o.loose = g.Unfired(), g.Loose()
	// Zombies first: what is held lands now or never.
	o.late = g.Release()
	return o
}

// write is the rule about the deciding write, or, where it is the next read that
// goes wrong, the one that makes the rule about that read.
func (o *netOutcome) write(t *testing.T, g *s3test.Gateway) s3test.Rule {
	var competing, reading sync.Once
	compete := func() {
		competing.Do(func() { o.rivalSaid, o.rivalErr = o.rival.act(t.Context(), o.lab.open(t, o.direct, "rival")) })
	}
	rule := s3test.Rule{Method: http.MethodPut, Key: o.deed.key, N: o.deed.n}
	switch o.when {
	case before:
		rule.Before = compete
	case between:
		rule.After = compete
	}
	if !o.read {
		rule.Act, rule.Answer, rule.Always = o.act, o.answer, o.always
		return rule
	}
	then := rule.After
	rule.After = func() {
		if then != nil {
			then()
		}
		reading.Do(func() {
			g.Script(s3test.Rule{Method: http.MethodGet, Key: o.deed.key, Act: o.act, Answer: o.answer, Always: o.always})
		})
	}
	return rule
}

// wrong says what is wrong with an outcome, or nothing. What must hold in every
// state fails the test by itself.
func (o *netOutcome) wrong(t *testing.T) string {
	t.Helper()
	if len(o.unfired) > 0 {
		return fmt.Sprintf("this struck nothing: %v", o.unfired)
	}
	if o.loose > 0 {
		return fmt.Sprintf("%d requests had a body in chunks or with a trailer", o.loose)
	}
	if want := o.deed.codes(o.netCase); !slices.Contains(want, Code(o.err)) {
		return fmt.Sprintf("exit code %d, want one of %v", Code(o.err), want)
	}
	return o.deed.judge(t, o)
}

// fill copies a prepared warehouse. The same bytes have the same ETag. Each case
// has connections of its own, which stay open for a while: a few at a time, or
// there are more than a proxy of the server can hold.
func fill(t *testing.T, st store.Store, objects []prepared) {
	t.Helper()
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(4)
	for _, o := range objects {
		g.Go(func() error {
			_, err := st.Create(ctx, o.key, o.body)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// memory answers reads of what was prepared and cannot change from memory, so
// that judging a case costs the server little.
type memory struct {
	store.Store
	bodies map[string][]byte
}

func remembering(st store.Store, objects []prepared) store.Store {
	m := &memory{st, map[string][]byte{}}
	for _, o := range objects {
		if strings.HasPrefix(o.key, manifest.Prefix) && !mutable(o.key) && !isMark(o.key) {
			m.bodies[o.key] = o.body
		}
	}
	return m
}

// Get implements store.Store.
func (m *memory) Get(ctx context.Context, key string) ([]byte, store.Version, error) {
	if body, ok := m.bodies[key]; ok {
		return body, store.Version{ETag: "prepared"}, nil
	}
	return m.Store.Get(ctx, key)
}
