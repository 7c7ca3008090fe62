package main

import (
	"context"
	"fmt"
	"io"

	"github.com/wap-cli/wap/wap"
)

func showCommand() *command {
	return &command{
		name:      "show",
		argsUsage: "@REF|RUN",
		about:     "one entry of the history, or a run's timeline of attempts with its evidence",
		detail:    "Without an argument it shows the run that --run, WAP_RUN or wap.yaml names.",
		example:   `wap show orders/2025-03-05 --warehouse ./lake`,
		maxArgs:   1,
		run: func(ctx context.Context, c *call) (result, error) {
			what := c.line.arg(0)
			if what == "" {
				var err error
				if what, err = c.runName(""); err != nil {
					return nil, err
				}
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Show(ctx, what)
			if r != nil && r.Report != nil && c.page.json {
				r.Report = r.Report.WithoutValues()
			}
			return showOutput{r}, err
		},
	}
}

type showOutput struct{ *wap.ShowResult }

func (o showOutput) text(w io.Writer, s style) error {
	if o.ShowResult == nil {
		return nil
	}
	if o.Entry != nil {
		t := newTable(w)
		entryText(t, s, *o.Entry)
		if err := t.flush(); err != nil {
			return err
		}
	}
	if o.Run != nil {
		if err := (runOutput{o.Run}).text(w, s); err != nil {
			return err
		}
	}
	if len(o.Timeline) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		t := newTable(w)
		for _, e := range o.Timeline {
			t.row(moment(e.Time), fmt.Sprintf("g%d", e.Generation), e.Event, e.Task, e.Attempt, e.Detail)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	if o.Report != nil {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return reportText(w, s, o.Report)
	}
	return nil
}
