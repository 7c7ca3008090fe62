package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func publishCommand() *command {
	return &command{
		name:  "publish",
		about: "make an audited run visible, all its partitions at once",
		detail: "Audits first when no passing evidence stands for the candidate and the rules given; without --checks the evidence in the record decides. " +
			"Repeating it is safe: a run takes effect once.",
		example: `wap publish --warehouse ./lake --run orders/2025-03-06`,
		flags:   append(append([]cli.Flag{checksFlag()}, gateFlags()...), reportFlag(), statsFlag()),
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName("")
			if err != nil {
				return nil, err
			}
			req := wap.PublishRequest{Run: run, AppendUnkeyed: c.cli.Bool("append-unkeyed")}
			if req.Rules, err = c.rules(run); err != nil {
				return nil, err
			}
			if req.Waivers, err = c.waivers(); err != nil {
				return nil, err
			}
			reports, err := c.reportFiles()
			if err != nil {
				return nil, err
			}
			w, err := c.open(ctx)
			if err != nil {
				return nil, err
			}
			r, err := w.Publish(ctx, req)
			return c.published(r, reports, err)
		},
	}
}

func statsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "stats", Usage: "add the requests that were made of the store"}
}

// published writes the report files of a call that may have published. By then
// the run stands as it stands: a file that cannot be written is a warning.
func (c *call) published(r *wap.PublishResult, reports []reportFile, err error) (result, error) {
	out := publishOutput{PublishResult: r}
	if r != nil {
		if reportErr := writeReports(reports, r.Report); reportErr != nil {
			c.page.warning(reportErr.Error(), "")
		}
		if c.page.json && r.Report != nil {
			r.Report = r.Report.WithoutValues()
		}
	}
	if c.cli.Bool("stats") {
		out.Stats = c.meter.requests()
	}
	return out, err
}

type publishOutput struct {
	*wap.PublishResult
	Stats []requestCount `json:"stats,omitempty"`
}

func (o publishOutput) text(w io.Writer, s style) error {
	if o.PublishResult == nil || o.Run == "" {
		return nil
	}
	if o.Report != nil {
		if err := reportText(w, s, o.Report); err != nil {
			return err
		}
	}
	t := newTable(w)
	switch o.Status {
	case wap.StatusPublished, wap.StatusAlreadyPublished:
		t.row(s.paint("good", string(o.Status)), fmt.Sprintf("%s, generation %d, sequence %d", o.Run, o.Generation, o.Sequence))
	case wap.StatusSealed:
		t.row(string(o.Status), fmt.Sprintf("%s, generation %d: task %s, %d of %d", o.Run, o.Generation, o.Task, o.TasksDone, o.TasksAll))
	case wap.StatusAudited:
		t.row(string(o.Status), fmt.Sprintf("%s, generation %d: wap publish makes it visible", o.Run, o.Generation))
	}
	for _, p := range o.Partitions {
		t.row(string(p.Mode), fmt.Sprintf("%s  %s, %s, %s", p.Path, count(p.Files, "file"), count(p.Rows, "row"), size(p.Bytes)))
	}
	for _, n := range o.Stats {
		t.row("requests", fmt.Sprintf("%s %d", n.Operation, n.Requests))
	}
	return t.flush()
}
