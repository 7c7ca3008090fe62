package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap/store"
)

const (
	pluginStdout = 1 << 20 // most that a plugin may print
	pluginStderr = 4 << 10 // of which the end is kept
	// pluginGrace is how long a plugin's children may hold its streams open after
	// it ended or was killed.
	pluginGrace = 2 * time.Second
	chunk       = 1 << 20
)

// plugins runs the commands of exec and sql as processes, and lends them the audited files.
type plugins struct {
	environ  []string
	location store.Location // of the warehouse; zero without one

	mu    sync.Mutex
	dir   string            // of downloads, made when first needed
	local map[string]string // key to path
}

// Run implements audit.Plugins. The command leads a process group of its own,
// which is killed as a whole when ctx ends or its output overflows. Its TMPDIR
// is its own, and gone afterwards.
func (p *plugins) Run(ctx context.Context, command []string, document []byte) (stdout, stderr []byte, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &cappedOutput{limit: pluginStdout, overflow: func() {
		cancel(fmt.Errorf("it printed more than %s", size(pluginStdout)))
	}}
	tail := &tailOutput{keep: pluginStderr}
	temp, err := os.MkdirTemp("", "wap-plugin-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(slices.Clone(p.environ), "TMPDIR="+temp)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(document), out, tail
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = pluginGrace
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("run %q: %w", command[0], err)
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("run %q: %w", command[0], cause)
		}
		if errors.Is(err, exec.ErrNotFound) {
			err = notFound(command[0])
		}
	}
	return out.kept.Bytes(), tail.end, err
}

// notFound says what to do about a program that is not there.
func notFound(name string) error {
	remedy := "install it, or give its path"
	if name == "wap-duckdb" {
		remedy = "`make wap-duckdb` builds it into bin/; or name another under plugins: in wap.yaml, as duckdb: [PROGRAM]"
	}
	return fmt.Errorf("%s is not on the PATH: %s", name, remedy)
}

// Local implements audit.Plugins: a local file as it lies there, any other as
// a download that lives until close.
func (p *plugins) Local(ctx context.Context, f audit.File) (string, error) {
	if path := p.path(f); path != "" {
		return filepath.Abs(path)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if path, ok := p.local[f.Key]; ok {
		return path, nil
	}
	if p.dir == "" {
		dir, err := os.MkdirTemp("", "wap-plugin-")
		if err != nil {
			return "", err
		}
		p.dir, p.local = dir, map[string]string{}
	}
	path := filepath.Join(p.dir, fmt.Sprintf("%d-%s", len(p.local), filepath.Base(f.Key)))
	if err := download(ctx, path, f); err != nil {
		return "", fmt.Errorf("download %q: %w", f.Key, err)
	}
	p.local[f.Key] = path
	return path, nil
}

// path is where the file lies on this machine, or empty. A file that is no
// warehouse's has its path or its URL for a key.
func (p *plugins) path(f audit.File) string {
	if l, ok := f.Source.(interface{ Path() string }); ok {
		return l.Path()
	}
	if strings.Contains(f.Key, "://") {
		path, local := strings.CutPrefix(f.Key, "file://")
		if !local {
			return ""
		}
		return path
	}
	return p.location.Path(f.Key)
}

// URL implements audit.Plugins.
func (p *plugins) URL(f audit.File) string {
	if strings.Contains(f.Key, "://") {
		return f.Key
	}
	if path := p.path(f); path != "" {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
		return store.Location{Scheme: store.SchemeFile, Dir: path}.String()
	}
	return p.location.URL(f.Key)
}

// close removes the downloads.
func (p *plugins) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

func download(ctx context.Context, path string, f audit.File) (err error) {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buf := make([]byte, chunk)
	for off := int64(0); off < f.Source.Size(); {
		part := buf[:min(chunk, f.Source.Size()-off)]
		if err := f.Source.ReadRange(ctx, part, off); err != nil {
			return err
		}
		if _, err := out.Write(part); err != nil {
			return err
		}
		off += int64(len(part))
	}
	return nil
}

// cappedOutput keeps what is written up to a limit, and tells once it is passed.
// The buffer is not embedded: its ReadFrom would take everything.
type cappedOutput struct {
	kept     bytes.Buffer
	limit    int
	overflow func()
}

func (c *cappedOutput) Write(p []byte) (int, error) {
	if c.kept.Len()+len(p) > c.limit {
		c.overflow()
		return 0, io.ErrShortWrite
	}
	return c.kept.Write(p)
}

// tailOutput keeps the end of what is written.
type tailOutput struct {
	keep int
	end  []byte
}

func (t *tailOutput) Write(p []byte) (int, error) {
	t.end = append(t.end, p...)
	if extra := len(t.end) - t.keep; extra > 0 {
		t.end = append(t.end[:0], t.end[extra:]...)
	}
	return len(p), nil
}
