package expr

import (
	"math/big"
	"strings"
	"time"
)

// parseTime reads a text as a value of a kind: days of a date, seconds of others.
func parseTime(k Kind, text string) (decimal, bool) {
	text = strings.Replace(text, " ", "T", 1)
	var layouts []string
	switch k {
	case Date:
		layouts = []string{time.DateOnly}
	case Time:
		layouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04"}
		text = "1970-01-01T" + text
	case Timestamp:
		layouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly}
	case Instant:
		layouts = []string{time.RFC3339}
	}
	for _, layout := range layouts {
		at, err := time.Parse(layout, text)
		switch {
		case err != nil:
		case k == Date:
			return decimal{big.NewInt(at.Unix() / 86400), 0}, true
		default:
			n := big.NewInt(at.Unix())
			n.Mul(n, big.NewInt(1e9))
			return decimal{n.Add(n, big.NewInt(int64(at.Nanosecond()))), 9}, true
		}
	}
	return decimal{}, false
}

func timeHint(k Kind) string {
	switch k {
	case Date:
		return ", write 2025-03-05"
	case Time:
		return ", write 12:30:00"
	case Instant:
		return ", which needs its offset, like 2025-03-05T00:00:00Z"
	}
	return ", which has no offset, like 2025-03-05T00:00:00"
}

// parseUUID returns the 16 bytes of a UUID.
func parseUUID(text string) (string, bool) {
	hex := strings.ReplaceAll(text, "-", "")
	n, ok := new(big.Int).SetString(hex, 16)
	if len(text) != 36 || len(hex) != 32 || !ok || n.Sign() < 0 {
		return "", false
	}
	return string(n.FillBytes(make([]byte, 16))), true
}

// dayOf is the day that a time lies in, of an instant in a zone, UTC when nil.
func dayOf(t Type, n decimal, zone *time.Location) (int64, bool) {
	seconds, _ := n.floorSeconds()
	if !seconds.IsInt64() {
		return 0, false
	}
	return dayAt(t, seconds.Int64(), zone), true
}

// dayAt is dayOf whole seconds.
func dayAt(t Type, s int64, zone *time.Location) int64 {
	if t.Kind == Instant && zone != nil {
		_, offset := time.Unix(s, 0).In(zone).Zone()
		s += int64(offset)
	}
	return floorDiv(s, 86400)
}

// floorSeconds takes a time into whole seconds and what is left of them.
func (d decimal) floorSeconds() (seconds, rest *big.Int) {
	return new(big.Int).DivMod(d.unscaled, powerOf10(d.scale), new(big.Int))
}

// timeText writes a date or a time as its literal is written.
func timeText(t Type, n decimal) (string, bool) {
	seconds, rest := n.floorSeconds()
	if t.Kind == Date {
		seconds.Mul(seconds, big.NewInt(86400))
	}
	if !seconds.IsInt64() || seconds.Int64() < -62135596800 || seconds.Int64() >= 253402300800 {
		return "", false
	}
	at := time.Unix(seconds.Int64(), rest.Int64()*powerOf10(9-n.scale).Int64()).UTC()
	switch t.Kind {
	case Date:
		return at.Format(time.DateOnly), true
	case Time:
		return at.Format("15:04:05.999999999"), true
	case Instant:
		return at.Format("2006-01-02T15:04:05.999999999Z"), true
	}
	return at.Format("2006-01-02T15:04:05.999999999"), true
}
