package audit

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// threshold is a bound on violations: `> 3`, `>= 3`, `> 1%`, `>= 1%`.
type threshold struct {
	orEqual bool
	percent bool
	limit   number
}

// parseThreshold reads one of the four forms. A threshold that nothing can
// reach is an error: it would switch its assertion off.
func parseThreshold(text string) (threshold, error) {
	var t threshold
	rest := strings.TrimSpace(text)
	if !strings.HasPrefix(rest, ">") {
		return t, fmt.Errorf("threshold %q is not one of \"> N\", \">= N\", \"> P%%\", \">= P%%\"", text)
	}
	rest = rest[1:]
	if strings.HasPrefix(rest, "=") {
		t.orEqual, rest = true, rest[1:]
	}
	rest = strings.TrimSpace(rest)
	if strings.HasSuffix(rest, "%") {
		t.percent, rest = true, strings.TrimSpace(strings.TrimSuffix(rest, "%"))
	}
	limit, err := parseNumber(rest)
	if err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	t.limit = limit
	hundred := limit.cmp(integer(100))
	switch {
	case limit.unscaled.Sign() < 0:
		return t, fmt.Errorf("threshold %q is negative", text)
	case !t.percent && limit.scale > 0:
		return t, fmt.Errorf("threshold %q counts rows and must be an integer", text)
	case t.percent && (hundred > 0 || hundred == 0 && !t.orEqual):
		return t, fmt.Errorf("threshold %q can never be reached", text)
	}
	return t, nil
}

// mostly turns the least share of good rows into the threshold for bad ones.
func mostly(share number) (threshold, error) {
	if share.unscaled.Sign() <= 0 || share.cmp(integer(1)) > 0 {
		return threshold{}, fmt.Errorf("mostly %s is not above 0 and at most 1", share)
	}
	bad := integer(1).sub(share)
	bad.unscaled.Mul(bad.unscaled, big.NewInt(100))
	return threshold{percent: true, limit: bad.reduced()}, nil
}

// reached compares by cross-multiplied integers: violations·100 against
// limit·tested. No row tested reaches no percentage.
func (t threshold) reached(violations, tested int64) bool {
	left, right := big.NewInt(violations), t.limit.unscaled
	if t.percent {
		if tested == 0 {
			return false
		}
		left = new(big.Int).Mul(left, big.NewInt(100))
		right = new(big.Int).Mul(right, big.NewInt(tested))
	}
	left = new(big.Int).Mul(left, pow10(t.limit.scale))
	if t.orEqual {
		return left.Cmp(right) >= 0
	}
	return left.Cmp(right) > 0
}

func (t threshold) String() string {
	op, unit := ">", ""
	if t.orEqual {
		op = ">="
	}
	if t.percent {
		unit = "%"
	}
	return fmt.Sprintf("%s %s%s", op, t.limit, unit)
}

// MarshalJSON writes the canonical text.
func (t threshold) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// percentText is part of whole in percent, with three significant digits. It is
// never 0 for a part that is not, and never 100 for one that is not the whole.
func percentText(part, whole int64) string {
	switch {
	case whole == 0:
		return "n/a"
	case part == 0:
		return "0%"
	case part == whole:
		return "100%"
	}
	share := new(big.Rat).SetFrac64(part, whole)
	share.Mul(share, new(big.Rat).SetInt64(100))
	hundredth := big.NewRat(1, 100)
	digits := 2
	for limit := new(big.Rat).SetInt64(1); share.Cmp(limit) < 0; limit.Mul(limit, hundredth) {
		digits += 2
	}
	text := share.FloatString(digits)
	if strings.HasPrefix(text, "100") {
		// Rounded up to the whole: cut instead.
		for digits = 4; strings.HasPrefix(share.FloatString(digits), "100"); digits += 2 {
		}
		text = share.FloatString(digits)
	}
	text = strings.TrimRight(text, "0")
	return strings.TrimSuffix(text, ".") + "%"
}
