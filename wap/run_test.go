package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

func TestPublishThenRetry(t *testing.T) {
	l := newLab(t)
	s := step{run: "r1", partition: "orders/dt=2025-03-05", rows: orders(1, 10)}
	r := l.must(s)
	if r.Status != StatusPublished || r.Sequence != 1 {
		t.Fatalf("%s at %d", r.Status, r.Sequence)
	}
	want := l.keys()
	if r = l.must(s); r.Status != StatusAlreadyPublished || r.Sequence != 1 {
		t.Fatalf("the retry is %s at %d", r.Status, r.Sequence)
	}
	if got := l.keys(); got != want {
		t.Fatalf("a retry changed the keys:\n%s\nwant:\n%s", got, want)
	}
	const keys = `_wap/data/orders/r1/g1/main/ID/dt=2025-03-05/part.parquet
_wap/refs/main.json
_wap/runs/r1/g1/attempts/main/ID.json
_wap/runs/r1/g1/audits/ID.json
_wap/runs/r1/g1/manifests/ID-SHA.json
_wap/runs/r1/g1/tasks/main.json
_wap/runs/r1/run.json
_wap/snapshots/000000000000-ID.json
_wap/snapshots/000000000001-ID.json
_wap/trees/ID-SHA.json
_wap/trees/ID-SHA.json
_wap/warehouse.json
`
	if want != keys {
		t.Fatalf("keys:\n%s\nwant:\n%s", want, keys)
	}
	if got := l.rows(s.partition); len(got) != 10 {
		t.Fatalf("%d rows", len(got))
	}
	w := examine(t, l.store)
	if len(w.published["r1"]) != 1 || w.records["r1"].State != manifest.StatePublished {
		t.Fatalf("published %v, record %s", w.published, w.records["r1"].State)
	}
}

func TestGateKeepsReadersAtTheEarlierState(t *testing.T) {
	l := newLab(t)
	l.must(step{run: "good", partition: "orders/dt=1", rows: orders(1, 10)})
	bad := step{run: "bad", partition: "orders/dt=1", rows: append(orders(1, 5), orders(3, 2)...)}
	r, err := l.do(l.open(), bad)
	wantCode(t, err, 3)
	if r.Report == nil || r.Report.Blocking()[0].Violations != 2 {
		t.Fatalf("report %+v", r.Report)
	}
	if got := l.rows(bad.partition); len(got) != 10 {
		t.Fatalf("readers see %d rows", len(got))
	}
	// A retry never runs the task again: it prints the stored report.
	_, err = l.open().Begin(context.Background(), BeginRequest{Run: "bad", Scope: []string{bad.partition}})
	wantCode(t, err, 3)
	if r, err := l.open().Publish(context.Background(), PublishRequest{Run: "bad"}); Code(err) != 3 || r.Report == nil {
		t.Fatalf("publish of a rejected run: %v, report %v", err, r.Report)
	}
	examine(t, l.store)
}

func TestTwoRunsOnOnePartition(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	for _, run := range []string{"a", "b"} {
		w := l.open()
		b, err := w.Begin(ctx, BeginRequest{Run: run, Scope: []string{"orders/dt=1"}})
		wantCode(t, err, 0)
		_, err = w.Stage(ctx, StageRequest{Run: run, Attempt: b.Attempt, Partition: "orders/dt=1", Files: []string{l.file("p.parquet", orders(1, 3))}})
		wantCode(t, err, 0)
	}
	_, err := l.open().Publish(ctx, PublishRequest{Run: "b", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "a", Rules: l.rules(keyed)})
	wantCode(t, err, 4)
	if want := `run "a" lost partition orders/dt=1: run "b" published it first`; err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
	w := examine(t, l.store)
	if w.live["orders/dt=1"].Run != "b" {
		t.Fatal("b is not live")
	}
}
