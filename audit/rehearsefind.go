package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// rehearsed are the kinds whose data is made up here.
func rehearsed() []*kind {
	return slices.Concat(countKinds(), schemaKinds(), nullKinds(), keyKinds(), valueKinds(), textKinds(),
		aggregateKinds(), formatKinds(), measureKinds(), quantileKinds(), sketchKinds(), metricKinds(),
		intervalKinds(), rangeKinds(), orderKinds(), setKinds(), freshnessKinds(), expressionKinds())
}

// decidable reports whether values at and between literals, alone, in pairs and
// repeated, are all that a check can tell apart.
func (a *attempt) decidable() bool {
	if a.check.Where != nil {
		if simple, err := a.check.Where.simple(); err != nil || !simple {
			return false
		}
	}
	switch a.check.Type {
	case "sum", "stddev", "metric", "complete_intervals":
		return false
	case "expression":
		cond, _ := get[*condition](a.check, "expr")
		simple, err := cond.simple()
		return err == nil && simple
	case "row_count", "file_count", "file_size", "count_distinct", "approx_count_distinct", "zero_count":
		return slices.Max(append(a.counts(), 0)) < maxMadeRows/2
	}
	return true
}

// counts are the whole numbers that a check compares with.
func (a *attempt) counts() (list []int) {
	for _, name := range []string{"min", "max", "equals"} {
		n, ok := asNumber(a.check.Params[name])
		switch {
		case !ok:
		case n.scale > 0 || !n.unscaled.IsInt64() || n.unscaled.Int64() > maxMadeRows:
			list = append(list, maxMadeRows)
		default:
			list = append(list, int(max(0, n.unscaled.Int64())))
		}
	}
	return list
}

// probe is the check as it counts violations: any of them fails it.
func (a *attempt) probe(samples int64) *Check {
	c := *a.check
	if c.FailIf != nil {
		c.FailIf, c.WarnIf = &threshold{limit: integer(0)}, nil
	}
	c.Samples, c.Redact = samples, nil
	return &c
}

// find returns rows that violate the rule, whatever its threshold.
func (a *attempt) find(ctx context.Context, rows [][]madeValue) ([][]madeValue, error) {
	switch a.check.Type {
	case "schema":
		return a.findSchema(ctx)
	case "file_count", "file_size":
		return a.findFiles(ctx)
	}
	probe := a.probe(1)
	if limit := a.check.FailIf; limit != nil && limit.reached(0, 1) {
		return rows[:1], nil // it always fails
	}
	if a.check.kind.rows {
		r, bad, err := a.violates(ctx, probe, rows, 1)
		if err != nil || r.Outcome == Error {
			return nil, err
		}
		if bad && len(r.Samples) > 0 {
			one := rows[r.Samples[0].Row : r.Samples[0].Row+1]
			if _, alone, err := a.violates(ctx, probe, one, 1); err != nil || alone {
				return one, err
			}
		}
	}
	kept, err := a.kept(ctx, rows)
	if err != nil {
		return nil, err
	}
	for _, table := range a.tables(kept) {
		if a.runs > maxRuns {
			return nil, nil
		}
		_, bad, err := a.violates(ctx, probe, table, 1)
		if err != nil || bad {
			return table, err
		}
	}
	return nil, nil
}

// kept are the rows that a `where` chooses.
func (a *attempt) kept(ctx context.Context, rows [][]madeValue) ([][]madeValue, error) {
	if a.check.Where == nil {
		return rows, nil
	}
	k, _ := lookup("expression")
	c := k.check()
	c.ID = "rows that where chooses"
	where := *a.check.Where
	where.text = "not coalesce((" + where.text + "), false)"
	c.Params["expr"], c.FailIf, c.Samples = &where, &threshold{limit: integer(0)}, int64(len(rows))
	r, _, err := a.violates(ctx, c, rows, 1)
	if err != nil {
		return nil, err
	}
	var list [][]madeValue
	for _, s := range r.Samples {
		list = append(list, rows[s.Row])
	}
	return list, nil
}

// tables are small ones to try: each row, each twice, pairs, all of them, and as
// many rows as the rule counts.
func (a *attempt) tables(rows [][]madeValue) (list [][][]madeValue) {
	few := rows[:min(len(rows), 300)]
	for i := range few {
		list = append(list, few[i:i+1], [][]madeValue{few[i], few[i]})
	}
	list = append(list, rows)
	for _, n := range a.counts() {
		for _, n := range []int{n - 1, n + 1} {
			if n < 0 || n > maxMadeRows {
				continue
			}
			if len(rows) > 0 {
				list = append(list, slices.Repeat(rows[:1], n))
			} else if len(a.columns) == 0 {
				list = append(list, make([][]madeValue, n))
			}
			if many := a.different(rows, n); many != nil {
				list = append(list, many)
			}
		}
	}
	if a.check.Type == "row_count" {
		list = append(list, nil)
	}
	few = rows[:min(len(rows), 25)]
	for i := range few {
		for j := range few {
			if i != j {
				list = append(list, [][]madeValue{few[i], few[j]})
			}
		}
	}
	return list
}

// different are n rows with as many values of the rule's one column, or nil.
func (a *attempt) different(rows [][]madeValue, n int) [][]madeValue {
	if len(rows) == 0 || len(a.check.Columns) != 1 {
		return nil
	}
	at := slices.IndexFunc(a.columns, func(c madeColumn) bool { return c.path == a.check.Columns[0] })
	if at < 0 {
		return nil
	}
	var list [][]madeValue
	for i := range n {
		row := slices.Clone(rows[0])
		if row[at] = valueNumber(a.columns[at].typ, i); row[at] == nil {
			return nil
		}
		list = append(list, row)
	}
	return list
}

// reach looks for how often rows have to stand there until the rule fails.
func (a *attempt) reach(ctx context.Context, rows [][]madeValue) (Rehearsal, error) {
	limit := a.check.FailIf
	times := []int{1, 2, 10, 100}
	if limit != nil && !limit.percent {
		if !limit.limit.unscaled.IsInt64() || limit.limit.unscaled.Int64() >= maxMadeRows/2 {
			return a.beyond(limit), nil
		}
		n := int(limit.limit.unscaled.Int64())
		times = append(times, n+1, 2*n+2)
	}
	for _, n := range times {
		if n*len(rows) > maxMadeRows {
			continue
		}
		made := int64(n * len(rows))
		if limit == nil { // found by the rule itself
			return Rehearsal{Outcome: RuleFails, Rows: made}, nil
		}
		_, bad, err := a.violates(ctx, a.check, rows, n)
		if err != nil {
			return Rehearsal{}, err
		}
		if bad {
			return Rehearsal{Outcome: RuleFails, Rows: made}, nil
		}
	}
	return Rehearsal{Outcome: RuleVacuous, Reason: fmt.Sprintf("%s is not reached where every row violates it", limit)}, nil
}

// beyond is the verdict on a threshold that made-up data does not reach.
func (a *attempt) beyond(limit *threshold) Rehearsal {
	if a.data != nil && limit.limit.cmp(integer(a.rows)) >= 0 {
		return Rehearsal{Outcome: RuleVacuous, Reason: fmt.Sprintf(
			"%s is never reached: the data has %s", limit, plural(a.rows, "row"))}
	}
	return Rehearsal{Outcome: RuleUntested, Reason: fmt.Sprintf("it fails at %s alone: such data is not made up", limit)}
}

// enough ends the reading of a sample.
type enough struct{}

func (enough) Error() string { return "enough rows" }

// read opens a file of the data, and keeps a few values of each plain column of
// the first.
func (s *stage) read(ctx context.Context, f *File) error {
	data, err := scan.Open(ctx, f.Source, scan.Options{BatchRows: 64})
	if err != nil {
		return err
	}
	s.rows += data.Footer().Rows
	if s.data != nil {
		return nil
	}
	s.data, s.sample = data, map[string][]madeValue{}
	var req scan.Request
	for i, c := range s.data.Columns() {
		if c.MaxRep == 0 && c.MaxDef <= 1 && made(c.Type) {
			req.Columns = append(req.Columns, scan.ColumnNeed{Column: i, Need: scan.ReadValues})
		}
	}
	if len(s.data.Footer().RowGroups) == 0 || len(req.Columns) == 0 {
		return nil
	}
	err = s.data.ScanRowGroup(ctx, 0, req, func(b *scan.Batch) error {
		for i := range b.Columns {
			s.keep(&b.Columns[i])
		}
		return enough{}
	})
	if errors.Is(err, enough{}) {
		return nil
	}
	return err
}

// keep takes the first few different values of a column.
func (s *stage) keep(vec *scan.Vector) {
	const few = 5
	seen := map[string]bool{}
	for i := 0; i < vec.Present && len(seen) < few; i++ {
		values, at := vec.Lookup(i)
		text := textAt(vec.Column, values, at)
		if seen[text] {
			continue
		}
		seen[text] = true
		if v := valueOf(vec.Column, values, at); v != nil {
			s.sample[vec.Column.Dotted] = append(s.sample[vec.Column.Dotted], v)
		}
	}
}
