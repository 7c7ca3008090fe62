package audit

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// attribute says whose fault failures are: where surplus rows come from, and
// which sums and counts they explain. What it cannot read it leaves unsaid: the
// results stand without it.
func (p *judgement) attribute(ctx context.Context, results []Result) {
	for i, t := range p.trials {
		k, ok := t.assertion.(*keyCheck)
		if !ok || results[i].Outcome != Fail && results[i].Outcome != Warn || k.found.rows == 0 {
			continue
		}
		b := &blame{p: p, key: &results[i], found: &k.found}
		b.judge(ctx, results)
		return // others repeat what the first key says
	}
	p.blameTasks(ctx, results)
}

// blame is what is known about the surplus rows of a key.
type blame struct {
	p     *judgement
	key   *Result
	found *surplus
	files []*openFile // they are all that these hold; empty when they are not
	whose string      // "task 3's contribution, written twice"
}

func (b *blame) judge(ctx context.Context, results []Result) {
	rows := plural(b.found.rows, "surplus row")
	b.files, _ = b.found.copies.whole()
	switch live := b.liveRows(); {
	case live > 0 && live == b.found.rows && b.onlyOfLive():
		b.whose = "the live partition's rows: appended instead of replaced"
	case len(b.files) > 0:
		b.whose = b.contribution(ctx)
	}
	what := []string{rows}
	for i, t := range b.p.trials {
		what = append(what, b.explain(ctx, t, &results[i])...)
	}
	if b.whose != "" {
		b.key.Attribution = append(b.key.Attribution, strings.Join(what, " and ")+" are exactly "+b.whose)
	}
	b.key.Attribution = append(b.key.Attribution, b.found.copies.places()...)
}

func (b *blame) liveRows() (n int64) {
	for _, f := range b.p.live {
		if f.scan != nil {
			n += f.scan.Footer().Rows
		}
	}
	return n
}

func (b *blame) onlyOfLive() bool {
	return !slices.ContainsFunc(b.found.copies.list(), func(pair filePair) bool { return !pair.first.live })
}

// explain tells of a count or a sum that misses by exactly the surplus rows, and
// returns what they add to it.
func (b *blame) explain(ctx context.Context, t *trial, r *Result) []string {
	if len(b.files) == 0 || r.Outcome != Fail && r.Outcome != Warn || t.check.Where != nil {
		return nil
	}
	miss, ok := missOf(t.check, r)
	if !ok {
		return nil
	}
	why := b.whose
	if why == "" {
		why = "the surplus rows of " + b.key.ID
	}
	switch t.check.Type {
	case "row_count":
		if miss.Cmp(new(big.Rat).SetInt64(b.found.rows)) == 0 {
			r.Attribution = append(r.Attribution, fmt.Sprintf("too many by %d: exactly %s", b.found.rows, why))
		}
	case "sum":
		a, ok := t.assertion.(*aggregate)
		if !ok {
			return nil
		}
		sum, ok := b.sum(ctx, a)
		if !ok || miss.Cmp(sum) != 0 {
			return nil
		}
		text := ratioText(sum, scaleOf(a.leaf))
		r.Attribution = append(r.Attribution, fmt.Sprintf("too much by %s: exactly %s", text, why))
		return []string{text + " " + t.check.Columns[0]}
	}
	return nil
}

// missOf is by how much an exact value lies above the one that it should equal.
func missOf(c *Check, r *Result) (*big.Rat, bool) {
	var want *big.Rat
	switch v := c.Params["equals"].(type) {
	case int64:
		want = new(big.Rat).SetInt64(v)
	case literal:
		if v = v.plain(); v.kind != litNumber {
			return nil, false
		}
		want = v.num.rat()
	default:
		return nil, false
	}
	got, err := parseNumber(r.Observed)
	if err != nil {
		return nil, false
	}
	return new(big.Rat).Sub(got.rat(), want), true
}

// sum adds a column up over the files of the surplus rows.
func (b *blame) sum(ctx context.Context, a *aggregate) (*big.Rat, bool) {
	total := a.empty(a.leaf)
	if _, exact := total.(*exactSum); !exact {
		return nil, false
	}
	units := slices.DeleteFunc(b.p.units(), func(u *unit) bool { return !slices.Contains(b.files, u.file) })
	err := b.p.rescan(ctx, units, []int{a.slot}, pass{
		open: a.open,
		take: func(s state) { total.merge(s.(*aggregateState).acc) },
	})
	v, ok := total.value()
	if err != nil || !ok {
		return nil, false
	}
	return new(big.Rat).SetFrac(v.exact, pow10(scaleOf(a.leaf))), true
}

// contribution says whose output the files are: of one task, by who wrote them,
// or by a column of integers that has one value there.
func (b *blame) contribution(ctx context.Context) string {
	task := b.files[0].Task
	same := !slices.ContainsFunc(b.files, func(f *openFile) bool { return f.Task != task })
	if task != "" && same {
		all := int64(0)
		for _, f := range b.p.files {
			if f.Task == task && f.scan != nil {
				all += f.scan.Footer().Rows
			}
		}
		return b.times("task "+task, all)
	}
	name, all := b.column(ctx)
	if name == "" {
		return "whole files, written again"
	}
	return b.times(name, all)
}

// times says how often a contribution of so many rows in all was written.
func (b *blame) times(name string, all int64) string {
	surplus, once := b.found.rows, all-b.found.rows
	switch {
	case once > 0 && surplus%once == 0 && surplus/once == 1:
		return name + "'s contribution, written twice"
	case once > 0 && surplus%once == 0:
		return fmt.Sprintf("%s's contribution, written %d times", name, surplus/once+1)
	}
	return fmt.Sprintf("whole files of %s, written again: %d of its %s", name, surplus, plural(once, "row"))
}

// column finds a stored column of integers that has one value in the files of the
// surplus rows, and others elsewhere. all is how many rows have the value.
func (b *blame) column(ctx context.Context) (name string, all int64) {
	paths := b.p.integerColumns(b.key.Columns)
	slices.SortStableFunc(paths, func(a, b string) int { return likeTask(b) - likeTask(a) })
	for _, path := range paths {
		here, err := sameIn(ctx, b.files, path, nil)
		if err != nil || here.same == 0 || here.other > 0 {
			continue
		}
		everywhere, err := sameIn(ctx, b.p.files, path, &here.value)
		exactly := everywhere.same == 2*b.found.rows
		if err != nil || everywhere.other == 0 || !exactly && likeTask(path) == 0 {
			continue
		}
		return fmt.Sprintf("%s %d", path, here.value), everywhere.same
	}
	return "", 0
}

// likeTask is 1 for the name of a column that says who wrote a row.
func likeTask(path string) int {
	name := strings.ToLower(path)
	words := strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
	if strings.Contains(name, "task") || slices.Contains(words, "part") || slices.Contains(words, "shard") {
		return 1
	}
	return 0
}

// integerColumns are plain columns of integers that may be named with a value,
// without keys and hidden ones.
func (p *judgement) integerColumns(key []string) (paths []string) {
	at := slices.IndexFunc(p.files, func(f *openFile) bool { return f.scan != nil })
	if at < 0 {
		return nil
	}
	skip := slices.Concat(key, p.config.partition)
	for _, k := range p.part.Keys {
		skip = append(skip, k.Name)
	}
	for _, c := range p.config.checks {
		skip = append(skip, c.Redact...)
	}
	for _, c := range p.files[at].scan.Columns() {
		integers := c.MaxRep == 0 && c.Type.Kind >= scan.Int8 && c.Type.Kind <= scan.Int64
		// An attribution is stored: what may be a value of the data is not.
		integers = integers && (likeTask(c.Dotted) > 0 || p.config.storeSamples)
		if integers && !slices.Contains(skip, c.Dotted) {
			paths = append(paths, c.Dotted)
		}
	}
	return paths
}

// sameness counts the rows that have a value, and those that have not.
type sameness struct {
	value       int64
	same, other int64
}

// sameIn compares a column's values with one, or with the first that it meets.
func sameIn(ctx context.Context, files []*openFile, path string, value *int64) (s sameness, err error) {
	seen := value != nil
	if seen {
		s.value = *value
	}
	for _, f := range files {
		if f.scan == nil {
			continue
		}
		ref, err := f.scan.Resolve(path)
		if err != nil {
			return s, err
		}
		req := scan.Request{Columns: []scan.ColumnNeed{{Column: ref.Column, Need: scan.ReadValues}}}
		for group := range f.scan.Footer().RowGroups {
			err := f.scan.ScanRowGroup(ctx, group, req, func(b *scan.Batch) error {
				vec := &b.Columns[0]
				for i := range vec.Present {
					values, at := vec.Lookup(i)
					x := vec.Column.Int64At(values, at)
					if !seen {
						s.value, seen = x, true
					}
					if x == s.value {
						s.same++
					}
				}
				s.other += int64(b.Rows)
				return nil
			})
			if err != nil {
				return s, err
			}
		}
	}
	s.other -= s.same
	return s, nil
}

// blameTasks names the one task whose contribution a count or an exact sum misses
// by. Nobody knows what keys those rows have.
func (p *judgement) blameTasks(ctx context.Context, results []Result) {
	for i, t := range p.trials {
		r := &results[i]
		if t.check.Where != nil || r.Outcome != Fail && r.Outcome != Warn {
			continue
		}
		miss, ok := missOf(t.check, r)
		if !ok || miss.Sign() <= 0 {
			continue
		}
		var by map[string]*big.Rat
		what := "rows"
		switch a, sums := t.assertion.(*aggregate); {
		case t.check.Type == "row_count":
			by = p.rowsByTask()
		case sums && t.check.Type == "sum":
			by, what = p.sumsByTask(ctx, a), t.check.Columns[0]
		}
		var named []string
		for _, task := range slices.Sorted(maps.Keys(by)) {
			if miss.Cmp(by[task]) == 0 {
				named = append(named, task)
			}
		}
		if len(named) == 1 {
			r.Attribution = append(r.Attribution, fmt.Sprintf("too much by %s %s: exactly task %s's contribution", r.text(miss), what, named[0]))
		}
	}
}

// text writes a number with as many digits behind the point as what was observed.
func (r *Result) text(n *big.Rat) string {
	_, fraction, _ := strings.Cut(r.Observed, ".")
	return n.FloatString(len(fraction))
}

func (p *judgement) rowsByTask() map[string]*big.Rat {
	by := map[string]*big.Rat{}
	for _, f := range p.files {
		if f.Task != "" && f.scan != nil {
			by[f.Task] = addTo(by[f.Task], new(big.Rat).SetInt64(f.scan.Footer().Rows))
		}
	}
	return by
}

func addTo(sum, n *big.Rat) *big.Rat {
	if sum == nil {
		return n
	}
	return sum.Add(sum, n)
}

// unitSum is the sum of a column in one row group.
type unitSum struct {
	*aggregateState
	task string
}

// sumsByTask adds a column up for each task; none where that cannot be had.
func (p *judgement) sumsByTask(ctx context.Context, a *aggregate) map[string]*big.Rat {
	units := slices.DeleteFunc(p.units(), func(u *unit) bool { return u.file.live || u.file.Task == "" })
	by := map[string]*big.Rat{}
	err := p.rescan(ctx, units, []int{a.slot}, pass{
		open: func(u *unit) state { return unitSum{a.open(u).(*aggregateState), u.file.Task} },
		take: func(s state) {
			one := s.(unitSum)
			if v, ok := one.acc.value(); ok && v.exact != nil {
				by[one.task] = addTo(by[one.task], new(big.Rat).SetFrac(v.exact, pow10(scaleOf(a.leaf))))
			}
		},
	})
	if err != nil {
		return nil
	}
	return by
}
