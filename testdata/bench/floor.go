package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/audit/scan"
)

// floor reads and decompresses the pages of some columns, as many row groups at
// once as there are processors, and looks at none of them. NULLs are all that is
// asked of the columns of levels.
func floor(path string, values, levels []string) error {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return fmt.Errorf("look at data: %w", err)
	} else if info.IsDir() {
		if files, err = filepath.Glob(path + "/*.parquet"); err != nil {
			return fmt.Errorf("list data: %w", err)
		}
	}
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(processors())
	for _, name := range files {
		f, err := openFile(name)
		if err != nil {
			return err
		}
		wants, err := needs(f.scan, values, levels)
		if err != nil {
			return err
		}
		left := len(f.scan.Footer().RowGroups)
		done := make(chan error, left)
		for rg := range left {
			group.Go(func() error {
				err := f.walk(ctx, rg, wants)
				done <- err
				return err
			})
		}
		group.Go(func() error {
			for range left {
				<-done
			}
			return f.file.Close()
		})
	}
	return group.Wait()
}

type openedFile struct {
	file *os.File
	scan *scan.File
}

func openFile(name string) (*openedFile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open data: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at data: %w", err)
	}
	f, err := scan.Open(context.Background(), scan.ReaderAt(file, info.Size()), scan.Options{})
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	return &openedFile{file, f}, nil
}

func (f *openedFile) walk(ctx context.Context, rg int, wants []scan.ColumnNeed) error {
	for _, want := range wants {
		if _, err := f.scan.WalkPages(ctx, rg, want); err != nil {
			return err
		}
	}
	return nil
}

// needs finds the columns; one that is in both lists is read for its values.
func needs(f *scan.File, values, levels []string) ([]scan.ColumnNeed, error) {
	var wants []scan.ColumnNeed
	seen := map[int]bool{}
	for i, list := range [][]string{values, levels} {
		need := [...]scan.Need{scan.ReadValues, scan.ReadLevels}[i]
		for _, name := range list {
			ref, err := f.Resolve(name)
			if err != nil {
				return nil, err
			}
			if !seen[ref.Column] {
				wants = append(wants, scan.ColumnNeed{Column: ref.Column, Need: need})
			}
			seen[ref.Column] = true
		}
	}
	return wants, nil
}

func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
