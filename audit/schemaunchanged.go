package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// The changes of a schema that can be allowed.
const (
	addColumn    = "add_column"
	widenInt     = "widen_int"
	widenDecimal = "widen_decimal"
	relaxNull    = "relax_null"
)

func schemaUnchangedKinds() []*kind {
	return []*kind{{
		name: "schema_unchanged", list: "allow",
		params: []param{
			{name: "allow", read: allowances},
			{name: "on_no_baseline", fallback: "warn", read: word("warn", "skip", "fail")},
		},
		bind: func(c *Check, b *binding) (assertion, error) {
			b.need(needSchema)
			return &schemaUnchanged{check: c}, nil
		},
	}}
}

func allowances(r *reader, n *yaml.Node, name string) (any, bool) {
	known := []string{addColumn, widenInt, widenDecimal, relaxNull}
	before := len(r.problems)
	var list []string
	for _, item := range r.items(n, name) {
		if word, ok := r.oneOf(item, name, known...); ok {
			list = append(list, word)
		}
	}
	return list, len(r.problems) == before
}

// schemaUnchanged compares the columns with those that readers know: the
// partition's own, else those of the table's newest partition.
type schemaUnchanged struct{ check *Check }

func (s *schemaUnchanged) open(*unit) state { return nil }
func (s *schemaUnchanged) merge(state)      {}

// leafSchema is a leaf column as it is compared.
type leafSchema struct {
	path   []string // names may hold dots
	typ    string
	maxDef int64
	maxRep int64
}

func (c leafSchema) is(o leafSchema) bool { return slices.Equal(c.path, o.path) }

// name is the path as it is shown, with names quoted that hold a dot.
func (c leafSchema) name() string {
	names := slices.Clone(c.path)
	for i, name := range names {
		if strings.Contains(name, ".") {
			names[i] = strconv.Quote(name)
		}
	}
	return strings.Join(names, ".")
}

func (s *schemaUnchanged) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{grade: GradeFooter, tested: p.rows, expected: "the published columns"}
	allow, _ := get[[]string](s.check, "allow")
	if len(allow) > 0 {
		v.expected += ", or " + strings.Join(allow, ", ")
	}
	states, err := p.audit.published().Baseline(ctx, p.part, Baseline{Axis: AxisLive, Limit: 1})
	if err == nil && len(states) == 0 {
		states, err = p.audit.published().Baseline(ctx, p.part, Baseline{Axis: AxisPartitions, Limit: 1, Any: true})
	}
	if err != nil {
		return verdict{failure: p.publishedFailure(err)}
	}
	if len(states) == 0 {
		return withoutBaseline(s.check, v, plural(len(p.files[0].scan.Columns()), "column"), "nothing of the table is published yet")
	}
	d := compareLeaves(publishedLeaves(states[0]), p.leaves(), allow)
	v.holds = len(d.problems) == 0
	v.observed, v.message = plural(len(d.problems), "difference"), strings.Join(d.problems, "; ")
	switch {
	case !v.holds:
		v.message += " (against " + states[0].Partition.Path + ")"
	case d.allowed > 0:
		v.observed = plural(d.allowed, "allowed change")
	default:
		v.observed = "unchanged"
	}
	v.counts = []Count{{"added", d.added}, {"removed", d.removed}, {"type", d.types}, {"nullability", d.nullability}, {"allowed", d.allowed}}
	return v
}

// publishedLeaves are a manifest's columns; one that may be NULL in some of its
// files may be NULL.
func publishedLeaves(m *manifest.Manifest) []leafSchema {
	var out []leafSchema
	for _, schema := range m.Schemas {
		for _, c := range schema.Columns {
			out = joinLeaf(out, leafSchema{c.Path, c.Logical, c.MaxDef, c.MaxRep})
		}
	}
	return out
}

// leaves are the columns of the judged files.
func (p *judgement) leaves() []leafSchema {
	var out []leafSchema
	for _, f := range p.files {
		for _, c := range f.scan.Columns() {
			out = joinLeaf(out, leafSchema{c.Path, c.Type.String(), int64(c.MaxDef), int64(c.MaxRep)})
		}
	}
	return out
}

func joinLeaf(list []leafSchema, c leafSchema) []leafSchema {
	for i, have := range list {
		if have.is(c) {
			list[i].maxDef = max(have.maxDef, c.maxDef)
			return list
		}
	}
	return append(list, c)
}

// schemaChange is how two lists of leaves differ.
type schemaChange struct {
	problems                                    []string
	added, removed, types, nullability, allowed int64
}

func compareLeaves(old, now []leafSchema, allow []string) schemaChange {
	var d schemaChange
	report := func(count *int64, change, format string, args ...any) {
		if change != "" && slices.Contains(allow, change) {
			d.allowed++
			return
		}
		*count++
		d.problems = append(d.problems, fmt.Sprintf(format, args...))
	}
	for _, was := range old {
		at := slices.IndexFunc(now, func(c leafSchema) bool { return c.is(was) })
		if at < 0 {
			report(&d.removed, "", "column %s is gone", was.name())
			continue
		}
		is := now[at]
		switch {
		case is.typ != was.typ:
			report(&d.types, widening(was.typ, is.typ), "column %s is %s, it was %s", was.name(), is.typ, was.typ)
		case is.maxRep != was.maxRep:
			report(&d.types, "", "column %s is nested otherwise than it was", was.name())
		}
		switch {
		case is.maxRep != was.maxRep:
		case is.maxDef > was.maxDef:
			report(&d.nullability, relaxNull, "column %s may be NULL, it could not", was.name())
		case is.maxDef < was.maxDef:
			report(&d.nullability, "", "column %s cannot be NULL any more", was.name())
		}
	}
	for _, is := range now {
		if !slices.ContainsFunc(old, func(c leafSchema) bool { return c.is(is) }) {
			report(&d.added, addColumn, "column %s is new", is.name())
		}
	}
	return d
}

// widening names the allowance for a change of type that keeps every value, or
// is empty.
func widening(was, is string) string {
	a, errA := scan.ParseType(was)
	b, errB := scan.ParseType(is)
	if errA != nil || errB != nil {
		return ""
	}
	if a.Kind == scan.Decimal && b.Kind == scan.Decimal {
		if b.Scale >= a.Scale && b.Precision-b.Scale >= a.Precision-a.Scale {
			return widenDecimal
		}
		return ""
	}
	from, signed := integerBits(a.Kind)
	to, into := integerBits(b.Kind)
	if from > 0 && to > from && (signed == into || into) {
		return widenInt
	}
	return ""
}

// integerBits is the width of an integer type, or 0.
func integerBits(k scan.Kind) (bits int, signed bool) {
	for i, s := range []scan.Kind{scan.Int8, scan.Int16, scan.Int32, scan.Int64} {
		if k == s {
			return 8 << i, true
		}
	}
	for i, s := range []scan.Kind{scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64} {
		if k == s {
			return 8 << i, false
		}
	}
	return 0, false
}
