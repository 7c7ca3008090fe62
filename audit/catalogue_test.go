package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// sheet is how an assertion behaves. Wanted outcomes are as summary writes them;
// "-" says that a case cannot be: the column's type has no NaN, the assertion
// reads no column.
type sheet struct {
	name, params string
	good, bad    []testColumn // columns of a file that it passes, and of one that it fails
	wrong        []testColumn // columns that it cannot be evaluated on; nil: it reads none
	empty, nulls string       // without a row; where good's columns hold nothing but NULL
	nan, nested  string       // with NaN beside good values; on the lists of nestedLongs
	together     string       // good and bad as two files
}

func sheets() []sheet {
	x := func(values ...any) []testColumn { return []testColumn{longs("x", values...)} }
	s := func(values ...any) []testColumn { return []testColumn{strs("x", values...)} }
	b := func(values ...any) []testColumn { return []testColumn{bools("x", values...)} }
	d := func(values ...any) []testColumn { return []testColumn{doubles("x", values...)} }
	day := func(values ...any) []testColumn { return []testColumn{days("x", values...)} }
	two := func(a, b []any) []testColumn { return []testColumn{longs("x", a...), longs("y", b...)} }
	pairs := func(values ...any) []any { return values }
	at := func(hours ...int64) []testColumn {
		var list []any
		for _, h := range hours {
			list = append(list, testNow().UnixMicro()+h*3600*1e6)
		}
		return []testColumn{stamps("x", true, list...)}
	}
	const vacuous, noValue = "warn 0/0 vacuous", "fail 0/0 vacuous"
	return []sheet{
		{"row_count", "min: 2", x(1, 2), x(1), nil, "fail 0/0", "pass 0/2", "-", "-", "pass 0/3"},
		{"file_count", "max: 1", x(1), x(1), nil, "pass 0/0", "pass 0/1", "-", "-", "fail 0/2"},
		{"file_size", "max: 430", x(1), append(x(1), strs("a_column_with_a_name_that_takes_room", strings.Repeat("y", 300))), nil, "pass 0/0", "pass 0/0", "-", "-", "fail 0/0"},
		{"schema", "columns: [{name: x, type: int64}]", x(1), s("a"), nil, "pass 0/0", "pass 0/1", "-", "-", "error 0/0"},
		{"not_null", "columns: [x]", x(1, 2), x(1, nil), two(nil, nil)[1:], vacuous, "fail 2/2", "pass 0/3", "fail 1/4", "fail 1/4"},
		{"null_rate", "columns: [x], max: 20%", x(1, 2), x(1, nil), two(nil, nil)[1:], noValue, "fail 0/2", "pass 0/3", "pass 0/5", "fail 0/4"},
		{"not_all_null", "columns: [x]", x(1, nil), x(nil, nil), two(nil, nil)[1:], noValue, "fail 0/2", "pass 0/3", "pass 0/5", "pass 0/4"},
		{"unique", "columns: [x]", x(1, 2), x(3, 3), two(nil, nil)[1:], vacuous, vacuous, "fail 1/4", "-", "fail 1/4"},
		{"primary_key", "columns: [x]", x(1, 2), x(3, 3), two(nil, nil)[1:], vacuous, "fail 2/2", "fail 2/4", "-", "fail 1/4"},
		{"accepted_values", "columns: [x], values: [1, 2]", x(1, 2), x(1, 3), b(true), vacuous, vacuous, "fail 2/4", "-", "fail 1/4"},
		{"not_accepted_values", "columns: [x], values: [3]", x(1, 2), x(1, 3), b(true), vacuous, vacuous, "pass 0/4", "-", "fail 1/4"},
		{"accepted_range", "columns: [x], max: 2", x(1, 2), x(1, 3), s("a"), vacuous, vacuous, "fail 2/4", "-", "fail 1/4"},
		{"finite", "columns: [x]", d(1.0, 2.0), d(1.0, math.Inf(1)), s("a"), vacuous, vacuous, "fail 2/4", "-", "fail 1/4"},
		{"regex", "columns: [x], pattern: '[a-z]'", s("a", "b"), s("a", "B"), x(1), vacuous, vacuous, "-", "-", "fail 1/4"},
		{"length", "columns: [x], equals: 1", s("a", "b"), s("a", "bb"), x(1), vacuous, vacuous, "-", "-", "fail 1/4"},
		{"format", "columns: [x], format: date", s("2025-03-05", "2025-03-06"), s("a", "2025-03-05"), x(1), vacuous, vacuous, "-", "-", "fail 1/4"},
		{"not_empty_string", "columns: [x]", s("a", "b"), s("", "b"), x(1), vacuous, vacuous, "-", "-", "fail 1/4"},
		{"monotonic", "columns: [x]", x(1, 2), x(3, 1), b(true), vacuous, vacuous, "fail 2/4", "error 0/0", "fail 1/4"},
		{"sequential", "columns: [x]", x(1, 2), x(3, 5), s("a"), vacuous, vacuous, "error 0/0", "error 0/0", "fail 1/4"},
		{"sum", "columns: [x], max: 3", x(1, 2), x(1, 3), s("a"), noValue, noValue, "fail 0/3", "-", "fail 0/4"},
		{"min", "columns: [x], min: 1", x(1, 2), x(0, 3), b(true), noValue, noValue, "fail 0/3", "-", "fail 0/4"},
		{"max", "columns: [x], max: 2", x(1, 2), x(0, 3), b(true), noValue, noValue, "fail 0/3", "-", "fail 0/4"},
		{"count_distinct", "columns: [x], max: 2", x(1, 2), x(1, 2, 3), two(nil, nil)[1:], noValue, noValue, "fail 0/3", "-", "fail 0/5"},
		{"approx_count_distinct", "columns: [x], max: 2", x(1, 2), x(1, 2, 3), two(nil, nil)[1:], noValue, noValue, "fail 0/3", "fail 0/4", "fail 0/5"},
		{"avg", "columns: [x], max: 1.5", x(1, 2), x(1, 3), s("a"), noValue, noValue, "fail 0/3", "pass 0/4", "fail 0/4"},
		{"stddev", "columns: [x], max: 1", x(1, 2), x(1, 9), s("a"), noValue, noValue, "fail 0/3", "fail 0/4", "fail 0/4"},
		{"median", "columns: [x], max: 1.5", x(1, 2), x(1, 9), s("a"), noValue, noValue, "fail 0/3", "pass 0/4", "pass 0/4"},
		{"quantile", "columns: [x], q: 1, max: 2", x(1, 2), x(1, 9), s("a"), noValue, noValue, "fail 0/3", "fail 0/4", "fail 0/4"},
		{"min_length", "columns: [x], min: 1", s("a", "b"), s("a", ""), x(1), noValue, noValue, "-", "-", "fail 0/4"},
		{"max_length", "columns: [x], max: 1", s("a", "b"), s("a", "bb"), x(1), noValue, noValue, "-", "-", "fail 0/4"},
		{"zero_count", "columns: [x], max: 0", x(1, 2), x(0, 1), s("a"), noValue, noValue, "pass 0/3", "fail 0/4", "fail 0/4"},
		{"true_rate", "columns: [x], min: 60%", b(true, true), b(true, false, false), x(1), noValue, noValue, "-", "-", "pass 0/5"},
		{"not_constant", "columns: [x]", x(1, 2), x(1, 1), two(nil, nil)[1:], noValue, noValue, "pass 0/3", "pass 0/4", "pass 0/4"},
		{"distinct_values", "columns: [x], equals: [1, 2]", x(1, 2), x(1, 3), b(true), noValue, noValue, "fail 0/3", "fail 0/4", "fail 0/4"},
		{"freshness", "columns: [x], max_age: 2h", at(-3, -1), at(-5, -3), x(1), noValue, noValue, "-", "-", "pass 0/4"},
		{"complete_intervals", "columns: [x], every: 1d", day(1, 2), day(3, 6), s("a"), noValue, noValue, "-", "-", "fail 2/4"},
		{"mutually_exclusive_ranges", "lower: x, upper: y", two(pairs(1, 2), pairs(2, 3)), two(pairs(5, 6), pairs(9, 7)), []testColumn{strs("x", "a"), strs("y", "b")},
			vacuous, vacuous, "-", "-", "fail 1/4"},
		{"list_length", "columns: [x], min: 1", []testColumn{listOf(longs("x", 1), []int16{3}, []int16{0})}, []testColumn{nestedLongs()}, x(1),
			vacuous, "-", "-", "-", "fail 1/4"},
		{"expression", "expr: x > 0", x(1, 2), x(1, -1), s("a"), vacuous, "fail 2/2", "fail 1/3", "error 0/0", "fail 1/4"},
		{"metric", "expr: sum(x) / count(*), max: 1.5", x(1, 2), x(1, 3), s("a"), noValue, noValue, "fail 0/3", "error 0/0", "fail 0/4"},
	}
}

// ownTests are tests of assertions that are about more than columns of a file.
func ownTests() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"integrity": TestParquetTesting, "schema_consistent": TestSchemaDrift, "partition_values": TestPartitionValues,
		"not_empty": TestEmptyPartitions, "no_stray_files": TestBuiltins, "shrink": TestBuiltins, "no_duplicate_content": TestAppend,
		"exec": TestPluginVerdicts, "sql": TestSQLVerdicts, "change": TestChange, "relationships": TestRelationships, "matches": TestMatches,
		"schema_unchanged": TestSchemaUnchanged, "groups": TestGroups, "reconcile": TestReconcile,
	}
}

func (s *sheet) judge(t *testing.T, params string, files ...[]testColumn) string {
	t.Helper()
	var list []File
	for i, columns := range files {
		list = append(list, fileOf(t, fmt.Sprintf("%d.parquet", i), columns...))
	}
	a := judgeOne(t, s.name+": {"+s.params+params+"}", list...)
	return summary(a)
}

// withValues are columns with other values: none, or a NULL each.
func withValues(columns []testColumn, values ...any) []testColumn {
	out := slices.Clone(columns)
	for i := range out {
		out[i].values, out[i].def, out[i].rep = values, nil, nil
	}
	return out
}

// TestEveryAssertion: each assertion of the catalogue passes, fails, warns,
// cannot be evaluated, and has its say about no rows, NULLs, NaN, lists and
// several files.
func TestEveryAssertion(t *testing.T) {
	have := map[string]bool{}
	for name := range ownTests() {
		have[name] = true
	}
	for _, s := range sheets() {
		have[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			want := func(what, got, want string) {
				if want != "-" && !strings.HasPrefix(got, want) {
					t.Errorf("%s: %s, want %s", what, got, want)
				}
			}
			want("pass", s.judge(t, "", s.good), "pass")
			bad := [][]testColumn{s.bad}
			if s.name == "file_count" {
				bad = append(bad, s.bad)
			}
			want("fail", s.judge(t, "", bad...), "fail")
			want("warn", s.judge(t, ", severity: warn", bad...), "warn")
			if s.wrong != nil {
				want("error", s.judge(t, ", severity: warn", s.wrong), "error 0/0")
			}
			none := withValues(s.good)
			null := withValues(s.good, slices.Repeat([]any{nil}, len(s.good[0].values))...)
			if s.name == "list_length" {
				none[0].def, none[0].rep = []int16{}, []int16{}
				null = s.good // see TestListLength
			}
			want("no row", s.judge(t, "", none), s.empty)
			want("all NULL", s.judge(t, "", null), s.nulls)
			want("two files", s.judge(t, "", s.good, s.bad), s.together)
			if s.nan != "-" {
				values := []any{1.0, 2.0, math.NaN()}
				if strings.HasSuffix(s.nan, "/4") { // of two NaNs
					values = append(values, math.NaN())
				}
				want("NaN", s.judge(t, "", []testColumn{doubles("x", values...)}), s.nan)
			}
			if s.nested != "-" {
				nested := sheet{name: s.name, params: strings.Replace(s.params, "[x]", "['x[]']", 1)}
				want("nested", nested.judge(t, "", []testColumn{nestedLongs()}), s.nested)
			}
		})
	}
	for _, k := range catalogue() {
		if !have[k.name] {
			t.Errorf("assertion %s has neither a sheet nor a test of its own", k.name)
		}
		delete(have, k.name)
	}
	for name := range have {
		t.Errorf("there is no assertion %s", name)
	}
}
