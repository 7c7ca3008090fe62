package wap

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/wap-cli/wap/audit"
)

// TestCheckFolder judges fetched key folders as a run would have judged them.
func TestCheckFolder(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	for _, day := range []string{"2025-03-04", "2025-03-05"} {
		at := filepath.Join(dir, "orders", "dt="+day)
		if err := os.MkdirAll(at, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := parquet.WriteFile(filepath.Join(at, "p.parquet"), orders(1, 4)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(yaml string, targets ...string) (*CheckResult, error) {
		return Check(context.Background(), Config{}, CheckRequest{Targets: targets, Rules: l.rules(yaml)})
	}
	typed := "version: 1\nchecks: [primary_key: [id]]\ncolumns:\n  - {name: dt, type: date32}\n"
	r, err := check(typed, filepath.Join(dir, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Partitions) != 2 || r.Rows != 8 {
		t.Fatalf("%d partitions, %d rows", len(r.Partitions), r.Rows)
	}
	for _, targets := range [][]string{
		{filepath.Join(dir, "orders", "dt=2025-03-04", "p.parquet")},
		{filepath.Join(dir, "orders", "*", "*.parquet")},
		{"file://" + filepath.Join(dir, "orders")},
		{"file://" + filepath.Join(dir, "orders", "dt=2025-03-04", "p.parquet")},
	} {
		cfg := l.config(nil)
		_, err := Check(context.Background(), cfg, CheckRequest{Targets: targets, Rules: l.rules(typed)})
		if err != nil {
			t.Errorf("%v: %v", targets, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err = check(typed, dir)
	wantCode(t, err, 3)
	if len(r.Partitions) != 2 || r.Blocking()[0].Type != "no_stray_files" || r.Blocking()[0].Violations != 1 {
		t.Fatalf("a stray file above the partitions: %d partitions, %+v", len(r.Partitions), r.Blocking())
	}
	_, err = check("version: 1\nchecks: [row_count: {min: 5}]\n", filepath.Join(dir, "orders"))
	wantCode(t, err, 3)
	_, err = check(typed, filepath.Join(dir, "nothing"))
	wantCode(t, err, 2)
	_, err = check(typed, filepath.Join(dir, "*.nothing"))
	wantCode(t, err, 2)
}

// toldPlugins keeps the document that it was given.
type toldPlugins struct{ document string }

func (p *toldPlugins) Run(_ context.Context, _ []string, document []byte) ([]byte, []byte, error) {
	p.document = string(document)
	return []byte(`{"outcome": "pass"}`), nil, nil
}

func (p *toldPlugins) Local(context.Context, audit.File) (string, error) { return "/nowhere", nil }
func (p *toldPlugins) URL(audit.File) string                             { return "file:///nowhere" }

// TestCheckMemory: the audit of a baseline runs inside the other, with half of
// the memory for each.
func TestCheckMemory(t *testing.T) {
	l := newLab(t)
	file := l.file("p.parquet", orders(1, 4))
	for _, tt := range []struct {
		memory   int64
		baseline string
		want     string
	}{
		{64 << 20, "", `"memory_bytes":67108864`},
		{64 << 20, file, `"memory_bytes":33554432`},
		{0, file, `"memory_bytes":268435456`},
	} {
		plugins := &toldPlugins{}
		cfg := Config{Memory: tt.memory, Plugins: plugins}
		req := CheckRequest{Targets: []string{file}, Baseline: tt.baseline, Rules: l.rules("version: 1\nchecks: [exec: {command: [x]}]\n")}
		if _, err := Check(t.Context(), cfg, req); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plugins.document, tt.want) {
			t.Errorf("%+v: %s", tt, plugins.document)
		}
	}
	with, err := newChecked(Config{Memory: 64 << 20}).against(t.Context(), CheckRequest{Baseline: file, Rules: l.rules("version: 1\nchecks: [row_count: 4]\n")}, time.Unix(0, 0))
	if err != nil || with.memory != 32<<20 {
		t.Errorf("%v, %+v", err, with)
	}
}
