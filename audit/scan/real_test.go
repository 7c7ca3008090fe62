package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

const sharedData = "../../../shared/data"

// realFiles lists the Parquet files under folders of the shared data.
func realFiles(t testing.TB, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(sharedData, folder, "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	if len(all) == 0 {
		t.Skipf("no files under %s: real data is not kept in the repository", sharedData)
	}
	return all
}

// leafData is everything that was read from a column chunk.
type leafData struct {
	def, rep []uint8
	values   []string
}

func (d *leafData) add(v *Vector) {
	for i := range v.Entries {
		def := v.Column.MaxDef
		if v.Def != nil {
			def = v.Def[i]
		}
		d.def = append(d.def, def)
		if v.Rep != nil {
			d.rep = append(d.rep, v.Rep[i])
		}
	}
	for i := range v.Present {
		from, at := v.Lookup(i)
		d.values = append(d.values, text(v.Column, from, at))
	}
}

// text writes a value so that equal bits, and only they, give equal texts.
func text(c *Column, v *Values, i int) string {
	switch c.Physical {
	case PhysBool:
		return fmt.Sprint(v.Bools[i])
	case PhysInt32:
		return fmt.Sprint(v.Int32s[i])
	case PhysInt64:
		return fmt.Sprint(v.Int64s[i])
	case PhysInt96:
		return string(v.Int96s[i][:])
	case PhysFloat:
		return fmt.Sprint(v.Floats[i])
	case PhysDouble:
		return fmt.Sprint(v.Doubles[i])
	}
	return string(v.Bytes.At(i))
}

// scanGroup reads all columns of a row group together.
func scanGroup(f *File, rg int) ([]leafData, error) {
	out := make([]leafData, len(f.Columns()))
	var req Request
	for i := range f.Columns() {
		req.Columns = append(req.Columns, ColumnNeed{Column: i, Need: ReadValues})
	}
	err := f.ScanRowGroup(context.Background(), rg, req, func(b *Batch) error {
		for i := range b.Columns {
			out[i].add(&b.Columns[i])
		}
		return nil
	})
	return out, err
}

func arrowOpen(data []byte) (r *file.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panicked: %v", p)
		}
	}()
	return file.NewParquetReader(bytes.NewReader(data))
}

// arrowChunk reads a column chunk with arrow-go's reader.
func arrowChunk(r *file.Reader, rg, col int) (out leafData, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("arrow-go panicked: %v", p)
		}
	}()
	cr, err := r.RowGroup(rg).Column(col)
	if err != nil {
		return out, err
	}
	const batch = 1000
	def, rep := make([]int16, batch), make([]int16, batch)
	for cr.HasNext() {
		n, values, err := arrowBatch(cr, def, rep)
		if err != nil {
			return out, err
		}
		for i := range n {
			d := cr.Descriptor().MaxDefinitionLevel()
			if d > 0 {
				d = def[i]
			}
			out.def = append(out.def, uint8(d))
			if cr.Descriptor().MaxRepetitionLevel() > 0 {
				out.rep = append(out.rep, uint8(rep[i]))
			}
		}
		out.values = append(out.values, values...)
	}
	return out, cr.Err()
}

func arrowBatch(cr file.ColumnChunkReader, def, rep []int16) (int, []string, error) {
	switch cr := cr.(type) {
	case *file.BooleanColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, textOf[bool])
	case *file.Int32ColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, textOf[int32])
	case *file.Int64ColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, textOf[int64])
	case *file.Int96ColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, func(v parquet.Int96) string { return string(v[:]) })
	case *file.Float32ColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, textOf[float32])
	case *file.Float64ColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, textOf[float64])
	case *file.ByteArrayColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, func(v parquet.ByteArray) string { return string(v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return texts(cr.ReadBatch, def, rep, func(v parquet.FixedLenByteArray) string { return string(v) })
	}
	return 0, nil, fmt.Errorf("unknown reader %T", cr)
}

func texts[T any](read func(int64, []T, []int16, []int16) (int64, int, error), def, rep []int16, text func(T) string) (int, []string, error) {
	values := make([]T, len(def))
	total, got, err := read(int64(len(def)), values, def, rep)
	out := make([]string, got)
	for i := range out {
		out[i] = text(values[i])
	}
	return int(total), out, err
}

// refused names the files that arrow-go reads and this package does not, with
// the reason that is right.
var refused = map[string]Reason{
	"datapage_v1-corrupt-checksum.parquet":           BadChecksum,
	"rle-dict-uncompressed-corrupt-checksum.parquet": BadChecksum,
	"large_string_map.brotli.parquet":                OverBudget,
}

func TestRealFilesLikeArrow(t *testing.T) {
	for _, path := range realFiles(t, "", "parquet-testing/data", "parquet-testing/data/geospatial") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			compareWithArrow(t, name, data)
		})
	}
}

func compareWithArrow(t *testing.T, name string, data []byte) {
	ref, err := arrowOpen(data)
	if err != nil {
		t.Logf("arrow-go does not open it: %v (we: %v)", err, readAll(data))
		return
	}
	f, err := Open(context.Background(), ReaderAt(bytes.NewReader(data), int64(len(data))), Options{})
	if err != nil {
		t.Fatalf("arrow-go opens it, we do not: %v", err)
	}
	const few = 3 // row groups of a large file are alike, and take seconds
	for rg := range min(few, len(f.Footer().RowGroups)) {
		got, err := scanGroup(f, rg)
		if want, ok := refused[name]; ok {
			var e *Error
			if !errors.As(err, &e) || e.Reason != want {
				t.Fatalf("error %v, want one for %s", err, want)
			}
			return
		}
		for col := range f.Columns() {
			want, refErr := arrowChunk(ref, rg, col)
			switch {
			case refErr != nil:
				t.Logf("arrow-go does not read column %d: %v (we: %v)", col, refErr, err)
			case err != nil:
				t.Fatalf("arrow-go reads column %d, we do not: %v", col, err)
			default:
				compareLeaf(t, f.Columns()[col].Dotted, got[col], want)
			}
		}
	}
}

func compareLeaf(t *testing.T, name string, got, want leafData) {
	t.Helper()
	if !bytes.Equal(got.def, want.def) {
		t.Errorf("column %s: definition levels differ: %d, want %d", name, len(got.def), len(want.def))
	}
	if !bytes.Equal(got.rep, want.rep) {
		t.Errorf("column %s: repetition levels differ: %d, want %d", name, len(got.rep), len(want.rep))
	}
	if len(got.values) != len(want.values) {
		t.Errorf("column %s: %d values, want %d", name, len(got.values), len(want.values))
		return
	}
	for i := range got.values {
		if got.values[i] != want.values[i] {
			t.Errorf("column %s: value %d is %q, want %q", name, i, got.values[i], want.values[i])
			return
		}
	}
}

func TestBadFilesAreErrors(t *testing.T) {
	for _, path := range realFiles(t, "parquet-testing/bad_data") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) == "ARROW-GH-43605.parquet" {
				// It crashed a reader, but it is sound: indices of no bits, all 0.
				compareWithArrow(t, filepath.Base(path), data)
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = readAll(data)
			runtime.ReadMemStats(&after)
			t.Log(err)
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("error %v, want an *Error", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
		})
	}
}

func readAll(data []byte) error {
	f, err := Open(context.Background(), ReaderAt(bytes.NewReader(data), int64(len(data))), Options{})
	if err != nil {
		return err
	}
	if err := f.CheckRows(); err != nil {
		return err
	}
	for rg := range f.Footer().RowGroups {
		if _, err := scanGroup(f, rg); err != nil {
			return err
		}
	}
	return nil
}
