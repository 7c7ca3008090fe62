package audit

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// rowCheck counts rows in which a column has a violating value, or a NULL where
// that violates.
type rowCheck struct {
	check    *Check
	slot     int
	path     string
	failNull bool
	// takeNull: a NULL is tested, and good.
	takeNull bool
	// compile makes the predicate for a file's leaf; nil: no value is looked at.
	compile  func(c *scan.Column) (predicate, error)
	expected string

	total rowState
}

// rowCounts are what a rowCheck counts.
type rowCounts struct {
	rows, tested, bad    int64
	elements, badElement int64 // of a repeated path
	absent, empty        int64 // rows whose list is NULL, or without elements
	nullElements         int64
}

// rowState is a rowCheck's state for one row group.
type rowState struct {
	rowCounts
	of      *rowCheck
	ref     scan.Ref
	slot    int
	test    predicate
	failure error
	samples []Sample
	redact  bool
	trusted bool
	empties [256]bool // definition levels of a list that is there and empty

	marks    []bool
	dict     *scan.Dictionary
	dictMark []bool
}

// bindRows prepares a rowCheck over the check's one column. The predicate is
// compiled once here, so that a type that does not fit is found before a scan.
func bindRows(c *Check, b *binding, compile func(*scan.Column) (predicate, error)) (*rowCheck, error) {
	r := &rowCheck{check: c, path: c.Columns[0], failNull: c.Nulls == "fail", compile: compile}
	slot, leaf, err := b.column(r.path, compile != nil)
	if err != nil {
		return nil, err
	}
	r.slot = slot
	if compile != nil {
		if _, err := compile(leaf); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *rowCheck) open(u *unit) state {
	s := &rowState{of: r, slot: r.slot, ref: u.file.refs[r.slot], redact: redacted(r.check, r.path)}
	s.empties = u.file.empties(r.path)
	if r.compile != nil {
		s.test, s.failure = r.compile(u.file.leaves[r.slot])
	}
	return s
}

// empties finds the definition levels at which one of the lists or maps around a
// path is there without elements.
func (f *openFile) empties(path string) (levels [256]bool) {
	quoted := false
	for i := range len(path) - 1 {
		if path[i] == '"' {
			quoted = !quoted
		}
		if open := path[i : i+2]; quoted || open != "[]" && open != "{}" {
			continue
		}
		if list, err := f.scan.Resolve(path[:i]); err == nil {
			levels[list.NonNull] = true
		}
	}
	return levels
}

// trust takes a NULL count of 0 in the footer for evidence, where that answers
// everything: one value a row and no value looked at.
func (r *rowCheck) trust(u *unit) state {
	ref := u.file.refs[r.slot]
	if r.compile != nil || u.file.leaves[r.slot].Index < 0 || !ref.Type.IsLeaf() || u.file.leaves[r.slot].MaxRep > 0 {
		return nil
	}
	claim, err := u.file.scan.Statistics(u.group, ref.Column)
	if err != nil || claim.NullCount == nil || *claim.NullCount != 0 {
		return nil // to be read instead
	}
	return &rowState{rowCounts: rowCounts{rows: u.rows, tested: u.rows}, trusted: true}
}

func (s *rowState) add(v *view) {
	vec := v.cols[s.slot]
	bad := s.mark(vec)
	s.rows += int64(v.rows)
	if vec.Rep == nil {
		s.flat(v, vec, bad)
		return
	}
	s.nested(v, vec, bad)
}

// mark judges the present values, each value of a dictionary once.
func (s *rowState) mark(vec *scan.Vector) []bool {
	if s.test == nil {
		return nil
	}
	s.marks = resize(s.marks, vec.Present)
	if vec.Dict == nil {
		s.test(&vec.Values, vec.Present, s.marks)
		return s.marks
	}
	if s.dict != vec.Dict {
		s.dict, s.dictMark = vec.Dict, resize(s.dictMark, vec.Dict.Len)
		s.test(&vec.Dict.Values, vec.Dict.Len, s.dictMark)
	}
	for i, at := range vec.Indices {
		s.marks[i] = s.dictMark[at]
	}
	return s.marks
}

// resize returns a cleared slice of n.
func resize(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// flat goes over a column with one value a row.
func (s *rowState) flat(v *view, vec *scan.Vector, bad []bool) {
	if vec.Def == nil {
		s.tested += int64(v.rows)
		s.violations(v, vec, bad)
		return
	}
	if bad == nil && s.ref.NonNull == vec.Column.MaxDef && int64(len(s.samples)) >= s.of.check.Samples {
		// Which rows are NULL is of no interest any more, how many are is known.
		s.nulls(int64(v.rows), int64(v.rows-vec.Present))
		return
	}
	next := 0
	for row, def := range vec.Def {
		null := def < s.ref.NonNull
		value := -1
		if def == vec.Column.MaxDef {
			value, next = next, next+1
		}
		switch {
		case null && s.of.failNull:
			s.tested++
			s.violation(v, vec, row, -1)
		case null && s.of.takeNull:
			s.tested++
		case !null:
			s.tested++
			if value >= 0 && bad != nil && bad[value] {
				s.violation(v, vec, row, value)
			}
		}
	}
}

// violations takes in rows whose value is the row's. Once the samples are full
// they are counted without a branch.
func (s *rowState) violations(v *view, vec *scan.Vector, bad []bool) {
	i := 0
	for ; i < len(bad) && int64(len(s.samples)) < s.of.check.Samples; i++ {
		if bad[i] {
			s.violation(v, vec, i, i)
		}
	}
	n := 0
	for _, b := range bad[i:] {
		if b {
			n++
		}
	}
	s.bad += int64(n)
}

// nulls counts rows, some of them NULL, without looking at them.
func (s *rowState) nulls(rows, null int64) {
	s.tested += rows
	switch {
	case s.of.failNull:
		s.bad += null
	case !s.of.takeNull:
		s.tested -= null
	}
}

// nested goes over a repeated path: a row violates if any of its elements does.
func (s *rowState) nested(v *view, vec *scan.Vector, bad []bool) {
	row, next := -1, 0
	tested, counted := false, false
	for i := range vec.Entries {
		if vec.Rep[i] == 0 {
			row, tested, counted = row+1, false, false
		}
		def := level(vec, i)
		value := -1
		if def == vec.Column.MaxDef {
			value, next = next, next+1
		}
		if vec.Rep[i] > s.ref.Rep {
			continue
		}
		violates, judged := s.element(def, value, bad)
		if judged && !tested {
			s.tested++
			tested = true
		}
		if violates {
			s.badElement++
			if !counted {
				s.violation(v, vec, row, value)
				counted = true
			}
		}
	}
}

func level(vec *scan.Vector, i int) uint8 {
	if vec.Def == nil {
		return vec.Column.MaxDef
	}
	return vec.Def[i]
}

// element judges one instance of the path. An absent one, below a list that is
// NULL or empty, is neither good nor bad; it makes its row tested only where
// NULLs are what is asked for.
func (s *rowState) element(def uint8, value int, bad []bool) (violates, judged bool) {
	if def < s.ref.Exists {
		if s.empties[def] {
			s.empty++
		} else {
			s.absent++
		}
		return false, s.of.failNull
	}
	if s.ref.Rep > 0 {
		s.elements++
	}
	if def < s.ref.NonNull {
		s.nullElements++
		return s.of.failNull, s.of.failNull
	}
	return value >= 0 && bad != nil && bad[value], true
}

// violation counts a row and keeps it as a sample. value is the present value's
// position, or -1 for a NULL.
func (s *rowState) violation(v *view, vec *scan.Vector, row, value int) {
	s.bad++
	if int64(len(s.samples)) >= s.of.check.Samples {
		return
	}
	cell := Value{Column: s.of.path, Null: value < 0}
	if value >= 0 && !s.redact {
		cell.Text = cutCell(vectorText(vec, value))
	}
	s.sample(v.unit, v.place(row), cell)
}

// sample keeps a row, from 0 in the file.
func (s *rowState) sample(u *unit, row int64, cell Value) {
	if s.redact {
		cell = Value{Column: s.of.path, Text: redactedText}
	}
	s.samples = append(s.samples, Sample{File: u.file.key(), Row: row, Values: []Value{cell}})
}

func (r *rowCheck) merge(s state) {
	o := s.(*rowState)
	t := &r.total
	if t.failure == nil {
		t.failure = o.failure
	}
	t.trusted = t.trusted || o.trusted
	t.rows += o.rows
	t.tested += o.tested
	t.bad += o.bad
	t.elements += o.elements
	t.badElement += o.badElement
	t.absent += o.absent
	t.empty += o.empty
	t.nullElements += o.nullElements
	t.samples = appendSamples(t.samples, o.samples, r.check.Samples)
}

func appendSamples(have, more []Sample, limit int64) []Sample {
	room := int(limit) - len(have)
	return append(have, more[:max(0, min(room, len(more)))]...)
}

func (r *rowCheck) finish(_ context.Context, p *judgement) verdict {
	t := &r.total
	if t.failure != nil {
		return verdict{failure: &Failure{Cause: CauseData, Message: t.failure.Error(), Column: r.path}}
	}
	v := verdict{
		counted: true, violations: t.bad, tested: t.tested, expected: r.expected,
		grade: GradeScan, samples: t.samples, counts: []Count{},
	}
	switch {
	case t.trusted:
		v.grade = GradeFooter
	case r.compile == nil:
		v.grade = GradeLevels
	}
	if p.repeated(r.slot) {
		v.counts = []Count{
			{"elements", t.elements}, {"violating_elements", t.badElement},
			{"null_elements", t.nullElements}, {"null_lists", t.absent}, {"empty_lists", t.empty},
		}
	}
	return v
}

const (
	// maxCell is the most bytes of a value that a report shows.
	maxCell      = 256
	redactedText = "(redacted)"
)

func redacted(c *Check, path string) bool { return slices.Contains(c.Redact, path) }

// cutCell shortens a text to maxCell bytes at a character's edge.
func cutCell(text string) string {
	if len(text) <= maxCell {
		return text
	}
	n := maxCell - len("…")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// vectorText writes present value i.
func vectorText(vec *scan.Vector, i int) string {
	if vec.Dict != nil {
		return textAt(vec.Column, &vec.Dict.Values, int(vec.Indices[i]))
	}
	if vec.Need == scan.ReadLevels {
		return ""
	}
	return textAt(vec.Column, &vec.Values, i)
}

// metric names a number for the manifest.
func metric(name, column, value string) manifest.Metric {
	return manifest.Metric{Name: name, Column: column, Value: value}
}

func quoteList(list []literal) string {
	text := ""
	for i, lit := range list {
		if i == 20 {
			return fmt.Sprintf("%s, and %d more", text, len(list)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += lit.String()
	}
	return text
}
