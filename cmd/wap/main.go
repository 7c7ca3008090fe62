// Command wap stages, audits and publishes Parquet partitions on object stores.
// Package [github.com/wap-cli/wap/wap] is the library it calls, and its manual.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"time"

	"github.com/wap-cli/wap/wap/store"
)

// version is set by the linker.
var version string

func main() {
	log.SetOutput(io.Discard) // libraries write there what they also return
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: args without the program's name, the exit code back.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return system{
		stdin:     stdin,
		stdout:    stdout,
		stderr:    stderr,
		environ:   os.Environ(),
		openStore: store.Open,
	}.run(ctx, args)
}

// system is what a call reaches of the world outside.
type system struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string // KEY=value; the last of equal keys counts
	openStore      func(ctx context.Context, url string, cfg store.Config) (store.Store, error)

	now   func() time.Time // nil: the clock
	newID func() string    // nil: random
}

func (s system) run(ctx context.Context, args []string) int {
	c := &call{
		system:  s,
		meter:   newMeter(),
		page:    newPage(s.stdout, s.stderr),
		plugins: &plugins{environ: s.environ},
	}
	ctx, signals := watchSignals(ctx, c)
	done := make(chan int, 1)
	go func() { done <- c.guarded(ctx, args) }()
	select {
	case code := <-done:
		signals.stop()
		return code
	case <-signals.again: // further ones stay caught: the code is ours to give
		return c.abandon()
	}
}
