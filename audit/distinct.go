package audit

import (
	"context"
	"fmt"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// setKinds judge a column's values as a set.
func setKinds() []*kind {
	return []*kind{{
		name: "distinct_values", columns: eachColumn, where: true, list: "equals",
		params: []param{{name: "equals", read: values}, {name: "contains", read: values}},
		verify: verifyDistinct, bind: bindDistinctValues,
	}}
}

func verifyDistinct(c *Check) error {
	_, equals := c.Params["equals"]
	_, contains := c.Params["contains"]
	if equals == contains {
		return fmt.Errorf("takes either equals or contains")
	}
	return nil
}

// distinctValues finds out which of the listed values occur, and how many others
// do.
type distinctValues struct {
	*aggregate
	list  []literal
	exact bool // no other value may occur
}

// listed marks which of some values occurred.
type listed struct {
	tests   []predicate // by listed value: marks the others
	outside predicate   // marks what is not listed
	found   []bool
	n, more int64
	marks   []bool
}

func bindDistinctValues(c *Check, b *binding) (assertion, error) {
	d := &distinctValues{}
	d.list, d.exact = get[[]literal](c, "equals")
	if !d.exact {
		d.list, _ = get[[]literal](c, "contains")
	}
	var wrong error
	a, err := gather(c, b, func(leaf *scan.Column) accumulator {
		acc, err := newListed(b, leaf, d.list)
		if err != nil {
			wrong = err
			return nil
		}
		return acc
	})
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	d.aggregate = a
	return d, nil
}

func newListed(b *binding, leaf *scan.Column, list []literal) (*listed, error) {
	settled, err := b.literals(leaf, list)
	if err != nil {
		return nil, err
	}
	out := &listed{found: make([]bool, len(list))}
	if out.outside, err = oneOf(leaf, settled); err != nil {
		return nil, err
	}
	for _, lit := range settled {
		test, err := oneOf(leaf, []literal{lit})
		if err != nil {
			return nil, err
		}
		out.tests = append(out.tests, test)
	}
	return out, nil
}

func (l *listed) add(v *scan.Values, n int, weights []int64) {
	l.marks = resize(l.marks, n)
	l.outside(v, n, l.marks)
	for i, outside := range l.marks {
		w := weight(weights, i)
		l.n += w
		if outside {
			l.more += w
		}
	}
	for k, test := range l.tests {
		if l.found[k] {
			continue
		}
		test(v, n, l.marks)
		for i, other := range l.marks {
			if !other && weight(weights, i) > 0 {
				l.found[k] = true
				break
			}
		}
	}
}

func (l *listed) merge(o accumulator) {
	other := o.(*listed)
	l.n += other.n
	l.more += other.more
	for k, found := range other.found {
		l.found[k] = l.found[k] || found
	}
}

func (l *listed) value() (aggregateValue, bool) { return aggregateValue{n: l.n}, l.n > 0 }

func (d *distinctValues) finish(context.Context, *judgement) verdict {
	v := verdict{expected: "contains " + quoteList(d.list), grade: GradeScan}
	if d.exact {
		v.expected = "exactly " + quoteList(d.list)
	}
	l := d.total.(*listed)
	if l.n == 0 {
		v.noValue, v.observed = true, "no value"
		return v
	}
	var missing []string
	for k, found := range l.found {
		if !found {
			missing = append(missing, d.list[k].String())
		}
	}
	v.tested, v.holds = l.n, len(missing) == 0 && (!d.exact || l.more == 0)
	v.observed = fmt.Sprintf("%d of %d listed values", len(d.list)-len(missing), len(d.list))
	v.counts = []Count{{"missing_values", int64(len(missing))}, {"other_values", l.more}}
	if len(missing) > 0 {
		v.message = "missing: " + strings.Join(missing, ", ")
	}
	return v
}
