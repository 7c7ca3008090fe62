package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

func doctorCommand() *command {
	return &command{
		name:  "doctor",
		about: "find out what a store really does, and what protects it",
		detail: "Tries conditional writes, races and reads in objects of its own below _wap/probe/, which it removes. " +
			"A store that ignores a condition is refused: exit 9. There need not be a warehouse.",
		example: `wap doctor --warehouse ./lake`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "policy", Usage: "only print the bucket policy that forces conditional writes of pointer and run records"},
		},
		run: func(ctx context.Context, c *call) (result, error) {
			cfg, err := c.config(ctx)
			if err != nil {
				return nil, err
			}
			if c.cli.Bool("policy") {
				p := wap.NewBucketPolicy(cfg.Location)
				if p == nil {
					return nil, usage("%s is a local folder: bucket policies are of object stores", cfg.Location)
				}
				return policyOutput{p}, nil
			}
			r, err := wap.Doctor(ctx, cfg)
			return doctorOutput{r}, err
		},
	}
}

type policyOutput struct {
	Policy *wap.BucketPolicy `json:"policy"`
}

func (o policyOutput) text(w io.Writer, _ style) error {
	body, err := json.MarshalIndent(o.Policy, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", body)
	return err
}

type doctorOutput struct{ *wap.DoctorResult }

func (o doctorOutput) text(w io.Writer, s style) error {
	if o.DoctorResult == nil || len(o.Checks) == 0 {
		return nil
	}
	var b strings.Builder
	paints := map[wap.CheckOutcome]string{wap.CheckOK: "good", wap.CheckWarning: "doubtful", wap.CheckBroken: "bad"}
	for _, c := range o.Checks {
		word := s.paint(paints[c.Outcome], string(c.Outcome))
		fmt.Fprintf(&b, "%s%s  %-16s  %s\n", word, strings.Repeat(" ", 7-len(c.Outcome)), c.Name, c.Observed)
	}
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name, value)
		}
	}
	b.WriteByte('\n')
	line("store", o.URL)
	line("endpoint", o.Facts.Endpoint)
	line("region", o.Facts.Region)
	line("credentials", o.Facts.Credentials)
	if o.Speed.ReadMicros > 0 {
		micros := func(n int64) time.Duration {
			return (time.Duration(n) * time.Microsecond).Round(100 * time.Microsecond)
		}
		line("latency", fmt.Sprintf("%s a small read, %s a small write", micros(o.Speed.ReadMicros), micros(o.Speed.WriteMicros)))
		line("throughput", fmt.Sprintf("%s/s up, %s/s down", size(o.Speed.UploadRate), size(o.Speed.DownloadRate)))
	}
	if o.Accepted {
		line("verdict", s.paint("good", "accepted"))
	} else {
		line("verdict", s.paint("bad", "refused"))
	}
	if o.Policy != nil && o.Accepted {
		b.WriteString("\n`wap doctor --policy` prints the bucket policy that holds every writer to conditions\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
