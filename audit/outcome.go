package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/wap-cli/wap/manifest"
)

// finish asks every assertion for its verdict.
func (p *judgement) finish(ctx context.Context) ([]Result, []manifest.Metric) {
	var results []Result
	metrics := []manifest.Metric{metric("row_count", "", strconv.FormatInt(p.rows, 10))}
	// In mode append a metric is the partition's only when it spans old and new.
	appended := p.part.Mode == manifest.ModeAppend
	if appended {
		metrics = nil
	}
	for i, s := range p.slots {
		if !appended && s.key == nil && !p.repeated(i) && p.wasRead(i) && s.typ.IsLeaf() {
			metrics = append(metrics, metric("null_count", s.path, strconv.FormatInt(p.nulls[i], 10)))
		}
	}
	for _, t := range p.trials {
		v := verdict{failure: t.failure, grade: GradeFooter}
		switch {
		case t.failure != nil:
		case t.vacuous:
			v.counted, v.noValue = t.check.kind.rows, !t.check.kind.rows
			v.observed = "no file"
		default:
			v = t.assertion.finish(ctx, p)
		}
		if !appended || t.spansLive {
			metrics = append(metrics, v.metrics...)
		}
		results = append(results, p.result(t.check, v))
	}
	p.attribute(ctx, results)
	if len(p.stats) > 0 {
		results = append(results, p.badStatistics())
	}
	slices.SortFunc(metrics, func(a, b manifest.Metric) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Name, b.Name))
	})
	if metrics == nil {
		metrics = []manifest.Metric{}
	}
	return results, slices.CompactFunc(metrics, func(a, b manifest.Metric) bool {
		return a.Column == b.Column && a.Name == b.Name
	})
}

// wasRead reports whether every row of a slot was read: a column that broke
// somewhere took all its readers out.
func (p *judgement) wasRead(slot int) bool {
	return slices.ContainsFunc(p.trials, func(t *trial) bool {
		return t.failure == nil && !t.vacuous && slices.Contains(t.wants, slot)
	})
}

// badStatistics warns of a footer that disagrees with its data.
func (p *judgement) badStatistics() Result {
	return Result{
		ID: "bad_statistics", Type: "bad_statistics", Partition: p.part.Path, Columns: []string{},
		Outcome: Warn, Severity: string(SeverityWarn), Observed: plural(len(p.stats), "disagreement"),
		Expected: "footers agree with the data", RowsTotal: p.rows, RowsTested: p.rows,
		Violations: int64(len(p.stats)), Grade: GradeScan, Samples: []Sample{}, Counts: []Count{}, Attribution: []string{},
		Message: p.stats[0],
	}
}

// result turns a verdict into what is reported.
func (p *judgement) result(c *Check, v verdict) Result {
	r := Result{
		ID: c.ID, Type: c.Type, Partition: p.part.Path, Columns: c.Columns, Severity: string(c.Severity),
		Observed: v.observed, Expected: v.expected, RowsTotal: p.rows, RowsTested: v.tested,
		Violations: v.violations, Grade: v.grade, Samples: v.samples, Counts: v.counts, Attribution: []string{}, Message: v.message,
		PluginStderr: v.stderr, Error: v.failure, storeSamples: p.config.storeSamples,
	}
	if r.Samples == nil {
		r.Samples = []Sample{}
	}
	if r.Counts == nil {
		r.Counts = []Count{}
	}
	if v.rows > 0 {
		r.RowsTotal = v.rows
	}
	fails := Fail
	if c.Severity == SeverityWarn {
		fails = Warn
	}
	switch {
	case v.failure != nil:
		r.Outcome, r.Message, r.Observed = Error, v.failure.Message, ""
	case v.counted:
		r.count(c, v, fails)
	case v.noValue:
		r.Outcome, r.Vacuous, r.Message = fails, true, "no row was left to compute it over"
	case v.holds:
		r.Outcome = Pass
	case v.skipped:
		r.Outcome = Skipped
	case v.warning:
		r.Outcome = Warn
	default:
		r.Outcome = fails
	}
	return r
}

// count applies thresholds: fail first, then warn.
func (r *Result) count(c *Check, v verdict, fails Outcome) {
	if r.Observed == "" {
		r.Observed = fmt.Sprintf("%d of %d rows (%s)", v.violations, v.tested, percentText(v.violations, v.tested))
	}
	if c.FailIf.percent || c.FailIf.limit.unscaled.Sign() != 0 || c.FailIf.orEqual {
		r.Expected = fmt.Sprintf("%s; fails at %s", r.Expected, c.FailIf)
	}
	if c.WarnIf != nil {
		r.Expected = fmt.Sprintf("%s; warns at %s", r.Expected, c.WarnIf)
	}
	switch {
	case v.tested == 0 && v.violations == 0:
		r.Vacuous, r.Outcome, r.Message = true, c.OnNoRows, "no row was left to test"
		r.Observed = "no row to test"
		if r.Outcome == Fail {
			r.Outcome = fails
		}
	case c.FailIf.reached(v.violations, v.tested):
		r.Outcome = fails
	case c.WarnIf != nil && c.WarnIf.reached(v.violations, v.tested):
		r.Outcome = Warn
	default:
		r.Outcome = Pass
	}
}

// rank orders outcomes from best to worst; skipped does not weigh on a whole.
func (o Outcome) rank() int {
	return max(0, slices.Index([]Outcome{Pass, Warn, Fail, Error}, o))
}

// settle derives the report's outcome from its results. What was waived weighs
// as a warning.
func (r *Report) settle() {
	r.Outcome = Pass
	for _, a := range r.Assertions {
		outcome := a.Outcome
		if a.Waived != "" {
			outcome = Warn
		}
		if outcome.rank() > r.Outcome.rank() {
			r.Outcome = outcome
		}
	}
}

// Blocking are the results that close the gate: failures and errors that nobody
// waived.
func (r *Report) Blocking() []Result {
	var list []Result
	for _, a := range r.Assertions {
		if (a.Outcome == Fail || a.Outcome == Error) && a.Waived == "" {
			list = append(list, a)
		}
	}
	return list
}

// OutsideOnly reports whether the gate is closed, and by errors with an outside
// cause alone: the same audit may pass later.
func (r *Report) OutsideOnly() bool {
	blocking := r.Blocking()
	for _, a := range blocking {
		if a.Outcome != Error || a.Error.Cause != CauseOutside {
			return false
		}
	}
	return len(blocking) > 0
}

// Waive marks the failures of the assertion id, on whatever partition, as let
// pass for a reason, and returns how many it marked. Errors cannot be waived: of
// an assertion that was not evaluated, nobody knows what would be let pass.
func (r *Report) Waive(id, reason string) (n int) {
	for i := range r.Assertions {
		if a := &r.Assertions[i]; a.ID == id && a.Outcome == Fail {
			a.Waived = reason
			n++
		}
	}
	r.settle()
	return n
}

// WithoutValues is the report as it is stored or written to a file: samples keep
// their places and lose their values, as errors do their details, unless the
// checks say store_samples.
func (r *Report) WithoutValues() *Report {
	out := *r
	out.Assertions = slices.Clone(r.Assertions)
	for i := range out.Assertions {
		a := &out.Assertions[i]
		if a.storeSamples {
			continue
		}
		if a.Error != nil {
			failure := *a.Error
			failure.Detail = ""
			a.Error = &failure
		}
		a.Samples = slices.Clone(a.Samples)
		for j := range a.Samples {
			a.Samples[j].Values = []Value{}
		}
	}
	return &out
}
