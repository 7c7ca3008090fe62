package main

import (
	"context"
	"fmt"
	"io"

	"github.com/wap-cli/wap/wap"
)

func initCommand() *command {
	return &command{
		name:    "init",
		about:   "create the warehouse after probing the store",
		detail:  "Safe to repeat: an interrupted init is completed, and an existing warehouse stays as it is.",
		example: `wap init --warehouse ./lake`,
		run: func(ctx context.Context, c *call) (result, error) {
			cfg, err := c.config(ctx)
			if err != nil {
				return nil, err
			}
			r, err := wap.Init(ctx, cfg)
			return initOutput{r}, err
		},
	}
}

type initOutput struct{ *wap.InitResult }

func (o initOutput) text(w io.Writer, _ style) error {
	if o.InitResult == nil {
		return nil
	}
	what := "already there"
	if o.Created {
		what = "created"
	}
	_, err := fmt.Fprintf(w, "%s  warehouse %s at %s, sequence %d\n", what, o.Warehouse, o.URL, o.Sequence)
	return err
}
