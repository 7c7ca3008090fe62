package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap"
)

func beginCommand() *command {
	return &command{
		name:      "begin",
		argsUsage: "SCOPE…",
		about:     "open or join a run, pin its inputs, start an attempt",
		detail: "SCOPE is what the run may write: partitions such as orders/dt=2025-03-05, or quoted patterns such as 'orders/dt=2025-03-05/*'. " +
			"A run that exists is joined: what is given has to equal what it was begun with, and SCOPE may be left out. " +
			"With a task (main, unless --tasks is given) an attempt is started; its id and staging URL are printed.",
		example: `wap begin orders/dt=2025-03-06 --warehouse ./lake --run orders/2025-03-06`,
		maxArgs: -1,
		flags: append(beginFlags(),
			&cli.StringFlag{Name: "format", Usage: "`FORMAT`: text (default), json, or env, which a shell can eval"},
		),
		run: begin,
	}
}

// beginFlags are the flags of commands that open a run.
func beginFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "input", Usage: "`URL|PARTITION[@REF]`: pin what stands there; NAME=… before it gives a name for WAP_INPUTS_SQL"},
		&cli.StringSliceFlag{Name: "ready", Usage: "refuse inputs that do not meet `CONDITION`: _SUCCESS or min:N"},
		&cli.BoolFlag{Name: "allow-empty-input", Usage: "an input without objects is fine"},
		&cli.StringFlag{Name: "task", Usage: "the `TASK` to start an attempt of (default main)"},
		&cli.StringFlag{Name: "tasks", Usage: "`N|LIST`: all tasks of the run; 16 means 0 to 15, a,b these two"},
		&cli.StringFlag{Name: "mode", Usage: "`MODE`: overwrite (default), append or replace"},
		&cli.StringFlag{Name: "replace", Usage: "`WHAT`: scope empties partitions of the scope that get no files"},
	}
}

func begin(ctx context.Context, c *call) (result, error) {
	format := c.cli.String("format")
	switch format {
	case "", "text", "env":
		if format != "" && c.page.json {
			return nil, usage("--json and --format %s are two formats", format)
		}
	case "json":
		c.page.json = true
	default:
		return nil, withHint(usage("--format %q is none of text, json, env", format), "--format text")
	}
	req, err := c.beginRequest()
	if err != nil {
		return nil, err
	}
	w, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	r, err := w.Begin(ctx, req)
	out := beginOutput{BeginResult: r}
	if format == "env" && err == nil {
		out.env = w.Environment(r)
	}
	return out, err
}

// beginRequest is what the flags, the environment and wap.yaml say of a run.
func (c *call) beginRequest() (req wap.BeginRequest, err error) {
	if req.Run, err = c.writingRun(); err != nil {
		return req, err
	}
	if req.Mode, err = c.settings.mode(); err != nil {
		return req, err
	}
	if req.Tasks, err = c.settings.tasks(); err != nil {
		return req, err
	}
	if req.Inputs, err = c.settings.inputs(); err != nil {
		return req, err
	}
	switch what := c.cli.String("replace"); {
	case what == "scope":
		req.ReplaceScope = true
	case c.cli.IsSet("replace"):
		return req, withHint(usage("--replace %q: scope is all there is", what), "--mode replace replaces single files")
	}
	req.Scope = c.line.args
	if expandedPattern(req.Scope) {
		c.page.warning(fmt.Sprintf("the scope %s names files in this folder", strings.Join(req.Scope, " ")),
			"quote a pattern, as in 'sales/*', to keep the shell from expanding it")
	}
	req.Task = c.cli.String("task")
	req.Ready = c.cli.StringSlice("ready")
	req.AllowEmptyInput = c.cli.Bool("allow-empty-input")
	return req, nil
}

// expandedPattern tells whether the shell seems to have replaced a pattern by
// file names before wap saw it: a scope that is a file here, or several that
// all lie here.
func expandedPattern(scope []string) bool {
	here := 0
	for _, path := range scope {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		here++
		if info.Mode().IsRegular() {
			return true
		}
	}
	return here > 1 && here == len(scope)
}

type beginOutput struct {
	*wap.BeginResult
	env []string // with --format env
}

func (o beginOutput) text(w io.Writer, _ style) error {
	if o.BeginResult == nil || o.Run == "" {
		return nil
	}
	if o.env != nil {
		for _, entry := range o.env {
			name, value, _ := strings.Cut(entry, "=")
			if _, err := fmt.Fprintf(w, "export %s=%s\n", name, shellQuote(value)); err != nil {
				return err
			}
		}
		return nil
	}
	t := newTable(w)
	t.row("run", fmt.Sprintf("%s, generation %d, %s", o.Run, o.Generation, o.State))
	t.row("scope", strings.Join(o.Scope, " "))
	t.row("base", fmt.Sprintf("sequence %d", o.Base.Sequence))
	if o.Inputs.SHA256 != "" {
		t.row("inputs", fmt.Sprintf("%d objects, %s", o.Inputs.Objects, size(o.Inputs.Bytes)))
	}
	switch {
	case o.State == manifest.StatePublished:
		t.row("published", fmt.Sprintf("sequence %d", o.Sequence))
	case o.SealedBy != "":
		t.row("task", fmt.Sprintf("%s, sealed by attempt %s", o.Task, o.SealedBy))
	case o.Attempt != "":
		t.row("task", o.Task)
		t.row("attempt", o.Attempt)
		for _, s := range o.Staging {
			t.row("staging", s.URL)
		}
	}
	return t.flush()
}

// shellQuote writes a word so that a POSIX shell reads it back as it is.
func shellQuote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@,+%", r))
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
