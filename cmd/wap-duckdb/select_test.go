package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// selects are the places of a SELECT from which another may be asked.
func selects() []string {
	return []string{
		"SELECT * FROM %s",
		"SELECT staged.id FROM staged, %s",
		"SELECT staged.id FROM staged LEFT JOIN %s ON true",
		"SELECT s.id FROM staged s, LATERAL (SELECT s.id AS o FROM %s) l",
		"SELECT id FROM staged WHERE (SELECT count(*) FROM %s) = 0",
		"SELECT id FROM staged WHERE EXISTS (FROM %s)",
		"SELECT id FROM staged WHERE id IN (SELECT 1 FROM %s)",
		"SELECT id FROM staged GROUP BY id HAVING (SELECT count(*) FROM %s) = 0",
		"SELECT id FROM staged QUALIFY row_number() OVER (ORDER BY (SELECT count(*) FROM %s)) = 1",
		"SELECT id FROM staged ORDER BY (SELECT count(*) FROM %s)",
		"SELECT id FROM staged LIMIT (SELECT count(*) FROM %s)",
		"SELECT (SELECT count(*) FROM %s) AS n, CASE WHEN true THEN 1 END",
		"SELECT * FROM range((SELECT count(*) FROM %s))",
		"SELECT id FROM staged UNION ALL SELECT 1 FROM %s",
		"SELECT id FROM staged EXCEPT (SELECT 1 FROM %s)",
		"WITH c AS (SELECT count(*) AS n FROM %s) SELECT id FROM staged, c WHERE n = 0",
		"WITH c AS MATERIALIZED (FROM %s) SELECT id FROM staged WHERE (SELECT count(*) FROM c) = 0",
		"WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r, %s WHERE i < 3) FROM r",
		"VALUES ((SELECT count(*) FROM %s))",
		"SELECT * FROM (DESCRIBE SELECT * FROM %s)",
		"SELECT * FROM (SUMMARIZE SELECT * FROM %s)",
		"SELECT list_transform([1], lambda x: x + (SELECT count(*) FROM %s))",
		"FROM (PIVOT (SELECT id FROM %s) ON id IN (1) USING count(*))",
	}
}

// TestSelectsHaveNoEffect: functions that write files or change settings are
// refused by name wherever they stand, and the files stay as they are.
func TestSelectsHaveNoEffect(t *testing.T) {
	paths := copied(t, map[string]string{"staged": "SELECT 1 AS id", "live": "SELECT 2 AS id"})
	dir := filepath.Dir(paths["staged"])
	before := map[string][]byte{}
	for name, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = body
	}
	for _, call := range []string{
		fmt.Sprintf("enable_profiling(save_location => '%s')", paths["staged"]),
		fmt.Sprintf("system.main.Enable_Profiling(save_location => '%s')", paths["live"]),
		fmt.Sprintf(`"enable_profiling"(save_location => '%s')`, filepath.Join(dir, "outside.json")),
		"enable_logging(storage => 'stdout')",
		"truncate_duckdb_logs()",
		"query('SELECT 1')",
		fmt.Sprintf("read_parquet('%s')", paths["staged"]),
	} {
		name, _, _ := strings.Cut(call, "(")
		name = strings.ToLower(strings.Trim(name[strings.LastIndexByte(name, '.')+1:], `"`))
		for _, shape := range selects() {
			query := fmt.Sprintf(shape, call)
			v := ask(t, document{Schema: 1, Query: query, Files: files(paths["staged"]), Baseline: files(paths["live"]), Limits: limits{Samples: 1}})
			told := strings.Contains(v.Message, fmt.Sprintf("the table function %q may not be called", name))
			if v.Outcome != "error" || v.Cause != causeData || !told {
				t.Errorf("%s: %s", query, brief(v))
			}
		}
	}
	for _, inside := range []string{"COPY staged TO '" + paths["staged"] + "'", "ATTACH '" + paths["staged"] + ".db'", "SET threads = 1", "CALL truncate_duckdb_logs()", "INSERT INTO staged SELECT 1 RETURNING *"} {
		for _, shape := range selects() {
			query := fmt.Sprintf(shape, "("+inside+")")
			if v := ask(t, document{Schema: 1, Query: query, Files: files(paths["staged"]), Limits: limits{Samples: 1}}); v.Outcome != "error" || v.Cause != causeData {
				t.Errorf("%s: %s", query, brief(v))
			}
		}
	}
	for name, path := range paths {
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before[name]) {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside the files: %v, %v", left, err)
	}
}

// TestComputingIsAllowed: what only computes works, in each place.
func TestComputingIsAllowed(t *testing.T) {
	paths := copied(t, map[string]string{"a": "SELECT 1 AS id"})
	for _, call := range []string{"range(1)", "generate_series(1, 1)", "unnest([7])", "repeat(1, 1)", "json_each('[1]')", "live", "(SELECT 1)"} {
		for _, shape := range selects()[:19] {
			query := fmt.Sprintf(shape, call)
			if v := ask(t, document{Schema: 1, Query: query, Files: files(paths["a"]), Baseline: files(paths["a"])}); v.Outcome == "error" {
				t.Errorf("%s: %s", query, brief(v))
			}
		}
	}
	v := ask(t, document{Schema: 1, Query: "SELECT id\nFROM staged\nWHERE id < nextval('s')", Files: files(paths["a"])})
	if got := brief(v); got != `error data: line 3, column 12: the function "nextval" may not be called: it does more than compute` {
		t.Error(got)
	}
}

// TestFunctionsAreKnown: DuckDB marks functions that are no plain computation as
// volatile. Each is refused, or known here to be harmless, so that those of a
// newer DuckDB are looked at.
func TestFunctionsAreKnown(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names := func(where string) (list []string) {
		rows, err := db.Query("SELECT DISTINCT function_name FROM duckdb_functions() WHERE " + where + " ORDER BY ALL")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				t.Fatal(err)
			}
			list = append(list, name)
		}
		if err := rows.Err(); err != nil || len(list) == 0 {
			t.Fatalf("%s: %d functions, %v", where, len(list), err)
		}
		return list
	}
	harmless := []string{"current_connection_id", "current_query", "current_query_id", "current_transaction_id",
		"error", "gen_random_uuid", "random", "setseed", "sleep_ms", "stats", "uuid", "uuidv4", "uuidv7"}
	for _, name := range names("function_type <> 'table' AND stability = 'VOLATILE'") {
		if !slices.Contains(harmless, name) && !slices.Contains(actingFunctions(), name) {
			t.Errorf("%s is neither refused nor known", name)
		}
	}
	tables := names("function_type = 'table'")
	for _, name := range tableFunctions() {
		if !slices.Contains(tables, name) {
			t.Errorf("DuckDB has no table function %s", name)
		}
	}
}

// TestMessagesHoldNoValues: of an error that DuckDB meets in the data, the
// message has the kind and the place. The detail has all of it.
func TestMessagesHoldNoValues(t *testing.T) {
	paths := copied(t, map[string]string{"a": "SELECT '(secret' AS phone, 4111111111 AS card"})
	doc := document{Schema: 1, Files: files(paths["a"]), Columns: []column{{"card"}, {"phone"}}, Limits: limits{Samples: 1}}
	for _, tt := range []struct{ query, message, detail string }{
		{"SELECT CAST(phone AS INT) AS n FROM staged WHERE n > 0", "line 1, column 50: Conversion Error, column phone", "secret"},
		{"SELECT CAST(phone AS INT) FROM staged", "Conversion Error, column phone", "secret"},
		{"SELECT phone\nFROM staged\nWHERE CAST(phone AS DATE) > getvariable('now')", "line 3, column 7: Conversion Error, column phone", "secret"},
		{"SELECT CAST(card AS SMALLINT) AS n FROM staged WHERE n > 0", "Conversion Error, column card", "4111111111"},
		{"SELECT card FROM staged WHERE card * card * card * card * card > 0", "Out of Range Error", "4111111111"},
		{"SELECT card FROM staged WHERE error(phone)", "Invalid Input Error", "secret"},
		{"SELECT card FROM staged WHERE regexp_matches('x', phone)", "Invalid Input Error", "secret"},
		{"SELECT card FROM staged WHERE strptime(phone, '%Y') IS NULL", "Invalid Input Error", "secret"},
		{"SELECT card FROM staged WHERE json_extract(phone, '$.a') IS NULL", "Invalid Input Error", "secret"},
		{"SELECT card FROM staged WHERE date_part(phone, DATE '2025-03-05') = 1", "Conversion Error", "secret"},
		{"SELECT card FROM staged WHERE CAST('x' AS INT) = card", "Conversion Error", "'x'"},
	} {
		doc.Query = tt.query
		v := ask(t, doc)
		if v.Outcome != "error" || v.Cause != causeData || !strings.HasSuffix(v.Message, tt.message) || !strings.Contains(v.Detail, tt.detail) {
			t.Errorf("%s: %+v", tt.query, v)
		}
		if strings.Contains(v.Message, tt.detail) {
			t.Errorf("%s tells %s", tt.query, v.Message)
		}
	}
}

// TestDiskLimit: a query that needs more of the disk than its memory allows for
// ends, for an outside reason.
func TestDiskLimit(t *testing.T) {
	paths := copied(t, map[string]string{"a": "SELECT 1 AS id"})
	query := "SELECT md5(i::VARCHAR) AS k, count(*) AS n FROM range(4000000) r(i) GROUP BY k HAVING n > 1"
	v := ask(t, document{Schema: 1, Query: query, Files: files(paths["a"]), Limits: limits{MemoryBytes: 24 << 20}})
	if v.Outcome != "error" || v.Cause != causeOutside || !strings.Contains(v.Message, "max_temp_directory_size") {
		t.Errorf("%+v", v)
	}
}
