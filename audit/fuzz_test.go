package audit

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/wap-cli/wap/manifest"
)

// FuzzRun judges mutated files by every kind of assertion: whatever the bytes,
// there is a report, and none of its parts is contradictory.
func FuzzRun(f *testing.F) {
	columns := [][]testColumn{
		{longs("x", 1, 2, nil, 2), strs("s", "a", nil, "bb", "a"), decimals("d", 20, 2, 1, nil, -5, 7), doubles("f", 1.5, math.NaN(), nil, 0.0)},
		{longs("x", 1, 2), strs("s", "ä", "\xff"), decimals("d", 20, 2, 1, 2), doubles("f", 1.5, math.Inf(1))},
	}
	for _, props := range [][]parquet.WriterProperty{nil, {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2)}} {
		f.Add(parquetBytes(f, columns, props...))
	}
	f.Add(parquetBytes(f, [][]testColumn{{
		listOf(longs("x", 0, 1, 2, 3), []int16{3, 3, 0, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1}),
	}}))
	f.Add(parquetBytes(f, [][]testColumn{{
		leaf("x", parquet.Types.Int96, nil, -1, []any{parquet.Int96{1, 2}, nil}), stamps("s", true, 1, 2),
		leaf("d", parquet.Types.Int32, schema.DateLogicalType{}, -1, []any{1, nil}),
		leaf("f", parquet.Types.Boolean, nil, -1, []any{true, nil}),
	}}))
	var items []string
	for _, path := range []string{"x", "'x[]'", "s", "d", "f"} {
		items = append(items, "not_null: "+path, "unique: "+path, "sum: {column: "+path+", min: 1}", "min: {column: "+path+", min: 1}",
			"max: {column: "+path+", min: a}", "accepted_range: {column: "+path+", min: 1, max: 5.5}",
			"accepted_values: {column: "+path+", values: [1, 2.5]}", "accepted_values: {column: "+path+", values: [a]}",
			"regex: {column: "+path+", pattern: 'a+'}", "length: {column: "+path+", max: 5}", "finite: "+path,
			"count_distinct: {column: "+path+", min: 1}", "null_rate: {column: "+path+", max: 0.5}")
	}
	c, err := Parse("c.yaml", []byte(checks(items...)+"integrity: {mode: full}\n"), Vars{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		part := Partition{Partition: manifest.Partition{Table: "t", Path: "t"}, Files: []File{memoryFile("a", data)}}
		r, err := Run(context.Background(), &Rules{Default: c}, []Partition{part}, Options{Now: testNow(), Memory: 32 << 20, Parallel: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Assertions {
			if (a.Outcome == Error) != (a.Error != nil) || a.Violations > a.RowsTested && a.Type != "integrity" && a.Type != "bad_statistics" {
				t.Errorf("%+v", a)
			}
			if a.Error != nil && a.Error.Cause != CauseData {
				t.Errorf("%+v", a.Error)
			}
		}
		var text strings.Builder
		if err := r.WriteText(&text, TextOptions{Values: true}); err != nil {
			t.Fatal(err)
		}
	})
}
