package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"
)

// answer is what a check has to say about a file.
type answer struct {
	file File
	item string
	want string // outcome violations/tested, or outcome and value of an aggregate
}

func wantAnswers(t *testing.T, answers ...answer) {
	t.Helper()
	for _, x := range answers {
		a := judgeOne(t, x.item, x.file)
		got := summary(a)
		if strings.Count(x.want, "/") == 0 {
			got = fmt.Sprintf("%s %s", a.Outcome, a.Observed)
		}
		if got != x.want {
			t.Errorf("%s, %s: %s, want %s; %s", x.file.Key, x.item, got, x.want, a.Message)
		}
	}
}

// TestKnownWrongAnswers: the places where well-known tools give wrong answers, by
// the number that they have in the specification, in files of several writers:
// arrow-go, parquet-go, DuckDB, and footers changed by hand.
func TestKnownWrongAnswers(t *testing.T) {
	cases := []struct {
		name  string
		tests []func(*testing.T)
	}{
		{"NaN hidden by the footer's min and max", []func(*testing.T){TestNaNIsNotHiddenByStatistics, case1}},
		{"absent null_count read as 0", []func(*testing.T){TestAbsentNullCountIsNotZero, case2}},
		{"inverted statistics of fixed-length decimals", []func(*testing.T){TestInvertedDecimalStatistics}},
		{"truncated bounds taken as values", []func(*testing.T){TestTruncatedBoundsAreNotValues, case4}},
		{"nested NULLs miscounted", []func(*testing.T){TestNestedNulls, TestNullOfAStruct}},
		{"empty or filtered-empty passes", []func(*testing.T){TestEmptyPartitions, case6}},
		{"rounded percentages", []func(*testing.T){TestThresholds, TestPercentText, case7}},
		{"NULLs in composite keys", []func(*testing.T){TestNullsInCompositeKeys, case8}},
		{"comparison with NULL passes", []func(*testing.T){case9}},
		{"sums lose digits or overflow", []func(*testing.T){TestAggregates, case10}},
		{"a check that did not run counts as passed", []func(*testing.T){TestErrors, TestStoreFailures, case11}},
		{"fused checks mixed up; one error kills all", []func(*testing.T){TestFusedChecks, case12}},
		{"set semantics hide multiplicity", []func(*testing.T){TestMatches, TestRelationships, case13}},
		{"schema drift between files cast or filled", []func(*testing.T){TestSchemaDrift}},
		{"polluted or missing baseline", []func(*testing.T){TestChange, TestChoose}},
		{"INT96 ordering", []func(*testing.T){TestInt96, case16}},
		{"future dates pass freshness; local time taken as UTC", []func(*testing.T){TestFreshness}},
		{"^foo|bar$ and the empty string", []func(*testing.T){case18}},
		{"footer row count wrong, column lengths differ", []func(*testing.T){case19}},
		{"empty row group in the middle", []func(*testing.T){TestEmptyRowGroupInTheMiddle, case20}},
		{"names that differ by case", []func(*testing.T){TestNamesThatDifferByCase}},
		{"hour=01 is not 1; %3A; the default partition", []func(*testing.T){TestPartitionValues}},
		{"tuple keys that collide by separator", []func(*testing.T){TestTuplesDoNotCollide, case23}},
		{"-0.0 and +0.0; NaN payloads as keys", []func(*testing.T){case24}},
	}
	if len(cases) != 24 {
		t.Fatalf("%d cases", len(cases))
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%02d %s", i+1, c.name), func(t *testing.T) {
			for _, test := range c.tests {
				test(t)
			}
		})
	}
}

func case1(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "nan.parquet"), "accepted_range: {column: x, max: 100}", "fail 1/3"},
		answer{duckFile(t, "nan.parquet"), "max: {column: x, max: 100}", "fail NaN"})
}

func case2(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "nulls.parquet"), "not_null: x", "fail 2/3"},
		answer{duckFile(t, "nulls-mixed.parquet"), "not_null: x", "fail 4098/7000"})
}

func case4(t *testing.T) {
	type row struct {
		X string `parquet:"x"`
	}
	prefix := strings.Repeat("p", 64)
	other := fromStructs(t, "parquet-go", []row{{prefix + "a"}, {prefix + "z"}, {prefix}}, goparquet.ColumnIndexSizeLimit(func([]string) int { return 16 }))
	wantAnswers(t,
		answer{other, "max: {column: x, equals: " + prefix + "z}", "pass " + prefix + "z"},
		answer{other, "max_length: {column: x, equals: 65}", "pass 65"},
		answer{duckFile(t, "prefixes.parquet"), "max_length: {column: x, equals: 5064}", "pass 5064"})
}

func case6(t *testing.T) {
	file := fileOf(t, "a", longs("x", 1, 2))
	wantAnswers(t,
		answer{file, "accepted_range: {column: x, min: 5, where: x > 9}", "warn 0/0 vacuous"},
		answer{file, "sum: {column: x, min: 0, where: x > 9}", "fail 0/0 vacuous"},
		answer{duckFile(t, "empty.parquet"), "not_null: x", "warn 0/0 vacuous"},
		answer{duckFile(t, "all-null.parquet"), "accepted_range: {column: d, min: 0}", "warn 0/0 vacuous"})
}

func case7(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "three-of-many.parquet"), "not_null: {column: x, fail_if: '> 0%'}", "fail 3/1864458"},
		answer{duckFile(t, "seven-of-100.parquet"), "not_null: {column: x, fail_if: '> 7%'}", "pass 7/100"})
}

func case8(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "keys.parquet"), "unique: [a, b]", "fail 1/2"},
		answer{duckFile(t, "keys.parquet"), "unique: {columns: [a, b], nulls: equal}", "fail 3/6"},
		answer{duckFile(t, "keys.parquet"), "primary_key: [a, b]", "fail 5/6"})
}

func case9(t *testing.T) {
	file := fileOf(t, "arrow-go", longs("a", 1, nil, 3, nil), longs("b", 2, 2, nil, nil))
	wantAnswers(t,
		answer{file, "expression: a < b", "fail 3/4"},
		answer{file, "expression: {expr: a < b, nulls: skip}", "pass 0/1"},
		answer{duckFile(t, "comparison.parquet"), "expression: a < b", "fail 4/5"})
}

func case10(t *testing.T) {
	file := fileOf(t, "arrow-go", longs("i", int64(math.MaxInt64), 1),
		decimals("d", 38, 0, bigInt(t, strings.Repeat("9", 38)), bigInt(t, strings.Repeat("9", 38))),
		decimals("total", 38, 2, bigInt(t, "1234567890123456788"), 1))
	wantAnswers(t,
		answer{file, "sum: {column: i, equals: 9223372036854775808}", "pass 9223372036854775808"},
		answer{file, "sum: {column: d, equals: 199999999999999999999999999999999999998}", "pass 199999999999999999999999999999999999998"},
		answer{file, "sum: {column: total, equals: 12345678901234567.89}", "pass 12345678901234567.89"},
		answer{file, "sum: {column: total, equals: 12345678901234567.88}", "fail 12345678901234567.89"},
		answer{duckFile(t, "total.parquet"), "sum: {column: x, equals: 1123456789012345.67}", "pass 1123456789012345.67"})
}

// A file that asserts nothing, or something unknown, is refused; what cannot be
// evaluated is an error and blocks.
func case11(t *testing.T) {
	for _, text := range []string{"", "version: 1\n", "version: 1\nchecks: []\n", checks("unikue: x")} {
		if _, err := Parse("c", []byte(text), Vars{}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	r := mustRun(t, mustParse(t, checks("not_null: {column: y, severity: warn}", "exec: [judge]")),
		Partition{Files: []File{fileOf(t, "a", longs("x", 1))}}, Options{})
	blocking := r.Blocking()
	if r.Outcome != Error || len(blocking) != 2 || blocking[0].Error.Cause != CauseData || blocking[1].Error.Cause != CauseOutside {
		t.Errorf("%+v", r)
	}
}

func case12(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "fused.parquet"), "min: {column: x, equals: -3}", "pass -3"},
		answer{duckFile(t, "fused.parquet"), "min: {column: x, min: 0, where: x > 0}", "pass 5"})
}

func case13(t *testing.T) {
	wantAnswers(t,
		answer{duckFile(t, "aab.parquet"), "unique: x", "fail 1/3"},
		answer{duckFile(t, "ab.parquet"), "unique: x", "pass 0/2"})
}

func case16(t *testing.T) {
	// Spark's own arithmetic overflowed in the last value: it stands as it is.
	file := sharedFile(t, "parquet-testing/data/int96_from_spark.parquet")
	wantAnswers(t,
		answer{file, "max: {column: a, equals: '9999-12-31T03:00:00Z'}", "pass 9999-12-31T03:00:00Z"},
		answer{file, "min: {column: a, max: '1970-01-01T00:00:00Z'}", "pass -9357363680509551616000 ns"})
}

func case18(t *testing.T) {
	type row struct {
		X string `parquet:"x"`
	}
	var rows []row
	for _, text := range []string{"foo", "bar", "foobar", "xfoo", "barx", ""} {
		rows = append(rows, row{text})
	}
	for _, file := range []File{fileOf(t, "arrow-go", strs("x", "foo", "bar", "foobar", "xfoo", "barx", "")), fromStructs(t, "parquet-go", rows)} {
		wantAnswers(t,
			answer{file, "regex: {column: x, pattern: '^foo|bar$'}", "fail 4/6"},
			answer{file, "regex: {column: x, pattern: '^foo|bar$', match: partial}", "fail 3/6"})
	}
	wantAnswers(t, answer{duckFile(t, "texts.parquet"), `regex: {column: x, pattern: "^foo|bar$"}`, "fail 5/7"})
}

// A file of 50 rows whose footer has one of its counts as 51: the file's, each
// column's, the row group's.
func case19(t *testing.T) {
	var x, y []any
	for i := range 50 {
		x, y = append(x, i), append(y, fmt.Sprint(i%7))
	}
	data := parquetBytes(t, [][]testColumn{{longs("x", x...), strs("y", y...)}})
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	footer := len(data) - 8 - length
	found := 0
	for at := footer; at < len(data)-9; at++ {
		// An i64 field's header, and 50 as a zigzag number.
		if !bytes.Equal(data[at:at+2], []byte{0x16, 100}) {
			continue
		}
		wrong := bytes.Clone(data)
		wrong[at+1] = 102
		r := mustRun(t, mustParse(t, "version: 1\nintegrity: {mode: full}\nchecks: [{not_null: x}]\n"),
			Partition{Files: []File{memoryFile("wrong.parquet", wrong)}}, Options{})
		a := resultOf(t, r, "integrity")
		if a.Outcome.rank() < Fail.rank() || !strings.Contains(a.Message, "wrong.parquet") && !strings.Contains(a.Message, "51") {
			t.Errorf("count %d: %s, %s", found, a.Outcome, a.Message)
		}
		if (found == 1 || found == 2) && !strings.Contains(a.Message, "row group 0") {
			t.Errorf("count %d: no row group is named: %s", found, a.Message)
		}
		found++
	}
	if found != 4 {
		t.Errorf("%d counts in the footer, want 4", found)
	}
}

func case20(t *testing.T) {
	data := parquetBytes(t, [][]testColumn{{longs("x", 1), strs("s", "a")}, {longs("x"), strs("s")}, {longs("x", nil, 3), strs("s", "b", "c")}})
	file := memoryFile("a", data)
	wantAnswers(t,
		answer{file, "row_count: 3", "pass 3"},
		answer{file, "sum: {column: x, equals: 4}", "pass 4"},
		answer{file, "not_null: s", "pass 0/3"},
		answer{file, "monotonic: s", "pass 0/3"})
}

func case23(t *testing.T) {
	wantAnswers(t, answer{duckFile(t, "separators.parquet"), "unique: [a, b]", "pass 0/4"})
}

func case24(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	zero, payload := math.Copysign(0, -1), math.Float64frombits(0x7ff8000000000123)
	for _, file := range []File{
		fileOf(t, "arrow-go", doubles("x", 0.0, zero, math.NaN(), payload)),
		fromStructs(t, "parquet-go", []row{{0}, {zero}, {math.NaN()}, {payload}}),
	} {
		wantAnswers(t,
			answer{file, "unique: x", "fail 2/4"},
			answer{file, "primary_key: x", "fail 3/4"},
			answer{file, "count_distinct: {column: x, equals: 2}", "pass 2"},
			answer{file, "accepted_values: {column: x, values: [0, .nan]}", "pass 0/4"})
	}
	wantAnswers(t, answer{duckFile(t, "zeros.parquet"), "unique: x", "fail 2/4"})
}
