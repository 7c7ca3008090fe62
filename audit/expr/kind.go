package expr

import (
	"fmt"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
)

// Kind is the family of a [Type].
type Kind uint8

// The kinds. Unknown is the type of a column that nobody has seen yet, Null that
// of the literal NULL.
const (
	Unknown Kind = iota
	Null
	Bool
	Number // integers and decimals
	Float
	Text
	Binary
	Date      // days
	Time      // of day
	Timestamp // a local date and time
	Instant
)

func (k Kind) String() string {
	return [...]string{"of unknown type", "NULL", "a boolean", "a number", "a float", "a text", "binary", "a date",
		"a time", "a local timestamp", "an instant"}[k]
}

// exact reports whether values are integers of a scale.
func (k Kind) exact() bool { return k == Number || k >= Date }

// bytes reports whether values are byte strings.
func (k Kind) bytes() bool { return k == Text || k == Binary }

// Type is the type of an expression. Scale is the number of digits behind the
// point that an exact value is held with, seconds for times.
type Type struct {
	Kind   Kind
	Scale  int
	single bool // Float: 32 bits or less
	uuid   bool // Binary
	bound  *bounds
}

// TypeOf is the type of a column's values; ok is false for those that no
// expression can hold.
func TypeOf(t scan.Type) (Type, bool) {
	switch t.Kind {
	case scan.Null:
		return Type{Kind: Null}, true
	case scan.Bool:
		return Type{Kind: Bool}, true
	case scan.Int8, scan.Int16, scan.Int32, scan.Int64, scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64:
		return Type{Kind: Number}, true
	case scan.Decimal:
		return Type{Kind: Number, Scale: t.Scale}, true
	case scan.Float16, scan.Float:
		return Type{Kind: Float, single: true}, true
	case scan.Double:
		return Type{Kind: Float}, true
	case scan.String, scan.Enum, scan.JSON:
		return Type{Kind: Text}, true
	case scan.Binary, scan.FixedBinary:
		return Type{Kind: Binary}, true
	case scan.UUID:
		return Type{Kind: Binary, uuid: true}, true
	case scan.Date:
		return Type{Kind: Date}, true
	case scan.Time:
		return Type{Kind: Time, Scale: unitScale(t.Unit)}, true
	case scan.Timestamp:
		kind := Timestamp
		if t.UTC {
			kind = Instant
		}
		return Type{Kind: kind, Scale: unitScale(t.Unit)}, true
	}
	return Type{}, false
}

func unitScale(u scan.Unit) int {
	switch u {
	case scan.Milli:
		return 3
	case scan.Micro:
		return 6
	}
	return 9
}

// castType reads a type's name, Arrow's or SQL's.
func castType(text string) (Type, error) {
	name := strings.ToLower(strings.Join(strings.Fields(text), " "))
	switch name {
	case "tinyint":
		name = "int8"
	case "smallint":
		name = "int16"
	case "int", "integer":
		name = "int32"
	case "bigint":
		name = "int64"
	case "text", "varchar", "char":
		name = "string"
	case "real", "float":
		name = "float32"
	case "double precision":
		name = "double"
	case "timestamp":
		name = "timestamp(us)"
	case "timestamptz", "timestamp with time zone":
		name = "timestamp(us, UTC)"
	}
	name = strings.Replace(name, "numeric(", "decimal(", 1)
	parsed, err := scan.ParseType(strings.Replace(name, ", utc)", ", UTC)", 1))
	if err != nil {
		return Type{}, fmt.Errorf("unknown type %q", text)
	}
	t, ok := TypeOf(parsed)
	if !ok || t.Kind == Null || t.Kind == Binary || t.Kind == Time {
		return Type{}, fmt.Errorf("nothing can be cast to %s", parsed)
	}
	t.bound = boundsOf(parsed)
	return t, nil
}

// bounds are the least and greatest value of a numeric type, in units of its
// scale.
type bounds struct{ low, high decimal }

func boundsOf(t scan.Type) *bounds {
	bits := map[scan.Kind]uint{scan.Int8: 7, scan.Int16: 15, scan.Int32: 31, scan.Int64: 63,
		scan.Uint8: 8, scan.Uint16: 16, scan.Uint32: 32, scan.Uint64: 64}
	switch t.Kind {
	case scan.Decimal:
		high := powerOf10(t.Precision)
		high.Sub(high, one())
		return &bounds{decimal{negated(high), t.Scale}, decimal{high, t.Scale}}
	case scan.Uint8, scan.Uint16, scan.Uint32, scan.Uint64:
		high := one()
		high.Lsh(high, bits[t.Kind]).Sub(high, one())
		return &bounds{decimal{zero(), 0}, decimal{high, 0}}
	case scan.Int8, scan.Int16, scan.Int32, scan.Int64:
		high := one()
		high.Lsh(high, bits[t.Kind])
		low := negated(high)
		return &bounds{decimal{low, 0}, decimal{high.Sub(high, one()), 0}}
	}
	return nil
}
