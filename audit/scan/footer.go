package scan

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// Footer is what a file's footer says about its rows.
type Footer struct {
	Rows         int64
	RowGroups    []RowGroup
	CreatedBy    string
	Bytes        int64    // length of the serialized metadata
	MetadataKeys []string // of the key-value metadata, in file order
	FieldIDs     FieldIDs
}

// RowGroup is the footer's entry for one row group.
type RowGroup struct {
	Offset   int64 // where its first page begins
	Rows     int64
	FirstRow int64 // rows of the groups before it
	Bytes    int64 // compressed, over all columns
}

// FieldIDs tells how many of the leaves carry a field id.
type FieldIDs string

const (
	FieldIDsNone  FieldIDs = "none"
	FieldIDsMixed FieldIDs = "mixed"
	FieldIDsAll   FieldIDs = "all"
)

// Footer returns the decoded footer. The caller must not change it.
func (f *File) Footer() Footer { return f.footer }

// CheckRows reports, as a BadRows [*Error], a footer whose row count is not the
// sum of its row groups.
func (f *File) CheckRows() error {
	var sum int64
	for _, rg := range f.footer.RowGroups {
		sum += rg.Rows
	}
	if sum != f.footer.Rows {
		return fileError(BadRows, "the footer says %d rows, its row groups %d", f.footer.Rows, sum)
	}
	return nil
}

func (f *File) buildFooter(m *metadata.FileMetaData) error {
	f.oldSizes = m.WriterVersion().LessThan(metadata.Parquet816FixedVersion)
	f.footer = Footer{Rows: m.NumRows, CreatedBy: m.GetCreatedBy(), FieldIDs: f.fieldIDs()}
	for _, kv := range m.KeyValueMetadata() {
		f.footer.MetadataKeys = append(f.footer.MetadataKeys, kv.Key)
	}
	if m.NumRows < 0 {
		return fmt.Errorf("%d rows", m.NumRows)
	}
	var sum int64
	for i, rg := range m.RowGroups {
		if len(rg.Columns) != len(f.columns) {
			return fmt.Errorf("row group %d has %d columns, the schema %d", i, len(rg.Columns), len(f.columns))
		}
		g := RowGroup{Rows: rg.NumRows, FirstRow: sum}
		if sum += rg.NumRows; rg.NumRows < 0 || sum < 0 {
			return fmt.Errorf("row group %d has %d rows", i, rg.NumRows)
		}
		for j, cc := range rg.Columns {
			chunk := f.chunkMeta(m, i, j)
			f.chunks = append(f.chunks, chunk)
			if cc.MetaData == nil {
				continue // an encrypted column; reading it is refused later
			}
			g.Bytes += chunk.size
			if j == 0 || chunk.begin < g.Offset {
				g.Offset = chunk.begin
			}
		}
		f.footer.RowGroups = append(f.footer.RowGroups, g)
	}
	return nil
}

// chunkStart is where a column chunk's first page begins. Some writers leave a
// dictionary offset of 0, or one behind the data; both mean none.
func chunkStart(data int64, dict *int64) int64 {
	if dict != nil && *dict > 0 && *dict < data {
		return *dict
	}
	return data
}

func (f *File) fieldIDs() FieldIDs {
	n := 0
	for i := range f.columns {
		if f.columns[i].FieldID != nil {
			n++
		}
	}
	switch n {
	case 0:
		return FieldIDsNone
	case len(f.columns):
		return FieldIDsAll
	}
	return FieldIDsMixed
}
