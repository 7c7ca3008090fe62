package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func inputsCommand() *command {
	return &command{
		name:   "inputs",
		about:  "the pinned listing of a run's inputs, or exactly those bytes",
		detail: "Every attempt of a task is given the same listing. One URL a line; --json has sizes, versions and checksums.",
		example: `wap begin totals/dt=2025-03-05 --warehouse ./lake --run totals/2025-03-05 --input orders/dt=2025-03-05
wap inputs --warehouse ./lake --run totals/2025-03-05 --fetch ./input`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "task", Usage: "the `TASK` whose listing is asked for (default main)"},
			&cli.StringFlag{Name: "fetch", Usage: "download the objects below `DIR`"},
		},
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName("")
			if err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			var r *wap.InputsResult
			if dir := c.cli.String("fetch"); c.cli.IsSet("fetch") {
				if dir == "" {
					return nil, usage("--fetch names no folder")
				}
				r, err = w.FetchInputs(ctx, run, c.cli.String("task"), dir)
				return inputsOutput{r, dir}, err
			}
			r, err = w.Inputs(ctx, run, c.cli.String("task"))
			return inputsOutput{InputsResult: r}, err
		},
	}
}

type inputsOutput struct {
	*wap.InputsResult
	dir string // with --fetch
}

func (o inputsOutput) text(w io.Writer, _ style) error {
	if o.InputsResult == nil || o.Run == "" {
		return nil
	}
	if o.dir != "" {
		_, err := fmt.Fprintf(w, "fetched  %s, %s, into %s\n", count(o.Fetched, "object"), size(o.Summary.Bytes), o.dir)
		return err
	}
	for _, in := range o.Inputs {
		for _, obj := range in.Objects {
			if _, err := fmt.Fprintln(w, obj.URL); err != nil {
				return err
			}
		}
	}
	return nil
}
