package wap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCommandThatIsStoppedBeforeItStarts: a signal that comes while the inputs
// are being written ends the call, not the program.
func TestCommandThatIsStoppedBeforeItStarts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(Interrupted{os.Interrupt})
	err := newLab(t).open().command(ctx, RunRequest{Command: []string{"true"}}, nil, &PublishResult{})
	wantCode(t, err, 1)
}

// arrived is a command's output that lets the command go on once it has arrived.
type arrived struct {
	strings.Builder
	fifo string
}

func (a *arrived) Write(p []byte) (int, error) {
	n, err := a.Builder.Write(p)
	return n, errors.Join(err, os.WriteFile(a.fifo, nil, 0o600))
}

// TestCommandThatLeavesAProcess: what a command started and left holds its
// output open, and would hold the step for ever.
func TestCommandThatLeavesAProcess(t *testing.T) {
	l := newLab(t)
	cfg := l.config(l.store)
	cfg.StopGrace = 50 * time.Millisecond
	w, err := Open(context.Background(), cfg)
	wantCode(t, err, 0)
	out := arrived{fifo: filepath.Join(t.TempDir(), "go-on")}
	wantCode(t, syscall.Mkfifo(out.fifo, 0o600), 0)
	script := `sleep 1000 & echo started; cat "$0"` // until the output was read: the grace is short
	err = w.command(context.Background(), RunRequest{Command: []string{"sh", "-c", script, out.fifo}, Output: &out}, nil, &PublishResult{})
	if !isKind(err, KindCommandFailed) || !strings.Contains(err.Error(), "left a process running") || out.String() != "started\n" {
		t.Fatalf("%v; it printed %q", err, out.String())
	}
}
