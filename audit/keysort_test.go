package audit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSorter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for name, next := range map[string]func() uint64{
		"random":            rng.Uint64,
		"one part":          func() uint64 { return rng.Uint64() >> keyPartBits },
		"equal high bits":   func() uint64 { return 7<<56 | rng.Uint64()>>40 },
		"few values":        func() uint64 { return uint64(rng.IntN(3)) << 50 },
		"one value":         func() uint64 { return 42 },
		"the highest value": func() uint64 { return ^uint64(0) - rng.Uint64()>>63 },
	} {
		var s sorter
		for _, n := range []int{0, 1, 2, insertionMost, insertionMost + 1, 1000, 100_000, 3} {
			list := make([]uint64, n)
			for i := range list {
				// What shares its top bits is what a part holds.
				list[i] = 9<<(64-keyPartBits) | next()>>keyPartBits
			}
			want := slices.Clone(list)
			slices.Sort(want)
			s.list = append(s.list[:0], list...)
			if s.sort(); !slices.Equal(s.list, want) {
				t.Errorf("%s: %d entries are not in order", name, n)
			}
		}
	}
}

// Who has a candidate is known by name, also when several share one.
func TestCandidateUnits(t *testing.T) {
	for _, units := range []int{1, 2, 40, 1 << maxUnitBits, 3 << maxUnitBits} {
		var k keyCheck
		k.plan(slices.Repeat([]*unit{{}}, units))
		k.limit(memoryShare{bytes: 1 << 20})
		name := func(index int) int { return k.nameOf(&unit{index: index}) }
		last := units - 1
		w := k.keys.take()
		w.add([]uint64{1 << 60}, name(0))
		w.add([]uint64{1 << 60, 3 << 60, 3 << 60}, name(last))
		w.add([]uint64{2 << 60}, name(units/2))
		k.keys.give(w)
		k.keys.finish()
		var heads []uint64
		var named []int
		err := k.keys.set.repeated(10, 2, func(c candidates) error {
			heads = append(heads, c.heads...)
			for i, has := range c.units {
				if has {
					named = append(named, i)
				}
			}
			return nil
		})
		want := slices.Compact([]int{name(0), name(last)})
		if err != nil || !slices.Equal(heads, []uint64{1 << 60, 3 << 60}) || !slices.Equal(named, want) {
			t.Errorf("%d units: hashes %x in %v, want 1 and 3 in %v; %v", units, heads, named, want, err)
		}
	}
}
