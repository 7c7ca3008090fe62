package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// PathRef is a path of the warehouse and the state to read it in.
type PathRef struct {
	Path string // canonical, see ParsePartition; empty: the whole warehouse
	Ref  string // canonical, without the @; empty: what the context says
}

// RefKind is how a state is referred to.
type RefKind string

// The kinds of reference.
const (
	RefNone     RefKind = ""
	RefSequence RefKind = "sequence"
	RefTag      RefKind = "tag"
	RefTime     RefKind = "time"
)

// ParsePathRef reads `path`, `path@REF` or `@REF`, REF being a sequence (`41`),
// a tag or a time (`2025-03-05T00:00:00Z`; other zones are turned into UTC). An
// `@` inside a path is %40. Errors are a *SyntaxError.
func ParsePathRef(s string) (PathRef, error) {
	path, ref, hasRef := strings.Cut(s, "@")
	var p PathRef
	if path != "" || !hasRef {
		partition, err := ParsePartition(path)
		if err != nil {
			return PathRef{}, err
		}
		p.Path = partition.Path
	}
	if !hasRef {
		return p, nil
	}
	canonical, reason, remedy := canonicalRef(ref)
	if reason != "" {
		return PathRef{}, &SyntaxError{Text: s, Offset: len(path) + 1, Reason: reason, Remedy: remedy}
	}
	p.Ref = canonical
	return p, nil
}

// canonicalRef returns what to store of a reference, or what is wrong with it.
func canonicalRef(ref string) (canonical, reason, remedy string) {
	const kinds = "write a sequence, a tag, or a time like 2025-03-05T00:00:00Z"
	switch refKind(ref) {
	case RefNone:
		return "", "nothing stands after the @", kinds
	case RefSequence:
		n, err := strconv.ParseInt(ref, 10, 64)
		if err != nil || n > maxInteger {
			return "", "the sequence is too large", kinds
		}
		return strconv.FormatInt(n, 10), "", ""
	case RefTime:
		t, err := time.Parse(time.RFC3339Nano, ref)
		if err != nil {
			return "", fmt.Sprintf("%q is not a time", ref), "write it like 2025-03-05T00:00:00Z"
		}
		return t.UTC().Format(time.RFC3339Nano), "", ""
	}
	if err := CheckTag(ref); err != nil {
		return "", err.Error(), "an @ in a path is %40"
	}
	return ref, "", ""
}

// refKind tells references apart by their look: digits alone are a sequence,
// what starts like a time is one, everything else is a tag.
func refKind(ref string) RefKind {
	switch {
	case ref == "":
		return RefNone
	case strings.Trim(ref, "0123456789") == "":
		return RefSequence
	case regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ].*)?$`).MatchString(ref):
		return RefTime
	default:
		return RefTag
	}
}

// CheckTag says what is wrong with the name of a tag: it has 1 to 128 letters,
// digits, `.`, `_` and `-`, and reads neither as a sequence nor as a time.
func CheckTag(name string) error {
	if kind := refKind(name); kind != RefTag {
		if kind == RefNone {
			return fmt.Errorf("the name of a tag is empty")
		}
		return fmt.Errorf("tag %q reads as a %s", name, kind)
	}
	if len(name) > 128 {
		return fmt.Errorf("tag %q has more than 128 bytes", name)
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return fmt.Errorf("tag %q has other characters than letters, digits, dot, underscore and hyphen", name)
		}
	}
	return nil
}

// Kind is how the state is referred to.
func (p PathRef) Kind() RefKind { return refKind(p.Ref) }

// Sequence is the sequence of a [RefSequence], else -1.
func (p PathRef) Sequence() int64 {
	n, err := strconv.ParseInt(p.Ref, 10, 64)
	if p.Kind() != RefSequence || err != nil {
		return -1
	}
	return n
}

// Time is the time of a [RefTime] in UTC, else the zero time.
func (p PathRef) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, p.Ref)
	if p.Kind() != RefTime || err != nil {
		return time.Time{}
	}
	return t
}

// String is the inverse of ParsePathRef.
func (p PathRef) String() string {
	if p.Ref == "" {
		return p.Path
	}
	return p.Path + "@" + p.Ref
}
