package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// smallInts are integers of every size, and those at the edges.
func smallInts(r *rand.Rand) int64 {
	edges := []int64{0, 1, -1, 5, -5, 10, maxDouble, maxDouble + 1, -maxDouble, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1e18, -1e18}
	if r.IntN(3) == 0 {
		return edges[r.IntN(len(edges))]
	}
	return int64(r.Uint64()) >> r.IntN(64)
}

// TestSmallNumbers: what is done in 64 bits is what big integers say.
func TestSmallNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	small := 0
	for range 50_000 {
		x, y, p, q := smallInts(r), smallInts(r), r.IntN(22), r.IntN(22)
		a, b := &Vec{N: 1, Ints: []int64{x}}, &Vec{N: 1, Ints: []int64{y}}
		dx, dy := decimal{big.NewInt(x), p}, decimal{big.NewInt(y), q}
		if order := smallOrder(a, b, q-p); order != nil {
			small++
			if got, want := order(0), dx.cmp(dy); got != want {
				t.Fatalf("%d e-%d, %d e-%d: order %d, want %d", x, p, y, q, got, want)
			}
		}
		f := []float64{float64(y) / math.Pow10(q), dx.float(64), math.Nextafter(dx.float(64), math.Inf(1)), math.NaN(), math.Inf(-1), 5e-324, math.MaxFloat64}[r.IntN(7)]
		if got, want := mixed(a, 0, p, f), mixedOrder(dx, f); got != want {
			t.Fatalf("%d e-%d, %g: order %d, want %d", x, p, f, got, want)
		}
		if y != 0 {
			num, den := new(big.Int).Mul(dx.unscaled, powerOf10(q)), new(big.Int).Mul(dy.unscaled, powerOf10(p))
			want, _ := new(big.Rat).SetFrac(num, den).Float64()
			if got, ok := smallQuotient(x, y, q-p); ok && math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%d e-%d / %d e-%d: %g, want %g", x, p, y, q, got, want)
			}
		}
		for name, of := range map[string]numbers{"abs": absolute(), "-": negation(), "round": rounding(min(p, q), p, min(p, q))} {
			if got, ok := of.small(x); ok && big.NewInt(got).Cmp(of.exact(big.NewInt(x))) != 0 {
				t.Fatalf("%s of %d e-%d, to %d: %d", name, x, p, q, got)
			}
		}
		typ := Type{Kind: Timestamp, Scale: []int{3, 6, 9}[r.IntN(3)]}
		want, ok := dayOf(typ, decimal{big.NewInt(x), typ.Scale}, nil)
		if got := dayAt(typ, floorDiv(x, power(typ.Scale)), nil); !ok || got != want {
			t.Fatalf("day of %d e-%d: %d, want %d", x, typ.Scale, got, want)
		}
	}
	if small < 1000 {
		t.Errorf("%d comparisons in 64 bits", small)
	}
}
