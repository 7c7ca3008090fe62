// Package differential asks wap and DuckDB the same questions about random
// tables, and wants the same answers. DuckDB is asked about the table that it
// wrote the files from, never about the files.
//
// Where the two mean different things, the question is put to DuckDB in words
// that mean what wap means:
//
//   - NaN. DuckDB orders it above all numbers and has it equal to itself, wap goes
//     by IEEE 754 outside of keys: the macros feq, flt and so on; and an aggregate
//     over NaN is NaN.
//   - Integers and decimals are exact in wap whatever their size; DuckDB computes
//     in the type of the operands, and fails when it overflows. It is given
//     DECIMAL(38,5), and no numbers too large for that.
//   - Means, deviations and quantiles of exact columns are doubles in DuckDB. A
//     mean is compared with its sum and count, the others to 9 digits.
//   - A sum of doubles depends on the order: to 9 digits.
//   - A division by zero is NULL in wap, and infinite in DuckDB.
//   - approx_count_distinct is another sketch there, and is not asked for.
package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// column is a column of a random table; values are DuckDB's casts from text.
type column struct {
	name   string
	kind   kind
	duck   string // type
	scale  int
	values []string
	vast   bool // a double whose sums may be infinite
}

// kind is the family of a column's type.
type kind int

const (
	integers kind = iota
	decimals
	doubles
	singles
	texts
	booleans
	dates
	locals
	instants
	lists // of BIGINT: no expression can hold one
)

func (k kind) exact() bool    { return k == integers || k == decimals }
func (k kind) floating() bool { return k == doubles || k == singles }
func (k kind) numeric() bool  { return k.exact() || k.floating() }
func (k kind) time() bool     { return k == dates || k == locals || k == instants }

type shape struct {
	kind  kind
	duck  string
	scale int
	pool  []string
}

// shapes are the types that are tried, each with values at its edges.
func shapes() []shape {
	return []shape{
		{integers, "TINYINT", 0, []string{"-128", "127", "0", "1", "-1"}},
		{integers, "SMALLINT", 0, []string{"-32768", "32767", "0", "7"}},
		{integers, "INTEGER", 0, []string{"-2147483648", "2147483647", "0", "3"}},
		{integers, "BIGINT", 0, []string{"-9223372036854775808", "9223372036854775807", "9007199254740993", "0", "-1"}},
		{integers, "UTINYINT", 0, []string{"255", "0", "128"}},
		{integers, "USMALLINT", 0, []string{"65535", "0", "32768"}},
		{integers, "UINTEGER", 0, []string{"4294967295", "0", "2147483648"}},
		{integers, "UBIGINT", 0, []string{"18446744073709551615", "9223372036854775808", "0", "1"}},
		{decimals, "DECIMAL(4,1)", 1, []string{"999.9", "-999.9", "0", "0.1", "-0.5"}},
		{decimals, "DECIMAL(9,2)", 2, []string{"9999999.99", "-0.01", "0", "1.5", "2.50"}},
		{decimals, "DECIMAL(18,2)", 2, []string{"9999999999999999.99", "-9999999999999999.99", "0.01", "12.34"}},
		{decimals, "DECIMAL(38,5)", 5, []string{"1234567890123456789012.34567", "-1234567890123456789012.34567", "0.00001", "0"}},
		{decimals, "DECIMAL(30,0)", 0, []string{"1234567890123456789012", "-7", "0"}},
		{doubles, "DOUBLE", 0, []string{"nan", "inf", "-inf", "-0.0", "0", "0.1", "1e-300", "9007199254740993", "-2.5"}},
		{singles, "FLOAT", 0, []string{"nan", "inf", "-0.0", "0", "0.1", "16777217", "-2.5"}},
		{texts, "VARCHAR", 0, []string{"", " ", "a", "ab", "foo", "bar", "xbar", "Foo", "ä", "日本", "a😀b", " x ", "100%", "a_b", "10", "a\nb", strings.Repeat("p", 70) + "q"}},
		{booleans, "BOOLEAN", 0, []string{"true", "false"}},
		{dates, "DATE", 0, []string{"2025-03-05", "0001-01-01", "9999-12-31", "1969-12-31", "2024-02-29"}},
		{locals, "TIMESTAMP", 0, []string{"2025-03-05 00:00:00", "2025-03-05 23:59:59.999999", "1969-12-31 23:59:59.5", "1900-01-01 00:00:00"}},
		{lists, "BIGINT[]", 0, []string{"[]", "[NULL]", "[0, 1]", "[2, NULL, 3]", "[9223372036854775807, 1]"}},
		{instants, "TIMESTAMPTZ", 0, []string{"2025-03-05 00:00:00+00", "2025-03-04 23:59:59.999999+00", "1969-12-31 23:59:59+00"}},
	}
}

// newColumn makes a column of a random type.
func newColumn(r *rand.Rand, name string, rows int) column {
	all := shapes()
	s := all[r.IntN(len(all))]
	if r.IntN(6) == 0 {
		s = all[slices.IndexFunc(all, func(s shape) bool { return s.kind == texts })]
	}
	c := column{name: name, kind: s.kind, duck: s.duck, scale: s.scale, vast: s.kind == doubles && r.IntN(4) == 0}
	nulls := []float64{0, 0, 0.1, 0.5, 1}[r.IntN(5)]
	few := 1 + r.IntN(5)
	onlyPool, distinct := r.IntN(3) == 0, r.IntN(2) == 0
	finite := r.IntN(2) == 0
	for range rows {
		if r.Float64() < nulls {
			c.values = append(c.values, "NULL")
			continue
		}
		n := r.IntN(100_000)
		if !distinct {
			n = r.IntN(few) * 7
		}
		value := s.random(n)
		if onlyPool || r.IntN(10) == 0 {
			value = s.pool[r.IntN(len(s.pool))]
		}
		if c.vast && r.IntN(5) == 0 {
			value = "1.7e308"
		}
		if finite && strings.Contains(" nan inf -inf ", " "+value+" ") {
			value = "1"
		}
		c.values = append(c.values, "'"+strings.ReplaceAll(value, "'", "''")+"'")
	}
	return c
}

// random is a plain value for a number.
func (s shape) random(n int) string {
	switch s.kind {
	case integers:
		if strings.HasSuffix(s.duck, "TINYINT") {
			n %= 100
		} else if strings.HasSuffix(s.duck, "SMALLINT") {
			n %= 30000
		}
		if !strings.HasPrefix(s.duck, "U") && n%2 == 1 {
			n = -n
		}
		return fmt.Sprint(n)
	case decimals:
		if s.scale == 0 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%d.%d", n%500-250, n%10)
	case doubles, singles:
		return fmt.Sprintf("%d.%d", n%1000-500, n%8*125)
	case booleans:
		return fmt.Sprint(n%2 == 0)
	case lists:
		return "[" + strings.Repeat(fmt.Sprint(n%100)+", ", n%4) + "-1]"
	case dates:
		return fmt.Sprintf("2025-%02d-%02d", n%12+1, n%28+1)
	case locals:
		return fmt.Sprintf("2025-%02d-%02d %02d:%02d:00.%06d", n%12+1, n%28+1, n%24, n%60, n)
	case instants:
		return fmt.Sprintf("2025-%02d-%02d %02d:%02d:00.%06d+00", n%12+1, n%28+1, n%24, n%60, n)
	}
	return [...]string{"a", "foo", "x y", "é", "n "}[n%5] + strings.Repeat("z", n%4) + fmt.Sprint(n/5)
}

// literal is a random value of the column as wap and DuckDB write it in an
// expression; texts and times are texts of wap.
func (c column) literal(r *rand.Rand) (wap, duck string) {
	value := ""
	for range 20 {
		if len(c.values) > 0 && r.IntN(3) > 0 {
			value = strings.Trim(c.values[r.IntN(len(c.values))], "'")
		} else {
			all := shapes()
			for _, s := range all {
				if s.duck == c.duck {
					value = s.pool[r.IntN(len(s.pool))]
				}
			}
		}
		if !strings.Contains(" NULL nan inf -inf ", " "+value+" ") && !strings.Contains(value, "\n") {
			break
		}
		value = ""
	}
	if value == "" && c.kind != texts {
		value = map[bool]string{true: "1", false: "true"}[c.kind.numeric()]
		if c.kind.time() {
			value = "2025-03-05"
		}
	}
	switch c.kind {
	case locals:
		if len(value) == 10 {
			value += " 00:00:00"
		}
		return "'" + strings.Replace(value, " ", "T", 1) + "'", "CAST('" + value + "' AS TIMESTAMP)"
	case instants:
		if len(value) == 10 {
			value += " 00:00:00+00"
		}
		return "'" + strings.TrimSuffix(strings.Replace(value, " ", "T", 1), "+00") + "Z'", "CAST('" + value + "' AS TIMESTAMPTZ)"
	case texts:
		return "'" + value + "'", "'" + value + "'"
	case dates:
		return "'" + value + "'", "CAST('" + value + "' AS DATE)"
	case booleans:
		return value, value
	case integers, decimals:
		return value, "CAST('" + value + "' AS " + wide + ")"
	}
	return value, "CAST('" + value + "' AS " + c.duck + ")"
}

// wide is the type that DuckDB is given exact numbers in. It is one for all: the
// type that two have in common may round both.
const wide = "DECIMAL(38,5)"

// wide is the column in a type that arithmetic does not leave.
func (c column) wide() string {
	if c.kind.exact() {
		return "CAST(" + c.name + " AS " + wide + ")"
	}
	return c.name
}
