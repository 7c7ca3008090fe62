package manifest

import (
	"errors"
	"slices"
	"strings"
)

// Scope is what a run may write: partitions, and patterns of them. A value `*`
// stands for one value, a final component `*` for all remaining keys, of which
// there is at least one. The zero value holds nothing.
type Scope struct {
	patterns []pattern // sorted by text, each once
}

type pattern struct {
	text  string // canonical
	table string
	parts []component // of the keys
}

// ParseScope reads partitions and patterns. Equal ones count once; no other is
// dropped, even where a second one covers it: what a person named is what the
// run is held to. Errors are a *SyntaxError, or about an empty list.
func ParseScope(args []string) (Scope, error) {
	if len(args) == 0 {
		return Scope{}, errors.New("parse scope: no partition or pattern is given")
	}
	var s Scope
	for _, arg := range args {
		parts, err := parseComponents(arg, allowStars)
		if err != nil {
			return Scope{}, err
		}
		s.patterns = append(s.patterns, patternOf(parts))
	}
	slices.SortFunc(s.patterns, func(a, b pattern) int { return strings.Compare(a.text, b.text) })
	s.patterns = slices.CompactFunc(s.patterns, func(a, b pattern) bool { return a.text == b.text })
	return s, nil
}

func patternOf(parts []component) pattern {
	keys := slices.IndexFunc(parts, func(c component) bool { return c.key != "" || c.star })
	if keys < 0 {
		keys = len(parts)
	}
	return pattern{
		text:  joinComponents(parts),
		table: joinComponents(parts[:keys]),
		parts: parts[keys:],
	}
}

func joinComponents(parts []component) string {
	texts := make([]string, len(parts))
	for i, c := range parts {
		texts[i] = c.String()
	}
	return strings.Join(texts, "/")
}

// Strings are the patterns in canonical form, sorted.
func (s Scope) Strings() []string {
	texts := make([]string, len(s.patterns))
	for i, p := range s.patterns {
		texts[i] = p.text
	}
	return texts
}

// Equal reports whether both were written with the same patterns.
func (s Scope) Equal(o Scope) bool { return slices.Equal(s.Strings(), o.Strings()) }

// Contains reports whether a pattern covers p.
func (s Scope) Contains(p Partition) bool {
	return slices.ContainsFunc(s.patterns, func(pt pattern) bool { return pt.covers(p) })
}

func (pt pattern) covers(p Partition) bool {
	if pt.table != p.Table {
		return false
	}
	for i, c := range pt.parts {
		switch {
		case i >= len(p.Keys):
			return false
		case c.star && c.key == "":
			return true
		case c.key != p.Keys[i].Name || !c.star && c.value != p.Keys[i].Value:
			return false
		}
	}
	return len(pt.parts) == len(p.Keys)
}

// Single returns the partition when the scope is exactly one.
func (s Scope) Single() (Partition, bool) {
	if len(s.patterns) != 1 || slices.ContainsFunc(s.patterns[0].parts, func(c component) bool { return c.star }) {
		return Partition{}, false
	}
	p, err := ParsePartition(s.patterns[0].text)
	return p, err == nil
}

// Tables are the tables of all patterns, sorted, each once.
func (s Scope) Tables() []string {
	var tables []string
	for _, p := range s.patterns {
		tables = append(tables, p.table)
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}
