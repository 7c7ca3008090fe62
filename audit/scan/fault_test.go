package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pg "github.com/parquet-go/parquet-go"
)

type small struct {
	N int64  `parquet:"n"`
	S string `parquet:"s,dict"`
}

// smallFile is written by parquet-go, which writes a CRC into each page.
func smallFile(t testing.TB, rows int) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := pg.NewGenericWriter[small](&buf)
	for i := range rows {
		if _, err := w.Write([]small{{N: int64(i), S: strings.Repeat("s", i%3)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// wantReason fails unless err is an [*Error] for reason whose text has all of
// parts.
func wantReason(t *testing.T, err error, reason Reason, parts ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Fatalf("error %v, want one for %s", err, reason)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestNotParquet(t *testing.T) {
	good := smallFile(t, 5)
	tests := []struct {
		name   string
		data   []byte
		reason Reason
		is     error
	}{
		{"empty", nil, BadFooter, ErrNotParquet},
		{"short", []byte("PAR1PAR1"), BadFooter, ErrNotParquet},
		{"text", []byte(strings.Repeat("a,b,c\n", 50)), BadFooter, ErrNotParquet},
		{"head only", append([]byte("PAR1"), make([]byte, 50)...), BadFooter, ErrNotParquet},
		{"tail only", append(make([]byte, 4), good[4:]...), BadFooter, ErrNotParquet},
		{"encrypted footer", append(bytes.Clone(good[:len(good)-4]), "PARE"...), Unsupported, nil},
		{"footer longer than file", withFooterLength(good, uint32(len(good))), BadFooter, nil},
		{"footer of 4 GiB", withFooterLength(good, 1<<32-1), BadFooter, nil},
		{"footer of no bytes", withFooterLength(good, 0), BadFooter, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := readAll(test.data)
			wantReason(t, err, test.reason)
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
		})
	}
}

func withFooterLength(data []byte, n uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[len(data)-8:], n)
	return data
}

func TestFlippedBytesFailTheChecksum(t *testing.T) {
	data := smallFile(t, 100)
	f := openBytes(t, data, Options{})
	c, err := f.chunk(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	data[c.end-1] ^= 0x40
	wantReason(t, readAll(data), BadChecksum, "row group 0", "column n", "page 0 at byte", "CRC")
}

func TestErrorNamesPlace(t *testing.T) {
	data, _ := arrowFile(t, 50, []Physical{PhysInt32}, parquet.WithDictionaryDefault(false), parquet.WithStats(false))
	f := openBytes(t, data, Options{})
	c, err := f.chunk(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[c.begin : c.begin+4])
	wantReason(t, readAll(data), BadPage, "row group 1", "column list_INT32[]", "page 0 at byte")
}

// withRows makes the nth count of 50 in the footer one of 51.
func withRows(t *testing.T, data []byte, nth int) []byte {
	t.Helper()
	data = bytes.Clone(data)
	n := binary.LittleEndian.Uint32(data[len(data)-8:])
	footer := data[len(data)-8-int(n) : len(data)-8]
	// An i64 field's header, and 50 as a zigzag number.
	for at := 0; ; nth-- {
		i := bytes.Index(footer[at:], []byte{0x16, 100})
		if i < 0 {
			t.Fatal("no such count in the footer")
		}
		at += i + 2
		if nth == 0 {
			footer[at-1] = 102
			return data
		}
	}
}

func TestRowCounts(t *testing.T) {
	data := smallFile(t, 50)
	// The footer holds the file's count, each column's, and the row group's.
	for nth, want := range []string{"the footer says 51 rows", "values for 50 rows", "values for 50 rows", "its row groups 51"} {
		wantReason(t, readAll(withRows(t, data, nth)), BadRows, want)
	}
}

func TestBudgets(t *testing.T) {
	data, _ := arrowFile(t, 3000, []Physical{PhysBytes}, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false))
	scan := func(opts Options) error {
		f, err := Open(context.Background(), ReaderAt(bytes.NewReader(data), int64(len(data))), opts)
		if err != nil {
			return err
		}
		_, err = scanGroup(f, 0)
		return err
	}
	wantReason(t, scan(Options{PageBudget: 1000}), OverBudget, "column required_BYTE_ARRAY", "budget 1000")
	wantReason(t, scan(Options{FooterBudget: 5000}), OverBudget, "budget 5000")
	wantReason(t, scan(Options{FooterBudget: 100}), OverBudget, "budget 100")
	if err := scan(Options{}); err != nil {
		t.Error(err)
	}
}

func TestInflateRefusesBombs(t *testing.T) {
	var bomb bytes.Buffer
	w := brotli.NewWriter(&bomb)
	if _, err := w.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		codec codec
		src   []byte
		size  int
	}{
		{brotliCodec, bomb.Bytes(), 1000},
		{snappyCodec, []byte{0xff, 0xff, 0xff, 0x7f, 0}, 1000},
		{zstdCodec, []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40}, 1000},
		{gzipCodec, []byte{0x1f, 0x8b, 8}, 1 << 20},
		{lz4Raw, []byte{0xff, 0xff}, 1 << 20},
		{uncompressed, []byte{1, 2, 3}, 4},
	}
	for _, test := range tests {
		t.Run(test.codec.String(), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			z := inflater{codec: test.codec}
			err := z.check(test.src, test.size)
			if err == nil {
				err = z.inflate(make([]byte, test.size), test.src)
			}
			runtime.ReadMemStats(&after)
			var fl *fault
			if !errors.As(err, &fl) || fl.reason != BadPage {
				t.Errorf("error %v, want one about the page", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
		})
	}
}

// brokenSource fails its nth read.
type brokenSource struct {
	Source
	left int
}

var errDisk = errors.New("disk on fire")

func (s *brokenSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	if s.left--; s.left < 0 {
		return errDisk
	}
	return s.Source.ReadRange(ctx, p, off)
}

func TestSourceErrorsAreNotTheFiles(t *testing.T) {
	data, _ := arrowFile(t, 500, []Physical{PhysInt64, PhysBytes})
	finished := false
	for n := 0; !finished; n++ {
		src := &brokenSource{Source: ReaderAt(bytes.NewReader(data), int64(len(data))), left: n}
		f, err := Open(context.Background(), src, Options{})
		if err == nil {
			_, err = scanGroup(f, 0)
		}
		var e *Error
		if errors.As(err, &e) || err != nil && !errors.Is(err, errDisk) {
			t.Fatalf("read %d failed: %v", n, err)
		}
		finished = err == nil
	}
}

func TestCancel(t *testing.T) {
	data, _ := arrowFile(t, 500, []Physical{PhysInt64})
	f := openBytes(t, data, Options{BatchRows: 10})
	ctx, cancel := context.WithCancel(context.Background())
	batches := 0
	err := f.ScanRowGroup(ctx, 0, Request{Columns: []ColumnNeed{{Column: 0, Need: ReadValues}}}, func(*Batch) error {
		batches++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || batches != 1 {
		t.Errorf("%d batches, then %v", batches, err)
	}
}
