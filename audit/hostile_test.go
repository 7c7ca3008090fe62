package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// crafted is a file with one column chunk whose pages may say anything.
type crafted struct {
	codec      format.CompressionCodec
	values     int64
	dictionary bool // the first page is one
	pages      []craftedPage
}

type craftedPage struct {
	header format.PageHeader
	body   []byte
}

// page is a data page that tells the truth about its body's length, unless
// uncompressed is another.
func page(values int32, uncompressed int, body []byte) craftedPage {
	return craftedPage{format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(uncompressed), CompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
	}, body}
}

func dictionary(values int32, uncompressed int, body []byte) craftedPage {
	return craftedPage{format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(uncompressed), CompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: values, Encoding: format.Plain}),
	}, body}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (c crafted) file(t *testing.T) File {
	t.Helper()
	data, dataAt := []byte("PAR1"), int64(0)
	for i, p := range c.pages {
		if i == 0 || c.dictionary && i == 1 {
			dataAt = int64(len(data))
		}
		data = append(append(data, marshal(t, &p.header)...), p.body...)
	}
	meta := format.ColumnMetaData{
		Type: format.Int64, PathInSchema: []string{"x"}, Codec: c.codec, NumValues: c.values,
		TotalCompressedSize: int64(len(data)) - 4, TotalUncompressedSize: int64(len(data)) - 4, DataPageOffset: dataAt,
	}
	if c.dictionary {
		meta.DictionaryPageOffset = 4
	}
	footer := marshal(t, &format.FileMetaData{
		Version: 1, NumRows: c.values,
		Schema: []format.SchemaElement{
			{Name: "schema", NumChildren: thrift.New(int32(1))},
			{Name: "x", Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)},
		},
		RowGroups: []format.RowGroup{{NumRows: c.values, Columns: []format.ColumnChunk{{MetaData: meta}}}},
	})
	data = append(data, footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return memoryFile("hostile.parquet", append(data, "PAR1"...))
}

// levels are the definition levels of n values that are there, as V1 has them.
func levels(n byte) []byte { return []byte{2, 0, 0, 0, n << 1, 1} }

// What a page says of itself is held against what is there, and against the
// budget, before memory is taken for it.
func TestHostilePages(t *testing.T) {
	two := append(levels(2), make([]byte, 16)...)
	packed := func(zeros int) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(append(levels(2), make([]byte, zeros)...), nil)
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := w.Write(append(levels(2), make([]byte, 64<<20)...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	one := []craftedPage{page(2, len(two), two)}
	tests := []struct {
		name   string
		file   crafted
		says   string
		levels bool // of which nothing can be told from levels alone, or was it read
	}{
		{"sound", crafted{values: 2, pages: one}, "", true},
		{"page larger than the budget", crafted{codec: format.Zstd, values: 2, pages: []craftedPage{page(2, 1<<30, packed(16))}}, "budget", true},
		{"dictionary of a gigabyte", crafted{codec: format.Zstd, values: 2, dictionary: true,
			pages: []craftedPage{dictionary(1<<27, 1<<30, packed(1<<20)), one[0]}}, "budget", true},
		{"dictionary of more values than bytes", crafted{values: 2, dictionary: true,
			pages: []craftedPage{dictionary(1<<30, 16, make([]byte, 16)), one[0]}}, "dictionary of 1073741824 values", false},
		{"zstd bomb", crafted{codec: format.Zstd, values: 2, pages: []craftedPage{page(2, len(two), packed(64<<20))}}, "cannot hold", false},
		{"gzip bomb", crafted{codec: format.Gzip, values: 2, pages: []craftedPage{page(2, len(two), bomb.Bytes())}}, "more bytes than the page header says", false},
		{"snappy bomb", crafted{codec: format.Snappy, values: 2, pages: []craftedPage{page(2, len(two), []byte{0xff, 0xff, 0xff, 0x7f, 0})}}, "cannot hold", true},
		{"more values than the footer says", crafted{values: 1, pages: one}, "pages hold 2 values, the footer says 1", true},
		{"fewer values than the footer says", crafted{values: 3, pages: one}, "ends after 2 of 3 values", true},
		{"two billion values in sixteen bytes", crafted{values: 1<<31 - 1, pages: []craftedPage{page(1<<31-1, len(two), two)}}, "ends early", true},
		{"levels longer than the page", crafted{values: 2, pages: []craftedPage{page(2, 22, append([]byte{0xff, 0xff, 0xff, 0x7f}, make([]byte, 18)...))}}, "levels of", true},
		{"levels above the maximum", crafted{values: 2, pages: []craftedPage{page(2, 22, append([]byte{2, 0, 0, 0, 4, 9}, make([]byte, 16)...))}}, "needs more than 1 bits", true},
		{"values cut off", crafted{values: 2, pages: []craftedPage{page(2, 14, two[:14])}}, "are missing", false},
		{"page longer than the chunk", crafted{values: 2, pages: []craftedPage{{page(2, 1<<20, make([]byte, 1<<20)).header, two}}}, "are left in the chunk", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file.file(t)
			for _, item := range []string{"sum: {column: x, equals: 0}", "not_null: x"} {
				if !tt.levels && item == "not_null: x" {
					continue
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r := mustRun(t, mustParse(t, checks(item)), Partition{Files: []File{file}}, Options{Memory: 64 << 20})
				runtime.ReadMemStats(&after)
				a := r.Assertions[len(r.Assertions)-1]
				checkHostile(t, a, tt.says)
				if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
					t.Errorf("%s took %d MiB", item, used>>20)
				}
			}
		})
	}
}

// checkHostile wants an error that says so and names the place, or a pass.
func checkHostile(t *testing.T, a Result, says string) {
	t.Helper()
	if says == "" {
		if a.Outcome != Pass {
			t.Errorf("%+v", a)
		}
		return
	}
	e := a.Error
	if a.Outcome != Error || e.Cause != CauseData || e.File != "hostile.parquet" || e.Column != "x" ||
		e.RowGroup == nil || *e.RowGroup != 0 || !strings.Contains(e.Message, says) {
		t.Errorf("%s is %s, %+v; want an error with %q", a.ID, a.Outcome, e, says)
	}
}
