package wap

import (
	"context"
	"os"
	"testing"
)

// TestCommandThatIsStoppedBeforeItStarts: a signal that comes while the inputs
// are being written ends the call, not the program.
func TestCommandThatIsStoppedBeforeItStarts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(Interrupted{os.Interrupt})
	err := command(ctx, RunRequest{Command: []string{"true"}}, nil, &PublishResult{})
	wantCode(t, err, 1)
}
