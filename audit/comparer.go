package audit

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// comparer holds the min, max or equals of an aggregate in the units of its
// column.
type comparer struct {
	class    class
	text     string
	lo, hi   *big.Int // exact classes, inclusive
	flo, fhi *float64
	blo, bhi []byte
}

// newComparer reads the comparison of c for a column. Equality with a float
// needs a tolerance.
func newComparer(c *Check, b *binding, leaf *scan.Column) (comparer, error) {
	out := comparer{class: classOf(leaf), text: comparisonText(c)}
	l := limits{}
	for _, name := range []string{"min", "max", "equals"} {
		lit, ok := get[literal](c, name)
		if !ok {
			continue
		}
		lit, err := b.literal(leaf, lit)
		if err != nil {
			return out, err
		}
		if name != "max" {
			l.lo = &lit
		}
		if name != "min" {
			l.hi = &lit
		}
	}
	tolerance, tolerant := get[number](c, "tolerance")
	_, equals := c.Params["equals"]
	switch out.class {
	case signed, unsigned, wide:
		return out, out.exact(leaf, l, tolerance)
	case floating:
		if equals && !tolerant && c.Type == "sum" {
			return out, fmt.Errorf("column %s is %s, whose sum is inexact: equals needs a tolerance", leaf.Dotted, leaf.Type)
		}
		return out, out.float(floatColumn(c, leaf), l, tolerance)
	}
	if tolerant {
		return out, fmt.Errorf("column %s is %s, which has no tolerance", leaf.Dotted, leaf.Type)
	}
	return out, out.bytes(leaf, l)
}

func (o *comparer) exact(leaf *scan.Column, l limits, tolerance number) (err error) {
	if tolerance.unscaled != nil {
		if leaf.Type.Kind == scan.Date || leaf.Type.Kind == scan.Time || leaf.Type.Kind == scan.Timestamp {
			return fmt.Errorf("column %s is %s, which has no tolerance", leaf.Dotted, leaf.Type)
		}
		n, err := exactLiteral(leaf, *l.lo)
		if err != nil {
			return err
		}
		low := literal{kind: litNumber, num: n.sub(tolerance)}
		high := literal{kind: litNumber, num: n.sub(number{new(big.Int).Neg(tolerance.unscaled), tolerance.scale})}
		l.lo, l.hi = &low, &high
	}
	o.lo, o.hi, err = exactBounds(leaf, l)
	return err
}

// floatColumn is what the bounds are read as: a sum of singles is computed in
// doubles and compared as one.
func floatColumn(c *Check, leaf *scan.Column) *scan.Column {
	out := *leaf
	if c.Type == "sum" {
		out.Type = scan.Type{Kind: scan.Double}
	}
	return &out
}

func (o *comparer) float(leaf *scan.Column, l limits, tolerance number) error {
	by := 0.0
	if tolerance.unscaled != nil {
		by = tolerance.float64()
	}
	if l.lo != nil {
		f, err := floatLiteral(leaf, *l.lo)
		if err != nil {
			return err
		}
		f -= by
		o.flo = &f
	}
	if l.hi != nil {
		f, err := floatLiteral(leaf, *l.hi)
		if err != nil {
			return err
		}
		f += by
		o.fhi = &f
	}
	return nil
}

func (o *comparer) bytes(leaf *scan.Column, l limits) (err error) {
	if l.lo != nil {
		if o.blo, err = bytesLiteral(leaf, *l.lo); err != nil {
			return err
		}
	}
	if l.hi != nil {
		o.bhi, err = bytesLiteral(leaf, *l.hi)
	}
	return err
}

// holds compares; NaN holds nothing.
func (o *comparer) holds(v aggregateValue) bool {
	switch {
	case o.flo != nil || o.fhi != nil:
		return (o.flo == nil || v.f >= *o.flo) && (o.fhi == nil || v.f <= *o.fhi)
	case o.blo != nil || o.bhi != nil:
		return (o.blo == nil || bytes.Compare(v.b, o.blo) >= 0) && (o.bhi == nil || bytes.Compare(v.b, o.bhi) <= 0)
	}
	return (o.lo == nil || v.exact.Cmp(o.lo) >= 0) && (o.hi == nil || v.exact.Cmp(o.hi) <= 0)
}
