package main

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// build compiles a package of the module.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", bin, "./"+pkg)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// TestDemo runs the script as "make demo" does, on fewer rows. The script checks
// its exit codes itself.
func TestDemo(t *testing.T) {
	tmp := t.TempDir()
	cmd := exec.Command("./demo.sh")
	cmd.Env = append(os.Environ(), "WAP="+build(t, "cmd/wap"), "GEN="+build(t, "testdata/demo"),
		"ROWS=4000", "TMPDIR="+tmp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("demo.sh: %v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("== Summary")) {
		t.Errorf("demo.sh ends without a summary:\n%s", out)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestDemoFailsOnOtherExitCode: a tool that always succeeds does not pass.
func TestDemoFailsOnOtherExitCode(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "wap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho \"orders: wrote 4000 rows\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("./demo.sh")
	cmd.Env = append(os.Environ(), "WAP="+fake, "GEN="+fake, "ROWS=4000", "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("demo: exit 0, want 3: wap run orders/dt=2025-03-04")) {
		t.Errorf("demo.sh: %v\n%s", err, out)
	}
}

// generate runs the generator and returns its files' contents by name.
func generate(t *testing.T, args ...string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	env := func(name string) string { return map[string]string{"WAP_KEY_DT": "2025-03-02", "WAP_OUT": dir}[name] }
	if code := run(args, env, &stdout, &stderr); code != 0 {
		t.Fatalf("orders %v: exit %d: %s", args, code, stderr.String())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// shape is what a footer says: rows, row groups, nulls of a column.
type shape struct {
	rows, groups           int64
	noCustomer, notShipped int64
}

func shapeOf(t *testing.T, content []byte) shape {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := shape{rows: r.NumRows(), groups: int64(r.NumRowGroups())}
	for i := range r.NumRowGroups() {
		for column, nulls := range map[int]*int64{2: &s.noCustomer, 7: &s.notShipped} {
			chunk, err := r.MetaData().RowGroup(i).ColumnChunk(column)
			if err != nil {
				t.Fatal(err)
			}
			stats, err := chunk.Statistics()
			if err != nil {
				t.Fatal(err)
			}
			*nulls += stats.NullCount()
		}
	}
	return s
}

func sums(files map[string][]byte) map[string][32]byte {
	all := map[string][32]byte{}
	for name, content := range files {
		all[name] = sha256.Sum256(content)
	}
	return all
}

func TestGenerate(t *testing.T) {
	good := generate(t, "-rows", "100002")
	if a, b := sums(good), sums(generate(t, "-rows", "100002")); len(a) != 4 || !equal(a, b) {
		t.Errorf("two runs differ: %x, %x", a, b)
	}
	var rows int64
	for name, content := range good {
		s := shapeOf(t, content)
		if s.groups != 2 || s.noCustomer != 0 || s.notShipped == 0 || s.notShipped > s.rows/5 {
			t.Errorf("%s: %+v", name, s)
		}
		rows += s.rows
	}
	if rows != 100_002 {
		t.Errorf("%d rows, want 100002", rows)
	}
}

func equal(a, b map[string][32]byte) bool {
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestFaultsChangeOnePart(t *testing.T) {
	good := generate(t, "-rows", "8000")

	nulls := generate(t, "-rows", "8000", "-fault", "nulls")
	if s := shapeOf(t, nulls["part-1.parquet"]); s.rows != 2000 || s.noCustomer != 2 {
		t.Errorf("nulls: %+v", s)
	}
	delete(nulls, "part-1.parquet")
	expectSame(t, "nulls", good, nulls, 3)

	twice := generate(t, "-rows", "8000", "-fault", "duplicates")
	if !bytes.Equal(twice["part-1-again.parquet"], good["part-1.parquet"]) {
		t.Error("duplicates: part-1-again is not part-1")
	}
	delete(twice, "part-1-again.parquet")
	expectSame(t, "duplicates", good, twice, 4)

	expectSame(t, "part 2", good, generate(t, "-rows", "8000", "-part", "2"), 1)
	late := generate(t, "-rows", "8000", "-part", "2", "-discount")
	if len(late) != 1 || bytes.Equal(late["part-2.parquet"], good["part-2.parquet"]) {
		t.Errorf("discount: %d files, or no change", len(late))
	}
}

// expectSame checks that files are count of those in good.
func expectSame(t *testing.T, what string, good, files map[string][]byte, count int) {
	t.Helper()
	if len(files) != count {
		t.Errorf("%s: %d files, want %d", what, len(files), count)
	}
	for name, content := range files {
		if !bytes.Equal(content, good[name]) {
			t.Errorf("%s: %s is not as on the good day", what, name)
		}
	}
}

func TestCrashLeavesHalfAFile(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(build(t, "testdata/demo"), "-day", "2025-03-02", "-out", dir, "-rows", "8000", "-crash-after", "3000")
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Errorf("%v, want death by a signal", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Fatalf("left %v, %v, want two files", names, err)
	}
	for i, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if complete := bytes.HasSuffix(content, []byte("PAR1")) && len(content) > 4; complete != (i == 0) {
			t.Errorf("%s: complete: %v", filepath.Base(name), complete)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-day", "yesterday"}, {"-day", "2025-03-01"}, {"-day", "2025-03-01", "-out", "x", "-rows", "3"},
		{"-day", "2025-03-01", "-out", "x", "-part", "4"}, {"-day", "2025-03-01", "-out", "x", "-fault", "fire"},
		{"-day", "2025-03-01", "-out", "x", "more"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(args, func(string) string { return "" }, &stdout, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "orders: ") {
			t.Errorf("orders %v: exit %d, stderr %q", args, code, stderr.String())
		}
	}
}
