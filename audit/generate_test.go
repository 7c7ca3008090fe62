package audit

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/wap-cli/wap/audit/scan"
)

// testColumn is a column of a generated file. A nil value is NULL. With levels,
// values are the present ones alone.
type testColumn struct {
	node     schema.Node
	values   []any
	def, rep []int16
}

// leaf is an optional column.
func leaf(name string, physical parquet.Type, logical schema.LogicalType, width int, values []any) testColumn {
	if logical == nil {
		logical = schema.NoLogicalType{}
	}
	node := schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Optional, logical, physical, width, -1))
	return testColumn{node: node, values: values}
}

func longs(name string, values ...any) testColumn {
	return leaf(name, parquet.Types.Int64, nil, -1, values)
}

func doubles(name string, values ...any) testColumn {
	return leaf(name, parquet.Types.Double, nil, -1, values)
}

func strs(name string, values ...any) testColumn {
	return leaf(name, parquet.Types.ByteArray, schema.StringLogicalType{}, -1, values)
}

// decimals is a column of fixed-length decimals; values are unscaled.
func decimals(name string, precision, scale int32, values ...any) testColumn {
	return leaf(name, parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(precision, scale), 16, values)
}

// stamps is a column of microseconds, UTC-adjusted or local.
func stamps(name string, utc bool, values ...any) testColumn {
	return leaf(name, parquet.Types.Int64, schema.NewTimestampLogicalType(utc, schema.TimeUnitMicros), -1, values)
}

// listOf is an optional list of an optional element, with the levels of each
// entry.
func listOf(c testColumn, def, rep []int16) testColumn {
	name := c.node.Name()
	var element schema.Node
	switch p := c.node.(type) {
	case *schema.PrimitiveNode:
		element = schema.MustPrimitive(schema.NewPrimitiveNodeLogical("element", parquet.Repetitions.Optional,
			p.LogicalType(), p.PhysicalType(), p.TypeLength(), -1))
	case *schema.GroupNode:
		element = p
	}
	repeated := schema.MustGroup(schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1))
	node := schema.MustGroup(schema.NewGroupNodeLogical(name, parquet.Repetitions.Optional,
		schema.FieldList{repeated}, schema.ListLogicalType{}, -1))
	return testColumn{node: node, values: c.values, def: def, rep: rep}
}

// structOf is an optional struct with one column.
func structOf(name string, c testColumn, def []int16) testColumn {
	node := schema.MustGroup(schema.NewGroupNode(name, parquet.Repetitions.Optional, schema.FieldList{c.node}, -1))
	return testColumn{node: node, values: c.values, def: def, rep: make([]int16, len(def))}
}

// levels splits values into levels and what is present.
func (c testColumn) levels() (present []any, def, rep []int16) {
	if c.def != nil {
		return c.values, c.def, c.rep
	}
	for _, v := range c.values {
		rep = append(rep, 0)
		if v == nil {
			def = append(def, 0)
			continue
		}
		def, present = append(def, 1), append(present, v)
	}
	return present, def, rep
}

// collect turns values into those of a physical type.
func collect[T any](values []any, convert func(any) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = convert(v)
	}
	return out
}

func toInt64(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		return int64(v)
	}
	return v.(int64)
}

func toBytes(width int) func(any) []byte {
	return func(v any) []byte {
		switch v := v.(type) {
		case string:
			return []byte(v)
		case []byte:
			return v
		case int:
			return fixed(big.NewInt(int64(v)), width)
		}
		return fixed(v.(*big.Int), width)
	}
}

// fixed is n as a big-endian two's complement number.
func fixed(n *big.Int, width int) []byte {
	if n.Sign() < 0 {
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(width)*8))
	}
	return n.FillBytes(make([]byte, width))
}

func writeColumn(t testing.TB, w file.ColumnChunkWriter, c testColumn) {
	t.Helper()
	values, def, rep := c.levels()
	var err error
	switch w := w.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) int32 { return int32(toInt64(v)) }), def, rep)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, toInt64), def, rep)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) float64 { return v.(float64) }), def, rep)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) float32 { return float32(v.(float64)) }), def, rep)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) bool { return v.(bool) }), def, rep)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) parquet.Int96 { return v.(parquet.Int96) }), def, rep)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(collect(values, func(v any) parquet.ByteArray { return toBytes(0)(v) }), def, rep)
	case *file.FixedLenByteArrayColumnChunkWriter:
		width := w.Descr().TypeLength()
		_, err = w.WriteBatch(collect(values, func(v any) parquet.FixedLenByteArray { return toBytes(width)(v) }), def, rep)
	default:
		t.Fatalf("no writer for %T", w)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// parquetBytes writes row groups of the same columns.
func parquetBytes(t testing.TB, groups [][]testColumn, props ...parquet.WriterProperty) []byte {
	t.Helper()
	var fields schema.FieldList
	for _, c := range groups[0] {
		fields = append(fields, c.node)
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	for _, g := range groups {
		rg, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range g {
			cw, err := rg.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			writeColumn(t, cw, c)
		}
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// memoryFile is a Parquet file in memory.
func memoryFile(key string, data []byte) File {
	return File{Key: key, Source: scan.ReaderAt(bytes.NewReader(data), int64(len(data)))}
}

// fileOf is a file with one row group.
func fileOf(t testing.TB, key string, columns ...testColumn) File {
	t.Helper()
	return memoryFile(key, parquetBytes(t, [][]testColumn{columns}))
}

// checks is a checks file of the list items given.
func checks(items ...string) string {
	text := "version: 1\nchecks:\n"
	for _, item := range items {
		text += "  - " + item + "\n"
	}
	return text
}

// judgeOne runs one check over files and returns its result.
func judgeOne(t *testing.T, item string, files ...File) Result {
	t.Helper()
	r := mustRun(t, mustParse(t, checks(item)), Partition{Files: files}, Options{})
	for _, a := range r.Assertions {
		if k, ok := lookup(a.Type); ok && !k.builtin {
			return a
		}
	}
	t.Fatal("the report has no result of the check")
	return Result{}
}
