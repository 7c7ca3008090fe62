package manifest

import (
	"fmt"
	"strings"
)

// Tree is a folder of the partition tree. Entries are sorted by name.
type Tree struct {
	Format  int64       `json:"format"`
	Entries []TreeEntry `json:"entries"`
	// Table is set on a table's own node. The node of an unpartitioned table
	// is a manifest, which then carries it.
	Table  *Table `json:"table"`
	Totals Totals `json:"totals"`
	Extensions
}

// NodeKind tells folders from partitions.
type NodeKind string

// The kinds of node.
const (
	NodeTree     NodeKind = "tree"
	NodeManifest NodeKind = "manifest"
)

// TreeEntry is one path component below a folder.
type TreeEntry struct {
	Name string   `json:"name"`
	Kind NodeKind `json:"kind"`
	Ref
	Totals
	Extensions
}

// Table holds what all partitions of a table share. Its first publish fixes the
// order and the types of the keys.
type Table struct {
	Keys    []TableKey    `json:"keys"`
	Columns []TableColumn `json:"columns"` // sorted by id
	LastID  int64         `json:"last_id"`
	Extensions
}

// TableKey is one partition key of a table.
type TableKey struct {
	Name string `json:"name"`
	Type string `json:"type"` // Arrow's name
}

// TableColumn is a leaf column with an id that outlives renames elsewhere.
type TableColumn struct {
	ID int64 `json:"id"` // from 1
	Column
	Extensions
}

// Validate checks what the tree alone tells: entries in order, all keys of one
// name or none a key, totals that add up, and the table's keys and columns.
func (t *Tree) Validate() error {
	var sum Totals
	for _, e := range t.Entries {
		sum = sum.Add(e.Totals)
	}
	return checkAll(
		isFormat(t.Format),
		func() error {
			if len(t.Entries) == 0 {
				return invalid("entries", "a folder without entries")
			}
			return nil
		},
		each("entries", t.Entries, (*TreeEntry).validate),
		sorted("entries", t.Entries, func(e TreeEntry) string { return e.Name }),
		t.checkKeys,
		sums("totals", t.Totals, sum),
	)
}

func (e *TreeEntry) validate() error {
	return checkAll(
		isComponent("name", e.Name),
		oneOf("kind", e.Kind, NodeTree, NodeManifest),
		isRef("", e.Ref),
		notNegative("", e.Totals),
	)
}

// isComponent checks one part of a canonical path.
func isComponent(path, v string) rule {
	return func() error {
		p := componentParser{path: v, stars: refuseStars}
		switch c, err := p.parse(v); {
		case err != nil:
			return invalid(path, "%v", err)
		case c.String() != v:
			return invalid(path, "%q is not canonical, that is %q", v, c)
		}
		return nil
	}
}

// checkKeys checks that the entries are all of one key, or none of any, and of
// the table's first key where the folder is a table.
func (t *Tree) checkKeys() error {
	first, _, isKey := strings.Cut(t.Entries[0].Name, "=")
	for i, e := range t.Entries {
		key, _, ok := strings.Cut(e.Name, "=")
		if ok != isKey || ok && key != first {
			return invalid(fmt.Sprintf("entries[%d].name", i), "%q is not of the key of %q", e.Name, t.Entries[0].Name)
		}
	}
	if t.Table == nil {
		return nil
	}
	if err := t.Table.validate(); err != nil {
		return in("table", err)
	}
	if len(t.Table.Keys) == 0 || !isKey || EscapeValue(t.Table.Keys[0].Name) != first {
		return invalid("table.keys", "the entries are not of the table's first key")
	}
	return nil
}

// validate checks a table; one without keys is unpartitioned.
func (t *Table) validate() error {
	return checkAll(
		each("keys", t.Keys, func(k *TableKey) error {
			return checkAll(filled("name", k.Name), filled("type", k.Type))
		}),
		unique("keys", t.Keys, func(k TableKey) string { return k.Name }),
		each("columns", t.Columns, func(c *TableColumn) error {
			return checkAll(atLeast("id", 1, c.ID), c.Column.validate)
		}),
		sorted("columns", t.Columns, func(c TableColumn) int64 { return c.ID }),
		unique("columns", t.Columns, func(c TableColumn) string { return columnKey(c.Path) }),
		func() error {
			if n := len(t.Columns); n > 0 && t.Columns[n-1].ID > t.LastID {
				return invalid("last_id", "%d is less than the id of a column", t.LastID)
			}
			return nil
		},
		atLeast("last_id", 0, t.LastID),
	)
}
