package audit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// declare are the lines of control files: "file/task name value".
func declare(lines ...string) []manifest.Control {
	var out []manifest.Control
	for _, line := range lines {
		parts := strings.SplitN(line, " ", 3)
		file, task, _ := strings.Cut(parts[0], "/")
		out = append(out, manifest.Control{File: file, Task: task, Name: parts[1], Value: parts[2]})
	}
	return out
}

func TestReconcile(t *testing.T) {
	sales := func(key string) []File {
		return []File{
			fileOf(t, key+"1", strs("r", "eu", "us", "eu"), decimals("amount", 18, 2, 150, 250, nil), longs("c", 1, 1, 2)),
			fileOf(t, key+"2", strs("r", nil, "us"), decimals("amount", 18, 2, 100, 50), longs("c", 3, nil)),
		}
	}
	big := fileOf(t, "big", longs("c", math.MaxInt64, 1), decimals("amount", 38, 0, bigInt(t, strings.Repeat("9", 38)), bigInt(t, "1")))
	floats := fileOf(t, "floats", doubles("f", 0.1, 0.2))
	shelf := &shelf{
		rows: 5,
		controls: declare("ok.json/a row_count 5", "ok.json/a sum(amount) 5.5", "ok.json/a count_distinct(c) 3", "off.json/a row_count 6",
			"off.json/a sum(amount) 5.49", "two.json/a row_count 2", "two.json/a sum(amount) 5.25", "two.json/a count_distinct(c) 1",
			"two.json/b row_count 3", "two.json/b sum(amount) 0.25", "two.json/b count_distinct(c) 2", "words.json/a row_count many",
			"big.json/a sum(c) 9223372036854775808", "big.json/a sum(amount) 1"+strings.Repeat("0", 38), "zero.json/a row_count 0", "zero.json/a sum(amount) 0",
			"f.json/a sum(f) 0.3",
			"by.json/a groups.0.r eu", "by.json/a groups.0.row_count 2", "by.json/a groups.1.r us", "by.json/a groups.1.row_count 2",
			"by.json/a groups.2.r null", "by.json/a groups.2.row_count 1",
			"texts.json/a groups.0.r 007", "texts.json/a groups.0.row_count 1", "texts.json/a groups.1.r 7", "texts.json/a groups.1.row_count 2",
			`texts.json/a groups.2.r "null"`, "texts.json/a groups.2.row_count 1", "texts.json/a groups.3.r null", "texts.json/a groups.3.row_count 1",
			`texts.json/a groups.5.r "\"x"`, "texts.json/a groups.5.row_count 1",
			"texts.json/a groups.4.r 1e3", "texts.json/a groups.4.row_count 1",
			"numbers.json/a groups.0.c 1.0", "numbers.json/a groups.0.row_count 2", "numbers.json/a groups.1.c 2e0", "numbers.json/a groups.1.row_count 1",
			"less.json/a groups.0.r eu", "less.json/a groups.0.row_count 2", "less.json/a groups.1.r us", "less.json/a groups.1.row_count 3",
			"less.json/a groups.2.r ap", "less.json/a groups.2.row_count 1",
			"twice.json/a groups.0.r eu", "twice.json/a groups.0.row_count 2", "twice.json/a groups.1.r eu", "twice.json/a groups.1.row_count 3",
			"parts.json/a partitions.orders/dt=2025-03-05.row_count 5", "parts.json/a partitions.orders/dt=2025-03-06.row_count 9",
			"other.json/a partitions.orders/dt=2025-03-06.row_count 9"),
		data: map[string][]Partition{
			"same":  {publishedAs("same", sales("s")...)},
			"twice": {publishedAs("twice/x=1", sales("s")...), publishedAs("twice/x=2", sales("t")...)},
			"none":  {publishedAs("none")},
			"ints":  {publishedAs("ints", fileOf(t, "i", longs("amount", 5), strs("c", "1"), strs("r", "eu")))},
		},
	}
	tests := []struct {
		item  string
		files []File
		want  string
	}{
		{"with: {control: ok.json}, metrics: [row_count, sum(amount), count_distinct(c)]", sales("s"), "pass row_count 5 against 5, sum(amount) 5.50 against 5.5, count_distinct(c) 3 against 3"},
		{"with: {control: ok.json}", sales("s"), "pass row_count 5 against 5"},
		{"with: {control: off.json}, metrics: [row_count, sum(amount)]", sales("s"), "fail row_count 5 against 6, sum(amount) 5.50 against 5.49"},
		{"with: {control: off.json}, metrics: [sum(amount)], tolerance: 0.01", sales("s"), "pass sum(amount) 5.50 against 5.49"},
		{"with: {control: off.json}, metrics: [sum(amount)], tolerance: 0.009", sales("s"), "fail sum(amount) 5.50 against 5.49"},
		{"with: {control: off.json}, severity: warn", sales("s"), "warn row_count 5 against 6"},
		{"with: {control: two.json}, metrics: [row_count, sum(amount)]", sales("s"), "pass row_count 5 against 5, sum(amount) 5.50 against 5.5"},
		{"with: {control: two.json}, metrics: [count_distinct(c)]", sales("s"), "error several tasks declare count_distinct(c)"},
		{"with: {control: big.json}, metrics: [sum(c), sum(amount)]", []File{big}, "pass sum(c) 9223372036854775808 against 9223372036854775808, sum(amount) 1" + strings.Repeat("0", 38) + " against 1" + strings.Repeat("0", 38)},
		{"with: {control: f.json}, metrics: [sum(f)], tolerance: 0.000001", []File{floats}, "pass sum(f) 0.30000000000000004 against 0.3"},
		{"with: {control: f.json}, metrics: [sum(f)]", []File{floats}, "error column f is double, whose sum is inexact"},
		{"with: {control: f.json}, metrics: [sum(f)], tolerance: 1", []File{fileOf(t, "n", doubles("f", 0.3, math.NaN()))}, "fail sum(f) NaN against 0.3"},
		{"with: {control: ok.json}, where: \"r = 'eu'\"", sales("s"), "fail row_count 2 against 5"},
		{"with: {control: zero.json}", nil, "pass row_count 0 against 0"},
		{"with: {control: zero.json}, metrics: [sum(amount)]", []File{fileOf(t, "n", decimals("amount", 9, 2, nil))}, "fail sum(amount) nothing against 0"},
		{"with: {control: by.json}, by: [r]", sales("s"), "pass 0 of 3 groups differ"},
		{"with: {control: less.json}, by: [r]", sales("s"), "fail 3 of 4 groups differ"},
		{"with: {control: texts.json}, by: [r]", []File{fileOf(t, "t", strs("r", "007", "7", "7", "null", nil, "1e3", "\"x"))}, "pass 0 of 6 groups differ"},
		{"with: {control: numbers.json}, by: [c]", []File{fileOf(t, "n", longs("c", 1, 2, 1))}, "pass 0 of 2 groups differ"},
		{"with: {control: twice.json}, by: [r]", sales("s"), "error declares one group twice"},
		{"with: {control: ok.json}, by: [r]", sales("s"), "error control file ok.json declares no groups"},
		{"with: {control: parts.json}", sales("s"), "pass row_count 5 against 5"},
		{"with: {control: other.json}", sales("s"), "error declares nothing for partition orders/dt=2025-03-05"},
		{"with: {control: words.json}", sales("s"), `error row_count is "many", which is no number`},
		{"with: {control: ok.json}, metrics: [sum(c)]", sales("s"), "error control file ok.json declares no sum(c), only row_count"},
		{"with: {control: none.json}", sales("s"), "error no task wrote the control file none.json"},
		{"with: {control: ok.json}, metrics: [sum(r)]", sales("s"), "error column r is string, which has no sum"},
		{"with: {control: ok.json}, metrics: [sum(nr)]", sales("s"), "error no column nr"},
		{"with: {control: ok.json}, metrics: ['sum(x[])']", []File{fileOf(t, "n", nestedLongs())}, "error column x[] has several values a row"},
		{"with: input_row_count", sales("s"), "pass row_count 5 against 5"},
		{"with: input_row_count", []File{fileOf(t, "one", longs("x", 1))}, "fail row_count 1 against 5"},
		{"with: input_row_count, tolerance: 4", []File{fileOf(t, "one", longs("x", 1))}, "pass row_count 1 against 5"},
		{"with: {partition: same}, metrics: [row_count, sum(amount), count_distinct(c)], by: [r]", sales("s"), "pass 0 of 3 groups differ"},
		{"with: {partition: same}, metrics: [sum(amount), count_distinct(c)]", sales("s"), "pass sum(amount) 5.50 against 5.50, count_distinct(c) 3 against 3"},
		{"with: {table: twice}, metrics: [row_count, sum(amount), count_distinct(c)]", sales("s"), "fail row_count 5 against 10, sum(amount) 5.50 against 11.00, count_distinct(c) 3 against 3"},
		{"with: {table: twice}, metrics: [row_count], where: r is null", sales("s"), "fail row_count 1 against 2"},
		{"with: {partition: none}", sales("s"), "fail row_count 5 against 0"},
		{"with: {partition: none}, by: [r]", nil, "fail 0 of 0 groups differ"},
		{"with: {partition: none}, metrics: [sum(amount)]", nil, "fail sum(amount) nothing against nothing"},
		{"with: {partition: same}", nil, "fail row_count 0 against 5"},
		{"with: {partition: ints}, metrics: [sum(amount)]", []File{fileOf(t, "d", decimals("amount", 9, 2, 500))}, "pass sum(amount) 5.00 against 5"},
		{"with: {partition: ints}, metrics: [count_distinct(c)]", sales("s"), "error column c is int64, and what it is compared with, c, is string"},
		{"with: {partition: ints}, metrics: [count_distinct(nr)]", sales("s"), "error no column nr"},
		{"with: {partition: nowhere}", sales("s"), "error nothing is published at nowhere"},
	}
	for _, tt := range tests {
		a := shelf.against(t, "reconcile: {"+tt.item+"}", tt.files...)
		got := fmt.Sprintf("%s %s", a.Outcome, a.Observed)
		if a.Error != nil {
			got = fmt.Sprintf("%s %s", a.Outcome, a.Error.Message)
			if a.Error.Cause != CauseData || strings.Contains(got, "\n") {
				t.Errorf("%s: the cause of %q is %s", tt.item, got, a.Error.Cause)
			}
		}
		why, wrong := strings.CutPrefix(tt.want, "error ")
		if wrong != (a.Outcome == Error) || !wrong && got != tt.want || !strings.Contains(got, why) {
			t.Errorf("%s: %s, want %s", tt.item, got, tt.want)
		}
	}
	a := shelf.against(t, "reconcile: {with: {control: less.json}, by: [r]}", sales("s")...)
	want := "[{s2 0 [{r  true} {row_count 1 against nothing false}]} {less.json 2 [{r ap false} {row_count nothing against 1 false}]} {s1 1 [{r us false} {row_count 2 against 3 false}]}]"
	if fmt.Sprint(a.Samples) != want || fmt.Sprint(a.Counts) != "[{groups_differ 1} {groups_here_alone 1} {groups_there_alone 1}]" {
		t.Errorf("samples %v\nwant %s; counts %v", a.Samples, want, a.Counts)
	}
	shelf.err = errors.New("no route")
	a = shelf.against(t, "reconcile: {with: input_row_count}", sales("s")...)
	if a.Outcome != Error || a.Error.Cause != CauseOutside {
		t.Errorf("a store that is away: %s, %+v", a.Outcome, a.Error)
	}
}

func TestReconcileMistakes(t *testing.T) {
	for item, want := range map[string]string{
		"reconcile: {metrics: [row_count]}":                                 "reconcile needs with",
		"reconcile: {with: {contrl: x}}":                                    `unknown key of with "contrl"`,
		"reconcile: {with: inputs}":                                         "with is one of control, input_row_count",
		"reconcile: {with: input_row_count, metrics: [sum(x)]}":             "inputs are counted, nothing else is known of them",
		"reconcile: {with: input_row_count, by: [x]}":                       "inputs are counted as a whole",
		"reconcile: {with: {control: x}, metrics: [rows]}":                  `not "rows"`,
		"reconcile: {with: {control: x}, metrics: [avg(x)]}":                `not "avg(x)"`,
		"reconcile: {with: {control: x}, metrics: [sum()]}":                 `not "sum()"`,
		"reconcile: {with: {control: x}, metrics: [sum(x), sum(x)]}":        "sum(x) stands twice",
		"reconcile: {with: {control: x}, metrics: []}":                      "metrics is empty",
		"reconcile: {with: {control: x}, tolerance: -1}":                    "tolerance is a number of 0 or more",
		"groups: {require: baseline}":                                       "groups needs by",
		"groups: {by: []}":                                                  "by names no column",
		"groups: {by: [a, b], require: [x]}":                                "require lists values of one column",
		"groups: {by: [a], require: [x], max_drop: 10%}":                    "max_drop needs require: baseline",
		"groups: {by: [a], require: [x], axis: history}":                    "c.yaml:3:37: groups: axis says nothing beside a list of values",
		"groups: {by: [a], require: [x], on_no_baseline: fail}":             "c.yaml:3:37: groups: on_no_baseline says nothing",
		"matches: {with: {table: a}, on_no_baseline: fail}":                 "c.yaml:3:33: matches: on_no_baseline says nothing unless",
		"groups: {by: [a], require: basline}":                               `require "basline" is not one of baseline`,
		"groups: {by: [a], max_drop: 110%}":                                 "max_drop is a fraction",
		"schema_unchanged: [add_colum]":                                     `allow "add_colum" is not one of`,
		"schema_unchanged: {allow: [relax_null], columns: [x]}":             `unknown parameter of schema_unchanged "columns"`,
		"aggregate_match: {with: {control: x}, metrics: [row_count], x: 1}": `unknown parameter of reconcile "x"`,
	} {
		_, err := Parse("c.yaml", []byte(checks(item)), Vars{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.yaml:3:") {
			t.Errorf("%s: %v, want %s", item, err, want)
		}
	}
}

func TestGroups(t *testing.T) {
	regions := func(key string, values ...any) File {
		return fileOf(t, key, strs("r", values...), longs("n", ids(len(values))...))
	}
	shelf := &shelf{
		states: []*manifest.Manifest{stateOf("2025-03-04", 5), stateOf("2025-03-01", 1)}, now: []*manifest.Manifest{stateOf("2025-03-05", 1)},
		data: map[string][]Partition{
			"orders/dt=2025-03-04": {publishedAs("orders/dt=2025-03-04", regions("o1", "eu", "eu", "us"), regions("o2", "eu", nil, "eu"))},
			"orders/dt=2025-03-05": {publishedAs("orders/dt=2025-03-05", regions("l", "ap"))},
		},
	}
	tests := []struct {
		item  string
		files []File
		want  string
	}{
		{"by: [r]", []File{regions("a", "us", nil), regions("b", "eu", "new")}, "pass 0 of 3 groups missing"},
		{"by: [r]", []File{regions("a", "us", "eu")}, "fail 1 of 3 groups missing"},
		{"by: [r], severity: warn", []File{regions("a", "us", "eu")}, "warn 1 of 3 groups missing"},
		{"by: [r], where: r is not null", []File{regions("a", "us", "eu")}, "pass 0 of 2 groups missing"},
		{"by: [r], max_drop: 50%", []File{regions("a", "us", "eu", "eu", nil)}, "pass 0 of 3 groups missing"},
		{"by: [r], max_drop: 49.9%", []File{regions("a", "us", "eu", "eu", nil)}, "fail 0 of 3 groups missing, 1 shrunk"},
		{"by: [r, n]", []File{regions("a", "eu", "eu", "us", nil)}, "fail 2 of 5 groups missing"},
		{"by: [dt]", []File{regions("a", "eu")}, "fail 1 of 1 groups missing"},
		{"by: [r], axis: history", []File{regions("a", "eu")}, "fail 1 of 1 groups missing"},
		{"by: [r]", nil, "fail 3 of 3 groups missing"},
		{"by: [r]", []File{regions("a", nil, nil)}, "fail 2 of 3 groups missing"},
		{"by: [r], require: [eu, us]", []File{regions("a", "eu"), regions("b", "us", "x")}, "pass 2 of 2 listed values"},
		{"by: [r], require: [eu, ap]", []File{regions("a", "eu"), regions("b", "us", "x")}, "fail 1 of 2 listed values"},
		{"by: [n], require: [1]", []File{fileOf(t, "f", doubles("n", 1.0, nan()))}, "pass 1 of 1 listed values"},
		{"by: ['x[]']", []File{fileOf(t, "n", nestedLongs())}, "error "},
		{"by: [nr]", []File{regions("a", "eu")}, "error "},
		{"by: [r]", []File{fileOf(t, "f", longs("r", 1))}, "error "},
	}
	for _, tt := range tests {
		a := shelf.against(t, "groups: {"+tt.item+"}", tt.files...)
		if got := fmt.Sprintf("%s %s", a.Outcome, a.Observed); got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.item, got, tt.want, a.Message)
		}
	}
	a := shelf.against(t, "groups: {by: [r]}", regions("a", "eu"))
	if want := "[{o1 2 [{r us false}]} {o2 1 [{r  true}]}]"; fmt.Sprint(a.Samples) != want {
		t.Errorf("samples %v, want %s", a.Samples, want)
	}
	shelf.states, shelf.now = nil, nil
	for what, want := range map[string]Outcome{"warn": Warn, "skip": Skipped, "fail": Fail} {
		for _, axis := range []string{AxisPartitions, AxisHistory} {
			if a := shelf.against(t, "groups: {by: [r], axis: "+axis+", on_no_baseline: "+what+"}", regions("a", "A")); a.Outcome != want {
				t.Errorf("%s, %s: %s, %s", what, axis, a.Outcome, a.Message)
			}
		}
	}
}

func TestSchemaUnchanged(t *testing.T) {
	column := func(name, logical string, maxDef, maxRep int64) manifest.Column {
		return manifest.Column{Path: strings.Split(name, "."), Logical: logical, MaxDef: maxDef, MaxRep: maxRep}
	}
	state := func(date string, columns ...manifest.Column) *manifest.Manifest {
		m := stateOf(date, 1)
		m.Schemas = []manifest.Schema{{Columns: columns}}
		return m
	}
	shelf := &shelf{states: []*manifest.Manifest{state("2025-03-01", column("old", "int64", 1, 0)), state("2025-03-09", column("x", "int64", 1, 0), column("y", "string", 1, 0))}}
	x, y := longs("x", 1), strs("y", "a")
	tests := []struct {
		name, item string
		live       []manifest.Column // nil: nothing is live
		columns    []testColumn
		want       string
	}{
		{"the newest partition", "schema_unchanged", nil, []testColumn{x, y}, "pass unchanged"},
		{"another order", "schema_unchanged", nil, []testColumn{y, x}, "pass unchanged"},
		{"the live one first", "schema_unchanged", []manifest.Column{column("x", "int64", 1, 0)}, []testColumn{x}, "pass unchanged"},
		{"a new column", "schema_unchanged", []manifest.Column{column("x", "int64", 1, 0)}, []testColumn{x, y}, "fail column y is new (against orders/dt=2025-03-05)"},
		{"an allowed one", "schema_unchanged: [add_column]", []manifest.Column{column("x", "int64", 1, 0)}, []testColumn{x, y}, "pass 1 allowed change"},
		{"one is gone", "schema_unchanged: [add_column]", nil, []testColumn{x}, "fail column y is gone (against orders/dt=2025-03-09)"},
		{"case matters", "schema_unchanged: {allow: [add_column], severity: warn}", nil, []testColumn{longs("X", 1), y}, "warn column x is gone (against orders/dt=2025-03-09)"},
		{"wider", "schema_unchanged: [widen_int]", []manifest.Column{column("x", "int32", 1, 0)}, []testColumn{x}, "pass 1 allowed change"},
		{"wider and unsigned", "schema_unchanged: [widen_int]", []manifest.Column{column("x", "uint32", 1, 0)}, []testColumn{x}, "pass 1 allowed change"},
		{"as wide, another sign", "schema_unchanged: [widen_int]", []manifest.Column{column("x", "uint64", 1, 0)}, []testColumn{x}, "fail column x is int64, it was uint64 (against orders/dt=2025-03-05)"},
		{"wider, not allowed", "schema_unchanged: [widen_decimal]", []manifest.Column{column("x", "int32", 1, 0)}, []testColumn{x}, "fail column x is int64, it was int32 (against orders/dt=2025-03-05)"},
		{"another type", "schema_unchanged: [widen_int]", []manifest.Column{column("x", "string", 1, 0)}, []testColumn{x}, "fail column x is int64, it was string (against orders/dt=2025-03-05)"},
		{"a wider decimal", "schema_unchanged: [widen_decimal]", []manifest.Column{column("d", "decimal128(10, 2)", 1, 0)}, []testColumn{decimals("d", 12, 3, 1)}, "pass 1 allowed change"},
		{"fewer digits before the point", "schema_unchanged: [widen_decimal]", []manifest.Column{column("d", "decimal128(12, 2)", 1, 0)}, []testColumn{decimals("d", 12, 3, 1)}, "fail column d is decimal128(12, 3), it was decimal128(12, 2) (against orders/dt=2025-03-05)"},
		{"may be NULL now", "schema_unchanged: [relax_null]", []manifest.Column{column("x", "int64", 0, 0)}, []testColumn{x}, "pass 1 allowed change"},
		{"may be NULL now, not allowed", "schema_unchanged", []manifest.Column{column("x", "int64", 0, 0)}, []testColumn{x}, "fail column x may be NULL, it could not (against orders/dt=2025-03-05)"},
		{"nested", "schema_unchanged", []manifest.Column{column("x.list.element", "int64", 3, 1)}, []testColumn{nestedLongs()}, "pass unchanged"},
		{"a dot in a name is none", "schema_unchanged", []manifest.Column{column("a.b", "int64", 1, 0)}, []testColumn{longs("a.b", 1)}, "fail column a.b is gone; column \"a.b\" is new (against orders/dt=2025-03-05)"},
		{"a list, it was none", "schema_unchanged", []manifest.Column{column("x", "int64", 1, 0)}, []testColumn{nestedLongs()}, "fail column x is gone; column x.list.element is new (against orders/dt=2025-03-05)"},
	}
	for _, tt := range tests {
		shelf.now = nil
		if tt.live != nil {
			shelf.now = []*manifest.Manifest{state("2025-03-05", tt.live...)}
		}
		a := shelf.against(t, tt.item, fileOf(t, "a", tt.columns...), fileOf(t, "b", tt.columns...))
		got := string(a.Outcome) + " " + a.Message
		if a.Message == "" {
			got = string(a.Outcome) + " " + a.Observed
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	shelf.states, shelf.now = nil, nil
	for what, want := range map[string]Outcome{"warn": Warn, "skip": Skipped, "fail": Fail} {
		if a := shelf.against(t, "schema_unchanged: {on_no_baseline: "+what+"}", fileOf(t, "a", x)); a.Outcome != want {
			t.Errorf("%s: %s, %s", what, a.Outcome, a.Message)
		}
	}
}
