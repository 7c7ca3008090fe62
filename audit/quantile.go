package audit

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// quantileKinds compare a value that so much of the others lie below. They are
// SQL's PERCENTILE_CONT: between two values they interpolate.
func quantileKinds() []*kind {
	exact := append(comparison(numeric), param{name: "tolerance", read: difference})
	return []*kind{
		{
			name: "median", columns: eachColumn, where: true, scalar: "equals", params: exact,
			verify: verifyAggregate,
			bind: func(c *Check, b *binding) (assertion, error) {
				return bindQuantile(c, b, number{big.NewInt(5), 1})
			},
		},
		{
			name: "quantile", columns: eachColumn, where: true,
			params: append([]param{{name: "q", required: true, read: share}}, exact...),
			verify: verifyAggregate,
			bind: func(c *Check, b *binding) (assertion, error) {
				q, _ := get[number](c, "q")
				return bindQuantile(c, b, q)
			},
		},
	}
}

// quantile sorts all values, in a temporary file where they are many.
type quantile struct {
	*measured
	store *quantileStore
}

// quantileStore is what the accumulators of one assertion share.
type quantileStore struct {
	q      *big.Rat
	file   runFile
	memory int64 // of what is merged
	unit   int64 // of a row group
}

// tallied is a value with how often it stands there.
type tallied struct {
	value ordered
	n     int64
}

func (t tallied) compare(o tallied) int                    { return t.value.compare(o.value) }
func (t tallied) with(o tallied) (joined tallied, ok bool) { t.n += o.n; return t, true }
func (t tallied) put(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(t.value.put(dst), uint64(t.n))
}
func (t tallied) get(src []byte) tallied {
	return tallied{t.value.get(src), int64(binary.BigEndian.Uint64(src[16:]))}
}

// ranked gathers values for their order.
type ranked struct {
	col   *scan.Column
	store *quantileStore
	runs  *runs[tallied]
	n     int64
	nan   bool
	// wrong is the data's fault, failure the temporary file's.
	wrong, failure error
}

func bindQuantile(c *Check, b *binding, q number) (assertion, error) {
	store := &quantileStore{q: q.rat()}
	m, err := bindMeasure(c, b, func(leaf *scan.Column) accumulator {
		if !isNumeric(leaf) || !hasOrdered(leaf) {
			return nil
		}
		return &ranked{col: leaf, store: store}
	}, ratioWithin(c))
	if err != nil {
		return nil, err
	}
	if share, given := get[number](c, "q"); given {
		m.name = "quantile(" + share.String() + ")"
	}
	return &quantile{m, store}, wantTolerance(c, m)
}

var _ keeper = (*quantile)(nil)

// plan implements keeper.
func (q *quantile) plan(units []*unit) int64 { return 2 * rowsOf(units) * recordBytes }

// limit implements keeper: a half for what is merged, the rest for the row groups
// that are being read.
func (q *quantile) limit(memory memoryShare) {
	q.store.memory = memory.bytes / 2
	q.store.unit = min(q.store.memory/max(8, memory.states), maxUnitMemory)
}

// recordBytes is what a row takes, about, where all are kept.
const recordBytes = 64

// rowsOf is how many rows units are said to have; below what overflows.
func rowsOf(units []*unit) (rows int64) {
	for _, u := range units {
		rows = min(rows+min(max(u.rows, 0), 1<<40), 1<<40)
	}
	return rows
}

// maxUnitMemory is what one row group may hold before its values are sorted.
const maxUnitMemory = 16 << 20

func (r *ranked) open() *runs[tallied] {
	if r.runs == nil {
		r.runs = newRuns[tallied](&r.store.file, r.store.unit)
	}
	return r.runs
}

func (r *ranked) add(v *scan.Values, n int, weights []int64) {
	to := r.open()
	for i := range n {
		w := weight(weights, i)
		if w == 0 {
			continue
		}
		r.n += w
		value, ok := orderedAt(r.col, v, i)
		switch {
		case ok:
			to.add(tallied{value, w})
		case classOf(r.col) == floating:
			r.nan = true
		case r.wrong == nil:
			r.wrong = fmt.Errorf("column %s holds a number of more than 128 bits, which has no place in an order here", r.col.Dotted)
		}
	}
}

func (r *ranked) merge(o accumulator) {
	other := o.(*ranked)
	if r.runs == nil {
		r.runs = newRuns[tallied](&r.store.file, r.store.memory)
	}
	r.runs.take(other.open())
	r.n += other.n
	r.nan = r.nan || other.nan
	if r.wrong == nil {
		r.wrong = other.wrong
	}
}

// value finds the two values around position q·(n−1) and interpolates: exactly
// for exact columns, in doubles for floats. A NaN among them leaves no order.
func (r *ranked) value() (aggregateValue, bool) {
	v := aggregateValue{n: r.n}
	if r.n == 0 || r.wrong != nil {
		return v, false
	}
	if r.nan {
		v.f, v.text = math.NaN(), "NaN"
		return v, true
	}
	at := new(big.Rat).Mul(r.store.q, new(big.Rat).SetInt64(r.n-1))
	whole, rest := new(big.Int).QuoRem(at.Num(), at.Denom(), new(big.Int))
	part := new(big.Rat).SetFrac(rest, at.Denom())
	low, high, err := r.around(whole.Int64(), part.Sign() > 0)
	if err != nil {
		r.failure = err
		return v, false
	}
	if classOf(r.col) == floating {
		v.f = low.float()
		if part.Sign() > 0 && low != high {
			share, _ := part.Float64()
			v.f = v.f*(1-share) + high.float()*share // cannot overflow
		}
		v.text = floatText(v.f, scan.Double)
		return v, true
	}
	unit := pow10(scaleOf(r.col))
	a, b := new(big.Rat).SetFrac(low.exact(), unit), new(big.Rat).SetFrac(high.exact(), unit)
	v.ratio = a.Add(a, part.Mul(part, b.Sub(b, a)))
	v.text = ratioText(v.ratio, scaleOf(r.col))
	return v, true
}

// around returns the value at a position, counted from 0, and the one after it
// where that is wanted, else the same again.
func (r *ranked) around(at int64, after bool) (low, high ordered, err error) {
	last := at
	if after {
		last++
	}
	seen := int64(0)
	err = r.runs.each(func(t tallied) bool {
		if seen <= at {
			low = t.value
		}
		seen += t.n
		high = t.value
		return seen <= last
	})
	return low, high, err
}

func (q *quantile) finish(ctx context.Context, p *judgement) verdict {
	v := q.measured.finish(ctx, p)
	total := q.total.(*ranked)
	if err := cmp.Or(total.failure, q.store.file.close()); err != nil {
		return verdict{failure: p.failureOf(err)}
	}
	if total.wrong != nil {
		return verdict{failure: &Failure{Cause: CauseData, Message: total.wrong.Error(), Column: q.check.Columns[0]}}
	}
	return v
}
