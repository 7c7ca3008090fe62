package wap

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// landing is a folder of input files outside the warehouse.
func landingFolder(t *testing.T, names ...string) (dir, url string) {
	t.Helper()
	dir = t.TempDir()
	for _, n := range names {
		write(t, filepath.Join(dir, n), "first")
	}
	return dir, "file://" + dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPinnedListing(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		code   int // of the seal
	}{
		"nothing":     {func(*testing.T, string) {}, 0},
		"added":       {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "c.csv"), "new") }, 0},
		"overwritten": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a.csv"), "other") }, 6},
		"deleted": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "b.csv")); err != nil {
				t.Fatal(err)
			}
		}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			dir, url := landingFolder(t, "a.csv", "b.csv")
			req := BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Inputs: []manifest.InputSource{{Name: "raw", Source: url}}}
			first := l.begin(req)
			if first.Inputs.Objects != 2 || first.Inputs.Bytes != 10 {
				t.Fatalf("inputs %+v", first.Inputs)
			}
			c.change(t, dir)
			if again := l.begin(req); again.Inputs != first.Inputs {
				t.Fatalf("a retry is given %+v, not %+v", again.Inputs, first.Inputs)
			}
			_, err := l.stage("r", "", "orders/dt=1", orders(1, 3))
			wantCode(t, err, c.code)
			if c.code == 0 {
				return
			}
			// On record instead, where that is asked for.
			_, err = l.open().Stage(context.Background(), StageRequest{
				Run: "r", Partition: "orders/dt=1", Files: []string{l.file("p.parquet", orders(1, 3))}, Seal: SealOptions{InputsMayChange: true},
			})
			wantCode(t, err, 0)
			seal := new(manifest.Seal)
			read(t, l.store, manifest.SealKey("r", 1, MainTask), seal)
			if len(seal.Changed) != 1 {
				t.Fatalf("changed inputs on record: %v", seal.Changed)
			}
		})
	}
}

func TestInputsThatAreNotReady(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	dir, url := landingFolder(t)
	begin := func(run string, ready ...string) error {
		_, err := l.open().Begin(ctx, BeginRequest{
			Run: run, Scope: []string{"orders/dt=1"}, Ready: ready, Inputs: []manifest.InputSource{{Source: url}},
		})
		return err
	}
	wantCode(t, begin("r"), 8)
	_, err := l.open().Begin(ctx, BeginRequest{Run: "empty", Scope: []string{"orders/dt=1"}, AllowEmptyInput: true, Inputs: []manifest.InputSource{{Source: url}}})
	wantCode(t, err, 0)
	write(t, filepath.Join(dir, "a.csv"), "x")
	wantCode(t, begin("r", "min:2"), 8)
	wantCode(t, begin("r", "_SUCCESS"), 8)
	wantCode(t, begin("r", "min:x"), 2)
	write(t, filepath.Join(dir, "_SUCCESS"), "")
	wantCode(t, begin("r", "_SUCCESS", "min:1"), 0)
}

func TestPartitionsAsInput(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	in := func(run, source string) (*BeginResult, error) {
		return l.open().Begin(ctx, BeginRequest{Run: run, Scope: []string{"daily/dt=1"}, Inputs: []manifest.InputSource{{Source: source}}})
	}
	_, err := in("early", "orders/dt=1")
	wantCode(t, err, 8)
	if _, err := l.open().Status(ctx, "early"); Code(err) != 2 {
		t.Fatalf("a run was begun on a state that will never have its input: %v", err)
	}
	l.must(step{run: "o1", partition: "orders/dt=1", rows: orders(1, 4)})
	b, err := in("r", "orders/dt=1")
	wantCode(t, err, 0)
	l.must(step{run: "o2", partition: "orders/dt=1", rows: orders(1, 9)})
	again, err := in("r", "orders/dt=1")
	wantCode(t, err, 0)
	if again.Inputs != b.Inputs {
		t.Fatal("a retry is given other inputs")
	}
	old, err := in("past", "orders/dt=1@1")
	wantCode(t, err, 0)
	if old.Inputs.Objects != 1 || old.Inputs.Bytes != b.Inputs.Bytes {
		t.Fatalf("as of sequence 1: %+v, want the bytes of %+v", old.Inputs, b.Inputs)
	}
	w := examine(t, l.store)
	if w.records["past"].Floor != 1 {
		t.Fatalf("the floor is %d, not the reference's sequence", w.records["past"].Floor)
	}
	_, err = in("future", "orders/dt=1@99")
	wantCode(t, err, 2)

	dir := t.TempDir()
	f, err := l.open().FetchInputs(ctx, "r", "", dir)
	wantCode(t, err, 0)
	if f.Fetched != 1 {
		t.Fatalf("%d files fetched", f.Fetched)
	}
	// A redo pins anew.
	_, err = l.stage("r", "", "daily/dt=1", orders(1, 4))
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "again"})
	wantCode(t, err, 0)
	if anew := l.begin(BeginRequest{Run: "r"}); anew.Inputs.Bytes == b.Inputs.Bytes {
		t.Fatal("the redo reads the old listing")
	}
}
