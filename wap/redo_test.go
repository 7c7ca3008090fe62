package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

func TestRedo(t *testing.T) {
	const p = "orders/dt=1"
	bad := append(orders(1, 5), orders(1, 1)...)
	ctx := context.Background()
	for name, prepare := range map[string]func(l *lab){
		"published": func(l *lab) { l.must(step{run: "r", partition: p, rows: orders(1, 5)}) },
		"rejected": func(l *lab) {
			_, err := l.do(l.open(), step{run: "r", partition: p, rows: bad})
			wantCode(l.t, err, 3)
		},
		"aborted": func(l *lab) {
			l.begin(BeginRequest{Run: "r", Scope: []string{p}})
			_, err := l.open().Abort(ctx, "r", "not today")
			wantCode(l.t, err, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			prepare(l)
			for range 2 { // killed and repeated with its generation, it opens one
				s, err := l.open().Redo(ctx, RedoRequest{Run: "r", Generation: 2, Reason: "fix"})
				wantCode(t, err, 0)
				if s.Generation != 2 || s.State != manifest.StateOpening {
					t.Fatalf("generation %d is %s", s.Generation, s.State)
				}
			}
			_, err := l.open().Redo(ctx, RedoRequest{Run: "r", Generation: 4, Reason: "too far"})
			wantCode(t, err, 2)
			_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "it is open"})
			wantCode(t, err, 2)
			r := l.must(step{run: "r", partition: p, rows: orders(1, 7)})
			if r.Generation != 2 || r.Status != StatusPublished || len(l.rows(p)) != 7 {
				t.Fatalf("generation %d %s", r.Generation, r.Status)
			}
			w := examine(t, l.store)
			if w.records["r"].Generation != 2 {
				t.Fatal("the record is not at generation 2")
			}
			if s, err := l.open().Status(ctx, ""); err != nil || len(s.Runs) != 0 {
				t.Fatalf("unfinished runs: %+v, %v", s, err)
			}
		})
	}
}

func TestRedoOfOneTaskInheritsTheOthers(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}, Tasks: []string{"a", "b"}})
	for i, task := range []string{"a", "b"} {
		_, err := l.stage("r", task, p, orders(3*i, 4)) // one row twice
		wantCode(t, err, 0)
	}
	_, err := l.open().Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 3)
	_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Tasks: []string{"b"}, KeepPin: true, Reason: "b was wrong"})
	wantCode(t, err, 0)
	b := l.begin(BeginRequest{Run: "r", Task: "a"})
	if b.SealedBy == "" {
		t.Fatal("task a is not inherited")
	}
	l.begin(BeginRequest{Run: "r", Task: "b"})
	_, err = l.stage("r", "b", p, orders(4, 4))
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	if got := len(l.rows(p)); got != 8 {
		t.Fatalf("%d rows", got)
	}
	examine(t, l.store)
}

func TestAbort(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	s, err := l.open().Abort(ctx, "r", "wrong day")
	wantCode(t, err, 0)
	if s.State != manifest.StateAborted {
		t.Fatalf("%s", s.State)
	}
	_, err = l.open().Begin(ctx, BeginRequest{Run: "r", Scope: []string{p}})
	wantCode(t, err, 4)
	_, err = l.open().Resolve(ctx, "r")
	wantCode(t, err, 0)
	l.must(step{run: "q", partition: p, rows: orders(1, 2)})
	_, err = l.open().Abort(ctx, "q", "too late")
	wantCode(t, err, 4)
	if w := examine(t, l.store); w.records["q"].State != manifest.StatePublished {
		t.Fatal("a published run was aborted")
	}
}

// TestAbortMeetsAPublisher stops a publisher right before its swap, aborts the
// run, and lets it go on: the abort's answer must stay true.
func TestAbortMeetsAPublisher(t *testing.T) {
	l := newLab(t)
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	_, err := l.stage("r", "", p, orders(1, 5))
	wantCode(t, err, 0)
	aborted := false
	fs := faultstore.New(l.store, faultstore.Config{OnOp: func(ctx context.Context, op faultstore.Op) error {
		if op.Verb == faultstore.Swap && op.Key == manifest.PointerKey && op.Phase == faultstore.Before && !aborted {
			aborted = true
			_, err := l.open().Abort(ctx, "r", "now")
			wantCode(t, err, 0)
		}
		return nil
	}})
	_, err = l.client(fs).Publish(context.Background(), PublishRequest{Run: "r", Rules: l.rules(keyed)})
	if !aborted {
		t.Fatal("the publisher sent nothing")
	}
	wantCode(t, err, 4)
	if w := examine(t, l.store); w.has("r", 1) {
		t.Fatal("an aborted run is published")
	}
}

// TestStrictAuditorMeetsAPublisher: an audit that answers "the gate is closed"
// after other rules let the run pass must have stopped whoever publishes by
// those.
func TestStrictAuditorMeetsAPublisher(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	_, err := l.stage("r", "", p, orders(1, 5))
	wantCode(t, err, 0)
	strict := l.rules("version: 1\nchecks: [row_count: {min: 6}]\n")
	judged := false
	fs := faultstore.New(l.store, faultstore.Config{OnOp: func(ctx context.Context, op faultstore.Op) error {
		if op.Verb == faultstore.Swap && op.Key == manifest.PointerKey && op.Phase == faultstore.Before && !judged {
			judged = true
			_, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: strict})
			wantCode(t, err, 3)
		}
		return nil
	}})
	_, err = l.client(fs).Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 3)
	if w := examine(t, l.store); w.has("r", 1) {
		t.Fatal("a rejected run is published")
	}
	// The same bytes by other rules: deliberately, and on record.
	_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r"})
	wantCode(t, err, 0)
}
