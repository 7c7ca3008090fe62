package wap

import (
	"context"
	"os"
	"strings"
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

// TestCommandThatLeavesAProcess: what a command started and left holds its
// output open, and would hold the step for ever.
func TestCommandThatLeavesAProcess(t *testing.T) {
	l := newLab(t)
	cfg := l.config(l.store)
	cfg.StopGrace = 50 * time.Millisecond
	w, err := Open(context.Background(), cfg)
	wantCode(t, err, 0)
	var out strings.Builder
	err = w.command(context.Background(), RunRequest{Command: []string{"sh", "-c", "sleep 1000 & echo started"}, Output: &out}, nil, &PublishResult{})
	if !isKind(err, KindCommandFailed) || !strings.Contains(err.Error(), "left a process running") || out.String() != "started\n" {
		t.Fatalf("%v; it printed %q", err, out.String())
	}
}
