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

// exactSum adds in 128 bits, and in a big integer what may not fit there.
type exactSum struct {
	col    *scan.Column
	n      int64
	hi     int64
	lo     uint64
	beyond *big.Int
}

func (s *exactSum) add(v *scan.Values, n int, weights []int64) {
	if classOf(s.col) != signed {
		s.addBig(v, n, weights)
		return
	}
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		s.n += w
		hi, lo := product(s.col.Int64At(v, i), w)
		var carry uint64
		s.lo, carry = bits.Add64(s.lo, lo, 0)
		// Exact below 2^63 values: |value| < 2^63, so the sum is below 2^126.
		s.hi += hi + int64(carry)
	}
}

// product is x·w in 128 bits, two's complement; w ≥ 0.
func product(x, w int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(x), uint64(w))
	if x < 0 {
		h -= uint64(w)
	}
	return int64(h), l
}

func (s *exactSum) addBig(v *scan.Values, n int, weights []int64) {
	if s.beyond == nil {
		s.beyond = new(big.Int)
	}
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
		s.beyond.Add(s.beyond, x)
	}
}

func (s *exactSum) total() *big.Int {
	t := scan.Int128{Hi: s.hi, Lo: s.lo}.Big()
	if s.beyond != nil {
		t.Add(t, s.beyond)
	}
	return t
}

func (s *exactSum) merge(o accumulator) {
	other := o.(*exactSum)
	s.n += other.n
	if s.beyond == nil {
		s.beyond = new(big.Int)
	}
	s.beyond.Add(s.beyond, other.total())
}

func (s *exactSum) value() (aggregateValue, bool) {
	t := s.total()
	return aggregateValue{exact: t, text: decimalText(t, scaleOf(s.col)), n: s.n}, s.n > 0
}

// floatSum is Neumaier's compensated sum. Row groups are merged in order, so
// that the result does not depend on the parallelism.
type floatSum struct {
	col               *scan.Column
	n                 int64
	sum, compensation float64
	// special is the plain sum of NaN and infinities, which compensation would
	// turn into NaN.
	special float64
}

func (s *floatSum) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		s.n += w
		x := s.col.FloatAt(v, i)
		if x != x || math.IsInf(x, 0) {
			s.special += x
			continue
		}
		for range w {
			s.one(x)
		}
	}
}

func (s *floatSum) one(x float64) {
	t := s.sum + x
	if math.Abs(s.sum) >= math.Abs(x) {
		s.compensation += (s.sum - t) + x
	} else {
		s.compensation += (x - t) + s.sum
	}
	s.sum = t
}

func (s *floatSum) merge(o accumulator) {
	other := o.(*floatSum)
	s.n += other.n
	s.special += other.special
	s.one(other.sum)
	s.compensation += other.compensation
}

func (s *floatSum) value() (aggregateValue, bool) {
	f := s.sum
	switch {
	case s.special != 0: // NaN or an infinity
		f = s.special
	case !math.IsInf(f, 0):
		f += s.compensation
	}
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
