package audit

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// What level counts say is what batches say, places of samples included: a
// condition that holds everywhere forces batches.
func TestLevelCountsAndBatchesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var groups [][]testColumn
	for g := range 3 {
		const rows = 3000
		row, some, inner, def := make([]any, rows), make([]any, rows), []any{}, make([]int16, rows)
		for i := range rows {
			row[i] = i
			if r.IntN(5*g+2) > 0 {
				some[i] = i
			}
			if def[i] = int16(r.IntN(3)); def[i] == 2 {
				inner = append(inner, i)
			}
		}
		groups = append(groups, []testColumn{longs("row", row...), longs("some", some...), structOf("s", longs("a", inner...), def)})
	}
	file := memoryFile("a", parquetBytes(t, groups, parquet.WithDataPageSize(700), parquet.WithBatchSize(100)))
	mixed := mustRun(t, mustParse(t, checks("not_null: some", "sum: {column: row, min: 0}")), Partition{Files: []File{file}}, Options{})
	if a := resultOf(t, mixed, "not_null(some)"); a.Violations == 0 || a.RowsTested != 9000 {
		t.Errorf("beside a sum: %+v", a)
	}
	for _, kind := range []string{"not_null: {", "not_null: {samples: 3, ", "not_null: {redact: [some], ", "null_rate: {max: 30%, ", "not_all_null: {"} {
		for _, path := range []string{"row", "some", "s", "s.a"} {
			item := kind + "column: " + path
			counted, scanned := judgeOne(t, item+"}", file), judgeOne(t, item+", where: row >= 0}", file)
			scanned.ID, scanned.Expected, scanned.Counts, scanned.Grade = counted.ID, counted.Expected, counted.Counts, counted.Grade
			if !reflect.DeepEqual(counted, scanned) || path != "row" && counted.Violations == 0 && kind[:8] == "not_null" {
				t.Errorf("%s}: by levels\n%+v\nby batches\n%+v", item, counted, scanned)
			}
		}
	}
}
