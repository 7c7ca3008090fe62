package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap"
)

func logCommand() *command {
	return &command{
		name:      "log",
		argsUsage: "PATH",
		about:     "the history of the warehouse or of a path, newest first",
		detail:    "With --since it is a feed: remember the newest sequence seen, and ask for what came after.",
		example:   `wap log orders --warehouse ./lake --limit 5`,
		maxArgs:   1,
		flags: []cli.Flag{
			&cli.Int64Flag{Name: "since", Usage: "only entries above sequence `SEQ`"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N` entries"},
		},
		run: func(ctx context.Context, c *call) (result, error) {
			req := wap.LogRequest{Path: c.line.arg(0), Since: c.cli.Int64("since"), Limit: c.cli.Int("limit")}
			switch {
			case req.Since < 0:
				return nil, usage("--since %d is below zero", req.Since)
			case c.cli.IsSet("limit") && req.Limit < 1:
				return nil, usage("--limit %d is not above zero", req.Limit)
			}
			// Entry 0 is the empty warehouse: everything is above what was there before.
			if !c.cli.IsSet("since") {
				req.Since = -1
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Log(ctx, req)
			return logOutput{r}, err
		},
	}
}

type logOutput struct{ *wap.LogResult }

func (o logOutput) text(w io.Writer, s style) error {
	if o.LogResult == nil {
		return nil
	}
	t := newTable(w)
	for _, e := range o.Entries {
		entryText(t, s, e)
	}
	return t.flush()
}

func entryText(t *table, s style, e wap.LogEntry) {
	head := []string{fmt.Sprintf("@%d", e.Sequence), moment(e.Time), string(e.Operation), e.By}
	if e.Reason != "" {
		head = append(head, e.Reason)
	}
	t.row(head...)
	for _, r := range e.Runs {
		effect := string(r.Effect)
		if r.Effect == manifest.EffectRevoked {
			effect = s.paint("doubtful", effect)
		}
		t.row("", "", effect, fmt.Sprintf("%s, generation %d: %s, %s", r.Run, r.Generation, count(r.Rows, "row"), size(r.Bytes)))
		for _, p := range r.Partitions {
			t.row("", "", string(p.Mode), fmt.Sprintf("%s  %s, %s", p.Path, count(p.Files, "file"), count(p.Rows, "row")))
		}
		for _, v := range r.Waivers {
			t.row("", "", s.paint("doubtful", "waived"), fmt.Sprintf("%s by %s: %s", v.Assertion, v.By, v.Reason))
		}
	}
}
