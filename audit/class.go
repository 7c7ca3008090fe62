package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wap-cli/wap/audit/scan"
)

// class is how the values of a column are held and compared.
type class uint8

const (
	opaque   class = iota // compared as bytes, without an order that means anything
	boolean               // Bools
	signed                // Int32s or Int64s: integers, dates, times, timestamps, small decimals
	unsigned              // Int32s or Int64s, reinterpreted
	wide                  // decimals stored as bytes and INT96, as big integers
	floating              // Floats, Doubles, or two bytes each
	texts                 // Bytes: strings, and byte strings with an order
	nothing               // type null: no value ever
)

func classOf(c *scan.Column) class {
	switch c.Type.Kind {
	case scan.Null:
		return nothing
	case scan.Bool:
		return boolean
	case scan.Int8, scan.Int16, scan.Int32, scan.Int64, scan.Date, scan.Time:
		return signed
	case scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64:
		return unsigned
	case scan.Float16, scan.Float, scan.Double:
		return floating
	case scan.Decimal:
		if c.Physical == scan.PhysInt32 || c.Physical == scan.PhysInt64 {
			return signed
		}
		return wide
	case scan.Timestamp:
		if c.Physical == scan.PhysInt96 {
			return wide
		}
		return signed
	case scan.String, scan.Enum, scan.JSON, scan.Binary, scan.FixedBinary, scan.UUID:
		return texts
	}
	return opaque
}

// scaleOf is the number of decimal digits behind the point of a stored unit:
// 2 for decimal(18, 2), 6 for microseconds, 0 for integers and days.
func scaleOf(c *scan.Column) int {
	switch c.Type.Kind {
	case scan.Decimal:
		return c.Type.Scale
	case scan.Timestamp, scan.Time:
		if c.Physical == scan.PhysInt96 {
			return 9
		}
		switch c.Type.Unit {
		case scan.Milli:
			return 3
		case scan.Micro:
			return 6
		case scan.Nano:
			return 9
		}
	}
	return 0
}

// wideAt returns value i of a wide column as an integer of stored units; INT96
// gives nanoseconds since 1970.
func wideAt(c *scan.Column, v *scan.Values, i int) *big.Int {
	if c.Physical != scan.PhysInt96 {
		return c.BigDecimalAt(v, i)
	}
	s, n := v.Int96s[i].Instant()
	out := big.NewInt(s)
	return out.Add(out.Mul(out, big.NewInt(1e9)), big.NewInt(int64(n)))
}

// exactAt returns value i of a signed, unsigned or wide column.
func exactAt(c *scan.Column, v *scan.Values, i int) *big.Int {
	switch classOf(c) {
	case signed:
		return big.NewInt(c.Int64At(v, i))
	case unsigned:
		return new(big.Int).SetUint64(c.Uint64At(v, i))
	}
	return wideAt(c, v, i)
}

// appendKey appends value i in a form that is equal exactly when the values
// are: whatever the encoding or the physical type of a decimal, all NaNs are
// one, and so are both zeros.
func appendKey(dst []byte, c *scan.Column, v *scan.Values, i int) []byte {
	switch classOf(c) {
	case boolean:
		if v.Bools[i] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case signed:
		return binary.BigEndian.AppendUint64(dst, uint64(c.Int64At(v, i)))
	case unsigned:
		return binary.BigEndian.AppendUint64(dst, c.Uint64At(v, i))
	case wide:
		n := wideAt(c, v, i)
		if n.IsInt64() {
			return binary.BigEndian.AppendUint64(dst, uint64(n.Int64()))
		}
		dst = append(dst, byte(n.Sign()+1))
		return append(dst, new(big.Int).Abs(n).Bytes()...)
	case floating:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(canonicalFloat(c.FloatAt(v, i))))
	}
	return append(dst, rawAt(v, i)...)
}

// canonicalFloat makes equal keys equal bits.
func canonicalFloat(f float64) float64 {
	switch {
	case f != f:
		return math.NaN()
	case f == 0:
		return 0
	}
	return f
}

// rawAt returns the stored bytes of value i, for classes without a number.
func rawAt(v *scan.Values, i int) []byte {
	switch {
	case v.Int96s != nil:
		return v.Int96s[i][:]
	case v.Bools != nil:
		if v.Bools[i] {
			return []byte{1}
		}
		return []byte{0}
	case v.Floats != nil:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v.Floats[i]))
	case v.Doubles != nil:
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Doubles[i]))
	case v.Int32s != nil:
		return binary.LittleEndian.AppendUint32(nil, uint32(v.Int32s[i]))
	case v.Int64s != nil:
		return binary.LittleEndian.AppendUint64(nil, uint64(v.Int64s[i]))
	}
	return v.Bytes.At(i)
}

// textAt writes value i as reports show it.
func textAt(c *scan.Column, v *scan.Values, i int) string {
	switch classOf(c) {
	case boolean:
		return strconv.FormatBool(v.Bools[i])
	case signed, unsigned, wide:
		return exactText(c, exactAt(c, v, i))
	case floating:
		return floatText(c.FloatAt(v, i), c.Type.Kind)
	case nothing:
		return "null"
	}
	return bytesText(c, rawAt(v, i))
}

func bytesText(c *scan.Column, b []byte) string {
	if c.Type.Kind == scan.UUID && len(b) == 16 {
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	// Cut before anything is made of it: a value may be as large as a page.
	if len(b) > maxCell+utf8.UTFMax {
		b = b[:maxCell+utf8.UTFMax]
	}
	if utf8.Valid(b) || classOf(c) == texts && c.Type.Kind != scan.Binary && c.Type.Kind != scan.FixedBinary {
		return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
	}
	return "0x" + hex.EncodeToString(b)
}

func floatText(f float64, k scan.Kind) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	bits := 64
	if k == scan.Float || k == scan.Float16 {
		bits = 32
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// exactText writes an integer of stored units as the column's type shows it.
func exactText(c *scan.Column, n *big.Int) string {
	scale := scaleOf(c)
	switch c.Type.Kind {
	case scan.Date:
		if n.IsInt64() && inCalendar(n.Int64()*86400) {
			return time.Unix(n.Int64()*86400, 0).UTC().Format(time.DateOnly)
		}
		return n.String() + " days"
	case scan.Timestamp, scan.Time:
		return timeText(c.Type, n, scale)
	}
	return decimalText(n, scale)
}

// inCalendar reports whether a time can be written with a year of four digits.
func inCalendar(seconds int64) bool {
	return seconds >= -62135596800 && seconds < 253402300800
}

func timeText(t scan.Type, n *big.Int, scale int) string {
	per := pow10(scale)
	s, rest := new(big.Int).DivMod(n, per, new(big.Int))
	if !s.IsInt64() || !inCalendar(s.Int64()) {
		return fmt.Sprintf("%s %s", n, t.Unit)
	}
	at := time.Unix(s.Int64(), rest.Int64()*pow10(9-scale).Int64()).UTC()
	switch {
	case t.Kind == scan.Time:
		return at.Format("15:04:05.999999999")
	case t.UTC:
		return at.Format("2006-01-02T15:04:05.999999999Z")
	}
	return at.Format("2006-01-02T15:04:05.999999999")
}
