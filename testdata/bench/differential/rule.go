package differential

import (
	"fmt"
	"math"
	"strings"

	"github.com/wap-cli/wap/audit"
)

func (a asker) accepted() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k != booleans && !k.time() })
	if !ok {
		return question{}, false
	}
	var wap, duck []string
	for range 1 + a.r.IntN(4) {
		w, d := c.literal(a.r)
		wap, duck = append(wap, w), append(duck, d)
	}
	if c.kind.floating() && a.r.IntN(3) == 0 {
		wap, duck = append(wap, ".nan"), append(duck, "CAST('nan' AS "+c.duck+")")
	}
	in := c.wide() + " IN (" + strings.Join(duck, ", ") + ")"
	if a.r.IntN(3) == 0 {
		return a.violating("not_accepted_values", c, in, "values: ["+strings.Join(wap, ", ")+"]"), true
	}
	return a.violating("accepted_values", c, "NOT "+in, "values: ["+strings.Join(wap, ", ")+"]"), true
}

func (a asker) ranged() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k != booleans })
	if !ok {
		return question{}, false
	}
	lw, ld := c.literal(a.r)
	keys := []string{"min: " + lw}
	broken := c.wide() + " < " + ld
	if a.r.IntN(2) == 0 {
		keys, broken = []string{"exclusive_max: " + lw}, c.wide()+" >= "+ld
	}
	if c.kind.floating() {
		broken += " OR isnan(" + c.name + ")"
	}
	return a.violating("accepted_range", c, broken, keys...), true
}

func (a asker) matching() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k == texts })
	if !ok {
		return question{}, false
	}
	p := patterns()[a.r.IntN(len(patterns()))]
	if a.r.IntN(2) == 0 {
		return a.violating("regex", c, "NOT regexp_matches("+c.name+", '"+p+"')", "pattern: '"+p+"'", "match: partial"), p != ""
	}
	return a.violating("regex", c, "NOT regexp_full_match("+c.name+", '"+p+"')", "pattern: '"+p+"'"), p != ""
}

func (a asker) length() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k == texts })
	if !ok {
		return question{}, false
	}
	n := a.r.IntN(5)
	if a.r.IntN(2) == 0 {
		return a.violating("length", c, fmt.Sprintf("strlen(%s) > %d", c.name, n), fmt.Sprintf("max: %d", n), "unit: bytes"), true
	}
	return a.violating("length", c, fmt.Sprintf("length(%s) < %d", c.name, n), fmt.Sprintf("min: %d", n)), true
}

func (a asker) lengths() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k == texts })
	side := []string{"min", "max"}[a.r.IntN(2)]
	return question{
		check: side + "_length", keys: []string{"column: " + c.name, "min: 0"}, answer: observed,
		query: fmt.Sprintf("(SELECT %s(length(%s)) FROM %s)", side, c.name, a.from()),
	}, ok
}

// expression counts rows for which it is not true.
func (a asker) expression() (question, bool) {
	e := a.condition(a.r.IntN(4))
	q := question{check: "expression", keys: []string{"expr: " + yamlText(e.wap)}}
	nulls := func(r audit.Result) string {
		for _, c := range r.Counts {
			if c.Name == "null_results" {
				return fmt.Sprintf("%s, %d null", counts(r), c.Value)
			}
		}
		return counts(r)
	}
	q.answer = nulls
	broken, tested := "(%[1]s) IS NOT TRUE", "count(*)"
	if a.r.IntN(2) == 0 {
		q.keys = append(q.keys, "nulls: skip")
		broken, tested = "(%[1]s) IS FALSE", "count((%[1]s))"
	}
	q.query = fmt.Sprintf("(SELECT concat(count(*) FILTER ("+broken+"), '/', "+strings.ReplaceAll(tested, "%", "%")+", ', ', count(*) FILTER ((%[1]s) IS NULL), ' null') FROM %[2]s)", e.duck, a.from())
	return q, true
}

// monotonic looks at each value and the last one before it.
func (a asker) monotonic() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k.exact() || k.time() || k == texts })
	if !ok {
		return question{}, false
	}
	keys, sign := []string{"column: " + c.name}, "<"
	if a.r.IntN(2) == 0 {
		keys, sign = append(keys, "order: decreasing", "strict: true"), ">="
	}
	return question{
		check: "monotonic", keys: keys, answer: func(r audit.Result) string { return fmt.Sprint(r.Violations) },
		query: fmt.Sprintf("(SELECT count(*) FROM (SELECT %s AS x, lag(%s) OVER (ORDER BY rn) AS p FROM %s WHERE %s IS NOT NULL) WHERE x %s p)",
			c.name, c.name, a.from(), c.name, sign),
	}, true
}

// counted asks for values that are 0, infinite or NaN, or empty.
func (a asker) counted() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k.numeric() || k == texts })
	switch {
	case !ok:
		return question{}, false
	case c.kind == texts:
		return a.violating("not_empty_string", c, c.name+" = ''"), true
	case c.kind.floating() && a.r.IntN(2) == 0:
		return a.violating("finite", c, "NOT isfinite("+c.name+")"), true
	}
	return question{
		check: "zero_count", keys: []string{"column: " + c.name, "min: 0"},
		answer: func(r audit.Result) string { return strings.Replace(observed(r), "NULL", "0", 1) },
		query:  fmt.Sprintf("(SELECT count(*) FILTER (%s = 0) FROM %s)", c.name, a.from()),
	}, true
}

// share asks how much of a column is NULL or true: a percentage, compared as such.
func (a asker) share() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k == booleans })
	check, of := "true_rate", fmt.Sprintf("count(*) FILTER (%s) || '/' || count(%s)", c.name, c.name)
	if !ok || a.r.IntN(2) == 0 {
		c = a.columns[a.r.IntN(len(a.columns))]
		check, of = "null_rate", fmt.Sprintf("count(*) FILTER (%s IS NULL) || '/' || count(*)", c.name)
	}
	return question{
		check: check, keys: []string{"column: " + c.name, "max: 1"}, answer: observed,
		query: fmt.Sprintf("(SELECT %s FROM %s)", of, a.from()),
		same: func(wap, duck string) bool {
			if strings.HasSuffix(duck, "/0") {
				return wap == "NULL"
			}
			got, want := rat(strings.TrimSuffix(wap, "%")), rat(duck)
			if got == nil || strings.HasPrefix(duck, "0/") != (got.Sign() == 0) {
				return false
			}
			x, _ := got.Float64()
			y, _ := want.Float64()
			return math.Abs(x-100*y) <= 0.005+1e-9
		},
	}, true
}

// constant asks whether two values are there that differ, in keys' terms.
func (a asker) constant() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k != booleans })
	return question{
		check: "not_constant", keys: []string{"column: " + c.name},
		answer: func(r audit.Result) string { return fmt.Sprint(r.Outcome == audit.Pass) },
		query:  fmt.Sprintf("(SELECT count(DISTINCT %s) > 1 FROM %s)", c.name, a.from()),
	}, ok
}

// listed asks whether all of some values are there.
func (a asker) listed() (question, bool) {
	c, ok := a.pick(func(k kind) bool { return k.exact() || k == texts })
	if !ok {
		return question{}, false
	}
	lw, ld := c.literal(a.r)
	return question{
		check: "distinct_values", keys: []string{"column: " + c.name, "contains: [" + lw + "]"},
		answer: func(r audit.Result) string { return fmt.Sprint(r.Outcome == audit.Pass) },
		query:  fmt.Sprintf("(SELECT coalesce(bool_or(%s = %s), false) FROM %s)", c.wide(), ld, a.from()),
	}, true
}
