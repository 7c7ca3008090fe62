package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// partOf is a file of ten orders from id first on, written by a task.
func partOf(t *testing.T, key, task string, first int) File {
	var ids, cents, shard []any
	for i := range 10 {
		ids, cents, shard = append(ids, first+i), append(cents, 100+first+i), append(shard, first/10)
	}
	f := fileOf(t, key, longs("id", ids...), longs("cents", cents...), longs("shard", shard...))
	f.Task, f.Attempt, f.Run = task, key, "load"
	if task == "" {
		f.Attempt, f.Run = "", ""
	}
	return f
}

func attributionOf(t *testing.T, r *Report, id string) string {
	t.Helper()
	return strings.Join(resultOf(t, r, id).Attribution, "; ")
}

func TestAttribution(t *testing.T) {
	part := func(key string, first int) File { return partOf(t, key, "", first) }
	twice := []File{partOf(t, "a0", "0", 0), partOf(t, "a1", "1", 10), partOf(t, "b1", "1", 10)}
	mixed := fileOf(t, "m", longs("id", 1, 2, 99), longs("cents", 1, 1, 1), longs("shard", 0, 1, 2))
	tests := []struct {
		name  string
		part  Partition
		items []string
		want  map[string]string
	}{
		{"one task, two attempts", Partition{Files: twice},
			[]string{"unique: id", "row_count: {equals: 20}", "sum: {column: cents, equals: 2190}", "sum: {column: id, equals: 1}"},
			map[string]string{
				"unique(id)": "10 surplus rows and 1145 cents are exactly task 1's contribution, written twice; " +
					"10 surplus rows of task 1, attempt b1, run load; b1 has 10 keys of a1",
				"row_count":  "too many by 10: exactly task 1's contribution, written twice",
				"sum(cents)": "too much by 1145: exactly task 1's contribution, written twice",
				"sum(id)":    "",
			}},
		{"written three times", Partition{Files: append(slices.Clone(twice), partOf(t, "c1", "1", 10))}, []string{"unique: id"},
			map[string]string{"unique(id)": "20 surplus rows are exactly task 1's contribution, written 3 times; 10 surplus rows of task 1, attempt b1, run load; " +
				"10 surplus rows of task 1, attempt c1, run load; b1 has 10 keys of a1; c1 has 10 keys of a1"}},
		{"a part of a task", Partition{Files: append(slices.Clone(twice), partOf(t, "d1", "1", 20))}, []string{"unique: id"},
			map[string]string{"unique(id)": "10 surplus rows are exactly whole files of task 1, written again: 10 of its 20 rows; " +
				"10 surplus rows of task 1, attempt b1, run load; b1 has 10 keys of a1"}},
		{"files without a writer", Partition{Files: []File{part("a", 0), part("b", 10), part("c", 10)}}, []string{"primary_key: id"},
			map[string]string{"primary_key(id)": "10 surplus rows are exactly shard 1's contribution, written twice; c has 10 keys of b"}},
		{"hidden columns", Partition{Files: []File{part("a", 0), part("b", 10), part("c", 10)}}, []string{"primary_key: {columns: [id], redact: [shard]}"},
			map[string]string{"primary_key(id)": "10 surplus rows are exactly whole files, written again; c has 10 keys of b"}},
		{"rows here and there", Partition{Files: []File{part("a", 0), mixed}}, []string{"unique: id", "row_count: {equals: 11}"},
			map[string]string{"unique(id)": "m has 2 keys of a", "row_count": ""}},
		{"within a file", Partition{Files: []File{fileOf(t, "x", longs("id", 1, 1, 2))}}, []string{"unique: id"},
			map[string]string{"unique(id)": "x has 1 key of the same file"}},
		{"appended instead of replaced", Partition{Mode: manifest.ModeAppend, Live: []File{part("old", 0)}, Files: []File{part("new", 0), part("more", 10)}},
			[]string{"unique: id"},
			map[string]string{"unique(id)": "10 surplus rows are exactly the live partition's rows: appended instead of replaced; new has 10 keys of old, which is live"}},
		{"a count without a key", Partition{Files: []File{twice[0], mixed}},
			[]string{"row_count: {equals: 3}", "sum: {column: cents, equals: 3}", "sum: {column: id, equals: 57}"},
			map[string]string{
				"row_count":  "too much by 10 rows: exactly task 0's contribution",
				"sum(cents)": "too much by 1045 cents: exactly task 0's contribution",
				"sum(id)":    "", // by 90, which task 0 did not write
			}},
		{"as much as two tasks wrote", Partition{Files: append(slices.Clone(twice[:2]), mixed)}, []string{"row_count: {equals: 13}"},
			map[string]string{"row_count": ""}},
		{"nothing fails", Partition{Files: twice[:2]}, []string{"unique: id"}, map[string]string{"unique(id)": ""}},
	}
	for _, tt := range tests {
		for _, parallel := range []int{1, 4} {
			r := mustRun(t, mustParse(t, checks(tt.items...)), tt.part, Options{Parallel: parallel})
			for id, want := range tt.want {
				if got := attributionOf(t, r, id); got != want {
					t.Errorf("%s: %s:\ngot  %s\nwant %s", tt.name, id, got, want)
				}
			}
		}
	}
}

// An attribution is stored: a column that may hold values of the data is named
// only where values may be.
func TestAttributionLeavesValuesOut(t *testing.T) {
	file := func(key string, first int) File {
		return fileOf(t, key, longs("id", first, first+1), longs("patient", first, first))
	}
	part := Partition{Files: []File{file("a", 0), file("b", 10), file("c", 10)}}
	for head, want := range map[string]string{
		"":                      "2 surplus rows are exactly whole files, written again",
		"store_samples: true\n": "2 surplus rows are exactly patient 10's contribution, written twice",
	} {
		r := mustRun(t, mustParse(t, head+checks("unique: id")), part, Options{})
		if got := attributionOf(t, r, "unique(id)"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", head, got, want)
		}
	}
}

// Of many pairs of files the first are named, and the others counted.
func TestManyPairs(t *testing.T) {
	var files []File
	for i := range 40 {
		files = append(files, partOf(t, fmt.Sprintf("%02d", i), "", 10*(i/2)))
	}
	r := mustRun(t, mustParse(t, checks("unique: id")), Partition{Files: files}, Options{})
	lines := resultOf(t, r, "unique(id)").Attribution
	want := []string{"200 surplus rows are exactly whole files, written again", "01 has 10 keys of 00", "and 8 more pairs"}
	if len(lines) != 14 || lines[0] != want[0] || lines[1] != want[1] || lines[13] != want[2] {
		t.Errorf("%q", lines)
	}
}
