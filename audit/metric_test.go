package audit

import (
	"math"
	"strings"
	"testing"
)

// sales are five rows with NULLs: cents, price, kind.
func sales(t *testing.T) File {
	return fileOf(t, "sales.parquet",
		longs("cents", 100, 250, nil, 50, 0),
		doubles("price", 1.0, 2.5, nil, 0.5, 0.0),
		decimals("cost", 38, 2, 33, 33, 33, 1, nil),
		strs("kind", "a", "b", "a", nil, "c"),
		longs("none", nil, nil, nil, nil, nil))
}

func TestMetric(t *testing.T) {
	max64 := int64(math.MaxInt64)
	tests := []struct{ item, want string }{
		{"{expr: sum(cents) / count(*), equals: 80}", "pass 0/5 80"},
		{"{expr: sum(cents) / count(cents), equals: 100}", "pass 0/5 100"},
		{"{expr: avg(cents), equals: 100}", "pass 0/5 100"},
		{"{expr: count(*) - count(kind), max: 0}", "fail 0/5 1"},
		{"{expr: 'sum(case when kind = ''a'' then 1 else 0 end) / count(*)', max: 0.4}", "pass 0/5 0.4"},
		{"{expr: 'sum(case when kind = ''a'' then 1 else 0 end) / count(kind)', max: 49.9}", "pass 0/5 0.5"},
		{"{expr: sum(cost) / 3, equals: 0.3333333333333333333}", "fail 0/5 0.33333333"},
		{"{expr: sum(cost) / 3 * 3, equals: 1}", "pass 0/5 1"},
		{"{expr: avg(cost) * 4, equals: 1.00}", "pass 0/5 1"},
		{"{expr: max(cents) - min(cents), equals: 250}", "pass 0/5 250"},
		{"{expr: max(cents * 2 + 1), equals: 501}", "pass 0/5 501"},
		{"{expr: -(sum(cents) + 1), equals: -401}", "pass 0/5 -401"},
		{"{expr: sum(1.5), equals: 7.5}", "error"},
		{"{expr: 'sum(1.5) + count(cents)', equals: 11.5}", "pass 0/5 11.5"},
		{"{expr: sum(price), equals: 4, tolerance: 0.001}", "pass 0/5 4"},
		{"{expr: sum(price) / count(*), min: 0.79}", "pass 0/5 0.8"},
		{"{expr: max(price) - min(price), max: 2.5}", "pass 0/5 2.5"},
		{"{expr: avg(price), max: 0.9}", "fail 0/5 1"},
		{"{expr: sum(price), equals: 4}", "error 0/0"},
		{"{expr: sum(cents) / count(none), min: 0}", "fail 0/0 vacuous no value"},
		{"{expr: sum(none), min: 0}", "fail 0/0 vacuous no value"},
		{"{expr: count(none), max: 0}", "pass 0/5 0"},
		{"{expr: max(price) / min(price), min: 1}", "pass 0/5 Infinity"},
		{"{expr: sum(cents) / count(*), max: 79, severity: warn}", "warn 0/5 80"},
		{"{expr: sum(cents), equals: 350, where: 'cents >= 100'}", "pass 0/2 350"},
		{"{expr: count(cents), equals: 0, where: 'cents > 1000'}", "pass 0/0 0"},
		{"{expr: sum(cents), min: 0, where: 'cents > 1000'}", "fail 0/0 vacuous no value"},
		{"{expr: sum(cast(kind as int)), min: 0}", "error 0/0"},
		{"{expr: sum(kind), min: 0}", "error 0/0"},
		{"{expr: sum(missing), min: 0}", "error 0/0"},
	}
	for _, tt := range tests {
		item := "metric: " + tt.item
		if tt.want == "error" { // refused before any data is read
			if _, err := Parse("c", []byte(checks(item)), Vars{}); err == nil {
				t.Errorf("%s is accepted", item)
			}
			continue
		}
		a := judgeOne(t, item, sales(t))
		got := summary(a)
		if a.Outcome != Error {
			got += " " + a.Observed
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s; %s", item, got, tt.want, a.Message)
		}
	}
	judgeItems(t, []judgedItem{
		{"metric: {expr: sum(x) * 2, equals: 36893488147419103228}", []testColumn{longs("x", max64), longs("x", max64)}, "pass 0/2 36893488147419103228"},
		{"metric: {expr: sum(x * x), equals: 85070591730234615847396907784232501249}", []testColumn{longs("x", max64)}, "pass 0/1 85070591730234615847396907784232501249"},
		{"metric: {expr: max(x) - min(x), equals: 9}", []testColumn{longs("x", 1), longs("x", nil), longs("x", 10)}, "pass 0/3 9"},
		{"metric: {expr: max(x), min: 0}", []testColumn{doubles("x", 1.0, math.NaN())}, "fail 0/2 NaN"},
		{"metric: {expr: sum(x), min: 0}", []testColumn{doubles("x", 1.0, math.NaN())}, "fail 0/2 NaN"},
		{"metric: {expr: sum(x) / count(*), min: 0}", []testColumn{longs("x")}, "fail 0/0 vacuous no value"},
		{"metric: {expr: sum(x) / count(*), min: 0}", []testColumn{longs("x", nil, nil)}, "fail 0/0 vacuous no value"},
		{"metric: {expr: count(x) / count(*), min: 0.5}", []testColumn{strs("x", "a", nil), strs("x", "b")}, "pass 0/3 0.666667"},
		{"metric: {expr: count(x) / count(*), min: 0.5}", []testColumn{nestedLongs()}, "error 0/0"},
	}, true)
}

// What is wrong in the text of a metric is exit 2, with line and column.
func TestMetricMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"count(*)":                   "c:3:20: expr names no column",
		"amount":                     "c:3:21: column amount stands outside of the aggregates",
		"1 + 2":                      "c:3:21: there is no aggregate in it",
		"sum(amount) > 3":            "c:3:21: over aggregates stand numbers and + - * / alone",
		"sum(max(amount))":           "c:3:25: max stands inside of another aggregate",
		"sum(amount":                 `c:3:31: expected ")", not the end`,
		"count(distinct a)":          "c:3:27: distinct values are counted by the assertion count_distinct",
		"round(sum(amount))":         "c:3:21: over aggregates stand numbers and + - * / alone",
		"sum(lower(amount) + 1)":     "c:3:25: arithmetic takes a number, this is a text",
		"sum(amount) % 2":            "c:3:21: over aggregates stand numbers and + - * / alone",
		"sum(trim(a))":               "c:3:25: sum takes a number, this is a text",
		"stddev(amount)":             "c:3:28: column amount stands outside of the aggregates",
		"sum(amount) + lower(''a'')": "c:3:41: over aggregates",
	} {
		_, err := Parse("c", []byte(checks("metric: {expr: '"+text+"', min: 0}")), Vars{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := Parse("c", []byte(checks("expression: sum(amount) > 3")), Vars{})
	if err == nil || !strings.Contains(err.Error(), "sum is an aggregate, which stands in a metric alone") {
		t.Errorf("an aggregate of a row: %v", err)
	}
}
