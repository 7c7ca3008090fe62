package wap

import (
	"context"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

func TestInitKilledAtEveryOperation(t *testing.T) {
	for n, alive := 1, true; alive; n++ {
		for _, after := range []bool{false, true} {
			l := &lab{t: t, store: store.NewMem()}
			fs := faultstore.New(l.store, dying(n, after))
			_, said := Init(context.Background(), l.config(fs))
			alive = fs.Recorder().Len() >= n
			first, err := Init(context.Background(), l.config(l.store))
			if err != nil {
				t.Fatalf("repeated after operation %d: %v", n, err)
			}
			if said == nil && first.Created {
				t.Fatalf("operation %d: it said the warehouse was there, and it was not", n)
			}
			second, err := Init(context.Background(), l.config(l.store))
			if err != nil || second.Created || second.Warehouse != first.Warehouse {
				t.Fatalf("a third init: %+v, %v", second, err)
			}
			l.must(step{run: "r", partition: "orders/dt=1", rows: orders(1, 3)})
			examine(t, l.store)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	if err := l.store.Delete(ctx, manifest.PointerKey); err != nil {
		t.Fatal(err)
	}
	_, err := Init(ctx, l.config(l.store))
	wantCode(t, err, 9)
	_, err = l.open().Ls(ctx, "")
	wantCode(t, err, 9)

	outer := t.TempDir()
	for _, c := range []struct {
		dir  string
		code int
	}{{outer + "/lake", 0}, {outer + "/lake/inner", 2}, {outer, 2}, {outer + "/other", 0}} {
		cfg := l.config(nil)
		cfg.Location, err = store.ParseURL(c.dir)
		wantCode(t, err, 0)
		cfg.Store, err = store.Open(ctx, c.dir, store.Config{})
		wantCode(t, err, 0)
		if _, err = Init(ctx, cfg); Code(err) != c.code {
			t.Errorf("init %s: %v", c.dir, err)
		}
	}
}

// TestPointerThatWentBack restores an older pointer behind a run's back: that is
// no lost race.
func TestPointerThatWentBack(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	old, _, err := l.store.Get(ctx, manifest.PointerKey)
	wantCode(t, err, 0)
	l.must(step{run: "a", partition: "orders/dt=1", rows: orders(1, 3)})
	l.begin(BeginRequest{Run: "b", Scope: []string{"orders/dt=2"}})
	_, v, err := l.store.Get(ctx, manifest.PointerKey)
	wantCode(t, err, 0)
	_, err = l.store.Swap(ctx, manifest.PointerKey, v, old)
	wantCode(t, err, 0)
	_, err = l.do(l.open(), step{run: "b", partition: "orders/dt=2", rows: orders(1, 3)})
	wantCode(t, err, 9)
}

// TestFiftyPublishers lets fifty runs publish fifty partitions of one warehouse
// at once over a slow store: each rebases on the others, and none is judged
// twice.
func TestFiftyPublishers(t *testing.T) {
	l := newLab(t)
	rec := new(faultstore.Recorder)
	const n = 50
	errs := make(chan error, n)
	for i := range n {
		run := "r" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		s := step{run: run, partition: "orders/dt=" + run, rows: orders(10*i, 10)}
		cfg := l.config(faultstore.New(l.store, faultstore.Config{Delay: 40 * time.Millisecond, Recorder: rec}))
		cfg.CommitTimeout, cfg.Notify = 0, nil
		go func() {
			w, err := Open(context.Background(), cfg)
			if err == nil {
				_, err = l.do(w, s)
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	w := examine(t, l.store)
	if len(w.live) != n || w.pointer.Sequence != n {
		t.Fatalf("%d partitions at sequence %d", len(w.live), w.pointer.Sequence)
	}
	audits := 0
	for e, err := range l.store.List(context.Background(), manifest.RunsPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		if m := mask(e.Key); m[len(m)-len("audits/ID.json"):] == "audits/ID.json" {
			audits++
		}
	}
	if audits != n {
		t.Fatalf("%d audits of %d runs", audits, n)
	}
}
