package audit

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sort"
)

// surplus is what the second pass finds.
type surplus struct {
	rows, groups, inGroups int64
	samples                []Sample
	copies                 copied
}

// rowPlace is where a row stands.
type rowPlace struct {
	unit *unit
	row  int64 // in the file
}

// confirm reads the key's columns again for the hashes that repeat, in the row
// groups that have one.
func (k *keyCheck) confirm(ctx context.Context, p *judgement) (surplus, error) {
	var total surplus
	k.keys.finish()
	var places []rowPlace
	// A candidate takes about 128 bytes with its key, once in all and once in
	// the row groups that are being read.
	limit := int(max(1024, k.keys.set.budget/256))
	err := k.keys.set.repeated(limit, p.audit.opts.Parallel, func(c candidates) error {
		g := k.gather(c)
		units := slices.DeleteFunc(k.units(p), func(u *unit) bool { return !c.units[k.nameOf(u)] })
		if err := k.rescan(ctx, p, units, pass{g.open, g.merge}); err != nil {
			return err
		}
		total.rows += g.surplus
		for _, group := range g.all.list {
			if group.count > 1 {
				total.groups++
				total.inGroups += group.count
			}
		}
		places = append(places, g.places...)
		total.copies.merge(g.copies)
		return nil
	})
	if err != nil {
		return total, err
	}
	slices.SortFunc(places, comparePlaces)
	total.samples, err = k.samplesAt(ctx, p, places[:min(len(places), int(k.check.Samples))])
	return total, err
}

func comparePlaces(a, b rowPlace) int {
	return cmp.Or(cmp.Compare(a.unit.index, b.unit.index), cmp.Compare(a.row, b.row))
}

// units are the row groups that were read, in order.
func (k *keyCheck) units(p *judgement) []*unit {
	return slices.DeleteFunc(p.units(), func(u *unit) bool { return u.file.live && !k.spansLive })
}

// samplesAt reads what is shown of some rows, which are in order.
func (k *keyCheck) samplesAt(ctx context.Context, p *judgement, places []rowPlace) ([]Sample, error) {
	var units []*unit
	for _, at := range places {
		if n := len(units); n == 0 || units[n-1].index != at.unit.index {
			units = append(units, at.unit)
		}
	}
	var samples []Sample
	err := k.rescan(ctx, p, units, pass{
		open: func(*unit) state { return &shownRows{of: k, places: places} },
		take: func(s state) { samples = append(samples, s.(*shownRows).samples...) },
	})
	return samples, err
}

// rescan reads the key's columns of some units again, where rows that the check
// leaves out are left out again.
func (k *keyCheck) rescan(ctx context.Context, p *judgement, units []*unit, again pass) error {
	return selection{k.slots, k.where}.rescan(ctx, p, units, again)
}

// shownRows makes samples of the rows of one unit.
type shownRows struct {
	of      *keyCheck
	places  []rowPlace
	samples []Sample
}

func (s *shownRows) add(v *view) {
	for _, at := range s.places {
		if at.unit.index != v.unit.index || at.row < v.first {
			continue
		}
		// Rows of a view are in order, though not all need be there.
		row, there := sort.Find(v.rows, func(row int) int { return cmp.Compare(at.row, v.place(row)) })
		if there {
			s.samples = append(s.samples, s.of.sample(v, row, newPositions(v, s.of.slots).of(row)))
		}
	}
}

// gathering puts the rows of candidates into groups by their keys.
type gathering struct {
	of      *keyCheck
	number  map[uint64]int32 // of a candidate, by its hash
	filter  []uint64         // bits: whether a hash can be a candidate's
	shift   uint             // of a hash, to its bit in filter
	all     groups
	surplus int64
	places  []rowPlace // of the first surplus rows
	copies  copied
}

// filterBits is how many bits of the filter there are for a candidate, at least.
const filterBits = 16

func (k *keyCheck) gather(c candidates) *gathering {
	width := uint(max(6, bits.Len(uint(len(c.heads)*filterBits))))
	g := &gathering{
		of: k, number: make(map[uint64]int32, len(c.heads)),
		filter: make([]uint64, 1<<width/64), shift: 64 - width, all: newGroups(len(c.heads)),
	}
	for i, h := range c.heads {
		g.number[h] = int32(i)
		at := h >> g.shift
		g.filter[at/64] |= 1 << (at % 64)
	}
	return g
}

// find returns a hash's number among the candidates.
func (g *gathering) find(hash uint64) (int32, bool) {
	if at := hash >> g.shift; g.filter[at/64]>>(at%64)&1 == 0 {
		return 0, false
	}
	n, ok := g.number[g.of.keys.set.head(hash)]
	return n, ok
}

func (g *gathering) open(u *unit) state {
	return &unitGroups{of: g, unit: u, hasher: keyHasher{slots: g.of.slots}, groups: newGroups(len(g.number))}
}

// unitGroups are the groups of one unit's rows.
type unitGroups struct {
	of     *gathering
	unit   *unit
	hasher keyHasher
	groups
	later []int64 // rows that are not the first of their group: the first few
}

func (s *unitGroups) add(v *view) {
	hashes, flags := s.hasher.hash(v)
	check := s.of.of
	var at *positions
	for row, h := range hashes {
		n, candidate := s.of.find(h)
		if !candidate || flags != nil && check.role(flags[row]) != keyTested {
			continue
		}
		if at == nil {
			at = newPositions(v, check.slots)
		}
		start := len(s.arena)
		s.arena = s.hasher.appendTuple(s.arena, v, at.of(row))
		if known := s.count(n, start, 1); !known {
			s.list[len(s.list)-1].first = v.place(row)
		} else if int64(len(s.later)) < check.check.Samples {
			s.later = append(s.later, v.place(row))
		}
	}
}

// merge takes in the groups of the next unit.
func (g *gathering) merge(st state) {
	s := st.(*unitGroups)
	more := s.later
	for i := range s.list {
		group := &s.list[i]
		start := len(g.all.arena)
		g.all.arena = append(g.all.arena, s.arena[group.start:group.end]...)
		g.surplus += group.count
		at, known := g.all.find(group.number, start, group.count)
		if !known {
			g.all.list[at].file = s.unit.file
			g.surplus--
			g.copies.add(s.unit.file, s.unit.file, group.count-1)
		} else {
			g.copies.add(g.all.list[at].file, s.unit.file, group.count)
		}
		if !known {
			continue
		}
		if int64(len(g.places)) < g.of.check.Samples {
			more = append(more, group.first)
		}
	}
	slices.Sort(more)
	for _, row := range more {
		if int64(len(g.places)) < g.of.check.Samples {
			g.places = append(g.places, rowPlace{s.unit, row})
		}
	}
}

// groups counts rows by key.
type groups struct {
	heads []int32 // by candidate: its first group, or -1
	list  []group
	arena []byte // the keys
}

type group struct {
	start, end int // of its key, in the arena
	count      int64
	first      int64     // row in the file; of unitGroups
	number     int32     // of the candidate
	next       int32     // another key with the same hash, or -1
	file       *openFile // where it stands first; of all groups
}

func newGroups(candidates int) groups {
	g := groups{heads: make([]int32, candidates)}
	for i := range g.heads {
		g.heads[i] = -1
	}
	return g
}

// count adds n rows of the key that stands in the arena from start on, and
// reports whether there were some. If so, the arena is cut back.
func (g *groups) count(candidate int32, start int, n int64) (known bool) {
	_, known = g.find(candidate, start, n)
	return known
}

// find is count, with the place of the group in the list.
func (g *groups) find(candidate int32, start int, n int64) (at int32, known bool) {
	key := g.arena[start:]
	for i := g.heads[candidate]; i >= 0; i = g.list[i].next {
		if have := &g.list[i]; string(g.arena[have.start:have.end]) == string(key) {
			have.count += n
			g.arena = g.arena[:start]
			return i, true
		}
	}
	g.list = append(g.list, group{
		start: start, end: len(g.arena), count: n, number: candidate, next: g.heads[candidate],
	})
	g.heads[candidate] = int32(len(g.list) - 1)
	return g.heads[candidate], false
}
