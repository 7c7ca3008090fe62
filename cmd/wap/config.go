package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
)

func configCommand() *command {
	return &command{
		name:    "config",
		about:   "every value that is in force, and where it comes from",
		detail:  "A flag counts before the environment, the environment before wap.yaml, which is looked for in the working directory and its parents.",
		example: `wap config --warehouse ./lake`,
		run: func(_ context.Context, c *call) (result, error) {
			return c.settings.all(), nil
		},
	}
}

type configOutput struct {
	File     string    `json:"file"` // the wap.yaml in force, or empty
	Settings []setting `json:"settings"`
}

// all are the settings in the order of their table, then those that only
// wap.yaml has.
func (s *settings) all() configOutput {
	var out configOutput
	for _, src := range sources() {
		found := s.lookup(src.name)
		if found.Origin == "" {
			found.Value, found.Origin = src.fallback, "default"
		}
		if src.name == "color" && found.Origin == "default" {
			if value, ok := s.getenv("NO_COLOR"); ok && value != "" {
				found.Value, found.Origin = "never", "NO_COLOR"
			}
		}
		found.Value = withoutPassword(found.Value)
		out.Settings = append(out.Settings, found)
	}
	if s.file == nil {
		return out
	}
	out.File = s.file.name
	add := func(name string, texts ...fileText) {
		found := setting{Name: name, Origin: s.file.at(texts[0])}
		var words []string
		for _, t := range texts {
			value, err := s.file.expand(t, s.getenv)
			if err != nil {
				found.Problem = err.Error()
			}
			words = append(words, withoutPassword(value))
		}
		found.Value = strings.Join(words, " ")
		out.Settings = append(out.Settings, found)
	}
	for _, in := range s.file.inputs {
		add("inputs", in)
	}
	for _, t := range s.file.tables {
		add("tables."+t.glob+".checks", t.checks)
	}
	for _, p := range s.file.plugins {
		if len(p.command) > 0 {
			add("plugins."+p.name, p.command...)
		}
	}
	for _, e := range s.file.s3 {
		add("s3."+e.key, e.value)
	}
	return out
}

// withoutPassword hides what a URL carries before its host.
func withoutPassword(value string) string {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return u.Redacted()
	}
	return value
}

func (o configOutput) text(w io.Writer, s style) error {
	t := newTable(w)
	for _, v := range o.Settings {
		value := v.Value
		if value == "" {
			value = "-"
		}
		t.row(v.Name, value, v.Origin)
		if v.Problem != "" {
			t.row("", s.paint("doubtful", v.Problem))
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	if o.File == "" {
		_, err := fmt.Fprintf(w, "no %s here or above\n", configName)
		return err
	}
	return nil
}
