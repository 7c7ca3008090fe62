package audit

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// sharedData is where real files of other projects may lie; see its README.
const sharedData = "../../shared/data"

// sharedFile opens a real file, or skips the test where it is absent.
func sharedFile(t *testing.T, name string) File {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedData, name))
	if os.IsNotExist(err) {
		t.Skipf("needs %s, which is not part of the repository", filepath.Join(sharedData, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return File{Key: name, Source: scan.ReaderAt(f, info.Size())}
}

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("checks.yaml", []byte(text), Vars{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustRun(t *testing.T, c *Config, part Partition, opts Options) *Report {
	t.Helper()
	return runRules(t, &Rules{Default: c}, part, opts)
}

func runRules(t *testing.T, rules *Rules, part Partition, opts Options) *Report {
	t.Helper()
	if opts.Now.IsZero() {
		opts.Now = time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC)
	}
	if part.Path == "" {
		part.Partition = manifest.Partition{Path: "t", Table: "t"}
	}
	r, err := Run(context.Background(), rules, []Partition{part}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// resultOf finds a result by its id.
func resultOf(t *testing.T, r *Report, id string) Result {
	t.Helper()
	for _, a := range r.Assertions {
		if a.ID == id {
			return a
		}
	}
	t.Fatalf("the report has no result %q", id)
	return Result{}
}

func TestFlights(t *testing.T) {
	part := Partition{Files: []File{sharedFile(t, "flights-3m.parquet")}}
	r := mustRun(t, mustParse(t, `
version: 1
checks:
  - row_count: 3000000
  - not_null: [date, delay, distance, origin, destination]
  - unique: [date, origin, destination]
  - count_distinct: {column: origin, equals: 229}
columns:
  - name: delay
    checks: [{sum: 20003603}]
  - name: distance
    checks: [{sum: 2194861208}, {accepted_range: {min: 0, max: 5000}}]
`), part, Options{})
	for id, want := range map[string]string{
		"row_count": "3000000", "sum(delay)": "20003603", "sum(distance)": "2194861208", "count_distinct(origin)": "229",
	} {
		if a := resultOf(t, r, id); a.Outcome != Pass || a.Observed != want {
			t.Errorf("%s: %s, observed %s, want %s; %s", id, a.Outcome, a.Observed, want, a.Message)
		}
	}
	unique := resultOf(t, r, "unique(date,origin,destination)")
	if unique.Outcome != Fail || unique.Violations != 7892 || unique.RowsTested != 3000000 || len(unique.Samples) != 10 {
		t.Errorf("unique: %+v", unique)
	}
	if blocking := r.Blocking(); len(blocking) != 1 || r.OutsideOnly() {
		t.Errorf("blocking: %+v", blocking)
	}
}
