package manifest

import (
	"fmt"
	"slices"
)

// Mode is how a run changes a partition.
type Mode string

// The modes.
const (
	ModeOverwrite Mode = "overwrite"
	ModeAppend    Mode = "append"
	ModeReplace   Mode = "replace"
)

// Manifest is the file list of one partition.
type Manifest struct {
	Format     int64     `json:"format"`
	Partition  Partition `json:"partition"`
	Mode       Mode      `json:"mode"`
	Run        string    `json:"run"` // the run that made this state
	Generation int64     `json:"generation"`
	Table      *Table    `json:"table"` // only of an unpartitioned table
	Schemas    []Schema  `json:"schemas"`
	Files      []File    `json:"files"` // sorted by key
	Totals     Totals    `json:"totals"`
	Metrics    []Metric  `json:"metrics"`
	Extensions
}

// Partition is a parsed partition path.
type Partition struct {
	Path  string     `json:"path"`  // as in the tree, values Hive-escaped
	Table string     `json:"table"` // leading components without `=`
	Keys  []KeyValue `json:"keys"`
}

// KeyValue is one `key=value` component of a partition path.
type KeyValue struct {
	Name  string `json:"name"`
	Value string `json:"value"` // unescaped
	Type  string `json:"type"`  // Arrow's name; empty until a table fixes it
}

// Schema is the leaf columns of one or more files, in file order.
type Schema struct {
	Columns []Column `json:"columns"`
	Extensions
}

// Column is one leaf column of a Parquet file.
type Column struct {
	Path       []string `json:"path"`
	Physical   string   `json:"physical"`   // Parquet's name, e.g. INT64
	Logical    string   `json:"logical"`    // Arrow's name, e.g. decimal128(18, 2)
	Repetition string   `json:"repetition"` // required, optional or repeated
	// FieldID is the id written in the file, or null.
	FieldID *int64 `json:"field_id"`
	MaxDef  int64  `json:"max_def"`
	MaxRep  int64  `json:"max_rep"`
}

// FieldIDs says how many columns of a file carry a field id.
type FieldIDs string

// The values of FieldIDs.
const (
	FieldIDsAll   FieldIDs = "all"
	FieldIDsNone  FieldIDs = "none"
	FieldIDsMixed FieldIDs = "mixed"
)

// File is one Parquet file.
type File struct {
	Key       string `json:"key"` // relative to the warehouse
	Size      int64  `json:"size"`
	ETag      string `json:"etag"`
	VersionID string `json:"version_id"`
	// SHA256 of the bytes; null for a file that an engine wrote to the store
	// itself: there size, ETag and version id stand in.
	SHA256      *string    `json:"sha256"`
	Schema      int64      `json:"schema"` // index into the schemas beside it
	Rows        int64      `json:"rows"`
	RowGroups   []RowGroup `json:"row_groups"`
	FooterBytes int64      `json:"footer_bytes"`
	CreatedBy   string     `json:"created_by"`
	StoredKeys  []string   `json:"stored_keys"` // partition keys that are columns of the file
	FieldIDs    FieldIDs   `json:"field_ids"`
	Run         string     `json:"run"`
	Generation  int64      `json:"generation"`
	Task        string     `json:"task"`
	Attempt     string     `json:"attempt"`
	Extensions
}

// RowGroup is where one row group lies.
type RowGroup struct {
	Offset int64 `json:"offset"`
	Rows   int64 `json:"rows"`
	Bytes  int64 `json:"bytes"` // compressed
}

// Metric is a number that an audit computed on the partition's rows.
type Metric struct {
	Name   string `json:"name"`   // e.g. row_count, sum, null_count
	Column string `json:"column"` // path as in a checks file; empty for the partition's own
	Value  string `json:"value"`  // decimal text
}

// Validate checks the partition, the files in order, and totals that add up.
func (m *Manifest) Validate() error {
	return checkAll(
		isFormat(m.Format),
		m.Partition.rule("partition"),
		oneOf("mode", m.Mode, ModeOverwrite, ModeAppend, ModeReplace),
		isName("run", m.Run),
		atLeast("generation", 1, m.Generation),
		m.checkTable,
		each("schemas", m.Schemas, (*Schema).validate),
		func() error { return checkFiles(m.Files, len(m.Schemas), m.Partition) },
		sums("totals", m.Totals, totalsOf(m.Files)),
		each("metrics", m.Metrics, func(mt *Metric) error {
			return checkAll(filled("name", mt.Name), filled("value", mt.Value))
		}),
		unique("metrics", m.Metrics, func(mt Metric) [2]string { return [2]string{mt.Name, mt.Column} }),
	)
}

func (m *Manifest) checkTable() error {
	switch {
	case len(m.Partition.Keys) > 0 && m.Table != nil:
		return invalid("table", "a partitioned table stands in its folder")
	case len(m.Partition.Keys) > 0:
		return nil
	case m.Table == nil:
		return invalid("table", "an unpartitioned table stands in its manifest")
	case len(m.Table.Keys) > 0:
		return invalid("table.keys", "an unpartitioned table has none")
	}
	return in("table", m.Table.validate())
}

// totalsOf adds up files.
func totalsOf(files []File) Totals {
	t := Totals{Files: int64(len(files))}
	for _, f := range files {
		t.Rows += f.Rows
		t.Bytes += f.Size
	}
	return t
}

// rule checks that the parsed fields say what the path says, types aside.
func (p Partition) rule(path string) rule {
	return func() error {
		want, err := ParsePartition(p.Path)
		if err != nil {
			return invalid(path+".path", "%v", err)
		}
		for i := range want.Keys {
			if i < len(p.Keys) {
				want.Keys[i].Type = p.Keys[i].Type
			}
		}
		if want.Path != p.Path || want.Table != p.Table || !slices.Equal(want.Keys, p.Keys) {
			return invalid(path, "table and keys are not those of path %q", p.Path)
		}
		return nil
	}
}

// isPath checks a partition's path.
func isPath(path, v string) rule {
	return func() error {
		switch p, err := ParsePartition(v); {
		case err != nil:
			return invalid(path, "%v", err)
		case p.Path != v:
			return invalid(path, "%q is not canonical, that is %q", v, p.Path)
		}
		return nil
	}
}

func (s *Schema) validate() error {
	return checkAll(
		each("columns", s.Columns, func(c *Column) error { return c.validate() }),
		unique("columns", s.Columns, func(c Column) string { return columnKey(c.Path) }),
	)
}

func (c Column) validate() error {
	return checkAll(
		func() error {
			if len(c.Path) == 0 {
				return invalid("path", "empty")
			}
			return nil
		},
		filled("physical", c.Physical),
		filled("logical", c.Logical),
		oneOf("repetition", c.Repetition, "required", "optional", "repeated"),
		atLeast("max_def", 0, c.MaxDef),
		atLeast("max_rep", 0, c.MaxRep),
	)
}

// checkFiles checks the files of one partition, whose Schema is less than
// schemas.
func checkFiles(files []File, schemas int, p Partition) error {
	return checkAll(
		each("files", files, func(f *File) error { return f.validate(schemas, p) }),
		sorted("files", files, func(f File) string { return f.Key }),
	)
}

func (f *File) validate(schemas int, p Partition) error {
	return checkAll(
		isCleanKey("key", f.Key),
		atLeast("size", 1, f.Size),
		func() error {
			if f.SHA256 == nil {
				return nil
			}
			return isDigest("sha256", *f.SHA256)()
		},
		func() error {
			if f.Schema < 0 || f.Schema >= int64(schemas) {
				return invalid("schema", "%d of %d", f.Schema, schemas)
			}
			return nil
		},
		atLeast("footer_bytes", 0, f.FooterBytes),
		f.checkRows,
		each("stored_keys", f.StoredKeys, func(k *string) error {
			if !slices.ContainsFunc(p.Keys, func(kv KeyValue) bool { return kv.Name == *k }) {
				return invalid("", "%q is no key of %q", *k, p.Path)
			}
			return nil
		}),
		unique("stored_keys", f.StoredKeys, itself),
		oneOf("field_ids", f.FieldIDs, FieldIDsAll, FieldIDsNone, FieldIDsMixed),
		isName("run", f.Run),
		atLeast("generation", 1, f.Generation),
		isName("task", f.Task),
		isID("attempt", f.Attempt),
	)
}

// checkRows checks that the row groups hold the file's rows and lie in it.
func (f *File) checkRows() error {
	var rows int64
	for i, g := range f.RowGroups {
		if g.Rows < 0 || g.Bytes < 0 || g.Offset < 0 || g.Offset > f.Size {
			return invalid(fmt.Sprintf("row_groups[%d]", i), "%+v does not lie in a file of %d bytes", g, f.Size)
		}
		rows += g.Rows
	}
	if f.Rows != rows {
		return invalid("rows", "%d, the row groups hold %d", f.Rows, rows)
	}
	return nil
}
