package wap

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// stage seals a task's rows by an attempt of its own.
func (l *lab) stage(run, task, partition string, rows []order) (*SealResult, error) {
	l.t.Helper()
	return l.open().Stage(context.Background(), StageRequest{
		Run: run, Task: task, Partition: partition, Files: []string{l.file("part-"+task+".parquet", rows)},
	})
}

func (l *lab) begin(req BeginRequest) *BeginResult {
	l.t.Helper()
	b, err := l.open().Begin(context.Background(), req)
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

func TestTasks(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	tasks := []string{"0", "1", "2"}
	l.begin(BeginRequest{Run: "r", Scope: []string{p}, Tasks: tasks})
	for i, task := range tasks[:2] {
		_, err := l.stage("r", task, p, orders(10*i+1, 5))
		wantCode(t, err, 0)
	}
	if _, err := l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)}); Code(err) != 8 || err.Error() != `run "r": 1 of 3 tasks have no output yet: 2` {
		t.Fatalf("audit with a task missing: %v", err)
	}

	// A second attempt of a sealed task: equal rows in another order are the same
	// output, other rows are not, and the first one's output stands either way.
	first, err := l.open().Status(ctx, "r")
	wantCode(t, err, 0)
	reversed := orders(1, 5)
	slices.Reverse(reversed)
	for _, rows := range [][]order{orders(1, 5), reversed} {
		r, err := l.stage("r", "0", p, rows)
		wantCode(t, err, 0)
		if r.SealedBy != first.Runs[0].Tasks[0].SealedBy || r.SealedBy == r.Attempt {
			t.Fatalf("sealed by %s", r.SealedBy)
		}
	}
	_, err = l.stage("r", "0", p, orders(1, 4))
	wantCode(t, err, 7)
	other := orders(1, 5)
	other[3].Amount++
	_, err = l.stage("r", "0", p, other)
	wantCode(t, err, 7)

	_, err = l.stage("r", "2", p, orders(21, 5))
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	_, err = l.stage("r", "2", p, orders(21, 5))
	wantCode(t, err, 4)
	if got := len(l.rows(p)); got != 15 {
		t.Fatalf("%d rows", got)
	}
	if _, err := l.open().Begin(ctx, BeginRequest{Run: "r", Task: "9"}); Code(err) != 2 {
		t.Fatalf("a task outside the list: %v", err)
	}
	examine(t, l.store)
}

func TestLateSealAfterTheFreeze(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	slow := l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	_, err := l.stage("r", "", p, orders(1, 5))
	wantCode(t, err, 0)
	_, err = l.open().Audit(ctx, AuditRequest{Run: "r", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	_, err = l.open().Stage(ctx, StageRequest{Run: "r", Attempt: slow.Attempt, Partition: p, Files: []string{l.file("late.parquet", orders(1, 6))}})
	wantCode(t, err, 4)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "r"})
	wantCode(t, err, 0)
	if got := len(l.rows(p)); got != 5 {
		t.Fatalf("%d rows: the first output does not stand", got)
	}
}

func TestJoinMustAgree(t *testing.T) {
	l := newLab(t)
	l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Tasks: []string{"a", "b"}, Task: "a"})
	for name, req := range map[string]BeginRequest{
		"scope": {Run: "r", Scope: []string{"orders/dt=2"}},
		"mode":  {Run: "r", Mode: manifest.ModeAppend},
		"tasks": {Run: "r", Tasks: []string{"a"}},
		"task":  {Run: "r", Task: "c"},
		"input": {Run: "r", Task: "a", Inputs: []manifest.InputSource{{Source: "file:///nowhere"}}},
	} {
		if _, err := l.open().Begin(context.Background(), req); err == nil || name != "input" && Code(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestModes(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.must(step{run: "base", partition: p, rows: orders(1, 10)})
	for _, run := range []string{"add1", "add2"} {
		first := map[string]int{"add1": 11, "add2": 21}[run]
		s := step{run: run, partition: p, mode: manifest.ModeAppend, rows: orders(first, 10), name: run + ".parquet"}
		l.must(s)
		if r := l.must(s); r.Status != StatusAlreadyPublished {
			t.Fatalf("%s again: %s", run, r.Status)
		}
	}
	if got := len(l.rows(p)); got != 30 {
		t.Fatalf("%d rows after two appends", got)
	}
	// Appending the same rows again under another name is what the key is for.
	_, err := l.do(l.open(), step{run: "add3", partition: p, mode: manifest.ModeAppend, rows: orders(15, 10), name: "x.parquet"})
	wantCode(t, err, 3)
	// Without a key nobody would see it: refused.
	_, err = l.do(l.open(), step{run: "add4", partition: p, mode: manifest.ModeAppend, rows: orders(90, 1), rules: "version: 1\nchecks: [row_count: {min: 1}]\n"})
	wantCode(t, err, 2)

	// A redo of an append takes the place of what the run itself had added.
	_, err = l.open().Redo(ctx, RedoRequest{Run: "add2", Reason: "fix"})
	wantCode(t, err, 0)
	l.must(step{run: "add2", partition: p, mode: manifest.ModeAppend, rows: orders(21, 5), name: "add2.parquet"})
	if got := len(l.rows(p)); got != 25 {
		t.Fatalf("%d rows after the redo", got)
	}

	fixed := orders(11, 10)
	fixed[0].Amount = -1
	l.must(step{run: "fix", partition: p, mode: manifest.ModeReplace, rows: fixed, name: "fixed.parquet", replacing: []string{"add1.parquet"}})
	rows := l.rows(p)
	if len(rows) != 25 || rows[10].Amount != -1 {
		t.Fatalf("%d rows, %+v", len(rows), rows[10])
	}
	_, err = l.do(l.open(), step{run: "fix2", partition: p, mode: manifest.ModeReplace, rows: fixed, replacing: []string{"nothing.parquet"}})
	wantCode(t, err, 2)
	examine(t, l.store)
}

func TestReplaceUploadsOneFileOfHundred(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	b := l.begin(BeginRequest{Run: "base", Scope: []string{p}})
	var files []string
	for i := range 100 {
		files = append(files, l.file(fmt.Sprintf("part-%02d.parquet", i), orders(10*i, 10)))
	}
	_, err := l.open().Stage(ctx, StageRequest{Run: "base", Attempt: b.Attempt, Partition: p, Files: files})
	wantCode(t, err, 0)
	_, err = l.open().Publish(ctx, PublishRequest{Run: "base", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	before := countData(l)
	l.must(step{run: "fix", partition: p, mode: manifest.ModeReplace, rows: orders(420, 9), name: "part-42.parquet", replacing: []string{"part-42.parquet"}})
	if n := countData(l) - before; n != 1 {
		t.Fatalf("%d files were uploaded", n)
	}
	if got := len(l.rows(p)); got != 999 {
		t.Fatalf("%d rows", got)
	}
}

func countData(l *lab) int {
	l.t.Helper()
	n := 0
	for _, err := range l.store.List(context.Background(), manifest.DataFolder) {
		if err != nil {
			l.t.Fatal(err)
		}
		n++
	}
	return n
}

func TestScope(t *testing.T) {
	l := newLab(t)
	l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	_, err := l.stage("r", "", "orders/dt=2", orders(1, 3))
	wantCode(t, err, 3)
	_, err = l.stage("r", "", "orders/dt=1", orders(1, 3))
	wantCode(t, err, 0)
}

func TestReplaceScopeEmptiesTheRest(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	for _, p := range []string{"orders/dt=1/r=a", "orders/dt=1/r=b", "orders/dt=2/r=a"} {
		l.must(step{run: p, partition: p, rows: orders(1, 3)})
	}
	w := l.open()
	b, err := w.Begin(ctx, BeginRequest{Run: "all", Scope: []string{"orders/dt=1/*"}, ReplaceScope: true})
	wantCode(t, err, 0)
	_, err = w.Stage(ctx, StageRequest{Run: "all", Attempt: b.Attempt, Partition: "orders/dt=1/r=c", Files: []string{l.file("p.parquet", orders(1, 2))}})
	wantCode(t, err, 0)
	_, err = w.Publish(ctx, PublishRequest{Run: "all", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	live := examine(t, l.store).live
	if len(live) != 2 || live["orders/dt=1/r=c"] == nil || live["orders/dt=2/r=a"] == nil {
		t.Fatalf("live: %v", live)
	}
}
