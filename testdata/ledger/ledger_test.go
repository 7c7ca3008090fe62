package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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

// TestNights runs every failure against every sink, as real processes.
func TestNights(t *testing.T) {
	dir, err := os.MkdirTemp("", "ledger") // t.TempDir is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	bin := programs{ledger: build(t, "testdata/ledger"), wap: build(t, "cmd/wap")}
	results, err := nights(t.Context(), dir, bin)
	if err != nil {
		t.Fatal(err)
	}

	var first36 int64
	for _, e := range entries(4)[:36] {
		first36 += e.cents
	}
	table := []struct {
		processes int
		surplus   int
		cents     int64
	}{
		{processes: 17, surplus: 78, cents: 7_139_987},
		{processes: 17, surplus: 36, cents: first36},
		{processes: 17, surplus: 59, cents: 3_844_716},
		{processes: 17, surplus: 71, cents: 14_109_253},
		{processes: 32, surplus: customers, cents: cents},
	}
	var want []result
	for i, f := range failures() {
		e := table[i]
		for _, s := range []string{"append to the partition", "a folder per attempt"} {
			want = append(want, result{sink: s, failure: f.name, processes: e.processes,
				rows: 796 + e.surplus, cents: 74_558_550 + e.cents, duplicates: e.surplus})
		}
		want = append(want, result{sink: "wap", failure: f.name, processes: e.processes, rows: 796, cents: 74_558_550})
	}
	if len(results) != len(want) {
		t.Fatalf("%d results, want %d", len(results), len(want))
	}
	for i := range want {
		if results[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", results[i], want[i])
		}
	}
	if err := verdict(results); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAttribution: of a night that went wrong in a folder that is appended to,
// "wap check" says whose rows stand there twice, how much they add, and where.
func TestAttribution(t *testing.T) {
	dir, wap := t.TempDir(), build(t, "cmd/wap")
	night := filepath.Join(dir, partition)
	if err := os.WriteFile(filepath.Join(dir, "checks.yaml"), checks, 0o666); err != nil {
		t.Fatal(err)
	}
	jobs := []job{{task: 3, out: night, name: "try1"}} // its message was lost
	for task := range tasks {
		jobs = append(jobs, job{task: task, out: night, name: "try0"})
	}
	for _, j := range jobs {
		if err := j.work(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(wap, "check", "ledger", "--checks", "checks.yaml")
	cmd.Dir = dir
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v\n%s", err, stdout.String())
	}
	text := strings.Join(strings.Fields(stdout.String()), " ")
	for _, want := range []string{
		"source 78 surplus rows and 7139987 cents are exactly task 3's contribution, written twice " +
			"ledger/day=2025-03-05/try1-03-0000.parquet has 12 keys of ledger/day=2025-03-05/try0-03-0000.parquet",
		"ledger/day=2025-03-05/try1-03-0006.parquet has 6 keys of ledger/day=2025-03-05/try0-03-0006.parquet",
		"too much by 7139987: exactly task 3's contribution, written twice",
		"too many by 78: exactly task 3's contribution, written twice",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, stdout.String())
		}
	}
	for line := range strings.Lines(stdout.String()) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

func TestBooks(t *testing.T) {
	given := []struct {
		task, customers int
		cents           int64 // 0: not given
	}{{2, 53, 0}, {3, 78, 7_139_987}, {4, 73, 0}, {5, 59, 3_844_716}, {7, 71, 14_109_253}}
	seen := map[int64]int{}
	var all int64
	sums := make([]int64, tasks)
	counts := make([]int, tasks)
	for task := range tasks {
		for _, e := range entries(task) {
			if e.cents <= 0 {
				t.Errorf("task %d: customer %d has %d cents", task, e.customer, e.cents)
			}
			if other, ok := seen[e.customer]; ok {
				t.Errorf("customer %d is in tasks %d and %d", e.customer, other, task)
			}
			seen[e.customer] = task
			all += e.cents
			sums[task] += e.cents
			counts[task]++
		}
	}
	if len(seen) != 796 || all != 74_558_550 {
		t.Errorf("%d customers, %d cents", len(seen), all)
	}
	for _, g := range given {
		if counts[g.task] != g.customers || g.cents != 0 && sums[g.task] != g.cents {
			t.Errorf("task %d: %d customers, %d cents, want %+v", g.task, counts[g.task], sums[g.task], g)
		}
	}
}

// TestVerdict: one wrong night of wap, or a missing one, fails the program.
func TestVerdict(t *testing.T) {
	night := func(change func([]result) []result) error {
		var rs []result
		for _, f := range failures() {
			rs = append(rs, result{sink: "a folder per attempt", failure: f.name, rows: 900},
				result{sink: "wap", failure: f.name, rows: customers, cents: cents})
		}
		return verdict(change(rs))
	}
	for _, c := range []struct {
		name   string
		change func([]result) []result
		ok     bool
	}{
		{"exact", func(rs []result) []result { return rs }, true},
		{"a cent short", func(rs []result) []result { rs[3].cents--; return rs }, false},
		{"a row more", func(rs []result) []result { rs[5].rows++; return rs }, false},
		{"one twice, one never", func(rs []result) []result { rs[9].duplicates = 1; return rs }, false},
		{"a night missing", func(rs []result) []result { return rs[:8] }, false},
	} {
		if err := night(c.change); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"walk"}, {"task"}, {"task", "16"}, {"task", "x"}, {"task", "3"}} {
		t.Setenv("WAP_OUT", "")
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 1 || !strings.HasPrefix(stderr.String(), "ledger: ") {
			t.Errorf("ledger %v: exit %d, stderr %q", args, code, stderr.String())
		}
	}
}
