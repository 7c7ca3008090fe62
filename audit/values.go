package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// skipOrFail are the words of `nulls` for assertions that skip NULL.
func skipOrFail() []string { return []string{"skip", "fail"} }

// valueKinds judge single values.
func valueKinds() []*kind {
	return []*kind{
		{
			name: "accepted_values", columns: eachColumn, rows: true, nulls: skipOrFail(), list: "values",
			params: []param{{name: "values", required: true, read: values}},
			bind:   func(c *Check, b *binding) (assertion, error) { return bindSet(c, b, true) },
		},
		{
			name: "not_accepted_values", columns: eachColumn, rows: true, nulls: skipOrFail(), list: "values",
			params: []param{{name: "values", required: true, read: values}},
			bind:   func(c *Check, b *binding) (assertion, error) { return bindSet(c, b, false) },
		},
		{
			name: "accepted_range", columns: eachColumn, rows: true, nulls: skipOrFail(),
			params: []param{
				{name: "min", read: bound}, {name: "max", read: bound},
				{name: "exclusive_min", read: bound}, {name: "exclusive_max", read: bound},
			},
			verify: verifyRange, bind: bindRange,
		},
		{
			name: "finite", columns: eachColumn, rows: true, nulls: skipOrFail(), list: "columns", scalar: "columns",
			bind: func(c *Check, b *binding) (assertion, error) {
				r, err := bindRows(c, b, isFinite)
				if err != nil {
					return nil, err
				}
				r.expected = "no NaN and no infinity"
				return r, nil
			},
		},
	}
}

func textKinds() []*kind {
	return []*kind{
		{
			name: "regex", columns: eachColumn, rows: true, nulls: skipOrFail(), scalar: "pattern",
			params: []param{
				{name: "pattern", required: true, read: pattern},
				{name: "match", fallback: "full", read: word("full", "partial")},
			},
			bind: bindRegex,
		},
		{
			name: "length", columns: eachColumn, rows: true, nulls: skipOrFail(), scalar: "equals",
			params: append(comparison(count),
				param{name: "unit", fallback: "characters", read: word("characters", "bytes")}),
			verify: oneComparison, bind: bindLength,
		},
	}
}

func bindSet(c *Check, b *binding, accept bool) (assertion, error) {
	list, _ := get[[]literal](c, "values")
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
		set, err := b.literals(leaf, list)
		if err != nil {
			return nil, err
		}
		p, err := oneOf(leaf, set)
		if err != nil || accept {
			return p, err
		}
		return not(p), nil
	})
	if err != nil {
		return nil, err
	}
	r.expected = "one of " + quoteList(list)
	if !accept {
		r.expected = "none of " + quoteList(list)
	}
	return r, nil
}

// rangeOf reads the four parameters of accepted_range.
func rangeOf(c *Check) (l limits, err error) {
	side := func(plain, strict string) (*literal, bool, error) {
		at, given := get[literal](c, plain)
		other, strictly := get[literal](c, strict)
		switch {
		case !strictly || other.kind == litBool && !other.yes:
			if given {
				return &at, false, nil
			}
			return nil, false, nil
		case other.kind == litBool && given:
			return &at, true, nil
		case other.kind == litBool:
			return nil, false, fmt.Errorf("%s: true needs %s", strict, plain)
		case given:
			return nil, false, fmt.Errorf("%s and %s are two bounds on one side", plain, strict)
		}
		return &other, true, nil
	}
	if l.lo, l.exclusiveLo, err = side("min", "exclusive_min"); err != nil {
		return l, err
	}
	l.hi, l.exclusiveHi, err = side("max", "exclusive_max")
	return l, err
}

func verifyRange(c *Check) error {
	l, err := rangeOf(c)
	switch {
	case err != nil:
		return err
	case l.lo == nil && l.hi == nil:
		return fmt.Errorf("has no bound, give min or max")
	case l.lo == nil || l.hi == nil:
		return nil
	}
	order := -1
	lo, low := asNumber(*l.lo)
	hi, high := asNumber(*l.hi)
	switch {
	case low && high:
		order = lo.cmp(hi)
	case l.lo.kind == litText && l.hi.kind == litText && plainOrder(l.lo.text) && plainOrder(l.hi.text):
		order = strings.Compare(l.lo.text, l.hi.text)
	}
	if order > 0 || order == 0 && (l.exclusiveLo || l.exclusiveHi) {
		return fmt.Errorf("nothing lies between min %s and max %s", l.lo, l.hi)
	}
	return nil
}

// plainOrder reports whether a text compares like its bytes in every column it
// fits: instants with offsets do not, nor does what a partition fills in.
func plainOrder(text string) bool {
	return !strings.Contains(text, partitionMark) && !strings.ContainsAny(text, ":")
}

func bindRange(c *Check, b *binding) (assertion, error) {
	l, err := rangeOf(c)
	if err != nil {
		return nil, err
	}
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
		own := l
		for _, end := range []**literal{&own.lo, &own.hi} {
			if *end == nil {
				continue
			}
			lit, err := b.literal(leaf, **end)
			if err != nil {
				return nil, err
			}
			*end = &lit
		}
		return inRange(leaf, own)
	})
	if err != nil {
		return nil, err
	}
	r.expected = l.String()
	return r, nil
}

func (l limits) String() string {
	var parts []string
	if l.lo != nil {
		op := ">="
		if l.exclusiveLo {
			op = ">"
		}
		parts = append(parts, op+" "+l.lo.String())
	}
	if l.hi != nil {
		op := "<="
		if l.exclusiveHi {
			op = "<"
		}
		parts = append(parts, op+" "+l.hi.String())
	}
	return strings.Join(parts, " and ")
}

func bindRegex(c *Check, b *binding) (assertion, error) {
	text, _ := get[string](c, "pattern")
	mode, _ := get[string](c, "match")
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) { return matching(leaf, text, mode) })
	if err != nil {
		return nil, err
	}
	r.expected = "matches " + text
	if mode == "partial" {
		r.expected = "contains " + text
	}
	return r, nil
}

func bindLength(c *Check, b *binding) (assertion, error) {
	unit, _ := get[string](c, "unit")
	lo, hi := integerBounds(c)
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) { return lengthBetween(leaf, unit, lo, hi) })
	if err != nil {
		return nil, err
	}
	r.expected = fmt.Sprintf("length in %s %s", unit, comparisonText(c))
	return r, nil
}

// integerBounds are min and max, or equals as both, of a comparison with
// integers.
func integerBounds(c *Check) (lo, hi int64) {
	if v, ok := get[int64](c, "equals"); ok {
		return v, v
	}
	lo, hi = math.MinInt64, math.MaxInt64
	if v, ok := get[int64](c, "min"); ok {
		lo = v
	}
	if v, ok := get[int64](c, "max"); ok {
		hi = v
	}
	return lo, hi
}

// comparisonText writes a comparison: `= 3`, `>= 1`, `>= 1 and <= 5`.
func comparisonText(c *Check) string {
	write := func(name, op string) string {
		switch v := c.Params[name].(type) {
		case nil:
			return ""
		case int64:
			return fmt.Sprintf("%s %d", op, v)
		case number:
			return op + " " + v.String()
		case literal:
			return op + " " + v.String()
		}
		return ""
	}
	var parts []string
	for _, p := range [][2]string{{"equals", "="}, {"min", ">="}, {"max", "<="}} {
		if text := write(p[0], p[1]); text != "" {
			parts = append(parts, text)
		}
	}
	text := strings.Join(parts, " and ")
	if v, ok := get[number](c, "tolerance"); ok {
		text += " ± " + v.String()
	}
	return text
}
