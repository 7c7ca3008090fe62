package store_test

import (
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
)

func newFile(t *testing.T, dir string) *store.File {
	t.Helper()
	f, err := store.NewFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Handle {
		dir := t.TempDir()
		return func() store.Store { return newFile(t, dir) }
	})
}
