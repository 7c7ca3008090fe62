package audit

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/wap-cli/wap/audit/scan"
)

// freshnessKinds compare a column's newest value with now.
func freshnessKinds() []*kind {
	return []*kind{{
		name: "freshness", aliases: []string{"recency"}, columns: eachColumn, where: true,
		params: []param{
			{name: "max_age", required: true, read: wait},
			{name: "max_future", fallback: "5m0s", read: wait},
		},
		bind: bindFreshness,
	}}
}

// freshness holds while the newest value is not older than its age, and not
// further in the future than clocks differ.
type freshness struct {
	*aggregate
	age, future time.Duration
	zone        *time.Location
}

// bindFreshness: an instant needs nothing else, a local time and a date the
// timezone that the checks file names.
func bindFreshness(c *Check, b *binding) (assertion, error) {
	a, err := gather(c, b, func(leaf *scan.Column) accumulator {
		if leaf.Type.Kind != scan.Timestamp && leaf.Type.Kind != scan.Date {
			return nil
		}
		return newExtreme(leaf, true)
	})
	if err != nil {
		return nil, err
	}
	f := &freshness{aggregate: a, zone: b.zone}
	if !a.leaf.Type.UTC && f.zone == nil {
		return nil, fmt.Errorf("column %s is %s, which is compared with now by the file's `timezone`: it names none", a.leaf.Dotted, a.leaf.Type)
	}
	for name, to := range map[string]*time.Duration{"max_age": &f.age, "max_future": &f.future} {
		text, _ := get[string](c, name)
		if *to, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *freshness) finish(_ context.Context, p *judgement) verdict {
	now := p.audit.opts.Now
	v := verdict{
		expected: fmt.Sprintf("at most %s before and %s after %s", f.age, f.future, now.UTC().Format(time.RFC3339)),
		grade:    GradeScan, counts: []Count{},
	}
	got, ok := f.total.value()
	if !ok {
		v.noValue, v.observed = true, "no value"
		return v
	}
	v.tested, v.observed = got.n, got.text
	newest, ok := f.instant(got.exact)
	if !ok {
		v.message = "the newest value lies outside the calendar"
		return v
	}
	age := now.Sub(newest)
	switch {
	case newest.After(now.Add(f.future)):
		v.message = fmt.Sprintf("the newest value lies %s in the future", (-age).Round(time.Second))
	case newest.Before(now.Add(-f.age)):
		v.message = fmt.Sprintf("the newest value is %s old", age.Round(time.Second))
	default:
		v.holds = true
	}
	return v
}

// instant is a stored value as a time: a date is its midnight.
func (f *freshness) instant(n *big.Int) (time.Time, bool) {
	seconds, rest := new(big.Int).DivMod(n, pow10(scaleOf(f.leaf)), new(big.Int))
	if f.leaf.Type.Kind == scan.Date {
		seconds.Mul(seconds, big.NewInt(86400))
	}
	if !seconds.IsInt64() || !inCalendar(seconds.Int64()) {
		return time.Time{}, false
	}
	at := time.Unix(seconds.Int64(), rest.Int64()*pow10(9-scaleOf(f.leaf)).Int64()).UTC()
	if !f.leaf.Type.UTC {
		at = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), f.zone)
	}
	return at, true
}
