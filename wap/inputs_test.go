package wap

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// TestInputsThatAreFiles pins one file, a folder with hidden names and folders in
// it, and two inputs of one name's folder.
func TestInputsThatAreFiles(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	dir, url := landingFolder(t, "a.csv", "b.csv", ".hidden", "_SUCCESS")
	if err := os.MkdirAll(filepath.Join(dir, "deep/_tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "deep/c.csv"), "third")
	write(t, filepath.Join(dir, "deep/_tmp/d.csv"), "not yet")
	b := l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Inputs: []manifest.InputSource{
		{Name: "one", Source: url + "/a.csv"}, {Source: url}, {Name: "deep", Source: url + "/deep/"},
	}})
	if b.Inputs.Objects != 5 || b.Inputs.Bytes != 25 {
		t.Fatalf("pinned %+v", b.Inputs)
	}
	to := t.TempDir()
	for range 2 { // a second fetch finds what the first one brought
		f, err := l.open().FetchInputs(ctx, "r", "", to)
		wantCode(t, err, 0)
		if f.Fetched != 5 {
			t.Fatalf("%d fetched", f.Fetched)
		}
	}
	for _, name := range []string{"one/a.csv", "input-2/a.csv", "input-2/b.csv", "input-2/deep/c.csv", "deep/c.csv"} {
		if _, err := os.Stat(filepath.Join(to, name)); err != nil {
			t.Error(err)
		}
	}
	_, err := l.stage("r", "", "orders/dt=1", orders(1, 3))
	wantCode(t, err, 0)
	write(t, filepath.Join(dir, "a.csv"), "other")
	_, err = l.open().FetchInputs(ctx, "r", "", t.TempDir())
	wantCode(t, err, 6)
}

// TestInputsThatAreNot: what can never be an input is refused before the run
// exists.
func TestInputsThatAreNot(t *testing.T) {
	for source, code := range map[string]int{
		"../orders":              2,
		"/absolute":              2,
		"orders@":                2,
		"orders@2025-13-01":      2,
		"orders/dt=1@5":          2,
		"gopher://x":             2,
		"file:///no/such/folder": 8,
		"orders/dt=1":            8,
	} {
		l := newLab(t)
		before := l.keys()
		_, err := l.open().Begin(context.Background(), BeginRequest{
			Run: "r", Scope: []string{"orders/dt=1"}, Inputs: []manifest.InputSource{{Source: source}},
		})
		if Code(err) != code {
			t.Errorf("%s: exit %d, want %d: %v", source, Code(err), code, err)
		}
		if after := l.keys(); code == 2 && after != before {
			t.Errorf("%s left behind:\n%s", source, after)
		}
	}
}
