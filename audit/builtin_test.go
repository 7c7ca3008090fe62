package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

func TestBuiltins(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("x", 1, 2))
	tests := []struct {
		name, checks string
		part         Partition
		id           string
		want         Outcome
	}{
		{"stray", "integrity: {}", Partition{Files: []File{file}, Stray: []string{"b.csv"}}, "no_stray_files", Fail},
		{"stray, a warning", "no_stray_files: {severity: warn}", Partition{Files: []File{file}, Stray: []string{"b.csv"}}, "no_stray_files", Warn},
		{"shrunk", "integrity: {}", Partition{Mode: manifest.ModeOverwrite, Files: []File{file}, Previous: &manifest.Totals{Rows: 5}}, "shrink", Warn},
		{"halved", "integrity: {}", Partition{Mode: manifest.ModeOverwrite, Files: []File{file}, Previous: &manifest.Totals{Rows: 4}}, "shrink", Pass},
		{"shrunk a little", "shrink: {max_drop: 10%}", Partition{Mode: manifest.ModeOverwrite, Files: []File{file}, Previous: &manifest.Totals{Rows: 3}}, "shrink", Warn},
		{"twice", "integrity: {}", Partition{Mode: manifest.ModeAppend, Files: []File{{Key: "a", SHA256: "s1", Source: file.Source}, {Key: "b", SHA256: "s1", Source: file.Source}}}, "no_duplicate_content", Fail},
		{"empty", "integrity: {}", Partition{Files: []File{fileOf(t, "a", longs("x"))}}, "not_empty", Fail},
		{"empty, allowed", "integrity: {}\nallow_empty: true", Partition{Files: []File{fileOf(t, "a", longs("x"))}}, "not_empty", Pass},
		{"no file", "integrity: {}", Partition{}, "not_empty", Fail},
	}
	for _, tt := range tests {
		r := mustRun(t, mustParse(t, "version: 1\n"+tt.checks+"\n"), tt.part, Options{})
		if a := resultOf(t, r, tt.id); a.Outcome != tt.want {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
	r := mustRun(t, mustParse(t, "version: 1\npartition: [dt, region]\nintegrity: {}\n"),
		Partition{Partition: keyed("region", "eu", "dt", "1"), Files: []File{file}}, Options{})
	if a := resultOf(t, r, "partition_values"); a.Outcome != Error || a.Message != "the partition has the keys region, dt, the checks declare dt, region" {
		t.Errorf("%+v", a)
	}
	r = mustRun(t, mustParse(t, "version: 1\nno_stray_files: false\nintegrity: {}\n"), Partition{Files: []File{file}, Stray: []string{"x"}}, Options{})
	if r.Outcome != Pass {
		t.Errorf("switched off: %s", r.Outcome)
	}
}

func TestSchemaAssertion(t *testing.T) {
	file := fileOf(t, "a.parquet", longs("id", 1), decimals("amount", 18, 2, 1), listOf(strs("tags", "a"), []int16{3}, []int16{0}))
	tests := []struct{ item, want string }{
		{"schema: {columns: [id, amount, tags]}", "pass as expected"},
		{"schema: {columns: [{name: id, type: int64, nullable: true}, {name: amount, type: 'decimal(18,2)'}, {name: tags, type: 'list<string>'}]}", "pass as expected"},
		{"schema: {columns: [id, amount]}", "fail 1 difference column tags[] is extra"},
		{"schema: {columns: [id], allow_extra_columns: true}", "pass as expected"},
		{"schema: {columns: [Id, amount, tags], allow_extra_columns: true}", "fail 1 difference column Id is missing, there is id"},
		{"schema: {columns: [zzz], allow_extra_columns: true, allow_missing: true}", "pass as expected"},
		{"schema: {columns: [{name: id, type: string, nullable: false}], allow_extra_columns: true}",
			"fail 2 differences column id is int64, not string; column id is nullable, not required"},
		{"schema: {forbidden: [amount]}", "fail 1 difference column amount is forbidden"},
		{"schema: {columns: [{name: amount, type: 'decimal(18,3)'}], allow_extra_columns: true}",
			"fail 1 difference column amount is decimal128(18, 2), not decimal128(18, 3)"},
	}
	for _, tt := range tests {
		a := judgeOne(t, tt.item, file)
		if got := strings.TrimSpace(fmt.Sprintf("%s %s %s", a.Outcome, a.Observed, a.Message)); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.item, got, tt.want)
		}
	}
	c := mustParse(t, "version: 1\ncolumns: [{name: id, type: string}]\n")
	if a := resultOf(t, mustRun(t, c, Partition{Files: []File{file}}, Options{}), "schema(id)"); a.Outcome != Fail {
		t.Errorf("%+v", a)
	}
}
