package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxInteger bounds the integers of canonical JSON: every reader, however it
// keeps its numbers, reads the same one.
const maxInteger = 1 << 53

// encoder appends canonical JSON.
type encoder struct {
	layouts layouts
	buf     []byte
	depth   int
}

// value appends v. ext holds the extensions of what lies below v and has no
// Extensions of its own.
func (e *encoder) value(v reflect.Value, ext *extensionNode) error {
	switch v.Kind() {
	case reflect.Bool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n < -maxInteger || n > maxInteger {
			return fmt.Errorf("integer %d is beyond ±2^53", n)
		}
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n > maxInteger {
			return fmt.Errorf("integer %d is beyond ±2^53", n)
		}
		e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("text %q is not UTF-8", v.String())
		}
		e.buf = appendString(e.buf, v.String())
	case reflect.Pointer:
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		return e.value(v.Elem(), ext)
	case reflect.Slice:
		return e.nested(v, ext, e.list)
	case reflect.Struct:
		if isTime(v.Type()) {
			return e.time(v.Interface().(time.Time))
		}
		return e.nested(v, ext, e.object)
	default:
		return fmt.Errorf("type %s has no canonical form", v.Type())
	}
	return nil
}

// nested appends an object or a list, unless it lies too deep.
func (e *encoder) nested(v reflect.Value, ext *extensionNode, value func(reflect.Value, *extensionNode) error) error {
	e.depth++
	defer func() { e.depth-- }()
	if e.depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	return value(v, ext)
}

func (e *encoder) list(v reflect.Value, ext *extensionNode) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return fmt.Errorf("type %s has no canonical form", v.Type())
	}
	e.buf = append(e.buf, '[')
	for i := range v.Len() {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		if err := e.value(v.Index(i), ext.atIndex(i)); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	e.buf = append(e.buf, ']')
	return nil
}

func (e *encoder) time(t time.Time) error {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return fmt.Errorf("year %d is not one of RFC 3339", t.Year())
	}
	e.buf = append(e.buf, '"')
	e.buf = t.AppendFormat(e.buf, time.RFC3339Nano)
	e.buf = append(e.buf, '"')
	return nil
}

func (e *encoder) object(v reflect.Value, ext *extensionNode) error {
	l, err := e.layouts.of(v.Type())
	if err != nil {
		return err
	}
	if l.extensions != nil {
		own := v.FieldByIndex(l.extensions).Interface().(Extensions)
		if ext, err = own.node(); err != nil {
			return fmt.Errorf("extensions: %w", err)
		}
	}
	var names []string // of extensions, to be merged into the sorted fields
	if ext != nil {
		names = slices.Sorted(maps.Keys(ext.fields))
	}
	e.buf = append(e.buf, '{')
	start := len(e.buf)
	extensionsBefore := func(name string) {
		for len(names) > 0 && (name == "" || names[0] < name) {
			e.name(names[0], start)
			e.buf = append(e.buf, ext.fields[names[0]]...)
			names = names[1:]
		}
	}
	for _, f := range l.fields {
		fv := v.FieldByIndex(f.index)
		if f.omitEmpty && isEmpty(fv) {
			continue
		}
		extensionsBefore(f.name)
		e.name(f.name, start)
		if err := e.value(fv, ext.at(f.name)); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	extensionsBefore("")
	e.buf = append(e.buf, '}')
	return nil
}

// name appends a member's name; start is where its object's members begin.
func (e *encoder) name(name string, start int) {
	if len(e.buf) > start {
		e.buf = append(e.buf, ',')
	}
	e.buf = appendString(e.buf, name)
	e.buf = append(e.buf, ':')
}

// appendString appends s, which is UTF-8, as a JSON string with the fewest
// escapes: the quote, the backslash and control characters below U+0020, the
// latter in their short form where they have one, as RFC 8785 does.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\f':
			b = append(b, `\f`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
