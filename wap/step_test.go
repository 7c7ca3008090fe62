package wap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// yard is a lab on a file store, as a person would have it.
type yard struct {
	*lab
	dir  string // the warehouse
	disk store.Store
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{lab: &lab{t: t, store: store.NewMem()}, dir: filepath.Join(t.TempDir(), "lake")}
	var err error
	y.disk, err = store.Open(context.Background(), y.dir, store.Config{})
	wantCode(t, err, 0)
	_, err = Init(context.Background(), y.cfg())
	wantCode(t, err, 0)
	return y
}

func (y *yard) cfg() Config {
	cfg := y.config(y.disk)
	var err error
	if cfg.Location, err = store.ParseURL(y.dir); err != nil {
		y.t.Fatal(err)
	}
	return cfg
}

func (y *yard) openDisk() *Warehouse {
	y.t.Helper()
	w, err := Open(context.Background(), y.cfg())
	if err != nil {
		y.t.Fatal(err)
	}
	return w
}

// shell is a run request whose command is a script; $ROWS holds Parquet files.
func (y *yard) shell(run, script string, scope ...string) RunRequest {
	y.t.Helper()
	rows := y.outputOf(map[string][]order{"a.parquet": orders(1, 3), "b.parquet": orders(4, 2)})
	return RunRequest{
		Begin: BeginRequest{Run: run, Scope: scope}, Rules: y.rules(keyed), Command: []string{"sh", "-c", script},
		Env: append(os.Environ(), "ROWS="+rows), Output: new(bytes.Buffer),
	}
}

// tree lists all files of the warehouse's folder, whatever made them.
func (y *yard) tree() string {
	y.t.Helper()
	var out []string
	err := filepath.WalkDir(y.dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(y.dir, p)
			out = append(out, mask(filepath.ToSlash(rel)))
		}
		return err
	})
	wantCode(y.t, err, 0)
	slices.Sort(out)
	return strings.Join(out, "\n") + "\n"
}

// noFolders fails the test where a command's folder was left in TMPDIR.
func noFolders(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "wap-*"))
	wantCode(t, err, 0)
	for _, d := range left {
		if !strings.Contains(d, "wap-test-") {
			t.Errorf("left behind: %s", d)
		}
	}
}

func TestCommandsEnvironment(t *testing.T) {
	y := newYard(t)
	in := t.TempDir()
	write(t, filepath.Join(in, "one.csv"), "1")
	req := y.shell("daily/1", `env | grep ^WAP_ | sort > "$ROWS/env"; cat "$WAP_INPUT_URLS" > "$ROWS/urls"; cat "$WAP_INPUTS" > "$ROWS/inputs"; cat "$WAP_INPUTS_SQL" > "$ROWS/sql"; ls -A "$WAP_OUT" > "$ROWS/ls"; cp "$ROWS/a.parquet" "$WAP_OUT"`,
		"orders/dt=2025-03-05/region-code=eu west")
	req.Begin.Inputs = []manifest.InputSource{{Name: "raw", Source: "file://" + in}}
	req.View = func(name string, files *FilesResult) (string, error) {
		return fmt.Sprintf("CREATE VIEW %s AS %d;", name, len(files.Files)), nil
	}
	req.Env = append(req.Env, "WAP_PARTITION=outer", "WAP_KEY_HOUR=outer", "WAP_TASK=outer", "WAP_WAREHOUSE=mine")
	res, err := y.openDisk().RunTask(context.Background(), req)
	wantCode(t, err, 0)
	rows := strings.TrimPrefix(req.Env[slices.IndexFunc(req.Env, func(e string) bool { return strings.HasPrefix(e, "ROWS=") })], "ROWS=")
	text := func(name string) string {
		body, err := os.ReadFile(filepath.Join(rows, name))
		wantCode(t, err, 0)
		return string(body)
	}
	got := map[string]string{}
	for line := range strings.Lines(text("env")) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		got[k] = v
	}
	staging := "file://" + y.dir + "/_wap/data/orders/" + manifest.Slug("daily/1") + "/g1/main/" + res.Attempt + "/"
	want := map[string]string{
		"WAP_RUN": "daily/1", "WAP_TASK": "main", "WAP_ATTEMPT": res.Attempt, "WAP_GENERATION": "1",
		"WAP_PARTITION": "orders/dt=2025-03-05/region-code=eu%20west", "WAP_KEY_DT": "2025-03-05", "WAP_KEY_REGION_CODE": "eu west",
		"WAP_STAGING_URL": staging, "WAP_STAGING_URL_S3A": staging, "WAP_WAREHOUSE": "mine",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s=%s, want %s", k, got[k], v)
		}
	}
	for _, k := range []string{"WAP_IDEMPOTENCY_KEY", "WAP_NOW", "WAP_OUT", "WAP_INPUTS", "WAP_INPUT_URLS", "WAP_INPUTS_SQL"} {
		if got[k] == "" {
			t.Errorf("no %s", k)
		}
	}
	if v, ok := got["WAP_KEY_HOUR"]; ok {
		t.Errorf("WAP_KEY_HOUR=%s is not of this run", v)
	}
	if text("ls") != "" || text("urls") != "file://"+in+"/one.csv\n" || text("sql") != "CREATE VIEW raw AS 1;\n" {
		t.Errorf("out %q, urls %q, sql %q", text("ls"), text("urls"), text("sql"))
	}
	var pinned manifest.Inputs
	wantCode(t, manifest.Decode([]byte(text("inputs")), &pinned), 0)
	noFolders(t)
}

func TestWhatACommandMayDoWrong(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		status int64
	}{
		"fails":                      {`exit 7`, 1, 7},
		"is killed":                  {`kill -9 $$`, 1, -1},
		"fails after it wrote":       {`cp "$ROWS/a.parquet" "$WAP_OUT"; exit 1`, 1, 1},
		"writes nothing":             {`:`, 3, 0},
		"writes only control totals": {`mkdir "$WAP_OUT/_control"; echo '{"rows": 3}' > "$WAP_OUT/_control/t.json"`, 3, 0},
		"writes a hidden file":       {`cp "$ROWS/a.parquet" "$WAP_OUT/.a.parquet"`, 3, 0},
		"writes an underscored file": {`cp "$ROWS/a.parquet" "$WAP_OUT/_a.parquet"`, 3, 0},
		"writes no Parquet":          {`echo hello > "$WAP_OUT/a.parquet"`, 3, 0},
		"writes an empty file":       {`: > "$WAP_OUT/a.parquet"`, 3, 0},
		"cuts a file":                {`head -c 100 "$ROWS/a.parquet" > "$WAP_OUT/a.parquet"`, 3, 0},
		"writes outside the scope":   {`mkdir -p "$WAP_OUT/orders/dt=2"; cp "$ROWS/a.parquet" "$WAP_OUT/orders/dt=2"`, 3, 0},
		"writes into a plain folder": {`mkdir -p "$WAP_OUT/sub"; cp "$ROWS/a.parquet" "$WAP_OUT/sub"`, 3, 0},
		"leaves a temporary folder":  {`mkdir -p "$WAP_OUT/_temporary/0"; cp "$ROWS/a.parquet" "$WAP_OUT/_temporary/0"`, 3, 0},
		"links a file":               {`ln -s "$ROWS/a.parquet" "$WAP_OUT/a.parquet"`, 3, 0},
		"writes bad control totals":  {`cp "$ROWS/a.parquet" "$WAP_OUT"; mkdir "$WAP_OUT/_control"; echo '{' > "$WAP_OUT/_control/t.json"`, 3, 0},
		"writes a bare control":      {`cp "$ROWS/a.parquet" "$WAP_OUT"; mkdir "$WAP_OUT/_control"; echo 5 > "$WAP_OUT/_control/t.json"`, 3, 0},
		"writes a file twice":        {`cp "$ROWS/a.parquet" "$WAP_OUT"; d="${WAP_STAGING_URL#file://}/dt=1"; mkdir -p "$d"; cp "$ROWS/b.parquet" "$d/a.parquet"`, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			res, err := y.openDisk().RunTask(context.Background(), y.shell("r", c.script, "orders/dt=1"))
			wantCode(t, err, c.code)
			if res.CommandStatus != c.status {
				t.Errorf("the command's status is %d, want %d", res.CommandStatus, c.status)
			}
			s, err := y.openDisk().Status(context.Background(), "r")
			wantCode(t, err, 0)
			if s.Runs[0].State != manifest.StateOpen || s.Runs[0].Tasks[0].Sealed {
				t.Fatalf("afterwards %+v", s.Runs[0])
			}
			noFolders(t)
			// The run is open for its retry.
			r, err := y.openDisk().RunTask(context.Background(), y.shell("r", `cp "$ROWS"/*.parquet "$WAP_OUT"`, "orders/dt=1"))
			wantCode(t, err, 0)
			if r.Status != StatusPublished || r.Partitions[0].Rows != 5 {
				t.Fatalf("the retry %+v", r)
			}
		})
	}
}

func TestWhatACommandMayWrite(t *testing.T) {
	const control = `mkdir "$WAP_OUT/_control"; echo '{"rows": 5, "sum": 12.50, "by": {"eu": null, "us": "null"}}' > "$WAP_OUT/_control/t.json"; `
	for name, c := range map[string]struct {
		script string
		scope  []string
		want   string // partitions with files and rows
	}{
		"at the top":          {`cp "$ROWS"/*.parquet "$WAP_OUT"`, []string{"orders/dt=1"}, "orders/dt=1 2 5"},
		"with markers":        {`cp "$ROWS"/*.parquet "$WAP_OUT"; touch "$WAP_OUT/_SUCCESS" "$WAP_OUT/.a.parquet.crc"`, []string{"orders/dt=1"}, "orders/dt=1 2 5"},
		"with control totals": {control + `cp "$ROWS"/*.parquet "$WAP_OUT"`, []string{"orders/dt=1"}, "orders/dt=1 2 5"},
		"as a path":           {`mkdir -p "$WAP_OUT/orders/dt=1"; cp "$ROWS/a.parquet" "$WAP_OUT/orders/dt=1"`, []string{"orders/dt=1"}, "orders/dt=1 1 3"},
		"many partitions": {`for d in 1 2; do mkdir -p "$WAP_OUT/orders/dt=$d"; cp "$ROWS/a.parquet" "$WAP_OUT/orders/dt=$d"; done; mkdir "$WAP_OUT/customers"; cp "$ROWS/b.parquet" "$WAP_OUT/customers"`,
			[]string{"orders/*", "customers"}, "customers 1 2; orders/dt=1 1 3; orders/dt=2 1 3"},
		"under the staging URL":        {`d="${WAP_STAGING_URL#file://}/dt=1"; mkdir -p "$d"; cp "$ROWS"/*.parquet "$d"; touch "$d/_SUCCESS"`, []string{"orders/dt=1"}, "orders/dt=1 2 5"},
		"in both places":               {`d="${WAP_STAGING_URL#file://}/dt=1"; mkdir -p "$d"; cp "$ROWS/a.parquet" "$d"; cp "$ROWS/b.parquet" "$WAP_OUT"`, []string{"orders/*", "orders/dt=1"}, ""},
		"an unpartitioned table there": {`d="${WAP_STAGING_URL#file://}"; mkdir -p "$d"; cp "$ROWS/a.parquet" "$d"`, []string{"customers"}, "customers 1 3"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			res, err := y.openDisk().RunTask(context.Background(), y.shell("r", c.script, c.scope...))
			if c.want == "" { // a file at the top, where several partitions may be meant
				wantCode(t, err, 3)
				return
			}
			wantCode(t, err, 0)
			var got []string
			for _, p := range res.Partitions {
				got = append(got, fmt.Sprintf("%s %d %d", p.Path, p.Files, p.Rows))
			}
			if strings.Join(got, "; ") != c.want {
				t.Fatalf("published %q, want %q", got, c.want)
			}
			w := examine(t, y.disk)
			if strings.Contains(name, "control") {
				controls := fmt.Sprint(w.chain[1].Runs[0].Controls)
				if controls != "[{main t.json by.eu null} {main t.json by.us \"null\"} {main t.json rows 5} {main t.json sum 12.50}]" {
					t.Errorf("controls %s", controls)
				}
			}
			noFolders(t)
		})
	}
}

// TestKeysOfAFileStore: the whole listing after a failed attempt and a good one.
func TestKeysOfAFileStore(t *testing.T) {
	y := newYard(t)
	ctx := context.Background()
	_, err := y.openDisk().RunTask(ctx, y.shell("r", `exit 1`, "orders/dt=1"))
	wantCode(t, err, 1)
	req := y.shell("r", `cp "$ROWS"/*.parquet "$WAP_OUT"`, "orders/dt=1")
	_, err = y.openDisk().RunTask(ctx, req)
	wantCode(t, err, 0)
	const want = `_wap/data/orders/r/g1/main/ID/dt=1/a.parquet
_wap/data/orders/r/g1/main/ID/dt=1/b.parquet
_wap/refs/.wap-lock
_wap/refs/main.json
_wap/runs/r/.wap-lock
_wap/runs/r/g1/attempts/main/ID.json
_wap/runs/r/g1/attempts/main/ID.json
_wap/runs/r/g1/audits/ID.json
_wap/runs/r/g1/manifests/ID-SHA.json
_wap/runs/r/g1/tasks/main.json
_wap/runs/r/run.json
_wap/snapshots/000000000000-ID.json
_wap/snapshots/000000000001-ID.json
_wap/trees/ID-SHA.json
_wap/trees/ID-SHA.json
_wap/warehouse.json
`
	if got := y.tree(); got != want {
		t.Fatalf("files:\n%s\nwant:\n%s", got, want)
	}
	r, err := y.openDisk().RunTask(ctx, req)
	wantCode(t, err, 0)
	if r.Status != StatusAlreadyPublished || len(r.Partitions) != 1 || r.Evidence == "" || r.TasksDone != 1 || y.tree() != want {
		t.Fatalf("the retry %+v", r)
	}
	dir := t.TempDir()
	f, err := y.openDisk().Fetch(ctx, "orders", dir)
	wantCode(t, err, 0)
	if f.Files != 2 {
		t.Fatalf("%d files", f.Files)
	}
	// What was downloaded is not downloaded again, and never overwritten.
	_, err = y.openDisk().Fetch(ctx, "orders", dir)
	wantCode(t, err, 0)
	write(t, filepath.Join(dir, f.Paths[0]), "mine")
	_, err = y.openDisk().Fetch(ctx, "orders", dir)
	wantCode(t, err, 2)
	for name, n := range map[string]int{"*": 2, ".*": 0} {
		if found, err := filepath.Glob(filepath.Join(dir, "orders/dt=1", name)); err != nil || len(found) != n {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
	}
	if y.tree() != want {
		t.Fatal("reading wrote something")
	}
}

// TestStageAgainAfterItWasKilled: the same call, with the attempt that begin had
// started, goes through wherever the first one died.
func TestStageAgainAfterItWasKilled(t *testing.T) {
	const p = "orders/dt=1"
	for n, alive := 1, true; alive; n++ {
		for _, after := range []bool{false, true} {
			l := newLab(t)
			ctx := context.Background()
			b := l.begin(BeginRequest{Run: "r", Scope: []string{p}})
			req := StageRequest{Run: "r", Attempt: b.Attempt, Partition: p, Files: []string{l.file("p.parquet", orders(1, 3))}}
			fs := faultstore.New(l.store, dying(n+1, after)) // its first one opens the warehouse
			_, _ = l.client(fs).Stage(ctx, req)
			alive = fs.Recorder().Len() >= n+1
			r, err := l.open().Stage(ctx, req)
			if err != nil || r.Rows != 3 {
				t.Fatalf("killed at operation %d, after it acted: %v; again: %+v, %v", n, after, r, err)
			}
			_, err = l.publish("r")
			wantCode(t, err, 0)
			if got := len(l.rows(p)); got != 3 {
				t.Fatalf("%d rows", got)
			}
		}
	}
}

// TestSignalStopsTheWholeGroup: what the command started is told too, and ends.
func TestSignalStopsTheWholeGroup(t *testing.T) {
	y := newYard(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	fifo := filepath.Join(t.TempDir(), "up")
	wantCode(t, syscall.Mkfifo(fifo, 0o600), 0)
	// The child is the last to set its trap, and only then says that it is up.
	req := y.shell("r", `trap 'echo parent >> "$ROWS/told"; wait; exit 0' TERM; cp "$ROWS/a.parquet" "$WAP_OUT"
(trap 'echo child >> "$ROWS/told"; exit 0' TERM; echo up > "`+fifo+`"; while :; do sleep 0.05; done) &
while :; do sleep 0.05; done`, "orders/dt=1")
	rows := strings.TrimPrefix(req.Env[len(req.Env)-1], "ROWS=")
	go func() {
		if _, err := os.ReadFile(fifo); err == nil { // the child is up
			cancel(Interrupted{syscall.SIGTERM})
		}
	}()
	cfg := y.cfg()
	cfg.StopGrace = time.Hour // both end by themselves, however busy the machine is
	w, err := Open(ctx, cfg)
	wantCode(t, err, 0)
	_, err = w.RunTask(ctx, req)
	wantCode(t, err, 1)
	if !strings.Contains(err.Error(), "interrupted by terminated") {
		t.Errorf("%v", err)
	}
	told, err := os.ReadFile(filepath.Join(rows, "told"))
	wantCode(t, err, 0)
	if got := strings.Fields(string(told)); len(got) != 2 {
		t.Errorf("told %q", got)
	}
	if strings.Contains(y.tree(), "/tasks/") || strings.Contains(y.tree(), ".parquet") {
		t.Errorf("something was stored:\n%s", y.tree())
	}
	noFolders(t)
}
