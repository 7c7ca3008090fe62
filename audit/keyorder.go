package audit

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// keyOrder finds that texts are all different without keeping them: where those
// of each row group rise, and no two row groups' ranges meet.
//
// That it may be so is a guess, made from the files' statistics. Texts of a row
// group that do not rise from its first batch on are hashed like any other key;
// where they cease to rise later, or ranges meet after all, the row group is read
// again for that.
type keyOrder struct {
	ranges []keyRange
}

// keyRange is what the texts of one row group were.
type keyRange struct {
	unit            *unit
	rows            int64 // that have one
	least, greatest []byte
	fate            keyFate
}

// keyFate is how the texts of a row group are told apart.
type keyFate uint8

const (
	keysRise   keyFate = iota
	keysHashed         // they are in the set
	keysLate           // they are to be hashed
)

// expectOrder guesses from statistics whether the ranges of a column of texts
// are apart.
func expectOrder(units []*unit, slot int) bool {
	var ranges []keyRange
	for _, u := range units {
		leaf := u.file.leaves[slot]
		if leaf == nil || leaf.Index < 0 || classOf(leaf) != texts {
			return false
		}
		if u.rows == 0 {
			continue
		}
		claim, err := u.file.scan.Statistics(u.group, u.file.refs[slot].Column)
		if err != nil || !claim.Comparable || claim.Min == nil || claim.Max == nil {
			return false
		}
		ranges = append(ranges, keyRange{unit: u, least: claim.Min, greatest: claim.Max})
	}
	return len(meeting(ranges)) == 0
}

// meeting sorts ranges, and returns those that share a text with another one, as
// far as their ends tell.
func meeting(ranges []keyRange) (meet []keyRange) {
	slices.SortFunc(ranges, func(a, b keyRange) int {
		return cmp.Or(bytes.Compare(a.least, b.least), cmp.Compare(a.unit.index, b.unit.index))
	})
	for from, to := 0, 0; from < len(ranges); from = to {
		greatest := ranges[from].greatest
		for to = from + 1; to < len(ranges) && bytes.Compare(ranges[to].least, greatest) <= 0; to++ {
			if bytes.Compare(greatest, ranges[to].greatest) < 0 {
				greatest = ranges[to].greatest
			}
		}
		if to > from+1 {
			meet = append(meet, ranges[from:to]...)
		}
	}
	return meet
}

// addRising takes in rows of a key that is one text, and none of which need be
// kept.
func (s *keyState) addRising(v *view) {
	vec := v.cols[s.of.slots[0]]
	s.tested += int64(vec.Present)
	if vec.Present < v.rows {
		w := s.of.keys.take()
		defer s.of.keys.give(w)
		s.addNulls(v, w)
	}
}

// take compares the texts of a batch with those before them, and reports whether
// they have to be hashed.
func (r *keyRange) take(vec *scan.Vector) bool {
	if vec.Present == 0 {
		return r.fate == keysHashed
	}
	at := func(i int) []byte { return vec.Values.Bytes.At(i) }
	if vec.Dict != nil {
		at = func(i int) []byte { return vec.Dict.Values.Bytes.At(int(vec.Indices[i])) }
	}
	least, greatest, next := r.least, r.greatest, 0
	if r.rows == 0 {
		least, greatest, next = at(0), at(0), 1
	}
	for i := next; i < vec.Present; i++ {
		x := at(i)
		if bytes.Compare(x, greatest) > 0 {
			greatest = x
			continue
		}
		switch {
		case r.fate != keysRise:
		case r.rows == 0:
			r.fate = keysHashed
		default:
			r.fate = keysLate
		}
		if bytes.Compare(x, least) < 0 {
			least = x
		}
	}
	// The batch's memory is used again.
	r.least, r.greatest = append(r.least[:0], least...), append(r.greatest[:0], greatest...)
	r.rows += int64(vec.Present)
	return r.fate == keysHashed
}

// hashLate reads the row groups again whose texts have to be hashed after all.
func (k *keyCheck) hashLate(ctx context.Context, p *judgement) error {
	if k.order == nil {
		return nil
	}
	late := slices.DeleteFunc(slices.Clone(k.order.ranges), func(r keyRange) bool { return r.fate != keysLate })
	late = append(late, meeting(k.order.ranges)...)
	var units []*unit
	for _, r := range late {
		if r.fate != keysHashed {
			units = append(units, r.unit)
		}
	}
	slices.SortFunc(units, func(a, b *unit) int { return cmp.Compare(a.index, b.index) })
	return k.rescan(ctx, p, slices.Compact(units), pass{
		open: func(u *unit) state { return k.hashing(u) },
		take: func(state) {},
	})
}
