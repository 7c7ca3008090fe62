package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// baselineParams are those of assertions that compare with published states.
func baselineParams() []param {
	return []param{
		{name: "axis", fallback: AxisPartitions, read: word(AxisPartitions, AxisHistory)},
		{name: "on_no_baseline", fallback: "warn", read: word("warn", "skip", "fail")},
	}
}

// publishedKinds compare a partition with other data.
func publishedKinds() []*kind {
	return slices.Concat(changeKinds(), relationshipKinds(), matchKinds(),
		schemaUnchangedKinds(), groupKinds(), reconcileKinds())
}

func changeKinds() []*kind {
	return []*kind{{
		name: "change",
		params: append(baselineParams(),
			param{name: "metric", required: true, read: metricName},
			param{name: "column", read: columnName},
			param{name: "baseline", fallback: baselineRule{kind: "previous", n: 1}, read: baselineOf},
			param{name: "max_drop", read: percentage},
			param{name: "max_rise", read: percentage},
			param{name: "min_baseline", read: difference},
		),
		verify: verifyChange, bind: bindChange,
	}}
}

// countMetrics are metrics without a column.
func countMetrics() []string { return []string{"row_count", "file_count", "bytes"} }

// columnMetrics are metrics of one column.
func columnMetrics() []string {
	names := []string{"null_count"}
	for _, k := range slices.Concat(aggregateKinds(), measureKinds(), quantileKinds(), sketchKinds()) {
		needs := slices.ContainsFunc(k.params, func(p param) bool { return p.required })
		if k.name != "not_constant" && !needs {
			names = append(names, k.name)
		}
	}
	return names
}

func metricName(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	known := append(countMetrics(), columnMetrics()...)
	if !slices.Contains(known, text) {
		hint := suggestion(text, known)
		if hint == "" {
			hint = "one of " + strings.Join(known, ", ")
		}
		r.failHint(n, hint, "unknown metric %q", text)
		return nil, false
	}
	return text, true
}

func columnName(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if ok && text == "" {
		r.fail(n, "%s is empty", name)
	}
	return text, ok && text != ""
}

// percentage reads `N%` or a fraction, which may be above the whole.
func percentage(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	v, ok := parseShare(text)
	if !ok {
		r.fail(n, "%s is a share like 30%% or 0.3, not %q", name, text)
		return nil, false
	}
	return v, true
}

func verifyChange(c *Check) error {
	metric, _ := get[string](c, "metric")
	column, has := get[string](c, "column")
	rule, _ := get[baselineRule](c, "baseline")
	axis, _ := get[string](c, "axis")
	drop, drops := get[number](c, "max_drop")
	_, rises := get[number](c, "max_rise")
	switch {
	case !drops && !rises:
		return errors.New("bounds nothing, give max_drop or max_rise")
	case drops && drop.cmp(integer(1)) > 0:
		return fmt.Errorf("max_drop %s is more than all there was", shareOf(drop))
	case slices.Contains(countMetrics(), metric) && has:
		return fmt.Errorf("metric %s has no column", metric)
	case !slices.Contains(countMetrics(), metric) && !has:
		return fmt.Errorf("metric %s needs column", metric)
	case axis == AxisHistory && rule.kind == "same_weekday":
		return errors.New("axis history has no weekdays: it is about one partition")
	}
	if has {
		c.Columns = []string{column}
	}
	return nil
}

// change compares a metric of the partition, as readers will see it, with what
// published manifests say of others.
type change struct {
	assertion // computes the metric; nil: a count
	check     *Check
	metric    string
	column    string
}

func bindChange(c *Check, b *binding) (assertion, error) {
	ch := &change{check: c, assertion: footing(nil)}
	ch.metric, _ = get[string](c, "metric")
	ch.column, _ = get[string](c, "column")
	if axis, _ := get[string](c, "axis"); axis == AxisPartitions && len(b.part.Keys) > 0 && DateKey(b.part.Partition) < 0 {
		return nil, fmt.Errorf("no key of the partition is a date to order others by: `axis: history` compares with its own earlier states")
	}
	if ch.column == "" {
		b.need(needFooters)
		return ch, nil
	}
	// What readers will see is old and new rows together.
	inner, err := bindMetric(ch.metric, ch.column, b)
	if d, ok := inner.(*distinctCount); ok {
		d.spansLive = true
	}
	ch.assertion, b.spansLive = inner, true
	return ch, err
}

// bindMetric prepares what computes a metric without comparing it.
func bindMetric(name, column string, b *binding) (assertion, error) {
	if name == "null_count" {
		k, _ := lookup("not_null")
		c := k.check()
		c.Columns = []string{column}
		return bindNullShare(c, b, func(nulls, _ int64) verdict {
			return verdict{metrics: []manifest.Metric{metric(name, column, strconv.FormatInt(nulls, 10))}}
		})
	}
	k, _ := lookup(name)
	c := k.check()
	c.Columns = []string{column}
	return k.bind(c, b)
}

// plan implements keeper.
func (ch *change) plan(units []*unit) int64 {
	if k, ok := ch.assertion.(keeper); ok {
		return k.plan(units)
	}
	return 0
}

// limit implements keeper.
func (ch *change) limit(memory memoryShare) {
	if k, ok := ch.assertion.(keeper); ok {
		k.limit(memory)
	}
}

func (ch *change) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{expected: ch.expected(), grade: GradeFooter, tested: p.rows, counts: []Count{}}
	if lost := p.unopenedLive(); ch.metric == "row_count" && lost != nil {
		return verdict{failure: notEvaluated(lost)}
	}
	now := ch.count(p)
	if ch.column != "" {
		inner := ch.assertion.finish(ctx, p)
		if inner.failure != nil {
			return inner
		}
		v.grade, v.metrics = inner.grade, inner.metrics
		if inner.noValue || len(inner.metrics) == 0 {
			v.noValue, v.observed = true, "no value"
			return v
		}
		now = inner.metrics[0].Value
	}
	value, err := parseNumber(now)
	if err != nil {
		// NaN satisfies nothing; a text or a time has no percentage.
		v.observed, v.message = now, fmt.Sprintf("%s is %s, of which there is no percentage", ch.name(), now)
		return v
	}
	states, failure := ch.states(ctx, p)
	if failure != nil {
		return verdict{failure: failure}
	}
	base, why := ch.baseline(states)
	if base == nil {
		return withoutBaseline(ch.check, v, now, why)
	}
	return ch.judge(v, value, base, states)
}

// count is a metric that needs no column, of old and new files together.
func (ch *change) count(p *judgement) string {
	var n int64
	for _, f := range slices.Concat(p.files, p.live) {
		switch {
		case ch.metric == "file_count":
			n++
		case ch.metric == "bytes":
			n += f.Source.Size()
		case f.scan != nil:
			n += f.scan.Footer().Rows
		}
	}
	return strconv.FormatInt(n, 10)
}

// unopenedLive is the failure of the first live file that did not open.
func (p *judgement) unopenedLive() *Failure {
	for _, f := range p.live {
		if f.failure != nil {
			return f.failure
		}
	}
	return nil
}

func (ch *change) states(ctx context.Context, p *judgement) ([]*manifest.Manifest, *Failure) {
	rule, _ := get[baselineRule](ch.check, "baseline")
	axis, _ := get[string](ch.check, "axis")
	states, err := p.audit.published().Baseline(ctx, p.part, Baseline{
		Axis: axis, Limit: rule.n, Weekday: rule.kind == "same_weekday",
	})
	if err != nil {
		return nil, p.publishedFailure(err)
	}
	return states, nil
}

// baseline is the median of what states say, or nil and why there is none.
func (ch *change) baseline(states []*manifest.Manifest) (*big.Rat, string) {
	var values []*big.Rat
	for _, m := range states {
		if n, err := parseNumber(ch.of(m)); err == nil {
			values = append(values, n.rat())
		}
	}
	switch {
	case len(states) == 0:
		return nil, "nothing is published to compare with"
	case len(values) == 0:
		return nil, fmt.Sprintf("%s, published before, carries no %s; this one will", states[0].Partition.Path, ch.name())
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	base := values[len(values)/2]
	if len(values)%2 == 0 {
		base = new(big.Rat).Add(base, values[len(values)/2-1])
		base.Quo(base, new(big.Rat).SetInt64(2))
	}
	if least, ok := get[number](ch.check, "min_baseline"); ok && new(big.Rat).Abs(base).Cmp(least.rat()) < 0 {
		return nil, fmt.Sprintf("the baseline %s is below min_baseline %s", ratText(base), least)
	}
	return base, ""
}

// of is a state's value of the metric, empty where it has none.
func (ch *change) of(m *manifest.Manifest) string {
	switch ch.metric {
	case "row_count":
		return strconv.FormatInt(m.Totals.Rows, 10)
	case "file_count":
		return strconv.FormatInt(m.Totals.Files, 10)
	case "bytes":
		return strconv.FormatInt(m.Totals.Bytes, 10)
	}
	for _, x := range m.Metrics {
		if x.Name == ch.metric && x.Column == ch.column {
			return x.Value
		}
	}
	return ""
}

// withoutBaseline is the verdict that on_no_baseline asks for.
func withoutBaseline(c *Check, v verdict, now, why string) verdict {
	v.observed, v.message = now+", no baseline", why
	switch what, _ := get[string](c, "on_no_baseline"); what {
	case "warn":
		v.warning = true
	case "skip":
		v.skipped = true
	}
	return v
}

// judge compares by cross-multiplied exact numbers: a drop of base − value
// against max_drop · |base|. From a baseline of 0 every rise is infinite.
func (ch *change) judge(v verdict, value number, base *big.Rat, states []*manifest.Manifest) verdict {
	size, moved := new(big.Rat).Abs(base), new(big.Rat).Sub(value.rat(), base)
	within := func(name string, by *big.Rat) bool {
		limit, ok := get[number](ch.check, name)
		return !ok || by.Sign() <= 0 || by.Cmp(new(big.Rat).Mul(limit.rat(), size)) <= 0
	}
	v.holds = within("max_rise", moved) && within("max_drop", new(big.Rat).Neg(moved))
	v.observed = fmt.Sprintf("%s against %s: %s", value, ratText(base), movedText(moved, size))
	v.counts = append(v.counts, Count{"states_compared", int64(len(states))})
	if !v.holds {
		var paths []string
		for _, m := range states {
			paths = append(paths, fmt.Sprintf("%s in %s of run %s", ch.of(m), m.Partition.Path, m.Run))
		}
		v.message = ch.name() + " was " + strings.Join(paths, ", ")
	}
	return v
}

func movedText(moved, size *big.Rat) string {
	switch {
	case moved.Sign() == 0:
		return "no change"
	case size.Sign() == 0:
		return "from 0"
	}
	share := new(big.Rat).Quo(moved, size)
	share.Mul(share, new(big.Rat).SetInt64(100))
	text := ratText(share)
	if moved.Sign() > 0 {
		text = "+" + text
	}
	return text + "%"
}

// ratText is a ratio with as many digits as tell it from 0, and no zeros at its
// end.
func ratText(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	for digits := 2; ; digits += 2 {
		text := r.FloatString(digits)
		if strings.Trim(text, "-0.") != "" {
			return strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
	}
}

func (ch *change) name() string {
	if ch.column == "" {
		return ch.metric
	}
	return ch.metric + "(" + ch.column + ")"
}

func (ch *change) expected() string {
	var parts []string
	if n, ok := get[number](ch.check, "max_drop"); ok {
		parts = append(parts, "at most "+shareOf(n)+" less")
	}
	if n, ok := get[number](ch.check, "max_rise"); ok {
		parts = append(parts, "at most "+shareOf(n)+" more")
	}
	rule, _ := get[baselineRule](ch.check, "baseline")
	axis, _ := get[string](ch.check, "axis")
	what := map[string]string{AxisPartitions: "partition", AxisHistory: "state"}[axis]
	of := fmt.Sprintf("%s of earlier %ss", rule, what)
	if rule.kind == "previous" {
		of = "the previous " + what
	}
	return fmt.Sprintf("%s: %s than %s", ch.name(), strings.Join(parts, " and "), of)
}
