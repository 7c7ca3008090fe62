package wap

import (
	"context"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// inState brings run r, with one task, into a state. What only a command to come
// makes is made of the same steps.
func inState(t *testing.T, state string) *lab {
	t.Helper()
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	w := l.open()
	move := func(to manifest.State) {
		rec, err := w.readRun(ctx, "r")
		wantCode(t, err, 0)
		_, err = w.swapRun(ctx, rec, func(m *manifest.Run) { m.State, m.Reason = to, "why" })
		wantCode(t, err, 0)
	}
	state, from, _ := strings.Cut(state, " from ")
	s := step{run: "r", partition: p, rows: orders(1, 5)}
	reach := from
	if from == "" {
		reach = state
	}
	switch reach {
	case "opening":
		req, err := w.checkBegin(BeginRequest{Run: "r", Scope: []string{p}})
		wantCode(t, err, 0)
		wantCode(t, w.createRun(ctx, req), 0)
	case "open":
		l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	case "closing":
		l.begin(BeginRequest{Run: "r", Scope: []string{p}})
		move(manifest.StateClosing)
	case "sealed":
		l.begin(BeginRequest{Run: "r", Scope: []string{p}})
		_, err := l.stage("r", "", p, s.rows)
		wantCode(t, err, 0)
	case "frozen":
		frozenRun(l)
		_, err := w.Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
		wantCode(t, err, 0)
	case "rejected":
		frozenRun(l)
		_, err := w.Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(tooFew)})
		wantCode(t, err, 3)
	case "published":
		l.must(s)
	case "revoked":
		l.must(s)
		undo(t, w)
	}
	switch state {
	case "redone":
		_, err := w.Redo(ctx, RedoRequest{Run: "r", Reason: "again", Tasks: []string{"main"}})
		wantCode(t, err, 0)
	case reach, "":
	default:
		move(manifest.State(state))
	}
	return l
}

// undo appends an entry that revokes the newest one's run.
func undo(t *testing.T, w *Warehouse) {
	t.Helper()
	appendEntry(t, w, func(_ *head, snap *manifest.Snapshot) {
		run := snap.Runs[0]
		run.Effect, run.Partitions = manifest.EffectRevoked, nil
		*snap = manifest.Snapshot{Operation: manifest.OpUndo, Runs: []manifest.SnapshotRun{run}}
	})
}

// call makes a call about run r, as its own retry or an operator would.
func (l *lab) call(name string) (err error) {
	l.t.Helper()
	ctx, w := context.Background(), l.open()
	switch name {
	case "begin":
		_, err = w.Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	case "stage":
		_, err = l.stage("r", "", "orders/dt=1", orders(1, 5))
	case "audit":
		_, err = w.Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
	case "publish":
		_, err = l.publish("r")
	case "abort":
		_, err = w.Abort(ctx, "r", "no")
	case "redo":
		_, err = w.Redo(ctx, RedoRequest{Run: "r", Reason: "again"})
	case "resolve":
		_, err = w.Resolve(ctx, "r")
	case "show":
		_, err = w.Show(ctx, "r")
	default:
		l.t.Fatalf("no call %q", name)
	}
	return err
}

// TestEveryCallInEveryState: what each call answers, and that it leaves a record
// that the history agrees with.
func TestEveryCallInEveryState(t *testing.T) {
	calls := []string{"begin", "stage", "audit", "publish", "abort", "redo", "resolve", "show"}
	for state, codes := range map[string][]int{
		"opening":                 {0, 0, 8, 8, 0, 2, 5, 0},
		"open":                    {0, 0, 8, 8, 0, 2, 5, 0},
		"closing":                 {0, 0, 8, 8, 0, 2, 5, 0},
		"sealed":                  {0, 0, 0, 0, 0, 2, 5, 0},
		"closing from sealed":     {0, 4, 0, 0, 0, 2, 5, 0},
		"frozen":                  {0, 4, 0, 0, 0, 2, 5, 0},
		"rejected":                {3, 4, 0, 3, 0, 0, 0, 0},
		"published":               {0, 4, 0, 0, 4, 0, 0, 0},
		"revoked":                 {4, 4, 4, 4, 0, 0, 0, 0},
		"aborting from opening":   {4, 4, 4, 4, 0, 0, 5, 0},
		"aborting from open":      {4, 4, 4, 4, 0, 0, 5, 0},
		"aborting from closing":   {4, 4, 4, 4, 0, 0, 5, 0},
		"aborting from frozen":    {4, 4, 4, 4, 0, 0, 5, 0},
		"aborting from rejected":  {4, 4, 4, 4, 0, 0, 5, 0},
		"aborted from opening":    {4, 4, 4, 4, 0, 0, 0, 0},
		"aborted from sealed":     {4, 4, 4, 4, 0, 0, 0, 0},
		"aborted from frozen":     {4, 4, 4, 4, 0, 0, 0, 0},
		"collecting from opening": {4, 4, 4, 4, 0, 0, 5, 0},
		"collecting from frozen":  {4, 4, 4, 4, 0, 0, 5, 0},
		"collected from open":     {4, 4, 4, 4, 0, 0, 0, 0},
		"redone from rejected":    {0, 0, 8, 8, 0, 2, 5, 0},
		"redone from published":   {0, 0, 8, 8, 0, 2, 5, 0},
		"redone from revoked":     {0, 0, 8, 8, 0, 2, 5, 0},
	} {
		for i, call := range calls {
			t.Run(state+"/"+call, func(t *testing.T) {
				l := inState(t, state)
				err := l.call(call)
				if Code(err) != codes[i] {
					t.Errorf("exit %d, want %d: %v", Code(err), codes[i], err)
				}
				after := examine(t, l.store)
				if r := after.records["r"]; r.State == manifest.StateAborting || r.State == manifest.StateCollecting {
					if call != "resolve" && call != "show" {
						t.Errorf("%s is not finished", r.State)
					}
				}
			})
		}
	}
}
