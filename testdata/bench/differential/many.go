package differential

import (
	"fmt"
	"slices"

	"github.com/wap-cli/wap/audit"
)

// elements asks about what stands in lists: a row violates if one element does.
func (a asker) elements() (question, bool) {
	list := slices.DeleteFunc(slices.Clone(a.columns), func(c column) bool { return c.kind != lists })
	if len(list) == 0 {
		return question{}, false
	}
	x := list[a.r.IntN(len(list))].name
	q := question{keys: []string{"column: '" + x + "[]'"}, answer: counts}
	elements := func(r audit.Result) string {
		by := map[string]int64{}
		for _, c := range r.Counts {
			by[c.Name] = c.Value
		}
		return fmt.Sprintf("%s, %d of %d, %d NULL, %d without, %d empty", counts(r),
			by["violating_elements"], by["elements"], by["null_elements"], by["null_lists"], by["empty_lists"])
	}
	// What all rules on elements count, and the rule's own part.
	all := fmt.Sprintf("coalesce(sum(len(%[1]s)), 0), ', ', coalesce(sum(len(list_filter(%[1]s, lambda e: e IS NULL))), 0), ' NULL, ', "+
		"count(*) FILTER (%[1]s IS NULL), ' without, ', count(*) FILTER (%[1]s = []), ' empty'", x)
	rows := func(broken, tested string) string {
		return fmt.Sprintf("(SELECT concat(count(*) FILTER (len(list_filter(%[1]s, lambda e: %[2]s)) > 0), '/', count(*) FILTER (%[3]s), ', ', "+
			"coalesce(sum(len(list_filter(%[1]s, lambda e: %[2]s))), 0), ' of ', %[4]s) FROM %[5]s)", x, broken, tested, all, a.from())
	}
	valued := "len(list_filter(" + x + ", lambda e: e IS NOT NULL)) > 0"
	n := fmt.Sprint(a.r.IntN(60))
	switch a.r.IntN(4) {
	case 0:
		q.check, q.answer, q.query = "not_null", elements, rows("e IS NULL", "true")
	case 1:
		q.check, q.answer, q.query = "accepted_range", elements, rows("e < "+n, valued)
		q.keys = append(q.keys, "min: "+n)
	case 2:
		q.check, q.answer, q.same = "sum", observed, sameValue(0)
		q.keys = append(q.keys, "min: 0")
		q.query = fmt.Sprintf("(SELECT CAST(sum(list_sum(CAST(%s AS HUGEINT[]))) AS VARCHAR) FROM %s)", x, a.from())
	case 3:
		q.check, q.keys = "list_length", []string{"column: " + x, "max: 1"}
		q.query = fmt.Sprintf("(SELECT concat(count(*) FILTER (len(%[1]s) > 1), '/', count(%[1]s)) FROM %[2]s)", x, a.from())
	}
	return q, true
}

// metric is arithmetic over two aggregates of exact numbers.
func (a asker) metric() (question, bool) {
	aggregate := func() (term, bool) {
		t, ok := a.number(1)
		name := []string{"sum", "min", "max", "count"}[a.r.IntN(4)]
		if name == "count" {
			return term{"count(" + t.wap + ")", "CAST(count(" + t.duck + ") AS " + wide + ")"}, ok
		}
		return term{name + "(" + t.wap + ")", "CAST(" + name + "(" + t.duck + ") AS " + wide + ")"}, ok
	}
	x, ok := aggregate()
	y, _ := aggregate()
	if !ok {
		return question{}, false
	}
	sign := []string{"+", "-", "/"}[a.r.IntN(3)]
	q := question{check: "metric", answer: observed, same: sameValue(0)}
	duck := x.duck + " " + sign + " " + y.duck
	if sign == "/" {
		q.same = sameValue(1e-6) // six digits are shown
		duck = fmt.Sprintf("CASE WHEN %[2]s <> 0 THEN CAST(%[1]s AS DOUBLE) / CAST(%[2]s AS DOUBLE) END", x.duck, y.duck)
	}
	q.keys = []string{"expr: " + yamlText(x.wap+" "+sign+" "+y.wap), "min: 0"}
	q.query = fmt.Sprintf("(SELECT CAST(%s AS VARCHAR) FROM %s)", duck, a.from())
	return q, true
}
