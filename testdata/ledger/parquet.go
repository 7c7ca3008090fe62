package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// night is the day that the ledger is for.
const night = "2025-03-05"

// writeEntries writes one Parquet file, which is visible under its name only
// when it is complete.
func writeEntries(name string, task int, rows []entry) error {
	day, err := time.Parse(time.DateOnly, night)
	if err != nil {
		return err
	}
	ids, amounts := make([]int64, len(rows)), make([]int64, len(rows))
	taskNos, days := make([]int32, len(rows)), make([]int32, len(rows))
	for i, e := range rows {
		ids[i], amounts[i] = e.customer, e.cents
		taskNos[i], days[i] = int32(task), int32(day.Unix()/86400)
	}
	root, err := entrySchema()
	if err != nil {
		return err
	}
	hidden := name + ".tmp"
	f, err := os.Create(hidden)
	if err != nil {
		return err
	}
	w, err := file.NewParquetWriterWithError(f, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd))))
	if err != nil {
		return err
	}
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	err = errors.Join(writeInt64s(group, ids), writeInt64s(group, amounts), writeInt32s(group, taskNos), writeInt32s(group, days))
	if err := errors.Join(err, group.Close(), w.Close()); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return os.Rename(hidden, name)
}

func entrySchema() (*schema.GroupNode, error) {
	required := parquet.Repetitions.Required
	day, err := schema.NewPrimitiveNodeLogical("day", required, schema.DateLogicalType{}, parquet.Types.Int32, 0, -1)
	if err != nil {
		return nil, err
	}
	fields := schema.FieldList{
		schema.NewInt64Node("customer_id", required, -1),
		schema.NewInt64Node("cents", required, -1),
		schema.NewInt32Node("task", required, -1),
		day,
	}
	return schema.NewGroupNode("ledger", required, fields, -1)
}

func writeInt64s(group file.SerialRowGroupWriter, values []int64) error {
	column, err := group.NextColumn()
	if err != nil {
		return err
	}
	_, err = column.(*file.Int64ColumnChunkWriter).WriteBatch(values, nil, nil)
	return err
}

func writeInt32s(group file.SerialRowGroupWriter, values []int32) error {
	column, err := group.NextColumn()
	if err != nil {
		return err
	}
	_, err = column.(*file.Int32ColumnChunkWriter).WriteBatch(values, nil, nil)
	return err
}

// readEntries reads what writeEntries wrote.
func readEntries(name string) ([]entry, error) {
	r, err := file.OpenParquetFile(name, false)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	defer r.Close() // only read
	var rows []entry
	for i := range r.NumRowGroups() {
		group := r.RowGroup(i)
		ids, err := readInt64s(group, 0)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", name, err)
		}
		amounts, err := readInt64s(group, 1)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", name, err)
		}
		for k := range ids {
			rows = append(rows, entry{customer: ids[k], cents: amounts[k]})
		}
	}
	return rows, nil
}

// readInt64s reads a whole column chunk without nulls.
func readInt64s(group *file.RowGroupReader, column int) ([]int64, error) {
	c, err := group.Column(column)
	if err != nil {
		return nil, err
	}
	reader, ok := c.(*file.Int64ColumnChunkReader)
	if !ok {
		return nil, fmt.Errorf("column %d is stored as %T", column, c)
	}
	values := make([]int64, group.NumRows())
	for done := 0; done < len(values); {
		_, n, err := reader.ReadBatch(int64(len(values)-done), values[done:], nil, nil)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, fmt.Errorf("column %d ends after %d of %d rows", column, done, len(values))
		}
		done += n
	}
	return values, nil
}
