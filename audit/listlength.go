package audit

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wap-cli/wap/audit/scan"
)

// listKinds judge lists and maps as a whole.
func listKinds() []*kind {
	return []*kind{{
		name: "list_length", columns: eachColumn, rows: true, nulls: skipOrFail(), scalar: "equals",
		params: comparison(count), verify: oneComparison, bind: bindListLength,
	}}
}

// listLength counts rows whose list, or map, has too few or too many elements. It
// reads levels alone. A NULL element is an element.
type listLength struct {
	check    *Check
	slot     int
	element  string // the path of what is inside
	failNull bool
	lo, hi   int64

	tested, bad int64
	samples     []Sample
}

type listState struct {
	of            *listLength
	list, element scan.Ref

	tested, bad int64
	samples     []Sample
}

func bindListLength(c *Check, b *binding) (assertion, error) {
	path := c.Columns[0]
	slot, leaf, err := b.column(path, false)
	if err != nil {
		return nil, err
	}
	l := &listLength{check: c, slot: slot, failNull: c.Nulls == "fail"}
	l.lo, l.hi = integerBounds(c)
	ref, err := b.files[0].scan.Resolve(path)
	switch {
	case err != nil || leaf.Type.Kind != scan.List && leaf.Type.Kind != scan.Map:
		return nil, fmt.Errorf("column %s is %s, not a list or a map", path, leaf.Type)
	case ref.Rep > 0:
		return nil, fmt.Errorf("column %s has several lists a row", path)
	case leaf.Type.Kind == scan.Map:
		l.element = path + "{}.key"
	default:
		l.element = path + "[]"
	}
	if _, err := b.files[0].scan.Resolve(l.element); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *listLength) open(u *unit) state {
	s := &listState{of: l, list: u.file.refs[l.slot]}
	// There, because the files share one schema.
	s.element, _ = u.file.scan.Resolve(l.element)
	return s
}

func (s *listState) add(v *view) {
	vec := v.cols[s.of.slot]
	row := -1
	for i := 0; i < vec.Entries; {
		row++
		def, n := level(vec, i), int64(0)
		for first := true; i < vec.Entries && (first || vec.Rep[i] > 0); i++ {
			first = false
			if vec.Rep[i] <= s.element.Rep && level(vec, i) >= s.element.Exists {
				n++
			}
		}
		s.judge(v, row, def < s.list.NonNull, n)
	}
}

func (s *listState) judge(v *view, row int, null bool, n int64) {
	if null && !s.of.failNull {
		return
	}
	s.tested++
	if !null && n >= s.of.lo && n <= s.of.hi {
		return
	}
	s.bad++
	if int64(len(s.samples)) < s.of.check.Samples {
		path := s.of.check.Columns[0]
		cell := Value{Column: path, Null: null, Text: strconv.FormatInt(n, 10) + " elements"}
		switch {
		case redacted(s.of.check, path):
			cell = Value{Column: path, Text: redactedText}
		case null:
			cell.Text = ""
		}
		s.samples = append(s.samples, Sample{File: v.unit.file.key(), Row: v.place(row), Values: []Value{cell}})
	}
}

func (l *listLength) merge(st state) {
	s := st.(*listState)
	l.tested += s.tested
	l.bad += s.bad
	l.samples = appendSamples(l.samples, s.samples, l.check.Samples)
}

func (l *listLength) finish(context.Context, *judgement) verdict {
	return verdict{
		counted: true, violations: l.bad, tested: l.tested, expected: "elements " + comparisonText(l.check),
		grade: GradeLevels, samples: l.samples, counts: []Count{},
	}
}
