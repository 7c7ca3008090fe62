package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/wap-cli/wap/wap"
)

// signals are SIGINT and SIGTERM while a call runs. The first cancels the
// call's context: the library stops cleanly, holds on to a commit that is on
// its way, and says what stands. The second ends the program where it is.
type signals struct {
	again chan struct{} // closed by the second
	stop  func()
}

func watchSignals(ctx context.Context, c *call) (context.Context, signals) {
	ctx, cancel := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	s := signals{again: make(chan struct{})}
	over := make(chan struct{})
	s.stop = func() {
		signal.Stop(received)
		close(over)
		cancel(nil)
	}
	go func() {
		for n := 0; ; n++ {
			select {
			case sig := <-received:
				if n > 0 {
					close(s.again)
					return
				}
				c.interrupted(sig)
				cancel(wap.Interrupted{Signal: sig})
			case <-over:
				return
			}
		}
	}()
	return ctx, s
}

func (c *call) interrupted(sig os.Signal) {
	text := fmt.Sprintf("%s: stopping", sig)
	if c.meter.open.Load() {
		text = fmt.Sprintf("%s: a commit is on its way; waiting to see what became of it", sig)
	}
	c.page.warning(text, "once more ends wap at once")
}

// abandon is the way out after a second signal, with the call still running.
func (c *call) abandon() int {
	e := &wap.Error{Kind: wap.KindOutside, Message: "ended by a second signal; this call published nothing"}
	if c.meter.abandon() { // what is printed now stays true
		e.Kind = wap.KindUnknown
		e.Message = "ended by a second signal with a commit on its way: possibly published"
		e.Hint = settleAgain
	}
	return c.report(nil, e)
}
