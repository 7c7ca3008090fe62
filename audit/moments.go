package audit

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/wap-cli/wap/audit/scan"
)

// mean divides a sum by how many values it has.
type mean struct {
	sum accumulator
	col *scan.Column
}

func newMean(c *scan.Column) accumulator {
	switch {
	case !isNumeric(c):
		return nil
	case classOf(c) == floating:
		return &mean{&floatSum{col: c}, c}
	}
	return &mean{&exactSum{col: c}, c}
}

func (m *mean) add(v *scan.Values, n int, weights []int64) { m.sum.add(v, n, weights) }
func (m *mean) merge(o accumulator)                        { m.sum.merge(o.(*mean).sum) }

func (m *mean) value() (aggregateValue, bool) {
	v, ok := m.sum.value()
	switch {
	case !ok:
		return v, false
	case v.exact == nil:
		v.f /= float64(v.n)
		v.text = floatText(v.f, scan.Double)
		return v, true
	}
	units := new(big.Int).Mul(big.NewInt(v.n), pow10(scaleOf(m.col)))
	v.ratio = new(big.Rat).SetFrac(v.exact, units)
	v.text = ratioText(v.ratio, scaleOf(m.col))
	return v, true
}

// deviation is the standard deviation of a sample, exact for exact columns: the
// sums of values and of their squares are.
type deviation struct {
	sum     exactSum
	squares big.Int
}

func newDeviation(c *scan.Column) accumulator {
	switch {
	case !isNumeric(c):
		return nil
	case classOf(c) == floating:
		return &floatDeviation{col: c}
	}
	return &deviation{sum: exactSum{col: c}}
}

func (d *deviation) add(v *scan.Values, n int, weights []int64) {
	d.sum.add(v, n, weights)
	var square, times big.Int
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		x := exactAt(d.sum.col, v, i)
		square.Mul(x, x)
		if w != 1 {
			square.Mul(&square, times.SetInt64(w))
		}
		d.squares.Add(&d.squares, &square)
	}
}

func (d *deviation) merge(o accumulator) {
	other := o.(*deviation)
	d.sum.merge(&other.sum)
	d.squares.Add(&d.squares, &other.squares)
}

// value has the variance as its ratio: (n·Σx² − (Σx)²) / (n·(n−1)).
func (d *deviation) value() (aggregateValue, bool) {
	n := d.sum.n
	if n < 2 {
		return aggregateValue{}, false
	}
	total, count := d.sum.total(), big.NewInt(n)
	num := new(big.Int).Mul(count, &d.squares)
	num.Sub(num, total.Mul(total, total))
	den := new(big.Int).Mul(count, big.NewInt(n-1))
	den.Mul(den, pow10(2*scaleOf(d.sum.col)))
	v := aggregateValue{ratio: new(big.Rat).SetFrac(num, den), n: n}
	root, _ := new(big.Float).SetPrec(128).SetRat(v.ratio).Float64()
	v.text = floatText(math.Sqrt(root), scan.Double)
	return v, true
}

// floatDeviation is Welford's method; row groups are merged in order, so that the
// result does not depend on the parallelism.
type floatDeviation struct {
	col      *scan.Column
	n        int64
	mean, m2 float64
}

func (d *floatDeviation) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		d.n += w
		x := d.col.FloatAt(v, i)
		off := x - d.mean
		d.mean += off * float64(w) / float64(d.n)
		d.m2 += float64(w) * off * (x - d.mean)
	}
}

func (d *floatDeviation) merge(o accumulator) {
	other := o.(*floatDeviation)
	if other.n == 0 {
		return
	}
	if d.n == 0 {
		d.n, d.mean, d.m2 = other.n, other.mean, other.m2
		return
	}
	a, b := float64(d.n), float64(other.n)
	off := other.mean - d.mean
	d.n += other.n
	d.mean += off * b / (a + b)
	d.m2 += other.m2 + off*off*a*b/(a+b)
}

func (d *floatDeviation) value() (aggregateValue, bool) {
	if d.n < 2 {
		return aggregateValue{}, false
	}
	v := aggregateValue{f: math.Sqrt(d.m2 / float64(d.n-1)), n: d.n}
	v.text = floatText(v.f, scan.Double)
	return v, true
}

// lengthExtreme is the least or the greatest length.
type lengthExtreme struct {
	greatest, bytes bool
	n, length       int64
}

func (l *lengthExtreme) take(length, n int64) {
	if l.n == 0 || l.greatest && length > l.length || !l.greatest && length < l.length {
		l.length = length
	}
	l.n += n
}

func (l *lengthExtreme) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		b := v.Bytes.At(i)
		length := len(b)
		if !l.bytes {
			length = utf8.RuneCount(b)
		}
		l.take(int64(length), w)
	}
}

func (l *lengthExtreme) merge(o accumulator) {
	if other := o.(*lengthExtreme); other.n > 0 {
		l.take(other.length, other.n)
	}
}

func (l *lengthExtreme) value() (aggregateValue, bool) {
	return aggregateValue{exact: big.NewInt(l.length), text: strconv.FormatInt(l.length, 10), n: l.n}, l.n > 0
}

// zeroCount counts values that are 0, of either sign.
type zeroCount struct {
	col      *scan.Column
	n, zeros int64
}

func (z *zeroCount) add(v *scan.Values, n int, weights []int64) {
	class := classOf(z.col)
	for i := range n {
		w := weight(weights, i)
		z.n += w
		if class == floating && z.col.FloatAt(v, i) == 0 || class == signed && z.col.Int64At(v, i) == 0 ||
			(class == unsigned || class == wide) && exactAt(z.col, v, i).Sign() == 0 {
			z.zeros += w
		}
	}
}

func (z *zeroCount) merge(o accumulator) {
	other := o.(*zeroCount)
	z.n += other.n
	z.zeros += other.zeros
}

func (z *zeroCount) value() (aggregateValue, bool) {
	return aggregateValue{exact: big.NewInt(z.zeros), text: strconv.FormatInt(z.zeros, 10), n: z.n}, z.n > 0
}

// trueRate is the share of true among the values of a boolean column.
type trueRate struct{ n, yes int64 }

func (t *trueRate) add(v *scan.Values, n int, weights []int64) {
	for i, yes := range v.Bools[:n] {
		w := weight(weights, i)
		t.n += w
		if yes {
			t.yes += w
		}
	}
}

func (t *trueRate) merge(o accumulator) {
	other := o.(*trueRate)
	t.n += other.n
	t.yes += other.yes
}

// rateDigits, and six more, are kept of a rate that has no end.
const rateDigits = 12

func (t *trueRate) value() (aggregateValue, bool) {
	if t.n == 0 {
		return aggregateValue{}, false
	}
	share := big.NewRat(t.yes, t.n)
	return aggregateValue{ratio: share, text: percentText(t.yes, t.n), plain: ratioText(share, rateDigits), n: t.n}, true
}

// variety finds out whether there are two different values, as keys are compared:
// all NaNs are one.
type variety struct {
	col    *scan.Column
	n      int64
	first  []byte
	varies bool
	scrap  []byte
}

func (y *variety) add(v *scan.Values, n int, weights []int64) {
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		if y.n == 0 {
			y.first = appendKey(nil, y.col, v, i)
		} else if !y.varies {
			y.scrap = appendKey(y.scrap[:0], y.col, v, i)
			y.varies = !bytes.Equal(y.scrap, y.first)
		}
		y.n += w
	}
}

func (y *variety) merge(o accumulator) {
	other := o.(*variety)
	switch {
	case other.n == 0:
		return
	case y.n == 0:
		y.first, y.varies = other.first, other.varies
	default:
		y.varies = y.varies || other.varies || !bytes.Equal(y.first, other.first)
	}
	y.n += other.n
}

func (y *variety) value() (aggregateValue, bool) {
	v := aggregateValue{exact: new(big.Int), text: "one value", n: y.n}
	if y.varies {
		v.exact, v.text = big.NewInt(1), "several values"
	}
	return v, y.n > 0
}
