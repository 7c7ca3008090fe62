package wap

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// longHistory publishes n runs with names so long that the pointer's own lineage
// forgets the first ones. It returns the first run's name.
func longHistory(l *lab, n int) string {
	l.t.Helper()
	name := func(i int) string { return fmt.Sprintf("run %03d ", i) + strings.Repeat("x", 490) }
	for i := range n {
		l.must(step{run: name(i), partition: fmt.Sprintf("orders/dt=%03d", i), rows: orders(i, 1)})
	}
	w := examine(l.t, l.store)
	if len(w.pointer.Recent) > n-5 {
		l.t.Fatalf("the pointer holds %d of %d entries", len(w.pointer.Recent), n)
	}
	return name(0)
}

// TestHistoryBelowThePointersOwnLineage: what no longer fits the pointer is
// found over the snapshots' parents.
func TestHistoryBelowThePointersOwnLineage(t *testing.T) {
	const n = 45
	l := newLab(t)
	ctx := context.Background()
	l.begin(BeginRequest{Run: "old", Scope: []string{"orders/dt=old"}})
	first := longHistory(l, n)
	w := l.open()

	if r := l.must(step{run: first, partition: "orders/dt=000", rows: orders(0, 1)}); r.Status != StatusAlreadyPublished || r.Sequence != 1 {
		t.Fatalf("a retry of the first run: %+v", r)
	}
	for ref, want := range map[string]int64{"@0": 0, "@1": 1, "@7": 7, fmt.Sprintf("@%d", n): n, "@" + epoch.Format("2006-01-02T15:04:05Z"): -1} {
		r, err := w.Ls(ctx, ref)
		if want < 0 {
			wantCode(t, err, 2) // older than the warehouse
			continue
		}
		if wantCode(t, err, 0); r.Sequence != want || len(r.Entries) > 1 {
			t.Errorf("%s is sequence %d, %+v", ref, r.Sequence, r.Entries)
		}
	}
	_, err := w.Ls(ctx, fmt.Sprintf("@%d", n+1))
	wantCode(t, err, 2)
	log, err := w.Log(ctx, LogRequest{Since: -1})
	wantCode(t, err, 0)
	if len(log.Entries) != n+1 || log.Entries[n].Sequence != 0 {
		t.Fatalf("%d entries of %d", len(log.Entries), n+1)
	}
	at := log.Entries[n-1].Time
	r, err := w.Ls(ctx, "@"+at.Format("2006-01-02T15:04:05Z"))
	if wantCode(t, err, 0); r.Sequence != 1 {
		t.Fatalf("the state at %v is sequence %d", at, r.Sequence)
	}
	if log, err = w.Log(ctx, LogRequest{Path: "orders/dt=002", Since: -1}); err != nil || len(log.Entries) != 1 {
		t.Fatalf("log of one partition: %+v, %v", log, err)
	}
	if log, err = w.Log(ctx, LogRequest{Since: 2, Limit: n}); err != nil || len(log.Entries) != n-2 {
		t.Fatalf("log since 2: %d entries, %v", len(log.Entries), err)
	}
	show, err := w.Show(ctx, first)
	wantCode(t, err, 0)
	if last := show.Timeline[len(show.Timeline)-1]; last.Event != "published" {
		t.Fatalf("the timeline ends with %+v", last)
	}

	// A run that began before all of it publishes on top.
	_, err = l.stage("old", "", "orders/dt=old", orders(1, 2))
	wantCode(t, err, 0)
	p, err := l.publish("old")
	if wantCode(t, err, 0); p.Sequence != n+1 {
		t.Fatalf("published at %d", p.Sequence)
	}
}

// TestRecordBehindALongHistory: a publisher whose record was never settled, and
// whose entry has left the pointer.
func TestRecordBehindALongHistory(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=r"
	s := step{run: "r", partition: p, rows: orders(1, 3)}
	swapped := false
	_, err := l.faulty(s, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if swapped {
			return errDead
		}
		swapped = op.Verb == faultstore.Swap && op.Key == manifest.PointerKey && op.Phase == faultstore.After
		return nil
	}}, 60*time.Millisecond)
	if err == nil || !swapped {
		t.Fatalf("it was not killed after its swap: %v", err)
	}
	longHistory(l, 45)
	if r := examine(t, l.store).records["r"]; r.State != manifest.StateFrozen {
		t.Fatalf("the record is %s", r.State)
	}
	st, err := l.open().Abort(ctx, "r", "too late")
	wantCode(t, err, 4)
	if st.Sequence != 1 {
		t.Fatalf("%+v", st)
	}
	if r := examine(t, l.store).records["r"]; r.State != manifest.StatePublished {
		t.Fatalf("the record is %s", r.State)
	}
}

// TestOvertakenByMany: a swap that acted and whose answer was lost, with more
// published on top than the pointer remembers, is still found.
func TestOvertakenByMany(t *testing.T) {
	l := newLab(t)
	const p = "orders/dt=r"
	overtaken := false
	fs, err := l.faulty(step{run: "r", partition: p, rows: orders(1, 3)}, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if op.Verb == faultstore.Swap && op.Key == manifest.PointerKey && op.Phase == faultstore.After && !overtaken {
			overtaken = true
			longHistory(l, 45)
			return faultstore.ErrInjected
		}
		return nil
	}}, 0)
	wantCode(t, err, 0)
	if !overtaken || len(fs.Recorder().Ops()) == 0 {
		t.Fatal("nobody overtook it")
	}
	if w := examine(t, l.store); len(w.published["r"]) != 1 || w.records["r"].State != manifest.StatePublished {
		t.Fatalf("published %v, the record is %s", w.published["r"], w.records["r"].State)
	}
}

// TestTags reads a state by its name.
func TestTags(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	l.must(step{run: "a", partition: "orders/dt=1", rows: orders(1, 3)})
	appendEntry(t, l.open(), func(h *head, snap *manifest.Snapshot) {
		snap.Operation, snap.Runs = manifest.OpTag, nil
		snap.Tags = []manifest.Tag{{Name: "eod", Sequence: 1, Snapshot: h.Snapshot}}
	})
	l.must(step{run: "b", partition: "orders/dt=2", rows: orders(1, 3)})
	files, err := l.open().Files(ctx, []string{"orders@eod", "orders/dt=1"})
	wantCode(t, err, 0)
	if files.Sequence != 1 || len(files.Files) != 1 {
		t.Fatalf("%d files at %d", len(files.Files), files.Sequence)
	}
	_, err = l.open().Files(ctx, []string{"orders@eod", "orders/dt=1@3"})
	wantCode(t, err, 2)
	_, err = l.open().Files(ctx, []string{"orders@eof"})
	wantCode(t, err, 2)
	_, err = l.open().Files(ctx, []string{"orders/dt=2@eod"})
	wantCode(t, err, 2)
	examine(t, l.store)
}

// TestBelowTheHorizon: what was collected is not there, though the pointer still
// names it. That is no damage.
func TestBelowTheHorizon(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	for i := range 5 {
		l.must(step{run: fmt.Sprint("r", i), partition: "orders/dt=1", rows: orders(i, 3)})
	}
	l.forget(3)
	w := l.open()
	for ref, code := range map[string]int{"@2": 2, "@0": 2, "@3": 0, "@6": 0, "@" + epoch.Format("2006-01-02T15:04:05Z"): 2} {
		if _, err := w.Ls(ctx, ref); Code(err) != code {
			t.Errorf("%s: exit %d, want %d: %v", ref, Code(err), code, err)
		}
	}
	log, err := w.Log(ctx, LogRequest{Since: -1})
	wantCode(t, err, 0)
	if n := len(log.Entries); n != 4 || log.Entries[n-1].Sequence != 3 {
		t.Fatalf("%d entries", n)
	}
	// A run that is remembered below it is remembered by its record.
	if r := l.must(step{run: "r0", partition: "orders/dt=1", rows: orders(0, 3)}); r.Status != StatusAlreadyPublished || r.Sequence != 1 {
		t.Fatalf("%+v", r)
	}
}

// TestFindAtTheHorizon: of what was collected the record is the proof. Where the
// walk ends, nobody has looked at the runs of the entry below; and an entry that
// only the pointer still names is not read.
func TestFindAtTheHorizon(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	for i := range 5 {
		l.must(step{run: fmt.Sprint("r", i), partition: "orders/dt=1", rows: orders(i, 3)})
	}
	records := examine(t, l.store).records
	l.forget(3)
	for _, c := range []struct {
		name  string
		run   string // rN was published at sequence N+1
		holds int    // entries of the pointer, from sequence 6 down
	}{
		{"right below the horizon", "r1", 2},
		{"right below it, by a pointer that ends above", "r1", 4},
		{"by a pointer that names collected entries", "r0", 5},
	} {
		w := l.open()
		h, err := w.head(ctx)
		wantCode(t, err, 0)
		h.Recent = h.Recent[:c.holds]
		if found, err := w.find(ctx, h, records[c.run]); err != nil || found != nil {
			t.Errorf("%s: %+v, %v", c.name, found, err)
		}
	}
	// What was looked at and says nothing is no proof, but damage.
	w := l.open()
	h, err := w.head(ctx)
	wantCode(t, err, 0)
	h.Recent = h.Recent[:2]
	lying := *records["r3"]
	lying.Run = "nobody"
	_, err = w.find(ctx, h, &lying)
	wantCode(t, err, 9)
}

// TestUndoneHistory: a state that a partition had and that is undone since is no
// baseline any more, and the publish sees it.
func TestUndoneHistory(t *testing.T) {
	for name, undone := range map[string]bool{"as it was": false, "undone": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			const p = "orders/dt=1"
			rules := "version: 1\nchecks:\n  - change: { metric: row_count, axis: history, baseline: median(2), max_drop: 50%, max_rise: 50% }\n"
			l.must(step{run: "a", partition: p, rows: orders(0, 90)})
			l.must(step{run: "b", partition: p, rows: orders(0, 10)})
			first := l.judgedRun(step{run: "r", partition: p, rows: orders(0, 50), rules: rules})
			if reads := l.readsOf(first.Evidence); len(reads) != 1 || len(reads[0].Found) != 2 {
				t.Fatalf("reads %+v", reads)
			}
			code := 0
			if undone {
				l.revoke("a")
				code = 3
			}
			r, err := l.open().Publish(context.Background(), PublishRequest{Run: "r", Rules: l.rules(rules)})
			wantCode(t, err, code)
			if again := r.Report != nil; again != undone {
				t.Errorf("audited again: %v", again)
			}
		})
	}
}

// revoke undoes a run whose data others have replaced since: the tree stays.
func (l *lab) revoke(run string) {
	l.t.Helper()
	var undone []manifest.SnapshotRun
	for _, snap := range examine(l.t, l.store).chain {
		for _, r := range snap.Runs {
			if r.Run == run {
				r.Effect, r.Partitions = manifest.EffectRevoked, nil
				undone = append(undone, r)
			}
		}
	}
	appendEntry(l.t, l.open(), func(_ *head, snap *manifest.Snapshot) {
		snap.Operation, snap.Runs = manifest.OpUndo, undone
	})
}
