package audit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/wap-cli/wap/manifest"
)

// summary is what a table test compares: outcome, violations of rows tested.
func summary(a Result) string {
	text := fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested)
	if a.Vacuous {
		text += " vacuous"
	}
	return text
}

// orders are six rows in two files, as dictionaries and as plain values.
func orders(t *testing.T, props ...parquet.WriterProperty) []File {
	t.Helper()
	first := []testColumn{longs("id", 1, 2, 2, 3), strs("status", "open", "paid", "paid", nil),
		decimals("amount", 18, 2, 100, -50, 250, nil), doubles("score", 1.0, math.NaN(), nil, 2.0)}
	second := []testColumn{longs("id", 3, 1), strs("status", "paid", "open"),
		decimals("amount", 18, 2, 75, 100), doubles("score", 0.5, 4.0)}
	return []File{
		memoryFile("a.parquet", parquetBytes(t, [][]testColumn{first}, props...)),
		memoryFile("b.parquet", parquetBytes(t, [][]testColumn{second}, props...)),
	}
}

// Every family with `where`, and the four ways to be left without a row.
func TestWhere(t *testing.T) {
	tests := []struct{ item, want string }{
		{"not_null: {column: amount, where: \"status = 'paid'\"}", "pass 0/3"},
		{"not_null: {column: amount, where: status is null}", "fail 1/1"},
		{"not_null: {column: amount, where: id = 3, fail_if: '> 50%'}", "pass 1/2"},
		{"not_null: {column: amount, where: id = 3, fail_if: '>= 50%'}", "fail 1/2"},
		{"not_null: {column: amount, where: id = 3, fail_if: '> 50%', warn_if: '> 0'}", "warn 1/2"},
		{"accepted_range: {column: amount, min: 0, where: \"status <> 'paid'\"}", "pass 0/2"},
		{"accepted_range: {column: amount, min: 0, where: \"not (status <> 'paid')\"}", "fail 1/3"},
		{"accepted_range: {column: amount, min: 0, where: id > 9}", "warn 0/0 vacuous"},
		{"accepted_range: {column: amount, min: 0, where: id > 9, on_no_rows: fail}", "fail 0/0 vacuous"},
		{"accepted_range: {column: amount, min: 0, where: status is null}", "warn 0/0 vacuous"},
		{"accepted_values: {column: status, values: [paid], where: amount > 0.5}", "fail 2/4"},
		{"finite: {column: score, where: id = 2}", "fail 1/1"},
		{"regex: {column: status, pattern: 'p.*', where: amount < 0}", "pass 0/1"},
		{"length: {column: status, max: 3, where: id = 1}", "fail 2/2"},
		{"unique: {column: id, where: \"status = 'paid'\"}", "fail 1/3"},
		{"unique: {column: id, where: \"status = 'open'\"}", "fail 1/2"},
		{"unique: {column: id, where: amount is null or amount < 1}", "fail 1/3"},
		{"unique: {column: id, where: id < 0}", "warn 0/0 vacuous"},
		{"primary_key: {columns: [id, status], where: id = 3}", "fail 1/2"},
		{"null_rate: {column: amount, max: 0, where: id < 3}", "pass 0/4"},
		{"null_rate: {column: amount, max: 0, where: id > 9}", "fail 0/0 vacuous"},
		{"not_all_null: {column: amount, where: status is null}", "fail 0/1"},
		{"row_count: {equals: 3, where: \"status = 'paid'\"}", "pass 0/3"},
		{"row_count: {max: 0, where: amount < -0.5}", "pass 0/0"},
		{"row_count: {min: 1, where: amount < -0.5}", "fail 0/0"},
		{"sum: {column: amount, equals: 2.75, where: \"status = 'paid'\"}", "pass 0/3"},
		{"sum: {column: amount, min: 0, where: status is null}", "fail 0/0 vacuous"},
		{"min: {column: amount, equals: 1, where: \"status = 'open'\"}", "pass 0/2"},
		{"max: {column: score, max: 9, where: id = 2}", "fail 0/1"},
		{"count_distinct: {column: id, equals: 2, where: \"status = 'paid'\"}", "pass 0/3"},
		{"expression: {expr: amount > 0, where: status is not null}", "fail 1/5"},
		{"expression: {expr: amount > 0, where: id > 9}", "warn 0/0 vacuous"},
		{"not_null: {column: id, where: cast(status as int) > 0}", "error 0/0"},
		{"not_null: {column: id, where: colour > 0}", "error 0/0"},
		{"not_null: {column: id, where: status > 0}", "error 0/0"},
	}
	for _, tt := range tests {
		for name, files := range map[string][]File{
			"dictionaries": orders(t), "plain": orders(t, parquet.WithDictionaryDefault(false)),
		} {
			if a := judgeOne(t, tt.item, files...); summary(a) != tt.want {
				t.Errorf("%s, %s: %s, want %s; %s", tt.item, name, summary(a), tt.want, a.Message)
			}
		}
	}
}

// A condition hides rows, never where the others stand, and leaves no metric
// that would pass for one of all rows.
func TestWhereKeepsPlaces(t *testing.T) {
	c := mustParse(t, checks("accepted_range: {column: amount, max: 1, where: id > 1}",
		"unique: {column: id, where: \"amount is null or amount <> 1\", id: u}", "sum: {column: amount, min: 0, where: id = 1}"))
	r := mustRun(t, c, Partition{Files: orders(t)}, Options{})
	a := resultOf(t, r, "accepted_range(amount)")
	want := []Sample{{File: "a.parquet", Row: 2, Values: []Value{{Column: "amount", Text: "2.50"}}}}
	if fmt.Sprint(a.Samples) != fmt.Sprint(want) || a.RowsTotal != 6 || countsOf(a)["rows_outside_where"] != 2 {
		t.Errorf("samples %v, total %d, counts %v", a.Samples, a.RowsTotal, a.Counts)
	}
	if a.Expected != "<= 1 where id > 1" {
		t.Errorf("expected %q", a.Expected)
	}
	u := resultOf(t, r, "u")
	var places []string
	for _, s := range u.Samples {
		places = append(places, fmt.Sprintf("%s:%d", s.File, s.Row))
	}
	if got := strings.Join(places, " "); got != "a.parquet:2 b.parquet:0" {
		t.Errorf("surplus rows at %s", got)
	}
	for _, m := range r.Partitions[0].Metrics {
		if m.Name == "sum" {
			t.Errorf("metric %v of some rows alone", m)
		}
	}
}

func TestWhereOnNestedColumns(t *testing.T) {
	// [[0,1], null, [], [2,null,3]] beside 1, 2, 3, 4
	file := fileOf(t, "a.parquet", listOf(longs("x", 0, 1, 2, 3),
		[]int16{3, 3, 0, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1}), longs("n", 1, 2, 3, 4),
		structOf("s", longs("a", 7, 8), []int16{0, 1, 2, 2}))
	for item, want := range map[string]string{
		"not_null: {column: 'x[]', where: n > 1}":               "fail 1/3",
		"not_null: {column: 'x[]', where: n < 4}":               "pass 0/3",
		"accepted_range: {column: 'x[]', max: 1, where: n = 4}": "fail 1/1",
		"not_null: {column: s, where: n < 3}":                   "fail 1/2",
		"accepted_range: {column: n, min: 4, where: s.a > 7}":   "pass 0/1",
		"expression: s.a < n or n < 3":                          "fail 2/4",
		"expression: s.a = 7 or s.a is null or n = 4":           "pass 0/4",
		"expression: x > 1":                                     "error 0/0",
		"not_null: {column: n, where: s is null}":               "error 0/0",
	} {
		if a := judgeOne(t, item, file); summary(a) != want {
			t.Errorf("%s: %s, want %s; %s", item, summary(a), want, a.Message)
		}
	}
	a := judgeOne(t, "sum: {column: 'x[]', equals: 5, where: 'n in (3, 4)'}", file)
	if a.Outcome != Pass {
		t.Errorf("sum of elements is %s", a.Observed)
	}
}

func TestWhereOnPartitionKeys(t *testing.T) {
	part := Partition{Partition: keyed("dt", "2025-03-05", "hour", "01"), Files: []File{fileOf(t, "a.parquet", longs("x", 1, 1, 2))}}
	items := map[string]string{
		"expression: {id: a, expr: x <= hour + 1 and dt = '2025-03-05'}": "pass 0/3",
		"expression: {id: b, expr: x = hour}":                            "fail 1/3",
		"row_count: {id: c, equals: 3, where: hour = 1}":                 "pass 0/3",
		"unique: {id: d, column: x, where: hour <> 1}":                   "warn 0/0 vacuous",
	}
	r := mustRun(t, mustParse(t, checks(slices.Sorted(maps.Keys(items))...)+"columns: [{name: hour, type: int32}, {name: dt, type: date32}]\n"),
		part, Options{})
	for item, want := range items {
		id := item[strings.Index(item, "id: ")+4:][:1]
		if a := resultOf(t, r, id); summary(a) != want {
			t.Errorf("%s: %s, want %s; %s", item, summary(a), want, a.Message)
		}
	}
}

func TestExpression(t *testing.T) {
	dates := leaf("d", parquet.Types.Int32, schema.DateLogicalType{}, -1, []any{20152, 0, nil})
	uint64s := leaf("u", parquet.Types.Int64, schema.NewIntLogicalType(64, false), -1, []any{uint64(math.MaxUint64), 0, nil})
	tests := []struct {
		item string
		file File
		want string
	}{
		{"expression: a <= b", fileOf(t, "f", longs("a", 1, 2), longs("b", 1, 3)), "pass 0/2"},
		{"satisfies: a <= b", fileOf(t, "f", longs("a", 1, 5), longs("b", 1, 3)), "fail 1/2"},
		{"expression_is_true: a <= b", fileOf(t, "f", longs("a", 1, nil), longs("b", 1, 3)), "fail 1/2"},
		{"expression: {expr: a <= b, nulls: skip}", fileOf(t, "f", longs("a", 1, nil), longs("b", 1, 3)), "pass 0/1"},
		{"expression: {expr: a <= b, nulls: skip}", fileOf(t, "f", longs("a", nil), longs("b", 3)), "warn 0/0 vacuous"},
		{"expression: {expr: a <= b, severity: warn}", fileOf(t, "f", longs("a", nil), longs("b", 3)), "warn 1/1"},
		{"expression: {expr: a <= b, warn_if: '> 0', fail_if: '> 1'}", fileOf(t, "f", longs("a", 4), longs("b", 3)), "warn 1/1"},
		{"expression: a <= b", fileOf(t, "f", longs("a"), longs("b")), "warn 0/0 vacuous"},
		{"expression: a <= b", memoryFile("f", noRowGroups(t)), "error 0/0"},
		{"expression: x > 0", memoryFile("f", noRowGroups(t)), "warn 0/0 vacuous"},
		{"expression: x > 0", fileOf(t, "f", doubles("x", math.NaN(), 1.0)), "fail 1/2"},
		{"expression: x + 1 > x", fileOf(t, "f", longs("x", int64(math.MaxInt64))), "pass 0/1"},
		{"expression: x * 3 = 0.03", fileOf(t, "f", decimals("x", 38, 2, 1)), "pass 0/1"},
		{"expression: u >= 0", fileOf(t, "f", uint64s), "fail 1/3"},
		{"expression: \"d = '2025-03-05' or d < '1970-01-02' or d is null\"", fileOf(t, "f", dates), "pass 0/3"},
		{"expression: a < 'x'", fileOf(t, "f", longs("a", 1)), "error 0/0"},
	}
	for _, tt := range tests {
		if a := judgeOne(t, tt.item, tt.file); summary(a) != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.item, summary(a), tt.want, a.Message)
		}
	}
	a := judgeOne(t, "expression: {expr: a < b, redact: [b]}", fileOf(t, "f", longs("a", 1, nil, 9), longs("b", 2, 3, 4)))
	want := []Sample{
		{File: "f", Row: 1, Values: []Value{{Column: "a", Null: true}, {Column: "b", Text: redactedText}}},
		{File: "f", Row: 2, Values: []Value{{Column: "a", Text: "9"}, {Column: "b", Text: redactedText}}},
	}
	if fmt.Sprint(a.Samples) != fmt.Sprint(want) || countsOf(a)["null_results"] != 1 {
		t.Errorf("samples %v, counts %v", a.Samples, a.Counts)
	}
	b := judgeOne(t, "expression: a < 'x'", fileOf(t, "f", longs("a", 1)))
	if b.Message != "checks.yaml:3:17: a number cannot be compared with a text" {
		t.Errorf("message %q", b.Message)
	}
	c := judgeOne(t, "expression: cast(s as int) > 0", fileOf(t, "f", strs("s", "1", "x")))
	if c.Outcome != Error || c.Message != "row 1: a cast to int has no value (checks.yaml:3:17)" || c.Error.File != "f" {
		t.Errorf("%s %q", c.Outcome, c.Message)
	}
}

func TestExpressionMistakes(t *testing.T) {
	columns := "columns:\n  - {name: s, type: string}\n  - {name: n, type: int64}\n"
	tests := []struct{ item, want string }{
		{"expression: n > 's", "3:21: ' has no end"},
		{"expression: 'n > s'", "3:18: a number cannot be compared with a text"},
		{"expression: {expr: \"n > 0 and lower(n) = 'a'\"}", "3:41: lower takes a text, this is a number"},
		{"expression: {expr: 's = ''é'' and n > s'}", "3:39: a number cannot be compared with a text"},
		{"expression: 1 = 1", "3:17: expr names no column"},
		{"row_count: {min: 1, where: n + 1}", "3:32: a condition is true or false, this is a number"},
		{"row_count: {min: 1, where: n >}", "3:35: expected a value, not the end"},
		{"row_count: {min: 1, where: '${partition.dt} = s'}", "3:32: where cannot depend on the partition"},
		{"schema: {columns: [a], where: n > 1}", "3:28: schema does not take where"},
		{"distinct_values: {column: s, equals: [a], contains: [b]}", "3:47: distinct_values: takes either equals or contains"},
		{"sequential: {column: n, step: 0}", "3:35: step is 0"},
		{"freshness: {column: n}", "3:16: freshness needs max_age"},
		{"avg: {column: n, min: x}", "3:27: min is a number, not \"x\""},
		{"format: {column: s, format: url}", "3:33: format \"url\" is not one of email, uuid, ipv4, ipv6, date, timestamp, json"},
		{"expression: {where: n > 1}", "3:17: expression needs expr"},
		{"expression: |\n      n > 0\n      and n > s", "3:17: a number cannot be compared with a text, at character 11 of the expression"},
	}
	for _, tt := range tests {
		_, err := Parse("c.yaml", []byte(checks(tt.item)+columns), Vars{})
		if got := fmt.Sprint(err); got != "c.yaml:"+tt.want {
			t.Errorf("%s: %s, want %s", tt.item, got, tt.want)
		}
	}
}

// Where a condition stands is no part of what it means.
func TestDigestOfConditions(t *testing.T) {
	a := mustParse(t, checks("expression: n > 1", "row_count: {min: 1, where: n > 2}"))
	b := mustParse(t, checks("expression: {expr:    'n > 1'}", "row_count: {where: n > 2, min: 1}"))
	c := mustParse(t, checks("expression: n > 1", "row_count: {min: 1, where: n > 3}"))
	if a.Digest() != b.Digest() || a.Digest() == c.Digest() {
		t.Errorf("digests %s, %s, %s", a.Digest(), b.Digest(), c.Digest())
	}
}

// Uniqueness over old and new rows is asked of the chosen ones of both.
func TestWhereSpansLive(t *testing.T) {
	part := Partition{Mode: manifest.ModeAppend, Files: []File{fileOf(t, "new", longs("x", 1, 2), longs("y", 1, 1))},
		Live: []File{fileOf(t, "old", longs("x", 1, 2), longs("y", 1, 0))}}
	r := mustRun(t, mustParse(t, checks("unique: {column: x, where: y = 1}")), part, Options{})
	if a := resultOf(t, r, "unique(x)"); summary(a) != "fail 1/3" || a.RowsTotal != 4 {
		t.Errorf("%s of %d", summary(a), a.RowsTotal)
	}
}

// A candidate without files lacks what the other side has, with a condition too.
func TestWhereWithoutFiles(t *testing.T) {
	there := []Partition{publishedAs("there", fileOf(t, "b", longs("x", 1, 2, 3)))}
	shelf := &shelf{data: map[string][]Partition{"there": there, day("2025-03-04").Path: there}, states: []*manifest.Manifest{stateOf("2025-03-04", 3)}}
	for item, want := range map[string]string{
		"matches: {with: {partition: there}}":                 "fail 3/3",
		"matches: {with: {partition: there}, where: x > 1}":   "fail 2/2",
		"matches: {with: {partition: there}, where: x > 9}":   "warn 0/0 vacuous",
		"matches: {with: {partition: there}, where: y > 9}":   "error 0/0",
		"reconcile: {with: {partition: there}, where: x > 1}": "fail 1/0",
		"reconcile: {with: {partition: there}, where: x > 9}": "pass 0/0",
		"groups: {by: [x], where: x > 1}":                     "fail 2/0",
		"row_count: {min: 1, where: x > 1}":                   "fail 0/0 vacuous",
		"relationships: {column: x, to: there, where: x > 1}": "warn 0/0 vacuous",
	} {
		if a := shelf.against(t, item); summary(a) != want {
			t.Errorf("%s: %s, want %s; %s", item, summary(a), want, a.Message)
		} else if a.Outcome == Fail && !a.Vacuous && strings.Contains(item, "where") && !strings.Contains(a.Expected, " where x > 1") {
			t.Errorf("%s: expected %s", item, a.Expected)
		}
	}
}
