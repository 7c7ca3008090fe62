package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/rogpeppe/go-internal/testscript"
)

// parquetFile writes a Parquet file from text: "parquet out.parquet rows.txt".
//
//	id:int64,name:string?,day:date
//	1,Ann,2025-03-05
//	2,,2025-03-06
//
// The first line has the columns; ? is for optional ones, in which an empty
// cell is NULL. A line of --- begins a new row group; two in a row make one
// without rows. Without any line there is no row group.
func parquetFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: parquet OUT ROWS")
	}
	body, err := encodeParquet(ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o600))
}

type textColumn struct {
	name, kind string
	optional   bool
}

func encodeParquet(text string) ([]byte, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var columns []textColumn
	var fields schema.FieldList
	for _, head := range strings.Split(lines[0], ",") {
		name, kind, _ := strings.Cut(head, ":")
		c := textColumn{name: name}
		c.kind, c.optional = strings.CutSuffix(kind, "?")
		node, err := c.node()
		if err != nil {
			return nil, err
		}
		columns, fields = append(columns, c), append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	if len(lines) > 1 {
		for group := range strings.SplitSeq(strings.Join(lines[1:], "\n"), "---") {
			if err := writeGroup(w, columns, strings.Fields(group)); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (c textColumn) node() (schema.Node, error) {
	repetition := parquet.Repetitions.Required
	if c.optional {
		repetition = parquet.Repetitions.Optional
	}
	physical, ok := map[string]parquet.Type{
		"int64": parquet.Types.Int64, "int32": parquet.Types.Int32, "double": parquet.Types.Double,
		"string": parquet.Types.ByteArray, "date": parquet.Types.Int32,
	}[c.kind]
	if !ok {
		return nil, fmt.Errorf("column %q: no type %q", c.name, c.kind)
	}
	var logical schema.LogicalType = schema.NoLogicalType{}
	switch c.kind {
	case "string":
		logical = schema.StringLogicalType{}
	case "date":
		logical = schema.DateLogicalType{}
	}
	return schema.NewPrimitiveNodeLogical(c.name, repetition, logical, physical, 0, -1)
}

func writeGroup(w *file.Writer, columns []textColumn, rows []string) error {
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i, c := range columns {
		var cells []string
		var levels []int16
		for _, row := range rows {
			cell := strings.Split(row, ",")[i]
			if c.optional && cell == "" {
				levels = append(levels, 0)
				continue
			}
			levels = append(levels, 1)
			cells = append(cells, cell)
		}
		if !c.optional {
			levels = nil
		}
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := c.write(column, cells, levels); err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
		if err := column.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

func (c textColumn) write(column file.ColumnChunkWriter, cells []string, levels []int16) (err error) {
	switch w := column.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = writeCells(w.WriteBatch, cells, levels, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case *file.Int32ColumnChunkWriter:
		_, err = writeCells(w.WriteBatch, cells, levels, c.int32)
	case *file.Float64ColumnChunkWriter:
		_, err = writeCells(w.WriteBatch, cells, levels, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	case *file.ByteArrayColumnChunkWriter:
		_, err = writeCells(w.WriteBatch, cells, levels, func(s string) (parquet.ByteArray, error) { return parquet.ByteArray(s), nil })
	default:
		err = fmt.Errorf("no writer for %T", column)
	}
	return err
}

func (c textColumn) int32(s string) (int32, error) {
	if c.kind == "date" {
		day, err := time.Parse(time.DateOnly, s)
		return int32(day.Unix() / 86400), err
	}
	n, err := strconv.ParseInt(s, 10, 32)
	return int32(n), err
}

func writeCells[T any](write func([]T, []int16, []int16) (int64, error), cells []string, levels []int16, parse func(string) (T, error)) (int64, error) {
	values := make([]T, 0, len(cells))
	for _, cell := range cells {
		v, err := parse(cell)
		if err != nil {
			return 0, err
		}
		values = append(values, v)
	}
	return write(values, levels, nil)
}
