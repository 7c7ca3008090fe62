package wap

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

const writeAll = `echo ran >> "$ROWS/ran"; cp "$ROWS"/*.parquet "$WAP_OUT"`

// TestStepsOfManyTasks: the last one to seal publishes for all, and whoever
// comes again goes on from what stands.
func TestStepsOfManyTasks(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	tasks := make([]string, 16)
	for i := range tasks {
		tasks[i] = fmt.Sprint(i)
	}
	run := func(i int) (*PublishResult, error) {
		req := y.shell("r", `cp "$ROWS/a.parquet" "$WAP_OUT"`, "orders/dt=1")
		req.Begin.Tasks, req.Begin.Task = tasks, tasks[i]
		req.Rules = y.rules("version: 1\nchecks: [row_count: {min: 1}]\n")
		return y.openDisk().RunTask(ctx, req)
	}
	for i := range tasks[:15] {
		r, err := run(i)
		wantCode(t, err, 0)
		if r.Status != StatusSealed || r.TasksDone != int64(i+1) || r.TasksAll != 16 {
			t.Fatalf("task %d: %+v", i, r)
		}
	}
	if r, err := run(3); err != nil || r.Status != StatusSealed || r.SealedBy == "" || r.Attempt != "" {
		t.Fatalf("a retry: %+v, %v", r, err)
	}
	r, err := run(15)
	wantCode(t, err, 0)
	if r.Status != StatusPublished || r.Partitions[0].Files != 16 || r.Partitions[0].Rows != 48 {
		t.Fatalf("the last: %+v", r)
	}
	for _, i := range []int{0, 15} {
		if r, err = run(i); err != nil || r.Status != StatusAlreadyPublished || r.TasksDone != 16 {
			t.Fatalf("a retry: %+v, %v", r, err)
		}
	}
	req := y.shell("r", `:`, "orders/dt=1")
	if _, err = y.openDisk().RunTask(ctx, req); err != nil {
		t.Fatalf("of a published run no task need be named: %v", err)
	}
	examine(t, y.disk)
}

// TestUntil stops where it is told, and a later call goes on without the command.
func TestUntil(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	req := y.shell("r", writeAll, "orders/dt=1")
	for _, c := range []struct {
		until  string
		status Status
		state  manifest.State
	}{{"seal", StatusSealed, manifest.StateOpen}, {"audit", StatusAudited, manifest.StateFrozen}, {"audit", StatusAudited, manifest.StateFrozen},
		{"seal", StatusSealed, manifest.StateFrozen}, {"", StatusPublished, manifest.StatePublished}, {"audit", StatusAlreadyPublished, manifest.StatePublished}} {
		req.Until = c.until
		r, err := y.openDisk().RunTask(ctx, req)
		wantCode(t, err, 0)
		w := examine(t, y.disk)
		if r.Status != c.status || w.records["r"].State != c.state {
			t.Fatalf("until %q: %s, the record is %s", c.until, r.Status, w.records["r"].State)
		}
	}
	rows := req.Env[len(req.Env)-1][len("ROWS="):]
	if ran := readText(t, rows+"/ran"); ran != "ran\n" {
		t.Fatalf("the command ran: %q", ran)
	}

	// A gate that is closed stops before, and says no status.
	req = y.shell("bad", writeAll, "orders/dt=2")
	req.Until, req.Rules = "audit", y.rules(tooFew)
	for range 2 {
		r, err := y.openDisk().RunTask(ctx, req)
		wantCode(t, err, 3)
		if r.Status != "" || r.Report == nil || r.Evidence == "" {
			t.Fatalf("%+v", r)
		}
	}
}

// TestSecondOutputElsewhere: rows in another partition are other rows.
func TestSecondOutputElsewhere(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	first := l.begin(BeginRequest{Run: "r", Scope: []string{"orders/*"}, Tasks: []string{"a", "b"}, Task: "a"})
	second := l.begin(BeginRequest{Run: "r", Task: "a"})
	stage := func(attempt, path string, rows []order) error {
		_, err := l.open().Stage(ctx, StageRequest{Run: "r", Task: "a", Attempt: attempt, Dir: l.outputOf(map[string][]order{path: rows})})
		return err
	}
	wantCode(t, stage(first.Attempt, "orders/dt=1/a.parquet", orders(1, 3)), 0)
	wantCode(t, stage(second.Attempt, "orders/dt=2/a.parquet", orders(1, 3)), 7)
	wantCode(t, stage(second.Attempt, "orders/dt=1/other.parquet", orders(1, 3)), 0)
	wantCode(t, stage("", "orders/dt=1/a.parquet", orders(1, 4)), 7)
}

func readText(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(name)
	wantCode(t, err, 0)
	return string(body)
}
