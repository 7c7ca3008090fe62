package wap

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// crash is a point at which a call is killed: after the n-th operation on such a
// key has acted.
type crash struct {
	from  string // state of run r before: see inState; empty: no run
	call  string // that is killed, and made again; empty: the whole step
	verb  faultstore.Verb
	key   string // a piece of it
	n     int
	state manifest.State // that the record is left in; empty: no record
	marks string         // open marks that are left, by generation
	// left and published: an object of the kind that nobody names, and whether the
	// history holds the run.
	left      string
	published bool
}

// crashes are the points of a run's life at which the store holds something
// half done. README has them in a table.
func crashes() map[string]crash {
	return map[string]crash{
		"in begin, after the open mark":             {verb: faultstore.Create, key: manifest.MarkPrefix, marks: "1"},
		"in begin, after the record":                {verb: faultstore.Create, key: "run.json", marks: "1", state: manifest.StateOpening},
		"while it uploads":                          {verb: faultstore.Upload, key: ".parquet", marks: "1", state: manifest.StateOpen, left: ".parquet"},
		"after the seal":                            {verb: faultstore.Create, key: "/tasks/", marks: "1", state: manifest.StateOpen},
		"in the freeze":                             {verb: faultstore.Swap, key: "run.json", n: 2, marks: "1", state: manifest.StateClosing},
		"in the audit":                              {verb: faultstore.Create, key: "/audits/", marks: "1", state: manifest.StateFrozen, left: "/audits/"},
		"before the swap of the pointer":            {verb: faultstore.Create, key: "snapshots/", marks: "1", state: manifest.StateFrozen, left: "/snapshots/000000000001"},
		"after the swap, before its answer":         {verb: faultstore.Swap, key: manifest.PointerKey, marks: "1", state: manifest.StateFrozen, published: true},
		"after the record, before the mark is gone": {verb: faultstore.Swap, key: "run.json", n: 5, marks: "1", state: manifest.StatePublished, published: true},
		"in abort, before the fence":                {from: "frozen", call: "abort", verb: faultstore.Swap, key: "run.json", marks: "1", state: manifest.StateAborting},
		"in abort, after the fence":                 {from: "frozen", call: "abort", verb: faultstore.Swap, key: manifest.PointerKey, marks: "1", state: manifest.StateAborting},
		"in an audit that fails":                    {from: "frozen", call: "reject", verb: faultstore.Swap, key: "run.json", marks: "1", state: manifest.StateRejected},
		"in redo, before the record":                {from: "rejected", call: "redo", verb: faultstore.Create, key: manifest.MarkPrefix, marks: "1 2", state: manifest.StateRejected},
		"in redo, after the record":                 {from: "rejected", call: "redo", verb: faultstore.Swap, key: "run.json", marks: "1 2", state: manifest.StateOpening},
	}
}

// TestCrashPoints kills calls where they have done half of something, looks at
// what is left, and makes the same call again.
func TestCrashPoints(t *testing.T) {
	for name, c := range crashes() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			if c.from != "" {
				l = inState(t, c.from)
			}
			if !c.strike(l) {
				t.Fatal("it was never killed: there is no such point")
			}
			w := examine(t, l.store)
			c.compare(t, l, w)
			err := c.act(l, l.open())
			want := map[string]int{"reject": 3}[c.call]
			wantCode(t, err, want)
			after := examine(t, l.store)
			if c.call == "" && (len(after.published["r"]) != 1 || c.open(l) != "") {
				t.Errorf("published as %v, marks %q", after.published["r"], c.open(l))
			}
			if c.call == "abort" && (after.records["r"].State != manifest.StateAborted || c.open(l) != "") {
				t.Errorf("%s, marks %q", after.records["r"].State, c.open(l))
			}
			if c.call == "redo" && (after.records["r"].Generation != 2 || c.open(l) != "2" && c.open(l) != "1 2") {
				t.Errorf("generation %d, marks %q", after.records["r"].Generation, c.open(l))
			}
		})
	}
}

// act makes the call.
func (c crash) act(l *lab, w *Warehouse) error {
	ctx := context.Background()
	var err error
	switch c.call {
	case "":
		_, err = l.do(w, step{run: "r", partition: "orders/dt=1", rows: orders(1, 5)})
	case "abort":
		_, err = w.Abort(ctx, "r", "no")
	case "redo":
		_, err = w.Redo(ctx, RedoRequest{Run: "r", Reason: "again", Generation: 2})
	case "reject":
		_, err = w.Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(tooFew)})
	}
	return err
}

// strike makes the call and lets nothing of it act after the point.
func (c crash) strike(l *lab) bool {
	seen, dead := 0, false
	fs := faultstore.New(l.store, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if op.Phase == faultstore.After && op.Verb == c.verb && strings.Contains(op.Key, c.key) {
			if seen++; seen == max(c.n, 1) {
				dead = true
			}
		}
		if dead {
			return errDead
		}
		return nil
	}})
	cfg := l.config(fs)
	cfg.CommitTimeout = 50 * time.Millisecond
	if w, err := Open(context.Background(), cfg); err == nil {
		_ = c.act(l, w) // what it says, nobody hears
	}
	return dead
}

// compare looks at what is left.
func (c crash) compare(t *testing.T, l *lab, w *world) {
	t.Helper()
	state := manifest.State("")
	if r := w.records["r"]; r != nil {
		state = r.State
	}
	if state != c.state || c.open(l) != c.marks || (len(w.published["r"]) > 0) != c.published {
		t.Errorf("the record says %q, marks %q, published as %v", state, c.open(l), w.published["r"])
	}
	if c.left != "" && !strings.Contains(l.keys(), mask(c.left)) {
		t.Errorf("there is no %s among\n%s", c.left, l.keys())
	}
}

// open lists the generations of run r that have open marks.
func (c crash) open(l *lab) string {
	var out []string
	for _, g := range []string{"1", "2"} {
		if strings.Contains(l.keys(), manifest.MarkPrefix+"r.g00000"+g) {
			out = append(out, g)
		}
	}
	return strings.Join(out, " ")
}
