package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
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
		src := ReaderAt(bytes.NewReader(data), int64(len(data)))
		file, err := Open(context.Background(), src, fuzzOptions)
		if err != nil {
			wantFileError(t, err)
			return
		}
		other := fuzzOptions
		other.BatchRows, other.ReadAhead, other.ReadSize = 50, true, 200
		again, err := Open(context.Background(), src, other)
		if err != nil {
			t.Fatalf("the second time it does not open: %v", err)
		}
		const maxGroups = 4
		for rg := range min(maxGroups, len(file.Footer().RowGroups)) {
			compareScans(t, file, again, rg)
		}
	})
}

// compareScans reads each column by itself, its levels by themselves, and then,
// when all of that went well, all columns together in other batches.
func compareScans(t *testing.T, f, again *File, rg int) {
	t.Helper()
	var each []digest
	all := Request{}
	for col := range f.Columns() {
		one := ColumnNeed{Column: col, Need: ReadValues}
		all.Columns = append(all.Columns, one)
		d, err := digestOf(t, f, rg, Request{Columns: []ColumnNeed{one}})
		levels, levelsErr := digestOf(t, f, rg, Request{Columns: []ColumnNeed{{Column: col, Need: ReadLevels}}})
		if err != nil {
			continue
		}
		each = append(each, d[0])
		levels[0].values = d[0].values
		if levelsErr != nil || levels[0] != d[0] {
			t.Fatalf("column %d: with values %+v, levels alone %+v, %v", col, d[0], levels[0], levelsErr)
		}
		counts, err := f.CountLevels(context.Background(), rg, col, notedPlaces)
		if err != nil || counts.Rows != d[0].rows || counts.Entries != d[0].entries {
			t.Fatalf("column %d: scanned %+v, counted %+v, %v", col, d[0], counts, err)
		}
	}
	if len(each) < len(all.Columns) || len(each) == 0 {
		return
	}
	together, err := digestOf(t, again, rg, all)
	if err != nil {
		t.Fatalf("each column can be read, all together not: %v", err)
	}
	for col := range each {
		if each[col] != together[col] {
			t.Fatalf("column %d: alone %+v, together %+v", col, each[col], together[col])
		}
	}
}

// digest sums up what was read from a column chunk.
type digest struct {
	rows, entries, present int64
	values                 uint64
}

// errEnough ends a scan: a few bytes can truthfully stand for billions of NULLs.
var errEnough = errors.New("enough entries")

// digestOf scans columns, checks every batch, and fails on an error that is
// neither the file's nor errEnough.
func digestOf(t *testing.T, f *File, rg int, req Request) ([]digest, error) {
	t.Helper()
	const enough = 1 << 18
	sums := make([]digest, len(req.Columns))
	checks := make([]*StatisticsCheck, len(req.Columns))
	for i, c := range req.Columns {
		checks[i], _ = f.CheckStatistics(rg, c.Column)
	}
	err := f.ScanRowGroup(context.Background(), rg, req, func(b *Batch) error {
		for i := range b.Columns {
			v := &b.Columns[i]
			checkVector(t, b, v)
			if checks[i] != nil {
				checks[i].Observe(v)
			}
			sums[i].add(b, v)
			if sums[i].entries > enough {
				return errEnough
			}
		}
		return nil
	})
	if err == nil && len(sums) > 0 && sums[0].rows != f.Footer().RowGroups[rg].Rows {
		t.Fatalf("scanned %d rows, the footer says %d", sums[0].rows, f.Footer().RowGroups[rg].Rows)
	}
	if err != nil && err != errEnough {
		wantFileError(t, err)
	}
	return sums, err
}

func (d *digest) add(b *Batch, v *Vector) {
	d.rows += int64(b.Rows)
	d.entries += int64(v.Entries)
	d.present += int64(v.Present)
	if v.Need == ReadLevels {
		return
	}
	h := fnv.New64a()
	for i := range v.Present {
		from, at := v.Lookup(i)
		h.Reset()
		fmt.Fprint(h, d.values, text(v.Column, from, at))
		d.values = h.Sum64()
	}
}

func wantFileError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
}

// checkVector makes sure that a column of a batch agrees with itself.
func checkVector(t *testing.T, b *Batch, v *Vector) {
	t.Helper()
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
