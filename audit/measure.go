package audit

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// measureKinds compare a value that is no value of the column itself: a mean, a
// length, a share. NULLs are left out; without a value left they fail.
func measureKinds() []*kind {
	one := func(name string, params []param, bind func(*Check, *binding) (assertion, error)) *kind {
		k := &kind{name: name, columns: eachColumn, where: true, params: params, verify: verifyAggregate, bind: bind}
		if len(params) > 2 {
			k.scalar = "equals"
		}
		return k
	}
	exact := append(comparison(numeric), param{name: "tolerance", read: difference})
	lengths := append(comparison(count), param{name: "unit", fallback: "characters", read: word("characters", "bytes")})
	return []*kind{
		one("avg", exact, bindMean),
		one("stddev", exact, bindDeviation),
		one("min_length", lengths, bindLengthExtreme),
		one("max_length", lengths, bindLengthExtreme),
		one("zero_count", comparison(count), bindZeroCount),
		one("true_rate", minMax(share), bindTrueRate),
		{
			name: "not_constant", columns: eachColumn, where: true, list: "columns", scalar: "columns",
			bind: bindNotConstant,
		},
	}
}

// numeric reads a number.
func numeric(r *reader, n *yaml.Node, name string) (any, bool) {
	lit, ok := r.scalar(n)
	if lit = lit.plain(); ok && lit.kind != litNumber {
		r.fail(n, "%s is a number, not %s", name, describe(n))
		return nil, false
	}
	return lit.num, ok
}

// measured is an aggregate whose value is compared by a rule of its own.
type measured struct {
	*aggregate
	name  string // of its metric
	text  string
	holds func(v aggregateValue) bool
}

func bindMeasure(c *Check, b *binding, empty func(*scan.Column) accumulator, holds func(aggregateValue) bool) (*measured, error) {
	a, err := gather(c, b, empty)
	if err != nil {
		return nil, err
	}
	return &measured{a, c.Type, comparisonText(c), holds}, nil
}

func (m *measured) finish(context.Context, *judgement) verdict {
	v := verdict{expected: m.text, grade: GradeScan, counts: []Count{}}
	got, ok := m.total.value()
	if !ok {
		v.noValue, v.observed = true, "no value"
		return v
	}
	v.tested, v.observed, v.holds = got.n, got.text, m.holds(got)
	v.metrics = []manifest.Metric{metric(m.name, m.check.Columns[0], cmp.Or(got.plain, got.text))}
	return v
}

// integerWithin compares an exact value with the bounds of a check.
func integerWithin(c *Check) func(aggregateValue) bool {
	lo, hi := integerBounds(c)
	return func(v aggregateValue) bool {
		return v.exact.Cmp(big.NewInt(lo)) >= 0 && v.exact.Cmp(big.NewInt(hi)) <= 0
	}
}

// numberBounds are min and max, or equals less and plus its tolerance.
func numberBounds(c *Check) (lo, hi *number) {
	side := func(name string) *number {
		if n, ok := get[number](c, name); ok {
			return &n
		}
		return nil
	}
	equals := side("equals")
	if equals == nil {
		return side("min"), side("max")
	}
	by := integer(0)
	if tolerance := side("tolerance"); tolerance != nil {
		by = *tolerance
	}
	low, high := equals.sub(by), equals.sub(number{new(big.Int).Neg(by.unscaled), by.scale})
	return &low, &high
}

// ratioWithin compares a ratio exactly, a float by IEEE's rules.
func ratioWithin(c *Check) func(aggregateValue) bool {
	lo, hi := numberBounds(c)
	return func(v aggregateValue) bool {
		if v.ratio == nil {
			return (lo == nil || v.f >= lo.float64()) && (hi == nil || v.f <= hi.float64())
		}
		return (lo == nil || v.ratio.Cmp(lo.rat()) >= 0) && (hi == nil || v.ratio.Cmp(hi.rat()) <= 0)
	}
}

// rootWithin compares the root of a ratio without computing it.
func rootWithin(c *Check) func(aggregateValue) bool {
	lo, hi := numberBounds(c)
	square := func(n *number) *big.Rat { return new(big.Rat).Mul(n.rat(), n.rat()) }
	return func(v aggregateValue) bool {
		if v.ratio == nil {
			return (lo == nil || v.f >= lo.float64()) && (hi == nil || v.f <= hi.float64())
		}
		return (lo == nil || lo.unscaled.Sign() < 0 || v.ratio.Cmp(square(lo)) >= 0) &&
			(hi == nil || hi.unscaled.Sign() >= 0 && v.ratio.Cmp(square(hi)) <= 0)
	}
}

func (n number) rat() *big.Rat { return new(big.Rat).SetFrac(n.unscaled, pow10(n.scale)) }

// ratioText writes a ratio in full where that is short, else with six digits
// more than the column has.
func ratioText(r *big.Rat, scale int) string {
	if n, exact := r.FloatPrec(); exact && n <= scale+6 {
		return r.FloatString(n)
	}
	return r.FloatString(scale + 6)
}

// wantTolerance refuses to compare an inexact value for equality.
func wantTolerance(c *Check, m *measured) error {
	_, equals := c.Params["equals"]
	_, tolerance := c.Params["tolerance"]
	if equals && !tolerance && classOf(m.leaf) == floating {
		return fmt.Errorf("column %s is %s, whose %s is inexact: equals needs a tolerance", m.leaf.Dotted, m.leaf.Type, c.Type)
	}
	return nil
}

// isNumeric reports whether a column holds numbers to compute with.
func isNumeric(c *scan.Column) bool {
	switch c.Type.Kind {
	case scan.Date, scan.Time, scan.Timestamp:
		return false
	}
	switch classOf(c) {
	case signed, unsigned, wide, floating:
		return true
	}
	return false
}

func bindMean(c *Check, b *binding) (assertion, error) {
	m, err := bindMeasure(c, b, newMean, ratioWithin(c))
	if err != nil {
		return nil, err
	}
	return m, wantTolerance(c, m)
}

func bindDeviation(c *Check, b *binding) (assertion, error) {
	m, err := bindMeasure(c, b, newDeviation, rootWithin(c))
	if err != nil {
		return nil, err
	}
	return m, wantTolerance(c, m)
}

func bindLengthExtreme(c *Check, b *binding) (assertion, error) {
	unit, _ := get[string](c, "unit")
	empty := func(leaf *scan.Column) accumulator {
		if unit == "bytes" && classOf(leaf) != texts || unit != "bytes" && wantText(leaf) != nil {
			return nil
		}
		return &lengthExtreme{greatest: c.Type == "max_length", bytes: unit == "bytes"}
	}
	m, err := bindMeasure(c, b, empty, integerWithin(c))
	if err != nil {
		return nil, err
	}
	m.text += " " + unit
	if unit == "bytes" {
		m.name += "(bytes)"
	}
	return m, nil
}

func bindZeroCount(c *Check, b *binding) (assertion, error) {
	empty := func(leaf *scan.Column) accumulator {
		if !isNumeric(leaf) {
			return nil
		}
		return &zeroCount{col: leaf}
	}
	return bindMeasure(c, b, empty, integerWithin(c))
}

func bindTrueRate(c *Check, b *binding) (assertion, error) {
	empty := func(leaf *scan.Column) accumulator {
		if classOf(leaf) != boolean {
			return nil
		}
		return &trueRate{}
	}
	m, err := bindMeasure(c, b, empty, ratioWithin(c))
	if err != nil {
		return nil, err
	}
	m.text = shareText(c)
	return m, nil
}

func bindNotConstant(c *Check, b *binding) (assertion, error) {
	empty := func(leaf *scan.Column) accumulator { return &variety{col: leaf} }
	m, err := bindMeasure(c, b, empty, func(v aggregateValue) bool { return v.exact.Sign() > 0 })
	if err != nil {
		return nil, err
	}
	m.text = "two different values or more"
	return &constancy{m}, nil
}

// constancy has no number to record.
type constancy struct{ *measured }

func (c *constancy) finish(ctx context.Context, p *judgement) verdict {
	v := c.measured.finish(ctx, p)
	v.metrics = nil
	return v
}
