package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func statusCommand() *command {
	return &command{
		name:      "status",
		argsUsage: "RUN",
		about:     "unfinished runs, or one run, and what to do next",
		detail: "Without RUN, --run or WAP_RUN every unfinished run is listed; a run: in wap.yaml does not narrow the list. " +
			"Nothing is changed.",
		example: `wap status --warehouse ./lake`,
		maxArgs: 1,
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.statusRun()
			if err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Status(ctx, run)
			return statusOutput{r}, err
		},
	}
}

// statusRun is the run that status is narrowed to, or empty.
func (c *call) statusRun() (string, error) {
	found := c.settings.lookup("run")
	fromFile := c.settings.file != nil && strings.HasPrefix(found.Origin, c.settings.file.name+":")
	if len(c.line.args) == 0 && (found.Origin == "" || fromFile) {
		return "", nil
	}
	return c.runName(c.line.arg(0))
}

// arg is the n-th positional, or empty.
func (l line) arg(n int) string {
	if n < len(l.args) {
		return l.args[n]
	}
	return ""
}

type statusOutput struct{ *wap.StatusResult }

func (o statusOutput) text(w io.Writer, s style) error {
	if o.StatusResult == nil {
		return nil
	}
	if len(o.Runs) == 0 {
		_, err := fmt.Fprintf(w, "no unfinished run at sequence %d\n", o.Sequence)
		return err
	}
	for i, r := range o.Runs {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := (runOutput{&r}).text(w, s); err != nil {
			return err
		}
	}
	return nil
}

func resolveCommand() *command {
	return &command{
		name:      "resolve",
		argsUsage: "RUN",
		about:     "tell what became of a run after a crash or an exit 5",
		detail:    "Exits 0 when the run is final and 5 when it is not. It only tells: running the same command again settles it.",
		example:   `wap resolve orders/2025-03-05 --warehouse ./lake`,
		maxArgs:   1,
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName(c.line.arg(0))
			if err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Resolve(ctx, run)
			return runOutput{r}, err
		},
	}
}

func abortCommand() *command {
	return &command{
		name:      "abort",
		argsUsage: "RUN",
		about:     "give a run up for good",
		detail:    "A run that is published already stays published: exit 4. wap redo begins an aborted run anew.",
		example:   `wap abort orders/2025-03-07 --warehouse ./lake --reason 'the source was empty'`,
		maxArgs:   1,
		flags:     []cli.Flag{reasonFlag()},
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName(c.line.arg(0))
			if err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Abort(ctx, run, c.cli.String("reason"))
			return runOutput{r}, err
		},
	}
}

// reasonFlag is of a kind with the --reason of waivers, so that one name has
// one form on every command line.
func reasonFlag() cli.Flag {
	return &cli.StringFlag{Name: "reason", Usage: "why, as `TEXT`, kept with the run"}
}

func redoCommand() *command {
	return &command{
		name:      "redo",
		argsUsage: "RUN",
		about:     "begin a run anew, as its next generation",
		detail: "For a run that is rejected, aborted, collected, published or undone; a retry needs no redo. " +
			"It opens the generation; run the task's command again afterwards. With --generation it can be repeated safely by a scheduler.",
		example: `wap redo orders/2025-03-07 --warehouse ./lake --reason 'the source was repaired'`,
		maxArgs: 1,
		flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "task", Usage: "a `TASK` to run again; the others' output is inherited (default: all)"},
			&cli.BoolFlag{Name: "keep-pin", Usage: "keep base and pinned inputs; from a rejected run only"},
			&cli.Int64Flag{Name: "generation", Usage: "the generation to open, as `N` (default: the next)"},
			reasonFlag(),
		},
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName(c.line.arg(0))
			if err != nil {
				return nil, err
			}
			req := wap.RedoRequest{
				Run:        run,
				Tasks:      c.cli.StringSlice("task"),
				KeepPin:    c.cli.Bool("keep-pin"),
				Generation: c.cli.Int64("generation"),
				Reason:     c.cli.String("reason"),
			}
			switch {
			case strings.TrimSpace(req.Reason) == "":
				return nil, withHint(usage("wap redo: --reason is missing"), "--reason TEXT says why, for the history")
			case c.cli.IsSet("generation") && req.Generation < 1:
				return nil, usage("--generation %d is not above zero", req.Generation)
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Redo(ctx, req)
			return runOutput{r}, err
		},
	}
}

// runOutput is where one run stands.
type runOutput struct{ *wap.RunStatus }

func (o runOutput) text(w io.Writer, _ style) error {
	if o.RunStatus == nil || o.Run == "" {
		return nil
	}
	t := newTable(w)
	t.row("run", o.Run)
	state := fmt.Sprintf("%s, generation %d", o.State, o.Generation)
	if o.Sequence > 0 {
		state += fmt.Sprintf(", sequence %d", o.Sequence)
	}
	t.row("state", state)
	t.row("scope", strings.Join(o.Scope, " "))
	for _, task := range o.Tasks {
		t.row("task", taskText(task))
	}
	if o.Next != "" {
		t.row("next", o.Next)
	}
	return t.flush()
}

func taskText(t wap.TaskStatus) string {
	switch {
	case t.Inherited:
		return fmt.Sprintf("%s  inherited, %s", t.Task, count(t.Rows, "row"))
	case t.Sealed:
		return fmt.Sprintf("%s  sealed by attempt %s, %s", t.Task, t.SealedBy, count(t.Rows, "row"))
	}
	return fmt.Sprintf("%s  not sealed, %s started", t.Task, count(t.Attempts, "attempt"))
}
