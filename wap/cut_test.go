package wap

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

const cuts = 200

// TestCutConnections breaks connections to a real store at random while several
// publishers stage, audit and publish. What each call says must be what the
// history says, and a repeated call settles it. WAP_TEST_SEED repeats the places
// of the cuts.
func TestCutConnections(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("WAP_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) { cutConnections(t, s3test.Start(t, kind), seed) })
	}
}

func cutConnections(t *testing.T, srv s3test.Server, seed uint64) {
	srv.Setenv(t)
	root := srv.Root()
	l := &cutLab{lab: &lab{t: t}, root: root, direct: srv.Open(t, root), chain: map[string]*manifest.Snapshot{}}
	l.cutter = s3test.Cut(t, srv, cuts, 32<<10, seed)
	if _, err := Init(t.Context(), l.config(l.direct)); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() { l.work(i) })
	}
	workers.Wait()
	if left := l.cutter.Left(); left > 0 {
		t.Fatalf("%d of %d connections were not cut", left, cuts)
	}
	w := examine(t, l.direct)
	for _, run := range l.runs {
		if gens := w.published[run]; len(gens) != 1 || w.records[run].State != manifest.StatePublished {
			t.Errorf("run %s was published as generations %v, its record says %s", run, gens, w.records[run].State)
		}
	}
	t.Logf("%d runs published over %d calls, by exit code %v", len(l.runs), l.calls, l.codes)
}

type cutLab struct {
	*lab
	root   string
	direct store.Store
	cutter *s3test.Cutter

	mu    sync.Mutex
	runs  []string
	calls int
	codes [10]int
	chain map[string]*manifest.Snapshot // read so far, by key
}

func (l *cutLab) config(st store.Store) Config {
	c := l.lab.config(st)
	c.Notify, c.CommitTimeout = nil, 20*time.Second
	return c
}

// call does a step as a process of its own would, over connections that break.
func (l *cutLab) call(s step) error {
	st, err := store.Open(context.Background(), l.root, store.Config{S3: store.S3Config{Endpoint: l.cutter.Endpoint}})
	if err != nil {
		return err
	}
	w, err := Open(context.Background(), l.config(st))
	if err != nil {
		return err
	}
	_, err = l.do(w, s)
	return err
}

// work publishes runs of one partition, one after the other, until there is
// nothing left to cut.
func (l *cutLab) work(worker int) {
	partition := fmt.Sprintf("orders/dt=%d", worker)
	rows := 0
	for n := 0; l.cutter.Left() > 0; n++ {
		s := step{run: fmt.Sprintf("w%d/%d", worker, n), partition: partition, rows: orders(1, 5+n)}
		rows = 5 + n
		if n%3 == 2 {
			s.mode, s.rows, rows = manifest.ModeAppend, orders(1000*n, 4), 4+n+4
			s.name = fmt.Sprintf("part-%d.parquet", n)
		}
		if !l.settle(s) {
			return
		}
	}
	if got := l.count(partition); got != rows {
		l.t.Errorf("%s has %d rows, want %d", partition, got, rows)
	}
}

// settle repeats a step until it succeeds, and holds each answer against the
// history.
func (l *cutLab) settle(s step) bool {
	unknown := false
	for range 200 {
		err := l.call(s)
		code := Code(err)
		published := l.inHistory(s.run)
		l.mu.Lock()
		l.calls++
		l.codes[code]++
		if code == 0 {
			l.runs = append(l.runs, s.run)
		}
		l.mu.Unlock()
		unknown = unknown || code == 5
		switch {
		case code == 0 && !published:
			l.t.Errorf("run %s: it answered 0 and is not in the history", s.run)
			return false
		case code == 0:
			return true
		case code == 1 && published && !unknown:
			l.t.Errorf("run %s: it answered 1 and is in the history: %v", s.run, err)
			return false
		case code != 1 && code != 5:
			l.t.Errorf("run %s: exit code %d of a broken connection: %v", s.run, code, err)
			return false
		}
	}
	l.t.Errorf("run %s was never settled", s.run)
	return false
}

// inHistory looks for a run in the raw snapshots.
func (l *cutLab) inHistory(run string) bool {
	var ptr manifest.Pointer
	read(l.t, l.direct, manifest.PointerKey, &ptr)
	for ref := &ptr.Snapshot; ref != nil; {
		l.mu.Lock()
		snap := l.chain[ref.Key]
		l.mu.Unlock()
		if snap == nil {
			snap = new(manifest.Snapshot)
			readRef(l.t, l.direct, *ref, snap)
			l.mu.Lock()
			l.chain[ref.Key] = snap
			l.mu.Unlock()
		}
		for _, r := range snap.Runs {
			if r.Run == run {
				return true
			}
		}
		ref = snap.Parent
	}
	return false
}

// count is the rows that readers of a partition get.
func (l *cutLab) count(partition string) int {
	w, err := Open(context.Background(), l.config(l.direct))
	if err != nil {
		l.t.Error(err)
		return -1
	}
	res, err := w.Files(context.Background(), []string{partition})
	if err != nil {
		l.t.Error(err)
		return -1
	}
	n := int64(0)
	for _, f := range res.Files {
		n += f.Rows
	}
	return int(n)
}
