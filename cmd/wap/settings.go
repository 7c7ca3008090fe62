package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// settings are the values that may come from a flag, the environment or
// wap.yaml, in this order.
type settings struct {
	cli    *cli.Context
	getenv func(string) (string, bool)
	file   *configFile // nil: there is none
}

// setting is one value with where it came from.
type setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // a flag, a variable, a line of a file, or "default"
	// Problem says why the value cannot be used, e.g. a variable that is not set.
	Problem string `json:"problem,omitempty"`
}

// source is where a setting is looked for.
type source struct {
	name     string // of the flag
	env      []string
	key      string // of wap.yaml; empty: none
	fallback string
}

const defaultMemory = "512MiB"

func sources() []source {
	return []source{
		{name: "warehouse", env: []string{"WAP_WAREHOUSE"}, key: "warehouse"},
		{name: "run", env: []string{"WAP_RUN"}, key: "run"},
		{name: "checks", key: "checks"},
		{name: "mode", key: "mode", fallback: string(manifest.ModeOverwrite)},
		{name: "tasks", key: "tasks"},
		{name: "color", fallback: "auto"},
		{name: "endpoint-url", env: []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}},
		{name: "region", env: []string{"AWS_REGION", "AWS_DEFAULT_REGION"}},
		{name: "profile", env: []string{"AWS_PROFILE"}},
		{name: "commit-timeout", fallback: "5m"},
		{name: "memory", fallback: defaultMemory},
	}
}

func loadSettings(c *call) (*settings, error) {
	file, err := findConfigFile()
	if err != nil {
		return nil, err
	}
	return &settings{cli: c.cli, getenv: c.getenv, file: file}, nil
}

// lookup resolves a setting; Origin is empty when it is not given anywhere.
func (s *settings) lookup(name string) setting {
	at := slices.IndexFunc(sources(), func(src source) bool { return src.name == name })
	src := sources()[at]
	if s.cli.IsSet(name) {
		return setting{Name: name, Value: s.cli.String(name), Origin: "--" + name}
	}
	for _, env := range src.env {
		if value, ok := s.getenv(env); ok && value != "" {
			return setting{Name: name, Value: value, Origin: env}
		}
	}
	if s.file != nil && src.key != "" {
		if v, ok := s.file.texts[src.key]; ok {
			value, err := s.file.expand(v, s.getenv)
			if err != nil {
				return setting{Name: name, Value: v.text, Origin: s.file.at(v), Problem: err.Error()}
			}
			return setting{Name: name, Value: s.file.resolve(src.key, value), Origin: s.file.at(v)}
		}
	}
	return setting{Name: name}
}

// value is the setting's value, or empty when it is not given.
func (s *settings) value(name string) (string, error) {
	found := s.lookup(name)
	if found.Problem != "" {
		return "", usage("%s", found.Problem)
	}
	return found.Value, nil
}

// color is auto, always or never.
func (s *settings) color() (string, error) {
	switch value := s.lookup("color").Value; value {
	case "", "auto":
		if off, ok := s.getenv("NO_COLOR"); ok && off != "" {
			return "never", nil
		}
		return "auto", nil
	case "always", "never":
		return value, nil
	default:
		return "", withHint(usage("--color %q is none of auto, always, never", value), "--color auto")
	}
}

func (s *settings) commitTimeout() (time.Duration, error) {
	value, err := s.value("commit-timeout")
	if err != nil || value == "" {
		return 0, err
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, withHint(usage("--commit-timeout %q is no duration above zero", value), "--commit-timeout 5m")
	}
	return d, nil
}

// memory is never 0: the collector is told of it, too.
func (s *settings) memory() (int64, error) {
	value, err := s.value("memory")
	if err != nil {
		return 0, err
	}
	if value == "" {
		value = defaultMemory
	}
	n, ok := parseSize(value)
	if !ok || n < 16<<20 {
		return 0, withHint(usage("--memory %q is no size of at least 16MiB", value), "--memory 512MiB")
	}
	return n, nil
}

// storeConfig is what the flags, the environment and wap.yaml say about S3.
func (s *settings) storeConfig() (store.Config, error) {
	var c store.Config
	for name, to := range map[string]*string{"endpoint-url": &c.S3.Endpoint, "region": &c.S3.Region, "profile": &c.S3.Profile} {
		*to = s.lookup(name).Value
	}
	if s.file == nil {
		return c, nil
	}
	texts := map[string]*string{"sse": &c.S3.SSE, "kms_key": &c.S3.KMSKey, "bucket_owner": &c.S3.BucketOwner, "ca_bundle": &c.S3.CABundle}
	switches := map[string]*bool{"path_style": &c.S3.PathStyle, "requester_pays": &c.S3.RequesterPays}
	for _, v := range s.file.s3 {
		value, err := s.file.expand(v.value, s.getenv)
		if err != nil {
			return c, usage("%s", err)
		}
		if to, ok := switches[v.key]; ok {
			if value != "true" && value != "false" {
				return c, usage("%s: %s is true or false, not %q", s.file.at(v.value), v.key, value)
			}
			*to = value == "true"
			continue
		}
		*texts[v.key] = s.file.resolve(v.key, value)
	}
	return c, nil
}

// tasks is the list of tasks, or nil when none is given: "16" means 0 to 15,
// "a,b" these two.
func (s *settings) tasks() ([]string, error) {
	value, err := s.value("tasks")
	if err != nil || value == "" {
		return nil, err
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		const most = 100_000
		if n < 1 || n > most {
			return nil, usage("--tasks %d is not between 1 and %d", n, most)
		}
		names := make([]string, n)
		for i := range names {
			names[i] = strconv.Itoa(i)
		}
		return names, nil
	}
	names := strings.Split(value, ",")
	for i, name := range names {
		if name == "" {
			return nil, withHint(usage("--tasks %q has an empty name", value), "--tasks a,b or --tasks 16")
		}
		if slices.Contains(names[:i], name) {
			return nil, usage("--tasks names %q twice", name)
		}
	}
	return names, nil
}

// mode is how the run changes its partitions, or empty when it is not given.
func (s *settings) mode() (manifest.Mode, error) {
	value, err := s.value("mode")
	if err != nil {
		return "", err
	}
	modes := []string{string(manifest.ModeOverwrite), string(manifest.ModeAppend), string(manifest.ModeReplace)}
	if value != "" && !slices.Contains(modes, value) {
		e := usage("mode %q is none of %s", value, strings.Join(modes, ", "))
		if near, ok := audit.Nearest(value, modes); ok {
			return "", withHint(e, "did you mean %q?", near)
		}
		return "", e
	}
	return manifest.Mode(value), nil
}

// inputs are the sources to pin, or nil when none is given.
func (s *settings) inputs() ([]manifest.InputSource, error) {
	given := s.cli.StringSlice("input")
	if !s.cli.IsSet("input") && s.file != nil {
		for _, v := range s.file.inputs {
			value, err := s.file.expand(v, s.getenv)
			if err != nil {
				return nil, usage("%s", err)
			}
			given = append(given, value)
		}
	}
	var list []manifest.InputSource
	for _, text := range given {
		in := manifest.InputSource{Source: text}
		if name, rest, ok := strings.Cut(text, "="); ok && isIdentifier(name) {
			in = manifest.InputSource{Name: name, Source: rest}
		}
		if in.Source == "" {
			return nil, usage("--input %q names no source", text)
		}
		list = append(list, in)
	}
	return list, nil
}

// isIdentifier tells the NAME of --input NAME=… from a partition path, whose
// first = comes after a slash.
func isIdentifier(s string) bool {
	for i, r := range []byte(s) {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// parseSize reads "512MiB", "2GB" or a number of bytes.
func parseSize(s string) (int64, bool) {
	units := []struct {
		suffix string
		bytes  int64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.bytes {
			return 0, false
		}
		return n * u.bytes, true
	}
	return 0, false
}

// size writes bytes for people.
func size(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// relative is path from dir, where there is a way.
func relative(dir, path string) string {
	if short, err := filepath.Rel(dir, path); err == nil {
		return short
	}
	return path
}

// shortPath is path from the working directory, if that is shorter to read.
func shortPath(path string) string {
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if short := relative(dir, path); len(short) < len(path) {
		return short
	}
	return path
}
