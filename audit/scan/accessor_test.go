package scan

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"
	"time"
)

func int96Of(day int32, nanos int64) (v Int96) {
	binary.LittleEndian.PutUint64(v[:8], uint64(nanos))
	binary.LittleEndian.PutUint32(v[8:], uint32(day))
	return v
}

func TestInt96(t *testing.T) {
	const epoch = 2440588
	const noon = 12 * int64(time.Hour)
	tests := []struct {
		name    string
		in      Int96
		seconds int64
		nanos   int32
		ok      bool
	}{
		{"epoch", int96Of(epoch, 0), 0, 0, true},
		{"a day and a bit", int96Of(epoch+1, 1), 86400, 1, true},
		{"before the epoch", int96Of(epoch-1, noon+7), -43200, 7, true},
		{"more than a day's nanoseconds", int96Of(epoch, 25*int64(time.Hour)), 90000, 0, true},
		{"negative nanoseconds", int96Of(epoch, -1), -1, 999_999_999, true},
		{"last of 64 bits", int96Of(epoch+106751, 85636854775807), 9223372036, 854775807, true},
		{"one later", int96Of(epoch+106751, 85636854775808), 9223372036, 854775808, false},
		{"first of 64 bits", int96Of(epoch-106752, 763145224192), -9223372037, 145224192, true},
		{"one earlier", int96Of(epoch-106752, 763145224191), -9223372037, 145224191, false},
		{"year 9999", int96Of(5373484, 0), 253402214400, 0, false},
		{"day 0", int96Of(0, 0), -epoch * 86400, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, n := test.in.Instant()
			if s != test.seconds || n != test.nanos {
				t.Errorf("instant %d %d, want %d %d", s, n, test.seconds, test.nanos)
			}
			ns, ok := test.in.UnixNano()
			if ok != test.ok {
				t.Fatalf("fits: %v, want %v", ok, test.ok)
			}
			if ok && ns != time.Unix(test.seconds, int64(test.nanos)).UnixNano() {
				t.Errorf("%d ns", ns)
			}
		})
	}
}

func TestDecimalsOfAnyLength(t *testing.T) {
	numbers := []string{
		"0", "1", "-1", "127", "-128", "255", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
		"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
		"170141183460469231731687303715884105727", "-170141183460469231731687303715884105728",
		"170141183460469231731687303715884105728", "-170141183460469231731687303715884105729",
		"9999999999999999999999999999999999999999999999999999999999999999999999999999",
	}
	c := &Column{Physical: PhysBytes, Type: Type{Kind: Decimal, Precision: 76}}
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	for _, text := range numbers {
		n, _ := new(big.Int).SetString(text, 10)
		for _, width := range []int{n.BitLen()/8 + 1, 16, 17, 20, 40} {
			if width < n.BitLen()/8+1 {
				continue
			}
			var v Values
			v.Bytes.append(twosComplement(n, width))
			if got := c.BigDecimalAt(&v, 0); got.Cmp(n) != 0 {
				t.Errorf("%s in %d bytes: %s", text, width, got)
			}
			fits := n.Cmp(limit) < 0 && n.Cmp(new(big.Int).Neg(limit)) >= 0
			if _, ok := c.DecimalAt(&v, 0); ok != fits {
				t.Errorf("%s in %d bytes fits: %v, want %v", text, width, ok, fits)
			}
		}
	}
}

func twosComplement(n *big.Int, width int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return n.FillBytes(make([]byte, width))
}

func TestInt128Add(t *testing.T) {
	top := Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	bottom := Int128{Hi: math.MinInt64}
	one, minusOne := Int128{Lo: 1}, Int128{Hi: -1, Lo: math.MaxUint64}
	tests := []struct {
		a, b, sum Int128
		ok        bool
	}{
		{Int128{Lo: math.MaxUint64}, one, Int128{Hi: 1}, true},
		{top, minusOne, Int128{Hi: math.MaxInt64, Lo: math.MaxUint64 - 1}, true},
		{top, bottom, minusOne, true},
		{top, one, bottom, false},
		{bottom, minusOne, top, false},
		{one, minusOne, Int128{}, true},
	}
	for _, test := range tests {
		sum, ok := test.a.Add(test.b)
		if sum != test.sum || ok != test.ok {
			t.Errorf("%v + %v = %v %v, want %v %v", test.a, test.b, sum, ok, test.sum, test.ok)
		}
	}
}

func TestFloat16(t *testing.T) {
	tests := map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: math.Ldexp(1, -14), 0x0001: math.Ldexp(1, -24),
		0x3555: 0.333251953125, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	}
	for bits, want := range tests {
		if got := float16(bits); got != want {
			t.Errorf("float16(%04x) = %v, want %v", bits, got, want)
		}
	}
	if !math.IsNaN(float16(0x7e00)) || !math.Signbit(float16(0x8000)) {
		t.Error("NaN or −0 is lost")
	}
}

func TestUnsigned(t *testing.T) {
	c32 := &Column{Physical: PhysInt32, Type: Type{Kind: Uint32}}
	c64 := &Column{Physical: PhysInt64, Type: Type{Kind: Uint64}}
	v := Values{Int32s: []int32{-1}, Int64s: []int64{-1}}
	if c32.Uint64At(&v, 0) != math.MaxUint32 || c32.Int64At(&v, 0) != math.MaxUint32 || c64.Uint64At(&v, 0) != math.MaxUint64 {
		t.Error("an unsigned value came out signed")
	}
}
