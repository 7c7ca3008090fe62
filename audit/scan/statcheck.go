package scan

import (
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
		for i := range v.Present {
			s.count(s.side(&v.Values, i))
		}
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
