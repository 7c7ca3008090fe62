package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

func auditCommand() *command {
	return &command{
		name:  "audit",
		about: "freeze the run, judge its candidate, store the evidence",
		detail: "A failing assertion rejects the run. --waive lets one pass, on record, in the published snapshot. " +
			"The audit can be repeated with other rules on the same bytes.",
		example: `wap audit --warehouse ./lake --run orders/2025-03-06 --checks builtin`,
		flags:   append(append([]cli.Flag{checksFlag()}, gateFlags()...), reportFlag()),
		run: func(ctx context.Context, c *call) (result, error) {
			run, err := c.runName("")
			if err != nil {
				return nil, err
			}
			req := wap.AuditRequest{Run: run, AppendUnkeyed: c.cli.Bool("append-unkeyed")}
			if req.Rules, err = c.requireRules(run); err != nil {
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
			r, err := w.Audit(ctx, req)
			if r == nil {
				return auditOutput{}, err
			}
			r.Report, err = c.reported(r.Report, reports, err)
			return auditOutput{r}, err
		},
	}
}

// reported writes the report files and returns the report as it may be printed.
// A file that cannot be written fails a call that went well: the caller asked
// for it.
func (c *call) reported(r *audit.Report, files []reportFile, err error) (*audit.Report, error) {
	reportErr := writeReports(files, r)
	switch {
	case reportErr == nil:
	case err == nil:
		err = reportErr
	default:
		c.page.warning(reportErr.Error(), "")
	}
	if c.page.json && r != nil {
		r = r.WithoutValues()
	}
	return r, err
}

// reportText writes a report for people; sample values of the data go to a
// terminal only.
func reportText(w io.Writer, s style, r *audit.Report) error {
	if !s.terminal {
		r = r.WithoutValues()
	}
	return r.WriteText(w, audit.TextOptions{Width: s.width, Color: s.color, Values: s.terminal})
}

type auditOutput struct{ *wap.AuditResult }

func (o auditOutput) text(w io.Writer, s style) error {
	if o.AuditResult == nil || o.Report == nil || o.Report.Outcome == "" {
		return nil
	}
	if err := reportText(w, s, o.Report); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s  %s, generation %d\n", o.State, o.Run, o.Generation)
	return err
}
