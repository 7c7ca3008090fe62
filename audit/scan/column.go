package scan

import (
	"fmt"
	"slices"
	"strings"
)

// Physical is how a column's values are stored, numbered as in parquet.thrift.
type Physical uint8

const (
	PhysBool Physical = iota
	PhysInt32
	PhysInt64
	PhysInt96
	PhysFloat
	PhysDouble
	PhysBytes
	PhysFixed
)

// String is Parquet's name of the physical type.
func (p Physical) String() string {
	names := [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("PHYSICAL(%d)", uint8(p))
}

// width is the size of one PLAIN value in bytes; 0 when it varies.
func (c *Column) width() int {
	switch c.Physical {
	case PhysInt32, PhysFloat:
		return 4
	case PhysInt64, PhysDouble:
		return 8
	case PhysInt96:
		return 12
	case PhysFixed:
		return c.TypeLength
	}
	return 0
}

// Repetition is a leaf's own repetition in the schema.
type Repetition uint8

const (
	Required Repetition = iota
	Optional
	Repeated
)

func (r Repetition) String() string {
	return [...]string{"required", "optional", "repeated"}[r%3]
}

// Column describes one leaf of the schema.
type Column struct {
	Index      int      // position among the leaves
	Path       []string // Parquet path, middle groups of lists and maps included
	Dotted     string   // the path as assertions write it: `items[].sku`
	Physical   Physical
	Logical    string // Parquet's logical type as text; empty when there is none
	Type       Type
	Repetition Repetition
	FieldID    *int32 // nil when the file has none
	TypeLength int    // bytes of a FIXED_LEN_BYTE_ARRAY, else 0
	MaxDef     uint8
	MaxRep     uint8
	// Absent says, by definition level below MaxDef, what is absent: 1 the leaf,
	// 2 what is around it, and so on, required or not, so that columns that differ
	// in being nullable agree. An empty list comes after the NULL of its elements.
	Absent []uint8
	Ref    Ref // of the leaf itself
}

// Nullable reports whether a row can lack a value in this column.
func (c *Column) Nullable() bool { return c.MaxDef > 0 }

// Ref tells how a path, of a leaf or of a group, is read from the levels of one
// leaf below it. Of the leaf's entries only those with rep ≤ Rep begin an
// instance; of these, def < Exists means no instance (an ancestor list or map
// is NULL or empty), def < NonNull that the instance is NULL.
type Ref struct {
	Path    string // as written by assertions
	Column  int    // index of the (first) leaf at or below the path
	Type    Type
	Rep     uint8
	Exists  uint8
	NonNull uint8
}

// Nullable reports whether the path itself, or a group around it that is not
// repeated, can be NULL.
func (r Ref) Nullable() bool { return r.NonNull > r.Exists }

// Columns are the leaves in file order. The caller must not change them.
func (f *File) Columns() []Column { return f.columns }

// Schema is the type of a row: a struct of the top-level columns.
func (f *File) Schema() Type { return f.schema }

// Resolve finds the leaf or group that a path names, case-sensitively. The
// error names the path when there is none, or more than one.
func (f *File) Resolve(path string) (Ref, error) {
	found, n := Ref{}, 0
	for _, r := range f.refs {
		if r.Path == path {
			found, n = r, n+1
		}
	}
	switch n {
	case 0:
		return Ref{}, fmt.Errorf("resolve column %q: no such column", path)
	case 1:
		return found, nil
	}
	return Ref{}, fmt.Errorf("resolve column %q: %d columns have this name", path, n)
}

// Paths lists every path that Resolve knows, sorted.
func (f *File) Paths() []string {
	paths := make([]string, len(f.refs))
	for i, r := range f.refs {
		paths[i] = r.Path
	}
	slices.Sort(paths)
	return paths
}

// quoteName writes one name of a path, quoted when it would read as syntax.
func quoteName(name string) string {
	if name != "" && !strings.ContainsAny(name, ".[]{}\"") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
