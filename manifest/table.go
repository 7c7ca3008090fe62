package manifest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// untypedKey is the type of a key that nothing gives another: text.
const untypedKey = "string"

// KeyOrderError says that a partition's keys are not its table's.
type KeyOrderError struct {
	Table string
	Have  []string // the table's, in order
	Got   []string // the partition's
}

func (e *KeyOrderError) Error() string {
	return fmt.Sprintf("table %q is partitioned by (%s), not by (%s)",
		e.Table, strings.Join(e.Have, ", "), strings.Join(e.Got, ", "))
}

// MergeTable returns what the table of p is once files of these schemas are in
// it; old is nil before the table's first publish, and is not changed.
//
// The first publish fixes the keys, their order and their types (p's, text
// where empty); later ones keep them whatever type p gives, and other names or
// another order are a *KeyOrderError. A column is known by its path: a new path
// gets the next id, a known one keeps its id and takes the definition of the
// last schema that has it. Columns never go.
func MergeTable(old *Table, p Partition, schemas []Schema) (*Table, error) {
	t, err := mergeKeys(old, p)
	if err != nil {
		return nil, err
	}
	byPath := map[string]int{}
	for i, c := range t.Columns {
		byPath[columnKey(c.Path)] = i
	}
	for _, s := range schemas {
		for _, c := range s.Columns {
			i, known := byPath[columnKey(c.Path)]
			if known {
				t.Columns[i].Column = c
				continue
			}
			t.LastID++
			byPath[columnKey(c.Path)] = len(t.Columns)
			t.Columns = append(t.Columns, TableColumn{ID: t.LastID, Column: c})
		}
	}
	return t, nil
}

func mergeKeys(old *Table, p Partition) (*Table, error) {
	t := &Table{}
	if old == nil {
		for _, k := range p.Keys {
			t.Keys = append(t.Keys, TableKey{Name: k.Name, Type: cmp.Or(k.Type, untypedKey)})
		}
		return t, nil
	}
	*t = *old
	t.Columns = slices.Clone(old.Columns)
	e := &KeyOrderError{Table: p.Table}
	for _, k := range t.Keys {
		e.Have = append(e.Have, k.Name)
	}
	for _, k := range p.Keys {
		e.Got = append(e.Got, k.Name)
	}
	if !slices.Equal(e.Have, e.Got) {
		return nil, e
	}
	return t, nil
}

// columnKey makes a map key of a column's path, whatever its names hold.
func columnKey(path []string) string { return fmt.Sprintf("%q", path) }

// sameTable reports whether both are stored with the same bytes.
func sameTable(a, b *Table) bool { return reflect.DeepEqual(a, b) }
