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
	data     int64 // of its first data page, as the footer has it
	end      int64
	plain    int64 // bytes when decompressed, as the footer has it
	codec    codec
	entries  int64 // by the footer
	rows     int64 // of the row group, by the footer
	firstRow int64 // of the row group in the file
}

// chunkMeta is what the footer has of a chunk, as it stands there.
type chunkMeta struct {
	begin, data int64 // offsets of the first page, and of the first with data
	size, plain int64 // compressed, and decompressed
	entries     int64
	codec       codec
	physical    Physical
	refused     *fault // why it cannot be read
	statistics  Statistics
}

// chunkMeta picks from the decoded footer, which takes several times as much
// memory, what is needed later.
func (f *File) chunkMeta(meta *metadata.FileMetaData, rowGroup, column int) chunkMeta {
	cc := meta.RowGroups[rowGroup].Columns[column]
	m := cc.MetaData
	refuse := func(r Reason, format string, args ...any) chunkMeta {
		return chunkMeta{refused: &fault{r, fmt.Errorf(format, args...)}}
	}
	switch {
	case cc.CryptoMetadata != nil:
		return refuse(Unsupported, "the column is encrypted")
	case m == nil:
		return refuse(BadFooter, "the footer has no metadata of the column")
	}
	out := chunkMeta{
		begin: chunkStart(m.DataPageOffset, m.DictionaryPageOffset), data: m.DataPageOffset,
		size: m.TotalCompressedSize, plain: m.TotalUncompressedSize, entries: m.NumValues, codec: codec(m.Codec), physical: Physical(m.Type),
		statistics: f.claims(meta, rowGroup, column),
	}
	if cc.FilePath != nil && *cc.FilePath != "" {
		out.refused = &fault{Unsupported, fmt.Errorf("the column's data is in another file, %q", *cc.FilePath)}
	}
	return out
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
	m := &f.chunks[rowGroup*len(f.columns)+column]
	if m.refused != nil {
		return c, c.place(m.refused)
	}
	if m.physical != c.column.Physical {
		return c, c.fault(BadFooter, "type %s in the row group, %s in the schema", m.physical, c.column.Physical)
	}
	c.codec, c.entries = m.codec, m.entries
	if !c.codec.supported() {
		return c, c.fault(Unsupported, "codec %s is not supported", c.codec)
	}
	c.begin, c.data, c.plain = m.begin, m.data, m.plain
	size := f.src.Size()
	if c.begin < 0 || c.begin < int64(len(magic)) && c.entries > 0 || m.size < 0 || m.size > size-c.begin {
		return c, c.fault(BadFooter, "%d bytes at %d in a file of %d", m.size, c.begin, size)
	}
	c.end = c.begin + m.size
	if f.oldSizes {
		c.end = min(c.end+100, size)
	}
	if c.entries < c.rows || c.column.MaxRep == 0 && c.entries != c.rows {
		return c, c.fault(BadRows, "the footer says %d values for %d rows", c.entries, c.rows)
	}
	return c, nil
}

// fault is an error about the chunk as a whole.
func (c *chunk) fault(r Reason, format string, args ...any) error {
	return c.place(&fault{r, fmt.Errorf(format, args...)})
}

func (c *chunk) place(f *fault) error {
	return &Error{Reason: f.reason, RowGroup: c.rowGroup, Column: c.column.Dotted, Page: -1, Offset: -1, Err: f.err}
}

// at gives an error met in a page its place: a fault, or one of the source or of
// the context.
func (c *chunk) at(page int, offset int64, err error) error {
	var fl *fault
	if err == nil {
		return nil
	}
	if !errors.As(err, &fl) {
		return &SourceError{RowGroup: c.rowGroup, Column: c.column.Dotted, Err: err}
	}
	return &Error{Reason: fl.reason, RowGroup: c.rowGroup, Column: c.column.Dotted, Page: page, Offset: offset, Err: err}
}
