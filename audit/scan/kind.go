package scan

import (
	"fmt"
	"strings"
)

// Kind is the family of a [Type].
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	Float
	Double
	Decimal
	String
	Binary
	FixedBinary
	Date
	Time
	Timestamp
	Interval
	UUID
	JSON
	BSON
	Enum
	Variant
	Geometry
	Geography
	List
	Struct
	Map
)

// Unit is the resolution of times and timestamps.
type Unit uint8

const (
	Milli Unit = iota + 1
	Micro
	Nano
)

// PerSecond is the number of units in a second.
func (u Unit) PerSecond() int64 {
	switch u {
	case Milli:
		return 1e3
	case Micro:
		return 1e6
	case Nano:
		return 1e9
	}
	return 1
}

func (u Unit) String() string {
	switch u {
	case Milli:
		return "ms"
	case Micro:
		return "us"
	case Nano:
		return "ns"
	}
	return "s"
}

// Type is a logical type. Leaves are named as Arrow names them; those that
// Arrow has only as extensions are `uuid`, `json`, `bson`, `enum`, `interval`,
// `variant`, `geometry` and `geography`.
type Type struct {
	Kind      Kind
	Precision int     // Decimal
	Scale     int     // Decimal
	Width     int     // FixedBinary: bytes
	Unit      Unit    // Time, Timestamp
	UTC       bool    // Timestamp: an instant; else a local date and time
	Fields    []Field // Struct: all; List: the element; Map: key and, if stored, value
}

// Field is a named part of a nested type.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
}

// IsLeaf reports whether the type is stored in a column of its own.
func (t Type) IsLeaf() bool { return t.Kind < List && t.Kind != Variant }

// Equal reports whether two types are the same, names and nullability of nested
// fields included.
func (t Type) Equal(o Type) bool { return t.String() == o.String() }

// String is the canonical name: `int32`, `string`, `decimal128(18, 2)`,
// `decimal256(50, 2)`, `timestamp[us, tz=UTC]`, `timestamp[ms]`, `date32`,
// `time32[ms]`, `time64[us]`, `fixed_size_binary[16]`, `list<string>`,
// `struct<a: int32, b: string not null>`, `map<string, int64>`.
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		if t.Precision > 38 {
			return fmt.Sprintf("decimal256(%d, %d)", t.Precision, t.Scale)
		}
		return fmt.Sprintf("decimal128(%d, %d)", t.Precision, t.Scale)
	case FixedBinary:
		return fmt.Sprintf("fixed_size_binary[%d]", t.Width)
	case Time:
		if t.Unit == Milli {
			return "time32[ms]"
		}
		return fmt.Sprintf("time64[%s]", t.Unit)
	case Timestamp:
		if t.UTC {
			return fmt.Sprintf("timestamp[%s, tz=UTC]", t.Unit)
		}
		return fmt.Sprintf("timestamp[%s]", t.Unit)
	case List, Struct, Map:
		return t.nested()
	}
	return t.Kind.String()
}

func (t Type) nested() string {
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		s := f.Type.String()
		if t.Kind == Struct {
			s = quoteName(f.Name) + ": " + s
		}
		// A map's key is never NULL; the others are nullable unless told.
		if !f.Nullable && (t.Kind != Map || i > 0) {
			s += " not null"
		}
		parts[i] = s
	}
	return t.Kind.String() + "<" + strings.Join(parts, ", ") + ">"
}

func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "bool"
	case Int8:
		return "int8"
	case Int16:
		return "int16"
	case Int32:
		return "int32"
	case Int64:
		return "int64"
	case Uint8:
		return "uint8"
	case Uint16:
		return "uint16"
	case Uint32:
		return "uint32"
	case Uint64:
		return "uint64"
	case Float16:
		return "halffloat"
	case Float:
		return "float"
	case Double:
		return "double"
	}
	return k.longName()
}

func (k Kind) longName() string {
	switch k {
	case Decimal:
		return "decimal"
	case String:
		return "string"
	case Binary:
		return "binary"
	case FixedBinary:
		return "fixed_size_binary"
	case Date:
		return "date32"
	case Time:
		return "time"
	case Timestamp:
		return "timestamp"
	case Interval:
		return "interval"
	case UUID:
		return "uuid"
	case JSON:
		return "json"
	case BSON:
		return "bson"
	case Enum:
		return "enum"
	case Variant:
		return "variant"
	case Geometry:
		return "geometry"
	case Geography:
		return "geography"
	case List:
		return "list"
	case Struct:
		return "struct"
	case Map:
		return "map"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}
