package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/wap-cli/wap/audit"
)

func checksCommand() *command {
	return &command{
		name:      "checks",
		argsUsage: "list|explain [FILE]",
		about:     "the assertions there are, or a checks file in its long form",
		detail: "`list` shows each assertion with the keys of its long form; those in capitals have to be given. " +
			"`explain FILE` fills in every default. What it prints is a checks file again, and means the same; " +
			"only the types of columns move to its end. FILE can be builtin.",
		example: `wap checks explain builtin`,
		minArgs: 1,
		maxArgs: 2,
		run: func(_ context.Context, c *call) (result, error) {
			switch verb := c.line.arg(0); {
			case verb == "list" && c.line.arg(1) == "":
				return checksListOutput{audit.Assertions()}, nil
			case verb == "list":
				return nil, usage("wap checks list: unexpected argument %q", c.line.arg(1))
			case verb == "explain" && c.line.arg(1) == "":
				return nil, usage("wap checks explain: FILE is missing")
			case verb == "explain":
				return explainChecks(c)
			default:
				return nil, withHint(usage("wap checks %s: unknown", verb), "wap checks list, or wap checks explain FILE")
			}
		},
	}
}

type checksListOutput struct {
	Assertions []audit.Assertion `json:"assertions"`
}

func (o checksListOutput) text(w io.Writer, s style) error {
	var b strings.Builder
	for _, a := range o.Assertions {
		head := a.Name
		if len(a.Aliases) > 0 {
			head += " (" + strings.Join(a.Aliases, ", ") + ")"
		}
		if a.Builtin {
			head += ", built-in"
		}
		keys := strings.Join(a.Keys, " ") + " "
		for _, key := range a.Required {
			keys = strings.Replace(" "+keys, " "+key+" ", " "+strings.ToUpper(key)+" ", 1)
		}
		fmt.Fprintf(&b, "%s\n", s.paint("good", head))
		b.WriteString(wrapped(keys, "    ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func explainChecks(c *call) (result, error) {
	run, err := c.settings.value("run")
	if err != nil {
		return nil, err
	}
	vars, err := c.ruleVars(run)
	if err != nil {
		return nil, err
	}
	config, err := readChecks(c.line.arg(1), vars)
	if err != nil {
		return nil, err
	}
	return checksExplainOutput{Digest: config.Digest(), Checks: config}, nil
}

type checksExplainOutput struct {
	Digest string        `json:"digest"` // SHA-256 of the canonical form, in hex
	Checks *audit.Config `json:"checks"`
}

func (o checksExplainOutput) text(w io.Writer, _ style) error {
	if o.Checks == nil {
		return nil
	}
	return o.Checks.WriteYAML(w)
}
