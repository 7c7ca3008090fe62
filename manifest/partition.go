package manifest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where a path, a pattern or a reference is wrong, and what to
// write instead.
type SyntaxError struct {
	Text   string
	Offset int // in bytes
	Reason string
	Remedy string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("parse %q: byte %d: %s; %s", e.Text, e.Offset, e.Reason, e.Remedy)
}

// ParsePartition reads a partition path: the table's components, then its
// `key=value` components. A path without keys is an unpartitioned table.
//
// What comes back is canonical: every character that [EscapeValue] escapes is
// escaped, `%xx` is upper case, and nothing else is. So `t/at=10:30` and
// `t/at=10%3a30` are both `t/at=10%3A30`. Values are text: `dt=01` is not
// `dt=1`. Errors are a *SyntaxError.
func ParsePartition(s string) (Partition, error) {
	parts, err := parseComponents(s, refuseStars)
	if err != nil {
		return Partition{}, err
	}
	return partitionOf(parts), nil
}

// component is one parsed part of a path or of a pattern.
type component struct {
	key   string // unescaped; empty for a part of the table
	value string // unescaped; a table's part, or the key's value
	star  bool   // stands for one value, without a key for all remaining keys
}

func (c component) String() string {
	switch {
	case c.star && c.key == "":
		return "*"
	case c.star:
		return EscapeValue(c.key) + "=*"
	case c.key == "":
		return EscapeValue(c.value)
	default:
		return EscapeValue(c.key) + "=" + EscapeValue(c.value)
	}
}

func partitionOf(parts []component) Partition {
	var p Partition
	var all []string
	for _, c := range parts {
		all = append(all, c.String())
		if c.key == "" {
			p.Table = strings.Join(all, "/")
		} else {
			p.Keys = append(p.Keys, KeyValue{Name: c.key, Value: c.value})
		}
	}
	p.Path = strings.Join(all, "/")
	return p
}

// Components are the parts of the path, as they name the nodes of the tree.
func (p Partition) Components() []string { return strings.Split(p.Path, "/") }

// stars says what a `*` means to parseComponents.
type stars int

const (
	refuseStars stars = iota
	allowStars
)

func parseComponents(s string, mode stars) ([]component, error) {
	fail := func(offset int, reason, remedy string) error {
		return &SyntaxError{Text: s, Offset: offset, Reason: reason, Remedy: remedy}
	}
	switch {
	case s == "":
		return nil, fail(0, "the path is empty", "write a table, or TABLE/KEY=VALUE")
	case s[0] == '/':
		return nil, fail(0, "the path is absolute", "write it relative to the warehouse, without the leading /")
	}
	if i := invalidText(s); i >= 0 {
		return nil, fail(i, "a control character, or a byte that is not UTF-8", "write it as %XX")
	}
	var parts []component
	seen := map[string]bool{}
	offset := 0
	for text := range strings.SplitSeq(s, "/") {
		p := componentParser{path: s, offset: offset, stars: mode}
		c, err := p.parse(text)
		if err != nil {
			return nil, err
		}
		if err := p.checkOrder(c, parts, offset+len(text) == len(s)); err != nil {
			return nil, err
		}
		if c.key != "" && seen[c.key] {
			return nil, fail(offset, fmt.Sprintf("key %q stands twice", c.key), "write each key once")
		}
		seen[c.key] = true
		parts = append(parts, c)
		offset += len(text) + 1
	}
	if n := len(joinComponents(parts)); n > maxKeyBytes {
		return nil, fail(0, fmt.Sprintf("the path has %d bytes, at most %d fit", n, maxKeyBytes), "shorten it")
	}
	return parts, nil
}

// invalidText returns the offset of the first byte that no path may hold, or -1.
func invalidText(s string) int {
	for i, r := range s {
		if isControl(r) {
			return i
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}
