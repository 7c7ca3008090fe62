package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

func openBytes(t testing.TB, data []byte, opts Options) *File {
	t.Helper()
	f, err := Open(context.Background(), ReaderAt(bytes.NewReader(data), int64(len(data))), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// notedPlaces is how many NULLs' places the tests ask for.
const notedPlaces = 3

// checkFile compares every column of a generated file with what was written.
func checkFile(t *testing.T, data []byte, groups [][]written, opts Options) {
	t.Helper()
	f := openBytes(t, data, opts)
	if n := len(f.Footer().RowGroups); n != len(groups) {
		t.Fatalf("%d row groups, want %d", n, len(groups))
	}
	for rg, want := range groups {
		got, err := scanGroup(f, rg)
		if err != nil {
			t.Fatal(err)
		}
		for col := range want {
			compareLeaf(t, want[col].path, got[col], want[col].leafData)
			counts, err := f.CountLevels(context.Background(), rg, col, notedPlaces)
			if err != nil {
				t.Fatal(err)
			}
			checkCounts(t, &f.Columns()[col], counts, want[col])
		}
	}
}

// checkCounts compares what CountLevels said with a count of the levels written.
func checkCounts(t *testing.T, c *Column, got LevelCounts, want written) {
	t.Helper()
	counts := newCounts(int(c.MaxRep)+1, int(c.MaxDef)+1)
	nullRows, null := int64(0), false
	var places []int64
	for i, def := range want.def {
		rep := uint8(0)
		if c.MaxRep > 0 {
			rep = want.rep[i]
		}
		if rep == 0 {
			null = false
		}
		if def >= c.Ref.Exists && def < c.MaxDef && !null {
			nullRows, null = nullRows+1, true
		}
		counts[rep][def]++
		if c.MaxRep == 0 && def < c.MaxDef && len(places) < notedPlaces {
			places = append(places, int64(i))
		}
	}
	if got.Rows != int64(want.rows) || got.Entries != int64(len(want.def)) || got.NullRows != nullRows {
		t.Errorf("column %s: rows, entries, NULL rows %d %d %d, want %d %d %d", c.Dotted,
			got.Rows, got.Entries, got.NullRows, want.rows, len(want.def), nullRows)
	}
	if fmt.Sprint(got.Counts) != fmt.Sprint(counts) {
		t.Errorf("column %s: counts %v, want %v", c.Dotted, got.Counts, counts)
	}
	if of := got.NullPlaces(c.Ref, notedPlaces); !slices.Equal(of, places) {
		t.Errorf("column %s: NULLs at %v, want %v", c.Dotted, of, places)
	}
}

func TestRoundTripEncodings(t *testing.T) {
	flat := []Physical{PhysInt32, PhysInt64}
	tests := []struct {
		name  string
		types []Physical
		props []parquet.WriterProperty
	}{
		{"dictionary", allPhysical, nil},
		{"dictionary with fallback", allPhysical, []parquet.WriterProperty{parquet.WithDictionaryPageSizeLimit(200)}},
		{"plain", allPhysical, []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		{"rle", []Physical{PhysBool}, encoded(parquet.Encodings.RLE)},
		{"delta binary", flat, encoded(parquet.Encodings.DeltaBinaryPacked)},
		{"delta length", []Physical{PhysBytes}, encoded(parquet.Encodings.DeltaLengthByteArray)},
		{"delta bytes", []Physical{PhysBytes}, encoded(parquet.Encodings.DeltaByteArray)},
		{"stream split", []Physical{PhysInt32, PhysInt64, PhysFloat, PhysDouble, PhysFixed}, encoded(parquet.Encodings.ByteStreamSplit)},
	}
	for _, test := range tests {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			t.Run(fmt.Sprintf("%s v%d", test.name, version+1), func(t *testing.T) {
				props := append([]parquet.WriterProperty{
					parquet.WithDataPageVersion(version), parquet.WithDataPageSize(1000), parquet.WithBatchSize(64),
				}, test.props...)
				data, groups := arrowFile(t, 1200, test.types, props...)
				for _, opts := range []Options{{}, {BatchRows: 100}, {BatchRows: 7, ReadSize: 64}} {
					checkFile(t, data, groups, opts)
				}
			})
		}
	}
}

func encoded(e parquet.Encoding) []parquet.WriterProperty {
	return []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithEncoding(e)}
}

func TestRoundTripCodecs(t *testing.T) {
	codecs := []compress.Compression{
		compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Zstd, compress.Codecs.Lz4Raw,
	}
	for _, codec := range codecs {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			t.Run(fmt.Sprintf("%s v%d", codec, version+1), func(t *testing.T) {
				data, groups := arrowFile(t, 1200, allPhysical, parquet.WithCompression(codec),
					parquet.WithDataPageVersion(version), parquet.WithDataPageSize(2000), parquet.WithBatchSize(100))
				checkFile(t, data, groups, Options{})
			})
		}
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	data, _ := arrowFile(t, 20, []Physical{PhysInt64, PhysBytes})
	for n := range len(data) {
		var e *Error
		if err := readAll(data[:n]); !errors.As(err, &e) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(data), err)
		}
	}
}
