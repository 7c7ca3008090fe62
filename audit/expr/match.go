package expr

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
)

// likeMatcher compiles a pattern of like: % is any text, _ one character.
func likeMatcher(pattern, escape string) (func([]byte) bool, error) {
	var b strings.Builder
	escaped, wild := false, false
	for _, c := range pattern {
		switch {
		case !escaped && escape != "" && string(c) == escape:
			escaped = true
			continue
		case escaped || c != '%' && c != '_':
			b.WriteString(regexp.QuoteMeta(string(c)))
		case c == '%':
			b.WriteString(".*")
			wild = true
		default:
			b.WriteString(".")
			wild = true
		}
		escaped = false
	}
	if escaped {
		return nil, errors.New("the pattern ends with its escape character")
	}
	if !wild && escape == "" {
		whole := []byte(pattern)
		return func(v []byte) bool { return bytes.Equal(v, whole) }, nil
	}
	re, err := regexp.Compile(`(?s)\A` + b.String() + `\z`)
	if err != nil {
		return nil, err
	}
	return re.Match, nil
}

// set is the values of an in whose list is made of literals.
type set struct {
	ints   map[int64]struct{}
	few    []int64 // the same, when they are few
	bigs   map[string]struct{}
	floats []float64
	texts  map[string]struct{}
}

// fewValues is how many integers are compared one by one.
const fewValues = 8

// newSet holds values in the units of a type; what has more digits equals nothing.
func newSet(t Type, values []*node) *set {
	s := &set{ints: map[int64]struct{}{}, bigs: map[string]struct{}{}, texts: map[string]struct{}{}}
	for _, v := range values {
		switch {
		case t.Kind == Float:
			s.floats = append(s.floats, v.value.float)
		case t.Kind.bytes():
			s.texts[v.value.text] = struct{}{}
		default:
			floor, ceil := v.value.num.at(t.Scale)
			switch {
			case floor.Cmp(ceil) != 0:
			case floor.IsInt64():
				s.ints[floor.Int64()] = struct{}{}
				s.few = append(s.few, floor.Int64())
			default:
				s.bigs[floor.String()] = struct{}{}
			}
		}
	}
	return s
}

func (s *set) hasInt(n int64) bool {
	if len(s.few) <= fewValues {
		for _, v := range s.few {
			if v == n {
				return true
			}
		}
		return false
	}
	_, ok := s.ints[n]
	return ok
}

func (s *set) hasFloat(f float64) bool {
	for _, v := range s.floats {
		if v == f {
			return true
		}
	}
	return false
}
