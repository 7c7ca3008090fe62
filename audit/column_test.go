package audit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

func bools(name string, values ...any) testColumn {
	return leaf(name, parquet.Types.Boolean, nil, -1, values)
}

func days(name string, values ...any) testColumn {
	return leaf(name, parquet.Types.Int32, schema.DateLogicalType{}, -1, values)
}

// nestedLongs is [[0,1], null, [], [2,null,3]] in a column x.
func nestedLongs() testColumn {
	return listOf(longs("x", 0, 1, 2, 3), []int16{3, 3, 0, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1})
}

// judged is one row of a table: a check over a column in each of some files.
type judgedItem struct {
	item  string
	files []testColumn
	want  string // outcome violations/tested, then what was observed of an aggregate
}

func judgeItems(t *testing.T, tests []judgedItem, observed bool) {
	t.Helper()
	for _, tt := range tests {
		var files []File
		for i, c := range tt.files {
			files = append(files, fileOf(t, fmt.Sprintf("%d.parquet", i), c))
		}
		a := judgeOne(t, tt.item, files...)
		got := summary(a)
		if observed && a.Outcome != Error {
			got += " " + a.Observed
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.item, got, tt.want, a.Message)
		}
	}
}

func TestFormats(t *testing.T) {
	of := func(values ...any) []testColumn { return []testColumn{strs("x", values...)} }
	judgeItems(t, []judgedItem{
		{"format: {column: x, format: email}", of("a@b.co", "a.b+c@d-e.example", nil), "pass 0/2"},
		{"format: {column: x, format: email}", of("a@b", "a b@c.de", "@c.de", "a@b..de", "a@-b.de", ".a@b.de", ""), "fail 7/7"},
		{"format: {column: x, format: uuid}", of("00000000-0000-0000-0000-0000000000fF", "0-0", "{00000000-0000-0000-0000-0000000000ff}"), "fail 2/3"},
		{"format: {column: x, format: ipv4}", of("10.0.0.1", "10.0.0.256", "10.0.0.01", "::1"), "fail 3/4"},
		{"format: {column: x, format: ipv6}", of("::1", "2001:db8::1", "fe80::1%eth0", "10.0.0.1"), "fail 2/4"},
		{"format: {column: x, format: date}", of("2024-02-29", "2025-02-29", "2025-1-1", "20250101"), "fail 3/4"},
		{"format: {column: x, format: timestamp}", of("2025-03-05T00:00:00Z", "2025-03-05 01:02:03.5", "2025-03-05", "2025-03-05T25:00:00Z"), "fail 2/4"},
		{"format: {column: x, format: json}", of(`{"a": [1, null]}`, `3`, `{'a': 1}`, ``), "fail 2/4"},
		{"format: {column: x, format: date, fail_if: '> 50%', warn_if: '> 0'}", of("2024-02-29", "x"), "warn 1/2"},
		{"format: {column: x, format: date, nulls: fail}", of(nil), "fail 1/1"},
		{"format: {column: x, format: date}", of(nil, nil), "warn 0/0 vacuous"},
		{"format: {column: x, format: date}", of(), "warn 0/0 vacuous"},
		{"format: {column: x, format: date}", []testColumn{longs("x", 1)}, "error 0/0"},
		{"format: {column: x, format: date}", []testColumn{strs("x", "2024-02-29"), strs("x", "?")}, "fail 1/2"},
		{"format: {column: 'x[]', format: date}", []testColumn{listOf(strs("x", "2024-02-29", "?"), []int16{3, 3}, []int16{0, 1})}, "fail 1/1"},
		{"not_empty_string: x", of("a", " "), "pass 0/2"},
		{"not_empty_string: x", of("a", "", nil), "fail 1/2"},
		{"not_empty_string: x", of(nil), "warn 0/0 vacuous"},
		{"not_empty_string: x", of(), "warn 0/0 vacuous"},
		{"not_empty_string: {column: x, severity: warn}", of(""), "warn 1/1"},
		{"not_empty_string: x", []testColumn{longs("x", 1)}, "error 0/0"},
		{"not_empty_string: x", []testColumn{strs("x", ""), strs("x", "")}, "fail 2/2"},
	}, false)
}

func TestMeasures(t *testing.T) {
	max64, nan := int64(math.MaxInt64), math.NaN()
	of := func(c testColumn) []testColumn { return []testColumn{c} }
	judgeItems(t, []judgedItem{
		{"avg: {column: x, equals: 1.5}", of(longs("x", 1, 2, nil)), "pass 0/2 1.5"},
		{"avg: {column: x, min: 1.34}", of(longs("x", 1, 1, 2)), "fail 0/3 1.333333"},
		{"avg: {column: x, min: 1.3333333333333333, max: 1.3333333333333334}", of(longs("x", 1, 1, 2)), "pass 0/3 1.333333"},
		{"avg: {column: x, equals: 9223372036854775807}", []testColumn{longs("x", max64), longs("x", max64)}, "pass 0/2 9223372036854775807"},
		{"avg: {column: x, equals: 0.015}", of(decimals("x", 38, 2, 1, 2)), "pass 0/2 0.015"},
		{"avg: {column: x, equals: 0.5, tolerance: 0.001}", of(doubles("x", 0.25, 0.75)), "pass 0/2 0.5"},
		{"avg: {column: x, equals: 0.1}", of(doubles("x", 0.1)), "error 0/0"},
		{"avg: {column: x, max: 100}", of(doubles("x", nan, 1.0)), "fail 0/2 NaN"},
		{"avg: {column: x, max: 1}", of(longs("x", nil)), "fail 0/0 vacuous no value"},
		{"avg: {column: x, max: 1}", of(longs("x")), "fail 0/0 vacuous no value"},
		{"avg: {column: x, max: 0, severity: warn}", of(longs("x", 1)), "warn 0/1 1"},
		{"avg: {column: x, max: 1}", of(strs("x", "a")), "error 0/0"},
		{"avg: {column: x, max: 1}", of(days("x", 1)), "error 0/0"},
		{"avg: {column: 'x[]', equals: 1.5}", of(nestedLongs()), "pass 0/4 1.5"},
		{"stddev: {column: x, equals: 2}", of(longs("x", 1, 3, 5)), "pass 0/3 2"},
		{"stddev: {column: x, max: 1.99}", []testColumn{longs("x", 1), longs("x", 3, 5)}, "fail 0/3 2"},
		{"stddev: {column: x, min: -1}", of(longs("x", 7, 7)), "pass 0/2 0"},
		{"stddev: {column: x, max: -1}", of(longs("x", 7, 7)), "fail 0/2 0"},
		{"stddev: {column: x, equals: 0}", of(longs("x", max64, max64, max64)), "pass 0/3 0"},
		{"stddev: {column: x, equals: 0.02}", of(decimals("x", 18, 2, 1, 3, 5)), "pass 0/3 0.02"},
		{"stddev: {column: x, equals: 2, tolerance: 1e-9}", []testColumn{doubles("x", 1.0, 3.0), doubles("x", 5.0)}, "pass 0/3 2"},
		{"stddev: {column: x, min: 0}", of(doubles("x", 1.0, nan)), "fail 0/2 NaN"},
		{"stddev: {column: x, min: 0}", of(longs("x", 1)), "fail 0/0 vacuous no value"},
		{"stddev: {column: x, min: 0}", of(longs("x", nil, nil)), "fail 0/0 vacuous no value"},
		{"min_length: {column: x, min: 1}", of(strs("x", "a", "äö", nil)), "pass 0/2 1"},
		{"min_length: {column: x, min: 1}", of(strs("x", "a", "")), "fail 0/2 0"},
		{"max_length: {column: x, max: 2}", []testColumn{strs("x", "a"), strs("x", "äö")}, "pass 0/2 2"},
		{"max_length: {column: x, max: 2, unit: bytes}", of(strs("x", "äö")), "fail 0/1 4"},
		{"max_length: {column: x, max: 2}", of(strs("x", nil)), "fail 0/0 vacuous no value"},
		{"max_length: {column: x, max: 2}", of(longs("x", 1)), "error 0/0"},
		{"max_length: {column: x, max: 2, severity: warn}", of(strs("x", "abc")), "warn 0/1 3"},
		{"zero_count: {column: x, equals: 1}", of(longs("x", 0, 1, nil)), "pass 0/2 1"},
		{"zero_count: {column: x, max: 1}", []testColumn{longs("x", 0, 5), longs("x", 0)}, "fail 0/3 2"},
		{"zero_count: {column: x, equals: 2}", of(doubles("x", 0.0, math.Copysign(0, -1), nan)), "pass 0/3 2"},
		{"zero_count: {column: x, equals: 1}", of(decimals("x", 38, 2, 0, 1)), "pass 0/2 1"},
		{"zero_count: {column: x, max: 0}", of(longs("x", nil)), "fail 0/0 vacuous no value"},
		{"zero_count: {column: x, max: 0}", of(strs("x", "0")), "error 0/0"},
		{"zero_count: {column: 'x[]', equals: 1}", of(nestedLongs()), "pass 0/4 1"},
		{"true_rate: {column: x, min: 50%}", of(bools("x", true, false, nil)), "pass 0/2 50%"},
		{"true_rate: {column: x, min: 66.67%}", []testColumn{bools("x", true, false), bools("x", true)}, "fail 0/3 66.67%"},
		{"true_rate: {column: x, min: 0.666}", of(bools("x", true, false, true)), "pass 0/3 66.67%"},
		{"true_rate: {column: x, max: 0, severity: warn}", of(bools("x", true)), "warn 0/1 100%"},
		{"true_rate: {column: x, max: 0}", of(bools("x", nil)), "fail 0/0 vacuous no value"},
		{"true_rate: {column: x, max: 0}", of(bools("x")), "fail 0/0 vacuous no value"},
		{"true_rate: {column: x, max: 0}", of(longs("x", 1)), "error 0/0"},
		{"not_constant: x", of(longs("x", 1, 2)), "pass 0/2 several values"},
		{"not_constant: x", of(longs("x", 1, nil, 1)), "fail 0/2 one value"},
		{"not_constant: x", []testColumn{longs("x", 1, 1), longs("x", 2)}, "pass 0/3 several values"},
		{"not_constant: x", []testColumn{longs("x", 1), longs("x", nil), longs("x", 1)}, "fail 0/2 one value"},
		{"not_constant: x", of(doubles("x", nan, nan)), "fail 0/2 one value"},
		{"not_constant: x", of(doubles("x", 0.0, math.Copysign(0, -1))), "fail 0/2 one value"},
		{"not_constant: {column: x, severity: warn}", of(strs("x", "a")), "warn 0/1 one value"},
		{"not_constant: x", of(strs("x", nil)), "fail 0/0 vacuous no value"},
		{"not_constant: y", of(strs("x", nil)), "error 0/0"},
		{"not_constant: 'x[]'", of(nestedLongs()), "pass 0/4 several values"},
	}, true)
}

func TestDistinctValues(t *testing.T) {
	of := func(values ...any) []testColumn { return []testColumn{strs("x", values...)} }
	judgeItems(t, []judgedItem{
		{"distinct_values: {column: x, equals: [a, b]}", of("a", "b", "a", nil), "pass 0/3 2 of 2 listed values"},
		{"distinct_values: {column: x, equals: [a, b]}", of("a", "b", "c"), "fail 0/3 2 of 2 listed values"},
		{"distinct_values: {column: x, equals: [a, b]}", of("a"), "fail 0/1 1 of 2 listed values"},
		{"distinct_values: {column: x, contains: [a, b]}", of("a", "b", "c"), "pass 0/3 2 of 2 listed values"},
		{"distinct_values: {column: x, contains: [a, d]}", of("a", "b", "c"), "fail 0/3 1 of 2 listed values"},
		{"distinct_values: {column: x, contains: [a, b]}", []testColumn{strs("x", "a"), strs("x", "b")}, "pass 0/2 2 of 2 listed values"},
		{"distinct_values: {column: x, contains: [a], severity: warn}", of("b"), "warn 0/1 0 of 1 listed values"},
		{"distinct_values: {column: x, contains: [a]}", of(nil), "fail 0/0 vacuous no value"},
		{"distinct_values: {column: x, contains: [a]}", of(), "fail 0/0 vacuous no value"},
		{"distinct_values: {column: x, contains: [a]}", []testColumn{longs("x", 1)}, "error 0/0"},
		{"distinct_values: {column: x, equals: [1, .nan]}", []testColumn{doubles("x", 1.0, math.NaN())}, "pass 0/2 2 of 2 listed values"},
		{"distinct_values: {column: x, equals: [1]}", []testColumn{doubles("x", 1.0, math.NaN())}, "fail 0/2 1 of 1 listed values"},
		{"distinct_values: {column: 'x[]', equals: [0, 1, 2, 3]}", []testColumn{nestedLongs()}, "pass 0/4 4 of 4 listed values"},
	}, true)
	a := judgeOne(t, "distinct_values: {column: x, equals: [a, b]}", fileOf(t, "f", strs("x", "a", "c", "c")))
	if a.Message != "missing: b" || countsOf(a)["other_values"] != 2 || countsOf(a)["missing_values"] != 1 {
		t.Errorf("%q %v", a.Message, a.Counts)
	}
}

func TestListLength(t *testing.T) {
	of := []testColumn{nestedLongs()}
	judgeItems(t, []judgedItem{
		{"list_length: {column: x, max: 3}", of, "pass 0/3"},
		{"list_length: {column: x, min: 1}", of, "fail 1/3"},
		{"list_length: {column: x, min: 1, nulls: fail}", of, "fail 2/4"},
		{"list_length: {column: x, equals: 2, fail_if: '> 90%', warn_if: '> 0'}", of, "warn 2/3"},
		{"list_length: {column: x, min: 1}", []testColumn{nestedLongs(), nestedLongs()}, "fail 2/6"},
		{"list_length: {column: x, min: 1}", []testColumn{listOf(longs("x"), []int16{0}, []int16{0})}, "warn 0/0 vacuous"},
		{"list_length: {column: x, min: 1}", []testColumn{longs("x", 1)}, "error 0/0"},
		{"list_length: {column: 'x[]', min: 1}", of, "error 0/0"},
	}, false)
	a := judgeOne(t, "list_length: {column: x, min: 3}", fileOf(t, "f", nestedLongs()))
	var got []string
	for _, s := range a.Samples {
		got = append(got, fmt.Sprintf("%d: %s", s.Row, s.Values[0].Text))
	}
	if strings.Join(got, ", ") != "0: 2 elements, 2: 0 elements" || a.Grade != GradeLevels {
		t.Errorf("samples %v, grade %s", got, a.Grade)
	}
}

func TestOrder(t *testing.T) {
	max64, nan := int64(math.MaxInt64), math.NaN()
	of := func(c ...testColumn) []testColumn { return c }
	uint64s := leaf("x", parquet.Types.Int64, schema.NewIntLogicalType(64, false), -1, []any{1, uint64(math.MaxUint64)})
	judgeItems(t, []judgedItem{
		{"monotonic: x", of(longs("x", 1, 1, nil, 2)), "pass 0/3"},
		{"monotonic: x", of(longs("x", 1, 3, 2, 4)), "fail 1/4"},
		{"monotonic: {column: x, strict: true}", of(longs("x", 1, 1, 2)), "fail 1/3"},
		{"monotonic: {column: x, order: decreasing}", of(longs("x", 3, 2, 2)), "pass 0/3"},
		{"monotonic: {column: x, order: decreasing, strict: true}", of(longs("x", 3, 2, 2)), "fail 1/3"},
		{"monotonic: x", of(longs("x", 1, 5), longs("x", 4, 6)), "fail 1/4"},
		{"monotonic: x", of(longs("x", 1, 5), longs("x", nil), longs("x", 5)), "pass 0/3"},
		{"monotonic: x", of(doubles("x", 1.0, nan, 2.0)), "fail 2/3"},
		{"monotonic: x", of(strs("x", "a", "B")), "fail 1/2"},
		{"monotonic: x", of(uint64s), "pass 0/2"},
		{"monotonic: x", of(decimals("x", 38, 2, -5, 7)), "pass 0/2"},
		{"monotonic: {column: x, fail_if: '> 1', warn_if: '> 0'}", of(longs("x", 2, 1)), "warn 1/2"},
		{"monotonic: x", of(longs("x", nil)), "warn 0/0 vacuous"},
		{"monotonic: x", of(longs("x")), "warn 0/0 vacuous"},
		{"monotonic: x", of(bools("x", true)), "error 0/0"},
		{"monotonic: 'x[]'", of(nestedLongs()), "error 0/0"},
		{"sequential: x", of(longs("x", 5, 6, nil, 7)), "pass 0/3"},
		{"sequential: x", of(longs("x", 5, 7, 8)), "fail 1/3"},
		{"sequential: x", of(longs("x", 5, 5)), "fail 1/2"},
		{"sequential: x", of(longs("x", max64, -max64-1)), "fail 1/2"},
		{"sequential: {column: x, step: -2}", of(longs("x", 5, 3), longs("x", 1)), "pass 0/3"},
		{"sequential: x", of(days("x", 19999, 20000), days("x", 20002)), "fail 1/3"},
		{"sequential: {column: x, severity: warn}", of(longs("x", 5, 7)), "warn 1/2"},
		{"sequential: x", of(longs("x", nil)), "warn 0/0 vacuous"},
		{"sequential: x", of(doubles("x", 1.0)), "error 0/0"},
		{"sequential: x", of(decimals("x", 18, 2, 1)), "error 0/0"},
	}, false)
	a := judgeOne(t, "monotonic: x", fileOf(t, "a", longs("x", 1, 9)), fileOf(t, "b", longs("x", 8, 7)))
	want := []Sample{
		{File: "b", Row: 0, Values: []Value{{Column: "x", Text: "8"}}}, {File: "b", Row: 1, Values: []Value{{Column: "x", Text: "7"}}},
	}
	if fmt.Sprint(a.Samples) != fmt.Sprint(want) {
		t.Errorf("samples %v", a.Samples)
	}
}

// Now is 2025-03-05T12:00:00Z.
func TestFreshness(t *testing.T) {
	now := int64(1741176000000000)
	hour := int64(3600e6)
	tests := []struct {
		zone, item string
		columns    []testColumn
		want       string
	}{
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true, now-6*hour, nil)}, "pass 0/1"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true, now-6*hour-1)}, "fail 0/1"},
		{"", "recency: {column: x, max_age: 6h}", []testColumn{stamps("x", true, now-9*hour), stamps("x", true, now)}, "pass 0/2"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true, now+hour/12)}, "pass 0/1"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true, now, now+hour/12+1)}, "fail 0/2"},
		{"", "freshness: {column: x, max_age: 6h, max_future: 2h}", []testColumn{stamps("x", true, now+hour)}, "pass 0/1"},
		{"", "freshness: {column: x, max_age: 6h, severity: warn}", []testColumn{stamps("x", true, now-9*hour)}, "warn 0/1"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true, nil)}, "fail 0/0 vacuous"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", true)}, "fail 0/0 vacuous"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", false, now)}, "error 0/0"},
		{"", "freshness: {column: x, max_age: 6h}", []testColumn{longs("x", now)}, "error 0/0"},
		{"Asia/Tokyo", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", false, now+4*hour)}, "pass 0/1"},
		{"Asia/Tokyo", "freshness: {column: x, max_age: 6h}", []testColumn{stamps("x", false, now)}, "fail 0/1"},
		{"UTC", "freshness: {column: x, max_age: 12h}", []testColumn{days("x", 20152)}, "pass 0/1"},
		{"UTC", "freshness: {column: x, max_age: 11h59m59s}", []testColumn{days("x", 20152)}, "fail 0/1"},
		{"UTC", "freshness: {column: x, max_age: 12h}", []testColumn{days("x", 20153)}, "fail 0/1"},
		{"", "freshness: {column: x, max_age: 6h, where: x < '2025-03-05T12:00:00Z'}", []testColumn{stamps("x", true, now-hour, now+9*hour)}, "pass 0/1"},
	}
	for _, tt := range tests {
		var files []File
		for i, c := range tt.columns {
			files = append(files, fileOf(t, fmt.Sprintf("%d.parquet", i), c))
		}
		text := checks(tt.item)
		if tt.zone != "" {
			text += "timezone: " + tt.zone + "\n"
		}
		a := resultOf(t, mustRun(t, mustParse(t, text), Partition{Files: files}, Options{}), "freshness(x)")
		if summary(a) != tt.want {
			t.Errorf("%s, zone %q: %s, want %s; %s", tt.item, tt.zone, summary(a), tt.want, a.Message)
		}
	}
}
