package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"time"
)

// noAssertionHint stands with every refusal of a gate that asserts nothing.
const noAssertionHint = "`--checks builtin` runs the built-in assertions alone"

// Vars are what a checks file may refer to.
type Vars struct {
	// Env looks an environment variable up, for ${env:NAME}; nil: none is set.
	Env func(string) (string, bool)
	// Run is the run's name, for ${run}; empty outside a run.
	Run string
	// Plugins are commands that exec may call by name.
	Plugins []Plugin
}

// Plugin is a command with a name.
type Plugin struct {
	Name    string
	Command []string
}

// Severity is what a failing assertion means.
type Severity string

// The severities. An error closes the gate whatever the severity.
const (
	SeverityFail Severity = "fail"
	SeverityWarn Severity = "warn"
)

// Config is a checks file: canonical, substituted, valid.
type Config struct {
	partition    []string
	timezone     *time.Location // nil: not given
	ignore       []string
	storeSamples bool
	allowEmpty   bool
	builtins     []*Check // all of them, switched off ones too, in the catalogue's order
	checks       []*Check // in the order written
	types        []columnType
	// defaults are those of the file, filled in everywhere already; nil: none.
	defaults *defaults
}

type columnType struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Check is one assertion as configured, every default filled in.
type Check struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Columns  []string       `json:"columns"`
	Severity Severity       `json:"severity"`
	FailIf   *threshold     `json:"fail_if,omitempty"`
	WarnIf   *threshold     `json:"warn_if,omitempty"`
	Samples  int64          `json:"samples"`
	Redact   []string       `json:"redact,omitempty"`
	OnNoRows Outcome        `json:"on_no_rows,omitempty"`
	Nulls    string         `json:"nulls,omitempty"`
	Where    *condition     `json:"where,omitempty"`
	Off      bool           `json:"off,omitempty"`
	Params   map[string]any `json:"params"`

	kind *kind
}

// Parse reads a checks file. Every mistake in it is a *ConfigError; they are
// joined, in the order of the file.
func Parse(name string, data []byte, vars Vars) (*Config, error) {
	r := &reader{file: name, vars: vars}
	c := r.config(r.document(data))
	if len(r.problems) > 0 {
		return nil, r.mistakes()
	}
	return c, nil
}

// Builtin is the configuration of `--checks builtin`: the assertions that are
// on by default, and no other.
func Builtin() *Config {
	c := &Config{}
	for _, k := range catalogue() {
		if k.builtin {
			c.builtins = append(c.builtins, k.check())
		}
	}
	return c
}

// canonical is the long form that the digest is taken of.
func (c *Config) canonical() any {
	zone := ""
	if c.timezone != nil {
		zone = c.timezone.String()
	}
	return struct {
		Version      int          `json:"version"`
		Partition    []string     `json:"partition"`
		Timezone     string       `json:"timezone"`
		Ignore       []string     `json:"determinism_ignore"`
		StoreSamples bool         `json:"store_samples"`
		AllowEmpty   bool         `json:"allow_empty"`
		Builtins     []*Check     `json:"builtins"`
		Checks       []*Check     `json:"checks"`
		Columns      []columnType `json:"columns"`
	}{1, c.partition, zone, c.ignore, c.storeSamples, c.allowEmpty, c.builtins, c.checks, c.types}
}

// Digest is the SHA-256, in hex, of the canonical long form with ${env:…} and
// ${run} substituted; ${partition.…} stays as it is.
func (c *Config) Digest() string { return digest(c.canonical()) }

// digest hashes v's JSON: keys of maps are sorted, fields in the order declared.
func digest(v any) string {
	sum := sha256.Sum256(canonicalJSON(v))
	return hex.EncodeToString(sum[:])
}

// canonicalJSON encodes values of this package's own types, for which encoding
// cannot go wrong.
func canonicalJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("audit: encode canonical form: " + err.Error())
	}
	return b.Bytes()
}

// IgnoredColumns are the columns that two attempts of a task may differ in; of
// no configuration, none.
func (c *Config) IgnoredColumns() []string {
	if c == nil {
		return nil
	}
	return c.ignore
}

// StoreSamples reports whether samples keep their values in what is stored or
// written to a report.
func (c *Config) StoreSamples() bool { return c.storeSamples }

// Timezone is the zone of local timestamps, or nil when the file names none.
func (c *Config) Timezone() *time.Location { return c.timezone }

// PartitionKeys are the declared keys in order; nil when none are declared.
func (c *Config) PartitionKeys() []string { return c.partition }

// ColumnType is the declared type of a column, by Arrow's name.
func (c *Config) ColumnType(name string) (string, bool) {
	for _, t := range c.types {
		if t.Name == name {
			return t.Type, true
		}
	}
	return "", false
}

// Keyed reports whether a unique or primary_key assertion is written, which
// mode append asks for.
func (c *Config) Keyed() bool {
	for _, check := range c.checks {
		if check.Type == "unique" || check.Type == "primary_key" {
			return true
		}
	}
	return false
}

// Rules say which checks judge which table.
type Rules struct {
	Default *Config      // for tables that no glob matches; may be nil
	Tables  []TableRules // the first match counts
	// TrustFooter takes the producer's statistics for evidence: where a footer
	// says that a column has no NULL, it is not read for that. The report and the
	// digest say so.
	TrustFooter bool
}

// TableRules are the checks of the tables that match a glob, as path.Match has it.
type TableRules struct {
	Glob   string
	Config *Config
}

// For returns the checks of a table, or nil when there are none.
func (r *Rules) For(table string) *Config {
	for _, t := range r.Tables {
		if ok, err := path.Match(t.Glob, table); err == nil && ok {
			return t.Config
		}
	}
	return r.Default
}

// Digest is the SHA-256, in hex, over all checks and the globs in order, and
// over what they may trust.
func (r *Rules) Digest() string {
	type entry struct {
		Glob   string `json:"glob"`
		Digest string `json:"digest"`
	}
	var list []entry
	for _, t := range r.Tables {
		list = append(list, entry{t.Glob, t.Config.Digest()})
	}
	if r.Default != nil {
		list = append(list, entry{"", r.Default.Digest()})
	}
	if r.TrustFooter {
		list = append(list, entry{"", "trust-footer"}) // no digest of any checks
	}
	return digest(list)
}
