package scan

import (
	"context"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// BenchmarkFlights scans one column of three million real rows at a time.
func BenchmarkFlights(b *testing.B) {
	data, err := os.ReadFile(sharedData + "/flights-3m.parquet")
	if err != nil {
		b.Skipf("real data is not kept in the repository: %v", err)
	}
	f := openBytes(b, data, Options{})
	for _, c := range f.Columns() {
		b.Run(c.Dotted+"/"+c.Type.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scanColumn(b, f, c.Index, ReadValues)
			}
		})
	}
}

func scanColumn(b *testing.B, f *File, column int, need Need) {
	b.Helper()
	req := Request{Columns: []ColumnNeed{{Column: column, Need: need}}}
	rows := 0
	for rg := range f.Footer().RowGroups {
		err := f.ScanRowGroup(context.Background(), rg, req, func(batch *Batch) error {
			rows += batch.Rows
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if int64(rows) != f.Footer().Rows {
		b.Fatalf("%d rows", rows)
	}
}

// BenchmarkInflate is the floor of BenchmarkFlights: pages are read and
// decompressed, and nothing else.
func BenchmarkInflate(b *testing.B) {
	data, err := os.ReadFile(sharedData + "/flights-3m.parquet")
	if err != nil {
		b.Skipf("real data is not kept in the repository: %v", err)
	}
	f := openBytes(b, data, Options{})
	for _, c := range f.Columns() {
		b.Run(c.Dotted, func(b *testing.B) {
			for b.Loop() {
				for rg := range f.Footer().RowGroups {
					inflateChunk(b, f, rg, c.Index)
				}
			}
		})
	}
}

func inflateChunk(b *testing.B, f *File, rg, column int) {
	b.Helper()
	c, err := f.chunk(rg, column)
	if err != nil {
		b.Fatal(err)
	}
	pages := f.openChunk(c, ReadValues, f.src, f.opts.ReadSize)
	defer pages.close(f)
	for {
		p, err := pages.next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if p == nil {
			return
		}
	}
}

// BenchmarkPlain scans plain columns of a file made here: integers and strings.
func BenchmarkPlain(b *testing.B) {
	data, _ := arrowFile(b, 200_000, []Physical{PhysInt64, PhysBytes}, encoded(parquet.Encodings.Plain)...)
	f := openBytes(b, data, Options{})
	for _, c := range f.Columns() {
		b.Run(c.Dotted, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scanColumn(b, f, c.Index, ReadValues)
			}
		})
	}
}

// BenchmarkCountLevels counts the NULLs of one column of real data.
func BenchmarkCountLevels(b *testing.B) {
	data, err := os.ReadFile(sharedData + "/flights-3m.parquet")
	if err != nil {
		b.Skipf("real data is not kept in the repository: %v", err)
	}
	f := openBytes(b, data, Options{})
	for _, c := range f.Columns() {
		b.Run(c.Dotted, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for rg := range f.Footer().RowGroups {
					if _, err := f.CountLevels(context.Background(), rg, c.Index, 10); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
