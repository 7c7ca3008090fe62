package audit

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/wap-cli/wap/audit/scan"
)

func fingerprint(t *testing.T, ignore []string, files ...File) RowDigest {
	t.Helper()
	d, err := Fingerprint(context.Background(), files, ignore, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Equal rows are equal however they are written; any other difference is one.
func TestFingerprint(t *testing.T) {
	list := func(def, rep []int16, values ...any) testColumn { return listOf(strs("l", values...), def, rep) }
	base := []testColumn{longs("x", 1, 2, 2, nil), strs("s", "a", "b", "b", nil), doubles("f", 0.0, math.NaN(), math.NaN(), 1.0)}
	want := fingerprint(t, nil, fileOf(t, "a", base...))
	same := map[string][]File{
		"other encodings": {memoryFile("b", parquetBytes(t, [][]testColumn{base}, parquet.WithDictionaryDefault(false),
			parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDataPageVersion(parquet.DataPageV2)))},
		"other column order": {fileOf(t, "b", base[2], base[0], base[1])},
		"other row order": {fileOf(t, "b", longs("x", nil, 2, 2, 1), strs("s", nil, "b", "b", "a"),
			doubles("f", 1.0, math.NaN(), math.NaN(), math.Copysign(0, -1)))},
		"two files": {
			fileOf(t, "b", longs("x", 2, nil), strs("s", "b", nil), doubles("f", math.NaN(), 1.0)),
			fileOf(t, "c", longs("x", 2, 1), strs("s", "b", "a"), doubles("f", math.NaN(), 0.0)),
		},
		"two row groups": {memoryFile("b", parquetBytes(t, [][]testColumn{
			{longs("x", 1), strs("s", "a"), doubles("f", 0.0)},
			{longs("x", 2, 2, nil), strs("s", "b", "b", nil), doubles("f", math.NaN(), math.NaN(), 1.0)}}))},
	}
	for name, files := range same {
		if d := fingerprint(t, nil, files...); !d.Equal(want) {
			t.Errorf("%s: %s", name, want.Diff(d))
		}
	}
	others := []struct {
		name    string
		columns []testColumn
		diff    string
	}{
		{"multiplicity", []testColumn{longs("x", 1, 1, 2, nil), strs("s", "a", "a", "b", nil), doubles("f", 0.0, 0.0, math.NaN(), 1.0)}, "the same number of rows, 4, with other values"},
		{"swapped cells", []testColumn{longs("x", 2, 1, 2, nil), strs("s", "a", "b", "b", nil), base[2]}, "the same number of rows, 4, with other values"},
		{"a row more", []testColumn{longs("x", 1, 2, 2, nil, 3), strs("s", "a", "b", "b", nil, "c"), doubles("f", 0.0, 1.0, 1.0, 1.0, 1.0)}, "5 rows instead of 4"},
		{"type", []testColumn{doubles("x", 1.0), base[1], base[2]}, "column x is double instead of int64"},
		{"new column", append([]testColumn{longs("y", 1, 1, 1, 1)}, base...), "column y is new"},
		{"missing column", base[:2], "column f is missing"},
	}
	for _, tt := range others {
		columns := tt.columns
		if tt.name == "type" {
			columns = []testColumn{doubles("x", 1.0, 2.0, 2.0, nil), base[1], base[2]}
		}
		if got := want.Diff(fingerprint(t, nil, fileOf(t, "b", columns...))); got != tt.diff {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	// NULL, an empty list, and a list of NULL.
	var seen []RowDigest
	for _, def := range []int16{0, 1, 2} {
		d := fingerprint(t, nil, fileOf(t, "a", list([]int16{def}, []int16{0})))
		for _, other := range seen {
			if d.Equal(other) {
				t.Errorf("level %d equals another", def)
			}
		}
		seen = append(seen, d)
	}
	// ["a", "b"] is not ["ab"], nor are two rows of one element one row of two.
	two := fingerprint(t, nil, fileOf(t, "a", list([]int16{3, 3}, []int16{0, 1}, "a", "b")))
	for _, other := range []testColumn{list([]int16{3}, []int16{0}, "ab"), list([]int16{3, 3}, []int16{0, 0}, "a", "b")} {
		if fingerprint(t, nil, fileOf(t, "a", other)).Equal(two) {
			t.Error("lists collide")
		}
	}
}

func TestFingerprintIgnores(t *testing.T) {
	a := fileOf(t, "a", longs("x", 1), longs("loaded_at", 5), structOf("s", longs("n", 7), []int16{2}))
	b := fileOf(t, "b", longs("x", 1), longs("loaded_at", 6), structOf("s", longs("n", 8), []int16{2}))
	if fingerprint(t, nil, a).Equal(fingerprint(t, nil, b)) {
		t.Error("different rows are equal")
	}
	if d := fingerprint(t, []string{"loaded_at", "s"}, a).Diff(fingerprint(t, []string{"loaded_at", "s"}, b)); d != "" {
		t.Error(d)
	}
}

// A decimal is its value, however it is stored.
func TestFingerprintOfDecimals(t *testing.T) {
	narrow := leaf("d", parquet.Types.Int64, schema.NewDecimalLogicalType(18, 2), -1, []any{100, -250, nil})
	if d := fingerprint(t, nil, fileOf(t, "a", narrow)).Diff(fingerprint(t, nil, fileOf(t, "b", decimals("d", 18, 2, 100, -250, nil)))); d != "" {
		t.Error(d)
	}
}

func TestFingerprintErrors(t *testing.T) {
	_, err := Fingerprint(context.Background(), []File{memoryFile("a", []byte("no parquet at all"))}, nil, Options{})
	var fault *scan.Error
	if !errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
	_, err = Fingerprint(context.Background(), []File{fileOf(t, "a", longs("x", 1)), fileOf(t, "b", doubles("x", 1.0))}, nil, Options{})
	if err == nil || !strings.Contains(err.Error(), `"b": its schema differs from "a": column x is double instead of int64`) {
		t.Errorf("got %v", err)
	}
}
