package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// layout is how a struct type looks in JSON: its own fields and those of
// embedded structs, sorted by name.
type layout struct {
	fields []layoutField
	byName map[string]int
	// extensions is the index of the struct's Extensions, nil where it has none.
	extensions []int
}

type layoutField struct {
	name      string
	index     []int
	omitEmpty bool
}

// layouts holds the layouts that one Encode or Decode has met.
type layouts map[reflect.Type]*layout

// storedLayouts are those of this package's documents, laid out once and only
// read from then on: laying them out takes longer than most of them take to
// decode.
var storedLayouts = sync.OnceValue(func() layouts {
	ls := layouts{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Warehouse](), reflect.TypeFor[Pointer](), reflect.TypeFor[Snapshot](), reflect.TypeFor[Tree](),
		reflect.TypeFor[Manifest](), reflect.TypeFor[Run](), reflect.TypeFor[OpenMark](), reflect.TypeFor[Inputs](),
		reflect.TypeFor[Attempt](), reflect.TypeFor[Seal](),
	} {
		ls.addAll(t)
	}
	return ls
})

// addAll lays out a type and all that it consists of. What has no layout is left
// out: the call that needs it says why.
func (ls layouts) addAll(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		ls.addAll(t.Elem())
	case reflect.Struct:
		if ls[t] != nil || isTime(t) {
			return
		}
		l, err := layOut(t)
		if err != nil {
			return
		}
		ls[t] = l
		for _, f := range l.fields {
			ls.addAll(t.FieldByIndex(f.index).Type)
		}
	}
}

func (ls layouts) of(t reflect.Type) (*layout, error) {
	if l, ok := storedLayouts()[t]; ok {
		return l, nil
	}
	if l, ok := ls[t]; ok {
		return l, nil
	}
	l, err := layOut(t)
	if err != nil {
		return nil, err
	}
	ls[t] = l
	return l, nil
}

// layOut makes the layout of a struct type.
func layOut(t reflect.Type) (*layout, error) {
	l := &layout{byName: map[string]int{}}
	if err := l.add(t, nil); err != nil {
		return nil, fmt.Errorf("lay out %s: %w", t, err)
	}
	slices.SortFunc(l.fields, func(a, b layoutField) int { return cmp.Compare(a.name, b.name) })
	for i, f := range l.fields {
		if _, ok := l.byName[f.name]; ok {
			return nil, fmt.Errorf("lay out %s: field %q twice", t, f.name)
		}
		l.byName[f.name] = i
	}
	return l, nil
}

// add appends the fields of t, whose values lie at index in the outer struct.
func (l *layout) add(t reflect.Type, index []int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag, tagged := f.Tag.Lookup("json")
		switch {
		case f.Anonymous && f.Type == reflect.TypeFor[Extensions]():
			if l.extensions != nil {
				return fmt.Errorf("two sets of extensions in one object")
			}
			l.extensions = at
		case tag == "-":
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			if err := l.add(f.Type, at); err != nil {
				return err
			}
		case !f.IsExported():
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("field %s: embedded pointers have no canonical form", f.Name)
		default:
			field, err := newLayoutField(f.Name, tag)
			if err != nil {
				return err
			}
			field.index = at
			l.fields = append(l.fields, field)
		}
	}
	return nil
}

func newLayoutField(goName, tag string) (layoutField, error) {
	name, options, _ := strings.Cut(tag, ",")
	f := layoutField{name: cmp.Or(name, goName)}
	switch options {
	case "":
	case "omitempty":
		f.omitEmpty = true
	default:
		return f, fmt.Errorf("field %s: tag option %q has no canonical form", goName, options)
	}
	if strings.HasPrefix(f.name, extensionPrefix) {
		return f, fmt.Errorf("field %s: names starting %q are for extensions", goName, extensionPrefix)
	}
	return f, nil
}

func isTime(t reflect.Type) bool { return t == reflect.TypeFor[time.Time]() }

// isEmpty is what omitempty means in encoding/json.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
