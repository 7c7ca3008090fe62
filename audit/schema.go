package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// schemaKinds compare the columns a partition has with those it should have.
func schemaKinds() []*kind {
	return []*kind{{
		name: "schema", list: "columns",
		params: []param{
			{name: "columns", read: columnSpecs},
			{name: "allow_extra_columns", fallback: false, read: yesNo},
			{name: "allow_missing", fallback: false, read: yesNo},
			{name: "forbidden", read: columnNames},
		},
		verify: verifySchema,
		bind: func(c *Check, b *binding) (assertion, error) {
			b.need(needSchema)
			return &schemaCheck{check: c}, nil
		},
	}}
}

func verifySchema(c *Check) error {
	specs, _ := get[[]columnSpec](c, "columns")
	forbidden, _ := get[[]string](c, "forbidden")
	if len(specs) == 0 && len(forbidden) == 0 {
		return fmt.Errorf("names no column, give columns or forbidden")
	}
	for _, s := range specs {
		if slices.Contains(forbidden, s.Name) {
			return fmt.Errorf("column %s is listed and forbidden", s.Name)
		}
	}
	return nil
}

// schemaCheck lists every difference between the schema and what is asked.
type schemaCheck struct{ check *Check }

func (s *schemaCheck) open(*unit) state { return nil }
func (s *schemaCheck) merge(state)      {}

func (s *schemaCheck) finish(_ context.Context, p *judgement) verdict {
	v := verdict{expected: s.expected(), grade: GradeFooter, tested: p.rows}
	specs, _ := get[[]columnSpec](s.check, "columns")
	var missing, extra, types, nullability, forbidden []string
	for _, spec := range specs {
		have, ok := p.columnType(spec.Name)
		switch allowed, _ := get[bool](s.check, "allow_missing"); {
		case !ok && !allowed:
			missing = append(missing, p.missing(spec.Name))
		case ok && spec.Type != "" && !sameType(spec.Type, have.typ):
			types = append(types, fmt.Sprintf("column %s is %s, not %s", spec.Name, have.typ, spec.Type))
		}
		if ok && spec.Nullable != nil && have.nullable != *spec.Nullable {
			word := map[bool]string{true: "nullable", false: "required"}
			nullability = append(nullability,
				fmt.Sprintf("column %s is %s, not %s", spec.Name, word[have.nullable], word[*spec.Nullable]))
		}
	}
	names, _ := get[[]string](s.check, "forbidden")
	for _, name := range names {
		if _, ok := p.columnType(name); ok {
			forbidden = append(forbidden, fmt.Sprintf("column %s is forbidden", name))
		}
	}
	if allowed, _ := get[bool](s.check, "allow_extra_columns"); !allowed && len(specs) > 0 {
		extra = extraColumns(p, specs)
	}
	all := slices.Concat(missing, types, nullability, forbidden, extra)
	v.holds, v.message = len(all) == 0, strings.Join(all, "; ")
	v.observed = plural(len(all), "difference")
	if v.holds {
		v.observed = "as expected"
	}
	v.counts = []Count{
		{"missing", int64(len(missing))}, {"type", int64(len(types))}, {"nullability", int64(len(nullability))},
		{"forbidden", int64(len(forbidden))}, {"extra", int64(len(extra))},
	}
	return v
}

func (s *schemaCheck) expected() string {
	var parts []string
	specs, _ := get[[]columnSpec](s.check, "columns")
	for _, spec := range specs {
		text := spec.Name
		if spec.Type != "" {
			text += ": " + spec.Type
		}
		if spec.Nullable != nil && !*spec.Nullable {
			text += " not null"
		}
		parts = append(parts, text)
	}
	names, _ := get[[]string](s.check, "forbidden")
	for _, name := range names {
		parts = append(parts, "no "+name)
	}
	return strings.Join(parts, ", ")
}

// extraColumns are the leaves that no listed path names or contains.
func extraColumns(p *judgement, specs []columnSpec) []string {
	var extra []string
	for _, leaf := range p.files[0].scan.Columns() {
		named := slices.ContainsFunc(specs, func(s columnSpec) bool {
			rest, ok := strings.CutPrefix(leaf.Dotted, s.Name)
			return ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
		})
		if !named {
			extra = append(extra, fmt.Sprintf("column %s is extra", leaf.Dotted))
		}
	}
	return extra
}

// columnInfo is what a path of the schema is.
type columnInfo struct {
	typ      scan.Type
	nullable bool
}

// columnType finds a path, or a partition key, in the schema that the files
// share.
func (p *judgement) columnType(path string) (columnInfo, bool) {
	if ref, err := p.files[0].scan.Resolve(path); err == nil {
		return columnInfo{ref.Type, ref.Nullable()}, true
	}
	b := binding{part: p.part}
	if key := b.key(path); key != nil {
		if v, err := constantOf(*key); err == nil {
			return columnInfo{v.Column.Type, true}, true
		}
	}
	return columnInfo{}, false
}

func (p *judgement) missing(name string) string {
	if near, ok := nearestPath(name, p.files[0].scan.Paths()); ok {
		return fmt.Sprintf("column %s is missing, there is %s", name, near)
	}
	return fmt.Sprintf("column %s is missing", name)
}

// drift describes the first difference between the schemas of two files, or is
// empty. The order of columns, how a type is stored, and whether a column can be
// NULL are not differences: neither needs a cast or a filled-in value.
func drift(a, b *openFile) (column, message string) {
	left, right := a.leafTypes(), b.leafTypes()
	for _, c := range a.scan.Columns() {
		l := c.Dotted
		switch typ, ok := right[l]; {
		case !ok:
			return l, fmt.Sprintf("column %s is missing in %s, which %s has", l, b.key(), a.key())
		case typ != left[l]:
			return l, fmt.Sprintf("column %s is %s in %s and %s in %s", l, left[l], a.key(), typ, b.key())
		}
	}
	for _, c := range b.scan.Columns() {
		if _, ok := left[c.Dotted]; !ok {
			return c.Dotted, fmt.Sprintf("column %s is extra in %s, %s has none", c.Dotted, b.key(), a.key())
		}
	}
	return "", ""
}

// leafTypes maps each leaf to its type's name. Of several leaves with one name the
// types stand together.
func (f *openFile) leafTypes() map[string]string {
	types := map[string]string{}
	for _, c := range f.scan.Columns() {
		types[c.Dotted] += c.Type.String()
	}
	return types
}
