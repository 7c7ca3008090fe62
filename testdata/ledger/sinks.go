package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed checks.yaml
var checks []byte

const partition = "ledger/day=" + night

// attempt is one try at a task.
type attempt struct {
	task       int
	try        int
	gate       string
	crashAfter int
}

func (a attempt) args() []string {
	args := []string{"task"}
	if a.gate != "" {
		args = append(args, "-gate", a.gate)
	}
	if a.crashAfter > 0 {
		args = append(args, "-crash-after", strconv.Itoa(a.crashAfter))
	}
	return append(args, strconv.Itoa(a.task))
}

// sink is where the tasks' rows go, with the way its users write and read it.
type sink interface {
	name() string
	// prepare makes it ready in dir, an empty folder of its own.
	prepare(ctx context.Context, dir string) error
	// command is what a scheduler starts for an attempt.
	command(ctx context.Context, a attempt) *exec.Cmd
	// files lists what a reader of the partition reads.
	files(ctx context.Context) ([]string, error)
}

// appendSink is a partition folder that every attempt adds its files to, under
// names that are new each time.
type appendSink struct{ ledger, dir string }

func (s *appendSink) name() string { return "append to the partition" }

func (s *appendSink) prepare(_ context.Context, dir string) error {
	s.dir = filepath.Join(dir, partition)
	return os.MkdirAll(s.dir, 0o777)
}

func (s *appendSink) command(ctx context.Context, a attempt) *exec.Cmd {
	args := a.args()
	args = slices.Insert(args, 1, "-out", s.dir, "-name", fmt.Sprintf("try%d", a.try))
	return exec.CommandContext(ctx, s.ledger, args...)
}

func (s *appendSink) files(context.Context) ([]string, error) { return parquetBelow(s.dir) }

// attemptSink is a partition folder with a folder for every attempt in it.
type attemptSink struct{ ledger, dir string }

func (s *attemptSink) name() string { return "a folder per attempt" }

func (s *attemptSink) prepare(_ context.Context, dir string) error {
	s.dir = filepath.Join(dir, partition)
	return os.MkdirAll(s.dir, 0o777)
}

func (s *attemptSink) command(ctx context.Context, a attempt) *exec.Cmd {
	args := a.args()
	args = slices.Insert(args, 1, "-out", filepath.Join(s.dir, fmt.Sprintf("attempt-%d-%d", a.task, a.try)))
	return exec.CommandContext(ctx, s.ledger, args...)
}

func (s *attemptSink) files(context.Context) ([]string, error) { return parquetBelow(s.dir) }

// parquetBelow lists the Parquet files below dir, as query engines do.
func parquetBelow(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".parquet") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// wapSink is a warehouse: one run for the night, in sixteen tasks.
type wapSink struct{ ledger, wap, dir string }

func (s *wapSink) name() string { return "wap" }

func (s *wapSink) prepare(ctx context.Context, dir string) error {
	s.dir = dir
	if err := os.WriteFile(filepath.Join(dir, "checks.yaml"), checks, 0o666); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o777); err != nil {
		return err
	}
	p, err := start(s.run(ctx, "init"))
	if err != nil {
		return err
	}
	return p.wait(ctx, 0)
}

func (s *wapSink) command(ctx context.Context, a attempt) *exec.Cmd {
	args := []string{"run", partition, "--run", "ledger/" + night, "--tasks", strconv.Itoa(tasks),
		"--task", strconv.Itoa(a.task), "--checks", "checks.yaml", "--", s.ledger}
	return s.run(ctx, append(args, a.args()...)...)
}

func (s *wapSink) files(ctx context.Context) ([]string, error) {
	cmd := s.run(ctx, "files", partition, "--format", "lines")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list files of %q: %w\n%s", partition, err, stderr.String())
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		u, err := url.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("list files of %q: %w", partition, err)
		}
		names = append(names, u.Path)
	}
	return names, nil
}

// run makes a wap command that nothing outside the sink's folder steers.
func (s *wapSink) run(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.wap, args...)
	cmd.Dir = s.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "WAP_") && !strings.HasPrefix(kv, "TMPDIR=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "WAP_WAREHOUSE="+filepath.Join(s.dir, "warehouse"), "TMPDIR="+filepath.Join(s.dir, "tmp"))
	return cmd
}
