package scan

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

// fuzzOptions keep an input's cost small enough for many runs a second.
var fuzzOptions = Options{PageBudget: 1 << 20, FooterBudget: 4 << 20, ReadSize: 1 << 10}

// FuzzScan opens and scans mutated files: whatever the bytes, the answer is
// batches that agree with themselves or an *Error.
func FuzzScan(f *testing.F) {
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
			data, _ := arrowFile(f, 30, []Physical{PhysBool, PhysInt32, PhysBytes, PhysFixed},
				parquet.WithDataPageVersion(version), parquet.WithCompression(codec))
			f.Add(data)
		}
	}
	for _, e := range []parquet.Encoding{parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray} {
		data, _ := arrowFile(f, 30, []Physical{PhysBytes}, encoded(e)...)
		f.Add(data)
	}
	data, _ := arrowFile(f, 30, []Physical{PhysInt32, PhysInt64}, encoded(parquet.Encodings.DeltaBinaryPacked)...)
	f.Add(data)
	if _, err := os.Stat(sharedData); err == nil {
		for _, path := range realFiles(f, "parquet-testing/data", "parquet-testing/bad_data") {
			if data, err := os.ReadFile(path); err == nil && len(data) < 4<<10 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(context.Background(), ReaderAt(bytes.NewReader(data), int64(len(data))), fuzzOptions)
		if err != nil {
			wantFileError(t, err)
			return
		}
		scanForFuzz(t, file)
	})
}

const maxFuzzRows = 1 << 18

var errEnough = errors.New("enough rows")

// scanForFuzz reads what there is, up to a number of rows: a few bytes can
// truthfully stand for billions of NULLs.
func scanForFuzz(t *testing.T, f *File) {
	t.Helper()
	const maxGroups = 4
	for rg := range min(maxGroups, len(f.Footer().RowGroups)) {
		for col := range f.Columns() {
			scanLevels(t, f, rg, col)
			req := Request{Columns: []ColumnNeed{{Column: col, Need: ReadValues}}}
			stats, _ := f.CheckStatistics(rg, col)
			var rows int64
			err := f.ScanRowGroup(context.Background(), rg, req, func(b *Batch) error {
				if stats != nil {
					stats.Observe(&b.Columns[0])
				}
				checkVector(t, b)
				if rows += int64(b.Rows); rows > maxFuzzRows {
					return errEnough
				}
				return nil
			})
			if err == nil && rows != f.Footer().RowGroups[rg].Rows {
				t.Fatalf("scanned %d rows, the footer says %d", rows, f.Footer().RowGroups[rg].Rows)
			}
			if err != nil && err != errEnough {
				wantFileError(t, err)
			}
			if rows <= maxFuzzRows {
				if _, err := f.CountLevels(context.Background(), rg, col); err != nil {
					wantFileError(t, err)
				}
			}
		}
	}
}

// scanLevels reads one column's levels, and no values.
func scanLevels(t *testing.T, f *File, rg, col int) {
	t.Helper()
	req := Request{Columns: []ColumnNeed{{Column: col, Need: ReadLevels}}}
	err := f.ScanRowGroup(context.Background(), rg, req, func(b *Batch) error {
		checkLevels(t, b)
		if b.FirstRow > maxFuzzRows {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		wantFileError(t, err)
	}
}

func wantFileError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
}

// checkLevels makes sure that the levels of a batch of one column agree with its
// counts.
func checkLevels(t *testing.T, b *Batch) {
	t.Helper()
	v := &b.Columns[0]
	present, rows := 0, 0
	for i := range v.Entries {
		if !v.IsNull(i) {
			present++
		}
		if v.Rep == nil || v.Rep[i] == 0 {
			rows++
		}
	}
	if present != v.Present || rows != b.Rows {
		t.Fatalf("%d values and %d rows, the batch says %d and %d", present, rows, v.Present, b.Rows)
	}
}

// checkVector makes sure that a batch of one column agrees with itself.
func checkVector(t *testing.T, b *Batch) {
	t.Helper()
	checkLevels(t, b)
	v := &b.Columns[0]
	for i := range v.Present {
		from, at := v.Lookup(i)
		text(v.Column, from, at)
	}
}
