package scan

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// BytesAt is present value i of a BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY column,
// looked up in the dictionary if need be. It must not be changed or kept.
func (v *Vector) BytesAt(i int) []byte {
	if v.Dict != nil {
		return v.Dict.Values.Bytes.At(int(v.Indices[i]))
	}
	return v.Values.Bytes.At(i)
}

// Lookup tells where value i stands: the dictionary's values and its position
// there, or the vector's own.
func (v *Vector) Lookup(i int) (*Values, int) {
	if v.Dict != nil {
		return &v.Dict.Values, int(v.Indices[i])
	}
	return &v.Values, i
}

// Int64At is value i of an INT32 or INT64 column of a signed type, or of an
// unsigned one of at most 32 bits.
func (c *Column) Int64At(v *Values, i int) int64 {
	if c.Physical == PhysInt64 {
		return v.Int64s[i]
	}
	switch n := v.Int32s[i]; c.Type.Kind {
	case Uint8, Uint16, Uint32:
		return int64(uint32(n))
	default:
		return int64(n)
	}
}

// Uint64At is value i of a column of an unsigned type.
func (c *Column) Uint64At(v *Values, i int) uint64 {
	if c.Physical == PhysInt64 {
		return uint64(v.Int64s[i])
	}
	return uint64(uint32(v.Int32s[i]))
}

// FloatAt is value i of a FLOAT, DOUBLE or half-float column.
func (c *Column) FloatAt(v *Values, i int) float64 {
	switch c.Physical {
	case PhysFloat:
		return float64(v.Floats[i])
	case PhysDouble:
		return v.Doubles[i]
	}
	return float16(binary.LittleEndian.Uint16(v.Bytes.At(i)))
}

// float16 widens an IEEE 754 half.
func float16(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	exp, frac := int(h>>10&0x1f), float64(h&0x3ff)
	switch exp {
	case 0:
		return math.Copysign(math.Ldexp(frac, -24), sign)
	case 0x1f:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// Int128 is a two's complement number of 128 bits.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Big returns n as a big integer.
func (n Int128) Big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(n.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(n.Lo))
}

// Cmp orders two numbers: −1, 0 or +1.
func (n Int128) Cmp(o Int128) int {
	switch {
	case n == o:
		return 0
	case n.Hi < o.Hi || n.Hi == o.Hi && n.Lo < o.Lo:
		return -1
	}
	return 1
}

// Add returns n + o. ok is false when the sum does not fit.
func (n Int128) Add(o Int128) (sum Int128, ok bool) {
	lo, carry := bits.Add64(n.Lo, o.Lo, 0)
	hi, _ := bits.Add64(uint64(n.Hi), uint64(o.Hi), carry)
	sum = Int128{Hi: int64(hi), Lo: lo}
	return sum, (n.Hi < 0) != (o.Hi < 0) || (sum.Hi < 0) == (n.Hi < 0)
}

// DecimalAt is the unscaled value i of a decimal column. ok is false when it
// needs more than 128 bits; BigDecimalAt has every value.
func (c *Column) DecimalAt(v *Values, i int) (n Int128, ok bool) {
	switch c.Physical {
	case PhysInt32:
		n := int64(v.Int32s[i])
		return Int128{Hi: n >> 63, Lo: uint64(n)}, true
	case PhysInt64:
		n := v.Int64s[i]
		return Int128{Hi: n >> 63, Lo: uint64(n)}, true
	}
	return int128(v.Bytes.At(i))
}

// int128 reads a big-endian two's complement number of any length. An empty one
// is 0.
func int128(b []byte) (n Int128, ok bool) {
	var sign byte
	if len(b) > 0 && b[0] >= 0x80 {
		sign = 0xff
	}
	for len(b) > 16 {
		if b[0] != sign {
			return n, false
		}
		b = b[1:]
	}
	if len(b) > 0 && b[0]&0x80 != sign&0x80 && len(b) == 16 {
		return n, false
	}
	n = Int128{Hi: int64(int8(sign)), Lo: uint64(int64(int8(sign)))}
	for _, x := range b {
		n.Hi = n.Hi<<8 | int64(n.Lo>>56)
		n.Lo = n.Lo<<8 | uint64(x)
	}
	return n, true
}

// BigDecimalAt is the unscaled value i of a decimal column of any precision.
func (c *Column) BigDecimalAt(v *Values, i int) *big.Int {
	if n, ok := c.DecimalAt(v, i); ok {
		return n.Big()
	}
	return bigDecimal(v.Bytes.At(i))
}

// bigDecimal reads a big-endian two's complement number of any length.
func bigDecimal(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}
