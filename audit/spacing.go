package audit

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"time"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

var daysText = regexp.MustCompile(`\A([0-9]{1,6})d\z`)

// spacing reads how long an interval is: a duration like 15m, days like 7d, or an
// integer.
func spacing(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	if _, err := parseSpacing(text); err != nil {
		r.fail(n, "%s is a length like 15m, 1h, 1d, or an integer above 0, not %q", name, text)
		return nil, false
	}
	return text, true
}

// length is that of an interval: a time, or a number.
type length struct {
	time   time.Duration
	number int64
}

func parseSpacing(text string) (length, error) {
	var l length
	var err error
	if m := daysText.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > 100_000 {
			return l, fmt.Errorf("%s days are out of range", m[1])
		}
		l.time = time.Duration(n) * 24 * time.Hour
	} else if l.number, err = strconv.ParseInt(text, 10, 64); err != nil {
		if l.time, err = time.ParseDuration(text); err != nil {
			return l, err
		}
	}
	if l.time <= 0 && l.number <= 0 {
		return l, fmt.Errorf("%s is not above 0", text)
	}
	return l, nil
}

func onCalendar(c *scan.Column) bool {
	return c.Type.Kind == scan.Date || c.Type.Kind == scan.Timestamp
}

// unitsPerDay is how many stored units a day has.
func unitsPerDay(c *scan.Column) int64 {
	if c.Type.Kind == scan.Date {
		return 1
	}
	return 86400 * pow10(scaleOf(c)).Int64()
}

// stepOf is a length in stored units of a column of dates, timestamps or integers.
func stepOf(c *scan.Column, text string) (int64, error) {
	l, err := parseSpacing(text)
	if err != nil {
		return 0, err
	}
	cl := classOf(c)
	switch integers := (cl == signed || cl == unsigned) && c.Type.Kind != scan.Time && scaleOf(c) == 0; {
	case onCalendar(c) && l.time == 0:
		return 0, fmt.Errorf("column %s is %s: every is a length of time like 1h or 1d, not %s", c.Dotted, c.Type, text)
	case onCalendar(c):
		units := new(big.Int).Mul(big.NewInt(int64(l.time)), big.NewInt(unitsPerDay(c)))
		step, rest := units.QuoRem(units, big.NewInt(int64(24*time.Hour)), new(big.Int))
		if rest.Sign() != 0 {
			return 0, fmt.Errorf("column %s is %s, which has no intervals of %s", c.Dotted, c.Type, text)
		}
		return step.Int64(), nil
	case !integers:
		return 0, fmt.Errorf("column %s is %s, not a date, a timestamp or an integer", c.Dotted, c.Type)
	case l.number == 0:
		return 0, fmt.Errorf("column %s is %s: every is an integer, not %s", c.Dotted, c.Type, text)
	}
	return l.number, nil
}
