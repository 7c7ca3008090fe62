package differential

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/audit"
)

// question is one check with the query that answers it too, as a text.
type question struct {
	check string // kind of the check
	keys  []string
	query string
	// answer is what wap found, in the words of query.
	answer func(a audit.Result) string
	same   func(wap, duck string) bool
}

// asker makes questions about a table.
type asker struct {
	grammar
	where term // empty: none
}

// item is the question in a checks file.
func (q question) item(id string) string {
	return fmt.Sprintf("  - %s: {id: %s, %s}\n", q.check, id, strings.Join(q.keys, ", "))
}

func yamlText(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text
	}
	return string(out)
}

// ask makes a random question.
func ask(r *rand.Rand, t *table) question {
	a := asker{grammar: grammar{r, t.columns}}
	if r.IntN(2) == 0 {
		a.where = a.condition(r.IntN(3))
	}
	choices := []func() (question, bool){a.rowCount, a.notNull, a.unique, a.unique, a.aggregate, a.aggregate, a.aggregate, a.mean, a.deviation,
		a.quantile, a.accepted, a.ranged, a.ranged, a.matching, a.length, a.lengths, a.expression, a.expression, a.expression, a.monotonic, a.counted,
		a.share, a.constant, a.listed, a.elements, a.elements, a.metric, a.metric}
	for {
		if q, ok := choices[r.IntN(len(choices))](); ok {
			if a.where.wap != "" && !slices.ContainsFunc(q.keys, func(k string) bool { return strings.HasPrefix(k, "where:") }) {
				q.keys = append(q.keys, "where: "+yamlText(a.where.wap))
			}
			if q.same == nil {
				q.same = func(wap, duck string) bool { return wap == duck }
			}
			return q
		}
	}
}

// from is the table as the question sees it.
func (a asker) from() string {
	if a.where.wap == "" {
		return "t"
	}
	return "(SELECT * FROM t WHERE " + a.where.duck + ")"
}

// counts is the answer of checks that count rows.
func counts(a audit.Result) string { return fmt.Sprintf("%d/%d", a.Violations, a.RowsTested) }

func observed(a audit.Result) string {
	if a.Observed == "no value" {
		return "NULL"
	}
	return a.Observed
}

// violating asks for rows that break a rule among those with a value.
func (a asker) violating(check string, c column, broken string, keys ...string) question {
	return question{
		check: check, keys: append([]string{"column: " + c.name}, keys...), answer: counts,
		query: fmt.Sprintf("(SELECT concat(count(*) FILTER (%s), '/', count(*)) FROM %s WHERE %s IS NOT NULL)", broken, a.from(), c.name),
	}
}

func (a asker) rowCount() (question, bool) {
	return question{check: "row_count", keys: []string{"min: 0"}, query: "(SELECT count(*) FROM " + a.from() + ")", answer: observed}, true
}

func (a asker) notNull() (question, bool) {
	c := a.columns[a.r.IntN(len(a.columns))]
	return question{check: "not_null", keys: []string{"column: " + c.name}, answer: counts,
		query: fmt.Sprintf("(SELECT concat(count(*) - count(%s), '/', count(*)) FROM %s)", c.name, a.from())}, true
}

// unique asks for surplus rows under each treatment of NULL.
func (a asker) unique() (question, bool) {
	keys := a.scalars()
	if len(keys) == 0 {
		return question{}, false
	}
	n := 1 + a.r.IntN(min(3, len(keys)))
	var names, missing, nan []string
	for _, i := range a.r.Perm(len(keys))[:n] {
		c := keys[i]
		names, missing = append(names, c.name), append(missing, c.name+" IS NULL")
		if c.kind.floating() {
			nan = append(nan, "coalesce(isnan("+c.name+"), false)")
		}
	}
	bad := strings.Join(missing, " OR ")
	mode := []string{"distinct", "equal", "fail", ""}[a.r.IntN(4)]
	q := question{check: "unique", keys: []string{"columns: [" + strings.Join(names, ", ") + "]"}}
	switch mode {
	case "": // primary_key
		q.check = "primary_key"
		bad = strings.Join(append(missing, nan...), " OR ")
	default:
		q.keys = append(q.keys, "nulls: "+mode)
	}
	rows, lost := "NOT ("+bad+")", "0"
	if mode == "equal" {
		rows = "true"
	}
	tested := "count(*)"
	switch mode {
	case "distinct":
		tested = "count(*) FILTER (" + rows + ")"
	case "fail", "":
		lost = "count(*) FILTER (" + bad + ")"
	}
	groups := fmt.Sprintf("(SELECT count(*) AS n FROM %s WHERE %s GROUP BY %s HAVING n > 1)", a.from(), rows, strings.Join(names, ", "))
	q.query = fmt.Sprintf(`(SELECT concat(%s + (SELECT coalesce(sum(n - 1), 0) FROM %s), '/', %s, ' groups ', (SELECT count(*) FROM %s), ' in them ', (SELECT coalesce(sum(n), 0) FROM %s)) FROM %s)`,
		lost, groups, tested, groups, groups, a.from())
	q.answer = func(r audit.Result) string {
		by := map[string]int64{}
		for _, c := range r.Counts {
			by[c.Name] = c.Value
		}
		return fmt.Sprintf("%s groups %d in them %d", counts(r), by["groups"], by["rows_in_groups"])
	}
	return q, true
}

// nanFirst is an aggregate that is NaN where a value is.
func nanFirst(c column, aggregate string) string {
	if !c.kind.floating() {
		return aggregate
	}
	return fmt.Sprintf("CASE WHEN coalesce(bool_or(isnan(%s)), false) THEN 'NaN' ELSE CAST(%s AS VARCHAR) END", c.name, aggregate)
}

func (a asker) aggregate() (question, bool) {
	name := []string{"sum", "min", "max", "count_distinct"}[a.r.IntN(4)]
	c, ok := a.pick(func(k kind) bool { return k.numeric() || name != "sum" && k != booleans })
	if !ok || name == "sum" && c.vast {
		return question{}, false
	}
	q := question{check: name, keys: []string{"column: " + c.name, "min: 0"}, answer: observed, same: sameValue(0)}
	switch {
	case name == "count_distinct":
		q.query = fmt.Sprintf("(SELECT count(DISTINCT %s) FROM %s)", c.name, a.from())
	case name == "sum":
		of := c.name
		if c.kind == singles {
			of = "CAST(" + c.name + " AS DOUBLE)"
		}
		q.query = fmt.Sprintf("(SELECT CAST(%s AS VARCHAR) FROM %s)", nanFirst(c, "sum("+of+")"), a.from())
		if c.kind.floating() {
			q.same = sameValue(1e-9)
		}
	default:
		q.query = fmt.Sprintf("(SELECT CAST(%s AS VARCHAR) FROM %s)", nanFirst(c, name+"("+c.name+")"), a.from())
		if c.kind == texts {
			q.keys[1], q.same = "min: ''", nil
		}
		if c.kind.time() {
			w, _ := c.literal(a.r)
			q.keys[1], q.same = "min: "+w, sameTime
		}
	}
	if name == "count_distinct" {
		q.keys[1], q.same = "min: 0", nil
		q.answer = func(r audit.Result) string { return strings.Replace(observed(r), "NULL", "0", 1) }
	}
	return q, true
}

// mean is compared with a sum and a count.
func (a asker) mean() (question, bool) {
	c, ok := a.pick(kind.numeric)
	if !ok || c.vast {
		return question{}, false
	}
	q := question{check: "avg", keys: []string{"column: " + c.name, "min: 0"}, answer: observed, same: sameValue(1e-9)}
	if c.kind.floating() {
		q.query = fmt.Sprintf("(SELECT %s FROM %s)", nanFirst(c, "avg("+c.name+")"), a.from())
		return q, true
	}
	q.query = fmt.Sprintf("(SELECT sum(%s) || '/' || count(%s) FROM %s)", c.name, c.name, a.from())
	q.same = func(wap, duck string) bool {
		sum, n, ok := strings.Cut(duck, "/")
		if !ok {
			return wap == duck
		}
		want := new(big.Rat).Quo(rat(sum), rat(n))
		got := rat(wap)
		return got != nil && new(big.Rat).Abs(new(big.Rat).Sub(got, want)).Cmp(new(big.Rat).Quo(rat("1"), rat("1"+strings.Repeat("0", c.scale+6)))) <= 0
	}
	return q, true
}

// deviation is a double in DuckDB: the error grows with the values' size.
func (a asker) deviation() (question, bool) {
	c, ok := a.pick(kind.exact)
	if !ok {
		return question{}, false
	}
	return question{
		check: "stddev", keys: []string{"column: " + c.name, "min: 0"}, answer: observed, same: sameRelative,
		query: fmt.Sprintf("(SELECT stddev_samp(CAST(%s AS DOUBLE)) || '|' || max(abs(CAST(%s AS DOUBLE))) FROM %s)", c.name, c.name, a.from()),
	}, true
}

func (a asker) quantile() (question, bool) {
	c, ok := a.pick(kind.exact)
	if !ok {
		return question{}, false
	}
	share := []string{"0", "0.1", "0.25", "0.5", "0.75", "0.99", "1"}[a.r.IntN(7)]
	return question{
		check: "quantile", keys: []string{"column: " + c.name, "q: " + share, "min: 0"}, answer: observed, same: sameRelative,
		query: fmt.Sprintf("(SELECT quantile_cont(CAST(%s AS DOUBLE), %s) || '|' || max(abs(CAST(%s AS DOUBLE))) FROM %s)", c.name, share, c.name, a.from()),
	}, true
}

// sameRelative compares a number with one that comes with its error's measure.
func sameRelative(wap, duck string) bool {
	value, size, ok := strings.Cut(duck, "|")
	if !ok {
		return wap == duck
	}
	x, err1 := strconv.ParseFloat(wap, 64)
	y, err2 := strconv.ParseFloat(value, 64)
	z, err3 := strconv.ParseFloat(size, 64)
	return err1 == nil && err2 == nil && err3 == nil && math.Abs(x-y) <= 1e-9*math.Abs(y)+1e-9*z
}

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}

// sameValue compares numbers by value: exactly, or to a relative error.
func sameValue(relative float64) func(wap, duck string) bool {
	return func(wap, duck string) bool {
		duck = strings.NewReplacer("inf", "Infinity", "-nan", "NaN", "nan", "NaN").Replace(duck)
		x, y := rat(wap), rat(duck)
		if x == nil || y == nil {
			return wap == duck
		}
		f, _ := x.Float64()
		g, _ := y.Float64()
		return x.Cmp(y) == 0 || relative > 0 && math.Abs(f-g) <= relative*max(math.Abs(f), math.Abs(g), 1)
	}
}

func sameTime(wap, duck string) bool {
	return wap == strings.NewReplacer(" ", "T", "+00", "Z").Replace(duck)
}
