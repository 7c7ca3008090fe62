package audit

import (
	"context"
	"strings"
	"testing"
)

func rehearsal(t *testing.T, text string, data ...File) []Rehearsal {
	t.Helper()
	list, err := Rehearse(context.Background(), mustParse(t, text), data, Options{Now: testNow()})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const declared = `
columns:
  - {name: id, type: int64, nullable: false}
  - {name: small, type: int8}
  - {name: amount, type: "decimal(18,2)"}
  - {name: price, type: double}
  - {name: paid, type: bool}
  - {name: status, type: string}
  - {name: at, type: "timestamp[us, tz=UTC]"}
  - {name: day, type: date}
`

// Every rule of a good file fails on something.
func TestRehearseGoodRules(t *testing.T) {
	list := rehearsal(t, checks(
		"row_count: {min: 1000}", "row_count: {max: 5000}", "row_count: {min: 1, where: \"status = 'a'\"}", "file_count: {max: 64}", "file_size: {min: 1KiB, max: 1GiB}",
		"schema: {columns: [{name: id, type: int64, nullable: false}], allow_extra_columns: true}", "schema: {forbidden: [ssn]}",
		"unique: [id, status]", "primary_key: id", "unique: {columns: [id], where: \"status = 'placed'\", fail_if: '> 10'}",
		"not_null: amount", "not_null: {columns: [status], fail_if: '> 20%'}", "null_rate: {columns: [status], max: 50%}", "not_all_null: status",
		"accepted_values: {columns: [status], values: [placed, shipped]}", "not_accepted_values: {columns: [status], values: [lost]}",
		"accepted_range: {columns: [amount], min: 0, exclusive_max: 10000}", "accepted_range: {columns: [small], min: -127}",
		"accepted_range: {columns: [day], min: 2020-01-01}", "accepted_range: {columns: [small], min: 0, where: \"status in ('a', 'b') and price > 2.5\"}",
		"finite: price", "not_constant: price", "distinct_values: {columns: [status], equals: [a, b]}", "monotonic: at", "sequential: id",
		"format: {columns: [status], format: email}", "not_empty_string: status", "regex: {columns: [status], pattern: '[A-Z]{2}'}",
		"length: {columns: [status], equals: 2}", "length: {columns: [status], max: 4000}",
		"sum: {columns: [amount], min: 1}", "min: {columns: [amount], min: 0.01}", "max: {columns: [id], max: 1000000000}",
		"count_distinct: {columns: [status], max: 30}", "approx_count_distinct: {columns: [id], min: 3}", "avg: {columns: [amount], min: 10, max: 90}",
		"stddev: {columns: [price], max: 50}", "median: {columns: [price], max: 40}", "quantile: {columns: [amount], q: 0.95, max: 90}",
		"min_length: {columns: [status], equals: 2}", "max_length: {columns: [status], max: 20}", "zero_count: {columns: [amount], max: 0}",
		"true_rate: {columns: [paid], min: 90%}", "freshness: {column: at, max_age: 6h}",
		"expression: {expr: 'amount >= 0 or paid'}",
		"expression: {expr: 'length(status) = 2', where: \"status like 'A%'\"}",
		"metric: {expr: 'sum(amount) / count(*)', max: 100}", "complete_intervals: {columns: [day], every: 1d, from: 2025-03-01, to: 2025-03-05}",
		"complete_intervals: {columns: [at], every: 1h}", "mutually_exclusive_ranges: {lower: day, upper: day2, by: [id], gaps: not_allowed}",
		"not_null: {columns: [amount], severity: warn, where: \"regexp_like(status, '[a-z]{3}-\\\\d+')\"}",
	)+declared)
	for _, r := range list {
		if r.Outcome != RuleFails {
			t.Errorf("%s: %s, %s", r.ID, r.Outcome, r.Reason)
		}
	}
}

// Rules that nothing fails are named, and those that nobody can tell about.
func TestRehearseVacuousRules(t *testing.T) {
	tests := []struct {
		item    string
		outcome RehearsalOutcome
		reason  string
	}{
		{"accepted_range: {columns: [amount], min: 0, where: \"status = 'a' and status = 'b'\"}", RuleVacuous, "its where chooses no row"},
		{"not_null: {columns: [id], where: 'small > 127'}", RuleVacuous, "its where chooses no row"},
		{"accepted_range: {columns: [small], min: -128, max: 127}", RuleVacuous, "no value fails it, of int8 small"},
		{"accepted_range: {columns: [amount], min: -1e20}", RuleVacuous, "no value fails it"},
		{"accepted_values: {columns: [paid], values: [true, false]}", RuleVacuous, "no value fails it, of bool paid"},
		{"distinct_values: {columns: [paid], contains: [true]}", RuleFails, ""},
		{"not_null: {columns: [amount], fail_if: '>= 0', where: 'amount is not null'}", RuleFails, ""},
		{"not_null: {columns: [amount], where: 'amount is not null'}", RuleVacuous, "no value fails it"},
		{"unique: {columns: [id], fail_if: '>= 100%'}", RuleVacuous, ">= 100% is not reached"},
		{"unique: {columns: [id], fail_if: '> 100000000'}", RuleUntested, "it fails at > 100000000 alone"},
		{"row_count: {min: 0}", RuleVacuous, "no data fails it"},
		{"row_count: {max: 1000000000}", RuleUntested, "nothing was found"},
		{"count_distinct: {columns: [paid], max: 2}", RuleVacuous, "no value fails it"},
		{"min: {columns: [small], min: -128}", RuleVacuous, "no value fails it"},
		{"max: {columns: [id], max: 9223372036854775807}", RuleVacuous, "no value fails it"},
		{"null_rate: {columns: [status], max: 100%}", RuleVacuous, "no value fails it"},
		{"true_rate: {columns: [paid], min: 0}", RuleVacuous, "no value fails it"},
		{"min_length: {columns: [status], min: 0}", RuleVacuous, "no value fails it"},
		{"length: {columns: [status], min: 0}", RuleVacuous, "no value fails it"},
		{"regex: {columns: [status], pattern: '(?s).*'}", RuleVacuous, "no value fails it"},
		{"finite: id", RuleVacuous, "no value fails it"},
		{"file_size: {min: 0}", RuleVacuous, "no data fails it"},
		{"schema: {columns: [{name: id}], allow_missing: true, allow_extra_columns: true}", RuleVacuous, "no data fails it"},
		{"expression: {expr: 'small < 128', nulls: skip}", RuleVacuous, "no value fails it"},
		{"expression: {expr: 'length(status) >= 0', nulls: skip}", RuleUntested, "nothing was found"},
		{"metric: {expr: 'count(*)+count(id)', min: 0}", RuleUntested, "nothing was found"},
		{"list_length: {columns: [items], min: 1}", RuleUntested, "not in the data alone"},
		{"not_null: 'items[].sku'", RuleUntested, "stands inside of another"},
		{"exec: {command: [./x]}", RuleUntested, "not in the data alone"},
		{"sum: {columns: [status], min: 1}", RuleError, "which has no sum"},
	}
	for _, tt := range tests {
		r := rehearsal(t, checks(tt.item)+declared)[0]
		if r.Outcome != tt.outcome || !strings.Contains(r.Reason, tt.reason) {
			t.Errorf("%s: %s, %s", tt.item, r.Outcome, r.Reason)
		}
	}
}

// A column that cannot be NULL now may be one day: its rule is not idle.
func TestRehearseRequiredColumns(t *testing.T) {
	type row struct {
		X int64 `parquet:"x"`
	}
	data := fromStructs(t, "data.parquet", []row{{1}, {2}})
	for _, r := range rehearsal(t, checks("not_null: x", "primary_key: x", "null_rate: {column: x, max: 10%}"), data) {
		if r.Outcome != RuleFails {
			t.Errorf("%s: %s, %s", r.ID, r.Outcome, r.Reason)
		}
	}
}

// With data, types are its own, what it holds is tried, and columns that it lacks
// are told.
func TestRehearseOnData(t *testing.T) {
	data := fileOf(t, "data.parquet", strs("code", "DE", "FR", nil), bools("paid", true, false, true))
	for item, want := range map[string]string{
		"accepted_values: {columns: [paid], values: [true, false]}":         "vacuous",
		"not_null: {columns: [paid], where: \"upper(lower(code)) = 'DE'\"}": "fails",
		"not_null: cod": "error",
		"unique: {columns: [code], fail_if: '> 60000'}": "vacuous",
		"regex: {columns: [code], pattern: '[A-Z]{2}'}": "fails",
	} {
		if r := rehearsal(t, checks(item), data)[0]; string(r.Outcome) != want {
			t.Errorf("%s: %s, %s; want %s", item, r.Outcome, r.Reason, want)
		}
	}
}

// Without data and declared types, literals tell what columns may be.
func TestRehearseGuessesTypes(t *testing.T) {
	for item, want := range map[string]RehearsalOutcome{
		"accepted_values: {columns: [a], values: [x, y]}":                                                 RuleFails,
		"expression: \"shipped_at >= '2025-03-05T00:00:00Z'\"":                                            RuleFails,
		"expression: {expr: \"status in ('a') or paid\", nulls: skip}":                                    RuleFails,
		"complete_intervals: {columns: [d], every: 1d, from: 2025-03-01, to: '${partition.dt}', by: [k]}": RuleFails,
		"accepted_values: {columns: [a], values: ['${partition.dt}']}":                                    RuleFails,
		"accepted_values: {columns: [a], values: [1, x, true]}":                                           RuleUntested,
		"freshness: {column: a, max_age: 6h}":                                                             RuleFails,
		"accepted_range: {columns: [a], min: -9223372036854775808}":                                       RuleFails,
		"expression: {expr: 'a + b + c + d + e > 1', nulls: skip}":                                        RuleUntested,
		"null_rate: {columns: [a], max: 1}":                                                               RuleVacuous,
		"not_null: {columns: [a], where: \"a = 'x' and a = 'y'\"}":                                        RuleVacuous,
	} {
		if r := rehearsal(t, checks(item))[0]; r.Outcome != want {
			t.Errorf("%s: %s, %s; want %s", item, r.Outcome, r.Reason, want)
		}
	}
}
