package audit

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/wap-cli/wap/audit/scan"
)

// ordered is a number, or a time, in a form that two unsigned comparisons order.
type ordered struct{ hi, lo uint64 }

const topBit = 1 << 63

func (o ordered) compare(p ordered) int {
	switch {
	case o == p:
		return 0
	case o.hi < p.hi || o.hi == p.hi && o.lo < p.lo:
		return -1
	}
	return 1
}

// hasOrdered reports whether a column's values have this form: those of wide
// decimals do as far as 128 bits go.
func hasOrdered(c *scan.Column) bool {
	switch classOf(c) {
	case signed, unsigned, floating:
		return true
	case wide:
		return c.Type.Kind != scan.Decimal || c.Type.Precision <= 38
	}
	return false
}

// orderedAt is value i of a column; ok is false for NaN, and for a number of more
// than 128 bits.
func orderedAt(c *scan.Column, v *scan.Values, i int) (o ordered, ok bool) {
	switch classOf(c) {
	case signed:
		x := c.Int64At(v, i)
		return ordered{uint64(x>>63) ^ topBit, uint64(x)}, true
	case unsigned:
		return ordered{topBit, c.Uint64At(v, i)}, true
	case floating:
		f := canonicalFloat(c.FloatAt(v, i))
		b := math.Float64bits(f)
		if b&topBit != 0 {
			return ordered{0, ^b}, f == f
		}
		return ordered{0, b | topBit}, f == f
	}
	if c.Type.Kind == scan.Decimal {
		n, ok := c.DecimalAt(v, i)
		return ordered{uint64(n.Hi) ^ topBit, n.Lo}, ok
	}
	n := wideAt(c, v, i)
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return ordered{uint64(new(big.Int).Rsh(n, 64).Int64()) ^ topBit, low.Uint64()}, n.BitLen() < 127
}

// exact is the value of an exact column in stored units.
func (o ordered) exact() *big.Int {
	return scan.Int128{Hi: int64(o.hi ^ topBit), Lo: o.lo}.Big()
}

// float is the value of a floating column.
func (o ordered) float() float64 {
	if o.lo&topBit != 0 {
		return math.Float64frombits(o.lo ^ topBit)
	}
	return math.Float64frombits(^o.lo)
}

// text is the value as reports show it.
func (o ordered) text(c *scan.Column) string {
	if classOf(c) == floating {
		return floatText(o.float(), c.Type.Kind)
	}
	return exactText(c, o.exact())
}

func (o ordered) put(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, o.hi)
	return binary.BigEndian.AppendUint64(dst, o.lo)
}

func (o ordered) get(src []byte) ordered {
	return ordered{binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:])}
}
