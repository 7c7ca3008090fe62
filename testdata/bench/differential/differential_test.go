package differential

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/audit"
)

var (
	seed  = flag.Uint64("differential.seed", 1, "where random cases begin")
	cases = flag.Int("differential.n", 300, "how many cases: a table and some questions each")
	only  = flag.Int("differential.case", -1, "one case alone")
)

// questions of a case, all in one checks file.
const perCase = 8

// TestDifferential: random tables and random checks, each answer DuckDB's.
func TestDifferential(t *testing.T) {
	l, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.db.Close()
	t.Logf("-differential.seed %d -differential.n %d", *seed, *cases)
	asked := map[string]int{}
	wrong := 0
	for n := range *cases {
		if *only >= 0 && n != *only {
			continue
		}
		if problem := l.try(rand.New(rand.NewPCG(*seed, uint64(n))), asked); problem != "" {
			t.Errorf("-differential.seed %d -differential.case %d: %s", *seed, n, problem)
			if wrong++; wrong == 10 {
				t.Fatal("too many differences")
			}
		}
	}
	t.Logf("asked: %v", asked)
	for _, check := range []string{"unique", "sum", "expression", "accepted_range", "quantile", "monotonic", "regex"} {
		if *cases >= 300 && *only < 0 && asked[check] == 0 {
			t.Errorf("nothing was asked of %s", check)
		}
	}
}

// try runs one case and returns what differs.
func (l *lab) try(r *rand.Rand, asked map[string]int) string {
	t, err := l.table(r)
	if err != nil {
		return "make table: " + err.Error()
	}
	var list []question
	var queries []string
	checks := "version: 1\nallow_empty: true\nchecks:\n"
	for i := range perCase {
		q := ask(r, t)
		list, queries = append(list, q), append(queries, q.query)
		checks += q.item(fmt.Sprintf("q%d", i))
	}
	want, err := l.answers(context.Background(), queries)
	if err != nil {
		return err.Error()
	}
	got, err := judge(t, checks)
	if err != nil {
		return fmt.Sprintf("%v\n%s", err, checks)
	}
	var wrong []string
	for i, q := range list {
		asked[q.check]++
		a := got[fmt.Sprintf("q%d", i)]
		text := q.answer(a)
		if a.Error != nil {
			text = "error: " + a.Error.Message
		}
		if !q.same(text, want[i]) {
			wrong = append(wrong, fmt.Sprintf("%s%s\n  wap    %s\n  DuckDB %s", q.item("x"), q.query, text, want[i]))
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	var columns []string
	for _, c := range t.columns {
		columns = append(columns, c.name+" "+c.duck)
	}
	return fmt.Sprintf("%d rows of %s\n%s", t.rows, strings.Join(columns, ", "), strings.Join(wrong, "\n"))
}

// judge runs the checks on the table's files.
func judge(t *table, checks string) (map[string]audit.Result, error) {
	config, err := audit.Parse("checks.yaml", []byte(checks), audit.Vars{})
	if err != nil {
		return nil, err
	}
	files, done, err := t.source()
	defer done()
	if err != nil {
		return nil, err
	}
	report, err := audit.Run(context.Background(), &audit.Rules{Default: config}, []audit.Partition{{Files: files}},
		audit.Options{Now: time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC), Memory: 64 << 20})
	if err != nil {
		return nil, err
	}
	results := map[string]audit.Result{}
	for _, a := range report.Assertions {
		results[a.ID] = a
	}
	return results, nil
}
