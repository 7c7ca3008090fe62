package audit

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

func bigInt(t *testing.T, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is not a number", text)
	}
	return n
}

// Each assertion about values, over one file: outcome, violations, rows tested.
func TestValueAssertions(t *testing.T) {
	max64 := int64(math.MaxInt64)
	uint64s := leaf("u", parquet.Types.Int64, schema.NewIntLogicalType(64, false), -1,
		[]any{uint64(math.MaxUint64), 0, nil})
	uint32s := leaf("u", parquet.Types.Int32, schema.NewIntLogicalType(32, false), -1, []any{int64(math.MaxUint32), 1})
	dates := leaf("d", parquet.Types.Int32, schema.DateLogicalType{}, -1, []any{0, 20152, nil})
	bools := leaf("b", parquet.Types.Boolean, nil, -1, []any{true, false, nil})
	floats := leaf("f", parquet.Types.Float, nil, -1, []any{0.1, 0.5})
	uuids := leaf("id", parquet.Types.FixedLenByteArray, schema.UUIDLogicalType{}, 16, []any{bigInt(t, "1"), bigInt(t, "255")})
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		item   string
		column testColumn
		want   string // outcome violations/tested
	}{
		{"accepted_range: {column: x, min: 1, max: 3}", longs("x", 1, 2, 3, nil), "pass 0/3"},
		{"accepted_range: {column: x, min: 1.5}", longs("x", 1, 2, nil), "fail 1/2"},
		{"accepted_range: {column: x, exclusive_min: 1, exclusive_max: 3}", longs("x", 1, 2, 3), "fail 2/3"},
		{"accepted_range: {column: x, min: 1, exclusive_min: true}", longs("x", 1, 2), "fail 1/2"},
		{"accepted_range: {column: x, exclusive_max: 2.5}", longs("x", 2, 3), "fail 1/2"},
		{"accepted_range: {column: x, min: 9223372036854775807}", longs("x", max64, max64-1), "fail 1/2"},
		{"accepted_range: {column: x, min: 9223372036854775808}", longs("x", max64), "fail 1/1"},
		{"accepted_range: {column: x, max: 1e30}", longs("x", max64), "pass 0/1"},
		{"accepted_range: {column: u, max: 18446744073709551614}", uint64s, "fail 1/2"},
		{"accepted_range: {column: u, min: -5}", uint64s, "pass 0/2"},
		{"accepted_range: {column: u, min: 2}", uint32s, "fail 1/2"},
		{"accepted_range: {column: x, max: 1}", doubles("x", 1.0, nan, -inf, nil), "fail 1/3"},
		{"accepted_range: {column: x, min: .inf}", doubles("x", 1.0, inf), "fail 1/2"},
		{"accepted_range: {column: f, max: 0.1}", floats, "fail 1/2"},
		{"accepted_range: {column: d, min: 2025-03-05}", dates, "fail 1/2"},
		{"accepted_range: {column: x, min: b, max: c}", strs("x", "a", "b", "bb", "c", "cc"), "fail 2/5"},
		{"accepted_range: {column: x, min: 1.005, max: 2}", decimals("x", 18, 2, 100, 101, 200, 201), "fail 2/4"},
		{"accepted_range: {column: x, min: 5}", longs("x", 6, nil), "pass 0/1"},
		{"accepted_range: {column: x, min: 5, nulls: fail}", longs("x", 6, nil), "fail 1/2"},
		{"accepted_range: {column: x, min: 5}", longs("x", nil, nil), "warn 0/0"},
		{"accepted_range: {column: x, min: 5, on_no_rows: pass}", longs("x", nil), "pass 0/0"},
		{"accepted_range: {column: x, min: 5, on_no_rows: fail}", longs("x", nil), "fail 0/0"},
		{"accepted_range: {column: x, min: 5, on_no_rows: fail, severity: warn}", longs("x", nil), "warn 0/0"},
		{"accepted_values: {column: x, values: [NO, SE]}", strs("x", "NO", "SE", "no", nil), "fail 1/3"},
		{"accepted_values: {column: x, values: [1, 2.0]}", longs("x", 1, 2, 3), "fail 1/3"},
		{"accepted_values: {column: x, values: [1.5]}", longs("x", 1), "fail 1/1"},
		{"accepted_values: {column: x, values: [0.0, 1.5]}", doubles("x", math.Copysign(0, -1), 1.5, nan), "fail 1/3"},
		{"accepted_values: {column: x, values: [1, .nan]}", doubles("x", 1.0, nan), "pass 0/2"},
		{"accepted_values: {column: b, values: [true]}", bools, "fail 1/2"},
		{"accepted_values: {column: u, values: [18446744073709551615, 0]}", uint64s, "pass 0/2"},
		{"accepted_values: {column: d, values: [1970-01-01]}", dates, "fail 1/2"},
		{"accepted_values: {column: x, values: [1.01]}", decimals("x", 18, 2, 101, 102), "fail 1/2"},
		{"accepted_values: {column: id, values: [00000000-0000-0000-0000-0000000000ff]}", uuids, "fail 1/2"},
		{"not_accepted_values: {column: x, values: [3]}", longs("x", 1, 3, 3, nil), "fail 2/3"},
		{"not_accepted_values: {column: x, values: [.nan]}", doubles("x", 1.0, nan), "fail 1/2"},
		{"regex: {column: x, pattern: '^foo|bar$'}", strs("x", "foo", "bar", "foobar", ""), "fail 2/4"},
		{"regex: {column: x, pattern: 'o', match: partial}", strs("x", "foo", "bar"), "fail 1/2"},
		{"regex: {column: x, pattern: '[a-z]+'}", strs("x", "abc", "abc\n"), "fail 1/2"},
		{"regex: {column: x, pattern: 'a.c'}", strs("x", "aäc", "a\nc"), "fail 1/2"},
		{"length: {column: x, max: 3}", strs("x", "äöü", "abcd", "", nil), "fail 1/3"},
		{"length: {column: x, max: 3, unit: bytes}", strs("x", "äöü", "abc"), "fail 1/2"},
		{"length: {column: x, equals: 2}", strs("x", "ab", "a"), "fail 1/2"},
		{"finite: x", doubles("x", 1.0, nan, inf, -inf, nil), "fail 3/4"},
		{"finite: x", longs("x", 1), "pass 0/1"},
		{"not_null: x", longs("x", 1, nil, 3), "fail 1/3"},
		{"not_null: {column: x, nan_as_null: true}", doubles("x", 1.0, nil, nan), "fail 2/3"},
		{"not_null: {column: x, missing_values: ['', N/A]}", strs("x", "", "N/A", "a", nil), "fail 3/4"},
		{"not_null: {column: x, missing_values: [-1], nan_as_null: true}", doubles("x", -1.0, nan, 2.0), "fail 2/3"},
		{"not_null: {column: x, fail_if: '> 50%', warn_if: '> 0'}", longs("x", 1, nil), "warn 1/2"},
		{"not_null: {column: x, severity: warn}", longs("x", nil), "warn 1/1"},
		{"not_null: {column: x, mostly: 0.5}", longs("x", 1, nil), "pass 1/2"},
		{"unique: x", longs("x", 1, 1, 1, 2, nil, nil), "fail 2/4"},
		{"unique: {column: x, nulls: equal}", longs("x", 1, nil, nil), "fail 1/3"},
		{"unique: {column: x, nulls: fail}", longs("x", 1, 1, nil, nil), "fail 3/4"},
		{"primary_key: x", doubles("x", 1.0, nan, nan, nil), "fail 3/4"},
		{"primary_key: x", doubles("x", 1.0, 1.0, nan, nil), "fail 3/4"},
		{"unique: x", doubles("x", 0.0, math.Copysign(0, -1), nan, nan), "fail 2/4"},
		{"unique: x", longs("x", nil, nil), "warn 0/0"},
	}
	for _, tt := range tests {
		t.Run(tt.item, func(t *testing.T) {
			a := judgeOne(t, tt.item, fileOf(t, "a.parquet", tt.column))
			if got := fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested); got != tt.want {
				t.Errorf("got %s, want %s; %s", got, tt.want, a.Message)
			}
			if a.Vacuous != strings.HasSuffix(tt.want, "/0") {
				t.Errorf("vacuous: %v", a.Vacuous)
			}
			// The same in two files and in single-row groups without dictionaries.
			if values := tt.column.values; len(values) > 1 {
				first, second := tt.column, tt.column
				first.values, second.values = values[:1], values[1:]
				split := parquetBytes(t, [][]testColumn{{first}, {second}},
					parquet.WithDictionaryDefault(false), parquet.WithStats(false))
				if b := judgeOne(t, tt.item, memoryFile("b.parquet", split)); b.Violations != a.Violations || b.RowsTested != a.RowsTested {
					t.Errorf("in two row groups: %d/%d", b.Violations, b.RowsTested)
				}
				if b := judgeOne(t, tt.item, fileOf(t, "a.parquet", first), fileOf(t, "b.parquet", second)); b.Violations != a.Violations {
					t.Errorf("in two files: %d/%d", b.Violations, b.RowsTested)
				}
			}
		})
	}
}

// Aggregates: outcome and value.
func TestAggregates(t *testing.T) {
	max64, nan := int64(math.MaxInt64), math.NaN()
	big38 := bigInt(t, strings.Repeat("9", 38))
	tests := []struct {
		item   string
		column testColumn
		want   string
	}{
		{"sum: {column: x, equals: 6}", longs("x", 1, 2, 3, nil), "pass 6"},
		{"sum: {column: x, equals: 9223372036854775808}", longs("x", max64, 1), "pass 9223372036854775808"},
		{"sum: {column: x, max: 0}", longs("x", math.MinInt64, math.MinInt64, -1), "pass -18446744073709551617"},
		{"sum: {column: x, equals: 199999999999999999999999999999999999998}", decimals("x", 38, 0, big38, big38),
			"pass 199999999999999999999999999999999999998"},
		{"sum: {column: x, equals: 12345678901234567.89}", decimals("x", 38, 2, bigInt(t, "1234567890123456788"), 1),
			"pass 12345678901234567.89"},
		{"sum: {column: x, equals: 12345678901234567.88}", decimals("x", 38, 2, bigInt(t, "1234567890123456788"), 1),
			"fail 12345678901234567.89"},
		{"sum: {column: x, equals: -0.50, tolerance: 0.01}", decimals("x", 18, 2, -51), "pass -0.51"},
		{"sum: {column: x, equals: 0.6, tolerance: 1e-9}", doubles("x", 0.1, 0.2, 0.3), "pass 0.6"},
		{"sum: {column: x, min: 2}", doubles("x", 1.0, 1e100, 1.0, -1e100), "pass 2"},
		{"sum: {column: x, min: 0}", doubles("x", 1.0, nan), "fail NaN"},
		{"sum: {column: x, min: 0}", doubles("x", math.Inf(1), 1.0), "pass Infinity"},
		{"sum: {column: x, equals: 1}", doubles("x", 1.0), "error "},
		{"sum: {column: x, min: 0}", longs("x", nil), "fail no value"},
		{"sum: {column: x, min: 0}", longs("x"), "fail no value"},
		{"sum: {column: x, min: 0}", strs("x", "a"), "error "},
		{"min: {column: x, equals: -10}", decimals("x", 18, 0, -1, 0, 5, -10), "pass -10"},
		{"max: {column: x, equals: 5}", decimals("x", 18, 0, -1, 0, 5, -10), "pass 5"},
		{"max: {column: x, equals: 3}", doubles("x", 3.0, nan), "fail NaN"},
		{"max: {column: x, equals: 3}", doubles("x", 3.0, nil), "pass 3"},
		{"min: {column: x, min: '2025-03-05T00:00:00Z'}", stamps("x", true, int64(1741132800000000)), "pass 2025-03-05T00:00:00Z"},
		{"min: {column: x, min: '2025-03-05T00:00:00+01:00'}", stamps("x", true, int64(1741132800000000)), "pass 2025-03-05T00:00:00Z"},
		{"min: {column: x, min: '2025-03-05T00:00:00'}", stamps("x", true, int64(1741132800000000)), "error "},
		{"min: {column: x, min: '2025-03-05 00:00:00.000001'}", stamps("x", false, int64(1741132800000000)), "fail 2025-03-05T00:00:00"},
		{"min: {column: x, min: '2025-03-05T00:00:00Z'}", stamps("x", false, int64(1741132800000000)), "error "},
		{"max: {column: x, equals: b}", strs("x", "a", "b", nil), "pass b"},
		{"count_distinct: {column: x, equals: 2}", strs("x", "a", "b", "a", nil), "pass 2"},
		{"count_distinct: {column: x, min: 1}", strs("x", nil), "fail no value"},
		{"null_rate: {column: x, max: 25%}", longs("x", 1, 2, 3, nil), "pass 25%"},
		{"null_rate: {column: x, max: 0.2499}", longs("x", 1, 2, 3, nil), "fail 25%"},
		{"null_rate: {column: x, min: 0.5}", longs("x", 1, nil), "pass 50%"},
		{"null_rate: {column: x, max: 1}", longs("x"), "fail no value"},
		{"not_all_null: x", longs("x", nil, nil), "fail 100% NULL"},
		{"not_all_null: x", longs("x", nil, 1), "pass 50% NULL"},
		{"row_count: 2", longs("x", 1, 2), "pass 2"},
		{"row_count: {min: 3}", longs("x", 1, 2), "fail 2"},
		{"row_count: {max: 0}", longs("x"), "pass 0"},
		{"file_count: {max: 0}", longs("x", 1), "fail 1"},
		{"file_size: {min: 1MiB}", longs("x", 1), "fail 1 of 1 files outside"},
		{"file_size: {min: 100, max: 1MiB}", longs("x", 1), "pass 0 of 1 files outside"},
	}
	for _, tt := range tests {
		t.Run(tt.item, func(t *testing.T) {
			a := judgeOne(t, tt.item, fileOf(t, "a.parquet", tt.column))
			if got := fmt.Sprintf("%s %s", a.Outcome, a.Observed); got != tt.want {
				t.Errorf("got %s, want %s; %s", got, tt.want, a.Message)
			}
		})
	}
}

func TestThresholds(t *testing.T) {
	tests := []struct {
		text               string
		violations, tested int64
		want               bool
	}{
		{"> 0%", 3, 1864458, true}, {"> 7%", 7, 100, false}, {">= 7%", 7, 100, true}, {"> 0.001%", 1, 100000, false},
		{"> 3", 3, 10, false}, {"> 3", 4, 10, true}, {">= 3", 3, 10, true}, {">= 100%", 10, 10, true}, {"> 0%", 0, 0, false},
		{"> 33.333333333333333333%", 1, 3, true},
	}
	for _, tt := range tests {
		limit, err := parseThreshold(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := limit.reached(tt.violations, tt.tested); got != tt.want {
			t.Errorf("%s of %d/%d: %v", tt.text, tt.violations, tt.tested, got)
		}
	}
}

// A shown percentage is never 0 for something nor 100 for less than all.
func TestPercentText(t *testing.T) {
	tests := []struct {
		part, whole int64
		want        string
	}{
		{0, 5, "0%"}, {5, 5, "100%"}, {1, 2, "50%"}, {3, 1864458, "0.000161%"}, {1, 3, "33.33%"},
		{999999999, 1000000000, "99.9999999%"}, {1, math.MaxInt64, "0.00000000000000001084%"}, {0, 0, "n/a"},
	}
	for _, tt := range tests {
		if got := percentText(tt.part, tt.whole); got != tt.want {
			t.Errorf("%d of %d: %s, want %s", tt.part, tt.whole, got, tt.want)
		}
	}
}

// A check that does not fit its column is an error of the data, whatever the
// severity, and leaves others evaluated.
func TestErrors(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("x", 1), longs("Amount", 1), strs("s", "a"),
		listOf(longs("l", 1), []int16{3}, []int16{0}))
	tests := []struct{ item, want string }{
		{"not_null: {column: y, severity: warn}", "no column y"},
		{"not_null: amount", "no column amount, did you mean Amount?"},
		{"accepted_range: {column: x, min: a}", `column x is int64 and cannot be compared with the text "a"`},
		{"accepted_range: {column: s, min: 1}", "column s is string and cannot be compared with a number 1: write it in quotes"},
		{"regex: {column: x, pattern: a}", "column x is int64, not a string"},
		{"length: {column: x, max: 1}", "column x is int64, not a string: `unit: bytes` counts those"},
		{"finite: s", "column s is string, not a number"},
		{"unique: 'l[]'", "column l[] has several values a row and cannot be part of a key"},
		{"accepted_values: {column: l, values: [1]}", "column l is list<int64>: name a column inside it"},
		{"accepted_values: {column: x, values: ['${partition.dt}']}", "${partition.dt}: the partition has no key dt"},
	}
	for _, tt := range tests {
		r := mustRun(t, mustParse(t, checks(tt.item, "row_count: 1", "sum: {column: x, equals: 1}")), Partition{Files: []File{file}}, Options{})
		var failed []Result
		for _, a := range r.Assertions {
			if a.Outcome != Pass {
				failed = append(failed, a)
			}
		}
		if len(failed) != 1 || failed[0].Outcome != Error || failed[0].Error.Cause != CauseData || failed[0].Message != tt.want {
			t.Errorf("%s: %+v", tt.item, failed)
		}
		if r.Outcome != Error || r.OutsideOnly() {
			t.Errorf("%s: report is %s", tt.item, r.Outcome)
		}
	}
}
