package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	goparquet "github.com/parquet-go/parquet-go"
	"github.com/wap-cli/wap/manifest"
)

// The places where well-known tools give wrong answers.

func countsOf(a Result) map[string]int64 {
	counts := map[string]int64{}
	for _, c := range a.Counts {
		counts[c.Name] = c.Value
	}
	return counts
}

// fromStructs writes rows with parquet-go, the other Go writer.
func fromStructs[T any](t *testing.T, key string, rows []T, options ...goparquet.WriterOption) File {
	t.Helper()
	var out bytes.Buffer
	if err := goparquet.Write(&out, rows, options...); err != nil {
		t.Fatal(err)
	}
	return memoryFile(key, out.Bytes())
}

func TestNaNIsNotHiddenByStatistics(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	for name, file := range map[string]File{
		"arrow-go":   fileOf(t, "a.parquet", doubles("x", 3.0, math.NaN(), 3.0)),
		"parquet-go": fromStructs(t, "a.parquet", []row{{3}, {math.NaN()}, {3}}),
	} {
		a := judgeOne(t, "accepted_range: {column: x, max: 100}", file)
		if a.Outcome != Fail || a.Violations != 1 || a.Samples[0].Row != 1 || a.Samples[0].Values[0].Text != "NaN" {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestAbsentNullCountIsNotZero(t *testing.T) {
	bare := parquetBytes(t, [][]testColumn{{longs("x", nil, 1, nil)}}, parquet.WithStats(false))
	mixed := memoryFile("b.parquet", parquetBytes(t, [][]testColumn{{longs("x", 1, nil)}, {longs("x", nil)}}))
	for _, trust := range []bool{false, true} {
		c := mustParse(t, checks("not_null: x"))
		r := runRules(t, &Rules{Default: c, TrustFooter: trust}, Partition{Files: []File{memoryFile("a.parquet", bare), mixed}}, Options{})
		if a := resultOf(t, r, "not_null(x)"); a.Violations != 4 || a.RowsTested != 6 || a.Grade != GradeLevels {
			t.Errorf("trust %v: %+v", trust, a)
		}
	}
}

func TestTrustFooterIsSaid(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("x", 1, 2))
	c := mustParse(t, checks("not_null: x", "null_rate: {column: x, max: 0}"))
	rules := &Rules{Default: c, TrustFooter: true}
	if digest := (&Rules{Default: c}).Digest(); rules.Digest() == digest {
		t.Error("rules that trust a footer have the digest of those that do not")
	}
	r := runRules(t, rules, Partition{Files: []File{file}}, Options{})
	for _, id := range []string{"not_null(x)", "null_rate(x)"} {
		if a := resultOf(t, r, id); a.Outcome != Pass || a.Grade != GradeFooter || a.RowsTested != 2 {
			t.Errorf("%+v", a)
		}
	}
	var text strings.Builder
	if err := r.WriteText(&text, TextOptions{}); err != nil || !strings.Contains(text.String(), "--trust-footer") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// parquet-go orders fixed-length decimals as bytes: its minimum is above its
// maximum.
func TestInvertedDecimalStatistics(t *testing.T) {
	type row struct {
		X [16]byte `parquet:"x,decimal(0:38)"`
	}
	var rows []row
	for _, n := range []int{-1, 0, 5, -10} {
		rows = append(rows, row{[16]byte(toBytes(16)(n))})
	}
	file := fromStructs(t, "a.parquet", rows)
	r := mustRun(t, mustParse(t, checks("min: {column: x, equals: -10}", "max: {column: x, equals: 5}")),
		Partition{Files: []File{file}}, Options{})
	if a, b := resultOf(t, r, "min(x)"), resultOf(t, r, "max(x)"); a.Observed != "-10" || b.Observed != "5" {
		t.Errorf("min %s, max %s", a.Observed, b.Observed)
	}
	if a := resultOf(t, r, "bad_statistics"); a.Outcome != Warn || !strings.Contains(a.Message, "column x") {
		t.Errorf("%+v", a)
	}
	if r.Outcome != Warn {
		t.Errorf("report is %s", r.Outcome)
	}
}

func TestTruncatedBoundsAreNotValues(t *testing.T) {
	prefix := strings.Repeat("p", 64)
	file := fileOf(t, "a.parquet", strs("x", prefix+"a", prefix+"z", prefix))
	a := judgeOne(t, "max: {column: x, equals: "+prefix+"z}", file)
	b := judgeOne(t, "length: {column: x, max: 64}", file)
	if a.Outcome != Pass || b.Violations != 2 {
		t.Errorf("max is %q, %d too long", a.Observed, b.Violations)
	}
}

// [[0,1], null, [], [2,null,3]]
func TestNestedNulls(t *testing.T) {
	file := fileOf(t, "a.parquet", listOf(longs("x", 0, 1, 2, 3),
		[]int16{3, 3, 0, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1}))
	tests := []struct {
		item               string
		violations, tested int64
		counts             map[string]int64
	}{
		{"not_null: 'x[]'", 1, 4, map[string]int64{
			"elements": 5, "violating_elements": 1, "null_elements": 1, "null_lists": 1, "empty_lists": 1}},
		{"not_null: x", 1, 4, map[string]int64{}},
		{"accepted_range: {column: 'x[]', max: 1}", 1, 2, map[string]int64{
			"elements": 5, "violating_elements": 2, "null_elements": 1, "null_lists": 1, "empty_lists": 1}},
		{"accepted_values: {column: 'x[]', values: [0, 1, 2, 3], nulls: fail}", 1, 4, map[string]int64{
			"elements": 5, "violating_elements": 1, "null_elements": 1, "null_lists": 1, "empty_lists": 1}},
	}
	for _, tt := range tests {
		a := judgeOne(t, tt.item, file)
		if a.Violations != tt.violations || a.RowsTested != tt.tested || fmt.Sprint(countsOf(a)) != fmt.Sprint(tt.counts) {
			t.Errorf("%s: %d/%d %v", tt.item, a.Violations, a.RowsTested, countsOf(a))
		}
	}
	if a := judgeOne(t, "not_null: 'x[]'", file); len(a.Samples) != 1 || a.Samples[0].Row != 3 || !a.Samples[0].Values[0].Null {
		t.Errorf("samples %+v", a.Samples)
	}
	if a := judgeOne(t, "null_rate: {column: 'x[]', max: 20%}", file); a.Outcome != Pass || a.Observed != "20%" {
		t.Errorf("null rate %s %s", a.Outcome, a.Observed)
	}
	if a := judgeOne(t, "sum: {column: 'x[]', equals: 6}", file); a.Outcome != Pass {
		t.Errorf("sum %s", a.Observed)
	}
}

func TestNullOfAStruct(t *testing.T) {
	file := fileOf(t, "a.parquet", structOf("s", longs("a", 7), []int16{0, 1, 2}))
	for item, want := range map[string]string{
		"not_null: s": "1/3", "not_null: s.a": "2/3", "accepted_range: {column: s.a, min: 8}": "1/1",
		"unique: {column: s.a, nulls: equal}": "1/3",
	} {
		a := judgeOne(t, item, file)
		if got := fmt.Sprintf("%d/%d", a.Violations, a.RowsTested); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

// No row group, an empty one, all NULL: never a pass by accident, never 0/0.
func TestEmptyPartitions(t *testing.T) {
	empty := longs("x")
	for name, file := range map[string]File{
		"no row group":    memoryFile("a", noRowGroups(t)),
		"empty row group": fileOf(t, "a", empty),
		"all NULL":        fileOf(t, "a", longs("x", nil)),
	} {
		r := mustRun(t, mustParse(t, checks("accepted_range: {column: x, min: 0}", "unique: x", "sum: {column: x, min: 0}")),
			Partition{Files: []File{file}}, Options{})
		for id, want := range map[string]Outcome{"accepted_range(x)": Warn, "unique(x)": Warn, "sum(x)": Fail} {
			if a := resultOf(t, r, id); a.Outcome != want || !a.Vacuous {
				t.Errorf("%s: %+v", name, a)
			}
		}
		want := Fail
		if name == "all NULL" {
			want = Pass
		}
		if a := resultOf(t, r, "not_empty"); a.Outcome != want {
			t.Errorf("%s: not_empty is %s", name, a.Outcome)
		}
	}
	c := mustParse(t, "version: 1\nallow_empty: true\nchecks: [{row_count: 0}, {not_null: x}]\n")
	r := mustRun(t, c, Partition{}, Options{})
	if r.Outcome != Warn || resultOf(t, r, "row_count").Outcome != Pass || !resultOf(t, r, "not_null(x)").Vacuous {
		t.Errorf("no file: %+v", r)
	}
}

func noRowGroups(t *testing.T) []byte {
	type row struct {
		X *int64 `parquet:"x,optional"`
	}
	var out bytes.Buffer
	if err := goparquet.NewGenericWriter[row](&out).Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// (1,∅), (1,∅), (∅,∅), (∅,∅), (2,3), (2,3)
func TestNullsInCompositeKeys(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("a", 1, 1, nil, nil, 2, 2), longs("b", nil, nil, nil, nil, 3, 3))
	for item, want := range map[string]string{
		"unique: [a, b]": "1/2 map[groups:1 null_rows:0 rows_in_groups:2 surplus_rows:1]",
		"unique: {columns: [a, b], nulls: equal}": "3/6 map[groups:3 null_rows:0 rows_in_groups:6 surplus_rows:3]",
		"unique: {columns: [a, b], nulls: fail}":  "5/6 map[groups:1 null_rows:4 rows_in_groups:2 surplus_rows:1]",
		"primary_key: [a, b]":                     "5/6 map[groups:1 null_rows:4 rows_in_groups:2 surplus_rows:1]",
	} {
		a := judgeOne(t, item, file)
		if got := fmt.Sprintf("%d/%d %v", a.Violations, a.RowsTested, countsOf(a)); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

func TestTuplesDoNotCollide(t *testing.T) {
	file := fileOf(t, "a.parquet", strs("a", "a||b", "a", "", "x"), strs("b", "c", "b||c", "x", ""))
	if a := judgeOne(t, "unique: [a, b]", file); a.Outcome != Pass || a.RowsTested != 4 {
		t.Errorf("%+v", a)
	}
}

// Many checks of one column in one pass, one of them an error.
func TestFusedChecks(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("x", 5, -3, 9, nil))
	r := mustRun(t, mustParse(t, checks("min: {column: x, equals: -3}", "max: {column: x, equals: 9}", "min: {column: x, min: 0}",
		"regex: {column: x, pattern: a}", "sum: {column: x, equals: 11}", "not_null: x")), Partition{Files: []File{file}}, Options{})
	for id, want := range map[string]string{"min(x)": "pass -3", "max(x)": "pass 9", "min(x)#2": "fail -3",
		"regex(x)": "error ", "sum(x)": "pass 11", "not_null(x)": "fail 1 of 4 rows (25%)"} {
		if a := resultOf(t, r, id); fmt.Sprintf("%s %s", a.Outcome, a.Observed) != want {
			t.Errorf("%s: %s %s", id, a.Outcome, a.Observed)
		}
	}
	want := []manifest.Metric{metric("row_count", "", "4"), metric("max", "x", "9"), metric("min", "x", "-3"),
		metric("null_count", "x", "1"), metric("sum", "x", "11")}
	if got := r.Partitions[0].Metrics; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("metrics %v", got)
	}
}

func TestSchemaDrift(t *testing.T) {
	whole := fileOf(t, "a.parquet", longs("x", 1))
	for name, other := range map[string]File{
		"type":  fileOf(t, "b.parquet", doubles("x", 1.9)),
		"extra": fileOf(t, "b.parquet", longs("x", 1), longs("y", 1)),
		"scale": fileOf(t, "b.parquet", decimals("x", 18, 2, 1)),
	} {
		for _, files := range [][]File{{whole, other}, {other, whole}} {
			r := mustRun(t, mustParse(t, checks("sum: {column: x, min: 0}", "row_count: 2")), Partition{Files: files}, Options{})
			a := resultOf(t, r, "schema_consistent")
			if a.Outcome != Fail || !strings.Contains(a.Message, "b.parquet") || !strings.Contains(a.Message, "column ") {
				t.Errorf("%s: %+v", name, a)
			}
			if sum := resultOf(t, r, "sum(x)"); sum.Outcome != Error || sum.Error.Cause != CauseData {
				t.Errorf("%s: sum is %s", name, sum.Outcome)
			}
			if rows := resultOf(t, r, "row_count"); rows.Outcome != Pass {
				t.Errorf("%s: row_count is %s", name, rows.Outcome)
			}
		}
	}
}

// The order of columns is no drift, nor is how decimals are stored.
func TestSameSchemaStoredDifferently(t *testing.T) {
	narrow := leaf("d", parquet.Types.Int64, schema.NewDecimalLogicalType(18, 2), -1, []any{100, -250})
	r := mustRun(t, mustParse(t, checks("unique: [d, s]", "sum: {column: d, equals: -1.5}", "max: {column: d, equals: 1}",
		"min: {column: d, equals: -2.5}", "count_distinct: {column: d, equals: 3}")),
		Partition{Files: []File{
			fileOf(t, "a.parquet", narrow, strs("s", "x", "y")),
			fileOf(t, "b.parquet", strs("s", "x", "z"), decimals("d", 18, 2, 100, -100)),
		}}, Options{})
	want := map[string]Outcome{"unique(d,s)": Fail, "sum(d)": Pass, "max(d)": Pass, "min(d)": Pass, "count_distinct(d)": Pass}
	for id, outcome := range want {
		if a := resultOf(t, r, id); a.Outcome != outcome {
			t.Errorf("%+v", a)
		}
	}
	if a := resultOf(t, r, "unique(d,s)"); a.Violations != 1 || a.Samples[0].File != "b.parquet" || a.Samples[0].Row != 0 {
		t.Errorf("%+v", a)
	}
	if a := resultOf(t, r, "sum(d)"); a.Observed != "-1.50" {
		t.Errorf("sum is %s", a.Observed)
	}
}

// INT96 is decoded, and its statistics are never read.
func TestInt96(t *testing.T) {
	at := func(text string) parquet.Int96 {
		when, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		var v parquet.Int96
		days := when.Unix() / 86400
		if when.Unix() < 0 {
			days--
		}
		binary.LittleEndian.PutUint64(v[:], uint64(when.Sub(time.Unix(days*86400, 0))))
		binary.LittleEndian.PutUint32(v[8:], uint32(days+2440588))
		return v
	}
	file := fileOf(t, "a.parquet", leaf("x", parquet.Types.Int96, nil, -1,
		[]any{at("1969-12-31T23:00:00Z"), at("2025-03-05T00:00:00.000000001Z"), at("2025-03-05T00:00:00.000000001Z")}))
	for item, want := range map[string]string{
		"max: {column: x, equals: '2025-03-05T00:00:00.000000001Z'}": "pass 2025-03-05T00:00:00.000000001Z",
		"min: {column: x, equals: '1970-01-01T00:00:00+01:00'}":      "pass 1969-12-31T23:00:00Z",
		"accepted_range: {column: x, max: '2025-03-05T00:00:00Z'}":   "fail 2 of 3 rows (66.67%)",
		"unique: x": "fail 1 of 3 rows (33.33%)",
		"accepted_range: {column: x, min: '2025-03-05'}": "error ",
	} {
		a := judgeOne(t, item, file)
		if got := fmt.Sprintf("%s %s", a.Outcome, a.Observed); got != want {
			t.Errorf("%s: %s, want %s; %s", item, got, want, a.Message)
		}
	}
}

func TestEmptyRowGroupInTheMiddle(t *testing.T) {
	file := memoryFile("a.parquet", parquetBytes(t, [][]testColumn{{longs("x", 1)}, {longs("x")}, {longs("x", 1)}}))
	a := judgeOne(t, "unique: x", file)
	if a.Violations != 1 || a.Samples[0].Row != 1 {
		t.Errorf("%+v", a)
	}
}

func TestNamesThatDifferByCase(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("id", 1, 1), longs("ID", 1, 2), longs("a.b", 3, 4))
	for item, want := range map[string]int64{"unique: id": 1, "unique: ID": 0, `unique: '"a.b"'`: 0} {
		if a := judgeOne(t, item, file); a.Violations != want || a.Outcome == Error {
			t.Errorf("%s: %+v", item, a)
		}
	}
}

func keyed(values ...string) manifest.Partition {
	p := manifest.Partition{Table: "t", Path: "t"}
	for i := 0; i < len(values); i += 2 {
		p.Keys = append(p.Keys, manifest.KeyValue{Name: values[i], Value: values[i+1]})
		p.Path += "/" + values[i] + "=" + values[i+1]
	}
	return p
}

func TestPartitionValues(t *testing.T) {
	hours := leaf("hour", parquet.Types.Int32, nil, -1, []any{1, 1})
	noon := int64(1741132800000000) // 2025-03-05T00:00:00Z
	late := stamps("at", true, noon, noon+86399999999, noon+86400000000)
	local := stamps("at", false, noon, noon-1)
	tests := []struct {
		name, checks string
		part         manifest.Partition
		column       testColumn
		id, want     string
	}{
		{"typed", "integrity: {}", keyed("hour", "01"), hours, "partition_values(hour)", "pass 0/2"},
		{"typed, other", "integrity: {}", keyed("hour", "02"), hours, "partition_values(hour)", "fail 2/2"},
		{"text", "integrity: {}", keyed("hour", "01"), strs("hour", "1", "01"), "partition_values(hour)", "fail 1/2"},
		{"NULL", "integrity: {}", keyed("k", "a"), strs("k", "a", nil), "partition_values(k)", "fail 1/2"},
		{"unescaped", "integrity: {}", keyed("k", "a:b"), strs("k", "a:b"), "partition_values(k)", "pass 0/1"},
		{"default", "integrity: {}", keyed("k", hiveNull), strs("k", nil, nil), "partition_values(k)", "pass 0/2"},
		{"default, other", "integrity: {}", keyed("k", hiveNull), strs("k", nil, "a"), "partition_values(k)", "fail 1/2"},
		{"no number", "integrity: {}", keyed("hour", "x"), hours, "partition_values(hour)", "error 0/0"},
		{"mapped", "partition_values: {map: {dt: date(at)}}", keyed("dt", "2025-03-05"), late, "partition_values(dt)", "fail 1/3"},
		{"mapped, zone", "timezone: Asia/Tokyo\npartition_values: {map: {dt: date(at)}}", keyed("dt", "2025-03-06"), late, "partition_values(dt)", "fail 1/3"},
		{"mapped, local", "partition_values: {map: {dt: date(at)}}", keyed("dt", "2025-03-05"), local, "partition_values(dt)", "fail 1/2"},
		{"mapped column", "partition_values: {map: {hour: h}}", keyed("hour", "7"), longs("h", 7, 8), "partition_values(hour)", "fail 1/2"},
		{"no such key", "partition_values: {map: {day: at}}", keyed("dt", "2025-03-05"), late, "partition_values(day)", "error 0/0"},
	}
	for _, tt := range tests {
		r := mustRun(t, mustParse(t, "version: 1\n"+tt.checks+"\n"),
			Partition{Partition: tt.part, Files: []File{fileOf(t, "a.parquet", tt.column)}}, Options{})
		a := resultOf(t, r, tt.id)
		if got := fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested); got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.name, got, tt.want, a.Message)
		}
	}
}

// Partition keys that the files do not store are columns.
func TestPartitionKeysAsColumns(t *testing.T) {
	part := Partition{Partition: keyed("dt", "2025-03-05", "hour", "01"), Files: []File{fileOf(t, "a.parquet", longs("x", 1, 1, 2))}}
	r := mustRun(t, mustParse(t, checks("accepted_values: {column: hour, values: [1]}", "unique: [dt, x]", "not_null: dt",
		"accepted_values: {column: dt, values: ['${partition.dt}']}", "sum: {column: hour, equals: 3}",
		"accepted_range: {column: x, max: '${partition.hour}'}")+"columns: [{name: hour, type: int32}]\n"), part, Options{})
	for id, want := range map[string]string{
		"accepted_values(hour)": "pass 0/3", "unique(dt,x)": "fail 1/3", "not_null(dt)": "pass 0/3",
		"accepted_values(dt)": "pass 0/3", "sum(hour)": "pass 0/3", "accepted_range(x)": "fail 1/3", "schema(hour)": "pass 0/3",
	} {
		a := resultOf(t, r, id)
		if got := fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested); got != want {
			t.Errorf("%s: %s, want %s; %s", id, got, want, a.Message)
		}
	}
}
