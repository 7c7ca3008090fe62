package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

func matchKinds() []*kind {
	return []*kind{{
		name: "matches", aliases: []string{"equality"}, rows: true,
		params: []param{
			{name: "with", required: true, read: referenceTo([]string{refBaseline, refPartition, refTable, refFiles})},
			{name: "keys", read: columnNames},
			{name: "columns", read: columnNames},
			{name: "on_no_baseline", fallback: "warn", read: word("warn", "skip", "fail")},
		},
		idle: func(c *Check) ([]string, string) {
			if with, _ := get[reference](c, "with"); with.kind != refBaseline {
				return []string{"on_no_baseline"}, "unless it is compared with the baseline"
			}
			return nil, ""
		},
		verify: verifyMatches, bind: bindMatches,
	}}
}

func verifyMatches(c *Check) error {
	keys, _ := get[[]string](c, "keys")
	columns, _ := get[[]string](c, "columns")
	for _, list := range [][]string{keys, columns} {
		for i, name := range list {
			if slices.Contains(list[:i], name) {
				return fmt.Errorf("column %s stands twice", name)
			}
		}
	}
	c.Columns = slices.Clone(keys)
	return nil
}

// matches compares two multisets of rows: a row that stands twice on one side
// and once on the other is a difference.
type matches struct {
	check  *Check
	with   reference
	keys   []string
	paths  []string // keys first; nil: no file, and the other side says
	slots  []int
	leaves []*scan.Column
	where  *compiled

	set     tally
	rows    int64
	failure error
}

func bindMatches(c *Check, b *binding) (assertion, error) {
	m := &matches{check: c}
	m.with, _ = get[reference](c, "with")
	m.keys, _ = get[[]string](c, "keys")
	b.need(needFooters)
	if b.fileless = len(b.files) == 0; b.fileless {
		return m, nil
	}
	if m.paths = m.columnsOf(b.files[0].scan); len(m.paths) == 0 {
		return nil, fmt.Errorf("file %s has no column to compare", b.files[0].Key)
	}
	for i, path := range m.paths {
		slot, leaf, err := b.column(path, true)
		switch {
		case err != nil:
			return nil, err
		case i < len(m.keys) && leaf.MaxRep > 0:
			return nil, fmt.Errorf("column %s has several values a row and cannot be part of a key", path)
		}
		m.slots, m.leaves = append(m.slots, slot), append(m.leaves, leaf)
	}
	return m, nil
}

// columnsOf are the leaves to compare, keys first: of the columns named, or all.
func (m *matches) columnsOf(f *scan.File) []string {
	named, _ := get[[]string](m.check, "columns")
	paths := slices.Clone(m.keys)
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, want := range named {
		found := false
		for _, leaf := range f.Columns() {
			rest, ok := strings.CutPrefix(leaf.Dotted, want)
			if ok && (rest == "" || strings.ContainsAny(rest[:1], ".[{")) {
				add(leaf.Dotted)
				found = true
			}
		}
		if !found {
			add(want) // a partition key, or a mistake
		}
	}
	if len(named) == 0 {
		for _, leaf := range f.Columns() {
			add(leaf.Dotted)
		}
	}
	return paths
}

var _ keeper = (*matches)(nil)

// plan implements keeper. How many rows the other side has is not known yet.
func (m *matches) plan(units []*unit) int64 { return 4 * rowsOf(units) * tallyCost }

// limit implements keeper: a half for the rows, the rest for the keys of those
// that differ.
func (m *matches) limit(memory memoryShare) { m.set.limit(memory.bytes/2, memory.states) }

// only keeps to the rows of a condition, here and there.
func (m *matches) only(where *compiled) { m.where = where }

func (m *matches) open(u *unit) state {
	return &relationState{tuples: tuples{slots: m.slots}, batch: m.set.batch(), unit: u.index, nulls: true}
}

func (m *matches) merge(st state) {
	s := st.(*relationState)
	m.rows += s.rows
	if m.failure == nil {
		m.failure = s.flush()
	}
}

// differing is what two multisets do not share.
type differing struct {
	extra, missing, changed int64
	places                  [2]least
}

func (m *matches) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{counted: true, grade: GradeScan, rows: m.rows, expected: m.expected()}
	there, others, err := m.readOthers(ctx, p)
	if err == nil && others == nil {
		// Nothing is live: there is no other side.
		v.counted, v.tested = false, m.rows
		v = withoutBaseline(m.check, v, plural(m.rows, "row"), "nothing is published to compare with")
		err = m.set.close()
		if err == nil {
			return v
		}
	}
	var d differing
	if err == nil {
		d, err = m.differences()
	}
	if err = cmp.Or(err, m.set.close()); err == nil {
		v.samples, err = m.samples(ctx, p, d, others)
	}
	if err != nil {
		return verdict{failure: p.publishedFailure(err)}
	}
	v.violations, v.tested = d.extra+d.missing+d.changed, m.rows+d.missing
	v.rows = v.tested
	v.counts = []Count{{"extra_rows", d.extra}, {"missing_rows", d.missing}, {"changed_rows", d.changed}, {"rows_there", there}}
	return v
}

func (m *matches) expected() string {
	text := "the same rows as " + m.with.String()
	if len(m.keys) > 0 {
		text += " by " + strings.Join(m.keys, ", ")
	}
	return text
}

// readOthers counts the rows of the other side in. Nil others without an error:
// there is no baseline.
func (m *matches) readOthers(ctx context.Context, p *judgement) (rows int64, others []*other, err error) {
	if m.failure != nil {
		return 0, nil, m.failure
	}
	parts, err := p.others(ctx, m.with)
	if err != nil || len(parts) == 0 && m.with.kind == refBaseline {
		return 0, nil, err
	}
	others = []*other{}
	for i := range parts {
		if len(parts[i].Files) == 0 {
			continue
		}
		o, err := p.openOther(ctx, &parts[i], otherColumns{func(j *judgement) []string { return m.columnsOf(j.files[0].scan) }, m.check.Where})
		if err == nil {
			o.first = unitsOf(others)
			err = m.fits(o)
		}
		if err != nil {
			return rows, others, err
		}
		others = append(others, o)
		n, err := o.count(ctx, &m.set, true)
		if rows += n; err != nil {
			return rows, others, err
		}
	}
	return rows, others, nil
}

func unitsOf(others []*other) int {
	n := 0
	for _, o := range others {
		n += len(o.units())
	}
	return n
}

// fits refuses a side whose columns are others, and brings them into one order.
func (m *matches) fits(o *other) error {
	if len(o.slots) == 0 {
		return dataFailure("%s: file %s has no column to compare", o.part.Path, o.files[0].Key)
	}
	if m.paths == nil {
		m.paths, m.leaves = o.paths(), o.leaves
		return nil
	}
	have := o.paths()
	for _, path := range have {
		if !slices.Contains(m.paths, path) {
			return dataFailure("%s has a column %s and the candidate has none: name `columns` to compare", o.part.Path, path)
		}
	}
	var slots []int
	for i, path := range m.paths {
		at := slices.Index(have, path)
		if at < 0 {
			return dataFailure("the candidate has a column %s and %s has none: name `columns` to compare", path, o.part.Path)
		}
		if err := sameValues(m.leaves[i], o.leaves[at]); err != nil {
			return dataFailure("%s", err)
		}
		slots = append(slots, o.slots[at])
	}
	o.slots = slots
	return nil
}

func (o *other) paths() []string {
	var out []string
	for _, slot := range o.slots {
		out = append(out, o.judgement.slots[slot].path)
	}
	return out
}

// differences compares row by row; with keys, what is surplus on both sides of a
// key is changed.
func (m *matches) differences() (d differing, err error) {
	for side := range d.places {
		d.places[side].n = int(m.check.Samples)
	}
	keys := tally{budget: m.set.budget}
	err = m.set.each(func(tuple []byte, p *pair) error {
		surplus := p.rows[judgedSide] - p.rows[otherSide]
		if surplus == 0 {
			return nil
		}
		side, n := judgedSide, surplus
		if surplus < 0 {
			side, n = otherSide, -surplus
		}
		one := &pair{first: [2]uint64{nowhere, nowhere}}
		one.rows[side], one.first[side] = n, p.first[side]
		if len(m.keys) == 0 {
			d.add(one)
			return nil
		}
		return keys.put(head(tuple, len(m.keys)), one)
	})
	if err == nil {
		err = keys.each(func(_ []byte, p *pair) error { d.add(p); return nil })
	}
	return d, cmp.Or(err, keys.close())
}

func (d *differing) add(p *pair) {
	both := min(p.rows[judgedSide], p.rows[otherSide])
	d.changed += both
	d.extra += p.rows[judgedSide] - both
	d.missing += p.rows[otherSide] - both
	if p.rows[judgedSide] > 0 {
		d.places[judgedSide].add(p.first[judgedSide])
	} else {
		d.places[otherSide].add(p.first[otherSide])
	}
}

// samples shows rows of the candidate first, then those that it misses.
func (m *matches) samples(ctx context.Context, p *judgement, d differing, others []*other) ([]Sample, error) {
	shown := m.shown(m.leaves, m.slots, m.where)
	out, err := p.samplesOf(ctx, shown, p.rowsAt(d.places[judgedSide].list, 0))
	for _, o := range others {
		if err != nil {
			break
		}
		var more []Sample
		shown := m.shown(m.leaves, o.slots, o.where)
		more, err = o.samplesOf(ctx, shown, o.rowsAt(d.places[otherSide].list, o.first))
		out = append(out, more...)
	}
	return out[:min(len(out), int(m.check.Samples))], err
}

// shown are the columns of a sample: those with one value a row.
func (m *matches) shown(leaves []*scan.Column, slots []int, where *compiled) *keyCheck {
	c := *m.check
	c.Columns = nil
	k := &keyCheck{check: &c, where: where}
	for i, leaf := range leaves {
		if i < len(slots) && leaf.MaxRep == 0 && (i < len(m.keys) || len(m.keys) == 0) {
			c.Columns, k.slots = append(c.Columns, m.paths[i]), append(k.slots, slots[i])
		}
	}
	return k
}
