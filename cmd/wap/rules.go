package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

// builtinChecks is the --checks that asks for the built-in assertions alone.
const builtinChecks = "builtin"

func checksFlag() cli.Flag {
	return &cli.StringFlag{Name: "checks", Usage: "the checks `FILE`, or builtin for the built-in assertions alone"}
}

// rules reads the checks files of the call: --checks for every table, else
// those of wap.yaml. Nil when none is named.
func (c *call) rules(run string) (*audit.Rules, error) {
	vars, err := c.ruleVars(run)
	if err != nil {
		return nil, err
	}
	var rules audit.Rules
	name, err := c.settings.value("checks")
	if err != nil {
		return nil, err
	}
	if name != "" {
		if rules.Default, err = readChecks(name, vars); err != nil {
			return nil, err
		}
	}
	rules.TrustFooter = c.cli.Bool("trust-footer")
	if c.cli.IsSet("checks") || c.settings.file == nil {
		return someRules(rules)
	}
	file := c.settings.file
	for _, t := range file.tables {
		name, err := file.expand(t.checks, c.getenv)
		if err != nil {
			return nil, usage("%s", err)
		}
		config, err := readChecks(file.resolve("checks", name), vars)
		if err != nil {
			return nil, err
		}
		rules.Tables = append(rules.Tables, audit.TableRules{Glob: t.glob, Config: config})
	}
	return someRules(rules)
}

func someRules(r audit.Rules) (*audit.Rules, error) {
	switch {
	case r.Default != nil || len(r.Tables) > 0:
		return &r, nil
	case r.TrustFooter:
		return nil, withHint(usage("--trust-footer without checks"), "name with --checks FILE what is to be judged by footers")
	}
	return nil, nil
}

func trustFlag() cli.Flag {
	return &cli.BoolFlag{Name: "trust-footer", Usage: "believe a footer that says a column has no NULL, instead of reading the column for that"}
}

// requireRules is rules for commands that judge: a gate without rules is a
// mistake, never a pass.
func (c *call) requireRules(run string) (*audit.Rules, error) {
	rules, err := c.rules(run)
	if err == nil && rules == nil {
		return nil, withHint(usage("no checks given"), "give --checks FILE, or --checks builtin for the built-in assertions alone")
	}
	return rules, err
}

func (c *call) ruleVars(run string) (audit.Vars, error) {
	vars := audit.Vars{Env: c.getenv, Run: run}
	file := c.settings.file
	if file == nil {
		return vars, nil
	}
	for _, p := range file.plugins {
		plugin := audit.Plugin{Name: p.name}
		for i, word := range p.command {
			text, err := file.expand(word, c.getenv)
			if err != nil {
				return vars, usage("%s", err)
			}
			// A program that is named by a path belongs to the file that names it.
			if i == 0 && strings.Contains(text, "/") && !filepath.IsAbs(text) {
				text = filepath.Join(file.dir, text)
			}
			plugin.Command = append(plugin.Command, text)
		}
		vars.Plugins = append(vars.Plugins, plugin)
	}
	return vars, nil
}

func readChecks(name string, vars audit.Vars) (*audit.Config, error) {
	if name == builtinChecks {
		return audit.Builtin(), nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, withHint(usage("read checks file: %s", err), "--checks builtin runs the built-in assertions alone")
	}
	config, err := audit.Parse(shortPath(name), data, vars)
	if err != nil {
		return nil, configProblems(err)
	}
	return config, nil
}

// gateFlags are the flags of every command that judges a run.
func gateFlags() []cli.Flag {
	return []cli.Flag{
		trustFlag(),
		&cli.BoolFlag{Name: "append-unkeyed", Usage: "mode append without a unique or primary_key assertion"},
		&cli.StringSliceFlag{Name: "waive", Usage: "let the failing assertion `ID` pass, on record; needs --reason"},
		&cli.StringSliceFlag{Name: "reason", Usage: "why, as `TEXT`: one for all --waive, or one for each in order"},
	}
}

// waivers pairs each --waive with its --reason.
func (c *call) waivers() ([]wap.Waive, error) {
	ids, reasons := c.cli.StringSlice("waive"), c.cli.StringSlice("reason")
	if len(ids) == 0 && len(reasons) > 0 {
		return nil, usage("--reason without --waive")
	}
	if len(reasons) != len(ids) && len(reasons) != 1 {
		return nil, withHint(usage("%d --waive and %d --reason", len(ids), len(reasons)), "--waive ID --reason TEXT: one reason for all, or one for each")
	}
	var list []wap.Waive
	for i, id := range ids {
		reason := reasons[0]
		if len(reasons) > 1 {
			reason = reasons[i]
		}
		if strings.TrimSpace(reason) == "" {
			return nil, usage("--waive %s: the reason is empty", id)
		}
		list = append(list, wap.Waive{Assertion: id, Reason: reason})
	}
	return list, nil
}

func reportFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "report", Usage: "write the report to a file, as `FORMAT=FILE`: json, junit or markdown"}
}

// reportFile is one --report.
type reportFile struct{ format, path string }

// reportFiles checks every --report before anything is run.
func (c *call) reportFiles() ([]reportFile, error) {
	var list []reportFile
	for _, text := range c.cli.StringSlice("report") {
		format, file, ok := strings.Cut(text, "=")
		if !ok || file == "" {
			return nil, withHint(usage("--report %q is not FORMAT=FILE", text), "--report junit=report.xml")
		}
		switch format {
		case "json", "junit", "markdown":
		default:
			e := usage("--report %q: unknown format %q", text, format)
			if near, ok := audit.Nearest(format, []string{"json", "junit", "markdown"}); ok {
				return nil, withHint(e, "did you mean %q?", near)
			}
			return nil, withHint(e, "json, junit or markdown")
		}
		list = append(list, reportFile{format, file})
	}
	return list, nil
}

// writeReports writes the report files. Values of the data stay out of them,
// unless the checks file says store_samples.
func writeReports(files []reportFile, r *audit.Report) error {
	if r == nil {
		return nil
	}
	var wrong []error
	for _, f := range files {
		if err := writeReport(f, r.WithoutValues()); err != nil {
			wrong = append(wrong, &wap.Error{Kind: wap.KindOutside, Message: "write report " + f.path, Err: err})
		}
	}
	return errors.Join(wrong...)
}

func writeReport(f reportFile, r *audit.Report) (err error) {
	out, err := os.Create(f.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	switch f.format {
	case "junit":
		return audit.WriteJUnit(out, r)
	case "markdown":
		return audit.WriteMarkdown(out, r)
	default:
		return writeJSONReport(out, r)
	}
}

func writeJSONReport(w io.Writer, r *audit.Report) error {
	body, err := envelope(reportOutput{r}, nil)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// mistakes are several errors in one file, each printed for itself.
type mistakes []error

func (m mistakes) Error() string   { return errors.Join(m...).Error() }
func (m mistakes) Unwrap() []error { return m }

// configProblems turns the mistakes of a checks file, which come joined, into
// usage errors.
func configProblems(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return configProblem(err)
	}
	var list mistakes
	for _, e := range joined.Unwrap() {
		list = append(list, configProblem(e))
	}
	return list
}

func configProblem(err error) error {
	var mistake *audit.ConfigError
	if errors.As(err, &mistake) {
		return &wap.Error{Kind: wap.KindUsage, Message: mistake.Error(), Hint: mistake.Hint}
	}
	return usage("%s", err)
}
