package main

import (
	"bufio"
	"math/rand/v2"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const groupRows = 4 << 20 // of eight bytes each

// writeParquet writes a file of about so many bytes: one column of random
// numbers, which no encoding makes smaller.
func writeParquet(name string, bytes int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	buffered := bufio.NewWriterSize(f, 1<<20)
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required,
		schema.FieldList{schema.NewInt64Node("n", parquet.Repetitions.Required, -1)}, -1)
	if err != nil {
		return err
	}
	w := file.NewParquetWriter(buffered, root, file.WithWriterProps(
		parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithStats(false))))
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, groupRows)
	for left := bytes / 8; left > 0; left -= groupRows {
		n := min(left, groupRows)
		for i := range values[:n] {
			values[i] = rng.Int64()
		}
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			return err
		}
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		if _, err := column.(*file.Int64ColumnChunkWriter).WriteBatch(values[:n], nil, nil); err != nil {
			return err
		}
		if err := column.Close(); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}
