package audit

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/wap-cli/wap/audit/scan"
)

// mismatch says that a literal cannot be compared with a column.
func mismatch(c *scan.Column, lit literal, hint string) error {
	err := fmt.Errorf("column %s is %s and cannot be compared with %s %s", c.Dotted, c.Type, lit.kind, lit)
	if lit.kind == litText {
		err = fmt.Errorf("column %s is %s and cannot be compared with the text %q", c.Dotted, c.Type, lit.text)
	}
	if hint != "" {
		err = fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// exactLiteral reads a literal as a number of the column's own unit: seconds
// for times, days for dates.
func exactLiteral(c *scan.Column, lit literal) (number, error) {
	switch c.Type.Kind {
	case scan.Date, scan.Time, scan.Timestamp:
		if lit.kind != litText {
			return number{}, mismatch(c, lit, "write it in quotes")
		}
		return timeLiteral(c, lit)
	}
	if lit.kind != litNumber {
		return number{}, mismatch(c, lit, "")
	}
	return lit.num, nil
}

// timeLiteral reads a date, a time of day, an instant (with an offset) or a
// local date and time (without).
func timeLiteral(c *scan.Column, lit literal) (number, error) {
	text := strings.Replace(lit.text, " ", "T", 1)
	switch c.Type.Kind {
	case scan.Date:
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return number{}, mismatch(c, lit, "write a date like 2025-03-05")
		}
		return integer(at.Unix() / 86400), nil
	case scan.Time:
		for _, layout := range []string{"15:04:05", "15:04"} {
			if at, err := time.Parse("2006-01-02T"+layout, "1970-01-01T"+text); err == nil {
				return nanoseconds(at), nil
			}
		}
		return number{}, mismatch(c, lit, "write a time like 12:30:00")
	}
	if c.Type.UTC {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return nanoseconds(at), nil
		}
		return number{}, mismatch(c, lit, "an instant needs its offset, like 2025-03-05T00:00:00Z")
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return nanoseconds(at), nil
		}
	}
	return number{}, mismatch(c, lit, "a local time has no offset, like 2025-03-05T00:00:00")
}

// nanoseconds since 1970 as a number of seconds.
func nanoseconds(at time.Time) number {
	n := big.NewInt(at.Unix())
	n.Add(n.Mul(n, big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond())))
	return number{unscaled: n, scale: 9}
}

// floatLiteral reads a literal as the column's own float: what is written as
// 0.1 equals a stored 0.1 of either width.
func floatLiteral(c *scan.Column, lit literal) (float64, error) {
	switch lit.kind {
	case litNumber:
		if c.Type.Kind == scan.Double {
			return lit.num.float64(), nil
		}
		return lit.num.float32(), nil
	case litNaN:
		return math.NaN(), nil
	case litInf:
		return math.Inf(1), nil
	case litNegInf:
		return math.Inf(-1), nil
	}
	return 0, mismatch(c, lit, "")
}

func bytesLiteral(c *scan.Column, lit literal) ([]byte, error) {
	if lit.kind != litText {
		return nil, mismatch(c, lit, "write it in quotes")
	}
	if c.Type.Kind != scan.UUID {
		return []byte(lit.text), nil
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(lit.text, "-", ""), 16)
	if len(lit.text) != 36 || !ok || n.Sign() < 0 {
		return nil, mismatch(c, lit, "write a UUID")
	}
	return n.FillBytes(make([]byte, 16)), nil
}
