package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/wap-cli/wap/wap"
	"github.com/wap-cli/wap/wap/store"
)

// killed is one warehouse in which a run was killed once.
type killed struct {
	t   *testing.T
	dir string
}

// TestRunKilledAtEveryOperation kills the whole step with SIGKILL before, then
// after, each of its store operations in turn, and runs it again.
func TestRunKilledAtEveryOperation(t *testing.T) {
	body, err := encodeParquet("id:int64\n1\n2\n3\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"before", "after"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			const fewest = 15
			for n := 1; ; n++ {
				k := killed{t, t.TempDir()}
				if err := os.WriteFile(filepath.Join(k.dir, "in.parquet"), body, 0o600); err != nil {
					t.Fatal(err)
				}
				k.wap(0, new(wap.InitResult), "init")
				if finished := k.step(fmt.Sprintf("kill %d %s", n, phase)); finished {
					if n < fewest {
						t.Fatalf("the step takes only %d operations: this test kills something else", n)
					}
					return
				}
				k.step("")
				k.check(n)
			}
		})
	}
}

// step runs the whole step in a process of its own; false when it was killed.
func (k killed) step(fault string) (finished bool) {
	k.t.Helper()
	cmd := exec.Command("wap", "run", "orders/dt=1", "-w", "lake", "--run", "r1", "--checks", "builtin", "--",
		"sh", "-c", `cp in.parquet "$WAP_OUT"`)
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "TEST_STORE="+fault, "TMPDIR="+k.t.TempDir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && fault != "" {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return false
		}
	}
	if err != nil {
		k.t.Fatalf("%q: %v\n%s", fault, err, out)
	}
	return true
}

// wap calls the program in this process and decodes what it prints.
func (k killed) wap(want int, into any, args ...string) {
	k.t.Helper()
	var stdout, stderr bytes.Buffer
	s := system{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, openStore: store.Open}
	code := s.run(context.Background(), append(args, "--json", "-w", filepath.Join(k.dir, "lake")))
	if code != want {
		k.t.Fatalf("wap %q: exit %d, want %d\n%s", args, code, want, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		k.t.Fatalf("wap %q: %v in %s", args, err, stdout.String())
	}
}

// check looks at the whole state after the retry: published once, nothing open,
// and no object that neither the run nor its dead attempt accounts for.
func (k killed) check(n int) {
	k.t.Helper()
	var log wap.LogResult
	k.wap(0, &log, "log")
	if len(log.Entries) != 2 || len(log.Entries[0].Runs) != 1 || log.Entries[0].Runs[0].Rows != 3 {
		k.t.Errorf("killed at %d: the history is %+v", n, log.Entries)
	}
	var status wap.StatusResult
	k.wap(0, &status, "status")
	if len(status.Runs) != 0 {
		k.t.Errorf("killed at %d: open are %+v", n, status.Runs)
	}
	allowed := []struct {
		pattern  string
		min, max int
	}{
		{`_wap/warehouse\.json`, 1, 1},
		{`_wap/refs/main\.json`, 1, 1},
		{`_wap/snapshots/000000000000-[^/]+\.json`, 1, 1},
		{`_wap/snapshots/000000000001-[^/]+\.json`, 1, 2},
		{`_wap/trees/[^/]+\.json`, 2, 4},
		{`_wap/runs/r1/run\.json`, 1, 1},
		{`_wap/runs/r1/g1/tasks/main\.json`, 1, 1},
		{`_wap/runs/r1/g1/attempts/main/[^/]+\.json`, 1, 2},
		{`_wap/runs/r1/g1/audits/[^/]+\.json`, 1, 2},
		{`_wap/runs/r1/g1/manifests/[^/]+\.json`, 1, 2},
		{`_wap/data/orders/r1/g1/main/[^/]+/dt=1/in\.parquet`, 1, 2},
		{`(.+/)?\.wap-[^/]+`, 0, 20}, // the file backend's locks, and the temporary file of a killed write
	}
	counts := make([]int, len(allowed))
	for _, key := range k.keys() {
		known := false
		for i, a := range allowed {
			if regexp.MustCompile(`\A(?:` + a.pattern + `)\z`).MatchString(key) {
				counts[i]++
				known = true
			}
		}
		if !known {
			k.t.Errorf("killed at %d: %s is left", n, key)
		}
	}
	for i, a := range allowed {
		if counts[i] < a.min || counts[i] > a.max {
			k.t.Errorf("killed at %d: %d objects %s, want %d to %d", n, counts[i], a.pattern, a.min, a.max)
		}
	}
}

func (k killed) keys() []string {
	k.t.Helper()
	root := filepath.Join(k.dir, "lake")
	var keys []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(root, path)
		keys = append(keys, key)
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return keys
}
