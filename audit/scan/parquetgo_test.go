package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// pgRow covers the encodings that arrow-go does not write.
type pgRow struct {
	Delta  [9]byte  `parquet:"delta,delta"`
	Split  float64  `parquet:"split,split"`
	Length string   `parquet:"length,delta"`
	Dict   string   `parquet:"dict,dict,optional"`
	Zstd   int64    `parquet:"zstd,delta,zstd"`
	Gzip   string   `parquet:"gzip,gzip"`
	Brotli string   `parquet:"brotli,brotli"`
	Lz4    string   `parquet:"lz4,lz4"`
	Snappy []string `parquet:"snappy,snappy,list"`
	Bool   bool     `parquet:"bool,plain"`
}

func pgRows(n int) []pgRow {
	rows := make([]pgRow, n)
	for i := range rows {
		r := &rows[i]
		copy(r.Delta[:], fmt.Sprintf("%09d", i*37))
		r.Split = float64(i) / 7
		r.Length = strings.Repeat("x", i%13)
		if i%3 > 0 {
			r.Dict = fmt.Sprint("d", i%17)
		}
		r.Zstd = int64(i) * 1e12
		r.Gzip, r.Brotli, r.Lz4 = fmt.Sprint("g", i), fmt.Sprint("b", i/5), fmt.Sprint("l", i%100)
		for k := range i % 4 {
			r.Snappy = append(r.Snappy, fmt.Sprint(i, k))
		}
		r.Bool = i%5 == 0
	}
	return rows
}

func TestParquetGoFiles(t *testing.T) {
	for version := 1; version <= 2; version++ {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			var buf bytes.Buffer
			w := parquet.NewGenericWriter[pgRow](&buf, parquet.DataPageVersion(version), parquet.PageBufferSize(1000))
			rows := pgRows(3000)
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, opts := range []Options{{}, {BatchRows: 64}} {
				got, err := scanGroup(openBytes(t, buf.Bytes(), opts), 0)
				if err != nil {
					t.Fatal(err)
				}
				comparePG(t, rows, got)
			}
		})
	}
}

func comparePG(t *testing.T, rows []pgRow, got []leafData) {
	t.Helper()
	want := make([][]string, len(got))
	for _, r := range rows {
		texts := []string{string(r.Delta[:]), fmt.Sprint(r.Split), r.Length, r.Dict, fmt.Sprint(r.Zstd), r.Gzip, r.Brotli, r.Lz4, "", fmt.Sprint(r.Bool)}
		for i, s := range texts {
			switch {
			case i == 8:
				want[i] = append(want[i], r.Snappy...)
			case i != 3 || s != "":
				want[i] = append(want[i], s)
			}
		}
	}
	for i := range want {
		if g, w := strings.Join(got[i].values, "\n"), strings.Join(want[i], "\n"); g != w {
			t.Errorf("column %d: values differ: %d, want %d", i, len(got[i].values), len(want[i]))
		}
	}
}
