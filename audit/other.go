package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// reference names other data in a checks file: a table or partition of the
// warehouse, files, or what readers see of the partition itself.
type reference struct {
	kind    string   // table, partition, files or baseline
	paths   []string // one, but for files; may hold marks of the partition
	columns []string // none: those of the assertion
	where   *condition
}

// The kinds of references. Control files and input row counts are reconcile's.
const (
	refTable     = "table"
	refPartition = "partition"
	refFiles     = "files"
	refBaseline  = "baseline"
	refControl   = "control"
	refInputRows = "input_row_count"
)

// MarshalJSON writes the long form.
func (f reference) MarshalJSON() ([]byte, error) {
	out := map[string]any{f.kind: f.value()}
	if len(f.columns) > 0 {
		out["columns"] = f.columns
	}
	if f.where != nil {
		out["where"] = f.where.text
	}
	return json.Marshal(out)
}

func (f reference) value() any {
	switch {
	case len(f.paths) == 0:
		return true
	case f.kind == refFiles:
		return f.paths
	}
	return f.paths[0]
}

// node is the form that is read again.
func (f reference) node() *yaml.Node {
	if len(f.paths) == 0 {
		return textNode(f.kind)
	}
	out := mapping(f.kind, textNode(f.paths[0]))
	if f.kind == refFiles {
		out = mapping(f.kind, textList(f.paths))
	}
	if len(f.columns) > 0 {
		out.Content = append(out.Content, plainNode("columns"), textList(f.columns))
	}
	if f.where != nil {
		out.Content = append(out.Content, plainNode("where"), textNode(f.where.text))
	}
	return out
}

// String names what is meant.
func (f reference) String() string {
	text := strings.ReplaceAll(strings.Join(f.paths, ", "), partitionMark, "$")
	switch f.kind {
	case refBaseline:
		text = "the baseline"
	case refInputRows:
		text = "the pinned inputs"
	case refControl:
		text = "control file " + text
	}
	if len(f.columns) > 0 {
		text += "(" + strings.Join(f.columns, ", ") + ")"
	}
	if f.where != nil {
		text += " where " + f.where.text
	}
	return text
}

// referenceTo reads a reference of one of some kinds. A bare word is one that
// needs no more, or, where nothing else can be meant, a table.
func referenceTo(kinds []string, extras ...string) func(*reader, *yaml.Node, string) (any, bool) {
	return func(r *reader, n *yaml.Node, name string) (any, bool) {
		before := len(r.problems)
		out := reference{}
		if n.Kind == yaml.ScalarNode {
			text, ok := r.text(n, name)
			switch bare := text == refBaseline || text == refInputRows; {
			case ok && bare && slices.Contains(kinds, text):
				return reference{kind: text}, true
			case ok && !bare && slices.Contains(extras, "columns"):
				return reference{kind: refTable, paths: []string{text}}, true
			case ok:
				r.failHint(n, suggestion(text, kinds), "%s is one of %s, not %q", name, strings.Join(kinds, ", "), text)
			}
			return nil, false
		}
		for _, e := range r.entries(n, name) {
			switch {
			case slices.Contains(extras, e.key) && e.key == "columns":
				out.columns = r.texts(e.value, e.key)
			case slices.Contains(extras, e.key):
				out.where = r.otherCondition(e.value, e.key)
			case !slices.Contains(kinds, e.key):
				r.failHint(e.at, suggestion(e.key, slices.Concat(kinds, extras)), "unknown key of %s %q", name, e.key)
			case out.kind != "":
				r.fail(e.at, "%s names both %s and %s", name, out.kind, e.key)
			default:
				out.kind = e.key
				out.paths = r.referencePaths(e)
			}
		}
		if out.kind == "" && len(r.problems) == before {
			r.fail(n, "%s names nothing, give one of %s", name, strings.Join(kinds, ", "))
		}
		return out, len(r.problems) == before
	}
}

func (r *reader) referencePaths(e entry) []string {
	switch {
	case e.key == refBaseline || e.key == refInputRows:
		if on, ok := r.boolean(e.value, e.key); ok && !on {
			r.fail(e.value, "%s: false says nothing", e.key)
		}
		return nil
	case e.key == refFiles && e.value.Kind == yaml.SequenceNode:
		var out []string
		for _, item := range r.items(e.value, e.key) {
			if text, ok := r.text(item, e.key); ok {
				out = append(out, text)
			}
		}
		if len(out) == 0 {
			r.fail(e.value, "%s is empty", e.key)
		}
		return out
	}
	text, _ := r.text(e.value, e.key)
	return []string{text}
}

// otherCondition reads a condition on other data, whose columns this file does
// not declare.
func (r *reader) otherCondition(n *yaml.Node, what string) *condition {
	before := len(r.conditions)
	c, _ := r.condition(n, what)
	r.conditions = r.conditions[:before]
	return c
}

// failed is a Failure on its way up.
type failed struct{ *Failure }

func (f failed) Error() string { return f.Message }

func dataFailure(format string, args ...any) error {
	return failed{&Failure{Cause: CauseData, Message: fmt.Sprintf(format, args...)}}
}

// others finds the partitions that a reference names, with the keys of the judged
// one filled in.
func (p *judgement) others(ctx context.Context, to reference) ([]Partition, error) {
	b := binding{part: p.part}
	var want Reference
	for _, path := range to.paths {
		text, err := b.substitute(path)
		if err != nil {
			return nil, dataFailure("%s", err)
		}
		if to.kind == refFiles {
			want.Files = append(want.Files, text)
		} else {
			want.Path = text
		}
	}
	want.Live = to.kind == refBaseline
	return p.audit.published().Data(ctx, p.part, want)
}

// other is a partition that the judged one is compared with, open for reading.
type other struct {
	*judgement
	slots  []int
	leaves []*scan.Column
	where  *compiled // nil: all rows
	first  int       // what its first unit is called in places
}

// open prepares some columns of another partition.
func (p *judgement) openOther(ctx context.Context, part *Partition, want otherColumns) (*other, error) {
	j := &judgement{part: typedKeys(part, p.config), config: p.config, audit: p.audit}
	if err := j.open(ctx); err != nil {
		return nil, err
	}
	if f := j.unopened(); f != nil {
		return nil, failed{f}
	}
	if j.compareSchemas(); j.drifts != nil {
		return nil, failed{j.drifts}
	}
	o := &other{judgement: j}
	b := &binding{part: j.part, files: j.files, zone: p.config.timezone}
	for _, path := range want.paths(j) {
		slot, leaf, err := b.column(path, true)
		if err != nil {
			return nil, dataFailure("%s: %s", part.Path, err)
		}
		o.slots, o.leaves = append(o.slots, slot), append(o.leaves, leaf)
	}
	if want.where != nil {
		where, err := b.condition(want.where)
		if err != nil {
			return nil, dataFailure("%s: %s", part.Path, err)
		}
		o.where = where
	}
	return o, j.settle(b)
}

// settle resolves what was bound in every file.
func (p *judgement) settle(b *binding) error {
	p.slots, p.consts = b.slots, make([]*scan.Vector, len(b.slots))
	for i, s := range p.slots {
		if s.key != nil {
			p.consts[i], _ = constantOf(*s.key)
		}
	}
	p.nulls = make([]int64, len(p.slots))
	for _, f := range p.files {
		f.resolve(p.slots, p.consts)
		for slot, err := range f.absent {
			if err != nil {
				return failed{&Failure{Cause: CauseData, Message: err.Error(), File: f.Key, Column: p.slots[slot].path}}
			}
		}
	}
	return nil
}

// otherColumns are what is read of other partitions.
type otherColumns struct {
	paths func(j *judgement) []string
	where *condition
}

// scanOther reads the rows of another partition that its condition chooses.
func (o *other) scanOther(ctx context.Context, again pass) error {
	return selection{o.slots, o.where}.rescan(ctx, o.judgement, o.units(), again)
}

// samplesOf shows rows of a partition.
func (p *judgement) samplesOf(ctx context.Context, shown *keyCheck, places []rowPlace) ([]Sample, error) {
	slices.SortFunc(places, comparePlaces)
	return shown.samplesAt(ctx, p, places)
}

// rowsAt turns places into rows of the partition; first is what its first unit is
// called in them.
func (p *judgement) rowsAt(places []uint64, first int) []rowPlace {
	units := p.units()
	var out []rowPlace
	for _, place := range places {
		if unit, row := unpack(place); unit >= first && unit-first < len(units) {
			out = append(out, rowPlace{units[unit-first], row})
		}
	}
	return out
}
