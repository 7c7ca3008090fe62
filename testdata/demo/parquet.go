package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const rowsPerGroup = 16 << 10

// orderWriter writes batches of lines as the row groups of one Parquet file.
type orderWriter struct{ w *file.Writer }

func newOrderWriter(sink io.Writer) (*orderWriter, error) {
	root, err := orderSchema()
	if err != nil {
		return nil, err
	}
	// Columns that hardly repeat are delta encoded, the others get dictionaries.
	props := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCreatedBy("orders"),
	}
	for _, name := range []string{"order_id", "ordered_at", "shipped_at"} {
		props = append(props, parquet.WithDictionaryFor(name, false), parquet.WithEncodingFor(name, parquet.Encodings.DeltaBinaryPacked))
	}
	w, err := file.NewParquetWriterWithError(sink, root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	if err != nil {
		return nil, err
	}
	return &orderWriter{w}, nil
}

func orderSchema() (*schema.GroupNode, error) {
	instant := schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
	columns := []struct {
		name       string
		repetition parquet.Repetition
		logical    schema.LogicalType
		physical   parquet.Type
	}{
		{"order_id", parquet.Repetitions.Required, schema.NoLogicalType{}, parquet.Types.Int64},
		{"line_no", parquet.Repetitions.Required, schema.NoLogicalType{}, parquet.Types.Int32},
		{"customer_id", parquet.Repetitions.Optional, schema.NoLogicalType{}, parquet.Types.Int64},
		{"status", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray},
		{"amount", parquet.Repetitions.Required, schema.NewDecimalLogicalType(18, 2), parquet.Types.Int64},
		{"country", parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray},
		{"ordered_at", parquet.Repetitions.Required, instant, parquet.Types.Int64},
		{"shipped_at", parquet.Repetitions.Optional, instant, parquet.Types.Int64},
		{"coupon", parquet.Repetitions.Optional, schema.StringLogicalType{}, parquet.Types.ByteArray},
		{"loaded_at", parquet.Repetitions.Required, instant, parquet.Types.Int64},
	}
	var fields schema.FieldList
	for _, c := range columns {
		node, err := schema.NewPrimitiveNodeLogical(c.name, c.repetition, c.logical, c.physical, 0, -1)
		if err != nil {
			return nil, fmt.Errorf("define column %q: %w", c.name, err)
		}
		fields = append(fields, node)
	}
	return schema.NewGroupNode("orders", parquet.Repetitions.Required, fields, -1)
}

// writeGroup writes b as one row group; its columns are in the schema's order.
func (o *orderWriter) writeGroup(b *lines) error {
	group, err := o.w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	err = errors.Join(
		writeInt64s(group, b.orderID, nil),
		writeInt32s(group, b.lineNo),
		writeInt64s(group, b.customerID, b.hasCustomer),
		writeStrings(group, b.status, nil),
		writeInt64s(group, b.amount, nil),
		writeStrings(group, b.country, nil),
		writeInt64s(group, b.orderedAt, nil),
		writeInt64s(group, b.shippedAt, b.hasShipped),
		writeStrings(group, b.coupon, b.hasCoupon),
		writeInt64s(group, b.loadedAt, nil),
	)
	return errors.Join(err, group.Close())
}

// close writes the footer and closes the file.
func (o *orderWriter) close() error { return o.w.Close() }

func writeInt64s(group file.SerialRowGroupWriter, values []int64, levels []int16) error {
	column, err := nextColumn[*file.Int64ColumnChunkWriter](group)
	if err != nil {
		return err
	}
	_, err = column.WriteBatch(values, levels, nil)
	return err
}

func writeInt32s(group file.SerialRowGroupWriter, values []int32) error {
	column, err := nextColumn[*file.Int32ColumnChunkWriter](group)
	if err != nil {
		return err
	}
	_, err = column.WriteBatch(values, nil, nil)
	return err
}

func writeStrings(group file.SerialRowGroupWriter, values []parquet.ByteArray, levels []int16) error {
	column, err := nextColumn[*file.ByteArrayColumnChunkWriter](group)
	if err != nil {
		return err
	}
	_, err = column.WriteBatch(values, levels, nil)
	return err
}

func nextColumn[W file.ColumnChunkWriter](group file.SerialRowGroupWriter) (W, error) {
	var none W
	column, err := group.NextColumn()
	if err != nil {
		return none, err
	}
	w, ok := column.(W)
	if !ok {
		return none, fmt.Errorf("column %d is written as %T, but stored as %T", group.CurrentColumn(), none, column)
	}
	return w, nil
}
