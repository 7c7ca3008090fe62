package main

import (
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// writePages writes the plain data set's columns with arrow-go, in data pages of
// 1 MiB.
func writePages(path string, rows int64) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	node := func(name string, r parquet.Repetition, l schema.LogicalType, t parquet.Type) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, r, l, t, -1, -1))
	}
	must, may := parquet.Repetitions.Required, parquet.Repetitions.Optional
	root := schema.MustGroup(schema.NewGroupNode("orders", must, schema.FieldList{
		node("id", must, schema.NoLogicalType{}, parquet.Types.Int64),
		node("key", must, schema.StringLogicalType{}, parquet.Types.ByteArray),
		node("amount", must, schema.NewDecimalLogicalType(18, 2), parquet.Types.Int64),
		node("score", may, schema.NoLogicalType{}, parquet.Types.Double),
		node("ts", must, schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), parquet.Types.Int64),
		node("status", must, schema.StringLogicalType{}, parquet.Types.ByteArray),
		node("note", may, schema.StringLogicalType{}, parquet.Types.ByteArray),
	}, -1))
	// The writer closes the file.
	w := file.NewParquetWriter(out, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageSize(1<<20), parquet.WithStats(true))))
	for from := int64(0); from < rows; from += groupRows {
		rg, err := w.AppendRowGroupChecked()
		if err != nil {
			return fmt.Errorf("begin row group: %w", err)
		}
		g := pageGroup{w: rg, from: from, rows: int(min(groupRows, rows-from)), all: rows}
		if err := g.write(); err != nil {
			return err
		}
	}
	return w.Close()
}

// pageGroup is one row group on its way to the file.
type pageGroup struct {
	w    file.SerialRowGroupWriter
	from int64
	rows int
	all  int64
}

func (g *pageGroup) write() error {
	step, start := coprime(g.all), int64(1_735_689_600_000_000)
	statuses := []string{"placed", "shipped", "returned", "cancelled", "lost"}
	columns := []func() error{
		func() error { return g.longs(func(i int64) int64 { return i * step % g.all }) },
		func() error {
			return g.texts(0, func(i int64) string { return fmt.Sprintf("%016x%011d", scramble(i), i) })
		},
		func() error { return g.longs(func(i int64) int64 { return int64(scramble(i) % 10_000_000) }) },
		func() error { return g.doubles(100) },
		func() error {
			return g.longs(func(i int64) int64 { return start + int64(scramble(3*i)%31_536_000)*1_000_000 })
		},
		func() error { return g.texts(0, func(i int64) string { return statuses[scramble(i)%5] }) },
		func() error {
			return g.texts(10, func(i int64) string { return fmt.Sprintf("note %d", scramble(i)%100_000) })
		},
	}
	for _, write := range columns {
		if err := write(); err != nil {
			return fmt.Errorf("write column: %w", err)
		}
	}
	return g.w.Close()
}

// scramble is splitmix64's finalizer.
func scramble(i int64) uint64 {
	x := uint64(i) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// levels marks one row in oneIn as NULL, none where that is 0.
func (g *pageGroup) levels(oneIn uint64) (def []int16, present []int64) {
	for k := range g.rows {
		i := g.from + int64(k)
		if oneIn > 0 && scramble(i+9)%oneIn == 0 {
			def = append(def, 0)
			continue
		}
		def, present = append(def, 1), append(present, i)
	}
	if oneIn == 0 {
		def = nil
	}
	return def, present
}

func (g *pageGroup) longs(value func(i int64) int64) error {
	_, at := g.levels(0)
	for k, i := range at {
		at[k] = value(i)
	}
	return write[int64](g, at, nil)
}

func (g *pageGroup) doubles(oneIn uint64) error {
	def, at := g.levels(oneIn)
	values := make([]float64, len(at))
	for k, i := range at {
		values[k] = float64(scramble(i)) / 1e15
	}
	return write(g, values, def)
}

func (g *pageGroup) texts(oneIn uint64, value func(i int64) string) error {
	def, at := g.levels(oneIn)
	values := make([]parquet.ByteArray, len(at))
	for k, i := range at {
		values[k] = parquet.ByteArray(value(i))
	}
	return write(g, values, def)
}

func write[T any](g *pageGroup, values []T, def []int16) error {
	c, err := g.w.NextColumn()
	if err != nil {
		return err
	}
	w, ok := c.(interface {
		WriteBatch(values []T, def, rep []int16) (int64, error)
	})
	if !ok {
		return fmt.Errorf("column of %s", c.Type())
	}
	if _, err := w.WriteBatch(values, def, nil); err != nil {
		return err
	}
	return c.Close()
}
