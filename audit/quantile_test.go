package audit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestQuantiles(t *testing.T) {
	max64, nan, inf := int64(math.MaxInt64), math.NaN(), math.Inf(1)
	of := func(c testColumn) []testColumn { return []testColumn{c} }
	judgeItems(t, []judgedItem{
		{"median: {column: x, equals: 2}", of(longs("x", 3, 1, 2, nil)), "pass 0/3 2"},
		{"median: {column: x, equals: 2.5}", of(longs("x", 4, 1, 2, 3)), "pass 0/4 2.5"},
		{"median: {column: x, max: 2.49}", []testColumn{longs("x", 4, 1), longs("x", 2, 3)}, "fail 0/4 2.5"},
		{"median: {column: x, equals: 2}", of(longs("x", 2, 2, 2, 9)), "pass 0/4 2"},
		{"median: {column: x, equals: 9223372036854775806.5}", of(longs("x", max64, max64-1)), "pass 0/2 9223372036854775806.5"},
		{"median: {column: x, equals: 0}", of(longs("x", math.MinInt64, 0, max64)), "pass 0/3 0"},
		{"median: {column: x, equals: -0.5}", of(longs("x", math.MinInt64, max64)), "pass 0/2 -0.5"},
		{"median: {column: x, equals: 0.015}", of(decimals("x", 38, 2, 1, 2)), "pass 0/2 0.015"},
		{"median: {column: x, min: 99999999999999999999999999999999999999}",
			of(decimals("x", 38, 0, bigInt(t, strings.Repeat("9", 38)))), "pass 0/1 99999999999999999999999999999999999999"},
		{"median: {column: x, equals: -1}", of(decimals("x", 38, 0, -1, -5, 7)), "pass 0/3 -1"},
		{"median: {column: x, equals: 0.5, tolerance: 0.001}", of(doubles("x", 0.25, 0.75)), "pass 0/2 0.5"},
		{"median: {column: x, max: 0}", of(doubles("x", -3.0, math.Copysign(0, -1), inf)), "pass 0/3 0"},
		{"median: {column: x, min: -2, max: -2}", of(doubles("x", -1.0, -2.0, -3.0)), "pass 0/3 -2"},
		{"median: {column: x, max: 100}", of(doubles("x", inf, inf)), "fail 0/2 Infinity"},
		{"median: {column: x, max: 100}", of(doubles("x", 1.0, 2.0, nan)), "fail 0/3 NaN"},
		{"median: {column: x, equals: 0.1}", of(doubles("x", 0.1)), "error 0/0"},
		{"median: {column: x, max: 1}", of(longs("x", nil)), "fail 0/0 vacuous no value"},
		{"median: {column: x, max: 1}", of(longs("x")), "fail 0/0 vacuous no value"},
		{"median: {column: x, max: 0, severity: warn}", of(longs("x", 1)), "warn 0/1 1"},
		{"median: {column: x, max: 1}", of(strs("x", "a")), "error 0/0"},
		{"median: {column: x, max: 1}", of(days("x", 1)), "error 0/0"},
		{"median: {column: 'x[]', equals: 1.5}", of(nestedLongs()), "pass 0/4 1.5"},
		{"quantile: {column: x, q: 0, equals: 1}", of(longs("x", 3, 1, 2)), "pass 0/3 1"},
		{"quantile: {column: x, q: 100%, equals: 3}", []testColumn{longs("x", 3, 1), longs("x", 2)}, "pass 0/3 3"},
		{"quantile: {column: x, q: 0.9, equals: 3.7}", of(longs("x", 1, 2, 3, 4)), "pass 0/4 3.7"},
		{"quantile: {column: x, q: 0.9, max: 3.6999999999999}", of(longs("x", 1, 2, 3, 4)), "fail 0/4 3.7"},
		{"quantile: {column: x, q: 0.25, equals: 1.0075}", of(decimals("x", 18, 2, 100, 101, 102, 103)), "pass 0/4 1.0075"},
		{"quantile: {column: x, q: 0.95, max: 5}", of(doubles("x", 1.0, nan)), "fail 0/2 NaN"},
		{"quantile: {column: x, q: 0.5, min: 1, where: 'x > 1'}", of(longs("x", 1, 2, 3)), "pass 0/2 2.5"},
		{"quantile: {column: x, q: 0.5, max: 1}", of(longs("x", nil, nil)), "fail 0/0 vacuous no value"},
		{"quantile: {column: x, q: 0.5, max: 1}", of(longs("x")), "fail 0/0 vacuous no value"},
		{"quantile: {column: x, q: 0.5, max: 0, severity: warn}", of(longs("x", 1)), "warn 0/1 1"},
		{"quantile: {column: x, q: 0.5, max: 1}", of(strs("x", "a")), "error 0/0"},
		{"quantile: {column: 'x[]', q: 1, equals: 3}", of(nestedLongs()), "pass 0/4 3"},
	}, true)
}

// Values that do not fit in memory are sorted in pieces, with the same result.
func TestQuantilesWithLittleMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var groups [][]testColumn
	var all []int64
	for range 6 {
		var values []any
		for range 4000 {
			x := rng.Int64() >> rng.IntN(60)
			values, all = append(values, x), append(all, x)
		}
		groups = append(groups, []testColumn{longs("x", values...)})
	}
	slices.Sort(all)
	part := Partition{Files: []File{memoryFile("a", parquetBytes(t, groups))}}
	for _, q := range []string{"0", "0.001", "0.5", "0.77777", "1"} {
		share, err := parseNumber(q)
		if err != nil {
			t.Fatal(err)
		}
		at := new(big.Rat).Mul(share.rat(), new(big.Rat).SetInt64(int64(len(all)-1)))
		whole, rest := new(big.Int).QuoRem(at.Num(), at.Denom(), new(big.Int))
		i := whole.Int64()
		want := new(big.Rat).SetInt64(all[i])
		if rest.Sign() > 0 {
			step := new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(all[i+1]), big.NewInt(all[i])))
			want.Add(want, step.Mul(step, new(big.Rat).SetFrac(rest, at.Denom())))
		}
		c := mustParse(t, checks(fmt.Sprintf("quantile: {column: x, q: %s, equals: %s}", q, want.FloatString(10))))
		for _, memory := range []int64{1 << 30, 128 << 10} {
			r := mustRun(t, c, part, Options{Memory: memory, Parallel: 2})
			if a := resultOf(t, r, "quantile(x)"); a.Outcome != Pass {
				t.Errorf("%s in %d bytes: %s, want %s", q, memory, a.Observed, a.Expected)
			}
		}
	}
}

// Runs come back in order, equal records joined, whatever was written out.
func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	want := map[uint64]int64{}
	for _, budget := range []int64{1, 64 << 10, 1 << 30} {
		clear(want)
		var file runFile
		total := newRuns[tallied](&file, budget)
		for range 7 {
			unit := newRuns[tallied](&file, budget)
			for range 3000 {
				k := rng.Uint64N(5000)
				want[k]++
				unit.add(tallied{ordered{0, k}, 1})
			}
			total.take(unit)
		}
		spilled := file.file != nil
		if spilled != (budget < 1<<20) {
			t.Errorf("budget %d: spilled %v", budget, spilled)
		}
		got, last := map[uint64]int64{}, ordered{}
		err := total.each(func(k tallied) bool {
			if len(got) > 0 && k.value.compare(last) <= 0 {
				t.Fatalf("%v after %v", k.value, last)
			}
			got[k.value.lo], last = k.n, k.value
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("budget %d: %d values, want %d", budget, len(got), len(want))
		}
		if err := file.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestApproximateCount(t *testing.T) {
	nan := math.NaN()
	const about = " (standard error 0.81%)"
	of := func(c testColumn) []testColumn { return []testColumn{c} }
	judgeItems(t, []judgedItem{
		{"approx_count_distinct: {column: x, max: 3}", of(longs("x", 1, 2, 3, 3, nil)), "pass 0/4 about 3" + about},
		{"approx_count_distinct: {column: x, max: 2}", []testColumn{strs("x", "a", "b"), strs("x", "b", "c")}, "fail 0/4 about 3" + about},
		{"approx_count_distinct: {column: x, equals: 4, tolerance: 1}", of(strs("x", "a", "b", "c")), "pass 0/3 about 3" + about},
		{"approx_count_distinct: {column: x, equals: 4, tolerance: 0.5}", of(strs("x", "a", "b", "c")), "fail 0/3 about 3" + about},
		{"approx_count_distinct: {column: x, max: 2}", of(doubles("x", nan, nan, 0.0, math.Copysign(0, -1))), "pass 0/4 about 2" + about},
		{"approx_count_distinct: {column: x, max: 1, severity: warn}", of(bools("x", true, false)), "warn 0/2 about 2" + about},
		{"approx_count_distinct: {column: x, min: 1}", of(longs("x", nil)), "fail 0/0 vacuous no value"},
		{"approx_count_distinct: {column: x, min: 0}", of(longs("x")), "fail 0/0 vacuous no value"},
		{"approx_count_distinct: {column: y, min: 1}", of(longs("x", 1)), "error 0/0"},
		{"approx_count_distinct: {column: 'x[]', max: 4}", of(nestedLongs()), "pass 0/4 about 4" + about},
	}, true)
	if _, err := Parse("c", []byte(checks("approx_count_distinct: {column: x, equals: 4}")), Vars{}); err == nil || !strings.Contains(err.Error(), "tolerance") {
		t.Errorf("an estimate is compared for equality: %v", err)
	}
}

// The estimate of a fixed set is a fixed number, within a few standard errors at
// every size, and the same from any number of row groups.
func TestSketchError(t *testing.T) {
	whole := &sketch{}
	parts := []*sketch{{}, {}, {}}
	insert := func(s *sketch, h uint64) {
		s.n++
		s.take(h)
	}
	n := 0
	for _, size := range []int{10, 1000, 16000, 40000, 100000, 500000} {
		for ; n < size; n++ {
			h := spread(uint64(n))
			insert(whole, h)
			insert(parts[n%3], h)
		}
		v, _ := whole.value()
		got, _ := v.ratio.Float64()
		if off := math.Abs(got-float64(size)) / float64(size); off > 0.025 {
			t.Errorf("%d values are estimated as %.0f", size, got)
		}
	}
	joined := &sketch{}
	for _, p := range parts {
		joined.merge(p)
	}
	if joined.registers != whole.registers || joined.n != whole.n {
		t.Error("merged sketches differ from that of all values")
	}
}

// TestMetricsAreNamedApart: what a manifest keeps under one name is one thing.
func TestMetricsAreNamedApart(t *testing.T) {
	c := mustParse(t, checks("max_length: {column: s, max: 9}", "max_length: {column: s, max: 9, unit: bytes}",
		"quantile: {column: x, q: 0.5, min: 0}", "quantile: {column: x, q: 0.9, min: 0}"))
	r := mustRun(t, c, Partition{Files: []File{fileOf(t, "a.parquet", strs("s", "é"), longs("x", 1))}}, Options{})
	var names []string
	for _, m := range r.Partitions[0].Metrics {
		if m.Column != "" {
			names = append(names, m.Name+"="+m.Value)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "max_length(bytes)=2 max_length=1 null_count=0 null_count=0 quantile(0.5)=1 quantile(0.9)=1" {
		t.Errorf("%s", got)
	}
}
