package audit

import (
	"fmt"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// hiveNull is what Hive and Spark write as the value of a key that is NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// constantOf is a partition key as a column: a dictionary of one value, or a
// vector of NULLs. Entries are filled in for each batch.
func constantOf(key manifest.KeyValue) (*scan.Vector, error) {
	t := scan.Type{Kind: scan.String}
	if key.Type != "" {
		var err error
		if t, err = scan.ParseType(key.Type); err != nil {
			return nil, fmt.Errorf("partition key %s: %w", key.Name, err)
		}
	}
	c := &scan.Column{
		Index: -1, Path: []string{key.Name}, Dotted: key.Name, Type: t,
		Physical: constantPhysical(t), Repetition: scan.Optional, MaxDef: 1, Absent: []uint8{1},
	}
	v := &scan.Vector{Column: c, Need: scan.ReadValues}
	if key.Value == hiveNull {
		return v, nil
	}
	values, err := constantValue(c, key)
	if err != nil {
		return nil, err
	}
	v.Dict = &scan.Dictionary{Len: 1, Values: values}
	return v, nil
}

// constantPhysical holds small integers as 64-bit ones and small floats as
// doubles: the readers of values go by the slice that is set.
func constantPhysical(t scan.Type) scan.Physical {
	switch t.Kind {
	case scan.Bool:
		return scan.PhysBool
	case scan.Int8, scan.Int16, scan.Int32, scan.Int64, scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64,
		scan.Date, scan.Time, scan.Timestamp:
		return scan.PhysInt64
	case scan.Float16, scan.Float, scan.Double:
		return scan.PhysDouble
	}
	return scan.PhysBytes
}

// constantValue reads the text of a key as its type. `01` is the integer 1.
func constantValue(c *scan.Column, key manifest.KeyValue) (scan.Values, error) {
	bad := fmt.Errorf("partition key %s: %q is not a value of type %s", key.Name, key.Value, c.Type)
	switch classOf(c) {
	case boolean:
		lit, err := plainLiteral(key.Value)
		if err != nil || lit.kind != litBool {
			return scan.Values{}, bad
		}
		return scan.Values{Bools: []bool{lit.yes}}, nil
	case signed, unsigned, wide:
		return constantExact(c, key.Value, bad)
	case floating:
		n, err := parseNumber(key.Value)
		if err != nil {
			return scan.Values{}, bad
		}
		f := n.float64()
		if c.Type.Kind != scan.Double {
			f = n.float32()
		}
		return scan.Values{Doubles: []float64{f}}, nil
	case texts:
		b, err := bytesLiteral(c, literal{kind: litText, text: key.Value})
		if err != nil {
			return scan.Values{}, bad
		}
		return scan.Values{Bytes: oneString(b)}, nil
	}
	return scan.Values{}, bad
}

func constantExact(c *scan.Column, text string, bad error) (scan.Values, error) {
	lit := literal{kind: litText, text: text}
	switch c.Type.Kind {
	case scan.Date, scan.Time, scan.Timestamp:
	default:
		n, err := parseNumber(text)
		if err != nil {
			return scan.Values{}, bad
		}
		lit = literal{kind: litNumber, num: n}
	}
	n, err := exactLiteral(c, lit)
	if err != nil {
		return scan.Values{}, bad
	}
	floor, ceil := n.at(scaleOf(c))
	switch {
	case floor.Cmp(ceil) != 0:
		return scan.Values{}, bad
	case classOf(c) == wide:
		return scan.Values{Bytes: oneString(bytesOf(floor))}, nil
	case classOf(c) == unsigned && floor.IsUint64():
		return scan.Values{Int64s: []int64{int64(floor.Uint64())}}, nil
	case classOf(c) == signed && floor.IsInt64():
		return scan.Values{Int64s: []int64{floor.Int64()}}, nil
	}
	return scan.Values{}, bad
}

// bytesOf writes a big-endian signed integer, the inverse of twosComplement.
func bytesOf(n *big.Int) []byte {
	width := n.BitLen()/8 + 1
	if n.Sign() >= 0 {
		return n.FillBytes(make([]byte, width))
	}
	return new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(width)*8)).FillBytes(make([]byte, width))
}

// oneString is a list with one byte string.
func oneString(b []byte) scan.Bytes {
	return scan.Bytes{Data: b, Offsets: []uint32{0, uint32(len(b))}}
}

// repeatConstant gives the key's vector the length of a batch.
func repeatConstant(v *scan.Vector, rows int) *scan.Vector {
	out := *v
	out.Entries = rows
	if v.Dict == nil {
		out.Def = make([]uint8, rows)
		return &out
	}
	out.Present, out.Indices = rows, make([]uint32, rows)
	return &out
}
