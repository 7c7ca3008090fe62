package audit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseMistakes(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // line:column: message
		hint       string // part of the hint
	}{
		{"empty file", "", "0:0: holds no assertion", "--checks builtin"},
		{"no assertion", "version: 1\n", "1:1: holds no assertion", "--checks builtin"},
		{"only switched off", "version: 1\nshrink: false\n", "1:1: holds no assertion", "--checks builtin"},
		{"no version", "checks: [row_count: 1]\n", "1:1: has no version", "version: 1"},
		{"other version", "version: 2\nchecks: [{row_count: 1}]\n", "1:10: version 2 is not known, this program reads version 1", ""},
		{"not YAML", "version: 1\nchecks: [\n", "2:1: not YAML: did not find expected node content", ""},
		{"a list", "- row_count: 1\n", "1:1: a checks file is a mapping, not a list", ""},
		{"two documents", "version: 1\n---\nversion: 1\n", "2:1: holds a second document", ""},
		{"anchor", "version: &a 1\n", "1:10: anchors and aliases are not supported", ""},
		{"tag", "version: !!int 1\n", "1:10: the tag !!int is not supported", ""},
		{"key twice", "version: 1\nversion: 1\n", `2:1: "version" stands twice, first in line 1`, ""},
		{"unknown key", "version: 1\nchekcs: []\n", `2:1: unknown key "chekcs"`, `"checks"`},
		{"unknown assertion", checks("not_nul: [a]"), `3:5: unknown assertion "not_nul"`, `"not_null"`},
		{"unknown parameter", checks("row_count: {minimum: 1}"), `3:17: unknown parameter of row_count "minimum"`, ""},
		{"parameter nearby", checks("accepted_range: {column: a, mn: 1}"), `3:33: unknown parameter of accepted_range "mn"`, `"min"`},
		{"threshold on a comparison", checks("row_count: {min: 1, fail_if: '> 1'}"), `3:25: unknown parameter of row_count "fail_if"`, ""},
		{"where", checks("file_count: {min: 1, where: 'a > 1'}"), `3:26: file_count does not take where`, ""},
		{"two comparisons", checks("row_count: {min: 1, equals: 1}"), "3:25: row_count: equals beside min or max are two comparisons in one", ""},
		{"no comparison", checks("row_count: {}"), "3:16: row_count: compares with nothing, give min, max or equals", ""},
		{"min above max", checks("row_count: {min: 2, max: 1}"), "3:25: row_count: min 2 is above max 1", ""},
		{"min above max, dates", checks("min: {column: a, min: 2025-03-05, max: 2025-01-01}"), "3:39: min: min 2025-03-05 is above max 2025-01-01", ""},
		{"from above to", checks("complete_intervals: {column: a, every: 1d, from: 2025-03-05, to: 2025-01-01}"), "3:48: complete_intervals: from 2025-03-05 is above to 2025-01-01", ""},
		{"length of an interval", checks("complete_intervals: {column: a, every: 1x}"), `3:44: every is a length like 15m, 1h, 1d, or an integer above 0, not "1x"`, ""},
		{"quantile beyond all", checks("quantile: {column: a, q: 1.5, min: 1}"), `3:30: q is a fraction between 0 and 1 or between 0% and 100%, not "1.5"`, ""},
		{"quantile of nothing", checks("quantile: {column: a, min: 1}"), "3:15: quantile needs q", ""},
		{"an estimate equals", checks("approx_count_distinct: {column: a, equals: 3}"), "3:40: approx_count_distinct: equals needs a tolerance, for what it compares is an estimate", ""},
		{"one bound twice", checks("mutually_exclusive_ranges: {lower: a, upper: a}"), "3:33: mutually_exclusive_ranges: lower and upper are the same column", ""},
		{"gaps", checks("mutually_exclusive_ranges: {lower: a, upper: b, gaps: none}"), `3:59: gaps "none" is not one of allowed, not_allowed, required`, ""},
		{"type error in an expression", checks("expression: length(a > 1) > 2"), "3:24: length takes a text, this is a boolean", ""},
		{"empty range", checks("accepted_range: {column: a, exclusive_min: 1, max: 1}"), "3:51: accepted_range: nothing lies between min 1 and max 1", ""},
		{"range without bound", checks("accepted_range: {column: a}"), "3:21: accepted_range: has no bound, give min or max", ""},
		{"regex", checks("regex: {column: a, pattern: 'a('}"), "3:33: pattern does not compile: missing closing ): `a(`", ""},
		{"regex that swallows its end", checks("regex: {column: a, pattern: '\\Qa'}"), "3:33: pattern does not compile: missing closing ): `\\A(?:\\Qa)\\z`", ""},
		{"no column", checks("not_null"), "3:5: not_null names no column", "columns"},
		{"column twice", checks("unique: [a, a]"), `3:13: column "a" stands twice`, ""},
		{"two names", checks("row_count: {min: 1}\n    severity: warn"), `4:5: one check has one name, this one has "row_count" and "severity"`, "indent"},
		{"id twice", checks("row_count: {min: 1, id: a}", "row_count: {min: 2, id: a}"), `4:29: id "a" is given twice, first in line 3`, ""},
		{"id of a built-in", checks("row_count: {min: 1, id: not_empty}"), `3:29: id "not_empty" is a built-in's`, ""},
		{"id for two columns", checks("not_null: {columns: [a, b], id: x}"), `3:37: the id "x" would name 2 assertions, one for each column`, ""},
		{"threshold", checks("not_null: {column: a, fail_if: '5'}"), `3:36: threshold "5" is not one of "> N", ">= N", "> P%", ">= P%"`, ""},
		{"threshold out of reach", checks("not_null: {column: a, fail_if: '> 100%'}"), `3:36: threshold "> 100%" can never be reached`, ""},
		{"mostly twice", checks("not_null: {column: a, mostly: 0.9, fail_if: '> 1'}"), "3:40: fail_if and mostly say the same twice", ""},
		{"mostly above 1", checks("not_null: {column: a, mostly: 1.5}"), "3:35: mostly 1.5 is not above 0 and at most 1", ""},
		{"severity", checks("not_null: {column: a, severity: wran}"), `3:37: severity "wran" is not one of fail, warn`, `"warn"`},
		{"not about a column", "version: 1\ncolumns: [{name: a, checks: [{row_count: 1}]}]\n", "2:31: row_count is not about a column", "checks"},
		{"type", "version: 1\ncolumns: [{name: a, type: strng}]\n", `2:27: unknown type "strng"`, `"string"`},
		{"null in a set", checks("accepted_values: {column: a, values: [x, null]}"), "3:46: values holds null", "not_null"},
		{"unset variable", checks("row_count: {min: '${env:NOPE}'}"), "3:22: environment variable NOPE is not set", ""},
		{"unknown variable", checks("regex: {column: a, pattern: '${now}'}"), "3:33: unknown variable ${now}", ""},
		{"run outside a run", checks("exec: [x, '${run}']"), "3:15: ${run} has no value outside a run", ""},
		{"partition in a fixed place", checks("regex: {column: a, pattern: '${partition.dt}'}"), "3:33: pattern cannot depend on the partition", ""},
		{"integrity off", "version: 1\nintegrity: false\n", "2:12: integrity cannot be switched off", "none"},
		{"not_empty off", "version: 1\nnot_empty: false\n", "2:12: not_empty cannot be switched off", "allow_empty"},
		{"mode", "version: 1\nintegrity: {mode: fast}\n", `2:19: mode "fast" is not one of referenced, full`, ""},
		{"plugin", checks("exec: frud"), `3:11: no plugin has the name "frud"`, `"fraud"`},
		{"timezone", "version: 1\ntimezone: Mars/Base\nchecks: [{row_count: 1}]\n", `2:11: unknown timezone "Mars/Base"`, "IANA"},
		{"share", checks("null_rate: {column: a, max: 2}"), "3:33: max is a fraction between 0 and 1 or between 0% and 100%, not \"2\"", ""},
		{"column says nothing", "version: 1\ncolumns: [{name: a}]\nchecks: [{row_count: 1}]\n", `2:11: column "a" says nothing`, ""},
		{"schema names nothing", checks("schema: {}"), "3:13: schema: names no column, give columns or forbidden", ""},
		{"tolerance alone", checks("sum: {column: a, min: 1, tolerance: 1}"), "3:30: sum: tolerance needs equals", ""},
		{"NUL", "version: 1\nchecks: [{regex: {column: a, pattern: \"a\\0\"}}]\n", "2:39: a value holds a NUL", ""},
		{"huge exponent", checks("sum: {column: a, min: 1e999999999}"), `3:27: number "1e999999999" is out of range`, ""},
	}
	vars := Vars{Plugins: []Plugin{{Name: "fraud", Command: []string{"./fraud"}}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("c.yaml", []byte(tt.text), vars)
			var e *ConfigError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *ConfigError", err)
			}
			got := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
			if got != tt.want && !strings.HasPrefix(got, tt.want+" (") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("hint %q lacks %q", e.Hint, tt.hint)
			}
		})
	}
}

func TestParseReportsAllMistakes(t *testing.T) {
	_, err := Parse("c.yaml", []byte(checks("row_cont: 1", "not_null: {column: a, severity: x}")), Vars{})
	want := "c.yaml:3:5: unknown assertion \"row_cont\"\nc.yaml:4:37: severity \"x\" is not one of fail, warn"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseRefusesLargeFiles(t *testing.T) {
	_, err := Parse("c.yaml", []byte(strings.Repeat("#", maxConfigBytes+1)), Vars{})
	if err == nil || !strings.Contains(err.Error(), "bytes long") {
		t.Errorf("got %v", err)
	}
}

// Every short form means one long form: their digests are equal.
func TestShortForms(t *testing.T) {
	tests := []struct{ short, long string }{
		{"row_count: 3", "row_count: {equals: 3}"},
		{"number_of_rows: 3", "row_count: {equals: 3}"},
		{"unique: id", "unique: {columns: [id]}"},
		{"duplicate: [a, b]", "unique: {columns: [a, b], nulls: distinct, fail_if: '> 0', severity: fail, samples: 10}"},
		{"not_null: {column: a, mostly: 0.99}", "not_null: {column: a, fail_if: '> 1%'}"},
		{"not_null: {column: a, mostly: 0.9995}", "not_null: {column: a, fail_if: '>0.05 %'}"},
		{"regex: {column: a, pattern: x}", "regex: {column: a, pattern: 'x', match: full}"},
		{"exec: [a, b]", "exec: {command: [a, b], timeout: 60s}"},
		{"accepted_range: {column: a, min: 1.0}", "accepted_range: {column: a, min: 1}"},
		{"file_size: {min: 1KiB}", "file_size: {min: 1024}"},
		{"null_rate: {column: a, max: 5%}", "null_rate: {column: a, max: 0.05}"},
		{"row_count: {min: '${env:LOW}'}", "row_count: {min: 5}"},
		{"not_null: {column: a, mostly: '0.${env:LOW}'}", "not_null: {column: a, fail_if: '> 50%'}"},
		{"exec: fraud", "exec: {command: [./fraud, -x]}"},
		{"schema: {columns: [{name: a, type: 'decimal(18,2)'}]}", "schema: {columns: [{name: a, type: 'decimal128(18, 2)'}]}"},
	}
	vars := Vars{
		Env:     func(name string) (string, bool) { return "5", name == "LOW" },
		Plugins: []Plugin{{"fraud", []string{"./fraud", "-x"}}},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		short, err := Parse("c.yaml", []byte(checks(tt.short)), vars)
		if err != nil {
			t.Fatalf("%s: %v", tt.short, err)
		}
		long, err := Parse("d.yaml", []byte(checks(tt.long)), vars)
		if err != nil {
			t.Fatalf("%s: %v", tt.long, err)
		}
		if short.Digest() != long.Digest() {
			t.Errorf("%s and %s differ:\n%s%s", tt.short, tt.long, canonicalJSON(short.checks), canonicalJSON(long.checks))
		}
		if other, twice := seen[long.Digest()]; twice && other != tt.long {
			t.Errorf("%s and %s have one digest", other, tt.long)
		}
		seen[long.Digest()] = tt.long
	}
}

func TestIDs(t *testing.T) {
	c := mustParse(t, `
version: 1
checks:
  - row_count: 1
  - row_count: {min: 1}
  - row_count: {min: 2, id: "row_count#3"}
  - row_count: {max: 9}
  - not_null: [a, b]
columns:
  - name: a
    type: int64
    checks: [not_null, unique]
`)
	var ids []string
	for _, check := range c.checks {
		ids = append(ids, check.ID)
	}
	want := "row_count row_count#2 row_count#3 row_count#4 not_null(a) not_null(b) schema(a) not_null(a)#2 unique(a)"
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConfigValues(t *testing.T) {
	c := mustParse(t, `
version: 1
partition: [dt, region]
timezone: Europe/Berlin
defaults: {severity: warn, samples: 3, redact: [mail]}
determinism: {ignore: [loaded_at]}
store_samples: true
checks:
  - not_null: {column: a, severity: fail}
  - unique: mail
columns:
  - {name: amount, type: "decimal(18,2)"}
`)
	if c.Timezone().String() != "Europe/Berlin" || !c.StoreSamples() || !c.Keyed() {
		t.Errorf("timezone %v, store samples %v, keyed %v", c.Timezone(), c.StoreSamples(), c.Keyed())
	}
	if fmt.Sprint(c.PartitionKeys(), c.IgnoredColumns()) != "[dt region] [loaded_at]" {
		t.Errorf("keys %v, ignored %v", c.PartitionKeys(), c.IgnoredColumns())
	}
	if typ, ok := c.ColumnType("amount"); !ok || typ != "decimal128(18, 2)" {
		t.Errorf("type of amount: %q", typ)
	}
	if c.checks[0].Severity != SeverityFail || c.checks[1].Severity != SeverityWarn || c.checks[1].Samples != 3 {
		t.Errorf("defaults: %+v, %+v", c.checks[0], c.checks[1])
	}
	if c.Digest() == mustParse(t, "version: 1\nchecks: [{unique: mail}]\n").Digest() {
		t.Error("two files have one digest")
	}
}

// Scalars are what YAML 1.2's core schema says, numbers exactly as written.
func TestLiterals(t *testing.T) {
	tests := []struct {
		text string
		kind literalKind
		want string
	}{
		{"NO", litText, "NO"}, {"on", litText, "on"}, {"yes", litText, "yes"}, {"true", litBool, "true"},
		{"2025-03-05", litText, "2025-03-05"}, {"1:20", litText, "1:20"}, {"1_000", litText, "1_000"},
		{"0777", litNumber, "777"}, {"12345678901234567.89", litNumber, "12345678901234567.89"},
		{"18446744073709551616", litNumber, "18446744073709551616"}, {"1e3", litNumber, "1000"},
		{"-0.0", litNumber, "0"}, {"1.50", litNumber, "1.5"}, {".nan", litNaN, "NaN"}, {"-.inf", litNegInf, "-Infinity"},
		{"'1'", litText, "1"}, {`"true"`, litText, "true"}, {"!!str 1", litText, "1"},
	}
	for _, tt := range tests {
		c := mustParse(t, checks("accepted_values: {column: a, values: ["+tt.text+"]}"))
		list, _ := get[[]literal](c.checks[0], "values")
		if list[0].kind != tt.kind || list[0].String() != tt.want {
			t.Errorf("%s: %v %s, want %v %s", tt.text, list[0].kind, list[0], tt.kind, tt.want)
		}
	}
}

func TestRules(t *testing.T) {
	a, b, c := Builtin(), mustParse(t, checks("row_count: 1")), mustParse(t, checks("row_count: 2"))
	rules := &Rules{Default: a, Tables: []TableRules{{"sales/*", b}, {"sales/orders", c}}}
	for table, want := range map[string]*Config{"sales/orders": b, "sales": a, "sales/a/b": a, "other": a} {
		if rules.For(table) != want {
			t.Errorf("table %s has other rules", table)
		}
	}
	swapped := &Rules{Default: a, Tables: []TableRules{{"sales/orders", c}, {"sales/*", b}}}
	if rules.Digest() == swapped.Digest() {
		t.Error("the order of globs is not in the digest")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(checks("row_count: 1", "unique: [a, b]", "accepted_range: {column: a, min: 1, max: 2.5}")))
	f.Add([]byte("version: 1\nintegrity: {mode: full}\ncolumns: [{name: a, type: int64, checks: [not_null]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c.yaml", data, Vars{})
		if err == nil && len(c.checks) == 0 && !strings.Contains(string(data), ":") {
			t.Errorf("accepted without an assertion: %q", data)
		}
		if err == nil && c.Digest() == "" {
			t.Error("no digest")
		}
	})
}
