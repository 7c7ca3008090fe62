package audit

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// What is spilled is written once, and held memory stays near the budget; what
// repeats itself is cut instead.
func TestSpilledBytes(t *testing.T) {
	const n, budget = 100_000, 128 << 10
	rng := rand.New(rand.NewPCG(8, 8))
	for name, test := range map[string]struct {
		next        func() uint64
		least, most int64 // bytes written
	}{
		"all different":    {rng.Uint64, n*8 - budget, n * 8},
		"one value":        {func() uint64 { return 42 }, 0, 0},
		"a hundred values": {func() uint64 { return spread(uint64(rng.IntN(100))) }, 0, 0},
	} {
		k := keyset{budget: budget}
		w := keyWriter{set: &k}
		for range n / 1000 {
			list := make([]uint64, 1000)
			for i := range list {
				list[i] = test.next()
			}
			w.add(list, 0)
			if held := k.held.Load(); held > budget {
				t.Fatalf("%s: %d bytes are held", name, held)
			}
		}
		w.finish()
		if k.spill.end < test.least || k.spill.end > test.most {
			t.Errorf("%s: %d bytes spilled, want %d to %d", name, k.spill.end, test.least, test.most)
		}
		if err := k.close(); err != nil {
			t.Error(err)
		}
	}
}

// A full disk, or none, while keys are spilled is an error of the check.
func TestSpillFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	k := keyset{budget: 1 << 10, spill: spillFile{file: full}}
	w := keyWriter{set: &k}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 100_000 {
		w.put(rng.Uint64())
	}
	w.finish()
	err = k.repeated(10, 2, func(candidates) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
	if held := k.held.Load(); held > 1<<20 {
		t.Errorf("%d bytes are held although nothing can come of them", held)
	}
	if err := k.close(); err != nil {
		t.Error(err)
	}

	t.Setenv("TMPDIR", t.TempDir()+"/none")
	c := mustParse(t, checks("unique: [id, note]", "row_count: {min: 1}"))
	r := mustRun(t, c, Partition{Files: []File{manyGroups(t, "a", 4, 3000, 9)}}, Options{Memory: 64 << 10})
	if a := resultOf(t, r, "unique(id,note)"); a.Outcome != Error || !strings.Contains(a.Message, "temporary file") {
		t.Errorf("%+v", a)
	}
	if a := resultOf(t, r, "row_count"); a.Outcome != Pass {
		t.Errorf("%+v", a)
	}
}

// The same of rows that are compared: one error, said once, and no row is
// counted after it.
func TestTallySpillFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	set := tally{budget: 1 << 10, file: runFile{file: full}}
	b := set.batch()
	rng := rand.New(rand.NewPCG(9, 9))
	for range 100_000 {
		b.add(binary.BigEndian.AppendUint64(nil, rng.Uint64()), judgedSide, 0)
	}
	if len(b.stashed) != 1 || len(b.counts.list) > 0 {
		t.Errorf("%d writes were tried, %d rows are held", len(b.stashed), len(b.counts.list))
	}
	if err := b.flush(); err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if err := set.close(); err != nil {
		t.Error(err)
	}

	t.Setenv("TMPDIR", t.TempDir()+"/none")
	file := manyGroups(t, "a", 20, 1000, 9)
	shelf := &shelf{data: map[string][]Partition{"there": {publishedAs("there", file)}}, states: []*manifest.Manifest{stateOf("2025-03-04", 1)}}
	shelf.data[day("2025-03-04").Path] = shelf.data["there"]
	c := mustParse(t, checks("matches: {with: {partition: there}}", "relationships: {columns: [id], to: {table: there, columns: [id]}}",
		"groups: {by: [id]}", "reconcile: {with: {partition: there}, metrics: [count_distinct(id)]}"))
	for _, files := range [][]File{{file}, nil} {
		r := mustRun(t, c, Partition{Partition: day("2025-03-05"), Files: files}, Options{Memory: 64 << 10, Published: shelf, Parallel: 2})
		for _, a := range r.Assertions {
			if a.Vacuous || !slices.Contains([]string{"matches", "relationships", "groups", "reconcile"}, a.Type) {
				continue
			}
			if a.Outcome != Error || !strings.Contains(a.Message, "temporary file") || strings.Contains(a.Message, "\n") || len(a.Message) > 300 {
				t.Errorf("%s: %s, %d bytes: %.300s", a.ID, a.Outcome, len(a.Message), a.Message)
			}
		}
	}
}
