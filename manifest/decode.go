package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// decoder reads the grammar of canonical JSON: no space, names ascending.
type decoder struct {
	layouts layouts
	data    []byte
	pos     int
	depth   int
	path    []step
}

// step is one part of a field's path: a name, or an index where it has none.
type step struct {
	name  string
	index int
}

func (d *decoder) errorf(offset int, format string, args ...any) error {
	var path strings.Builder
	for _, s := range d.path {
		switch {
		case s.name == "":
			fmt.Fprintf(&path, "[%d]", s.index)
		case path.Len() > 0:
			path.WriteString("." + s.name)
		default:
			path.WriteString(s.name)
		}
	}
	return &FormatError{Path: path.String(), Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

// document reads one value, the newline, and the end.
func (d *decoder) document(v reflect.Value) error {
	if err := d.value(v, nil); err != nil {
		return err
	}
	switch rest := string(d.data[d.pos:]); {
	case rest == "":
		return d.errorf(d.pos, "no newline at the end")
	case rest != "\n":
		return d.errorf(d.pos, "more after the end of the object")
	}
	return nil
}

// value reads v. ext takes the extensions of objects that have no Extensions
// of their own; nil where nothing can keep them.
func (d *decoder) value(v reflect.Value, ext *extensionNode) error {
	start := d.pos
	switch v.Kind() {
	case reflect.Bool:
		switch {
		case d.literal("true"):
			v.SetBool(true)
		case d.literal("false"):
			v.SetBool(false)
		default:
			return d.errorf(start, "not true or false")
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := d.integer()
		if err != nil {
			return err
		}
		if v.OverflowInt(n) {
			return d.errorf(start, "integer %d is out of range", n)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := d.integer()
		if err != nil {
			return err
		}
		if n < 0 || v.OverflowUint(uint64(n)) {
			return d.errorf(start, "integer %d is out of range", n)
		}
		v.SetUint(uint64(n))
	case reflect.String:
		s, err := d.text()
		if err != nil {
			return err
		}
		v.SetString(s)
	case reflect.Pointer:
		if d.literal("null") {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), ext)
	case reflect.Slice:
		return d.slice(v, ext)
	case reflect.Struct:
		if isTime(v.Type()) {
			return d.time(v)
		}
		return d.structure(v, ext)
	default:
		return d.errorf(start, "type %s has no canonical form", v.Type())
	}
	return nil
}

func (d *decoder) slice(v reflect.Value, ext *extensionNode) error {
	element := v.Type().Elem()
	if element.Kind() == reflect.Uint8 {
		return d.errorf(d.pos, "type %s has no canonical form", v.Type())
	}
	return d.list(func(i int) error {
		item := reflect.New(element).Elem()
		var below *extensionNode
		if ext != nil {
			below = &extensionNode{}
		}
		if err := d.value(item, below); err != nil {
			return err
		}
		ext.attach(strconv.Itoa(i), below)
		v.Set(reflect.Append(v, item))
		return nil
	})
}

func (d *decoder) time(v reflect.Value) error {
	start := d.pos
	s, err := d.text()
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !strings.HasSuffix(s, "Z") {
		return d.errorf(start, "%q is not an RFC 3339 time in UTC", s)
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

func (d *decoder) structure(v reflect.Value, ext *extensionNode) error {
	l, err := d.layouts.of(v.Type())
	if err != nil {
		return err
	}
	if l.extensions != nil {
		ext = &extensionNode{}
	}
	start := d.pos
	seen := make([]bool, len(l.fields))
	err = d.object(func(name string) error {
		if i, ok := l.byName[name]; ok {
			seen[i] = true
			var below *extensionNode
			if ext != nil {
				below = &extensionNode{}
			}
			err := d.value(v.FieldByIndex(l.fields[i].index), below)
			ext.attach(name, below)
			return err
		}
		if ext == nil || !strings.HasPrefix(name, extensionPrefix) {
			return d.errorf(d.pos, "unknown field")
		}
		raw, err := d.skip()
		ext.set(name, raw)
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range l.fields {
		if !seen[i] && !f.omitEmpty {
			return d.errorf(start, "field %q is missing", f.name)
		}
	}
	if l.extensions != nil {
		v.FieldByIndex(l.extensions).Set(reflect.ValueOf(ext.extensions()))
	}
	return nil
}

// object reads an object and calls member after each name, with d at its value.
func (d *decoder) object(member func(name string) error) error {
	if !d.literal("{") {
		return d.errorf(d.pos, "not an object")
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer func() { d.depth-- }()
	last := ""
	for n := 0; !d.literal("}"); n++ {
		if n > 0 && !d.literal(",") {
			return d.errorf(d.pos, "no , or } after a field")
		}
		start := d.pos
		name, err := d.text()
		switch {
		case err != nil:
			return err
		case n > 0 && name == last:
			return d.errorf(start, "field %q twice", name)
		case n > 0 && name < last:
			return d.errorf(start, "field %q stands after %q", name, last)
		case !d.literal(":"):
			return d.errorf(d.pos, "no : after field %q", name)
		}
		last = name
		d.path = append(d.path, step{name: name})
		if err := member(name); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	return nil
}

// list reads a list and calls element for each, with d at it.
func (d *decoder) list(element func(i int) error) error {
	if !d.literal("[") {
		return d.errorf(d.pos, "not a list")
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer func() { d.depth-- }()
	for i := 0; !d.literal("]"); i++ {
		if i > 0 && !d.literal(",") {
			return d.errorf(d.pos, "no , or ] after an element")
		}
		d.path = append(d.path, step{index: i})
		if err := element(i); err != nil {
			return err
		}
		d.path = d.path[:len(d.path)-1]
	}
	return nil
}

func (d *decoder) enter() error {
	d.depth++
	if d.depth > maxDepth {
		return d.errorf(d.pos, "nested deeper than %d", maxDepth)
	}
	return nil
}

func (d *decoder) literal(s string) bool {
	if !strings.HasPrefix(string(d.data[d.pos:min(d.pos+len(s), len(d.data))]), s) {
		return false
	}
	d.pos += len(s)
	return true
}

func (d *decoder) integer() (int64, error) {
	start, end := d.pos, d.pos
	for end < len(d.data) && strings.IndexByte("+-.0123456789eE", d.data[end]) >= 0 {
		end++
	}
	s := string(d.data[start:end])
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case s == "":
		return 0, d.errorf(start, "not an integer")
	case err != nil || strconv.FormatInt(n, 10) != s:
		return 0, d.errorf(start, "%q is not an integer in canonical form", s)
	case n < -maxInteger || n > maxInteger:
		return 0, d.errorf(start, "integer %d is beyond ±2^53", n)
	}
	d.pos = end
	return n, nil
}

func (d *decoder) text() (string, error) {
	start := d.pos
	if !d.literal(`"`) {
		return "", d.errorf(start, "not a string")
	}
	escaped := false
	for ; d.pos < len(d.data) && d.data[d.pos] != '"'; d.pos++ {
		switch c := d.data[d.pos]; {
		case c == '\\':
			escaped = true
			d.pos++
		case c < 0x20:
			return "", d.errorf(d.pos, "control character in a string")
		}
	}
	if d.pos >= len(d.data) {
		return "", d.errorf(start, "string without an end")
	}
	d.pos++
	raw := d.data[start:d.pos]
	if !utf8.Valid(raw) {
		return "", d.errorf(start, "not UTF-8")
	}
	s := string(raw[1 : len(raw)-1])
	if !escaped {
		return s, nil
	}
	// encoding/json knows the escapes, and takes others than the canonical ones.
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", d.errorf(start, "string with a broken escape")
	}
	if string(appendString(nil, s)) != string(raw) {
		return "", d.errorf(start, "string is not in canonical form")
	}
	return s, nil
}

// skip reads any value and returns its bytes.
func (d *decoder) skip() (string, error) {
	start := d.pos
	next := byte(0)
	if d.pos < len(d.data) {
		next = d.data[d.pos]
	}
	skip := func() error { _, err := d.skip(); return err }
	var err error
	switch {
	case next == '{':
		err = d.object(func(string) error { return skip() })
	case next == '[':
		err = d.list(func(int) error { return skip() })
	case next == '"':
		_, err = d.text()
	case d.literal("null") || d.literal("true") || d.literal("false"):
	default:
		_, err = d.integer()
	}
	return string(d.data[start:d.pos]), err
}
