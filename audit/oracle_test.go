package audit

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// row is a row of a random table: an integer and a text, either of which can be
// NULL.
type row struct {
	a *int64
	b *string
}

func randomRows(r *rand.Rand) []row {
	rows := make([]row, r.IntN(200))
	for i := range rows {
		if r.IntN(5) > 0 {
			v := r.Int64N(40) - 20
			rows[i].a = &v
		}
		if r.IntN(4) > 0 {
			v := fmt.Sprintf("%c%c", 'a'+r.IntN(4), 'a'+r.IntN(3))
			rows[i].b = &v
		}
	}
	return rows
}

// split writes rows as some files with some row groups each.
func split(t *testing.T, r *rand.Rand, rows []row) []File {
	t.Helper()
	var files []File
	for len(rows) > 0 || len(files) == 0 {
		var groups [][]testColumn
		for range 1 + r.IntN(3) {
			n := r.IntN(len(rows) + 1)
			if len(files) > 2 {
				n = len(rows)
			}
			var as, bs []any
			for _, x := range rows[:n] {
				var a, b any
				if x.a != nil {
					a = *x.a
				}
				if x.b != nil {
					b = *x.b
				}
				as, bs = append(as, a), append(bs, b)
			}
			groups = append(groups, []testColumn{longs("a", as...), strs("b", bs...)})
			rows = rows[n:]
		}
		data := parquetBytes(t, groups, parquet.WithDictionaryDefault(r.IntN(2) == 0), parquet.WithDataPageSize(64))
		files = append(files, memoryFile(fmt.Sprintf("f%d", len(files)), data))
	}
	return files
}

// expected computes every answer the plain way.
func expected(rows []row) map[string]string {
	out := map[string]string{}
	sum, least, greatest := new(big.Int), int64(0), int64(0)
	nulls, outside, tested, unlisted, texts := 0, 0, 0, 0, 0
	single, pairs, distinct := map[int64]int{}, map[string]int{}, map[string]bool{}
	keyed := 0
	for _, x := range rows {
		if x.a == nil {
			nulls++
		} else {
			if tested == 0 || *x.a < least {
				least = *x.a
			}
			if tested == 0 || *x.a > greatest {
				greatest = *x.a
			}
			tested++
			sum.Add(sum, big.NewInt(*x.a))
			if *x.a < -10 || *x.a > 10 {
				outside++
			}
			single[*x.a]++
		}
		if x.b != nil {
			texts++
			distinct[*x.b] = true
			if *x.b != "aa" && *x.b != "bc" {
				unlisted++
			}
		}
		if x.a != nil && x.b != nil {
			keyed++
			pairs[fmt.Sprint(*x.a, *x.b)]++
		}
	}
	out["not_null(a)"] = fmt.Sprintf("%d/%d", nulls, len(rows))
	out["accepted_range(a)"] = fmt.Sprintf("%d/%d", outside, tested)
	out["accepted_values(b)"] = fmt.Sprintf("%d/%d", unlisted, texts)
	out["unique(a)"] = fmt.Sprintf("%d/%d", tested-len(single), tested)
	out["unique(a,b)"] = fmt.Sprintf("%d/%d", keyed-len(pairs), keyed)
	out["primary_key(a,b)"] = fmt.Sprintf("%d/%d", len(rows)-len(pairs), len(rows))
	out["row_count"] = fmt.Sprint(len(rows))
	if tested > 0 {
		out["sum(a)"], out["min(a)"], out["max(a)"] = sum.String(), fmt.Sprint(least), fmt.Sprint(greatest)
	}
	if texts > 0 {
		out["count_distinct(b)"] = fmt.Sprint(len(distinct))
	}
	return out
}

// Random tables, cut into random files: every number is what a plain loop over
// the rows gives.
func TestAgainstPlainLoops(t *testing.T) {
	c := mustParse(t, checks("not_null: a", "accepted_range: {column: a, min: -10, max: 10}", "accepted_values: {column: b, values: [aa, bc]}",
		"unique: a", "unique: [a, b]", "primary_key: [a, b]", "row_count: {min: 0}", "sum: {column: a, min: 0}",
		"min: {column: a, min: 0}", "max: {column: a, min: 0}", "count_distinct: {column: b, min: 0}"))
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		rows := randomRows(r)
		report := mustRun(t, c, Partition{Files: split(t, r, rows)}, Options{Parallel: 1 + r.IntN(3)})
		for id, want := range expected(rows) {
			a := resultOf(t, report, id)
			got := a.Observed
			if k, _ := lookup(a.Type); k.rows {
				got = fmt.Sprintf("%d/%d", a.Violations, a.RowsTested)
			}
			if got != want {
				t.Errorf("seed %d: %s is %s (%s), want %s", seed, id, got, a.Outcome, want)
			}
		}
	}
}
