package wap

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
)

// slowPlugin passes everything, after a while.
type slowPlugin struct{ takes time.Duration }

func (p slowPlugin) Run(ctx context.Context, _ []string, _ []byte) ([]byte, []byte, error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(p.takes):
		return []byte(`{"outcome": "pass"}`), nil, nil
	}
}

func (slowPlugin) Local(context.Context, audit.File) (string, error) { return "", nil }
func (slowPlugin) URL(f audit.File) string                           { return f.Key }

// TestAuditTakesLongerThanACommit: the deadline is the commit's, however long the
// data takes to read.
func TestAuditTakesLongerThanACommit(t *testing.T) {
	l := newLab(t)
	const p = "orders/dt=1"
	l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	_, err := l.stage("r", "", p, orders(1, 3))
	wantCode(t, err, 0)
	rules := l.rules("version: 1\nchecks:\n  - exec: {command: [judge]}\n")
	synctest.Test(t, func(t *testing.T) {
		cfg := l.config(l.store)
		cfg.CommitTimeout, cfg.Plugins = 5*time.Second, slowPlugin{20 * time.Second}
		w, err := Open(context.Background(), cfg)
		wantCode(t, err, 0)
		_, err = w.Publish(context.Background(), PublishRequest{Run: "r", Rules: rules})
		wantCode(t, err, 0)
	})
	examine(t, l.store)
}

// outputOf writes files by warehouse path below a folder.
func (l *lab) outputOf(files map[string][]order) string {
	l.t.Helper()
	dir := l.t.TempDir()
	for rel, rows := range files {
		l.writeRows(filepath.Join(dir, filepath.FromSlash(rel)), rows)
	}
	return dir
}

func (l *lab) writeRows(path string, rows []order) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := parquet.WriteFile(path, rows); err != nil {
		l.t.Fatal(err)
	}
}

// sealDir begins a run and seals files by warehouse path.
func (l *lab) sealDir(req BeginRequest, files map[string][]order) {
	l.t.Helper()
	b := l.begin(req)
	_, err := l.open().Stage(context.Background(), StageRequest{
		Run: req.Run, Task: req.Task, Attempt: b.Attempt, Dir: l.outputOf(files), Seal: SealOptions{AllowEmpty: true},
	})
	wantCode(l.t, err, 0)
}

func (l *lab) publish(run string) (*PublishResult, error) {
	l.t.Helper()
	return l.open().Publish(context.Background(), PublishRequest{Run: run, Rules: l.rules(keyed)})
}

// TestRunOfTwoTables: all partitions of all tables appear together; a conflict
// on one of them keeps every other away too.
func TestRunOfTwoTables(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	scope := []string{"orders/*", "customers", "deep/er/items/dt=1"}
	all := map[string][]order{
		"orders/dt=1/a.parquet":             orders(1, 3),
		"orders/dt=2/a.parquet":             orders(4, 3),
		"customers/a.parquet":               orders(1, 5),
		"deep/er/items/dt=1/a.parquet":      orders(1, 7),
		"deep/er/items/dt=1/b.parquet":      orders(8, 1),
		"orders/dt=a%20b%3A1/u ü=1.parquet": orders(7, 1),
	}
	l.sealDir(BeginRequest{Run: "r", Scope: scope}, all)
	b := l.begin(BeginRequest{Run: "late", Scope: scope})
	if b.StagingURL != "" || len(b.Staging) != 3 || b.Staging[0].Table != "customers" {
		t.Fatalf("staging %+v", b.Staging)
	}
	r, err := l.publish("r")
	wantCode(t, err, 0)
	var paths []string
	for _, p := range r.Partitions {
		paths = append(paths, p.Path)
	}
	want := []string{"customers", "deep/er/items/dt=1", "orders/dt=1", "orders/dt=2", "orders/dt=a%20b%3A1"}
	if !slices.Equal(paths, want) {
		t.Fatalf("published %q, want %q", paths, want)
	}
	// A run on other partitions of the same tables, and one of the same.
	l.sealDir(BeginRequest{Run: "late"}, map[string][]order{
		"orders/dt=3/a.parquet": orders(10, 3), "customers/z.parquet": orders(9, 1),
	})
	_, err = l.publish("late")
	wantCode(t, err, 4)
	w := examine(t, l.store)
	if len(w.live) != 5 || w.live["customers"].Run != "r" || w.pointer.Sequence != 1 {
		t.Fatalf("a run that lost one partition published: %v", w.live)
	}
	files, err := l.open().Files(ctx, []string{"orders", "customers", "orders/dt=1"})
	wantCode(t, err, 0)
	if files.Sequence != 1 || len(files.Files) != 4 || len(files.Tables) != 2 {
		t.Fatalf("sequence %d, %d files of %d tables", files.Sequence, len(files.Files), len(files.Tables))
	}
	retry, err := l.publish("r")
	wantCode(t, err, 0)
	if retry.Status != StatusAlreadyPublished || len(retry.Partitions) != 5 || retry.Evidence != r.Evidence {
		t.Fatalf("the retry's result is %+v", retry)
	}
}

// TestWhatAConflictsHintSays, typed literally, puts the run's output on top.
func TestWhatAConflictsHintSays(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	l.sealDir(BeginRequest{Run: "a", Scope: []string{p}}, map[string][]order{"a.parquet": orders(1, 3)})
	l.must(step{run: "b", partition: p, rows: orders(1, 4)})
	for range 2 {
		_, err := l.publish("a")
		wantCode(t, err, 4)
	}
	_, err := l.open().Abort(ctx, "a", "")
	wantCode(t, err, 0)
	_, err = l.open().Redo(ctx, RedoRequest{Run: "a", Reason: "TEXT"})
	wantCode(t, err, 0)
	l.must(step{run: "a", partition: p, rows: orders(1, 3)})
	if got := len(l.rows(p)); got != 3 {
		t.Fatalf("%d rows", got)
	}
}

// TestReplaceScopeMeetsANewPartition: what another run puts into the scope
// meanwhile would neither be replaced nor be seen.
func TestReplaceScopeMeetsANewPartition(t *testing.T) {
	l := newLab(t)
	l.sealDir(BeginRequest{Run: "all", Scope: []string{"orders/*"}, ReplaceScope: true}, map[string][]order{
		"orders/dt=1/a.parquet": orders(1, 3),
	})
	l.must(step{run: "other", partition: "customers", rows: orders(1, 4)})
	_, err := l.open().Audit(context.Background(), AuditRequest{Run: "all", Rules: l.rules(keyed)})
	wantCode(t, err, 0)
	l.must(step{run: "new", partition: "orders/dt=2", rows: orders(1, 4)})
	_, err = l.publish("all")
	wantCode(t, err, 4)
	if want := `run "all" lost partition orders/dt=2: run "new" published it first`; err.Error() != want {
		t.Fatalf("%v, want %s", err, want)
	}
	examine(t, l.store)
}

// TestOddRuns publishes what is unusual and allowed.
func TestOddRuns(t *testing.T) {
	for name, c := range map[string]struct {
		req   BeginRequest
		files map[string][]order
		rows  int // of the table t afterwards, which held 4
	}{
		"nothing at all":               {BeginRequest{Scope: []string{"t"}}, nil, 4},
		"nothing, replacing the scope": {BeginRequest{Scope: []string{"t"}, ReplaceScope: true}, nil, 0},
		"nothing, appended":            {BeginRequest{Scope: []string{"t"}, Mode: manifest.ModeAppend}, nil, 4},
		"an unpartitioned append":      {BeginRequest{Scope: []string{"t"}, Mode: manifest.ModeAppend}, map[string][]order{"x.parquet": orders(50, 2)}, 6},
		"a name that is cut":           {BeginRequest{Run: strings.Repeat("day/2025 ", 50), Scope: []string{"t"}}, map[string][]order{"x.parquet": orders(50, 2)}, 2},
		"a name of many scripts":       {BeginRequest{Run: "лето/☃ 'x' \"y\" $z %=", Scope: []string{"t"}, Tasks: []string{"ü/1"}, Task: "ü/1"}, map[string][]order{"x.parquet": orders(50, 2)}, 2},
		"one task of its own name":     {BeginRequest{Scope: []string{"t"}, Task: "load"}, map[string][]order{"x.parquet": orders(50, 2)}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.must(step{run: "before", partition: "t", rows: orders(1, 4)})
			if c.req.Run == "" {
				c.req.Run = "r"
			}
			l.sealDir(c.req, c.files)
			r, err := l.publish(c.req.Run)
			wantCode(t, err, 0)
			if r.Status != StatusPublished || r.Sequence != 2 {
				t.Fatalf("%+v", r)
			}
			if r, err = l.publish(c.req.Run); err != nil || r.Status != StatusAlreadyPublished {
				t.Fatalf("again: %+v, %v", r, err)
			}
			examine(t, l.store)
			if got := len(l.rows("t")); got != c.rows {
				t.Fatalf("%d rows, want %d", got, c.rows)
			}
		})
	}
}

// TestPathsThatCannotBe: a table or a partition that lies in another is refused
// before anything is written, and at the publish where the other came first; the
// run can then be given up.
func TestPathsThatCannotBe(t *testing.T) {
	for name, c := range map[string]string{
		"below a partition":      "orders/dt=1/r=a",
		"above a partition":      "orders",
		"another key":            "orders/day=1",
		"a table inside a table": "orders/items/dt=1",
	} {
		t.Run(name, func(t *testing.T) {
			l, ctx := newLab(t), context.Background()
			l.begin(BeginRequest{Run: "r", Scope: []string{c}})
			_, err := l.stage("r", "", c, orders(1, 4))
			wantCode(t, err, 0)
			l.must(step{run: "before", partition: "orders/dt=1", rows: orders(1, 4)})
			before := l.keys()
			_, err = l.open().Begin(ctx, BeginRequest{Run: "late", Scope: []string{c}})
			wantCode(t, err, 2)
			if got := l.keys(); got != before {
				t.Fatalf("a refused run left keys behind:\n%s", got)
			}
			_, err = l.publish("r")
			wantCode(t, err, 2)
			examine(t, l.store)
			_, err = l.open().Abort(ctx, "r", "")
			wantCode(t, err, 0)
		})
	}
}

func TestReplacingOneFileByTwoNames(t *testing.T) {
	l := newLab(t)
	const p = "orders/dt=1"
	l.must(step{run: "base", partition: p, rows: orders(1, 4), name: "a.parquet"})
	key := examine(t, l.store).live[p].Files[0].Key
	l.must(step{run: "fix", partition: p, mode: manifest.ModeReplace, rows: orders(1, 5), replacing: []string{"a.parquet", "a.parquet", key}})
	if got := len(l.rows(p)); got != 5 {
		t.Fatalf("%d rows", got)
	}
}
