package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// Rehearsal is what came of an attempt to make one rule fail.
type Rehearsal struct {
	ID      string           `json:"id"`
	Type    string           `json:"type"`
	Outcome RehearsalOutcome `json:"outcome"`
	Reason  string           `json:"reason"`
	Rows    int64            `json:"rows"` // of the data that it failed on
}

// RehearsalOutcome is whether a rule can fail.
type RehearsalOutcome string

// The outcomes of a rehearsal. Untested rules may be good: no data was found, or
// can be made up, that they fail on. An error would close every gate.
const (
	RuleFails    RehearsalOutcome = "fails"
	RuleVacuous  RehearsalOutcome = "vacuous"
	RuleUntested RehearsalOutcome = "untested"
	RuleError    RehearsalOutcome = "error"
)

// Rehearse makes, for every rule of a file, small data that violates it, and
// judges that. Columns have the types of the first file of data, of which a few
// values are taken too; without a file, those that the checks declare, or that
// their literals suggest. The built-ins are left out. The error is ctx's end, or
// that of reading data.
func Rehearse(ctx context.Context, c *Config, data []File, opts Options) ([]Rehearsal, error) {
	s := &stage{config: c, opts: opts}
	for i := range data {
		if err := s.read(ctx, &data[i]); err != nil {
			return nil, fmt.Errorf("read %q: %w", data[i].Key, err)
		}
	}
	list := []Rehearsal{}
	for _, check := range c.checks {
		r, err := s.rehearse(ctx, check)
		if err != nil {
			return nil, err
		}
		r.ID, r.Type = check.ID, check.Type
		list = append(list, r)
	}
	return list, nil
}

// stage is what rules are rehearsed on.
type stage struct {
	config *Config
	opts   Options
	data   *scan.File // nil: none was given
	rows   int64      // of the data
	sample map[string][]madeValue
}

const (
	maxProduct  = 20_000  // rows of all combinations of values
	maxRuns     = 1_000   // small tables that a rule is tried on
	maxMadeRows = 100_000 // rows of one table
)

// attempt is a rule on its way, with one choice of types.
type attempt struct {
	*stage
	check    *Check
	columns  []madeColumn
	complete bool // all that the conditions can tell apart is in the pools
	runs     int
	tested   bool // some row was tested
	failure  *Failure
	keys     []string // of the partition, that the check names
}

func (s *stage) rehearse(ctx context.Context, c *Check) (Rehearsal, error) {
	if !slices.ContainsFunc(rehearsed(), func(k *kind) bool { return k.name == c.Type }) {
		return Rehearsal{Outcome: RuleUntested, Reason: "what it judges by is not in the data alone"}, nil
	}
	paths, err := columnsOf(c)
	if err != nil {
		return Rehearsal{}, err
	}
	for _, path := range paths {
		if strings.ContainsAny(path, `.[]{}"`) {
			return Rehearsal{Outcome: RuleUntested, Reason: "column " + path + " stands inside of another: such data is not made up"}, nil
		}
	}
	return s.tryTypes(ctx, c, paths)
}

// columnsOf lists the columns that a check reads.
func columnsOf(c *Check) ([]string, error) {
	paths := slices.Clone(c.Columns)
	conditions := []*condition{}
	if c.Where != nil {
		conditions = append(conditions, c.Where)
	}
	for _, name := range []string{"by", "lower", "upper", "expr"} {
		switch v := c.Params[name].(type) {
		case string:
			paths = append(paths, v)
		case []string:
			paths = append(paths, v...)
		case *condition:
			conditions = append(conditions, v)
		}
	}
	for _, cond := range conditions {
		more, err := cond.columns()
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// tryTypes rehearses with the types that are known; for columns of which nothing
// is, with one choice after the other.
func (s *stage) tryTypes(ctx context.Context, c *Check, paths []string) (Rehearsal, error) {
	var columns []madeColumn
	var open []int
	for _, path := range paths {
		column, known, stop := s.column(path)
		if stop != nil {
			return *stop, nil
		}
		if !known {
			open = append(open, len(columns))
		}
		columns = append(columns, column)
	}
	if len(open) > 4 {
		return Rehearsal{Outcome: RuleUntested, Reason: "the types of its columns are not known: declare them, or give --data"}, nil
	}
	types := guesses()
	choices := 1
	for range open {
		choices *= len(types)
	}
	result := Rehearsal{Outcome: RuleError}
	for choice := range choices {
		for n, i := range open {
			at := choice
			for range n {
				at /= len(types)
			}
			columns[i].typ = types[at%len(types)]
		}
		a := &attempt{stage: s, check: c, columns: columns}
		r, err := a.play(ctx)
		switch {
		case err != nil || r.Outcome == RuleFails:
			return r, err
		case r.Outcome != RuleError && (result.Outcome == RuleError || r.Outcome == RuleUntested), result.Reason == "":
			result = r
		}
	}
	if result.Outcome == RuleError && len(open) > 0 {
		result.Outcome, result.Reason = RuleUntested, "the types of its columns are not known: declare them, or give --data ("+result.Reason+")"
	}
	return result, nil
}

// guesses are types for a column of which nothing is known, likely ones first.
func guesses() []scan.Type {
	return []scan.Type{
		{Kind: scan.Int64}, {Kind: scan.String}, {Kind: scan.Double},
		{Kind: scan.Timestamp, Unit: scan.Micro, UTC: true}, {Kind: scan.Date}, {Kind: scan.Bool},
		{Kind: scan.Timestamp, Unit: scan.Micro},
	}
}

// column finds out what a column is, or why the rule cannot be rehearsed.
func (s *stage) column(path string) (c madeColumn, known bool, stop *Rehearsal) {
	c.path = path
	if s.data != nil {
		ref, err := s.data.Resolve(path)
		switch {
		case err != nil && !slices.Contains(s.config.partition, path):
			return c, false, &Rehearsal{Outcome: RuleError, Reason: "the data has no column " + path}
		case err == nil && !made(ref.Type):
			return c, false, &Rehearsal{Outcome: RuleUntested, Reason: fmt.Sprintf("column %s is %s: such data is not made up", path, ref.Type)}
		case err == nil:
			c.typ = ref.Type // and optional, as that of a later load may be
			return c, true, nil
		}
	}
	if text, ok := s.config.ColumnType(path); ok {
		t, err := scan.ParseType(text)
		if err != nil || !made(t) {
			return c, false, &Rehearsal{Outcome: RuleUntested, Reason: fmt.Sprintf("column %s is %s: such data is not made up", path, text)}
		}
		c.typ = t
		return c, true, nil
	}
	return c, false, nil
}

// literalsOf are the values that stand in a check, and its patterns.
func literalsOf(c *Check) (list []literal, patterns []string) {
	for _, v := range c.Params {
		switch v := v.(type) {
		case literal:
			list = append(list, v)
		case []literal:
			list = append(list, v...)
		case int64:
			list = append(list, literal{kind: litNumber, num: integer(v)})
		case number:
			list = append(list, literal{kind: litNumber, num: v})
		}
	}
	if p, ok := get[string](c, "pattern"); ok {
		patterns = append(patterns, p)
	}
	cond, _ := get[*condition](c, "expr")
	for _, cond := range []*condition{c.Where, cond} {
		if cond == nil {
			continue
		}
		numbers, texts := cond.constants()
		for _, n := range numbers {
			if num, err := parseNumber(n); err == nil {
				list = append(list, literal{kind: litNumber, num: num, text: n})
			}
		}
		for _, t := range texts {
			list, patterns = append(list, literal{kind: litText, text: t}), append(patterns, t)
		}
	}
	return list, patterns
}

// madeKey is the value of every key of the made-up partition.
const madeKey = "2025-03-05"

// settled is a literal with the keys of the made-up partition filled in.
func (a *attempt) settled(lit literal) literal {
	parts := strings.Split(lit.text, partitionMark)
	if !lit.open || len(parts) == 1 {
		return lit
	}
	for i := 1; i < len(parts); i += 2 {
		if !slices.Contains(a.keys, parts[i]) {
			a.keys = append(a.keys, parts[i])
		}
		parts[i] = madeKey
	}
	return literal{kind: litText, text: strings.Join(parts, "")}
}

// play looks for data that the rule fails on.
func (a *attempt) play(ctx context.Context) (Rehearsal, error) {
	literals, patterns := literalsOf(a.check)
	for i, lit := range literals {
		literals[i] = a.settled(lit)
	}
	for i := range a.columns {
		a.columns[i].pool = append(poolOf(&a.columns[i], literals, patterns), a.sample[a.columns[i].path]...)
	}
	rows, all := a.product()
	a.complete = all && a.decidable()
	found, err := a.find(ctx, rows)
	switch {
	case err != nil:
		return Rehearsal{}, err
	case found != nil:
		return a.reach(ctx, found)
	case a.failure != nil:
		return Rehearsal{Outcome: RuleError, Reason: a.failure.Message}, nil
	}
	return a.unbroken(), nil
}

// unbroken is the verdict on a rule that nothing was found against.
func (a *attempt) unbroken() Rehearsal {
	switch {
	case !a.complete:
		return Rehearsal{Outcome: RuleUntested, Reason: fmt.Sprintf("nothing was found that it fails on, in %s", plural(a.runs, "attempt"))}
	case a.check.Where != nil && !a.tested:
		return Rehearsal{Outcome: RuleVacuous, Reason: "its where chooses no row: " + a.check.Where.text}
	}
	var types []string
	for _, c := range a.columns {
		types = append(types, fmt.Sprintf("%s %s", c.typ, c.path))
	}
	reason := "no data fails it"
	if len(types) > 0 {
		reason = "no value fails it, of " + strings.Join(types, ", ")
	}
	return Rehearsal{Outcome: RuleVacuous, Reason: reason}
}

// product are the rows of all combinations of the pools, or a part of them.
func (a *attempt) product() (rows [][]madeValue, all bool) {
	total := 1
	for _, c := range a.columns {
		if total *= len(c.pool); total > maxProduct {
			break
		}
	}
	all = total <= maxProduct
	count, step := total, big.NewInt(1)
	if !all {
		// A stride that meets every value of every column.
		count, step = maxProduct, big.NewInt(1_000_003)
	}
	at := new(big.Int)
	for range count {
		rest, row := new(big.Int).Set(at), make([]madeValue, len(a.columns))
		for i, c := range a.columns {
			k := new(big.Int)
			rest.DivMod(rest, big.NewInt(int64(len(c.pool))), k)
			row[i] = c.pool[k.Int64()]
		}
		rows = append(rows, row)
		at.Add(at, step)
	}
	return rows, all
}

// run judges a table by a check alone.
func (a *attempt) run(ctx context.Context, c *Check, files ...File) (Result, error) {
	a.runs++
	config := &Config{timezone: a.config.timezone, allowEmpty: true, checks: []*Check{c}, types: a.config.types}
	part := Partition{Partition: manifest.Partition{Table: "rehearsal", Path: "rehearsal"}, Files: files}
	for _, key := range slices.Concat(a.config.partition, a.keys) {
		if !slices.ContainsFunc(part.Keys, func(k manifest.KeyValue) bool { return k.Name == key }) {
			part.Keys = append(part.Keys, manifest.KeyValue{Name: key, Value: madeKey})
		}
	}
	r, err := Run(ctx, &Rules{Default: config}, []Partition{part}, Options{Now: a.opts.Now, Parallel: 1, Memory: a.opts.Memory})
	if err != nil {
		return Result{}, err
	}
	i := slices.IndexFunc(r.Assertions, func(a Result) bool { return a.ID == c.ID })
	if i < 0 {
		return Result{}, errors.New("rehearse: the report has no result of the rule")
	}
	out := r.Assertions[i]
	a.tested = a.tested || c.ID == a.check.ID && out.RowsTested > 0
	if out.Outcome == Error && a.failure == nil {
		a.failure = out.Error
	}
	return out, nil
}

func memoryOf(data []byte) File {
	return File{Key: "made-up.parquet", Source: scan.ReaderAt(bytes.NewReader(data), int64(len(data)))}
}

// violates judges rows, so many times over.
func (a *attempt) violates(ctx context.Context, c *Check, rows [][]madeValue, times int) (Result, bool, error) {
	table := madeTable{columns: a.columns, rows: rows, times: times}
	if len(a.columns) == 0 { // something has to have rows
		table.columns = []madeColumn{{path: "wap_row", typ: scan.Type{Kind: scan.Int64}, required: true}}
		table.rows = slices.Repeat([][]madeValue{{big.NewInt(0)}}, len(rows))
	}
	data, err := table.parquet()
	if err != nil {
		return Result{}, false, err
	}
	r, err := a.run(ctx, c, memoryOf(data))
	return r, failsRule(c, r), err
}

// failsRule reports whether a result shows that the rule can fail: without a row to
// judge, many do.
func failsRule(c *Check, r Result) bool {
	want := Fail
	if c.Severity == SeverityWarn {
		want = Warn
	}
	return r.Outcome == want && !r.Vacuous
}
