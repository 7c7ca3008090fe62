package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// invalid is the error of a rule that a field breaks.
func invalid(path, format string, args ...any) error {
	return &FormatError{Path: path, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// rule is one thing a valid object keeps; it is called until one is broken.
type rule func() error

func checkAll(rules ...rule) error {
	for _, r := range rules {
		if err := r(); err != nil {
			return err
		}
	}
	return nil
}

// in puts path before the path of a FormatError.
func in(path string, err error) error {
	var e *FormatError
	if !errors.As(err, &e) {
		return err
	}
	below := *e
	switch {
	case path == "":
	case below.Path == "":
		below.Path = path
	case below.Path[0] == '[':
		below.Path = path + below.Path
	default:
		below.Path = path + "." + below.Path
	}
	return &below
}

// each checks every element of a list.
func each[T any](path string, list []T, check func(*T) error) rule {
	return func() error {
		for i := range list {
			if err := check(&list[i]); err != nil {
				return in(fmt.Sprintf("%s[%d]", path, i), err)
			}
		}
		return nil
	}
}

// sorted checks that a list ascends by key, each key once.
func sorted[T any, K cmp.Ordered](path string, list []T, key func(T) K) rule {
	return sortedFunc(path, list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

func sortedFunc[T any](path string, list []T, compare func(a, b T) int) rule {
	return func() error {
		for i := 1; i < len(list); i++ {
			switch order := compare(list[i-1], list[i]); {
			case order == 0:
				return invalid(fmt.Sprintf("%s[%d]", path, i), "the same as the one before")
			case order > 0:
				return invalid(fmt.Sprintf("%s[%d]", path, i), "not in order")
			}
		}
		return nil
	}
}

// unique checks that no two elements of a list have one key.
func unique[T any, K comparable](path string, list []T, key func(T) K) rule {
	return func() error {
		seen := make(map[K]bool, len(list))
		for i, item := range list {
			k := key(item)
			if seen[k] {
				return invalid(fmt.Sprintf("%s[%d]", path, i), "%v stands twice", k)
			}
			seen[k] = true
		}
		return nil
	}
}

func itself[T any](v T) T { return v }

func oneOf[T ~string](path string, v T, allowed ...T) rule {
	return func() error {
		if !slices.Contains(allowed, v) {
			return invalid(path, "%q is none of %q", v, allowed)
		}
		return nil
	}
}

// atLeast checks a sequence, a count or a size.
func atLeast(path string, low, v int64) rule {
	return func() error {
		if v < low {
			return invalid(path, "%d is less than %d", v, low)
		}
		return nil
	}
}

func filled(path, v string) rule {
	return func() error {
		if v == "" {
			return invalid(path, "empty")
		}
		return nil
	}
}

func isSet(path string, t time.Time) rule {
	return func() error {
		if t.IsZero() {
			return invalid(path, "no time")
		}
		return nil
	}
}

func isFormat(v int64) rule {
	return func() error {
		if v > Format {
			return &NewerFormatError{Have: v, Max: Format}
		}
		if v < 1 {
			return invalid("format", "%d is no format", v)
		}
		return nil
	}
}

func isName(path, v string) rule {
	return func() error {
		if err := CheckName(v); err != nil {
			return invalid(path, "%v", err)
		}
		return nil
	}
}

// isID checks what stands in keys for an identity, a ULID as a rule.
func isID(path, v string) rule {
	return func() error {
		if v == "" || len(v) > 64 {
			return invalid(path, "%q is no id", v)
		}
		for i := range len(v) {
			if c := v[i]; !isNameByte(c) || c == '.' || c == '_' {
				return invalid(path, "%q is no id", v)
			}
		}
		return nil
	}
}

func isDigest(path, v string) rule {
	return func() error {
		if len(v) != 64 || strings.Trim(v, "0123456789abcdef") != "" {
			return invalid(path, "%q is no SHA-256 in hex", v)
		}
		return nil
	}
}

// isDigestOrNone takes the empty text too.
func isDigestOrNone(path, v string) rule {
	if v == "" {
		return func() error { return nil }
	}
	return isDigest(path, v)
}

func isCleanKey(path, v string) rule {
	return func() error {
		switch clean, err := CleanKey(v); {
		case err != nil:
			return invalid(path, "%v", err)
		case clean != v:
			return invalid(path, "key %q is not clean, that is %q", v, clean)
		}
		return nil
	}
}

// isRef checks a reference, isRefOrNone one that may be null.
func isRef(path string, r Ref) rule {
	return func() error {
		return in(path, checkAll(isCleanKey("key", r.Key), isDigest("sha256", r.SHA256)))
	}
}

func isRefOrNone(path string, r *Ref) rule {
	if r == nil {
		return func() error { return nil }
	}
	return isRef(path, *r)
}

// isSnapshot checks that a reference is one to a snapshot of this sequence.
func isSnapshot(path string, sequence int64, r Ref) rule {
	return func() error {
		if err := isRef(path, r)(); err != nil {
			return err
		}
		if prefix := strings.TrimSuffix(SnapshotKey(sequence, ""), ".json"); !strings.HasPrefix(r.Key, prefix) {
			return invalid(path+".key", "%q is not of sequence %d", r.Key, sequence)
		}
		return nil
	}
}

func isBase(path string, b Base) rule {
	return func() error {
		return in(path, checkAll(
			atLeast("sequence", 0, b.Sequence),
			isSnapshot("snapshot", b.Sequence, b.Snapshot),
		))
	}
}

func isBaseOrNone(path string, b *Base) rule {
	if b == nil {
		return func() error { return nil }
	}
	return isBase(path, *b)
}

// sums checks that totals are those of their parts.
func sums(path string, have, want Totals) rule {
	return func() error {
		switch {
		case have.Files < 0 || have.Rows < 0 || have.Bytes < 0:
			return invalid(path, "%+v has a negative number", have)
		case have != want:
			return invalid(path, "%+v, the parts add up to %+v", have, want)
		}
		return nil
	}
}

// notNegative checks totals whose parts are elsewhere.
func notNegative(path string, t Totals) rule { return sums(path, t, t) }
