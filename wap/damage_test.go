package wap

import (
	"context"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// rewrite replaces the bytes under a key, as nobody may.
func (l *lab) rewrite(key string, body []byte) {
	l.t.Helper()
	ctx := context.Background()
	if err := l.store.Delete(ctx, key); err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.store.Create(ctx, key, body); err != nil {
		l.t.Fatal(err)
	}
}

// TestDamagedObjects rewrites each metadata object in turn: every reader of it
// says which, exit 9, or 2 for one of a newer wap, and never "not found".
func TestDamagedObjects(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]struct {
		change func(body []byte) []byte
		code   int // where no checksum of another object covers the key
	}{
		"truncated": {func(b []byte) []byte { return b[:len(b)/2] }, 9},
		"tampered":  {func(b []byte) []byte { return []byte(strings.Replace(string(b), `"format":1`, `"format":1 `, 1)) }, 9},
		"newer":     {func(b []byte) []byte { return []byte(strings.Replace(string(b), `"format":1`, `"format":2`, 1)) }, 2},
	} {
		l := newLab(t)
		l.must(step{run: "r", partition: "orders/dt=1", rows: orders(1, 3)})
		for e, err := range l.store.List(ctx, manifest.Prefix) {
			wantCode(t, err, 0)
			if strings.HasPrefix(e.Key, manifest.DataFolder) || strings.Contains(e.Key, "snapshots/000000000000") {
				continue
			}
			good, _, err := l.store.Get(ctx, e.Key)
			wantCode(t, err, 0)
			l.rewrite(e.Key, damage.change(good))
			w, err := Open(ctx, l.config(l.store))
			if err == nil {
				_, err = w.Files(ctx, []string{"orders"})
			}
			if err == nil {
				_, err = w.Show(ctx, "r")
			}
			want := 9
			if e.Key == manifest.WarehouseKey || e.Key == manifest.RunKey("r") || e.Key == manifest.PointerKey || strings.Contains(e.Key, "/attempts/") || strings.Contains(e.Key, "/tasks/") {
				want = damage.code
			}
			if Code(err) != want && !(damage.code == 2 && Code(err) == 2) {
				t.Errorf("%s %s: exit %d, want %d: %v", name, mask(e.Key), Code(err), want, err)
			}
			l.rewrite(e.Key, good)
		}
		_, err := l.open().Files(ctx, []string{"orders"})
		wantCode(t, err, 0)
	}
}
