package wap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A local file that is not what it was when it was first seen gives no byte.
func TestLocalFileThatChanges(t *testing.T) {
	first := time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC)
	write := func(t *testing.T, path, text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		says   string
	}{
		{"left alone", func(*testing.T, string) {}, ""},
		{"replaced by one of the same size and time", func(t *testing.T, path string) {
			write(t, path+".new", "other bytes", first)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}, "replaced"},
		{"written again", func(t *testing.T, path string) { write(t, path, "other bytes", first.Add(time.Second)) }, "replaced"},
		{"cut short", func(t *testing.T, path string) { write(t, path, "some", first) }, "replaced"},
		{"removed", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.parquet")
			write(t, path, "some bytes ", first)
			src, err := newLocalSource(path)
			if err != nil {
				t.Fatal(err)
			}
			tt.change(t, path)
			got := make([]byte, 5)
			err = src.ReadRange(t.Context(), got, 5)
			if tt.says == "" {
				if err != nil || string(got) != "bytes" {
					t.Errorf("read %q, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("read %q, %v; want an error with %q", got, err, tt.says)
			}
		})
	}
}
