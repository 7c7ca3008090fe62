package audit

import (
	"context"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// nullKinds judge which values are missing.
func nullKinds() []*kind {
	return []*kind{
		{
			name: "not_null", columns: eachColumn, rows: true, list: "columns", scalar: "columns",
			params: []param{{name: "missing_values", read: values}, {name: "nan_as_null", read: yesNo}},
			bind:   bindNotNull,
		},
		{
			name: "null_rate", columns: eachColumn, where: true,
			params: minMax(share), verify: oneComparison, bind: bindNullRate,
		},
		{
			name: "not_all_null", columns: eachColumn, where: true, list: "columns", scalar: "columns",
			bind: bindNotAllNull,
		},
	}
}

func bindNotNull(c *Check, b *binding) (assertion, error) {
	missing, listed := get[[]literal](c, "missing_values")
	nan, _ := get[bool](c, "nan_as_null")
	var compile func(*scan.Column) (predicate, error)
	if listed || nan {
		compile = func(leaf *scan.Column) (predicate, error) {
			p := func(*scan.Values, int, []bool) {}
			if nan {
				p = isNaN(leaf)
			}
			if !listed {
				return p, nil
			}
			set, err := b.literals(leaf, missing)
			if err != nil {
				return nil, err
			}
			in, err := oneOf(leaf, set)
			if err != nil {
				return nil, err
			}
			return either(p, not(in)), nil
		}
	}
	r, err := bindRows(c, b, compile)
	if err != nil {
		return nil, err
	}
	r.failNull = true
	r.expected = "no NULL"
	if listed {
		r.expected += ", none of " + quoteList(missing)
	}
	if nan {
		r.expected += ", no NaN"
	}
	return r, nil
}

// nullShare compares how many values are NULL: rows, or the elements of a
// repeated path.
type nullShare struct {
	*rowCheck
	verdict func(nulls, all int64) verdict
}

func bindNullShare(c *Check, b *binding, judge func(nulls, all int64) verdict) (assertion, error) {
	r, err := bindRows(c, b, nil)
	if err != nil {
		return nil, err
	}
	r.failNull = true
	return &nullShare{r, judge}, nil
}

func (s *nullShare) finish(_ context.Context, p *judgement) verdict {
	nulls, all := s.total.bad, s.total.rows
	if p.repeated(s.slot) {
		nulls, all = s.total.nullElements, s.total.elements
	}
	if all == 0 {
		return verdict{noValue: true, observed: "no value", grade: GradeLevels, counts: []Count{}}
	}
	v := s.verdict(nulls, all)
	v.grade, v.tested, v.counts = GradeLevels, all, []Count{{"nulls", nulls}}
	if s.total.trusted {
		v.grade = GradeFooter
	}
	return v
}

func bindNullRate(c *Check, b *binding) (assertion, error) {
	within := func(nulls, all int64, limit number, order int) bool {
		// nulls / all against limit, by integers.
		left := new(big.Int).Mul(big.NewInt(nulls), pow10(limit.scale))
		return left.Cmp(new(big.Int).Mul(big.NewInt(all), limit.unscaled))*order >= 0
	}
	return bindNullShare(c, b, func(nulls, all int64) verdict {
		v := verdict{holds: true, observed: percentText(nulls, all), expected: shareText(c)}
		if lo, ok := get[number](c, "min"); ok {
			v.holds = within(nulls, all, lo, 1)
		}
		if hi, ok := get[number](c, "max"); ok {
			v.holds = v.holds && within(nulls, all, hi, -1)
		}
		return v
	})
}

func shareText(c *Check) string {
	text := ""
	for _, p := range [][2]string{{"min", ">= "}, {"max", "<= "}} {
		limit, ok := get[number](c, p[0])
		if !ok {
			continue
		}
		if text != "" {
			text += " and "
		}
		percent := number{new(big.Int).Mul(limit.unscaled, big.NewInt(100)), limit.scale}.reduced()
		text += p[1] + percent.String() + "%"
	}
	return text
}

func bindNotAllNull(c *Check, b *binding) (assertion, error) {
	return bindNullShare(c, b, func(nulls, all int64) verdict {
		return verdict{holds: nulls < all, observed: percentText(nulls, all) + " NULL", expected: "a value that is not NULL"}
	})
}
