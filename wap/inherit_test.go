package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// TestInheritedSeals: what a redo of one task takes over from the older
// generation, and what comes of it.
func TestInheritedSeals(t *testing.T) {
	const p = "orders/dt=1"
	ctx := context.Background()
	for name, c := range map[string]struct {
		mode    manifest.Mode
		between func(l *lab)
		inherit bool
		rows    int // afterwards
	}{
		"published":           {manifest.ModeOverwrite, func(*lab) {}, true, 5},
		"published, appended": {manifest.ModeAppend, func(*lab) {}, true, 7},
		"overwritten since": {manifest.ModeOverwrite, func(l *lab) {
			l.must(step{run: "other", partition: p, rows: orders(50, 1)})
		}, false, 5},
		"appended to since": {manifest.ModeAppend, func(l *lab) {
			l.must(step{run: "other", partition: p, mode: manifest.ModeAppend, rows: orders(50, 1)})
		}, true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.must(step{run: "base", partition: p, rows: orders(90, 2)})
			l.begin(BeginRequest{Run: "r", Scope: []string{p}, Mode: c.mode, Tasks: []string{"a", "b"}})
			for i, task := range []string{"a", "b"} {
				_, err := l.stage("r", task, p, orders(3*i+1, 3))
				wantCode(t, err, 0)
			}
			_, err := l.publish("r")
			wantCode(t, err, 0)
			c.between(l)
			_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Tasks: []string{"b"}, Reason: "b was wrong"})
			wantCode(t, err, 0)
			if b := l.begin(BeginRequest{Run: "r", Task: "a"}); (b.SealedBy != "") != c.inherit {
				t.Fatalf("task a is sealed by %q", b.SealedBy)
			}
			if !c.inherit {
				_, err = l.stage("r", "a", p, orders(1, 3))
				wantCode(t, err, 0)
			}
			_, err = l.stage("r", "b", p, orders(4, 2))
			wantCode(t, err, 0)
			r, err := l.publish("r")
			wantCode(t, err, 0)
			if r.Generation != 2 || r.Status != StatusPublished {
				t.Fatalf("%+v", r)
			}
			examine(t, l.store)
			if got := len(l.rows(p)); got != c.rows {
				t.Fatalf("%d rows, want %d", got, c.rows)
			}
			// And once more, from what was inherited already.
			_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Tasks: []string{"b"}, Reason: "again"})
			wantCode(t, err, 0)
			if b := l.begin(BeginRequest{Run: "r", Task: "a"}); b.SealedBy == "" {
				t.Fatal("task a is not inherited twice")
			}
			_, err = l.stage("r", "b", p, orders(4, 1))
			wantCode(t, err, 0)
			_, err = l.publish("r")
			wantCode(t, err, 0)
			if got := len(l.rows(p)); got != c.rows-1 {
				t.Fatalf("%d rows, want %d", got, c.rows-1)
			}
		})
	}
}

// TestKeptPinTwice: a redo that keeps its pin, of one that kept it, reads the
// first generation's listing, and publishes against its base.
func TestKeptPinTwice(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	_, url := landingFolder(t, "a.csv")
	const p = "orders/dt=1"
	first := l.begin(BeginRequest{Run: "r", Scope: []string{p}, Inputs: []manifest.InputSource{{Source: url}}})
	for range 2 {
		_, err := l.stage("r", "", p, orders(1, 3))
		wantCode(t, err, 0)
		_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(tooFew)})
		wantCode(t, err, 3)
		_, err = l.open().Redo(ctx, RedoRequest{Run: "r", KeepPin: true, Reason: "again"})
		wantCode(t, err, 0)
		b := l.begin(BeginRequest{Run: "r"})
		if b.Inputs != first.Inputs || b.Base != first.Base || !b.Now.Equal(first.Now) {
			t.Fatalf("given %+v, want %+v", b, first)
		}
	}
	_, err := l.stage("r", "", p, orders(1, 3))
	wantCode(t, err, 0)
	r, err := l.publish("r")
	wantCode(t, err, 0)
	if r.Generation != 3 {
		t.Fatalf("generation %d", r.Generation)
	}
	examine(t, l.store)
}
