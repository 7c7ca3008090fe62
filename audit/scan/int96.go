package scan

import (
	"encoding/binary"
	"math"
	"time"
)

// Int96 is a deprecated Parquet timestamp as stored: nanoseconds of the day,
// then the Julian day, both little-endian. It stands for an instant in UTC.
type Int96 [12]byte

const (
	julianEpoch   = 2440588 // the Julian day of 1970-01-01
	secondsPerDay = 86400
)

// Instant returns whole seconds since 1970-01-01T00:00:00Z and the nanoseconds,
// 0 ≤ nanos < 1e9, to be added. It covers every stored value, nanoseconds
// beyond one day included.
func (t Int96) Instant() (seconds int64, nanos int32) {
	ofDay := int64(binary.LittleEndian.Uint64(t[:8]))
	day := int64(int32(binary.LittleEndian.Uint32(t[8:])))
	s, n := ofDay/1e9, ofDay%1e9
	if n < 0 {
		s, n = s-1, n+1e9
	}
	return (day-julianEpoch)*secondsPerDay + s, int32(n)
}

// UnixNano returns nanoseconds since 1970-01-01T00:00:00Z. ok is false when
// they do not fit, which is before 1677 or after 2262.
func (t Int96) UnixNano() (ns int64, ok bool) {
	const second = int64(time.Second)
	s, n := t.Instant()
	last, first := math.MaxInt64/second, math.MinInt64/second-1
	switch {
	case s > last || s == last && int64(n) > math.MaxInt64%second:
		return 0, false
	case s < first || s == first && int64(n) < second+math.MinInt64%second:
		return 0, false
	case s < 0:
		// Counted from the next second, whose product does not overflow.
		return (s+1)*second + (int64(n) - second), true
	}
	return s*second + int64(n), true
}
