package audit

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/wap-cli/wap/audit/scan"
)

// madeValue is a value of a made-up row: nil for NULL, a bool, a float64, a *big.Int
// in stored units, or a string of bytes.
type madeValue any

// madeColumn is a column of a made-up file.
type madeColumn struct {
	path     string
	typ      scan.Type
	required bool // it holds no NULL
	pool     []madeValue
}

// madeTable is a small file: some rows, over and over.
type madeTable struct {
	columns []madeColumn
	rows    [][]madeValue
	times   int
}

// leafOf is the column as conditions and literals see it.
func (c *madeColumn) leafOf() *scan.Column {
	return &scan.Column{Type: c.typ, Dotted: c.path, Physical: storedAs(c.typ)}
}

// storedAs is the physical type that a made-up column has.
func storedAs(t scan.Type) scan.Physical {
	switch t.Kind {
	case scan.Bool:
		return scan.PhysBool
	case scan.Int8, scan.Int16, scan.Int32, scan.Uint8, scan.Uint16, scan.Uint32, scan.Date:
		return scan.PhysInt32
	case scan.Int64, scan.Uint64, scan.Timestamp:
		return scan.PhysInt64
	case scan.Time:
		if t.Unit == scan.Milli {
			return scan.PhysInt32
		}
		return scan.PhysInt64
	case scan.Float:
		return scan.PhysFloat
	case scan.Double:
		return scan.PhysDouble
	case scan.Decimal, scan.FixedBinary, scan.UUID, scan.Float16:
		return scan.PhysFixed
	}
	return scan.PhysBytes
}

// made reports whether files with a column of a type can be made up.
func made(t scan.Type) bool {
	switch t.Kind {
	case scan.Null, scan.Float16, scan.Interval, scan.BSON, scan.Variant, scan.Geometry, scan.Geography:
		return false
	}
	return t.IsLeaf()
}

func logicalType(t scan.Type) schema.LogicalType {
	units := map[scan.Unit]schema.TimeUnitType{
		scan.Milli: schema.TimeUnitMillis, scan.Micro: schema.TimeUnitMicros, scan.Nano: schema.TimeUnitNanos,
	}
	switch t.Kind {
	case scan.Int8, scan.Uint8:
		return schema.NewIntLogicalType(8, t.Kind == scan.Int8)
	case scan.Int16, scan.Uint16:
		return schema.NewIntLogicalType(16, t.Kind == scan.Int16)
	case scan.Int32, scan.Uint32:
		return schema.NewIntLogicalType(32, t.Kind == scan.Int32)
	case scan.Int64, scan.Uint64:
		return schema.NewIntLogicalType(64, t.Kind == scan.Int64)
	case scan.Decimal:
		return schema.NewDecimalLogicalType(int32(t.Precision), int32(t.Scale))
	case scan.String:
		return schema.StringLogicalType{}
	case scan.Enum:
		return schema.EnumLogicalType{}
	case scan.JSON:
		return schema.JSONLogicalType{}
	case scan.UUID:
		return schema.UUIDLogicalType{}
	case scan.Date:
		return schema.DateLogicalType{}
	case scan.Time:
		return schema.NewTimeLogicalType(false, units[t.Unit])
	case scan.Timestamp:
		return schema.NewTimestampLogicalType(t.UTC, units[t.Unit])
	}
	return schema.NoLogicalType{}
}

// widthOf is the bytes of a fixed-length value.
func widthOf(t scan.Type) int {
	switch t.Kind {
	case scan.Decimal:
		return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil).BitLen()/8 + 1
	case scan.UUID:
		return 16
	}
	return t.Width
}

func (c *madeColumn) node() (schema.Node, error) {
	repetition, width := parquet.Repetitions.Optional, -1
	if c.required {
		repetition = parquet.Repetitions.Required
	}
	physical := parquet.Types.ByteArray
	switch storedAs(c.typ) {
	case scan.PhysBool:
		physical = parquet.Types.Boolean
	case scan.PhysInt32:
		physical = parquet.Types.Int32
	case scan.PhysInt64:
		physical = parquet.Types.Int64
	case scan.PhysFloat:
		physical = parquet.Types.Float
	case scan.PhysDouble:
		physical = parquet.Types.Double
	case scan.PhysFixed:
		physical, width = parquet.Types.FixedLenByteArray, widthOf(c.typ)
	}
	return schema.NewPrimitiveNodeLogical(c.path, repetition, logicalType(c.typ), physical, width, -1)
}

// parquet writes the table as a file.
func (t *madeTable) parquet() ([]byte, error) {
	var fields schema.FieldList
	for i := range t.columns {
		node, err := t.columns[i].node()
		if err != nil {
			return nil, fmt.Errorf("make up column %s: %w", t.columns[i].path, err)
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, fmt.Errorf("make up a schema: %w", err)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return nil, fmt.Errorf("make up a file: %w", err)
	}
	for i := range t.columns {
		chunk, err := group.NextColumn()
		if err == nil {
			err = t.write(chunk, i)
		}
		if err != nil {
			return nil, fmt.Errorf("make up column %s: %w", t.columns[i].path, err)
		}
	}
	if err := group.Close(); err != nil {
		return nil, fmt.Errorf("make up a file: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("make up a file: %w", err)
	}
	return out.Bytes(), nil
}

func (t *madeTable) write(w file.ColumnChunkWriter, column int) error {
	var values []madeValue
	var def []int16
	for range t.times {
		for _, row := range t.rows {
			if row[column] == nil {
				def = append(def, 0)
				continue
			}
			values, def = append(values, row[column]), append(def, 1)
		}
	}
	if t.columns[column].required {
		def = nil
	}
	var err error
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) bool { return c.(bool) }), def, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) int32 { return int32(lowBits(c.(*big.Int))) }), def, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) int64 { return lowBits(c.(*big.Int)) }), def, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) float32 { return float32(c.(float64)) }), def, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) float64 { return c.(float64) }), def, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) parquet.ByteArray { return parquet.ByteArray(c.(string)) }), def, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		width := widthOf(t.columns[column].typ)
		_, err = w.WriteBatch(valuesAs(values, func(c madeValue) parquet.FixedLenByteArray { return fixedBytes(c, width) }), def, nil)
	}
	if err != nil {
		return err
	}
	return w.Close()
}

func valuesAs[T any](values []madeValue, as func(madeValue) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = as(v)
	}
	return out
}

// lowBits are the low 64 bits of a number, which may be an unsigned one.
func lowBits(n *big.Int) int64 {
	if n.IsInt64() {
		return n.Int64()
	}
	return int64(n.Uint64())
}

// fixedBytes is a value in a number of bytes; a number is big-endian.
func fixedBytes(c madeValue, width int) []byte {
	n, ok := c.(*big.Int)
	if !ok {
		out := make([]byte, width)
		copy(out, c.(string))
		return out
	}
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(width)*8))
	}
	return n.FillBytes(make([]byte, width))
}
