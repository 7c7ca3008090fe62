package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func runCommand() *command {
	return &command{
		name:      "run",
		argsUsage: "SCOPE…",
		about:     "the whole step: begin, pin, run CMD, stage and seal what it wrote, audit, publish",
		detail: "CMD writes Parquet files into the folder $WAP_OUT: at its top where SCOPE is one partition, else below warehouse paths. " +
			"Its output goes to stderr. It is not run again for a task that is sealed, nor for a run that is published. " +
			"--checks is needed unless --until is seal; it stands before --, flags after it are CMD's.",
		example:      `wap run orders/dt=2025-03-05 --warehouse ./lake --run orders/2025-03-05 --checks builtin -- sh -c 'cp orders.parquet "$WAP_OUT"'`,
		maxArgs:      -1,
		takesCommand: true,
		flags:        runFlags(),
		run:          runTask,
	}
}

func runFlags() []cli.Flag {
	flags := append(beginFlags(), outputFlags()...)
	flags = append(flags, &cli.StringFlag{Name: "until", Usage: "stop after `STEP`: seal or audit"})
	flags = append(flags, gateFlags()...)
	return append(flags, reportFlag(), statsFlag())
}

func runTask(ctx context.Context, c *call) (result, error) {
	var req wap.RunRequest
	var err error
	if req.Begin, err = c.beginRequest(); err != nil {
		return nil, err
	}
	req.Until = c.cli.String("until")
	switch req.Until {
	case "", "seal", "audit":
	default:
		return nil, withHint(usage("--until %q is none of seal, audit", req.Until), "--until seal or --until audit")
	}
	if req.Seal, err = c.sealOptions(req.Begin.Run); err != nil {
		return nil, err
	}
	if req.Rules = req.Seal.Rules; req.Until != "seal" {
		if req.Rules, err = c.requireRules(req.Begin.Run); err != nil {
			return nil, err
		}
	}
	if req.Waivers, err = c.waivers(); err != nil {
		return nil, err
	}
	req.AppendUnkeyed = c.cli.Bool("append-unkeyed")
	reports, err := c.reportFiles()
	if err != nil {
		return nil, err
	}
	w, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	req.Command, req.Env = c.line.after, c.environ
	req.Stdin, req.Output, req.View = c.stdin, c.stderr, createView
	r, err := w.RunTask(ctx, req)
	return c.published(r, reports, err)
}
