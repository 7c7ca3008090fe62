package audit

import (
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"go.yaml.in/yaml/v3"
)

// typeNames are offered when a type's name is not known.
func typeNames() []string {
	names := []string{
		"decimal(18,2)", "date", "time32[ms]", "time64[us]", "time64[ns]", "float32", "float64",
		"timestamp[ms]", "timestamp[us]", "timestamp[ns]",
		"timestamp[ms, tz=UTC]", "timestamp[us, tz=UTC]", "timestamp[ns, tz=UTC]",
	}
	for k := scan.Bool; k <= scan.Enum; k++ {
		switch k {
		case scan.Decimal, scan.FixedBinary, scan.Time, scan.Timestamp:
			continue // these have parameters
		}
		names = append(names, k.String())
	}
	return names
}

// typeName reads the name of a type and writes it as reports do. The names of
// nested types must be written as they are reported; only spaces may differ.
func (r *reader) typeName(n *yaml.Node) (string, bool) {
	text, ok := r.fixed(n, "type")
	if !ok {
		return "", false
	}
	if t, err := scan.ParseType(text); err == nil {
		return t.String(), true
	}
	for _, nested := range []string{"list<", "struct<", "map<"} {
		if strings.HasPrefix(text, nested) && strings.HasSuffix(text, ">") {
			return text, true
		}
	}
	hint := suggestion(text, typeNames())
	if hint == "" {
		hint = "types have Arrow's names, like int64, string, decimal(18,2), timestamp[us, tz=UTC]"
	}
	r.failHint(n, hint, "unknown type %q", text)
	return "", false
}

// sameType compares a written type with a column's.
func sameType(written string, t scan.Type) bool {
	strip := func(s string) string { return strings.ReplaceAll(s, " ", "") }
	return strip(written) == strip(t.String())
}
