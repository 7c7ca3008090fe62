package audit

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
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
