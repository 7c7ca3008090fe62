package main

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

func checkCommand() *command {
	return &command{
		name:      "check",
		argsUsage: "FILE|DIR|URL|PARTITION[@REF]…",
		about:     "judge any Parquet files, without a run: the gate for CI",
		detail: "An existing local path or a URL wins over a partition of the warehouse. Of a folder, each key folder is a partition. " +
			"A warehouse is only needed for partitions. Where assertions compare with published states, --baseline names files, " +
			"a folder or a partition to stand in for them: of several key folders the one with the same keys, or those before it.",
		example: `wap check orders.parquet --checks builtin`,
		minArgs: 1,
		maxArgs: -1,
		flags: []cli.Flag{
			checksFlag(),
			trustFlag(),
			reportFlag(),
			&cli.StringFlag{Name: "baseline", Usage: "the `TARGET` that change, groups and the like compare with (default: nothing)"},
			&cli.StringFlag{Name: "now", Usage: "the `TIME` that assertions take for now, as 2025-03-05T06:00:00Z (default: the clock)"},
		},
		run: check,
	}
}

func check(ctx context.Context, c *call) (result, error) {
	req := wap.CheckRequest{Targets: c.line.args, Baseline: c.cli.String("baseline")}
	var err error
	if req.Rules, err = c.requireRules(""); err != nil {
		return nil, err
	}
	if text := c.cli.String("now"); c.cli.IsSet("now") {
		if req.Now, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil, withHint(usage("--now %q is no time with an offset", text), "--now 2025-03-05T06:00:00Z")
		}
	}
	reports, err := c.reportFiles()
	if err != nil {
		return nil, err
	}
	cfg, err := c.baseConfig()
	if err != nil {
		return nil, err
	}
	url, err := c.settings.value("warehouse")
	if err != nil {
		return nil, err
	}
	if url != "" {
		if err = c.attach(ctx, &cfg, url); err != nil {
			return nil, err
		}
	}
	r, err := wap.Check(ctx, cfg, req)
	if r == nil {
		return reportOutput{}, err
	}
	report, err := c.reported(r.Report, reports, err)
	return reportOutput{report}, err
}

type reportOutput struct{ *audit.Report }

func (o reportOutput) text(w io.Writer, s style) error {
	if o.Report == nil || o.Report.Outcome == "" {
		return nil
	}
	return reportText(w, s, o.Report)
}
