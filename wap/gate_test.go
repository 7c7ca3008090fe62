package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

const (
	tooFew = "version: 1\nchecks: [row_count: {min: 6}]\n"
	enough = "version: 1\nchecks: [row_count: {min: 2}]\n"
)

// frozenRun is a run of five rows, sealed.
func frozenRun(l *lab) {
	l.t.Helper()
	l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	_, err := l.stage("r", "", "orders/dt=1", orders(1, 5))
	wantCode(l.t, err, 0)
}

func TestWaivers(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	frozenRun(l)
	rules := l.rules(tooFew)
	a, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules})
	wantCode(t, err, 3)
	if a.State != manifest.StateRejected {
		t.Fatalf("%s", a.State)
	}
	id := a.Report.Blocking()[0].ID
	for _, bad := range [][]Waive{{{id, ""}}, {{"nothing", "x"}}} {
		_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules, Waivers: bad})
		if code := Code(err); code != 2 && code != 3 {
			t.Fatalf("%v: %v", bad, err)
		}
		if s := examine(t, l.store).records["r"].State; s != manifest.StateRejected {
			t.Fatalf("%v: %s", bad, s)
		}
	}
	a, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules, Waivers: []Waive{{id, "a holiday"}}})
	wantCode(t, err, 0)
	if a.State != manifest.StateFrozen {
		t.Fatalf("%s", a.State)
	}
	// The waiver belongs to the evidence: publish needs no second one.
	p, err := l.open().Publish(ctx, PublishRequest{Run: "r", Rules: rules})
	wantCode(t, err, 0)
	w := examine(t, l.store)
	run := w.chain[p.Sequence].Runs[0]
	if len(run.Waivers) != 1 || run.Waivers[0].Reason != "a holiday" || run.Waivers[0].By != "tester@lab" || run.Evidence.Key != p.Evidence {
		t.Fatalf("on record: %+v", run)
	}
}

// TestEvidenceOfOtherRules: a publish is held to the rules it is given, and
// without any to the last word in the record.
func TestEvidenceOfOtherRules(t *testing.T) {
	ctx := context.Background()
	type call struct {
		verb, rules string
		code        int
	}
	for name, calls := range map[string][]call{
		"lax evidence, strict publish":         {{"audit", enough, 0}, {"publish", tooFew, 3}, {"publish", "", 3}, {"publish", enough, 3}},
		"lax evidence, no rules":               {{"audit", enough, 0}, {"publish", "", 0}},
		"no evidence, no rules":                {{"publish", "", 2}, {"publish", enough, 0}},
		"strict, then lax, then none":          {{"audit", tooFew, 3}, {"audit", enough, 0}, {"publish", "", 0}},
		"strict, then lax, then strict":        {{"audit", tooFew, 3}, {"audit", enough, 0}, {"publish", tooFew, 3}},
		"lax, then strict, then lax":           {{"audit", enough, 0}, {"audit", tooFew, 3}, {"audit", enough, 0}, {"publish", enough, 0}},
		"lax, strict, another lax, then first": {{"audit", enough, 0}, {"audit", tooFew, 3}, {"audit", keyed, 0}, {"publish", enough, 0}},
		"the same twice":                       {{"audit", enough, 0}, {"audit", enough, 0}, {"publish", enough, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			frozenRun(l)
			for _, c := range calls {
				pub, aud := PublishRequest{Run: "r"}, AuditRequest{Run: "r"}
				if c.rules != "" {
					pub.Rules, aud.Rules = l.rules(c.rules), l.rules(c.rules)
				}
				var err error
				if c.verb == "audit" {
					_, err = l.open().Audit(ctx, aud)
				} else {
					_, err = l.open().Publish(ctx, pub)
				}
				if Code(err) != c.code {
					t.Fatalf("%s by %q: %v, want %d", c.verb, c.rules, err, c.code)
				}
				w := examine(t, l.store)
				if c.code != 0 && w.has("r", 1) {
					t.Fatalf("%s by %q: it is published", c.verb, c.rules)
				}
			}
		})
	}
}

// TestStaleAppend: what the evidence was compared with has
// changed, and nobody said by what to judge again.
func TestStaleAppend(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}, Mode: manifest.ModeAppend})
	_, err := l.stage("r", "", p, orders(1, 5))
	wantCode(t, err, 0)
	_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	l.must(step{run: "other", partition: p, mode: manifest.ModeAppend, rows: orders(10, 5)})
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r"})
	wantCode(t, err, 2)
	_, err = l.publish("r")
	wantCode(t, err, 0)
	if got := len(l.rows(p)); got != 10 {
		t.Fatalf("%d rows", got)
	}
	// One that would add a row twice is stopped by the second look.
	l.begin(BeginRequest{Run: "twice", Scope: []string{p}, Mode: manifest.ModeAppend})
	_, err = l.stage("twice", "", p, orders(20, 2))
	wantCode(t, err, 0)
	_, err = l.open().Audit(ctx, AuditRequest{Run: "twice", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	l.must(step{run: "third", partition: p, mode: manifest.ModeAppend, rows: orders(21, 5)})
	_, err = l.publish("twice")
	wantCode(t, err, 3)
	examine(t, l.store)
}

// TestStagedFileIsTouched: bytes that are not the audited ones are never made
// visible, and the hint leads out.
func TestStagedFileIsTouched(t *testing.T) {
	for name, audited := range map[string]bool{"before the audit": false, "after the audit": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			ctx := context.Background()
			frozenRun(l)
			if audited {
				_, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
				wantCode(t, err, 0)
			}
			for e, err := range l.store.List(ctx, manifest.DataFolder) {
				wantCode(t, err, 0)
				wantCode(t, l.store.Delete(ctx, e.Key), 0)
			}
			_, err := l.publish("r")
			wantCode(t, err, 4)
			_, err = l.open().Abort(ctx, "r", "")
			wantCode(t, err, 0)
			_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "TEXT"})
			wantCode(t, err, 0)
			l.must(step{run: "r", partition: "orders/dt=1", rows: orders(1, 5)})
			examine(t, l.store)
		})
	}
}

// TestReauditBetweenTwoSends: an audit by the same rules while a publisher is on
// its way must not pair one evidence with the manifests of another.
func TestReauditBetweenTwoSends(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	frozenRun(l)
	rules := l.rules(keyed)
	_, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules})
	wantCode(t, err, 0)
	sends := 0
	fs := faultstore.New(l.store, faultstore.Config{OnOp: func(ctx context.Context, op faultstore.Op) error {
		if op.Verb != faultstore.Swap || op.Key != manifest.PointerKey || op.Phase != faultstore.Before {
			return nil
		}
		if sends++; sends > 2 {
			return nil
		}
		other := step{run: []string{"", "o1", "o2"}[sends], partition: "orders/dt=2", rows: orders(1, 1)}
		l.must(other) // this send is overtaken
		_, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules})
		return err
	}})
	_, err = l.client(fs).Publish(ctx, PublishRequest{Run: "r", Rules: rules})
	wantCode(t, err, 0)
	run := examine(t, l.store).chain[3].Runs[0]
	if sends < 3 || run.Run != "r" {
		t.Fatalf("%d sends, run %q", sends, run.Run)
	}
	var ev Evidence
	readRef(t, l.store, *run.Evidence, &ev)
	if *ev.Partitions[0].After != *run.Partitions[0].Manifest {
		t.Fatalf("the evidence is on %s, the published manifest is %s", ev.Partitions[0].After.Key, run.Partitions[0].Manifest.Key)
	}
}

// TestStaleAuditKeepsItsPermissions: what an audit was allowed stands when a
// publish has to repeat it.
func TestStaleAuditKeepsItsPermissions(t *testing.T) {
	ctx := context.Background()
	robot := func(l *lab) *Warehouse {
		cfg := l.config(l.store)
		cfg.By = "robot@lab"
		w, err := Open(ctx, cfg)
		wantCode(t, err, 0)
		return w
	}
	t.Run("waivers", func(t *testing.T) {
		l := newLab(t)
		l.must(step{run: "a", partition: "orders/dt=2025-03-04", rows: orders(0, 10)})
		l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=2025-03-06"}})
		_, err := l.stage("r", "", "orders/dt=2025-03-06", orders(0, 10))
		wantCode(t, err, 0)
		rules := l.rules(rowsWithin + "  - row_count: { min: 20 }\n")
		a, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules})
		wantCode(t, err, 3)
		_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules, Waivers: []Waive{{a.Report.Blocking()[0].ID, "a holiday"}}})
		wantCode(t, err, 0)
		l.must(step{run: "other", partition: "orders/dt=2025-03-04", rows: orders(0, 11)})
		p, err := robot(l).Publish(ctx, PublishRequest{Run: "r", Rules: rules})
		wantCode(t, err, 0)
		run := examine(t, l.store).chain[p.Sequence].Runs[0]
		if p.Report == nil || len(run.Waivers) != 1 || run.Waivers[0].Reason != "a holiday" || run.Waivers[0].By != "tester@lab" {
			t.Fatalf("audited again: %v; on record: %+v", p.Report != nil, run.Waivers)
		}
	})
	t.Run("append without a key", func(t *testing.T) {
		l := newLab(t)
		const p = "orders/dt=1"
		l.begin(BeginRequest{Run: "r", Scope: []string{p}, Mode: manifest.ModeAppend})
		_, err := l.stage("r", "", p, orders(1, 5))
		wantCode(t, err, 0)
		rules := l.rules(enough)
		_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: rules, AppendUnkeyed: true})
		wantCode(t, err, 0)
		l.must(step{run: "other", partition: p, mode: manifest.ModeAppend, rows: orders(10, 5)})
		r, err := robot(l).Publish(ctx, PublishRequest{Run: "r", Rules: rules})
		wantCode(t, err, 0)
		if r.Report == nil || len(l.rows(p)) != 10 {
			t.Fatalf("audited again: %v; %d rows", r.Report != nil, len(l.rows(p)))
		}
		examine(t, l.store)
	})
}
