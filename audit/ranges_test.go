package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// periods is a file of ranges with a group.
func periods(t *testing.T, key string, rows ...[3]any) File {
	var by, lower, upper []any
	for _, r := range rows {
		by, lower, upper = append(by, r[0]), append(lower, r[1]), append(upper, r[2])
	}
	return fileOf(t, key, strs("by", by...), longs("lower", lower...), longs("upper", upper...))
}

func TestExclusiveRanges(t *testing.T) {
	type rows = [][3]any
	tests := []struct {
		params string
		files  []rows
		want   string
		counts string
	}{
		{"", []rows{{{"a", 1, 3}, {"a", 3, 5}, {"a", 9, 10}}}, "pass 0/3", "overlaps 0"},
		{"", []rows{{{"a", 3, 5}, {"a", 1, 4}}}, "fail 1/2", "overlaps 1"},
		{"", []rows{{{"a", 1, 3}}, {{"a", 2, 5}}}, "fail 1/2", "overlaps 1"},
		// One that holds all others overlaps with each.
		{"", []rows{{{"a", 1, 100}, {"a", 2, 3}, {"a", 5, 6}, {"a", 7, 8}}}, "fail 3/4", "overlaps 3"},
		{"", []rows{{{"a", 1, 2}, {"a", 1, 2}}}, "fail 1/2", "overlaps 1"},
		{"", []rows{{{"a", 1, 3}, {"b", 2, 5}}}, "fail 1/2", "overlaps 1"},
		{"by: [by], ", []rows{{{"a", 1, 3}, {"b", 2, 5}, {nil, 1, 2}, {nil, 2, 3}}}, "pass 0/4", "groups 3"},
		{"by: [by], ", []rows{{{"a", 1, 3}, {"b", 2, 5}}, {{"b", 4, 6}}}, "fail 1/3", "overlaps 1"},
		{"gaps: not_allowed, ", []rows{{{"a", 1, 3}, {"a", 3, 5}}}, "pass 0/2", "gaps 0"},
		{"gaps: not_allowed, ", []rows{{{"a", 1, 3}, {"a", 4, 5}, {"a", 2, 4}}}, "fail 1/3", "overlaps 1"},
		{"gaps: not_allowed, ", []rows{{{"a", 1, 3}, {"a", 4, 5}}}, "fail 1/2", "gaps 1"},
		{"gaps: required, ", []rows{{{"a", 1, 3}, {"a", 4, 5}}}, "pass 0/2", "without_gap 0"},
		{"gaps: required, ", []rows{{{"a", 1, 3}, {"a", 3, 5}}}, "fail 1/2", "without_gap 1"},
		{"", []rows{{{"a", 3, 1}, {"a", 2, 2}, {"a", 0, 9}}}, "fail 2/3", "not_a_range 2"},
		{"", []rows{{{"a", 1, nil}, {"a", nil, 3}, {"a", 1, 2}}}, "pass 0/1", "null_rows 2"},
		{"nulls: fail, ", []rows{{{"a", 1, nil}, {"a", 1, 2}}}, "fail 1/2", "null_rows 1"},
		{"nulls: open, ", []rows{{{"a", 1, 2}, {"a", 2, nil}, {"a", nil, 1}}}, "pass 0/3", "overlaps 0"},
		{"nulls: open, ", []rows{{{"a", 1, nil}, {"a", 2, nil}}}, "fail 1/2", "overlaps 1"},
		{"", []rows{{{"a", nil, nil}}}, "warn 0/0 vacuous", "null_rows 1"},
		{"", []rows{{}}, "warn 0/0 vacuous", "groups 0"},
		{"severity: warn, ", []rows{{{"a", 1, 3}, {"a", 2, 5}}}, "warn 1/2", "overlaps 1"},
		{"fail_if: '> 50%', warn_if: '> 0', ", []rows{{{"a", 1, 3}, {"a", 2, 5}}}, "warn 1/2", "overlaps 1"},
		{"where: \"by = 'a'\", ", []rows{{{"a", 1, 3}, {"b", 2, 5}}}, "pass 0/1", "rows_outside_where 1"},
	}
	for _, tt := range tests {
		var files []File
		for i, r := range tt.files {
			files = append(files, periods(t, fmt.Sprintf("%d.parquet", i), r...))
		}
		a := judgeOne(t, "mutually_exclusive_ranges: {"+tt.params+"lower: lower, upper: upper}", files...)
		name, _, _ := strings.Cut(tt.counts, " ")
		if got := fmt.Sprintf("%s %d", name, countsOf(a)[name]); summary(a) != tt.want || got != tt.counts {
			t.Errorf("%s %v: %s, %s; want %s, %s; %s", tt.params, tt.files, summary(a), got, tt.want, tt.counts, a.Message)
		}
	}
	for item, columns := range map[string][]testColumn{
		"mutually_exclusive_ranges: {lower: x, upper: y}":          {strs("x", "a"), strs("y", "b")},
		"mutually_exclusive_ranges: {lower: x, upper: y, by: [z]}": {longs("x", 1), longs("y", 2)},
		"mutually_exclusive_ranges: {lower: x, upper: y, by: []}":  {longs("x", 1), doubles("y", 2.0)},
		"mutually_exclusive_ranges: {lower: 'x[]', upper: y}":      {nestedLongs(), longs("y", 1, 2, 3, 4)},
	} {
		if a := judgeOne(t, item, fileOf(t, "a", columns...)); summary(a) != "error 0/0" {
			t.Errorf("%s: %s", item, summary(a))
		}
	}
	nan := fileOf(t, "a", doubles("x", 1.0, math.NaN(), -2.0), doubles("y", 1.5, 3.0, 0.0))
	if a := judgeOne(t, "mutually_exclusive_ranges: {lower: x, upper: y}", nan); summary(a) != "fail 1/3" {
		t.Errorf("a range that begins at NaN: %s", summary(a))
	}
}

func TestRangeSamples(t *testing.T) {
	a := judgeOne(t, "mutually_exclusive_ranges: {lower: lower, upper: upper, by: [by], nulls: open}",
		periods(t, "0", [3]any{"a", 1, 3}, [3]any{"b", 7, nil}), periods(t, "1", [3]any{"b", 9, nil}, [3]any{"a", 5, 4}))
	want := "[{1 1 [{lower 5 false} {upper 4 false} {by a false}]} {1 0 [{lower 9 false} {upper  true} {by b false}]}]"
	if got := fmt.Sprint(a.Samples); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if a.ID != "mutually_exclusive_ranges(lower,upper)" {
		t.Error(a.ID)
	}
}

// Ranges that do not fit in memory, against a comparison of each with each.
func TestRangesWithLittleMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var groups [][]testColumn
	type period struct{ by, lower, upper int }
	var all []period
	for range 3 {
		var by, lower, upper []any
		for range 1500 {
			p := period{by: rng.IntN(40), lower: rng.IntN(100000)}
			p.upper = p.lower + 1 + rng.IntN(800)
			all = append(all, p)
			by, lower, upper = append(by, p.by), append(lower, p.lower), append(upper, p.upper)
		}
		groups = append(groups, []testColumn{longs("by", by...), longs("lower", lower...), longs("upper", upper...)})
	}
	want := int64(0)
	for i, p := range all {
		for j, q := range all {
			before := q.lower < p.lower || q.lower == p.lower && (q.upper < p.upper || q.upper == p.upper && j < i)
			if i != j && q.by == p.by && before && p.lower < q.upper {
				want++
				break
			}
		}
	}
	part := Partition{Files: []File{memoryFile("a", parquetBytes(t, groups))}}
	c := mustParse(t, checks("mutually_exclusive_ranges: {lower: lower, upper: upper, by: [by], samples: 3}"))
	var samples string
	for _, memory := range []int64{1 << 30, 160 << 10} {
		a := resultOf(t, mustRun(t, c, part, Options{Memory: memory, Parallel: 2}), "mutually_exclusive_ranges(lower,upper)")
		if a.Violations != want || len(a.Samples) != 3 {
			t.Errorf("%d bytes: %d overlaps, want %d; %s", memory, a.Violations, want, a.Message)
		}
		if got := fmt.Sprint(a.Samples); samples == "" {
			samples = got
		} else if got != samples {
			t.Errorf("%s, want %s", got, samples)
		}
	}
}

func TestCompleteIntervals(t *testing.T) {
	hour := int64(3600 * 1e6)
	day := func(n ...any) []testColumn { return []testColumn{days("x", n...)} }
	judgeItems(t, []judgedItem{
		{"complete_intervals: {column: x, every: 1d}", day(20152, 20150, 20151, nil), "pass 0/3 0 of 3 intervals missing"},
		{"complete_intervals: {column: x, every: 24h}", []testColumn{days("x", 1), days("x", 3, 4)}, "fail 1/3 1 of 4 intervals missing"},
		{"complete_intervals: {column: x, every: 1d, from: 1970-01-01, to: 1970-01-05}", day(1, 2), "fail 3/2 3 of 5 intervals missing"},
		{"complete_intervals: {column: x, every: 1d, from: 1970-01-02, to: 1970-01-03}", day(0, 1, 2, 9), "pass 0/4 0 of 2 intervals missing"},
		{"complete_intervals: {column: x, every: 7d, from: 1970-01-05}", day(4, 10, 11, 30), "fail 1/4 1 of 4 intervals missing"},
		{"complete_intervals: {column: x, every: 7d}", day(4), "error 0/0"},
		{"complete_intervals: {column: x, every: 1h}", day(4), "error 0/0"},
		{"complete_intervals: {column: x, every: 1d}", day(nil, nil), "fail 0/0 vacuous no value"},
		{"complete_intervals: {column: x, every: 1d, from: 1970-01-01, to: 1970-01-02}", day(), "fail 0/0 vacuous no value"},
		{"complete_intervals: {column: x, every: 1d, severity: warn}", day(1, 3), "warn 1/2 1 of 3 intervals missing"},
		{"complete_intervals: {column: x, every: 1h}", []testColumn{stamps("x", true, -1, 0, hour, 3*hour+5)}, "fail 1/4 1 of 5 intervals missing"},
		{"complete_intervals: {column: x, every: 1h, from: '1970-01-01T00:30:00Z', to: '1970-01-01T02:29:00Z'}",
			[]testColumn{stamps("x", true, 0, hour, 2*hour)}, "pass 0/3 0 of 2 intervals missing"},
		{"complete_intervals: {column: x, every: 1h, from: '1970-01-01T00:30:00'}", []testColumn{stamps("x", true, 0)}, "error 0/0"},
		{"complete_intervals: {column: x, every: 15m, where: 'x < 0'}", []testColumn{stamps("x", false, 0)}, "error 0/0"},
		{"complete_intervals: {column: x, every: 10}", []testColumn{longs("x", -5, 3, 12, 29)}, "pass 0/4 0 of 4 intervals missing"},
		{"complete_intervals: {column: x, every: 1}", []testColumn{longs("x", math.MinInt64, math.MaxInt64)}, "error 0/0"},
		{"complete_intervals: {column: x, every: 2, from: 1, to: 10}", []testColumn{longs("x", 0, 1, 4, 6, 7, 10, 11)}, "pass 0/7 0 of 5 intervals missing"},
		{"complete_intervals: {column: x, every: 1h}", []testColumn{longs("x", 1)}, "error 0/0"},
		{"complete_intervals: {column: x, every: 1}", []testColumn{strs("x", "1")}, "error 0/0"},
		{"complete_intervals: {column: x, every: 1}", []testColumn{doubles("x", 1.0)}, "error 0/0"},
		{"complete_intervals: {column: 'x[]', every: 1}", []testColumn{nestedLongs()}, "error 0/0"},
	}, true)
	a := judgeOne(t, "complete_intervals: {column: d, every: 1d, to: 1970-01-05, by: [k]}",
		fileOf(t, "0", days("d", 1, 2, 1), strs("k", "a", "a", nil)), fileOf(t, "1", days("d", 3, 4), strs("k", "a", "a")))
	want := "[{0 2 [{k  true} {d none from 1970-01-03 false}]} {0 2 [{k  true} {d none from 1970-01-04 false}]} {0 2 [{k  true} {d none from 1970-01-05 false}]}]"
	if got := fmt.Sprint(a.Samples); got != want || a.Violations != 3 || a.Observed != "3 of 8 intervals missing" {
		t.Errorf("%s, %s, want %s", a.Observed, got, want)
	}
	// Every row of b lies outside.
	groups := func(d ...any) File { return fileOf(t, "0", days("d", d...), strs("k", "a", "a", "b", "b")) }
	a = judgeOne(t, "complete_intervals: {column: d, every: 1d, from: 1970-01-03, to: 1970-01-04, by: [k]}", groups(2, 3, 0, 9))
	if a.Outcome != Fail || a.Violations != 2 || a.Observed != "2 of 4 intervals missing" || a.Samples[0].Row != 2 {
		t.Errorf("%s %s %v", a.Outcome, a.Observed, a.Samples)
	}
	a = judgeOne(t, "complete_intervals: {column: d, every: 1d, from: 1970-01-03, by: [k]}", groups(0, 1, 0, 1))
	if a.Outcome != Fail || !a.Vacuous || a.Observed != "no value" {
		t.Errorf("%s %s %v", a.Outcome, a.Observed, a.Samples)
	}
	a = judgeOne(t, "complete_intervals: {column: x, every: 1d}", fileOf(t, "0", days("x", 0, 9)))
	if a.Message != "nothing from 1970-01-02, 1970-01-03, 1970-01-04, 1970-01-05, 1970-01-06, and 3 more" {
		t.Error(a.Message)
	}
	for text, want := range map[string]string{
		"{column: x, every: soon}":         "every is a length",
		"{column: x, every: 0}":            "every is a length",
		"{column: x, every: -1h}":          "every is a length",
		"{column: x}":                      "needs every",
		"{column: x, every: 0d}":           "every is a length",
		"{column: x, every: 1h, to: null}": "to cannot be null",
	} {
		if _, err := Parse("c", []byte(checks("complete_intervals: "+text)), Vars{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A hidden column's first and last value are values, too.
func TestIntervalsRedacted(t *testing.T) {
	for item, violations := range map[string]int64{
		"complete_intervals: {column: x, every: 1d}":          2,
		"complete_intervals: {column: x, every: 1d, by: [k]}": 6,
		"complete_intervals: {column: y, every: 1}":           0,
	} {
		c := mustParse(t, "defaults: {redact: [x, y]}\n"+checks(item))
		file := fileOf(t, "0", days("x", 20151, 20154), strs("k", "a", "b"), longs("y", 20151, 1<<40))
		a := resultOf(t, mustRun(t, c, Partition{Files: []File{file}}, Options{}), c.checks[0].ID)
		text := fmt.Sprintf("%+v %+v", a, a.Error)
		for _, hidden := range []string{"2025-03", "20151", "109951162777"} {
			if strings.Contains(text, hidden) || a.Outcome == Pass || a.Violations != violations {
				t.Errorf("%s: %s", item, text)
			}
		}
	}
}

// Groups that do not fit in memory are told, not left out.
func TestIntervalsWithoutMemory(t *testing.T) {
	var by, at []any
	for i := range 5000 {
		by, at = append(by, i), append(at, i%7)
	}
	part := Partition{Files: []File{fileOf(t, "a", longs("by", by...), days("x", at...))}}
	for item, id := range map[string]string{
		"complete_intervals: {column: x, every: 1d, by: [by]}":                   "complete_intervals(x)",
		"mutually_exclusive_ranges: {lower: x, upper: y, by: [by], nulls: open}": "mutually_exclusive_ranges(x,y)",
	} {
		part.Files = []File{fileOf(t, "a", longs("by", by...), days("x", at...), days("y", make([]any, len(at))...))}
		r := mustRun(t, mustParse(t, checks(item)), part, Options{Memory: 64 << 10})
		if a := resultOf(t, r, id); a.Outcome != Error || !strings.Contains(a.Message, "give more memory") {
			t.Errorf("%s: %s %s", id, a.Outcome, a.Message)
		}
	}
}
