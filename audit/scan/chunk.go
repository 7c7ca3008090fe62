package scan

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// chunk is one column of one row group, as the footer describes it.
type chunk struct {
	rowGroup int
	column   *Column
	begin    int64 // of its first page in the file
	end      int64
	codec    codec
	entries  int64 // by the footer
	rows     int64 // of the row group, by the footer
	firstRow int64 // of the row group in the file
}

// chunk checks a footer entry as far as reading needs.
func (f *File) chunk(rowGroup, column int) (chunk, error) {
	if rowGroup < 0 || rowGroup >= len(f.footer.RowGroups) {
		return chunk{}, fmt.Errorf("scan row group %d: the file has %d", rowGroup, len(f.footer.RowGroups))
	}
	if column < 0 || column >= len(f.columns) {
		return chunk{}, fmt.Errorf("scan column %d: the file has %d", column, len(f.columns))
	}
	g := f.footer.RowGroups[rowGroup]
	c := chunk{rowGroup: rowGroup, column: &f.columns[column], rows: g.Rows, firstRow: g.FirstRow}
	cc := f.meta.RowGroups[rowGroup].Columns[column]
	m := cc.MetaData
	switch {
	case cc.CryptoMetadata != nil:
		return c, c.fault(Unsupported, "the column is encrypted")
	case m == nil:
		return c, c.fault(BadFooter, "the footer has no metadata of the column")
	case cc.FilePath != nil && *cc.FilePath != "":
		return c, c.fault(Unsupported, "the column's data is in another file, %q", *cc.FilePath)
	case Physical(m.Type) != c.column.Physical:
		return c, c.fault(BadFooter, "type %s in the row group, %s in the schema", Physical(m.Type), c.column.Physical)
	}
	c.codec, c.entries = codec(m.Codec), m.NumValues
	if !c.codec.supported() {
		return c, c.fault(Unsupported, "codec %s is not supported", c.codec)
	}
	c.begin = chunkStart(m.DataPageOffset, m.DictionaryPageOffset)
	size := f.src.Size()
	if c.begin < 0 || c.begin < int64(len(magic)) && c.entries > 0 ||
		m.TotalCompressedSize < 0 || m.TotalCompressedSize > size-c.begin {
		return c, c.fault(BadFooter, "%d bytes at %d in a file of %d", m.TotalCompressedSize, c.begin, size)
	}
	c.end = c.begin + m.TotalCompressedSize
	if f.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		// These versions left the dictionary's page header out of the size.
		c.end = min(c.end+100, size)
	}
	if c.entries < c.rows || c.column.MaxRep == 0 && c.entries != c.rows {
		return c, c.fault(BadRows, "the footer says %d values for %d rows", c.entries, c.rows)
	}
	return c, nil
}

// fault is an error about the chunk as a whole.
func (c *chunk) fault(r Reason, format string, args ...any) error {
	return &Error{Reason: r, RowGroup: c.rowGroup, Column: c.column.Dotted, Page: -1, Offset: -1,
		Err: fmt.Errorf(format, args...)}
}

// at gives a fault found in a page its place. Errors that are not faults, so
// the source's and the context's, pass as they are.
func (c *chunk) at(page int, offset int64, err error) error {
	var fl *fault
	if err == nil || !errors.As(err, &fl) {
		return err
	}
	return &Error{Reason: fl.reason, RowGroup: c.rowGroup, Column: c.column.Dotted, Page: page, Offset: offset, Err: err}
}
