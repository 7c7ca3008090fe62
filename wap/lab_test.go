package wap

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/parquet-go/parquet-go"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// lab is a warehouse in memory with a clock and ids of its own.
type lab struct {
	t     *testing.T
	store *store.Mem
	ticks atomic.Int64
	ids   atomic.Int64
	notes []Notice
}

var epoch = time.Date(2025, 3, 5, 1, 0, 0, 0, time.UTC)

func newLab(t *testing.T) *lab {
	l := &lab{t: t, store: store.NewMem()}
	if _, err := Init(context.Background(), l.config(l.store)); err != nil {
		t.Fatal(err)
	}
	return l
}

// config is a client's: every client of a lab shares its clock and its ids.
func (l *lab) config(st store.Store) Config {
	loc, err := store.ParseURL("s3://lab/lake")
	if err != nil {
		l.t.Fatal(err)
	}
	return Config{
		Store: st, Location: loc, By: "tester@lab", Version: "test", TrustStore: true,
		Now:   func() time.Time { return epoch.Add(time.Duration(l.ticks.Add(1)) * time.Second) },
		NewID: func() string { return l.id() },
		// Nothing else is there: no parents, no other inputs but local ones.
		OpenStore: func(ctx context.Context, url string) (store.Store, store.Location, error) {
			loc, err := store.ParseURL(url)
			if err != nil {
				return nil, loc, err
			}
			if loc.Scheme == store.SchemeS3 {
				return store.NewMem(), loc, nil
			}
			s, err := store.Open(ctx, url, store.Config{})
			return s, loc, err
		},
		CommitTimeout: 30 * time.Second,
		Notify:        func(n Notice) { l.notes = append(l.notes, n) },
	}
}

func (l *lab) id() string {
	n := l.ids.Add(1)
	return ulid.MustNew(uint64(1_700_000_000_000+n), strings.NewReader(strings.Repeat(fmt.Sprintf("%010d", n), 2))).String()
}

// client opens the warehouse.
func (l *lab) client(st store.Store) *Warehouse {
	l.t.Helper()
	w, err := Open(context.Background(), l.config(st))
	if err != nil {
		l.t.Fatal(err)
	}
	return w
}

func (l *lab) open() *Warehouse { l.t.Helper(); return l.client(l.store) }

// faulty runs a step through a store with faults. Its time passes only while
// nothing can go on, so that a timeout is never too short.
func (l *lab) faulty(s step, cfg faultstore.Config, timeout time.Duration) (fs *faultstore.Store, err error) {
	l.t.Helper()
	synctest.Test(l.t, func(*testing.T) {
		fs = faultstore.New(l.store, cfg)
		c := l.config(fs)
		c.CommitTimeout = timeout
		var w *Warehouse
		if w, err = Open(context.Background(), c); err == nil {
			_, err = l.do(w, s)
		}
	})
	return fs, err
}

// order is a row of the test table.
type order struct {
	ID     int64  `parquet:"id"`
	Name   string `parquet:"name"`
	Amount int64  `parquet:"amount"`
}

// orders makes n rows from id first on.
func orders(first, n int) []order {
	out := make([]order, n)
	for i := range out {
		out[i] = order{int64(first + i), fmt.Sprintf("customer %d", first+i), int64(first+i) * 100}
	}
	return out
}

// file writes rows to a Parquet file in a folder of its own.
func (l *lab) file(name string, rows []order) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	if err := parquet.WriteFile(path, rows); err != nil {
		l.t.Fatal(err)
	}
	return path
}

func (l *lab) rules(yaml string) *audit.Rules {
	l.t.Helper()
	c, err := audit.Parse("checks.yaml", []byte(yaml), audit.Vars{})
	if err != nil {
		l.t.Fatal(err)
	}
	return &audit.Rules{Default: c}
}

const keyed = "version: 1\nchecks:\n  - primary_key: [id]\n"

// step is a whole task step without a command.
type step struct {
	run, partition string
	mode           manifest.Mode
	task           string
	tasks          []string
	rows           []order
	name           string // of the file
	replacing      []string
	rules          string
}

// do is what `wap run` does around a command.
func (l *lab) do(w *Warehouse, s step) (*PublishResult, error) {
	l.t.Helper()
	ctx := context.Background()
	b, err := w.Begin(ctx, BeginRequest{Run: s.run, Scope: []string{s.partition}, Mode: s.mode, Task: s.task, Tasks: s.tasks})
	if err != nil {
		return nil, err
	}
	if b.State == manifest.StatePublished {
		return w.Publish(ctx, PublishRequest{Run: s.run})
	}
	if b.SealedBy == "" {
		name := s.name
		if name == "" {
			name = "part.parquet"
		}
		_, err := w.Stage(ctx, StageRequest{
			Run: s.run, Task: s.task, Attempt: b.Attempt, Partition: s.partition, Files: []string{l.file(name, s.rows)},
			Seal: SealOptions{Replacing: s.replacing},
		})
		if err != nil {
			return nil, err
		}
	}
	rules := s.rules
	if rules == "" {
		rules = keyed
	}
	return w.Publish(ctx, PublishRequest{Run: s.run, Rules: l.rules(rules)})
}

func (l *lab) must(s step) *PublishResult {
	l.t.Helper()
	r, err := l.do(l.open(), s)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// wantCode fails the test unless err has the exit code.
func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	if Code(err) != code {
		t.Fatalf("exit code %d (%v), want %d", Code(err), err, code)
	}
}

// rows reads a partition as a reader would.
func (l *lab) rows(path string) []order {
	l.t.Helper()
	ctx := context.Background()
	w := l.open()
	dir := l.t.TempDir()
	res, err := w.Fetch(ctx, path, dir)
	if isKind(err, KindNotFound) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	var out []order
	for _, p := range res.Paths {
		rows, err := parquet.ReadFile[order](filepath.Join(dir, p))
		if err != nil {
			l.t.Fatal(err)
		}
		out = append(out, rows...)
	}
	slices.SortFunc(out, func(a, b order) int { return int(a.ID - b.ID) })
	return out
}

// keys lists the warehouse with ids masked: what is there, and nothing else.
func (l *lab) keys() string {
	l.t.Helper()
	var out []string
	for e, err := range l.store.List(context.Background(), "") {
		if err != nil {
			l.t.Fatal(err)
		}
		out = append(out, mask(e.Key))
	}
	slices.Sort(out)
	return strings.Join(out, "\n") + "\n"
}

// mask replaces ULIDs by ID and hex digests by SHA.
func mask(key string) string {
	parts := strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune("/-.", r) })
	for _, p := range parts {
		if _, err := ulid.ParseStrict(p); err == nil && len(p) == 26 {
			key = strings.Replace(key, p, "ID", 1)
		} else if len(p) == 16 && strings.Trim(p, "0123456789abcdef") == "" {
			key = strings.Replace(key, p, "SHA", 1)
		}
	}
	return key
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *exploreToEnd || *exploreN > fewSchedules {
		debug.SetGCPercent(400) // executions are short and leave nothing behind
	}
	// Files that a test forgets would be found here.
	dir, err := os.MkdirTemp("", "wap-test-")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
	code := m.Run()
	if left, err := os.ReadDir(dir); err == nil && code == 0 {
		for _, e := range left {
			if strings.HasPrefix(e.Name(), "wap-") {
				fmt.Println("left behind:", e.Name())
				code = 1
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// appendEntry appends an entry of the history that no command makes yet: the
// newest one, changed. It returns the pointer before.
func appendEntry(t *testing.T, w *Warehouse, change func(h *head, snap *manifest.Snapshot)) *head {
	t.Helper()
	ctx := context.Background()
	h, err := w.head(ctx)
	wantCode(t, err, 0)
	st, err := w.at(ctx, h.base())
	wantCode(t, err, 0)
	snap := *st.snap
	change(h, &snap)
	pr, obj, err := w.propose(h, &snap)
	wantCode(t, err, 0)
	wantCode(t, w.createAll(ctx, []*written{obj}), 0)
	wantCode(t, w.send(ctx, pr), 0)
	return h
}
