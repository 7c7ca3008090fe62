package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// StatisticsCheck compares one column chunk's statistics with its data. Bounds
// are held to be bounds, no more: a writer may cut them short. NULL counts are
// judged where everybody counts alike, which is outside repeated columns.
type StatisticsCheck struct {
	column  *Column
	claim   Statistics
	nulls   int64
	below   int64 // values below Min
	above   int64 // values above Max
	dict    *Dictionary
	outside []int8 // of each dictionary value: −1 below, +1 above; nil: none is
	scratch [8]byte
}

// CheckStatistics begins a comparison for one column chunk.
func (f *File) CheckStatistics(rg, column int) (*StatisticsCheck, error) {
	claim, err := f.Statistics(rg, column)
	if err != nil {
		return nil, err
	}
	c := &f.columns[column]
	if c.Physical == PhysFloat || c.Physical == PhysDouble || c.Type.Kind == Float16 {
		// A NaN bounds nothing.
		if claim.Min != nil && len(claim.Min) == c.width() && math.IsNaN(c.float(claim.Min)) {
			claim.Min = nil
		}
		if claim.Max != nil && len(claim.Max) == c.width() && math.IsNaN(c.float(claim.Max)) {
			claim.Max = nil
		}
	}
	if !claim.Comparable {
		claim.Min, claim.Max = nil, nil
	}
	return &StatisticsCheck{column: c, claim: claim}, nil
}

// Observe takes in one batch of the chunk, of either Need: levels alone can
// judge the NULL count.
func (s *StatisticsCheck) Observe(v *Vector) {
	s.nulls += int64(v.Entries - v.Present)
	if v.Need != ReadValues || s.claim.Min == nil && s.claim.Max == nil {
		return
	}
	if v.Dict == nil {
		s.values(&v.Values, v.Present)
		return
	}
	if s.dict != v.Dict {
		s.judge(v.Dict)
	}
	if s.outside != nil {
		for _, at := range v.Indices {
			s.count(s.outside[at])
		}
	}
}

// ObserveLevels takes in all of the chunk's levels.
func (s *StatisticsCheck) ObserveLevels(c *LevelCounts) { s.nulls += c.Nulls() }

// values compares n values: in a loop of their own where they are plain numbers
// or strings, which most are.
func (s *StatisticsCheck) values(v *Values, n int) {
	if s.claim.Min != nil && s.claim.Max != nil {
		c := s.column
		switch {
		case c.Physical == PhysInt32 && !c.unsigned():
			s.add(outside(v.Int32s, int32(le32(s.claim.Min)), int32(le32(s.claim.Max))))
			return
		case c.Physical == PhysInt64 && !c.unsigned():
			s.add(outside(v.Int64s, int64(le64(s.claim.Min)), int64(le64(s.claim.Max))))
			return
		case c.Physical == PhysDouble:
			s.add(outside(v.Doubles, c.float(s.claim.Min), c.float(s.claim.Max)))
			return
		case c.Physical == PhysBytes && c.Type.Kind != Decimal:
			s.strings(&v.Bytes)
			return
		}
	}
	for i := range n {
		s.count(s.side(v, i))
	}
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// outside counts values below lo and above hi. A NaN is neither.
func outside[T int32 | int64 | float64](values []T, lo, hi T) (below, above int64) {
	for _, x := range values {
		if x < lo {
			below++
		}
		if x > hi {
			above++
		}
	}
	return below, above
}

func (s *StatisticsCheck) add(below, above int64) {
	s.below += below
	s.above += above
}

// strings settles most values by their first eight bytes.
func (s *StatisticsCheck) strings(b *Bytes) {
	lo, hi := prefix(s.claim.Min), prefix(s.claim.Max)
	for i := range b.count {
		x := b.At(i)
		if p := prefix(x); p > lo && p < hi {
			continue
		}
		switch {
		case bytes.Compare(x, s.claim.Min) < 0:
			s.below++
		case bytes.Compare(x, s.claim.Max) > 0:
			s.above++
		}
	}
}

// prefix is the first eight bytes as a number that orders as they do; a shorter
// string counts as if zeros followed.
func prefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var word [8]byte
	copy(word[:], b)
	return binary.BigEndian.Uint64(word[:])
}

// judge compares every value of a dictionary once.
func (s *StatisticsCheck) judge(d *Dictionary) {
	s.dict, s.outside = d, nil
	for i := range d.Len {
		side := s.side(&d.Values, i)
		if side == 0 {
			continue
		}
		if s.outside == nil {
			s.outside = make([]int8, d.Len)
		}
		s.outside[i] = side
	}
}

func (s *StatisticsCheck) count(side int8) {
	switch {
	case side < 0:
		s.below++
	case side > 0:
		s.above++
	}
}

// side is −1 for a value below the claimed minimum, +1 for one above the
// maximum, else 0.
func (s *StatisticsCheck) side(v *Values, i int) int8 {
	b := s.plain(v, i)
	switch {
	case s.claim.Min != nil && s.column.compare(b, s.claim.Min) < 0:
		return -1
	case s.claim.Max != nil && s.column.compare(b, s.claim.Max) > 0:
		return 1
	}
	return 0
}

// plain is a value in the form that statistics have.
func (s *StatisticsCheck) plain(v *Values, i int) []byte {
	b := s.scratch[:0]
	switch s.column.Physical {
	case PhysBool:
		if v.Bools[i] {
			return append(b, 1)
		}
		return append(b, 0)
	case PhysInt32:
		return binary.LittleEndian.AppendUint32(b, uint32(v.Int32s[i]))
	case PhysInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int64s[i]))
	case PhysFloat:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Floats[i]))
	case PhysDouble:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Doubles[i]))
	}
	return v.Bytes.At(i)
}

// Result says how the statistics disagree with what was observed; empty when
// they do not. It is meaningful once the whole chunk was observed.
func (s *StatisticsCheck) Result() string {
	n := s.claim.NullCount
	switch {
	case n != nil && *n != s.nulls && s.column.MaxRep == 0:
		return fmt.Sprintf("statistics say %d NULLs, there are %d", *n, s.nulls)
	case s.below > 0:
		return fmt.Sprintf("%d values are below the statistics' minimum", s.below)
	case s.above > 0:
		return fmt.Sprintf("%d values are above the statistics' maximum", s.above)
	}
	return ""
}
