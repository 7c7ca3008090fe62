package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// process is a command that was started.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // stdout and stderr; complete when it ended
	ended  chan struct{}
	code   int // when it ended; -1 if a signal did it
}

func start(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		var exit *exec.ExitError
		if err := cmd.Wait(); errors.As(err, &exit) {
			p.code = exit.ExitCode()
		} else if err != nil {
			p.code = -1
			fmt.Fprintln(&p.output, err)
		}
	}()
	return p, nil
}

// wait returns an error unless p ends with one of codes.
func (p *process) wait(ctx context.Context, codes ...int) error {
	select {
	case <-p.ended:
	case <-ctx.Done():
		return fmt.Errorf("wait for %s: %w", p, ctx.Err())
	}
	for _, c := range codes {
		if p.code == c {
			return nil
		}
	}
	return fmt.Errorf("%s: exit %d, want %v\n%s", p, p.code, codes, p.output.String())
}

func (p *process) String() string {
	words := append([]string{filepath.Base(p.cmd.Path)}, p.cmd.Args[1:]...)
	return strings.Join(words, " ")
}
