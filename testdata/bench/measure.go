package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// usage is what a process cost.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // bytes, mapped pages included
}

// exitFailed is wap's status when an assertion fails.
const exitFailed = 3

// measure runs a program to its end. Exit statuses in fine are none to complain
// about.
func measure(cmd *exec.Cmd, fine ...int) (usage, []byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(begin)}
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(fine, exit.ExitCode()) {
		err = nil
	}
	if err != nil {
		return u, nil, fmt.Errorf("run %s: %w\n%s%s", cmd.Path, err, stdout.String(), stderr.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = r.Maxrss << 10
	}
	return u, stdout.Bytes(), nil
}

// on is the bench with a task's threads.
func (b *bench) on(t task) *bench {
	out := *b
	if t.threads > 0 {
		out.threads = t.threads
	}
	return &out
}

func (b *bench) environment() []string {
	return append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", b.threads))
}

// sql runs statements in DuckDB and returns the last one's row.
func (b *bench) sql(statements []string) (map[string]string, error) {
	_, row, err := b.measureSQL(statements)
	return row, err
}

func (b *bench) measureSQL(statements []string) (usage, map[string]string, error) {
	cmd := exec.Command(b.duck)
	cmd.Env = b.environment()
	text := fmt.Sprintf("SET threads = %d;\n", b.threads) + strings.Join(statements, ";\n")
	cmd.Stdin = strings.NewReader(text)
	u, out, err := measure(cmd)
	if err != nil {
		return u, nil, err
	}
	var row map[string]string
	return u, row, json.Unmarshal(out, &row)
}

// check runs `wap check` and returns each assertion's number.
func (b *bench) check(d dataset, t task) (usage, map[string]string, error) {
	checks, err := t.write()
	if err != nil {
		return usage{}, nil, err
	}
	defer os.Remove(checks)
	cmd := exec.Command(b.wap, "check", d.path, "--checks", checks, "--json", "--no-progress", "--memory", b.memory)
	cmd.Env = b.environment()
	u, out, err := measure(cmd, exitFailed)
	if err != nil {
		return u, nil, err
	}
	numbers, err := numbersOf(out, t)
	return u, numbers, err
}

// write makes the task's checks file, for the caller to remove.
func (t task) write() (path string, err error) {
	file, err := os.CreateTemp("", "wap-bench-*.yaml")
	if err != nil {
		return "", fmt.Errorf("create checks file: %w", err)
	}
	_, err = file.WriteString(t.file())
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write checks file: %w", err), os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// numbersOf picks the task's numbers from a report.
func numbersOf(report []byte, t task) (map[string]string, error) {
	var r struct {
		Assertions []struct {
			ID, Outcome, Observed, Type, Message string
			Violations                           int64
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	numbers := map[string]string{}
	for _, a := range r.Assertions {
		if a.Outcome == "error" {
			return nil, fmt.Errorf("assertion %s: %s", a.ID, a.Message)
		}
		if !strings.Contains(t.file(), "id: "+a.ID+",") {
			continue // a built-in
		}
		numbers[a.ID] = fmt.Sprint(a.Violations)
		if a.Type == "sum" || a.Type == "row_count" {
			numbers[a.ID] = a.Observed
		}
	}
	return numbers, nil
}

// self runs this program again for one of its parts.
func (b *bench) self(args ...string) error {
	_, err := b.measureSelf(args...)
	return err
}

func (b *bench) measureSelf(args ...string) (usage, error) {
	u, _, err := b.runSelf(args)
	return u, err
}

// selfOutput is what a part prints.
func (b *bench) selfOutput(args ...string) ([]byte, error) {
	_, out, err := b.runSelf(args)
	return out, err
}

func (b *bench) runSelf(args []string) (usage, []byte, error) {
	path, err := os.Executable()
	if err != nil {
		return usage{}, nil, fmt.Errorf("find program: %w", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = b.environment()
	return measure(cmd)
}
