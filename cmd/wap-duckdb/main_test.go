package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// copied writes files with DuckDB, each the result of a query, and returns their
// paths.
func copied(t *testing.T, queries map[string]string) map[string]string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir, paths := t.TempDir(), map[string]string{}
	for name, query := range queries {
		path := filepath.Join(dir, "tmp.parquet")
		if _, err := db.Exec(fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet)", query, path)); err != nil {
			t.Fatal(err)
		}
		paths[name] = filepath.Join(dir, name+".parquet")
		if err := os.Rename(path, paths[name]); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func files(paths ...string) []dataFile {
	list := []dataFile{}
	for _, p := range paths {
		list = append(list, dataFile{URL: "file://" + p, Path: p})
	}
	return list
}

// ask gives the program a document and returns its verdict.
func ask(t *testing.T, doc document) verdict {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), bytes.NewReader(body), &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	var v verdict
	if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	return v
}

// brief is a verdict in one line.
func brief(v verdict) string {
	out := fmt.Sprintf("%s %d", v.Outcome, v.Violations)
	if v.Outcome == "error" {
		return fmt.Sprintf("error %s: %s", v.Cause, v.Message)
	}
	for _, s := range v.Samples {
		out += fmt.Sprintf(" %d:", s.Row)
		for _, c := range s.Values {
			text := c.Text
			if c.Null {
				text = "NULL"
			}
			out += fmt.Sprintf(" %s=%s", c.Column, text)
		}
	}
	return out
}

func TestVerdicts(t *testing.T) {
	paths := copied(t, map[string]string{
		"a":     "SELECT * FROM (VALUES (1, 10.50::DECIMAL(18, 2)), (2, -1.25), (3, NULL)) t(id, amount)",
		"b[*]?": "SELECT 4 AS id, 0.01::DECIMAL(18, 2) AS amount",
		"live":  "SELECT 1 AS id, 10.50::DECIMAL(18, 2) AS amount UNION ALL SELECT 9, 1",
	})
	doc := document{
		Schema: 1, Now: time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC), Files: files(paths["a"], paths["b[*]?"]), Baseline: files(paths["live"]),
		Partition:  partition{Keys: []key{{"dt", "2025-03-05", "date32"}, {"region", nullKey, "string"}, {"id", "7", "int64"}}},
		Columns:    []column{{"id"}, {"amount"}},
		Parameters: map[string]string{"limit": "2"},
		Limits:     limits{Samples: 2, TimeoutMS: 600_000, MemoryBytes: 512 << 20},
	}
	for _, tt := range []struct{ query, want string }{
		{"SELECT * FROM staged WHERE amount > 100", "pass 0"},
		{"SELECT id, amount FROM staged WHERE amount < 0;\n", "fail 1 0: id=2 amount=-1.25"},
		{"SELECT id FROM staged ORDER BY id DESC -- all of them", "fail 4 0: id=4 1: id=3"},
		{"SELECT * FROM staged WHERE amount IS NULL", "fail 1 0: id=3 amount=NULL dt=2025-03-05 region=NULL"},
		{"FROM live ANTI JOIN staged USING (id)", "fail 1 0: id=9 amount=1.00 dt=2025-03-05 region=NULL"},
		{"WITH l AS (SELECT sum(amount) AS s FROM live) SELECT s, s AS s FROM l WHERE s > 5", "fail 1 0: s=11.50 s_1=11.50"},
		{"SELECT id FROM staged WHERE id > getvariable('limit')::INT AND dt < getvariable('now')", "fail 2 0: id=3 1: id=4"},
		{"SELECT count(*) AS n FROM staged HAVING count(*) <> 4", "pass 0"},
		{"SELECT * FORM staged", `error data: line 1, column 15: syntax error at or near "staged"`},
		{"SELECT id\nFROM staged\nWHERE ämount > 1", `error data: line 3, column 7: Referenced column "ämount" not found`},
		{"SELECT 'ä', nothing FROM staged", `error data: line 1, column 13: Referenced column "nothing" not found`},
		{"SELECT * FROM orders", "error data: line 1, column 15: Table with name orders does not exist"},
		{"SELECT CAST('x' AS INT) FROM staged", "error data: Conversion Error"},
		{"SELECT id + 'x' FROM staged", "error data: "},
		{"SELECT error('stop') FROM staged", "error data: Invalid Input Error"},
		{"SELECT 1; SELECT 2", "error data: the query holds 2 statements, it must be one SELECT"},
		{"DROP VIEW staged", "error data: the query is no SELECT"},
		{"-- nothing", "error data: the query holds 0 statements"},
	} {
		doc.Query = tt.query
		if got := brief(ask(t, doc)); got != tt.want && (!strings.HasPrefix(tt.want, "error") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s\ngot  %s\nwant %s", tt.query, got, tt.want)
		}
	}
}

// TestNothingElseIsThere: a query cannot read other files, write any, the ones
// given least of all, or change a setting.
func TestNothingElseIsThere(t *testing.T) {
	paths := copied(t, map[string]string{"a": "SELECT 1 AS id", "other": "SELECT 2 AS id"})
	before, err := os.ReadFile(paths["a"])
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT * FROM read_text('/etc/passwd')",
		fmt.Sprintf("SELECT * FROM '%s'", paths["other"]),
		"SELECT * FROM glob('/*')",
		"SELECT * FROM read_csv('https://example.org/x.csv')",
		fmt.Sprintf("COPY (SELECT 2 AS id) TO '%s'", paths["a"]),
		fmt.Sprintf("ATTACH '%s.db'", paths["a"]),
		"SET enable_external_access = true",
		"SELECT 1; SET lock_configuration = false",
		"INSTALL httpfs", "PRAGMA database_list", "CALL pragma_version()", "EXPLAIN SELECT 1",
		"INSERT INTO staged SELECT 1", "CREATE TABLE t (x INT)",
	} {
		v := ask(t, document{Schema: 1, Query: query, Files: files(paths["a"]), Limits: limits{Samples: 1}})
		if v.Outcome != "error" || v.Cause != causeData {
			t.Errorf("%s: %s", query, brief(v))
		}
	}
	if after, err := os.ReadFile(paths["a"]); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the staged file was changed: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(paths["a"])); err != nil || len(left) != 2 {
		t.Errorf("beside it: %v, %v", left, err)
	}
}

// TestExactValues: what samples show is what wap would write.
func TestExactValues(t *testing.T) {
	paths := copied(t, map[string]string{"a": `SELECT 99999999999999999999999999999999999999::DECIMAL(38, 0) AS d, 18446744073709551615::UBIGINT AS u, 0.1::DOUBLE AS f, 'nan'::FLOAT AS nan,
  TIMESTAMP '2025-03-05 12:00:00.123456' AS ts, TIMESTAMPTZ '2025-03-05 12:00:00+02' AS tz, '2025-03-05 12:00:00.123456789'::TIMESTAMP_NS AS ns, DATE '0001-01-01' AS day, 'a b' AS s, [1, NULL] AS l`})
	v := ask(t, document{Schema: 1, Query: "SELECT * FROM staged", Files: files(paths["a"]), Limits: limits{Samples: 1}})
	want := "fail 1 0: d=99999999999999999999999999999999999999 u=18446744073709551615 f=0.1 nan=nan ts=2025-03-05T12:00:00.123456" +
		" tz=2025-03-05T10:00:00Z ns=2025-03-05T12:00:00.123456789 day=0001-01-01 s=a b l=[1, NULL]"
	if got := brief(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestLimits: of time, of memory, and of what is printed.
func TestLimits(t *testing.T) {
	paths := copied(t, map[string]string{"a": "SELECT i FROM range(1000) r(i)"})
	slow := "SELECT 1 FROM staged a, staged b, staged c, staged d WHERE a.i + b.i + c.i + d.i = -1"
	if got := brief(ask(t, document{Schema: 1, Query: slow, Files: files(paths["a"]), Limits: limits{TimeoutMS: 50}})); got != "error outside: no result within 50ms" {
		t.Error(got)
	}
	large := "SELECT list(i::VARCHAR || repeat('x', 100000)) AS l FROM staged HAVING len(l) = 7"
	got := brief(ask(t, document{Schema: 1, Query: large, Files: files(paths["a"]), Limits: limits{MemoryBytes: 16 << 20}}))
	if !strings.HasPrefix(got, "error outside: ") || !strings.Contains(got, "memory") {
		t.Error(got)
	}
	v := ask(t, document{Schema: 1, Query: "SELECT repeat('ä', 5000) AS a, * FROM staged", Files: files(paths["a"]), Limits: limits{Samples: 1000}})
	if len(v.Samples) != 1000 || len(v.Samples[0].Values[0].Text) > maxCell || v.Violations != 1000 {
		t.Errorf("%d samples of %d, %d bytes", len(v.Samples), v.Violations, len(v.Samples[0].Values[0].Text))
	}
	wide := "SELECT " + strings.Repeat("repeat('x', 300) AS a, ", 500) + "i FROM staged"
	if v = ask(t, document{Schema: 1, Query: wide, Files: files(paths["a"]), Limits: limits{Samples: 1000}}); len(v.Samples) == 0 || len(v.Samples) > 5 {
		t.Errorf("%d wide samples", len(v.Samples))
	}
}

// TestFiles: older live files have fewer columns, nothing may be live at all, and
// a file that is no Parquet is the data's fault.
func TestFiles(t *testing.T) {
	paths := copied(t, map[string]string{"new": "SELECT 1 AS id, 'x' AS s", "old": "SELECT 1 AS id", "other": "SELECT 2 AS id, 'y' AS s"})
	broken := filepath.Join(t.TempDir(), "broken.parquet")
	if err := os.WriteFile(broken, []byte("PAR1 this is none PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query        string
		staged, live []dataFile
		want         string
	}{
		{"SELECT id, s FROM live ORDER BY id", files(paths["new"]), files(paths["old"], paths["other"]), "fail 2 0: id=1 s=NULL 1: id=2 s=y"},
		{"SELECT id, s FROM live", files(paths["new"]), files(), "pass 0"},
		{"SELECT id FROM staged", files(broken), files(), "error data: "},
		{"SELECT id FROM staged", files("/nowhere/a.parquet"), files(), "error outside: "},
	} {
		got := brief(ask(t, document{Schema: 1, Query: tt.query, Files: tt.staged, Baseline: tt.live, Limits: limits{Samples: 5}}))
		if got != tt.want && (!strings.HasPrefix(tt.want, "error") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
	}
}

func TestDocuments(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "read document: unexpected end of JSON input",
		`{"schema": 2}`:              "schema 2 is not known",
		`{"schema": 1, "files": []}`: "no query",
		`{"schema": 1, "query": "SELECT 1", "files": []}`:                            "no file to look at",
		`{"schema": 1, "query": "SELECT 1", "files": [{"url": "s3://b/a.parquet"}]}`: "s3://b/a.parquet is not downloaded",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), strings.NewReader(in), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%q: exit %d, %q", in, code, stderr.String())
		}
	}
}
