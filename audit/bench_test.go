package audit

import (
	"context"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
)

// BenchmarkExpression compares an expression with the assertions that say the
// same of each column alone, over a million rows and one row group at a time.
func BenchmarkExpression(b *testing.B) {
	const rows = 1 << 20
	amounts, words := make([]any, rows), make([]any, rows)
	for i := range rows {
		amounts[i], words[i] = i*7919%100003, []any{"a", "b"}[i%2]
	}
	file := fileOf(b, "a.parquet", longs("amount", amounts...), strs("status", words...))
	part := Partition{Partition: manifest.Partition{Path: "t", Table: "t"}, Files: []File{file}}
	for _, bench := range []struct {
		name  string
		items []string
	}{
		{"expression", []string{"expression: amount >= 0 and status in ('a', 'b')"}},
		{"columns", []string{"accepted_range: {column: amount, min: 0}", "accepted_values: {column: status, values: [a, b]}"}},
		{"levels", []string{"not_null: amount", "accepted_values: {column: status, values: [a, b]}"}},
		{"where", []string{"not_null: {column: amount, where: \"amount > 50000 and status = 'a'\"}"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c, err := Parse("checks.yaml", []byte(checks(bench.items...)), Vars{})
			if err != nil {
				b.Fatal(err)
			}
			opts := Options{Now: time.Unix(1, 0), Parallel: 1}
			for b.Loop() {
				r, err := Run(context.Background(), &Rules{Default: c}, []Partition{part}, opts)
				if err != nil || r.Outcome != Pass {
					b.Fatal(err, r)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
