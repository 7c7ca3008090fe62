package audit

import "github.com/wap-cli/wap/audit/scan"

// chosen is a vector of some rows of another, in ascending order. It keeps the
// dictionary, so that what was found out about its values still holds.
func chosen(vec *scan.Vector, rows []int32) *scan.Vector {
	out := *vec
	values := rows
	out.Entries = len(rows)
	if vec.Rep != nil || vec.Def != nil {
		values = chooseLevels(&out, vec, rows)
	}
	out.Present = len(values)
	switch {
	case vec.Need == scan.ReadLevels && vec.Dict == nil:
	case vec.Dict != nil:
		out.Indices = choose(vec.Indices, values)
	default:
		out.Values = scan.Values{
			Bools: choose(vec.Values.Bools, values), Int32s: choose(vec.Values.Int32s, values),
			Int64s: choose(vec.Values.Int64s, values), Int96s: choose(vec.Values.Int96s, values),
			Floats: choose(vec.Values.Floats, values), Doubles: choose(vec.Values.Doubles, values),
		}
		if b := &vec.Values.Bytes; b.Width > 0 || len(b.Offsets) > 0 {
			out.Values.Bytes = chooseBytes(b, values)
		}
	}
	return &out
}

// chooseLevels sets the levels of out to those of the rows, and returns which
// values belong to them.
func chooseLevels(out, vec *scan.Vector, rows []int32) (values []int32) {
	out.Def, out.Rep, out.Entries = nil, nil, 0
	row, value, next := int32(-1), int32(0), 0
	for i := range vec.Entries {
		if vec.Rep == nil || vec.Rep[i] == 0 {
			row++
		}
		is := !vec.IsNull(i)
		for next < len(rows) && rows[next] < row {
			next++
		}
		if next < len(rows) && rows[next] == row {
			out.Entries++
			if vec.Def != nil {
				out.Def = append(out.Def, vec.Def[i])
			}
			if vec.Rep != nil {
				out.Rep = append(out.Rep, vec.Rep[i])
			}
			if is {
				values = append(values, value)
			}
		}
		if is {
			value++
		}
	}
	return values
}

func choose[T any](from []T, at []int32) []T {
	if from == nil {
		return nil
	}
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = from[k]
	}
	return out
}

func chooseBytes(from *scan.Bytes, at []int32) scan.Bytes {
	out := scan.Bytes{Width: from.Width}
	if from.Width == 0 {
		out.Offsets = []uint32{0}
	}
	for _, k := range at {
		out.Data = append(out.Data, from.At(int(k))...)
		if from.Width == 0 {
			out.Offsets = append(out.Offsets, uint32(len(out.Data)))
		}
	}
	return out
}
