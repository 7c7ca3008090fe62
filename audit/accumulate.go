package audit

import (
	"bytes"
	"math"
	"math/big"
	"math/bits"

	"github.com/wap-cli/wap/audit/scan"
)

func bindSum(c *Check, b *binding) (assertion, error) {
	return bindAggregate(c, b, func(leaf *scan.Column) accumulator {
		switch leaf.Type.Kind {
		case scan.Date, scan.Time, scan.Timestamp:
			return nil
		}
		switch classOf(leaf) {
		case signed, unsigned, wide:
			return &exactSum{col: leaf}
		case floating:
			return &floatSum{col: leaf}
		}
		return nil
	})
}

func bindExtreme(c *Check, b *binding) (assertion, error) {
	greatest := c.Type == "max"
	return bindAggregate(c, b, func(leaf *scan.Column) accumulator { return newExtreme(leaf, greatest) })
}

// weight is how often value i counts.
func weight(weights []int64, i int) int64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// integerSum adds in 128 bits, and in a big integer what may not fit there.
type integerSum struct {
	hi     int64
	lo     uint64
	beyond *big.Int
}

// add takes x in w times. Exact below 2^63 values: |x| < 2^63, so the sum is
// below 2^126.
func (s *integerSum) add(x, w int64) {
	hi, lo := product(x, w)
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + int64(carry)
}

// product is x·w in 128 bits, two's complement; w ≥ 0.
func product(x, w int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(x), uint64(w))
	if x < 0 {
		h -= uint64(w)
	}
	return int64(h), l
}

func (s *integerSum) addBig(x *big.Int) {
	if s.beyond == nil {
		s.beyond = new(big.Int)
	}
	s.beyond.Add(s.beyond, x)
}

func (s *integerSum) total() *big.Int {
	t := scan.Int128{Hi: s.hi, Lo: s.lo}.Big()
	if s.beyond != nil {
		t.Add(t, s.beyond)
	}
	return t
}

// exactSum is the sum of a column of integers or decimals.
type exactSum struct {
	integerSum
	col *scan.Column
	n   int64
}

func (s *exactSum) add(v *scan.Values, n int, weights []int64) {
	if classOf(s.col) != signed {
		s.addWide(v, n, weights)
		return
	}
	for i := range n {
		if w := weight(weights, i); w != 0 {
			s.n += w
			s.integerSum.add(s.col.Int64At(v, i), w)
		}
	}
}

func (s *exactSum) addWide(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		s.n += w
		x := exactAt(s.col, v, i)
		if w != 1 {
			x = new(big.Int).Mul(x, big.NewInt(w))
		}
		s.addBig(x)
	}
}

func (s *exactSum) merge(o accumulator) {
	other := o.(*exactSum)
	s.n += other.n
	s.addBig(other.total())
}

func (s *exactSum) value() (aggregateValue, bool) {
	t := s.total()
	return aggregateValue{exact: t, text: decimalText(t, scaleOf(s.col)), n: s.n}, s.n > 0
}

// compensated is Neumaier's sum. Row groups are merged in order, so that the
// result does not depend on the parallelism.
type compensated struct {
	sum, compensation float64
	// special is the plain sum of NaN and infinities, which compensation would
	// turn into NaN.
	special float64
}

// add takes x in w times.
func (s *compensated) add(x float64, w int64) {
	if x != x || math.IsInf(x, 0) {
		s.special += x
		return
	}
	for range w {
		s.one(x)
	}
}

func (s *compensated) one(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.compensation += (s.sum - t) + x
	} else {
		s.compensation += (x - t) + s.sum
	}
	s.sum = t
}

func (s *compensated) merge(o *compensated) {
	s.special += o.special
	s.one(o.sum)
	s.compensation += o.compensation
}

func (s *compensated) total() float64 {
	switch {
	case s.special != 0: // NaN or an infinity
		return s.special
	case math.IsInf(s.sum, 0):
		return s.sum
	}
	return s.sum + s.compensation
}

// floatSum is the sum of a column of floats.
type floatSum struct {
	compensated
	col *scan.Column
	n   int64
}

func (s *floatSum) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		if w := weight(weights, i); w != 0 {
			s.n += w
			s.compensated.add(s.col.FloatAt(v, i), w)
		}
	}
}

func (s *floatSum) merge(o accumulator) {
	other := o.(*floatSum)
	s.n += other.n
	s.compensated.merge(&other.compensated)
}

func (s *floatSum) value() (aggregateValue, bool) {
	f := s.total()
	return aggregateValue{f: f, text: floatText(f, scan.Double), n: s.n}, s.n > 0
}

// extreme is the least or the greatest value.
type extreme struct {
	col      *scan.Column
	class    class
	greatest bool
	n        int64
	nan      bool
	seen     bool // a value that is not NaN

	i64 int64
	f   float64
	b   []byte
	big *big.Int
}

// newExtreme returns nil for a column without an order.
func newExtreme(c *scan.Column, greatest bool) accumulator {
	switch cl := classOf(c); cl {
	case signed, unsigned, wide, floating, texts, nothing:
		return &extreme{col: c, class: cl, greatest: greatest}
	}
	return nil
}

func (e *extreme) better(order int) bool {
	if e.greatest {
		return order > 0
	}
	return order < 0
}

func (e *extreme) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		e.n += w
		switch e.class {
		case signed:
			e.signed(e.col.Int64At(v, i))
		case floating:
			e.float(e.col.FloatAt(v, i))
		case texts:
			e.bytes(v.Bytes.At(i))
		case unsigned, wide:
			e.exact(exactAt(e.col, v, i))
		}
	}
}

func (e *extreme) signed(x int64) {
	if !e.seen || e.greatest && x > e.i64 || !e.greatest && x < e.i64 {
		e.i64, e.seen = x, true
	}
}

func (e *extreme) float(x float64) {
	switch {
	case x != x:
		e.nan = true
	case !e.seen || e.greatest && x > e.f || !e.greatest && x < e.f:
		e.f, e.seen = canonicalFloat(x), true
	}
}

func (e *extreme) bytes(x []byte) {
	if !e.seen || e.better(bytes.Compare(x, e.b)) {
		e.b, e.seen = append(e.b[:0:0], x...), true
	}
}

func (e *extreme) exact(x *big.Int) {
	if !e.seen || e.better(x.Cmp(e.big)) {
		e.big, e.seen = x, true
	}
}

// stored is the value as an integer of stored units; the class has one.
func (e *extreme) stored() *big.Int {
	if e.class == signed {
		return big.NewInt(e.i64)
	}
	return e.big
}

func (e *extreme) merge(o accumulator) {
	other := o.(*extreme)
	e.n += other.n
	e.nan = e.nan || other.nan
	if !other.seen {
		return
	}
	switch e.class {
	case floating:
		e.float(other.f)
	case texts:
		e.bytes(other.b)
	case signed, unsigned, wide:
		// A decimal can be held differently by two files.
		if e.class == signed && other.class == signed {
			e.signed(other.i64)
			return
		}
		if e.class == signed {
			e.class, e.big = wide, big.NewInt(e.i64)
		}
		e.exact(other.stored())
	}
}

// value: an extreme over NaN is NaN.
func (e *extreme) value() (aggregateValue, bool) {
	v := aggregateValue{n: e.n}
	switch {
	case e.n == 0, e.class == nothing:
		return v, false
	case e.nan:
		v.f, v.text = math.NaN(), "NaN"
	case e.class == floating:
		v.f, v.text = e.f, floatText(e.f, e.col.Type.Kind)
	case e.class == texts:
		v.b, v.text = e.b, cutCell(bytesText(e.col, e.b))
	default:
		v.exact = e.stored()
		v.text = exactText(e.col, v.exact)
	}
	return v, true
}
