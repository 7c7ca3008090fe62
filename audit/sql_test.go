package audit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// TestSQLVerdicts: an engine counts rows, thresholds decide.
func TestSQLVerdicts(t *testing.T) {
	failing := func(n int) string {
		return fmt.Sprintf(`{"outcome": "fail", "violations": %d, "samples": [{"row": 0, "values": [{"column": "x", "text": "1"}, {"column": "y", "null": true}]}]}`, n)
	}
	for _, tt := range []struct{ name, keys, stdout, want string }{
		{"pass", "", `{"outcome": "pass"}`, "pass 0 rows returned"},
		{"fail", "", failing(2), "fail 2 rows returned"},
		{"one", "", failing(1), "fail 1 row returned"},
		{"warn", "severity: warn", failing(1), "warn 1 row returned"},
		{"below a threshold", "fail_if: '> 2'", failing(2), "pass 2 rows returned"},
		{"warn_if", "fail_if: '> 2', warn_if: '> 0'", failing(2), "warn 2 rows returned"},
		{"percent", "fail_if: '>= 50%'", failing(1), "fail 1 row returned"},
		{"more than there are", "fail_if: '>= 100%'", failing(5), "fail 5 rows returned"},
		{"wrong SQL", "", `{"outcome": "error", "cause": "data", "message": "no table u"}`, "error plugin could not judge: no table u (data)"},
		{"engine down", "", `{"outcome": "error", "message": "no connection"}`, "error plugin could not judge: no connection (outside)"},
		{"contradiction", "", `{"outcome": "pass", "violations": 1}`, `error plugin gave the outcome "pass" for 1 row (outside)`},
		{"another", "", `{"outcome": "fail"}`, `error plugin gave the outcome "fail" for 0 rows (outside)`},
		{"warns itself", "", `{"outcome": "warn", "violations": 1}`, `error plugin gave the outcome "warn" for 1 row (outside)`},
		{"silence", "", ``, "error plugin printed no verdict (outside)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plugins := &fakePlugins{stdout: tt.stdout}
			c := mustParse(t, checks("sql: {query: SELECT 1, "+tt.keys+"}", "row_count: 2"))
			r := mustRun(t, c, Partition{Files: []File{fileOf(t, "a", longs("x", 1, 2))}}, Options{Plugins: plugins})
			a := resultOf(t, r, "sql")
			got := fmt.Sprintf("%s %s%s", a.Outcome, a.Observed, a.Message)
			if a.Error != nil {
				got += fmt.Sprintf(" (%s)", a.Error.Cause)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if b := resultOf(t, r, "row_count"); b.Outcome != Pass {
				t.Errorf("another assertion is %s", b.Outcome)
			}
			if tt.name == "fail" && (len(a.Samples) != 1 || a.Samples[0].Values[0].Text != "1" || !a.Samples[0].Values[1].Null || a.RowsTested != 2) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestSQLRedacted: a query can rename a column, so that with redact no value of
// it is shown; and nothing of it is stored.
func TestSQLRedacted(t *testing.T) {
	plugins := &fakePlugins{stdout: `{"outcome": "fail", "violations": 1, "samples": [{"row": 0, "values": [{"column": "e", "text": "secret"}, {"column": "f", "null": true}]}]}`}
	c := mustParse(t, checks("sql: {query: SELECT mail AS e FROM staged, redact: [mail]}", "sql: {query: SELECT mail AS e FROM staged, samples: 0}"))
	r := mustRun(t, c, Partition{Files: []File{fileOf(t, "a", strs("mail", "secret"))}}, Options{Plugins: plugins})
	var text strings.Builder
	if err := r.WriteText(&text, TextOptions{Values: true}); err != nil || strings.Contains(text.String(), "secret") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if a := resultOf(t, r, "sql"); len(a.Samples) != 1 || a.Samples[0].Values[1].Null {
		t.Errorf("%+v", a.Samples)
	}
	if a := resultOf(t, r, "sql#2"); len(a.Samples) != 0 {
		t.Errorf("%+v", a.Samples)
	}
}

// TestSQLErrorDetails: what an engine says of an error in the data is shown where
// samples are, and with redact nowhere.
func TestSQLErrorDetails(t *testing.T) {
	plugins := &fakePlugins{stdout: `{"outcome": "error", "cause": "data", "message": "Conversion Error, column mail", "detail": "Could not convert 'secret'"}`}
	for _, tt := range []struct {
		yaml          string
		shown, stored bool
	}{
		{checks("sql: SELECT 1"), true, false},
		{checks("sql: SELECT 1") + "store_samples: true\n", true, true},
		{checks("sql: {query: SELECT 1, redact: [mail]}") + "store_samples: true\n", false, false},
	} {
		r := mustRun(t, mustParse(t, tt.yaml), Partition{Files: []File{fileOf(t, "a", strs("mail", "secret"))}}, Options{Plugins: plugins})
		var terminal, pipe, stored, junit, markdown strings.Builder
		err := errors.Join(r.WriteText(&terminal, TextOptions{Values: true}), r.WriteText(&pipe, TextOptions{}),
			r.WriteJSON(&stored), WriteJUnit(&junit, r), WriteMarkdown(&markdown, r))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(terminal.String(), "secret") != tt.shown || strings.Contains(stored.String(), "secret") != tt.stored ||
			strings.Contains(pipe.String()+junit.String()+markdown.String(), "secret") {
			t.Errorf("%s%s\n%s", tt.yaml, terminal.String(), stored.String())
		}
		for _, text := range []string{terminal.String(), stored.String(), junit.String(), markdown.String()} {
			if !strings.Contains(text, "Conversion Error, column mail") {
				t.Errorf("%s%s", tt.yaml, text)
			}
		}
	}
}

// TestSQLEngines: who is called, with what.
func TestSQLEngines(t *testing.T) {
	vars := Vars{Plugins: []Plugin{{"trino", []string{"./trino", "--catalog", "lake"}}}}
	for _, tt := range []struct {
		item, command string
		local         bool
	}{
		{"sql: SELECT 1", "[wap-duckdb]", true},
		{"sql: {query: SELECT 1, engine: duckdb, local: false}", "[wap-duckdb]", false},
		{"sql: {query: SELECT 1, engine: trino}", "[./trino --catalog lake]", false},
		{"sql: {query: SELECT 1, engine: trino, local: true}", "[./trino --catalog lake]", true},
	} {
		c, err := Parse("checks.yaml", []byte(checks(tt.item)), vars)
		if err != nil {
			t.Fatal(err)
		}
		plugins := &fakePlugins{stdout: `{"outcome": "pass"}`}
		file := fileOf(t, "a", longs("x", 1))
		live := &shelf{live: []Partition{{Files: []File{file}}}}
		mustRun(t, c, Partition{Files: []File{file}}, Options{Plugins: plugins, Published: live})
		doc := string(plugins.document)
		if fmt.Sprint(plugins.command) != tt.command || strings.Count(doc, `"path":"/local/a"`) != map[bool]int{true: 2}[tt.local] ||
			strings.Count(doc, `"url":"file:///a"`) != 2 || !strings.Contains(doc, `"query":"SELECT 1"`) {
			t.Errorf("%s: %v\n%s", tt.item, plugins.command, doc)
		}
	}
	for item, want := range map[string][2]string{
		"sql: {query: SELECT 1, engine: spark}":     {`3:36: no plugin has the name "spark"`, "give it a command in wap.yaml: `plugins: {spark: [PROGRAM]}`"},
		"sql: {query: SELECT 1, engine: trinno}":    {`3:36: no plugin has the name "trinno"`, `did you mean "trino"?`},
		"sql: {query: SELECT 1, where: x > 1}":      {`3:28: sql does not take where`},
		"sql: {query: ' '}":                         {`3:18: query is empty`},
		"sql: {engine: trino}":                      {`3:10: sql needs query`},
		"sql: {query: SELECT 1, timeout: tomorrow}": {`3:37: timeout is a duration`},
	} {
		_, err := Parse("checks.yaml", []byte(checks(item)), vars)
		var mistake *ConfigError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), want[0]) || want[1] != "" && mistake.Hint != want[1] {
			t.Errorf("%s: %v", item, err)
		}
	}
}

// TestSQLQuotes: a partition's key cannot end the text that it stands in.
func TestSQLQuotes(t *testing.T) {
	plugins := &fakePlugins{stdout: `{"outcome": "pass"}`}
	part := Partition{Files: []File{fileOf(t, "a", longs("x", 1))}}
	part.Partition = manifest.Partition{Table: "t", Path: "t/dt=x", Keys: []manifest.KeyValue{{Name: "dt", Value: "' OR true --", Type: "string"}}}
	first := mustRun(t, mustParse(t, checks("sql: \"SELECT 1 FROM staged WHERE dt = '${partition.dt}'\"")), part, Options{Plugins: plugins})
	if !strings.Contains(string(plugins.document), `"query":"SELECT 1 FROM staged WHERE dt = ''' OR true --'"`) {
		t.Errorf("%s\n%+v", plugins.document, resultOf(t, first, "sql"))
	}
	r := mustRun(t, mustParse(t, checks("sql: \"SELECT '${partition.day}'\"")), part, Options{Plugins: plugins})
	if a := resultOf(t, r, "sql"); a.Outcome != Error || a.Error.Cause != CauseData {
		t.Errorf("%+v", a)
	}
}

// TestSQLMarks: where a key's value could leave the text, or stands in none, the
// query is refused.
func TestSQLMarks(t *testing.T) {
	for query, good := range map[string]bool{
		"SELECT '${partition.dt}'":                         true,
		"SELECT 'it''s ${partition.dt}', \"a'b\"":          true,
		"SELECT 1 -- it's\nWHERE a = '${partition.dt}'":    true,
		"SELECT /* it's */ '${partition.dt}' || 'x'":       true,
		"SELECT $1, '${partition.dt}'":                     true,
		"SELECT ${partition.dt}":                           false,
		"SELECT 'a' || ${partition.dt} || 'b'":             false,
		"SELECT \"${partition.dt}\"":                       false,
		"SELECT `${partition.dt}`":                         false,
		"SELECT 1 -- ${partition.dt}\n":                    false,
		"SELECT 1 /* '${partition.dt}' */":                 false,
		"SELECT E'${partition.dt}'":                        false,
		"SELECT $$ '${partition.dt}' $$":                   false,
		"SELECT $q$ '${partition.dt}' $q$":                 false,
		"SELECT '${partition.dt}":                          false,
		"SELECT '${partition.dt}', ${partition.hour}, 'a'": false,
	} {
		_, err := Parse("checks.yaml", []byte(checks(fmt.Sprintf("sql: {query: %q}", query))), Vars{})
		if good && err != nil || !good && (err == nil || !strings.Contains(err.Error(), "3:18: ${partition.")) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
