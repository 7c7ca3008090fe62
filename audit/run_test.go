package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

func testNow() time.Time { return time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC) }

// manyGroups is a file of groups row groups with rows rows each, keys repeating
// every so often, with NULLs and doubles.
func manyGroups(t *testing.T, key string, groups, rows int, seed uint64) File {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var all [][]testColumn
	for range groups {
		var ids, notes, prices []any
		for range rows {
			ids = append(ids, int(r.Int64N(int64(groups*rows))))
			prices = append(prices, r.Float64()*1000)
			if r.IntN(10) == 0 {
				notes = append(notes, nil)
			} else {
				notes = append(notes, fmt.Sprintf("note %d", r.IntN(50)))
			}
		}
		all = append(all, []testColumn{longs("id", ids...), strs("note", notes...), doubles("price", prices...)})
	}
	return memoryFile(key, parquetBytes(t, all, parquet.WithDataPageSize(512)))
}

const manyChecks = `
version: 1
integrity: {mode: full}
checks:
  - unique: id
  - unique: {columns: [id, note], nulls: equal, samples: 25}
  - not_null: note
  - count_distinct: {column: note, equals: 50}
  - sum: {column: price, min: 1}
  - sum: {column: id, min: 1}
  - accepted_range: {column: price, max: 900}
  - max: {column: note, min: a}
`

// Same files, same report, whatever the parallelism and the memory.
func TestDeterminism(t *testing.T) {
	part := Partition{Files: []File{manyGroups(t, "a", 7, 300, 1), manyGroups(t, "b", 5, 200, 2)}}
	c := mustParse(t, manyChecks)
	var want *Report
	for _, opts := range []Options{{Parallel: 1}, {Parallel: 2}, {Parallel: 8}} {
		r := mustRun(t, c, part, opts)
		// Read again by the second pass in other pieces.
		r.BytesRead, r.Requests = 0, 0
		if want == nil {
			want = r
			continue
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%+v:\n%s%s", opts, canonicalJSON(r), canonicalJSON(want))
		}
	}
	if want.Partitions[0].Rows != 3100 || resultOf(t, want, "unique(id)").Violations == 0 {
		t.Errorf("%+v", want)
	}
}

// The keys of a partition that do not fit in memory go to a file, and many
// candidates to several passes, with the same result.
func TestSpill(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	want := map[uint64]int{}
	var hashes []uint64
	for range 20000 {
		h := rng.Uint64()
		if len(hashes) > 0 && rng.IntN(4) == 0 {
			h = hashes[rng.IntN(len(hashes))]
		}
		hashes = append(hashes, h)
		want[h]++
	}
	for range 5000 { // one value that fills its part
		hashes = append(hashes, 42)
		want[42]++
	}
	for _, budget := range []int64{1 << 10, 1 << 15, 1 << 30} {
		k := keyset{budget: budget}
		w := keyWriter{set: &k}
		w.add(hashes, 0)
		w.finish()
		if spilled := k.spill.file != nil; spilled != (budget < 1<<20) {
			t.Errorf("budget %d: spilled %v", budget, spilled)
		}
		got := map[uint64]bool{}
		err := k.repeated(100, 3, func(found candidates) error {
			if len(found.heads) > 100 {
				t.Errorf("%d at once", len(found.heads))
			}
			for _, h := range found.heads {
				if got[h] || want[h] < 2 {
					t.Errorf("hash %d stands %d times", h, want[h])
				}
				got[h] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for h, n := range want {
			if n >= 2 && !got[h] {
				t.Errorf("budget %d: hash %d is missing, it stands %d times", budget, h, n)
			}
		}
		if err := k.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUniqueWithLittleMemory(t *testing.T) {
	part := Partition{Files: []File{manyGroups(t, "a", 4, 3000, 9)}}
	c := mustParse(t, checks("unique: id", "unique: [id, note]"))
	want := mustRun(t, c, part, Options{Memory: 1 << 30})
	got := mustRun(t, c, part, Options{Memory: 64 << 10, Parallel: 1})
	got.BytesRead, got.Requests, want.BytesRead, want.Requests = 0, 0, 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s%s", canonicalJSON(got), canonicalJSON(want))
	}
}

// In mode append uniqueness spans live and new files, and nothing else does.
func TestAppend(t *testing.T) {
	part := Partition{
		Mode:  manifest.ModeAppend,
		Live:  []File{fileOf(t, "live.parquet", longs("x", 1, 2, nil, nil))},
		Files: []File{fileOf(t, "new.parquet", longs("x", 2, 3))},
	}
	part.Live[0].SHA256, part.Files[0].SHA256 = "aa", "bb"
	c := mustParse(t, checks("unique: x", "primary_key: x", "row_count: 2", "sum: {column: x, equals: 5}", "not_null: x"))
	opts := Options{LiveSHA256: func(sum string) (string, bool) { return "other.parquet", sum == "bb" }}
	r := mustRun(t, c, part, opts)
	for id, want := range map[string]string{
		"unique(x)": "fail 1/4", "primary_key(x)": "fail 1/4", "row_count": "pass 0/2", "sum(x)": "pass 0/2",
		"not_null(x)": "pass 0/2", "no_duplicate_content": "fail 1/2",
	} {
		a := resultOf(t, r, id)
		if got := fmt.Sprintf("%s %d/%d", a.Outcome, a.Violations, a.RowsTested); got != want {
			t.Errorf("%s: %s, want %s; %s", id, got, want, a.Message)
		}
	}
	if a := resultOf(t, r, "unique(x)"); a.RowsTotal != 6 || a.Samples[0].File != "new.parquet" || a.Samples[0].Row != 0 {
		t.Errorf("%+v", a)
	}
	for _, m := range r.Partitions[0].Metrics {
		if m.Name == "null_count" && m.Value != "0" {
			t.Errorf("metrics are about live rows too: %+v", m)
		}
	}
	part.Live = []File{fileOf(t, "live.parquet", strs("x", "1"))}
	r = mustRun(t, c, part, Options{})
	if a := resultOf(t, r, "unique(x)"); a.Outcome != Error || a.Error.File != "live.parquet" {
		t.Errorf("%+v", a)
	}
	if a := resultOf(t, r, "sum(x)"); a.Outcome != Pass {
		t.Errorf("%+v", a)
	}
}

// failingSource fails its reads from the nth on.
type failingSource struct {
	scan.Source
	left *atomic.Int64
}

func (s failingSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	if s.left.Add(-1) < 0 {
		return errors.New("connection reset")
	}
	return s.Source.ReadRange(ctx, p, off)
}

// A store that fails at any of its reads is an outside cause, never a pass.
func TestStoreFailures(t *testing.T) {
	good := manyGroups(t, "a", 3, 50, 4)
	c := mustParse(t, checks("not_null: id", "row_count: 150", "unique: [id, note]", "sum: {column: id, min: 0}"))
	opts := Options{Parallel: 1, Memory: 64 << 10} // too little to keep the file
	whole := mustRun(t, c, Partition{Files: []File{good}}, opts)
	for n := range whole.Requests {
		left := &atomic.Int64{}
		left.Store(n)
		part := Partition{Files: []File{{Key: "a", Source: failingSource{good.Source, left}}}}
		r := mustRun(t, c, part, opts)
		outside := 0
		for _, a := range r.Blocking() {
			if a.Outcome == Error {
				if a.Error.Cause != CauseOutside || a.Error.File != "a" {
					t.Errorf("read %d: %+v", n, a)
				}
				const opening = 2 // the footer and the head
				if n >= opening && (a.Error.RowGroup == nil || a.Error.Column == "") {
					t.Errorf("read %d: %+v names no place", n, a.Error)
				}
				outside++
			}
		}
		if outside == 0 || r.Outcome != Error {
			t.Errorf("read %d of %d: report is %s with %d errors", n, whole.Requests, r.Outcome, outside)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	part := Partition{Partition: manifest.Partition{Table: "t", Path: "t"}, Files: []File{manyGroups(t, "a", 5, 50, 4)}}
	opts := Options{Now: testNow(), Progress: func(int64, int64) { cancel() }}
	r, err := Run(ctx, &Rules{Default: mustParse(t, manyChecks)}, []Partition{part}, opts)
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("report %v, error %v", r, err)
	}
}

// cancelling ends the context at its nth read, which succeeds.
type cancelling struct {
	scan.Source
	left   *atomic.Int64
	cancel context.CancelFunc
}

func (s cancelling) ReadRange(ctx context.Context, p []byte, off int64) error {
	if s.left.Add(-1) == 0 {
		s.cancel()
	}
	return s.Source.ReadRange(context.WithoutCancel(ctx), p, off)
}

// Whenever the context ends, the audit does.
func TestCancelledAnywhere(t *testing.T) {
	good := manyGroups(t, "a", 6, 20, 4)
	c := mustParse(t, checks("not_null: id", "unique: [id, note]"))
	opts := Options{Now: testNow(), Parallel: 1, Memory: 64 << 10}
	part := Partition{Partition: manifest.Partition{Table: "t", Path: "t"}, Files: []File{good}}
	reads := mustRun(t, c, part, opts).Requests
	for n := range reads * 20 {
		ctx, cancel := context.WithCancel(context.Background())
		left := &atomic.Int64{}
		left.Store(n%reads + 1)
		part.Files = []File{{Key: "a", Source: cancelling{good.Source, left, cancel}}}
		if _, err := Run(ctx, &Rules{Default: c}, []Partition{part}, opts); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("read %d: %v", n, err)
		}
		cancel()
	}
}

// What is too much for memory is too much whatever the parallelism.
func TestLimitsDoNotDependOnParallelism(t *testing.T) {
	var by, at []any
	for i := range 2000 {
		by, at = append(by, i), append(at, i%7)
	}
	file := fileOf(t, "a", longs("k", by...), days("x", at...), days("y", make([]any, len(at))...))
	c := mustParse(t, checks("complete_intervals: {column: x, every: 7d, from: 1970-01-01, by: [k]}",
		"mutually_exclusive_ranges: {lower: x, upper: y, by: [k], nulls: open}", "reconcile: {with: {control: c}, by: [k]}"))
	var parts []Partition
	for i := range 8 {
		parts = append(parts, Partition{Partition: manifest.Partition{Table: "t", Path: fmt.Sprintf("t/k=%d", i)}, Files: []File{file}})
	}
	outcomes := map[string]bool{}
	for _, memory := range []int64{1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20} {
		var first string
		for _, parallel := range []int{1, 8} {
			r, err := Run(context.Background(), &Rules{Default: c}, parts, Options{Now: testNow(), Parallel: parallel, Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, a := range r.Assertions {
				fmt.Fprintf(&text, "%s %s %s %s\n", a.Partition, a.ID, a.Outcome, a.Message)
				if a.Type == "complete_intervals" {
					outcomes[string(a.Outcome)] = true
				}
			}
			if first == "" {
				first = text.String()
			} else if text.String() != first {
				t.Errorf("%d bytes: parallel %d says\n%s\nand 1\n%s", memory, parallel, text.String(), first)
			}
		}
	}
	if !outcomes["pass"] || !outcomes["error"] {
		t.Errorf("the limits were never met, or always: %v", outcomes)
	}
}

func TestMisuse(t *testing.T) {
	part := Partition{Partition: manifest.Partition{Table: "t", Path: "t"}}
	if _, err := Run(context.Background(), &Rules{Default: Builtin()}, []Partition{part}, Options{}); err == nil {
		t.Error("no now, no error")
	}
	if _, err := Run(context.Background(), &Rules{}, []Partition{part}, Options{Now: testNow()}); err == nil {
		t.Error("no rules, no error")
	}
}

func TestPartitionsAreJudgedAlone(t *testing.T) {
	part := func(path string, values ...any) Partition {
		return Partition{Partition: manifest.Partition{Table: "t", Path: path}, Files: []File{fileOf(t, path+"/a", longs("x", values...))}}
	}
	r, err := Run(context.Background(), &Rules{Default: mustParse(t, checks("unique: x"))},
		[]Partition{part("t/k=2", 1, 1), part("t/k=1", 1, 2)}, Options{Now: testNow()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range r.Assertions {
		if a.Type == "unique" {
			got = append(got, fmt.Sprintf("%s %s", a.Partition, a.Outcome))
		}
	}
	if fmt.Sprint(got) != "[t/k=1 pass t/k=2 fail]" || r.Rows != 4 || r.Files != 2 || r.Partitions[0].Path != "t/k=1" {
		t.Errorf("%v, %+v", got, r)
	}
}

// The second pass reads the row groups that hold a candidate, and no other.
func TestSecondPassReadsCandidates(t *testing.T) {
	bytesOf := func(files ...File) int64 {
		r := mustRun(t, mustParse(t, checks("unique: x")), Partition{Files: files}, Options{Memory: 64 << 10}) // too little to keep the files
		return r.BytesRead
	}
	values := func(from int) (list []any) {
		for i := range 2000 {
			list = append(list, (from+i)*7919)
		}
		return list
	}
	a, b, c := values(0), values(2000), values(4000)
	once := bytesOf(fileOf(t, "a", longs("x", a...)), fileOf(t, "b", longs("x", b...)), fileOf(t, "c", longs("x", c...)))
	b[7] = b[1999]
	twice := bytesOf(fileOf(t, "a", longs("x", a...)), fileOf(t, "b", longs("x", b...)), fileOf(t, "c", longs("x", c...)))
	// Once for the groups, and once for what is shown of them.
	if more := twice - once; more <= 0 || more > once {
		t.Errorf("%d bytes more than %d were read for a key that repeats in one file of three", more, once)
	}
}
