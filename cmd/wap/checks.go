package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

func checksCommand() *command {
	return &command{
		name:      "checks",
		argsUsage: "list|explain|test [FILE]",
		about:     "the assertions there are, a checks file in its long form, or a test of its rules",
		detail: "`list` shows each assertion with the keys of its long form; those in capitals have to be given. " +
			"`explain FILE` fills in every default. What it prints is a checks file again, and means the same; " +
			"only the types of columns move to its end. FILE can be builtin. " +
			"`test FILE` makes up small data that violates each rule, and wants the rule to fail on it: a rule that nothing " +
			"fails, such as one whose `where` never holds, guards nothing and is exit 3. Rules for which no data can be made up " +
			"are named as untested. With --data, columns have the types that they have there, else those that the file declares " +
			"or that its literals suggest. The data itself is not judged.",
		example: `wap checks explain builtin`,
		minArgs: 1,
		maxArgs: 2,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "test: a `PATH`, as wap check takes it, to take types and a few values from"},
		},
		run: func(ctx context.Context, c *call) (result, error) {
			switch verb := c.line.arg(0); {
			case verb != "test" && c.cli.IsSet("data"):
				return nil, usage("wap checks %s takes no --data", verb)
			case verb == "list" && c.line.arg(1) == "":
				return checksListOutput{audit.Assertions()}, nil
			case verb == "list":
				return nil, usage("wap checks list: unexpected argument %q", c.line.arg(1))
			case (verb == "explain" || verb == "test") && c.line.arg(1) == "":
				return nil, usage("wap checks %s: FILE is missing", verb)
			case verb == "explain":
				return explainChecks(c)
			case verb == "test":
				return testChecks(ctx, c)
			default:
				return nil, withHint(usage("wap checks %s: unknown", verb), "wap checks list, or wap checks explain FILE, or wap checks test FILE")
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

// checksFile reads the FILE of the call.
func (c *call) checksFile() (*audit.Config, error) {
	run, err := c.settings.value("run")
	if err != nil {
		return nil, err
	}
	vars, err := c.ruleVars(run)
	if err != nil {
		return nil, err
	}
	return readChecks(c.line.arg(1), vars)
}

func explainChecks(c *call) (result, error) {
	config, err := c.checksFile()
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

func testChecks(ctx context.Context, c *call) (result, error) {
	req := wap.RehearseRequest{Data: c.cli.String("data")}
	var err error
	if req.Checks, err = c.checksFile(); err != nil {
		return nil, err
	}
	cfg, err := c.baseConfig()
	if err != nil {
		return nil, err
	}
	url, err := c.settings.value("warehouse")
	if err == nil && url != "" && req.Data != "" {
		err = c.attach(ctx, &cfg, url)
	}
	if err != nil {
		return nil, err
	}
	r, err := wap.Rehearse(ctx, cfg, req)
	return checksTestOutput{r}, err
}

type checksTestOutput struct{ *wap.RehearseResult }

// text names what guards nothing first.
func (o checksTestOutput) text(w io.Writer, s style) error {
	if o.RehearseResult == nil {
		return nil
	}
	var b strings.Builder
	count := map[audit.RehearsalOutcome]int{}
	for _, outcome := range []audit.RehearsalOutcome{audit.RuleError, audit.RuleVacuous, audit.RuleUntested, audit.RuleFails} {
		kind := map[audit.RehearsalOutcome]string{audit.RuleFails: "good", audit.RuleUntested: "doubtful"}[outcome]
		if kind == "" {
			kind = "bad"
		}
		for _, r := range o.Rules {
			if r.Outcome != outcome {
				continue
			}
			count[outcome]++
			fmt.Fprintf(&b, "%s %s", s.paint(kind, fmt.Sprintf("%-8s", outcome)), r.ID)
			if outcome == audit.RuleFails {
				rows := "rows"
				if r.Rows == 1 {
					rows = "row"
				}
				fmt.Fprintf(&b, "  on %d made-up %s\n", r.Rows, rows)
				continue
			}
			fmt.Fprintf(&b, "\n%s\n", wrapped(r.Reason, "         "))
		}
	}
	fmt.Fprintf(&b, "%d of %d rules fail as they should, %d cannot, %d cannot be evaluated, %d untested\n", count[audit.RuleFails],
		len(o.Rules), count[audit.RuleVacuous], count[audit.RuleError], count[audit.RuleUntested])
	_, err := io.WriteString(w, b.String())
	return err
}
