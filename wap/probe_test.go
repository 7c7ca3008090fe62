package wap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// careless is a store that forgets conditions.
type careless struct {
	*store.Mem
	create func(n int64) bool // forgets that the n-th create had one
	swap   bool
	none   bool // refuses conditions altogether
	stale  bool // reads show what was there before the last write
	n      atomic.Int64
}

func (c *careless) overwrite(ctx context.Context, key string, body []byte) (store.Version, error) {
	for {
		_, v, err := c.Mem.Get(ctx, key)
		if err == nil {
			v, err = c.Mem.Swap(ctx, key, v, body)
		} else {
			v, err = c.Mem.Create(ctx, key, body)
		}
		if err == nil {
			return v, nil
		}
	}
}

func (c *careless) Create(ctx context.Context, key string, body []byte) (store.Version, error) {
	if c.none {
		return store.Version{}, fmt.Errorf("%w: NotImplemented", store.ErrUnsupported)
	}
	if c.create != nil && c.create(c.n.Add(1)) {
		return c.overwrite(ctx, key, body)
	}
	return c.Mem.Create(ctx, key, body)
}

func (c *careless) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	if c.swap {
		return c.overwrite(ctx, key, body)
	}
	return c.Mem.Swap(ctx, key, v, body)
}

func (c *careless) Get(ctx context.Context, key string) ([]byte, store.Version, error) {
	if c.stale {
		return nil, store.Version{}, store.ErrNotFound
	}
	return c.Mem.Get(ctx, key)
}

func TestProbeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		store *careless
		says  string
	}{
		{"every condition", &careless{create: func(int64) bool { return true }, swap: true}, "create again: If-None-Match is ignored: all creates"},
		{"every third create", &careless{create: func(n int64) bool { return n%3 == 0 }}, "create again: If-None-Match is ignored: some creates"},
		{"swaps", &careless{swap: true}, "swap: If-Match is ignored: a replacement of a version that is gone succeeded; and 2 more"},
		{"no conditions", &careless{none: true}, "conditional writes: the store does not take them: store refused the request: NotImplemented"},
		{"stale reads", &careless{stale: true}, "read after write: a read right after the write says that there is nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			l := &lab{t: t, store: store.NewMem()}
			c.store.Mem = l.store
			cfg := l.config(c.store)
			cfg.TrustStore = false
			_, err := Init(ctx, cfg)
			if !isKind(err, KindStoreBroken) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("init: %v", err)
			}
			if left := l.keys(); left != "\n" {
				t.Errorf("init left:\n%s", left)
			}
			res, err := Doctor(ctx, cfg)
			if !isKind(err, KindStoreBroken) || res.Accepted || !strings.Contains(err.Error(), c.says) {
				t.Errorf("doctor: %v", err)
			}
			if left := l.keys(); left != "\n" {
				t.Errorf("doctor left:\n%s", left)
			}
		})
	}
}

// TestProbeBudget: init costs few requests more, and nothing is left of them.
func TestProbeBudget(t *testing.T) {
	l := &lab{t: t, store: store.NewMem()}
	fs := faultstore.New(l.store, faultstore.Config{})
	cfg := l.config(fs)
	cfg.TrustStore = false
	if _, err := Init(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := faultstore.CountOps(fs.Recorder().Ops()).Requests; n > 133+10 {
		t.Errorf("%d requests, want at most 133 of the probe and 10 of init:\n%s", n, faultstore.Log(fs.Recorder().Ops()))
	}
	want := "_wap/refs/main.json\n_wap/snapshots/000000000000-ID.json\n_wap/warehouse.json\n"
	if got := l.keys(); got != want {
		t.Errorf("left:\n%s", got)
	}
	before := fs.Recorder().Len()
	if _, err := Init(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := fs.Recorder().Len() - before; n > 6 {
		t.Errorf("init of a warehouse that is there costs %d operations: it probes", n)
	}
}

// TestProbeFaults: a lost answer says nothing about conditions, and a probe that
// is killed is cleaned away by a later one.
func TestProbeFaults(t *testing.T) {
	ctx := context.Background()
	for n := 1; ; n += 3 {
		for _, kind := range []faultstore.Kind{faultstore.FailBefore, faultstore.FailAfter} {
			l := &lab{t: t, store: store.NewMem()}
			fs := faultstore.New(l.store, faultstore.Config{Faults: []faultstore.Fault{{Kind: kind, N: n}}})
			cfg := l.config(fs)
			cfg.TrustStore = false
			_, err := Init(ctx, cfg)
			if Code(err) > 1 {
				t.Fatalf("%s of operation %d: %v", kind, n, err)
			}
			if len(fs.Unfired()) > 0 {
				if n < 60 {
					t.Fatalf("only %d operations", n)
				}
				return
			}
		}
	}
}

func TestProbeRemovesWhatKilledOnesLeft(t *testing.T) {
	ctx := context.Background()
	l := &lab{t: t, store: store.NewMem()}
	cfg := l.config(l.store)
	w := &Warehouse{cfg: cfg.withDefaults()}
	old, young := w.newProbe(depth{}), w.newProbe(depth{})
	for _, p := range []*probe{old, young} {
		if _, err := l.store.Create(ctx, p.key("k"), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	ids := time.UnixMilli(1_700_000_000_000).UTC() // of the lab's ids
	cfg.Now = func() time.Time { return ids.Add(staleProbe / 2) }
	if _, err := Doctor(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	if got, want := l.keys(), "_wap/probe/ID/k\n_wap/probe/ID/k\n"; got != want {
		t.Fatalf("a young probe's: %q", got)
	}
	cfg.Now = func() time.Time { return ids.Add(2 * staleProbe) }
	if _, err := Doctor(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	if got := l.keys(); got != "\n" {
		t.Fatalf("left: %q", got)
	}
}

// TestDoctorOfFolder leaves not even a folder.
func TestDoctorOfFolder(t *testing.T) {
	ctx := context.Background()
	l := &lab{t: t, store: store.NewMem()}
	dir := filepath.Join(t.TempDir(), "lake")
	cfg := l.config(nil)
	var err error
	cfg.Location, err = store.ParseURL(dir)
	wantCode(t, err, 0)
	cfg.Store, err = store.Open(ctx, dir, store.Config{})
	wantCode(t, err, 0)
	res, err := Doctor(ctx, cfg)
	wantCode(t, err, 0)
	if !res.Accepted || res.Policy != nil {
		t.Errorf("%+v", res)
	}
	left, err := os.ReadDir(dir)
	if err == nil && len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

func TestPattern(t *testing.T) {
	a, b := make([]byte, 64), make([]byte, 16)
	_, _ = pattern{}.ReadAt(a, 1000)
	_, _ = pattern{}.ReadAt(b, 1010)
	if !bytes.Equal(a[10:26], b) {
		t.Error("the same offsets have other bytes")
	}
}
