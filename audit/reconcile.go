package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

func reconcileKinds() []*kind {
	return []*kind{{
		name: "reconcile", aliases: []string{"aggregate_match"}, where: true,
		params: []param{
			{name: "with", required: true, read: referenceTo([]string{refControl, refInputRows, refPartition, refTable, refFiles})},
			{name: "metrics", fallback: []reckonedMetric{{kind: "row_count"}}, read: reckonedMetrics},
			{name: "by", read: columnNames},
			{name: "tolerance", read: difference},
		},
		verify: verifyReconcile, bind: bindReconcile,
	}}
}

func reckonedMetrics(r *reader, n *yaml.Node, name string) (any, bool) {
	before := len(r.problems)
	var list []reckonedMetric
	for _, item := range r.items(n, name) {
		text, ok := r.fixed(item, name)
		if !ok {
			continue
		}
		m, ok := parseReckoned(text)
		switch {
		case !ok:
			r.failHint(item, suggestion(m.kind, []string{"row_count", "sum", "count_distinct"}),
				"a metric is row_count, sum(COLUMN) or count_distinct(COLUMN), not %q", text)
		case slices.Contains(list, m):
			r.fail(item, "%s stands twice", m)
		}
		list = append(list, m)
	}
	if len(list) == 0 && len(r.problems) == before {
		r.fail(n, "%s is empty", name)
	}
	return list, len(r.problems) == before
}

// MarshalText writes a metric as it is read.
func (m reckonedMetric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

func verifyReconcile(c *Check) error {
	with, _ := get[reference](c, "with")
	metrics, _ := get[[]reckonedMetric](c, "metrics")
	by, _ := get[[]string](c, "by")
	if with.kind == refInputRows {
		switch {
		case len(metrics) != 1 || metrics[0].kind != "row_count":
			return errors.New("metrics: inputs are counted, nothing else is known of them")
		case len(by) > 0:
			return errors.New("by: inputs are counted as a whole")
		}
	}
	c.Columns = by
	return nil
}

// reconcile compares totals, by group where that is asked for, with those of
// another source. What one side alone has is a difference.
type reconcile struct {
	check     *Check
	with      reference
	by        []string
	metrics   []reckonedMetric
	tolerance number
	reckoner
	leaves []*scan.Column // of by, then of metrics; nil for row_count

	ours    map[string]*reckoned
	rows    int64
	failure error
}

// maxGroups bounds the groups of a side, whatever the memory.
const (
	maxGroups = 1 << 20
	groupCost = 1 << 10 // bytes, about
)

func bindReconcile(c *Check, b *binding) (assertion, error) {
	r := &reconcile{check: c, ours: map[string]*reckoned{}, tolerance: integer(0)}
	r.with, _ = get[reference](c, "with")
	r.by, _ = get[[]string](c, "by")
	r.metrics, _ = get[[]reckonedMetric](c, "metrics")
	tolerance, tolerant := get[number](c, "tolerance")
	if tolerant {
		r.tolerance = tolerance
	}
	r.reckoner = reckoner{metrics: r.metrics, names: r.by, sets: make([]*tally, len(r.metrics)), limit: maxGroups}
	for k, m := range r.metrics {
		if m.kind == "count_distinct" {
			r.sets[k] = &tally{}
		}
	}
	b.need(needFooters)
	if b.fileless = len(b.files) == 0; b.fileless {
		return r, nil
	}
	leaves, err := r.place(&r.reckoner, b.column)
	if r.leaves = leaves; err != nil {
		return nil, err
	}
	if len(r.reckoner.by) == 0 && !slices.ContainsFunc(r.columns, func(slot int) bool { return slot >= 0 }) {
		// Rows are counted by whatever column comes first.
		var first string
		if first, err = countingColumn(b.files[0]); err == nil {
			_, _, err = b.column(first, false)
		}
	}
	for k, leaf := range leaves[len(r.by):] {
		if leaf != nil && r.metrics[k].kind == "sum" && classOf(leaf) == floating && !tolerant {
			return nil, fmt.Errorf("column %s is %s, whose sum is inexact: give a tolerance", leaf.Dotted, leaf.Type)
		}
	}
	return r, err
}

// place finds the columns of groups and metrics.
func (r *reconcile) place(into *reckoner, column func(string, bool) (int, *scan.Column, error)) ([]*scan.Column, error) {
	var leaves []*scan.Column
	into.by, into.columns = nil, nil
	find := func(path string) (int, error) {
		slot, leaf, err := column(path, true)
		if err == nil && leaf.MaxRep > 0 {
			err = fmt.Errorf("column %s has several values a row and cannot be reconciled", path)
		}
		leaves = append(leaves, leaf)
		return slot, err
	}
	for _, path := range r.by {
		slot, err := find(path)
		if err != nil {
			return nil, err
		}
		into.by = append(into.by, slot)
	}
	for _, m := range r.metrics {
		if m.column == "" {
			into.columns, leaves = append(into.columns, -1), append(leaves, nil)
			continue
		}
		slot, err := find(m.column)
		if err != nil {
			return nil, err
		}
		if leaf := leaves[len(leaves)-1]; m.kind == "sum" && emptySum(leaf) == nil {
			return nil, fmt.Errorf("column %s is %s, which has no sum", leaf.Dotted, leaf.Type)
		}
		into.columns = append(into.columns, slot)
	}
	return leaves, nil
}

// plan implements keeper.
func (r *reconcile) plan(units []*unit) int64 {
	sets := int64(len(slices.DeleteFunc(slices.Clone(r.sets), func(t *tally) bool { return t == nil })))
	return 2*rowsOf(units)*tallyCost*sets + 1<<20
}

// limit implements keeper.
func (r *reconcile) limit(memory memoryShare) {
	r.reckoner.limit = int(min(maxGroups, max(1024, memory.bytes/4/groupCost)))
	for _, set := range r.sets {
		if set != nil {
			set.limit(memory.bytes/2/int64(len(r.sets)), memory.states)
		}
	}
}

func (r *reconcile) open(u *unit) state { return r.reckoner.open(u, u.index) }

func (r *reconcile) merge(st state) {
	s := st.(*reckonerState)
	r.rows += s.rows
	if r.failure == nil {
		r.failure = r.reckoner.merge(r.ours, s)
	}
}

// theirs is the other side: what it says of a group, or that it has none.
type theirs struct {
	groups map[string][]amount
	values map[string][]Value
	at     map[string]Sample // where a group stands
}

func (r *reconcile) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{grade: GradeScan, tested: r.rows, expected: r.expected()}
	err := r.failure
	if len(r.by) == 0 && err == nil && len(r.ours) == 0 {
		// No row: the counts are 0, the sums are nothing.
		r.ours[""] = &reckoned{sums: make([]accumulator, len(r.metrics)), distinct: make([]int64, len(r.metrics)), place: nowhere}
	}
	var other *theirs
	if err == nil {
		other, err = r.otherSide(ctx, p)
	}
	if errors.Is(err, errGroups) {
		err = dataFailure("%s has more than %d groups: reconcile by columns with fewer values", strings.Join(r.by, ", "), r.reckoner.limit)
	}
	if err != nil {
		return verdict{failure: p.publishedFailure(err)}
	}
	return r.compare(p, v, other)
}

func (r *reconcile) expected() string {
	var names []string
	for _, m := range r.metrics {
		names = append(names, m.String())
	}
	text := strings.Join(names, ", ") + " as in " + r.with.String()
	if len(r.by) > 0 {
		text += " by " + strings.Join(r.by, ", ")
	}
	if r.tolerance.unscaled.Sign() > 0 {
		text += " ± " + r.tolerance.String()
	}
	return text
}

// compare goes over the groups of both sides in order.
func (r *reconcile) compare(p *judgement, v verdict, other *theirs) verdict {
	keys := slices.Collect(maps.Keys(r.ours))
	for key := range other.groups {
		if r.ours[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var differ, ours, there int64
	var totals []string
	for _, key := range keys {
		mine, known := r.ours[key], other.groups[key]
		wrong, shown := false, []Value{}
		for k, m := range r.metrics {
			a, b := amount{text: "nothing"}, amount{text: "nothing"}
			if mine != nil {
				a = mine.amountOf(k, m)
			}
			if known != nil {
				b = known[k]
			}
			text := a.text + " against " + b.text
			totals = append(totals, m.String()+" "+text)
			if !a.agrees(b, r.tolerance) {
				wrong = true
				shown = append(shown, Value{Column: m.String(), Text: text})
			}
		}
		switch {
		case mine == nil:
			there++
		case known == nil:
			ours++
		case wrong:
			differ++
		}
		if wrong && len(r.by) > 0 && int64(len(v.samples)) < r.check.Samples {
			v.samples = append(v.samples, r.sample(p, other, key, shown))
		}
	}
	v.violations = differ + ours + there
	v.holds = v.violations == 0 && len(keys) > 0
	v.observed = strings.Join(totals, ", ")
	if len(r.by) > 0 {
		v.observed = fmt.Sprintf("%d of %d groups differ", v.violations, len(keys))
	}
	v.counts = []Count{{"groups_differ", differ}, {"groups_here_alone", ours}, {"groups_there_alone", there}}
	if len(keys) == 0 {
		v.message = "neither side has a group: nothing was compared"
	} else if !v.holds && strings.Contains(v.observed, "nothing against nothing") {
		v.message = "neither side has a value: nothing was compared"
	}
	return v
}

// sample is where a group that differs stands, with both values.
func (r *reconcile) sample(p *judgement, other *theirs, key string, shown []Value) Sample {
	out, values := other.at[key], other.values[key]
	if mine := r.ours[key]; mine != nil {
		values = mine.values
		if rows := p.rowsAt([]uint64{mine.place}, 0); len(rows) > 0 {
			out = Sample{File: rows[0].unit.file.key(), Row: rows[0].row}
		}
	}
	out.Values = append(slices.Clone(values), shown...)
	for i := range out.Values {
		if redacted(r.check, out.Values[i].Column) {
			out.Values[i] = Value{Column: out.Values[i].Column, Text: redactedText}
		}
	}
	return out
}
