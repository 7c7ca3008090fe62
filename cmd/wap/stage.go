package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func stageCommand() *command {
	return &command{
		name:      "stage",
		argsUsage: "PARTITION|DIR FILE…",
		about:     "upload local Parquet files as a task's output and seal it",
		detail: "With files, they become the partition's. A folder alone holds partition folders, as in DIR/orders/dt=2025-03-05/*.parquet, " +
			"or the files at its top where the run's scope is one partition.",
		example: `wap stage orders/dt=2025-03-06 orders.parquet --warehouse ./lake --run orders/2025-03-06`,
		minArgs: 1,
		maxArgs: -1,
		flags:   sealFlags(),
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName("")
			if err != nil {
				return nil, err
			}
			req := wap.StageRequest{Run: run, Task: c.cli.String("task"), Attempt: c.cli.String("attempt")}
			if len(c.line.args) == 1 {
				req.Dir = c.line.args[0]
			} else {
				req.Partition, req.Files = c.line.args[0], c.line.args[1:]
			}
			if err := localPaths(append(req.Files, req.Dir)); err != nil {
				return nil, err
			}
			if req.Seal, err = c.sealOptions(run); err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Stage(ctx, req)
			return c.sealed(r, err)
		},
	}
}

func sealCommand() *command {
	return &command{
		name:  "seal",
		about: "seal what an engine wrote under the staging URL",
		detail: "The attempt is the one that wap begin started. _SUCCESS, _committed_*, _started_*, *.crc and folder markers are ignored; " +
			"_temporary and __magic* left behind are errors: the engine has not finished.",
		example: `(
  eval "$(wap begin orders/dt=2025-03-07 --warehouse ./lake --run orders/2025-03-07 --format env)"
  out="${WAP_STAGING_URL#file://}/dt=2025-03-07"
  mkdir -p "$out" && cp orders.parquet "$out"
  wap seal --warehouse ./lake --attempt "$WAP_ATTEMPT"
)`,
		flags: sealFlags(),
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName("")
			if err != nil {
				return nil, err
			}
			req := wap.SealRequest{Run: run, Task: c.cli.String("task"), Attempt: c.cli.String("attempt")}
			if req.Attempt == "" {
				return nil, withHint(usage("wap seal: --attempt is missing"), "--attempt ID, as wap begin printed it")
			}
			if req.Seal, err = c.sealOptions(run); err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Seal(ctx, req)
			return c.sealed(r, err)
		},
	}
}

// localPaths refuses paths that are not there, which no retry would bring.
func localPaths(paths []string) error {
	for _, p := range paths {
		if _, err := os.Stat(p); p != "" && errors.Is(err, fs.ErrNotExist) {
			return &wap.Error{Kind: wap.KindNotFound, Message: fmt.Sprintf("there is no file or folder %q here", p)}
		}
	}
	return nil
}

// sealFlags are the flags of stage and seal.
func sealFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "task", Usage: "the `TASK` whose output this is (default main)"},
		&cli.StringFlag{Name: "attempt", Usage: "`ID`: the attempt that wap begin started"},
	}, outputFlags()...)
}

// outputFlags are the flags of every command that seals.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		checksFlag(),
		&cli.StringSliceFlag{Name: "replacing", Usage: "in mode replace, the base name of a `FILE` that the new ones stand in for"},
		&cli.BoolFlag{Name: "allow-empty", Usage: "an output without files is fine"},
		&cli.BoolFlag{Name: "inputs-may-change", Usage: "record an input that changed since it was pinned, and go on"},
	}
}

func (c *call) sealOptions(run string) (wap.SealOptions, error) {
	rules, err := c.rules(run)
	return wap.SealOptions{
		Replacing:       c.cli.StringSlice("replacing"),
		AllowEmpty:      c.cli.Bool("allow-empty"),
		InputsMayChange: c.cli.Bool("inputs-may-change"),
		Rules:           rules,
	}, err
}

// sealed prints what was sealed. Of a failed call people get the error alone:
// an earlier seal of the task would look like this call's.
func (c *call) sealed(r *wap.SealResult, err error) (result, error) {
	if err != nil && !c.page.json {
		return nil, err
	}
	return sealOutput{r}, err
}

type sealOutput struct{ *wap.SealResult }

func (o sealOutput) text(w io.Writer, _ style) error {
	if o.SealResult == nil || o.SealedBy == "" {
		return nil
	}
	by := ""
	if o.SealedBy != o.Attempt {
		by = ", by attempt " + o.SealedBy
	}
	_, err := fmt.Fprintf(w, "sealed  task %s of %s: %s, %s, %s%s\n",
		o.Task, o.Run, count(o.Files, "file"), count(o.Rows, "row"), size(o.Bytes), by)
	return err
}
