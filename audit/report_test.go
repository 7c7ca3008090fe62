package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is stored holds places and counts, and is plain JSON.
func TestStoredReport(t *testing.T) {
	file := fileOf(t, "a.parquet", strs("mail", "secret@example.org", "secret@example.org"))
	for text, values := range map[string]int{"": 0, "store_samples: true\n": 1} {
		r := mustRun(t, mustParse(t, checks("unique: mail")+text), Partition{Files: []File{file}}, Options{})
		stored := r.WithoutValues()
		a, b := resultOf(t, r, "unique(mail)"), resultOf(t, stored, "unique(mail)")
		if len(a.Samples[0].Values) != 1 || len(b.Samples[0].Values) != values || b.Samples[0].Row != 1 {
			t.Errorf("%q: samples %+v, stored %+v", text, a.Samples, b.Samples)
		}
		var out, junit, markdown bytes.Buffer
		if err := errors.Join(r.WriteJSON(&out), WriteJUnit(&junit, r), WriteMarkdown(&markdown, r)); err != nil {
			t.Fatal(err)
		}
		shown := strings.Contains(out.String(), "secret") || strings.Contains(junit.String(), "secret") || strings.Contains(markdown.String(), "secret")
		if shown != (values > 0) {
			t.Errorf("%q: values shown is %v", text, shown)
		}
		var back Report
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.Assertions[0].Samples == nil || strings.Contains(out.String(), "null,") {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}

func TestRedaction(t *testing.T) {
	file := fileOf(t, "a.parquet", strs("mail", "secret", "secret"), longs("n", 1, 1))
	a := judgeOne(t, "unique: {columns: [mail, n], redact: [mail]}", file)
	want := []Value{{Column: "mail", Text: redactedText}, {Column: "n", Text: "1"}}
	if !reflect.DeepEqual(a.Samples[0].Values, want) {
		t.Errorf("%+v", a.Samples)
	}
	b := judgeOne(t, "accepted_values: {column: mail, values: [x], redact: [mail], samples: 1}", file)
	if len(b.Samples) != 1 || b.Samples[0].Values[0].Text != redactedText || b.Violations != 2 {
		t.Errorf("%+v", b)
	}
}

func TestCellsAreCut(t *testing.T) {
	a := judgeOne(t, "length: {column: s, max: 5}", fileOf(t, "a", strs("s", strings.Repeat("ä", 5000))))
	if text := a.Samples[0].Values[0].Text; len(text) > maxCell || !strings.HasSuffix(text, "ä…") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestWaive(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("x", 1, nil))
	r := mustRun(t, mustParse(t, checks("not_null: x", "not_null: y", "row_count: 5")), Partition{Files: []File{file}}, Options{})
	if n := r.Waive("not_null(y)", "why not"); n != 0 {
		t.Error("an error was waived")
	}
	if n := r.Waive("nothing", "x"); n != 0 {
		t.Error("nothing was waived")
	}
	if n := r.Waive("not_null(x)", "known") + r.Waive("row_count", "known"); n != 2 || r.Outcome != Error || len(r.Blocking()) != 1 {
		t.Errorf("%d waived, report is %s", n, r.Outcome)
	}
	r = mustRun(t, mustParse(t, checks("not_null: x")), Partition{Files: []File{file}}, Options{})
	if r.Waive("not_null(x)", "known") != 1 || r.Outcome != Warn || len(r.Blocking()) != 0 || r.OutsideOnly() {
		t.Errorf("report is %s", r.Outcome)
	}
}

// failingReport has one result of each kind.
func failingReport(t *testing.T) *Report {
	t.Helper()
	file := fileOf(t, "sales/part-00000-with-a-very-long-name-as-engines-like-to-write-them.parquet",
		longs("id", 1, 2, 2, 3), strs("status", "placed", "lost\x1b[31m", nil, "shipped"), longs("amount", 5, -3, 8, 1))
	c := mustParse(t, `
version: 1
checks:
  - row_count: {min: 5}
  - primary_key: id
  - not_null: {column: status, warn_if: "> 0", fail_if: "> 50%"}
  - not_null: nowhere
  - accepted_values: {column: status, values: [placed, shipped, returned]}
  - accepted_range: {column: amount, min: 0}
  - sum: {column: amount, equals: 11}
`)
	r := mustRun(t, c, Partition{Files: []File{file}}, Options{})
	r.BytesRead = 1000
	if r.Waive("accepted_range(amount)", "a correction, see the mail of 4 March") != 1 {
		t.Fatal("nothing waived")
	}
	return r
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs, see -update:\n%s", path, got)
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

func TestReportForms(t *testing.T) {
	r := failingReport(t)
	var text, junit, markdown strings.Builder
	err := errors.Join(r.WriteText(&text, TextOptions{Values: true}), WriteJUnit(&junit, r), WriteMarkdown(&markdown, r))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", text.String())
	golden(t, "report.xml", junit.String())
	golden(t, "report.md", markdown.String())
	if strings.Contains(junit.String()+markdown.String(), "lost") {
		t.Error("a stored form shows a value")
	}
}

// longReport has names and values that no line has room for, in two partitions.
func longReport(t *testing.T) *Report {
	t.Helper()
	column := strings.Repeat("customer_identifier_", 4)
	long := strings.Repeat("a value that is far too long for a line, ", 9)
	file := fileOf(t, "warehouse/"+strings.Repeat("deeper/", 12)+"part-0000.parquet",
		longs("id", 1, 2, 2, 3), strs(column, long, long, "Ω", nil), strs("note", long, "b", "b", "c"))
	c := mustParse(t, checks(
		"unique: {columns: ["+column+", note]}",
		"primary_key: id",
		"accepted_values: {column: "+column+", values: ["+strings.TrimSuffix(strings.Repeat("an accepted value of some length, ", 8), ", ")+"]}",
		"expression: {id: \"the customer's note is never longer than the identifier of the customer, nor empty\", expr: 'length(note) <= length("+column+") and note <> id_text'}",
		"expression: {id: plain, expr: 'length(note) <= length("+column+")', severity: warn}",
		"row_count: {min: 5}"))
	parts := []Partition{{Partition: keyed("region", strings.Repeat("north", 20)), Files: []File{file}}, {Partition: keyed("region", "s"), Files: []File{file}}}
	r, err := Run(t.Context(), &Rules{Default: c}, parts, Options{Now: testNow()})
	if err != nil {
		t.Fatal(err)
	}
	r.BytesRead = 1000
	return r
}

// Failures come first, each with what was expected and observed, samples, and
// what to do; names are wrapped and values cut, at 80 columns.
func TestLongNamesAndValues(t *testing.T) {
	var text strings.Builder
	if err := longReport(t).WriteText(&text, TextOptions{Values: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "long.txt", text.String())
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	order := []string{"ERROR", "FAIL", "WARN", "pass"}
	last := 0
	for line := range strings.Lines(text.String()) {
		word, _, _ := strings.Cut(line, " ")
		at := slices.Index(order, word)
		if at == 0 {
			at = 1 // errors and failures stand in the order of the file
		}
		if at >= 0 && at < last {
			t.Errorf("%s stands after %s", word, order[last])
		}
		last = max(last, at)
	}
}

func TestTextFits(t *testing.T) {
	r := failingReport(t)
	for _, width := range []int{40, 80, 120} {
		var text strings.Builder
		if err := r.WriteText(&text, TextOptions{Width: width, Values: true}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(text.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d characters in %d: %s", n, width, line)
			}
			if strings.ContainsRune(line, 0x1b) {
				t.Errorf("a value reached the terminal as it is: %q", line)
			}
		}
	}
	var coloured strings.Builder
	if err := r.WriteText(&coloured, TextOptions{Color: true}); err != nil || !strings.Contains(coloured.String(), red+"FAIL"+plain) {
		t.Errorf("%v\n%s", err, coloured.String())
	}
	if strings.Contains(coloured.String(), "lost") {
		t.Error("values are shown without being asked for")
	}
}
