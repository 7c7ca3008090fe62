package wap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// judgedRun stages rows for a run and audits it, short of publishing.
func (l *lab) judgedRun(s step) *AuditResult {
	l.t.Helper()
	ctx, w := context.Background(), l.open()
	b, err := w.Begin(ctx, BeginRequest{Run: s.run, Scope: []string{s.partition}, Mode: s.mode})
	if err != nil {
		l.t.Fatal(err)
	}
	_, err = w.Stage(ctx, StageRequest{
		Run: s.run, Attempt: b.Attempt, Partition: s.partition, Files: []string{l.file("part.parquet", s.rows)},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := w.Audit(ctx, AuditRequest{Run: s.run, Rules: l.rules(s.rules)})
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// readsOf are what evidence says it was compared with.
func (l *lab) readsOf(key string) []Read {
	l.t.Helper()
	body, _, err := l.store.Get(context.Background(), key)
	if err != nil {
		l.t.Fatal(err)
	}
	ev := new(Evidence)
	if err := decode(key, body, ev); err != nil {
		l.t.Fatal(err)
	}
	return ev.Reads
}

const rowsWithin = "version: 1\nchecks:\n  - change: { metric: row_count, max_drop: 50%, max_rise: 50% }\n"

// Between audit and publish others may change what the audit compared with. Then
// it is compared again; what else they publish does not matter.
func TestReadsAreCheckedAgain(t *testing.T) {
	tests := []struct {
		name    string
		other   step
		code    int
		audited bool // again
	}{
		{"nothing", step{}, 0, false},
		{"a later partition", step{partition: "orders/dt=2025-03-07", rows: orders(0, 99)}, 0, false},
		{"another table", step{partition: "bills/dt=2025-03-05", rows: orders(0, 99)}, 0, false},
		{"the baseline, a little", step{partition: "orders/dt=2025-03-04", rows: orders(0, 11)}, 0, true},
		{"the baseline, a lot", step{partition: "orders/dt=2025-03-04", rows: orders(0, 99)}, 3, true},
		{"a nearer baseline", step{partition: "orders/dt=2025-03-05", rows: orders(0, 99)}, 3, true},
		{"a farther one", step{partition: "orders/dt=2025-03-03", rows: orders(0, 99)}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			l.must(step{run: "a", partition: "orders/dt=2025-03-04", rows: orders(0, 10)})
			first := l.judgedRun(step{run: "b", partition: "orders/dt=2025-03-06", rows: orders(0, 10), rules: rowsWithin})
			if reads := l.readsOf(first.Evidence); len(reads) != 1 || len(reads[0].Found) != 1 || reads[0].Path != "orders/dt=2025-03-06" {
				t.Fatalf("reads %+v", reads)
			}
			if tt.other.partition != "" {
				tt.other.run = "other"
				l.must(tt.other)
			}
			r, err := l.open().Publish(context.Background(), PublishRequest{Run: "b", Rules: l.rules(rowsWithin)})
			wantCode(t, err, tt.code)
			if again := r.Report != nil; again != tt.audited || err == nil && (r.Evidence != first.Evidence) != tt.audited {
				t.Errorf("audited again: %v, evidence %s after %s", again, r.Evidence, first.Evidence)
			}
		})
	}
}

// A parent that was published with the audit's own state in mind may be gone at
// the publish: write skew. What the run itself brings is no read.
func TestParentsAreCheckedAgain(t *testing.T) {
	const rules = "version: 1\nchecks:\n  - relationships: { columns: [id], to: { table: crm/people } }\n"
	tests := []struct {
		name    string
		other   step
		code    int
		audited bool
	}{
		{"nothing", step{}, 0, false},
		{"more parents", step{partition: "crm/people/region=us", rows: orders(50, 1)}, 0, true},
		{"other parents", step{partition: "crm/people/region=eu", rows: orders(5, 10)}, 3, true},
		{"another table", step{partition: "crm/cats/region=eu", rows: orders(5, 10)}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t)
			l.must(step{run: "a", partition: "crm/people/region=eu", rows: orders(0, 10)})
			first := l.judgedRun(step{run: "b", partition: "orders/dt=1", rows: orders(0, 10), rules: rules})
			if reads := l.readsOf(first.Evidence); len(reads) != 1 || reads[0].Path != "crm/people" || reads[0].Baseline != nil || len(reads[0].Found) != 1 {
				t.Fatalf("reads %+v", reads)
			}
			if tt.other.partition != "" {
				tt.other.run = "other"
				l.must(tt.other)
			}
			r, err := l.open().Publish(context.Background(), PublishRequest{Run: "b", Rules: l.rules(rules)})
			wantCode(t, err, tt.code)
			if again := r.Report != nil; again != tt.audited {
				t.Errorf("audited again: %v", again)
			}
		})
	}
}

// A metric that a rule asked for is stored, and found by the next partition.
func TestChangeFromManifests(t *testing.T) {
	l := newLab(t)
	rules := "version: 1\nchecks:\n  - change: { metric: sum, column: amount, max_rise: 100% }\n"
	outcome := func(r *PublishResult) string {
		for _, a := range r.Report.Assertions {
			if a.Type == "change" {
				return fmt.Sprintf("%s %s", a.Outcome, a.Observed)
			}
		}
		return ""
	}
	l.must(step{run: "zero", partition: "orders/dt=2025-03-03", rows: orders(0, 3)})
	got := []string{
		outcome(l.must(step{run: "a", partition: "orders/dt=2025-03-04", rows: orders(0, 3), rules: rules})),
		outcome(l.must(step{run: "b", partition: "orders/dt=2025-03-05", rows: orders(0, 4), rules: rules})),
	}
	_, err := l.do(l.open(), step{run: "c", partition: "orders/dt=2025-03-06", rows: orders(0, 99), rules: rules})
	wantCode(t, err, 3)
	// The rejected run is no baseline.
	got = append(got, outcome(l.must(step{run: "d", partition: "orders/dt=2025-03-07", rows: orders(0, 4), rules: rules})))
	want := "warn 300, no baseline; pass 600 against 300: +100%; pass 600 against 600: no change"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, "; "), want)
	}
}

// The history of a partition leaves out what was taken back.
func TestHistoryBaseline(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	for i, run := range []string{"a", "b", "c"} {
		l.must(step{run: run, partition: "orders/dt=2025-03-04", rows: orders(0, i+1)})
		l.must(step{run: run + "-else", partition: "orders/dt=2025-03-05", rows: orders(0, 50)})
	}
	w := l.open()
	h, err := w.head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	st, err := w.at(ctx, h.base())
	if err != nil {
		t.Fatal(err)
	}
	rows := func(past pastStates) string {
		t.Helper()
		past.at = "orders/dt=2025-03-04"
		refs, err := w.history(ctx, st, past)
		if err != nil {
			t.Fatal(err)
		}
		states, err := w.manifests(ctx, refs)
		if err != nil {
			t.Fatal(err)
		}
		var out []int64
		for _, m := range states {
			out = append(out, m.Totals.Rows)
		}
		return fmt.Sprint(out)
	}
	if got := rows(pastStates{limit: 9}) + rows(pastStates{limit: 2}) + rows(pastStates{limit: 2, but: names("c", 1)}); got != "[3 2 1][3 2][2 1]" {
		t.Errorf("history %s", got)
	}
	past := pastStates{at: "orders/dt=2025-03-04", limit: 9, seen: map[manifest.Ref]bool{},
		effects: map[string]manifest.Effect{names("c", 1): manifest.EffectRevoked}}
	if past.look(st.snap); len(past.out) != 0 {
		t.Errorf("%d states of a run that was undone", len(past.out))
	}
	p := &audit.Partition{Partition: manifest.Partition{Path: "orders/dt=2025-03-04", Table: "orders"}}
	states, err := (&compared{w: w}).Baseline(ctx, p, audit.Baseline{Axis: audit.AxisHistory, Limit: 1})
	if err != nil || len(states) != 1 || states[0].Run != "c" {
		t.Errorf("%v: %d states", err, len(states))
	}
}

// forget raises the horizon as a collection does, and deletes what is below it.
func (l *lab) forget(horizon int64) {
	l.t.Helper()
	h := appendEntry(l.t, l.open(), func(_ *head, snap *manifest.Snapshot) {
		snap.Operation, snap.Runs, snap.Horizon = manifest.OpGC, nil, horizon
	})
	for _, r := range h.Recent {
		if r.Sequence < horizon {
			wantCode(l.t, l.store.Delete(context.Background(), r.Snapshot.Key), 0)
		}
	}
}

// What was collected is an error of the data: it will not come back. A history
// ends where nothing is readable any more.
func TestCollectedBaseline(t *testing.T) {
	l := newLab(t)
	for i := range 4 {
		l.must(step{run: fmt.Sprint("r", i), partition: "orders/dt=2025-03-04", rows: orders(0, 3+i)})
	}
	l.forget(4)
	old := "version: 1\nchecks:\n  - matches: { with: { partition: orders/dt=2025-03-04@1 } }\n"
	_, err := l.do(l.open(), step{run: "old", partition: "orders/dt=2025-03-05", rows: orders(0, 3), rules: old})
	wantCode(t, err, 3)
	if err == nil || !strings.Contains(err.Error(), "orders/dt=2025-03-04@1: sequence 1 is below the horizon") {
		t.Errorf("%v", err)
	}
	kept := "version: 1\nchecks:\n  - matches: { with: { partition: orders/dt=2025-03-04@4 } }\n" +
		"  - change: { metric: row_count, axis: history, baseline: median(9), max_rise: 0% }\n"
	r := l.must(step{run: "kept", partition: "orders/dt=2025-03-04", rows: orders(0, 6), rules: kept})
	for _, a := range r.Report.Assertions {
		if a.Type == "change" && a.Observed != "6 against 6: no change" {
			t.Errorf("%s: %s %s", a.Outcome, a.Observed, a.Message)
		}
	}
}

// Of what lies at a URL the versions are kept, and looked at again.
func TestURLsAreCheckedAgain(t *testing.T) {
	for name, change := range map[string]bool{"as it was": false, "changed": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			file := filepath.Join(t.TempDir(), "totals.json")
			write := func(rows int) {
				if err := os.WriteFile(file, fmt.Appendf(nil, `{"row_count": %d}`, rows), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(3)
			rules := "version: 1\nchecks:\n  - reconcile: { with: { control: \"file://" + file + "\" } }\n"
			first := l.judgedRun(step{run: "a", partition: "orders/dt=1", rows: orders(0, 3), rules: rules})
			if reads := l.readsOf(first.Evidence); len(reads) != 1 || len(reads[0].Found) != 1 {
				t.Fatalf("reads %+v", reads)
			}
			code := 0
			if change {
				write(40)
				code = 3
			}
			r, err := l.open().Publish(context.Background(), PublishRequest{Run: "a", Rules: l.rules(rules)})
			wantCode(t, err, code)
			if again := r.Report != nil; again != change {
				t.Errorf("audited again: %v", again)
			}
		})
	}
}

// Where a URL never can be read, a retry does not help: the gate is closed. What
// may be there later is asked for again.
func TestURLsThatNeverWork(t *testing.T) {
	for url, code := range map[string]int{"gs://bucket/x": 3, "s3://gone/x": 3, "s3://slow/x": 8} {
		for _, check := range []string{
			"matches: { with: { files: [%q] } }",
			"reconcile: { with: { control: %q } }",
		} {
			l := newLab(t)
			cfg := l.config(l.store)
			cfg.OpenStore = func(_ context.Context, url string) (store.Store, store.Location, error) {
				switch {
				case strings.HasPrefix(url, "gs:"):
					return nil, store.Location{}, fmt.Errorf("%w: scheme of %q", store.ErrConfig, url)
				case strings.HasPrefix(url, "s3://gone"):
					return nil, store.Location{}, fmt.Errorf("open %q: %w", url, store.ErrNoBucket)
				}
				return nil, store.Location{}, fmt.Errorf("open %q: it takes too long", url)
			}
			w, err := Open(context.Background(), cfg)
			wantCode(t, err, 0)
			rules := "version: 1\nchecks:\n  - " + fmt.Sprintf(check, url) + "\n"
			_, err = l.do(w, step{run: "r", partition: "orders/dt=1", rows: orders(0, 3), rules: rules})
			if Code(err) != code {
				t.Errorf("%s of %s: exit %d, want %d: %v", check, url, Code(err), code, err)
			}
		}
	}
}

// A check of files opens the warehouse only for what asks for one of its paths.
func TestCheckWithoutItsWarehouse(t *testing.T) {
	l := newLab(t)
	cfg := l.config(store.NewMem()) // nothing is there
	for rules, code := range map[string]int{
		keyed: 0,
		"version: 1\nchecks:\n  - relationships: { columns: [id], to: { table: crm/people } }\n": 3,
	} {
		_, err := Check(context.Background(), cfg, CheckRequest{Targets: []string{l.file("p.parquet", orders(0, 3))}, Rules: l.rules(rules)})
		if Code(err) != code {
			t.Errorf("exit %d, want %d: %v", Code(err), code, err)
		}
	}
}

// A state at a time to come is the newest one, and would be another at the
// publish.
func TestReferenceAtATimeToCome(t *testing.T) {
	l := newLab(t)
	l.must(step{run: "a", partition: "orders/dt=1", rows: orders(0, 3)})
	for ref, code := range map[string]int{"2099-01-01T00:00:00Z": 3, "1": 0} {
		rules := "version: 1\nchecks:\n  - matches: { with: { partition: \"orders/dt=1@" + ref + "\" } }\n"
		_, err := l.do(l.open(), step{run: "at " + ref, partition: "orders/dt=2", rows: orders(0, 3), rules: rules})
		if Code(err) != code || code != 0 && !strings.Contains(err.Error(), "still to come") {
			t.Errorf("%s: exit %d, want %d: %v", ref, Code(err), code, err)
		}
	}
}
