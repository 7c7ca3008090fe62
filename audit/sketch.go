package audit

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// sketchKinds estimate where an exact answer would cost too much memory.
func sketchKinds() []*kind {
	return []*kind{{
		name: "approx_count_distinct", columns: eachColumn, where: true,
		params: append(comparison(wholeNumber), param{name: "tolerance", read: difference}),
		verify: verifyApproximate, bind: bindSketch,
	}}
}

// verifyApproximate: an estimate equals nothing but by chance.
func verifyApproximate(c *Check) error {
	_, equals := c.Params["equals"]
	_, tolerance := c.Params["tolerance"]
	if equals && !tolerance {
		return fmt.Errorf("equals needs a tolerance, for what it compares is an estimate")
	}
	return verifyAggregate(c)
}

const (
	sketchBits = 14 // registers: 16384, a standard error of 1.04/128 = 0.81%
	// sketchError is what a report says of it.
	sketchError = "standard error 0.81%"
	hashBits    = 64 - sketchBits
)

// sketch is a HyperLogLog. Its registers are a function of the set of values
// alone: neither order nor parallelism shows. Of libraries there are many; what
// they add to these lines are sparse forms and wire formats.
type sketch struct {
	col       *scan.Column
	n         int64
	registers [1 << sketchBits]uint8
	hasher    keyHasher
}

func bindSketch(c *Check, b *binding) (assertion, error) {
	m, err := bindMeasure(c, b, func(leaf *scan.Column) accumulator { return &sketch{col: leaf} }, ratioWithin(c))
	return &estimate{m}, err
}

// wholeNumber reads a count as an exact number, to be compared with a tolerance.
func wholeNumber(r *reader, n *yaml.Node, name string) (any, bool) {
	v, ok := count(r, n, name)
	if !ok {
		return nil, false
	}
	return integer(v.(int64)), true
}

func (s *sketch) add(v *scan.Values, n int, weights []int64) {
	hashes, _ := s.hasher.hashValues(s.col, v, n)
	for i, h := range hashes {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		s.n += w
		s.take(h)
	}
}

func (s *sketch) take(hash uint64) {
	// A bit that is set below the hash's own ends the count where they are 0.
	zeros := bits.LeadingZeros64(hash<<sketchBits | 1<<(sketchBits-1))
	at := &s.registers[hash>>hashBits]
	*at = max(*at, uint8(zeros+1))
}

func (s *sketch) merge(o accumulator) {
	other := o.(*sketch)
	s.n += other.n
	for i, r := range other.registers {
		s.registers[i] = max(s.registers[i], r)
	}
}

// value estimates by Ertl's formula (New cardinality estimation algorithms for
// HyperLogLog sketches, 2017, algorithm 6), which needs no tables.
func (s *sketch) value() (aggregateValue, bool) {
	var of [hashBits + 2]float64
	for _, r := range s.registers {
		of[r]++
	}
	const m = 1 << sketchBits
	z := m * tau(1-of[hashBits+1]/m)
	for k := hashBits; k >= 1; k-- {
		z = (z + of[k]) / 2
	}
	z += m * sigma(of[0]/m)
	n := int64(math.Round(m * m / (2 * math.Ln2) / z))
	return aggregateValue{ratio: new(big.Rat).SetInt64(n), text: fmt.Sprint(n), n: s.n}, s.n > 0
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for before := -1.0; before != z; {
		x *= x
		before = z
		z += x * y
		y += y
	}
	return z
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for before := -1.0; before != z; {
		x = math.Sqrt(x)
		before = z
		y /= 2
		z -= (1 - x) * (1 - x) * y
	}
	return z / 3
}

// estimate says of its value that it is one.
type estimate struct{ *measured }

func (e *estimate) finish(ctx context.Context, p *judgement) verdict {
	v := e.measured.finish(ctx, p)
	if v.noValue {
		return v
	}
	v.observed = fmt.Sprintf("about %s (%s)", v.observed, sketchError)
	return v
}
