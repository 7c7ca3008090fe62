package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

func integers(name string, bits int8, signed bool, values ...any) testColumn {
	physical := parquet.Types.Int64
	if bits < 64 {
		physical = parquet.Types.Int32
	}
	return leaf(name, physical, schema.NewIntLogicalType(bits, signed), -1, values)
}

// boundKeys are the key checks of a checks file, ready to read a partition.
func boundKeys(t *testing.T, text string, opts Options, files ...File) []*keyCheck {
	t.Helper()
	opts.Now = testNow()
	p := &judgement{part: &Partition{Files: files}, config: mustParse(t, text), audit: newAudit(opts, 1)}
	if err := p.open(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.compareSchemas()
	p.bind()
	var list []*keyCheck
	for _, trial := range p.trials {
		if k, ok := trial.assertion.(*keyCheck); ok {
			list = append(list, k)
		}
	}
	return list
}

// An integer key takes a bit for each integer of its range where that is less
// than a hash for each row, and only there.
func TestDenseKeysAreChosen(t *testing.T) {
	rows := ids(1000)
	sparse := append(ids(1000), 1002*denseBits)
	plain := func(c testColumn, props ...parquet.WriterProperty) []File {
		return []File{memoryFile("a", parquetBytes(t, [][]testColumn{{c, strs("s", repeat("x", len(c.values))...)}}, props...))}
	}
	for name, test := range map[string]struct {
		files []File
		key   string
		dense int64 // integers in the range; 0: not chosen
	}{
		"dense":               {plain(longs("x", rows...)), "x", 1000},
		"with NULLs":          {plain(longs("x", append(rows, nil, nil)...)), "x", 1000},
		"as sparse as may be": {plain(longs("x", append(ids(1000), 1001*denseBits-1)...)), "x", 1001 * denseBits},
		"too sparse":          {plain(longs("x", sparse...)), "x", 0},
		"two columns":         {plain(longs("x", rows...)), "[x, s]", 0},
		"text":                {plain(longs("x", rows...)), "s", 0},
		"no statistics":       {plain(longs("x", rows...), parquet.WithStats(false)), "x", 0},
		"around zero":         {plain(integers("x", 32, true, -500, 499)), "x", 0},
		"both ends":           {plain(longs("x", math.MinInt64, math.MaxInt64)), "x", 0},
		"unsigned":            {plain(integers("x", 64, false, uint64(math.MaxUint64), uint64(math.MaxUint64-9))), "x", 10},
		"bytes":               {plain(decimals("x", 10, 0, 1, 2, 3)), "x", 0},
		"floats":              {plain(doubles("x", 1.0, 2.0)), "x", 0},
		"nothing":             {plain(longs("x")), "x", 0},
		"two files":           {[]File{fileOf(t, "a", longs("x", 10, 11)), fileOf(t, "b", longs("x", 30, 20))}, "x", 21},
		"far apart":           {[]File{fileOf(t, "a", longs("x", 1)), fileOf(t, "b", longs("x", 1_000_000))}, "x", 0},
	} {
		k := boundKeys(t, checks("unique: "+test.key), Options{}, test.files...)[0]
		got := int64(0)
		if k.keys.dense != nil {
			got = int64(k.keys.dense.width)
		}
		if got != test.dense {
			t.Errorf("%s: a range of %d, want %d", name, got, test.dense)
		}
	}
}

// Keys share memory by need: the one that takes bits leaves the rest to the
// others, and with too little memory they share equally.
func TestKeysShareMemory(t *testing.T) {
	file := fileOf(t, "a", longs("x", ids(4000)...), strs("s", repeat("x", 4000)...))
	text := checks("unique: x", "unique: s", "unique: [x, s]")
	for _, test := range []struct{ memory, dense, hashed int64 }{
		{512 << 10, 1000, 32000},
		{32 << 10, 1000, 7000},
		{1 << 10, 0, 170},
	} {
		keys := boundKeys(t, text, Options{Memory: test.memory}, file)
		sum := int64(0)
		for i, k := range keys {
			want := test.hashed
			if i == 0 {
				want = 0
				if got := k.keys.dense != nil; got != (test.dense > 0) {
					t.Errorf("%d bytes: bits are taken: %v", test.memory, got)
				}
			}
			if k.keys.set.budget < want {
				t.Errorf("%d bytes: key %d has %d", test.memory, i, k.keys.set.budget)
			}
			sum += k.keys.set.budget
		}
		if sum > test.memory/2 {
			t.Errorf("%d bytes: %d for keys", test.memory, sum)
		}
	}
}

// Whatever the range is thought to be, what repeats is found, and nothing else.
func TestDenseKeysFindRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, thought := range []intRange{
		{0, 99}, {0, 1 << 20}, {^uint64(49), 50}, {math.MaxUint64 - 300, math.MaxUint64}, {1 << 63, 1<<63 + 5000}, {7, 7},
	} {
		k := &keyWriters{set: keyset{budget: 1 << 20}, dense: newDenseKeys(thought)}
		var list []uint64
		for range 20_000 {
			// Half of them below, and above, the range.
			list = append(list, thought.first+uint64(rng.Int64N(int64(2*thought.width())+4000))-1000)
		}
		count := map[uint64]int{}
		for len(list) > 0 {
			n := min(len(list), 1+rng.IntN(3000))
			w := k.take()
			w.dense.add(list[:n], 0)
			for _, x := range list[:n] {
				count[x]++
			}
			k.give(w)
			list = list[n:]
		}
		k.finish()
		want := map[uint64]bool{}
		for x, n := range count {
			if n > 1 {
				want[spread(x)] = true
			}
		}
		found := 0
		err := k.set.repeated(1<<20, 2, func(c candidates) error {
			for _, h := range c.heads {
				if !want[h] {
					t.Errorf("range %v: a key is found that stands once", thought)
				}
				found++
			}
			if !c.units[0] {
				t.Errorf("range %v: nobody is asked", thought)
			}
			return nil
		})
		if err != nil || found != len(want) {
			t.Errorf("range %v: %d of %d repeated keys found; %v", thought, found, len(want), err)
		}
	}
}

// Integer keys of all widths, over files and row groups, with each policy for
// NULL: the counts of a plain loop.
func TestIntegerKeys(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(6, 6))
	for name, test := range map[string]struct {
		column func(values ...any) testColumn
		value  func() any
	}{
		"int32": {func(v ...any) testColumn { return integers("x", 32, true, v...) },
			func() any { return rng.IntN(n) - n/2 }},
		"int64, both ends": {func(v ...any) testColumn { return longs("x", v...) },
			func() any { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[rng.IntN(4)] + rng.Int64N(2) }},
		"uint32": {func(v ...any) testColumn { return integers("x", 32, false, v...) },
			func() any { return int64(math.MaxUint32) - rng.Int64N(n) }},
		"uint64": {func(v ...any) testColumn { return integers("x", 64, false, v...) },
			func() any { return uint64(math.MaxUint64) - uint64(rng.IntN(n)) }},
		"mostly one": {func(v ...any) testColumn { return longs("x", v...) },
			func() any { return max(0, rng.IntN(n)-n+20) }},
	} {
		var files []File
		count, nulls, rows := map[any]int{}, 0, 0
		for f := range 3 {
			var groups [][]testColumn
			for range 2 {
				var values []any
				for range n / 4 {
					v := test.value()
					if rng.IntN(20) == 0 {
						v = nil
						nulls++
					} else {
						count[v]++
					}
					values = append(values, v)
					rows++
				}
				groups = append(groups, []testColumn{test.column(values...)})
			}
			data := parquetBytes(t, groups, parquet.WithDictionaryDefault(f == 1))
			files = append(files, memoryFile(fmt.Sprint(f), data))
		}
		surplus := rows - nulls - len(count)
		for policy, want := range map[string]string{
			"distinct": fmt.Sprintf("%d/%d", surplus, rows-nulls),
			"equal":    fmt.Sprintf("%d/%d", surplus+nulls-1, rows),
			"fail":     fmt.Sprintf("%d/%d", surplus+nulls, rows),
		} {
			r := judgeOne(t, fmt.Sprintf("unique: {columns: [x], nulls: %s}", policy), files...)
			if got := fmt.Sprintf("%d/%d", r.Violations, r.RowsTested); got != want {
				t.Errorf("%s, NULLs %s: %s, want %s", name, policy, got, want)
			}
		}
	}
}

// Two different keys with the same hash are two keys.
func TestEqualHashes(t *testing.T) {
	h := uint64(0x0123_4567_89ab_cdee)
	a, b := int64(unspread(h)), int64(unspread(h^1))
	file := memoryFile("a", parquetBytes(t, [][]testColumn{{longs("x", a, 5)}, {longs("x", b, 1<<40)}}))
	k := boundKeys(t, checks("unique: x"), Options{}, file)[0]
	if set := &k.keys.set; k.keys.dense != nil || set.head(spread(uint64(a))) != set.head(spread(uint64(b))) {
		t.Fatal("the keys do not have the same hash")
	}
	if r := judgeOne(t, "unique: x", file); r.Outcome != Pass || r.RowsTested != 4 {
		t.Errorf("%+v", r)
	}
	again := memoryFile("b", parquetBytes(t, [][]testColumn{{longs("x", b, a, b)}}))
	r := judgeOne(t, "unique: x", file, again)
	if got := countsOf(r); r.Violations != 3 || got["groups"] != 2 || got["rows_in_groups"] != 5 {
		t.Errorf("%+v", r)
	}
}

// unspread turns spread around.
func unspread(x uint64) uint64 {
	unshift := func(x uint64, by uint) uint64 { return x ^ x>>by ^ x>>(2*by) }
	inverse := func(odd uint64) uint64 {
		out := odd
		for range 6 {
			out *= 2 - odd*out
		}
		return out
	}
	x = unshift(x, 31) * inverse(0x94d049bb133111eb)
	x = unshift(x, 27) * inverse(0xbf58476d1ce4e5b9)
	return unshift(x, 30) - 0x9e3779b97f4a7c15
}

func TestUnspread(t *testing.T) {
	for _, x := range []uint64{0, 1, 42, 1 << 63, math.MaxUint64} {
		if unspread(spread(x)) != x {
			t.Errorf("%x comes back as %x", x, unspread(spread(x)))
		}
	}
}
