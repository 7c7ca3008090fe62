package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// shelf is published data in memory.
type shelf struct {
	states   []*manifest.Manifest // of other partitions
	past     []*manifest.Manifest // of the judged one
	now      []*manifest.Manifest // the judged one, as readers see it
	data     map[string][]Partition
	live     []Partition
	controls []manifest.Control
	rows     int64
	err      error
}

func (s *shelf) Baseline(_ context.Context, p *Partition, want Baseline) ([]*manifest.Manifest, error) {
	if want.Axis == AxisLive {
		return s.now, s.err
	}
	if s.err != nil || want.Axis == AxisHistory {
		return s.past[:min(len(s.past), int(want.Limit))], s.err
	}
	var list []manifest.Partition
	for _, m := range s.states {
		list = append(list, m.Partition)
	}
	var out []*manifest.Manifest
	for _, c := range want.Choose(p.Partition, list) {
		for _, m := range s.states {
			if m.Partition.Path == c.Path {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

func (s *shelf) Data(_ context.Context, _ *Partition, want Reference) ([]Partition, error) {
	if s.err != nil || want.Live {
		return s.live, s.err
	}
	name := want.Path + strings.Join(want.Files, ",")
	if parts, ok := s.data[name]; ok {
		return parts, nil
	}
	return nil, errors.Join(fmt.Errorf("nothing is published at %s", name), ErrAbsent)
}

func (s *shelf) Controls(_ context.Context, name string) ([]manifest.Control, error) {
	var out []manifest.Control
	for _, c := range s.controls {
		if c.File == name {
			out = append(out, c)
		}
	}
	if s.err != nil || len(out) > 0 {
		return out, s.err
	}
	return nil, errors.Join(fmt.Errorf("no task wrote the control file %s", name), ErrAbsent)
}

func (s *shelf) InputRows(context.Context) (int64, error) { return s.rows, s.err }

// day is a partition of the table orders.
func day(date string) manifest.Partition {
	return manifest.Partition{Path: "orders/dt=" + date, Table: "orders", Keys: []manifest.KeyValue{{Name: "dt", Value: date, Type: "string"}}}
}

// state is a published partition with a number of rows, and metrics given as
// name, column and value.
func stateOf(date string, rows int64, metrics ...string) *manifest.Manifest {
	m := &manifest.Manifest{Partition: day(date), Run: "r/" + date, Totals: manifest.Totals{Files: 1, Rows: rows, Bytes: 100}}
	for i := 0; i+2 < len(metrics); i += 3 {
		m.Metrics = append(m.Metrics, manifest.Metric{Name: metrics[i], Column: metrics[i+1], Value: metrics[i+2]})
	}
	return m
}

// against judges files as the partition of 2025-03-05, a Wednesday.
func (s *shelf) against(t *testing.T, item string, files ...File) Result {
	t.Helper()
	c := mustParse(t, "version: 1\nallow_empty: true\nchecks:\n  - "+item+"\n")
	r := mustRun(t, c, Partition{Partition: day("2025-03-05"), Files: files}, Options{Published: s})
	for _, a := range r.Assertions {
		if a.Type == c.checks[0].Type {
			return a
		}
	}
	t.Fatalf("%s: no result", item)
	return Result{}
}

func ids(n int) []any {
	var out []any
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestChange(t *testing.T) {
	full := &shelf{
		states: []*manifest.Manifest{
			stateOf("2025-02-26", 8, "sum", "x", "30.0"), stateOf("2025-03-01", 100, "sum", "x", "NaN"),
			stateOf("2025-03-03", 20), stateOf("2025-03-04", 10, "sum", "x", "45", "null_count", "x", "0", "avg", "x", "4.5", "true_rate", "b", "0.5"),
			stateOf("2025-03-05", 99999), stateOf("2025-03-06", 1),
		},
		past: []*manifest.Manifest{stateOf("2025-03-05", 12), stateOf("2025-03-05", 4)},
	}
	small := &shelf{states: []*manifest.Manifest{stateOf("2025-03-04", 0, "sum", "x", "0")}}
	negative := &shelf{states: []*manifest.Manifest{stateOf("2025-03-04", 3, "sum", "x", "-40")}}
	ten := []File{fileOf(t, "a.parquet", longs("x", ids(6)...)), fileOf(t, "b.parquet", longs("x", 6, 7, 8, 9))}
	nulls := fileOf(t, "n.parquet", longs("x", nil, nil))
	tests := []struct {
		name  string
		shelf *shelf
		item  string
		files []File
		want  string
	}{
		{"equal", full, "change: {metric: row_count, max_drop: 0%, max_rise: 0%}", ten, "pass 10 against 10: no change"},
		{"never itself, nothing later", full, "change: {metric: row_count, max_drop: 1%}", ten, "pass 10 against 10: no change"},
		{"at the limit", full, "change: {metric: row_count, baseline: median(2), max_drop: 33.4%}", ten, "pass 10 against 15: -33.33%"},
		{"exact", full, "change: {metric: row_count, baseline: median(2), max_drop: 33.3%}", ten, "fail 10 against 15: -33.33%"},
		{"a fraction", full, "change: {metric: row_count, baseline: median(2), max_drop: 0.5}", ten, "pass 10 against 15: -33.33%"},
		{"median of three", full, "change: {metric: row_count, baseline: median(3), max_drop: 50%}", ten, "pass 10 against 20: -50%"},
		{"fewer than asked for", full, "change: {metric: row_count, baseline: median(30), max_drop: 33%}", ten, "fail 10 against 15: -33.33%"},
		{"weekday", full, "change: {metric: row_count, baseline: same_weekday(4), max_rise: 24.9%}", ten, "fail 10 against 8: +25%"},
		{"severity", full, "change: {metric: row_count, baseline: same_weekday(4), max_rise: 0%, severity: warn}", ten, "warn 10 against 8: +25%"},
		{"history", full, "change: {metric: row_count, axis: history, max_drop: 10%}", ten, "fail 10 against 12: -16.67%"},
		{"median of history", full, "change: {metric: row_count, axis: history, baseline: median(2), max_rise: 25%}", ten, "pass 10 against 8: +25%"},
		{"a column", full, "change: {metric: sum, column: x, max_drop: 0%}", ten, "pass 45 against 45: no change"},
		{"an exact ratio", full, "change: {metric: avg, column: x, max_rise: 0%}", ten, "pass 4.5 against 4.5: no change"},
		{"states without the metric", full, "change: {metric: sum, column: x, baseline: median(9), max_rise: 20%}", ten, "pass 45 against 37.5: +20%"},
		{"nulls from 0", full, "change: {metric: null_count, column: x, max_rise: 900%}", []File{nulls}, "fail 2 against 0: from 0"},
		{"no nulls from 0", full, "change: {metric: null_count, column: x, max_rise: 0%}", ten, "pass 0 against 0: no change"},
		{"a rate", full, "change: {metric: true_rate, column: b, max_drop: 50%}", []File{fileOf(t, "a", bools("b", true, false, false, false))}, "pass 0.25 against 0.5: -50%"},
		{"a lower rate", full, "change: {metric: true_rate, column: b, max_drop: 50%}", []File{fileOf(t, "a", bools("b", true, false, false, false, false))}, "fail 0.2 against 0.5: -60%"},
		{"files", full, "change: {metric: file_count, max_rise: 50%}", ten, "fail 2 against 1: +100%"},
		{"baseline 0, rise", small, "change: {metric: row_count, max_rise: 99900%}", ten, "fail 10 against 0: from 0"},
		{"baseline 0, drop", small, "change: {metric: row_count, max_drop: 10%}", ten, "pass 10 against 0: from 0"},
		{"baseline 0, still 0", small, "change: {metric: row_count, max_rise: 0%, max_drop: 0%}", nil, "pass 0 against 0: no change"},
		{"below 0", negative, "change: {metric: sum, column: x, max_drop: 25%}", []File{fileOf(t, "a", longs("x", -50))}, "pass -50 against -40: -25%"},
		{"further below 0", negative, "change: {metric: sum, column: x, max_drop: 25%}", []File{fileOf(t, "a", longs("x", -51))}, "fail -51 against -40: -27.5%"},
		{"no file left", full, "change: {metric: row_count, max_drop: 50%}", nil, "fail 0 against 10: -100%"},
		{"all NULL", full, "change: {metric: sum, column: x, max_drop: 50%}", []File{nulls}, "fail no value"},
		{"NaN", full, "change: {metric: max, column: x, max_rise: 50%}", []File{fileOf(t, "a", doubles("x", nan(), 1.0))}, "fail NaN"},
		{"first partition", &shelf{}, "change: {metric: row_count, max_drop: 1%}", ten, "warn 10, no baseline"},
		{"first, skip", &shelf{}, "change: {metric: row_count, max_drop: 1%, on_no_baseline: skip}", ten, "skipped 10, no baseline"},
		{"first, fail", &shelf{}, "change: {metric: row_count, max_drop: 1%, on_no_baseline: fail}", ten, "fail 10, no baseline"},
		{"metric not stored yet", full, "change: {metric: max, column: x, max_drop: 1%}", ten, "warn 9, no baseline"},
		{"too little to compare with", full, "change: {metric: row_count, max_drop: 1%, min_baseline: 11}", ten, "warn 10, no baseline"},
		{"enough", full, "change: {metric: row_count, max_drop: 1%, min_baseline: 10}", ten, "pass 10 against 10: no change"},
		{"no column", full, "change: {metric: sum, column: y, max_drop: 1%}", ten, "error "},
		{"nothing to add up", full, "change: {metric: sum, column: x, max_drop: 1%}", []File{fileOf(t, "a", strs("x", "a"))}, "error "},
		{"store", &shelf{err: errors.New("no route")}, "change: {metric: row_count, max_drop: 1%}", ten, "error "},
	}
	for _, tt := range tests {
		a := tt.shelf.against(t, tt.item, tt.files...)
		if got := fmt.Sprintf("%s %s", a.Outcome, a.Observed); got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.name, got, tt.want, a.Message)
		}
	}
}

func nan() float64 { return math.NaN() }

// What is compared next time is stored this time; in mode append it is about old
// and new rows together.
func TestChangeLeavesItsMetric(t *testing.T) {
	c := mustParse(t, checks("change: {metric: sum, column: x, max_drop: 10%}", "change: {metric: count_distinct, column: x, max_drop: 10%}",
		"change: {metric: row_count, max_drop: 10%}", "max: {column: x, min: 0}"))
	part := Partition{Partition: day("2025-03-05"), Files: []File{fileOf(t, "b.parquet", longs("x", 7, 1))}}
	for mode, want := range map[manifest.Mode]string{
		manifest.ModeOverwrite: "[{row_count  2} {count_distinct x 2} {max x 7} {null_count x 0} {sum x 8}] 2, no baseline",
		manifest.ModeAppend:    "[{count_distinct x 2} {sum x 10}] 4, no baseline",
	} {
		part.Mode, part.Live = mode, nil
		if mode == manifest.ModeAppend {
			part.Live = []File{fileOf(t, "a.parquet", longs("x", 1, 1))}
		}
		r := mustRun(t, c, part, Options{})
		if got := fmt.Sprint(r.Partitions[0].Metrics) + " " + resultOf(t, r, "change").Observed; got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
	}
}

// Rows that readers would see and nobody could count are not left out.
func TestChangeWithoutLiveFile(t *testing.T) {
	c := mustParse(t, checks("change: {metric: row_count, max_drop: 10%}", "change: {metric: file_count, max_rise: 100%}"))
	bad := memoryFile("old", []byte("no parquet at all"))
	part := Partition{Partition: day("2025-03-05"), Mode: manifest.ModeAppend, Live: []File{bad}, Files: []File{fileOf(t, "new", longs("x", ids(10)...))}}
	r := mustRun(t, c, part, Options{Published: &shelf{states: []*manifest.Manifest{stateOf("2025-03-04", 10)}}})
	if a := resultOf(t, r, "change"); a.Outcome != Error || a.Error.File != "old" || a.Error.Cause != CauseData {
		t.Errorf("%s %s %+v", a.Outcome, a.Observed, a.Error)
	}
	if a := resultOf(t, r, "change#2"); a.Observed != "2 against 1: +100%" {
		t.Errorf("%+v", a)
	}
}

func TestChoose(t *testing.T) {
	of := func(paths ...string) (out []manifest.Partition) {
		for _, p := range paths {
			part, err := manifest.ParsePartition(p)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, part)
		}
		return out
	}
	list := of("t/region=eu/dt=2025-02-26", "t/region=eu/dt=2025-03-04", "t/region=us/dt=2025-03-04", "t/region=eu/dt=2025-03-05",
		"t/region=eu/dt=2025-03-06", "t/region=eu/dt=__HIVE_DEFAULT_PARTITION__", "t/region=eu/dt=x", "t/sub/region=eu/dt=2025-03-01",
		"t/region=eu/dt=20250303", "t/region=eu/dt=2025-01")
	tests := []struct {
		own  string
		want Baseline
		get  string
	}{
		{"t/region=eu/dt=2025-03-05", Baseline{Limit: 9}, "[2025-03-04 20250303 2025-02-26 2025-01]"},
		{"t/region=eu/dt=2025-03-05", Baseline{Limit: 1}, "[2025-03-04]"},
		{"t/region=eu/dt=2025-03-05", Baseline{Limit: 9, Weekday: true}, "[2025-02-26 2025-01]"},
		{"t/region=us/dt=2025-03-05", Baseline{Limit: 9}, "[2025-03-04]"},
		{"t/region=us/dt=2025-03-04", Baseline{Limit: 9}, "[]"},
		{"t/region=eu/dt=x", Baseline{Limit: 9}, "[]"},
		{"t/region=eu/dt=2025-03-04", Baseline{Limit: 1, Any: true}, "[2025-03-06]"},
	}
	for _, tt := range tests {
		got := []string{}
		for _, p := range tt.want.Choose(of(tt.own)[0], list) {
			got = append(got, p.Keys[1].Value)
		}
		if fmt.Sprint(got) != tt.get {
			t.Errorf("%s %+v: %v, want %s", tt.own, tt.want, got, tt.get)
		}
	}
}

func TestChangeMistakes(t *testing.T) {
	for item, want := range map[string]string{
		"change: {metric: row_count}":                                                         "bounds nothing, give max_drop or max_rise",
		"change: {metric: rows, max_drop: 1%}":                                                `unknown metric "rows"`,
		"change: {metric: null_cuont, column: x, max_drop: 1%}":                               `unknown metric "null_cuont"`,
		"change: {metric: sum, max_drop: 1%}":                                                 "metric sum needs column",
		"change: {metric: row_count, column: x, max_drop: 1%}":                                "metric row_count has no column",
		"change: {max_drop: 1%}":                                                              "change needs metric",
		"change: {metric: row_count, max_drop: 101%}":                                         "max_drop 101% is more than all there was",
		"change: {metric: row_count, max_drop: -1%}":                                          "max_drop is a share like 30% or 0.3",
		"change: {metric: row_count, max_drop: 1%, baseline: median}":                         "baseline is previous, median(N) or same_weekday(N)",
		"change: {metric: row_count, max_drop: 1%, baseline: median(0)}":                      "baseline is previous, median(N) or same_weekday(N)",
		"change: {metric: row_count, max_drop: 1%, axis: past}":                               "axis",
		"change: {metric: row_count, max_drop: 1%, axis: history, baseline: same_weekday(2)}": "axis history has no weekdays",
		"change: {metric: row_count, max_drop: 1%, on_no_baseline: pass}":                     "on_no_baseline",
		"change: {metric: row_count, max_drop: 1%, where: x > 1}":                             "change does not take where",
		"change: {metric: row_count, max_drops: 1%}":                                          `unknown parameter of change "max_drops"`,
	} {
		_, err := Parse("c.yaml", []byte(checks(item)), Vars{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.yaml:3:") {
			t.Errorf("%s: %v, want %s", item, err, want)
		}
	}
}
