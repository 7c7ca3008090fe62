package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

func TestBrokenColumnLeavesOthers(t *testing.T) {
	data := parquetBytes(t, [][]testColumn{{longs("good", 1, 2, 3), longs("bad", 4, 5, 6)}},
		parquet.WithDictionaryDefault(false), parquet.WithCompression(0))
	needle := []byte{4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}
	at := bytes.Index(data, needle)
	if at < 0 {
		t.Fatal("values not found")
	}
	// The levels of the page, before its values, no longer decode.
	for i := 1; i <= 6; i++ {
		data[at-i] = 0xff
	}
	c := mustParse(t, checks("sum: {column: good, equals: 6}", "sum: {column: bad, equals: 15}", "not_null: bad", "row_count: 3"))
	r := mustRun(t, c, Partition{Files: []File{memoryFile("a", data)}}, Options{})
	for id, want := range map[string]Outcome{"sum(good)": Pass, "sum(bad)": Error, "not_null(bad)": Error, "row_count": Pass, "integrity": Error} {
		a := resultOf(t, r, id)
		if a.Outcome != want {
			t.Errorf("%+v", a)
		}
		if want == Error && (a.Error.Cause != CauseData || a.Error.Column != "bad" || *a.Error.RowGroup != 0 || a.Error.File != "a") {
			t.Errorf("%s: %+v", id, a.Error)
		}
	}
}

// A key that no file stores is still about rows that are there: with no column to
// count them by, nothing is said about it.
func TestConstantOfUnreadableFile(t *testing.T) {
	data := parquetBytes(t, [][]testColumn{{longs("bad", 4, 5, 6)}}, parquet.WithDictionaryDefault(false))
	at := bytes.Index(data, []byte{4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0})
	for i := 1; i <= 6; i++ {
		data[at-i] = 0xff
	}
	c := mustParse(t, checks("unique: {column: dt, nulls: equal}", "not_null: dt"))
	r := runRules(t, &Rules{Default: c, TrustFooter: true},
		Partition{Partition: keyed("dt", "1"), Files: []File{memoryFile("a", data)}}, Options{})
	for _, id := range []string{"unique(dt)", "not_null(dt)"} {
		if a := resultOf(t, r, id); a.Outcome != Error || a.Error.Column != "bad" {
			t.Errorf("%+v", a)
		}
	}
}

func TestInvalidUTF8FailsIntegrity(t *testing.T) {
	file := fileOf(t, "a", strs("s", "ok", "\xff\xfe"))
	r := mustRun(t, mustParse(t, checks("length: {column: s, max: 5}")), Partition{Files: []File{file}}, Options{})
	a := resultOf(t, r, "integrity")
	if a.Outcome != Fail || !strings.Contains(a.Message, "row 1") || !strings.Contains(a.Message, "UTF-8") {
		t.Errorf("%+v", a)
	}
	if strings.Contains(a.Message, "\xff") {
		t.Error("the message shows the value")
	}
}

func TestNotParquet(t *testing.T) {
	r := mustRun(t, mustParse(t, checks("row_count: 1", "not_null: x", "file_count: {max: 5}")),
		Partition{Files: []File{memoryFile("a", []byte("hello, this is no parquet")), fileOf(t, "b", longs("x", 1))}}, Options{})
	for id, want := range map[string]Outcome{"integrity": Error, "row_count": Error, "not_null(x)": Error, "not_empty": Error, "file_count": Pass} {
		if a := resultOf(t, r, id); a.Outcome != want || want == Error && a.Error.File != "a" {
			t.Errorf("%+v", a)
		}
	}
}

// Every file of other projects ends in a verdict, soon and in bounded memory.
func TestParquetTesting(t *testing.T) {
	root := filepath.Join(sharedData, "parquet-testing")
	if _, err := os.Stat(root); os.IsNotExist(err) {
		t.Skipf("needs %s, which is not part of the repository", root)
	}
	refused := map[string]string{ // integrity in mode full, and what it says
		"bad_data/ARROW-GH-41317.parquet": "footer", "bad_data/PARQUET-1481.parquet": "physical type",
		"bad_data/ARROW-GH-41321.parquet": "indices", "bad_data/ARROW-GH-45185.parquet": "within a row",
		"bad_data/ARROW-GH-47662.parquet": "page ends", "bad_data/ARROW-RS-GH-6229-DICTHEADER.parquet": "page header",
		"bad_data/ARROW-RS-GH-6229-LEVELS.parquet": "values", "data/datapage_v1-corrupt-checksum.parquet": "CRC",
		"data/rle-dict-uncompressed-corrupt-checksum.parquet": "CRC", "data/repeated_no_annotation.parquet": "the footer says 0 rows",
		"data/large_string_map.brotli.parquet": "budget",
	}
	files, peak := 0, uint64(0)
	for _, mode := range []string{"referenced", "full"} {
		c := mustParse(t, "version: 1\nintegrity: {mode: "+mode+"}\n")
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".parquet") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files++
			r := mustRun(t, c, Partition{Files: []File{sharedFile(t, filepath.Join("parquet-testing", name))}}, Options{})
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.Sys)
			a := resultOf(t, r, "integrity")
			want, bad := refused[name]
			switch {
			case mode == "full" && bad && (a.Outcome.rank() < Fail.rank() || !strings.Contains(a.Message, want)):
				t.Errorf("%s: %s %s", name, a.Outcome, a.Message)
			case !bad && a.Outcome != Pass:
				t.Errorf("%s, %s: %s %s", name, mode, a.Outcome, a.Message)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 130 || peak > 1<<30 {
		t.Errorf("%d files, %d bytes of memory", files, peak)
	}
}

// withoutColumns is a file that has none.
func withoutColumns(t *testing.T) File {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, nil, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root)
	if _, err := w.AppendRowGroupChecked(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return memoryFile("a", out.Bytes())
}

// A file without columns has no rows that anybody could look at.
func TestNoColumns(t *testing.T) {
	bare := withoutColumns(t)
	r := mustRun(t, mustParse(t, checks("unique: dt", "not_null: dt")),
		Partition{Partition: keyed("dt", "1"), Files: []File{bare}}, Options{})
	for _, id := range []string{"unique(dt)", "not_null(dt)"} {
		if a := resultOf(t, r, id); a.Outcome != Error || a.Error.Cause != CauseData || a.Error.File != "a" {
			t.Errorf("%+v", a)
		}
	}
	// On either side of a comparison, or on both.
	shelf := &shelf{data: map[string][]Partition{
		"bare": {publishedAs("bare", bare)}, "full": {publishedAs("full", fileOf(t, "f", longs("x", 1)))},
	}, controls: declare("c.json/a row_count 0")}
	full := []File{fileOf(t, "g", longs("x", 1))}
	for _, tt := range []struct {
		item  string
		files []File
		why   string
	}{
		{"reconcile: {with: {control: c.json}}", []File{bare}, "file a has no column to count its rows by"},
		{"reconcile: {with: {partition: full}}", []File{bare}, "file a has no column to count its rows by"},
		{"reconcile: {with: {partition: bare}}", full, "bare: file a has no column to count its rows by"},
		{"reconcile: {with: {partition: bare}}", nil, "bare: file a has no column to count its rows by"},
		{"matches: {with: {partition: full}}", []File{bare}, "file a has no column to compare"},
		{"matches: {with: {partition: bare}}", []File{bare}, "file a has no column to compare"},
		{"matches: {with: {partition: bare}}", full, "bare: file a has no column to compare"},
		{"matches: {with: {partition: bare}}", nil, "bare: file a has no column to compare"},
	} {
		if a := shelf.against(t, tt.item, tt.files...); a.Outcome != Error || a.Error.Cause != CauseData || a.Message != tt.why {
			t.Errorf("%s: %s %s", tt.item, a.Outcome, a.Message)
		}
	}
}

// A footer is no evidence for the rest of a file whose store went away.
func TestTrustWithoutStore(t *testing.T) {
	good := manyGroups(t, "a", 4, 50, 4)
	rules := &Rules{Default: mustParse(t, checks("not_null: id", "sum: {column: price, min: 0}")), TrustFooter: true}
	opts := Options{Parallel: 1, Memory: 64 << 10}
	whole := runRules(t, rules, Partition{Files: []File{good}}, opts)
	if a := resultOf(t, whole, "not_null(id)"); a.Outcome != Pass || a.Grade != GradeFooter {
		t.Fatalf("%+v", a)
	}
	for n := range whole.Requests {
		left := &atomic.Int64{}
		left.Store(n)
		r := runRules(t, rules, Partition{Files: []File{{Key: "a", Source: failingSource{good.Source, left}}}}, opts)
		for _, id := range []string{"not_null(id)", "sum(price)"} {
			if a := resultOf(t, r, id); a.Outcome != Error || a.Error.Cause != CauseOutside {
				t.Errorf("read %d of %d: %s is %s", n, whole.Requests, id, a.Outcome)
			}
		}
	}
}
