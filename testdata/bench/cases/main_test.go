package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreThoseCheckedIn: nobody changed one by hand, and the program still
// makes what the tests of package audit read.
func TestFilesAreThoseCheckedIn(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	fresh, kept := tree(t, dir), tree(t, "../../../audit/testdata/duckdb")
	for name, data := range fresh {
		if !bytes.Equal(kept[name], data) {
			t.Errorf("%s is not what the program writes: run it in testdata/bench with `go run ./cases`", name)
		}
	}
	for name := range kept {
		if _, ok := fresh[name]; !ok {
			t.Errorf("%s is written by no program", name)
		}
	}
}

func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
