package scan

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// countingSource counts what is asked of it.
type countingSource struct {
	Source
	requests, bytes atomic.Int64
}

func (s *countingSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	s.requests.Add(1)
	s.bytes.Add(int64(len(p)))
	return s.Source.ReadRange(ctx, p, off)
}

// nullableStrings writes rows strings in pages of about a megabyte, about every
// tenth of them NULL, and returns how many are.
func nullableStrings(t *testing.T, rows int, props ...parquet.WriterProperty) ([]byte, int64) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	def := make([]int16, rows)
	var values []parquet.ByteArray
	for i := range def {
		if r.IntN(10) > 0 {
			def[i] = 1
			values = append(values, []byte(fmt.Sprintf("%016x-%08x", r.Uint64(), i)))
		}
	}
	data := oneColumn(t, schema.NewByteArrayNode("s", opt, -1), func(cw file.ColumnChunkWriter) error {
		_, err := cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(values, def, nil)
		return err
	}, append([]parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(1 << 20)}, props...)...)
	return data, int64(rows - len(values))
}

func TestLevelsReadOnlyTheFront(t *testing.T) {
	tests := []struct {
		codec compress.Compression
		most  int64 // percent of the column that may be read
	}{
		{compress.Codecs.Uncompressed, 10}, {compress.Codecs.Snappy, 10}, {compress.Codecs.Gzip, 20},
		{compress.Codecs.Brotli, 20}, {compress.Codecs.Zstd, 20}, {compress.Codecs.Lz4Raw, 110},
	}
	for _, test := range tests {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			t.Run(fmt.Sprintf("%s v%d", test.codec, version+1), func(t *testing.T) {
				data, nulls := nullableStrings(t, 60_000, parquet.WithCompression(test.codec), parquet.WithDataPageVersion(version))
				src := &countingSource{Source: ReaderAt(bytes.NewReader(data), int64(len(data)))}
				f, err := Open(context.Background(), src, Options{})
				if err != nil {
					t.Fatal(err)
				}
				footer := src.bytes.Load()
				c, err := f.CountLevels(context.Background(), 0, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				if c.Rows != 60_000 || c.Counts[0][0] != nulls || c.NullRows != nulls {
					t.Errorf("counts %+v, want %d NULLs", c, nulls)
				}
				chunk := f.Footer().RowGroups[0].Bytes
				if read := src.bytes.Load() - footer; read > chunk*test.most/100 {
					t.Errorf("%d bytes read of %d, %d requests", read, chunk, src.requests.Load())
				}
			})
		}
	}
}

func TestSnappyFrontIsAPrefix(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	codec, err := compress.GetCodec(compress.Codecs.Snappy)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		plain := make([]byte, r.IntN(3000))
		for i := range plain {
			plain[i] = byte(r.IntN(1 + r.IntN(40)))
			if i > 70 && r.IntN(30) == 0 {
				copy(plain[i-60:], plain[i-70:i])
			}
		}
		packed := codec.Encode(nil, plain)
		for _, cut := range []int{len(packed), len(packed) / 2, r.IntN(len(packed) + 1)} {
			dst := make([]byte, r.IntN(len(plain)+1))
			n, err := snappyFront(dst, packed[:cut])
			if err != nil || !bytes.Equal(dst[:n], plain[:n]) {
				t.Fatalf("%d bytes of %d: %v, or they differ", n, len(dst), err)
			}
			if cut == len(packed) && n < len(dst) {
				t.Fatalf("%d bytes of %d from the whole stream", n, len(dst))
			}
		}
	}
}

func TestOneRequestForSmallFiles(t *testing.T) {
	data, _ := arrowFile(t, 10, []Physical{PhysInt32})
	src := &countingSource{Source: ReaderAt(bytes.NewReader(data), int64(len(data)))}
	if _, err := Open(context.Background(), src, Options{}); err != nil {
		t.Fatal(err)
	}
	if n := src.requests.Load(); n != 1 {
		t.Errorf("%d requests for a footer", n)
	}
}
