package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// duckFile is a file that DuckDB wrote; testdata/bench/cases is its program.
func duckFile(t *testing.T, name string) File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/duckdb", name))
	if err != nil {
		t.Fatal(err)
	}
	return memoryFile(name, data)
}

// TestDuckDBFiles: the cases that well-known tools get wrong, in files that
// DuckDB wrote. An answer is violations of tested rows, or a value.
func TestDuckDBFiles(t *testing.T) {
	for _, tt := range []struct{ files, item, want string }{
		{"nan", "accepted_range: {column: x, max: 100}", "fail 1/3"},
		{"nan", "accepted_range: {column: f, max: 100}", "fail 1/3"},
		{"nan", "max: {column: x, max: 100}", "fail NaN"},
		{"nulls", "not_null: x", "fail 2/3"},
		{"nulls", "not_null: s", "fail 2/3"},
		{"nulls-mixed", "not_null: x", "fail 4098/7000"},
		{"nulls-mixed", "not_null: v", "fail 4098/7000"},
		{"decimals", "min: {column: x, equals: -10}", "pass -10"},
		{"decimals", "max: {column: x, equals: 5}", "pass 5"},
		{"decimals", "sum: {column: y, equals: -6}", "pass -6.00"},
		{"decimals", "min: {column: z, equals: -10.0}", "pass -10.0"},
		{"prefixes", "max_length: {column: x, equals: 5064}", "pass 5064"},
		{"prefixes", "count_distinct: {column: x, equals: 4}", "pass 4"},
		{"zeros", "unique: x", "fail 2/4"},
		{"infinities", "finite: x", "fail 2/3"},
		{"infinities", "finite: f", "fail 2/3"},
		{"three-of-many", "not_null: {column: x, fail_if: '> 0%'}", "fail 3/1864458"},
		{"seven-of-100", "not_null: {column: x, fail_if: '> 7%'}", "pass 7/100"},
		{"seven-of-100", "not_null: {column: x, fail_if: '>= 7%'}", "fail 7/100"},
		{"lists", "not_null: 'x[]'", "fail 1/4"},
		{"lists", "not_null: x", "fail 1/4"},
		{"lists", "sum: {column: 'x[]', equals: 6}", "pass 6"},
		{"structs", "not_null: s", "fail 1/3"},
		{"structs", "not_null: s.a", "fail 2/3"},
		{"maps", "not_null: m", "fail 1/3"},
		{"nested", "not_null: a", "fail 1/4"},
		{"nested", "not_null: 'b[].sku'", "fail 2/4"},
		{"empty", "not_null: x", "warn 0/0"},
		{"empty", "sum: {column: x, min: 0}", "fail no value"},
		{"all-null", "accepted_range: {column: d, min: 0}", "warn 0/0"},
		{"comparison", "expression: 'a < b'", "fail 4/5"},
		{"comparison", "expression: {expr: 'a < b', nulls: skip}", "fail 1/2"},
		{"sums", "sum: {column: i, equals: 9223372036854775808}", "pass 9223372036854775808"},
		{"sums", "sum: {column: u, equals: 18446744073709551616}", "pass 18446744073709551616"},
		{"sums", "sum: {column: d, equals: 199999999999999999999999999999999999998}", "pass 199999999999999999999999999999999999998"},
		{"total", "sum: {column: x, equals: 1123456789012345.67}", "pass 1123456789012345.67"},
		{"limits", "max: {column: u64, equals: 18446744073709551615}", "pass 18446744073709551615"},
		{"limits", "min: {column: i64, equals: -9223372036854775808}", "pass -9223372036854775808"},
		{"limits", "max: {column: ts, equals: '9999-12-31T23:59:59.999999'}", "pass 9999-12-31T23:59:59.999999"},
		{"times", "freshness: {column: instant, max_age: 1h}", "fail 2025-03-06T00:00:00Z"},
		{"times", "accepted_range: {column: instant, max: '2025-03-05T13:00:00+01:00'}", "fail 1/3"},
		{"texts", `regex: {column: x, pattern: "foo|bar"}`, "fail 5/7"},
		{"texts", `regex: {column: x, pattern: "^foo|bar$"}`, "fail 5/7"},
		{"texts", `regex: {column: x, pattern: "^foo|bar$", match: partial}`, "fail 2/7"},
		{"texts", "length: {column: x, equals: 3}", "fail 4/7"},
		{"keys", "unique: [a, b]", "fail 1/2"},
		{"keys", "unique: {columns: [a, b], nulls: equal}", "fail 3/6"},
		{"keys", "primary_key: [a, b]", "fail 5/6"},
		{"separators", "unique: [a, b]", "pass 0/4"},
		{"aab", "unique: x", "fail 1/3"},
		{"fused", "min: {column: x, equals: -3}", "pass -3"},
		{"drift-int drift-double", "sum: {column: x, min: 0}", "error drift-double"},
		{"drift-double drift-int", "sum: {column: x, min: 0}", "error drift-int"},
		{"drift-int drift-missing", "sum: {column: x, min: 0}", "error drift-missing"},
		{"encodings-v1 encodings-v2", "unique: id", "fail 3000/6000"},
		{"encodings-v1", "sum: {column: amount, equals: 44985}", "pass 44985.00"},
		{"encodings-v2", "sum: {column: amount, equals: 44985}", "pass 44985.00"},
		{"encodings-v2", "sum: {column: d, equals: 1124625, tolerance: 0}", "pass 1.124625e+06"},
		{"encodings-v2", "count_distinct: {column: t, equals: 3000}", "pass 3000"},
		{"codec-uncompressed codec-snappy codec-gzip codec-zstd codec-brotli codec-lz4_raw", "sum: {column: i, equals: 748500}", "pass 748500"},
		{"codec-uncompressed codec-snappy codec-gzip codec-zstd codec-brotli codec-lz4_raw", "unique: s", "fail 2950/3000"},
	} {
		t.Run(tt.files+" "+tt.item, func(t *testing.T) {
			var files []File
			for name := range strings.FieldsSeq(tt.files) {
				files = append(files, duckFile(t, name+".parquet"))
			}
			a := judgeOne(t, tt.item, files...)
			var got string
			switch {
			case a.Error != nil:
				got = fmt.Sprintf("error %s", strings.TrimSuffix(a.Error.File, ".parquet"))
			case strings.Contains(a.Observed, " rows (") || a.Observed == "no row to test":
				got = fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested)
			default:
				got = fmt.Sprintf("%s %s", a.Outcome, a.Observed)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s: %s", got, tt.want, a.Message)
			}
		})
	}
}
