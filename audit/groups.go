package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

func groupKinds() []*kind {
	return []*kind{{
		name: "groups", where: true,
		params: append(baselineParams(),
			param{name: "by", required: true, read: columnNames},
			param{name: "require", fallback: refBaseline, read: requirement},
			param{name: "max_drop", read: share},
		),
		idle: func(c *Check) ([]string, string) {
			if _, listed := get[[]literal](c, "require"); listed {
				return []string{"axis", "on_no_baseline"}, "beside a list of values: there is no baseline"
			}
			return nil, ""
		},
		verify: verifyGroups, bind: bindGroups,
	}}
}

// requirement reads `baseline`, or a list of values.
func requirement(r *reader, n *yaml.Node, name string) (any, bool) {
	if n.Kind == yaml.SequenceNode {
		return values(r, n, name)
	}
	return r.oneOf(n, name, refBaseline)
}

func verifyGroups(c *Check) error {
	by, _ := get[[]string](c, "by")
	_, listed := get[[]literal](c, "require")
	_, drops := c.Params["max_drop"]
	switch {
	case len(by) == 0:
		return errors.New("by names no column")
	case listed && len(by) > 1:
		return errors.New("require lists values of one column, and by names more")
	case listed && drops:
		return errors.New("max_drop needs require: baseline")
	}
	c.Columns = by
	return nil
}

// groupCheck looks for groups of rows that a published partition has and this one
// has not, or has much fewer of.
type groupCheck struct {
	check   *Check
	slots   []int
	leaves  []*scan.Column
	set     tally
	rows    int64
	failure error
}

func bindGroups(c *Check, b *binding) (assertion, error) {
	by, _ := get[[]string](c, "by")
	if list, ok := get[[]literal](c, "require"); ok {
		k, _ := lookup("distinct_values")
		inner := k.check()
		inner.Columns, inner.Params["contains"] = by, list
		return k.bind(inner, b)
	}
	if axis, _ := get[string](c, "axis"); axis == AxisPartitions && len(b.part.Keys) > 0 && DateKey(b.part.Partition) < 0 {
		return nil, errors.New("no key of the partition is a date to order others by: `axis: history` compares with what readers see of it")
	}
	g := &groupCheck{check: c}
	b.need(needFooters)
	if b.fileless = len(b.files) == 0; b.fileless {
		return g, nil
	}
	for _, path := range by {
		slot, leaf, err := b.column(path, true)
		switch {
		case err != nil:
			return nil, err
		case leaf.MaxRep > 0:
			return nil, fmt.Errorf("column %s has several values a row and cannot name a group", path)
		}
		g.slots, g.leaves = append(g.slots, slot), append(g.leaves, leaf)
	}
	return g, nil
}

// plan implements keeper.
func (g *groupCheck) plan(units []*unit) int64 { return 2 * rowsOf(units) * tallyCost }

// limit implements keeper.
func (g *groupCheck) limit(memory memoryShare) { g.set.limit(memory.bytes, memory.states) }

func (g *groupCheck) open(u *unit) state {
	return &relationState{tuples: tuples{slots: g.slots}, batch: g.set.batch(), unit: u.index, nulls: true}
}

func (g *groupCheck) merge(st state) {
	s := st.(*relationState)
	g.rows += s.rows
	if g.failure == nil {
		g.failure = s.flush()
	}
}

func (g *groupCheck) finish(ctx context.Context, p *judgement) verdict {
	v := verdict{grade: GradeScan, tested: g.rows, expected: g.expected()}
	others, err := g.readBaseline(ctx, p)
	if err == nil && others == nil {
		if err = g.set.close(); err == nil {
			return withoutBaseline(g.check, v, plural(g.rows, "row"), "nothing is published to compare with")
		}
	}
	var all, missing, shrunk int64
	places := least{n: int(g.check.Samples)}
	if err == nil {
		err = g.set.each(func(_ []byte, pair *pair) error {
			switch {
			case pair.rows[otherSide] == 0:
				return nil
			case pair.rows[judgedSide] == 0:
				missing++
				places.add(pair.first[otherSide])
			case g.shrunk(pair):
				shrunk++
				places.add(pair.first[otherSide])
			}
			all++
			return nil
		})
	}
	err = cmp.Or(err, g.set.close())
	for _, o := range others {
		if err != nil {
			break
		}
		c := *g.check
		shown := &keyCheck{check: &c, slots: o.slots, where: o.where}
		var more []Sample
		more, err = o.samplesOf(ctx, shown, o.rowsAt(places.list, o.first))
		v.samples = append(v.samples, more...)
	}
	if err != nil {
		return verdict{failure: p.publishedFailure(err)}
	}
	v.violations, v.holds = missing+shrunk, missing+shrunk == 0
	v.observed = fmt.Sprintf("%d of %d groups missing", missing, all)
	if shrunk > 0 {
		v.observed += fmt.Sprintf(", %d shrunk", shrunk)
	}
	v.counts = []Count{{"groups_there", all}, {"groups_missing", missing}, {"groups_shrunk", shrunk}}
	if !v.holds {
		v.message = "against " + others[0].part.Path + "; samples are rows of it"
	}
	return v
}

// shrunk compares by integers: lost rows against max_drop of what there were.
func (g *groupCheck) shrunk(p *pair) bool {
	drop, ok := get[number](g.check, "max_drop")
	if !ok {
		return false
	}
	lost := new(big.Int).Mul(big.NewInt(p.rows[otherSide]-p.rows[judgedSide]), pow10(drop.scale))
	return lost.Cmp(new(big.Int).Mul(big.NewInt(p.rows[otherSide]), drop.unscaled)) > 0
}

func (g *groupCheck) expected() string {
	by, _ := get[[]string](g.check, "by")
	axis, _ := get[string](g.check, "axis")
	text := "every " + strings.Join(by, ", ") + " of "
	if axis == AxisHistory {
		text += "what readers see"
	} else {
		text += "the previous partition"
	}
	if drop, ok := get[number](g.check, "max_drop"); ok {
		text += ", with at most " + shareOf(drop) + " fewer rows"
	}
	return text
}

// readBaseline counts the baseline's groups in. Nil without an error: there is
// none.
func (g *groupCheck) readBaseline(ctx context.Context, p *judgement) ([]*other, error) {
	if g.failure != nil {
		return nil, g.failure
	}
	axis, _ := get[string](g.check, "axis")
	want := Baseline{Axis: axis, Limit: 1}
	if axis == AxisHistory {
		want.Axis = AxisLive
	}
	states, err := p.audit.published().Baseline(ctx, p.part, want)
	if err != nil || len(states) == 0 {
		return nil, err
	}
	parts, err := p.audit.published().Data(ctx, p.part, Reference{Path: states[0].Partition.Path, Published: true})
	if err != nil {
		return nil, err
	}
	by, _ := get[[]string](g.check, "by")
	others := []*other{}
	for i := range parts {
		if len(parts[i].Files) == 0 {
			continue
		}
		o, err := p.openOther(ctx, &parts[i], otherColumns{func(*judgement) []string { return by }, g.check.Where})
		if err != nil {
			return others, err
		}
		for k, leaf := range o.leaves {
			if k < len(g.leaves) {
				if err := sameValues(g.leaves[k], leaf); err != nil {
					return others, dataFailure("%s", err)
				}
			}
		}
		o.first = unitsOf(others)
		others = append(others, o)
		if _, err := o.count(ctx, &g.set, true); err != nil {
			return others, err
		}
	}
	return others, nil
}
