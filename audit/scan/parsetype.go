package scan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ParseType reads the name of a leaf type: a canonical name as String writes
// it, or one of these spellings of others.
//
//	boolean; half_float, float16; float32; float64; utf8, large_string; large_binary;
//	date; decimal(p, s), decimal(p); time32, time64[ns]; timestamp[us, UTC],
//	timestamp(us, UTC); fixed_size_binary(16)
//
// A timestamp's zone, if any, must be UTC: Parquet stores no other.
func ParseType(name string) (Type, error) {
	t, ok := parseLeaf(strings.TrimSpace(name))
	if !ok {
		return Type{}, fmt.Errorf("parse type %q: not a type this tool knows", name)
	}
	if t.Kind == Decimal && (t.Precision < 1 || t.Precision > 76 || t.Scale > t.Precision) {
		return Type{}, fmt.Errorf("parse type %q: precision must be 1 to 76, scale at most the precision", name)
	}
	return t, nil
}

func parseLeaf(name string) (Type, bool) {
	base, args, ok := splitType(name)
	if !ok {
		return Type{}, false
	}
	switch base {
	case "decimal", "decimal128", "decimal256":
		return parseDecimal(args)
	case "fixed_size_binary":
		if len(args) != 1 {
			return Type{}, false
		}
		w, err := strconv.Atoi(args[0])
		return Type{Kind: FixedBinary, Width: w}, err == nil && w > 0
	case "time32", "time64", "time":
		return parseTime(base, args)
	case "timestamp":
		return parseTimestamp(args)
	}
	kind, ok := simpleKind(base)
	return Type{Kind: kind}, ok && len(args) == 0
}

// splitType takes `base`, `base[a, b]` or `base(a, b)` apart.
func splitType(name string) (base string, args []string, ok bool) {
	m := regexp.MustCompile(`^([a-z0-9_]+)\s*(?:\[([^\[\]()]*)\]|\(([^\[\]()]*)\))?$`).FindStringSubmatch(name)
	if m == nil {
		return "", nil, false
	}
	if list := m[2] + m[3]; list != "" {
		for arg := range strings.SplitSeq(list, ",") {
			args = append(args, strings.TrimSpace(arg))
		}
	}
	return m[1], args, true
}

func parseDecimal(args []string) (Type, bool) {
	if len(args) < 1 || len(args) > 2 {
		return Type{}, false
	}
	t := Type{Kind: Decimal}
	var err error
	if t.Precision, err = strconv.Atoi(args[0]); err != nil {
		return t, false
	}
	if len(args) == 2 {
		t.Scale, err = strconv.Atoi(args[1])
	}
	return t, err == nil && t.Scale >= 0
}

func parseTime(base string, args []string) (Type, bool) {
	if len(args) == 0 {
		return Type{Kind: Time, Unit: Milli}, base == "time32"
	}
	u, ok := parseUnit(args[0])
	return Type{Kind: Time, Unit: u}, ok && len(args) == 1 && (base == "time" || (base == "time32") == (u == Milli))
}

func parseTimestamp(args []string) (Type, bool) {
	if len(args) < 1 || len(args) > 2 {
		return Type{}, false
	}
	u, ok := parseUnit(args[0])
	t := Type{Kind: Timestamp, Unit: u}
	if len(args) == 2 {
		t.UTC = true
		ok = ok && strings.TrimPrefix(args[1], "tz=") == "UTC"
	}
	return t, ok
}

func parseUnit(s string) (Unit, bool) {
	for u := Milli; u <= Nano; u++ {
		if u.String() == s {
			return u, true
		}
	}
	return 0, false
}

func simpleKind(name string) (Kind, bool) {
	switch name {
	case "boolean":
		return Bool, true
	case "float16", "half_float":
		return Float16, true
	case "float32":
		return Float, true
	case "float64":
		return Double, true
	case "utf8", "large_string":
		return String, true
	case "large_binary":
		return Binary, true
	case "date":
		return Date, true
	}
	for k := Null; k <= Geography; k++ {
		switch k {
		case Decimal, FixedBinary, Time, Timestamp, Variant:
			continue
		}
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}
