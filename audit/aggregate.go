package audit

import (
	"context"
	"fmt"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// aggregateKinds compare one value that is computed over a column. NULLs are
// left out; without a value left they fail.
func aggregateKinds() []*kind {
	one := func(name string, read func(*reader, *yaml.Node, string) (any, bool), tolerance bool,
		bind func(*Check, *binding) (assertion, error)) *kind {
		k := &kind{
			name: name, columns: eachColumn, scalar: "equals", params: comparison(read),
			verify: verifyAggregate, bind: bind, where: true,
		}
		if tolerance {
			k.params = append(k.params, param{name: "tolerance", read: difference})
		}
		return k
	}
	return []*kind{
		one("sum", bound, true, bindSum),
		one("min", bound, true, bindExtreme),
		one("max", bound, true, bindExtreme),
		one("count_distinct", count, false, bindDistinct),
	}
}

func verifyAggregate(c *Check) error {
	if err := oneComparison(c); err != nil {
		return err
	}
	if _, ok := get[number](c, "tolerance"); ok {
		if _, equals := c.Params["equals"]; !equals {
			return fmt.Errorf("tolerance needs equals")
		}
	}
	return nil
}

// aggregate is an assertion that keeps one value per row group and one in all.
type aggregate struct {
	check *Check
	slot  int
	leaf  *scan.Column
	limit comparer
	total accumulator
	empty func(c *scan.Column) accumulator
}

// accumulator gathers present values.
type accumulator interface {
	// add takes n values; where weights is set, value i counts weights[i] times.
	add(v *scan.Values, n int, weights []int64)
	// merge takes in what a later row group gathered.
	merge(o accumulator)
	// value is the result; ok is false when nothing was gathered.
	value() (v aggregateValue, ok bool)
}

// aggregateValue is a computed value: a float, bytes, an exact number of the
// column's stored units, or a ratio.
type aggregateValue struct {
	exact *big.Int
	ratio *big.Rat
	f     float64
	b     []byte
	text  string
	plain string // the text as a number, where that differs
	n     int64  // how many values it was computed over
}

type aggregateState struct {
	acc     accumulator
	slot    int
	weights []int64
}

// bindAggregate prepares an aggregate that is compared in the units of its column.
func bindAggregate(c *Check, b *binding, empty func(*scan.Column) accumulator) (*aggregate, error) {
	a, err := gather(c, b, empty)
	if err != nil {
		return nil, err
	}
	a.limit, err = newComparer(c, b, a.leaf)
	return a, err
}

// gather prepares an aggregate that somebody else compares.
func gather(c *Check, b *binding, empty func(*scan.Column) accumulator) (*aggregate, error) {
	slot, leaf, err := b.column(c.Columns[0], true)
	if err != nil {
		return nil, err
	}
	a := &aggregate{check: c, slot: slot, leaf: leaf, empty: empty, total: empty(leaf)}
	if a.total == nil {
		return nil, fmt.Errorf("column %s is %s, which has no %s", leaf.Dotted, leaf.Type, c.Type)
	}
	return a, nil
}

func (a *aggregate) open(u *unit) state {
	return &aggregateState{acc: a.empty(u.file.leaves[a.slot]), slot: a.slot}
}

func (s *aggregateState) add(v *view) {
	vec := v.cols[s.slot]
	if vec.Dict == nil {
		s.acc.add(&vec.Values, vec.Present, nil)
		return
	}
	if cap(s.weights) < vec.Dict.Len {
		s.weights = make([]int64, vec.Dict.Len)
	}
	weights := s.weights[:vec.Dict.Len]
	clear(weights)
	for _, at := range vec.Indices {
		weights[at]++
	}
	s.acc.add(&vec.Dict.Values, vec.Dict.Len, weights)
}

func (a *aggregate) merge(s state) { a.total.merge(s.(*aggregateState).acc) }

func (a *aggregate) finish(context.Context, *judgement) verdict {
	v := verdict{expected: a.limit.text, grade: GradeScan, counts: []Count{}}
	got, ok := a.total.value()
	if !ok {
		v.noValue, v.observed = true, "no value"
		return v
	}
	v.tested, v.observed = got.n, got.text
	v.holds = a.limit.holds(got)
	v.metrics = []manifest.Metric{metric(a.check.Type, a.check.Columns[0], got.text)}
	return v
}
