package wap

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// brokenPointers are what may become of a pointer behind everybody's back, by
// name: what stands there then, or nil where it is gone. Old is the pointer of
// before run r published, or was begun.
func brokenPointers() map[string]func(t *testing.T, l *lab, old []byte) []byte {
	signed := func(t *testing.T, p *manifest.Pointer) []byte {
		t.Helper()
		wantCode(t, p.Sign(), 0)
		body, err := manifest.Encode(p)
		wantCode(t, err, 0)
		return body
	}
	now := func(t *testing.T, l *lab) *manifest.Pointer {
		p := new(manifest.Pointer)
		read(t, l.store, manifest.PointerKey, p)
		return p
	}
	return map[string]func(*testing.T, *lab, []byte) []byte{
		"vanished":  func(*testing.T, *lab, []byte) []byte { return nil },
		"went back": func(_ *testing.T, _ *lab, old []byte) []byte { return old },
		"went back and on": func(t *testing.T, l *lab, old []byte) []byte {
			replacePointer(t, l, old)
			for _, run := range []string{"after", "and after"} {
				l.must(step{run: run, partition: "orders/dt=9", mode: manifest.ModeAppend, rows: orders(100*len(run), 3), name: run + ".parquet"})
			}
			body, _, err := l.store.Get(context.Background(), manifest.PointerKey)
			wantCode(t, err, 0)
			return body
		},
		"belongs to another warehouse": func(t *testing.T, l *lab, _ []byte) []byte {
			p := now(t, l)
			p.Warehouse = l.id()
			return signed(t, p)
		},
		"lost its lineage": func(t *testing.T, l *lab, old []byte) []byte {
			p := now(t, l)
			other := newLab(t)
			other.must(step{run: "x", partition: "orders/dt=1", rows: orders(1, 5)})
			other.must(step{run: "y", partition: "orders/dt=2", rows: orders(1, 5)})
			theirs := now(t, other)
			theirs.Warehouse = p.Warehouse
			return signed(t, theirs)
		},
		"is half there": func(t *testing.T, l *lab, _ []byte) []byte {
			body, _, err := l.store.Get(context.Background(), manifest.PointerKey)
			wantCode(t, err, 0)
			return body[:len(body)/2]
		},
	}
}

// replacePointer puts a body in the pointer's place, as somebody with another
// tool would.
func replacePointer(t *testing.T, l *lab, body []byte) {
	t.Helper()
	ctx := context.Background()
	wantCode(t, l.store.Delete(ctx, manifest.PointerKey), 0)
	if body != nil {
		_, err := l.store.Create(ctx, manifest.PointerKey, body)
		wantCode(t, err, 0)
	}
}

// TestBrokenPointer: a pointer that vanished, was restored from a backup, or is
// another's, is no lost race. Whatever is called about a run that knew better
// exits 9, and nothing is written or deleted.
func TestBrokenPointer(t *testing.T) {
	ctx := context.Background()
	states := map[string]func(l *lab){
		"frozen": func(l *lab) {
			frozenRun(l)
			_, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
			wantCode(l.t, err, 0)
		},
		"published": func(l *lab) { l.must(step{run: "r", partition: "orders/dt=1", rows: orders(1, 5)}) },
		"revoked": func(l *lab) {
			l.must(step{run: "r", partition: "orders/dt=1", rows: orders(1, 5)})
			undo(l.t, l.open())
			wantCode(l.t, l.call("show"), 0) // settles the record
		},
	}
	for what, breaks := range brokenPointers() {
		for state, prepare := range states {
			for _, call := range []string{"begin", "stage", "audit", "publish", "abort", "redo", "resolve", "show"} {
				t.Run(what+"/"+state+"/"+call, func(t *testing.T) {
					l := newLab(t)
					older, _, err := l.store.Get(ctx, manifest.PointerKey)
					wantCode(t, err, 0)
					l.must(step{run: "before", partition: "orders/dt=7", rows: orders(1, 3)})
					old, _, err := l.store.Get(ctx, manifest.PointerKey)
					wantCode(t, err, 0)
					if prepare(l); state == "frozen" {
						old = older // of before it began: of later ones it knows nothing
					}
					replacePointer(t, l, breaks(t, l, old))
					before := contents(t, l.store)
					wantCode(t, l.call(call), 9)
					if got := contents(t, l.store); got != before {
						t.Errorf("there was\n%s\nthere is\n%s", before, got)
					}
				})
			}
		}
	}
}

// contents lists every object with its version.
func contents(t *testing.T, st store.Store) string {
	t.Helper()
	var out []string
	for e, err := range st.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Key+" "+e.Version.ETag)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
