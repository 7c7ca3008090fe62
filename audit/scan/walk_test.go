package scan

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// TestWalkPages holds the walk to what the pages of plain integers must hold, and
// to an error where a page cannot be read.
func TestWalkPages(t *testing.T) {
	const rows = 10_000
	data, _ := arrowFile(t, rows, []Physical{PhysInt64}, encoded(parquet.Encodings.Plain)...)
	f := openBytes(t, data, Options{})
	walk := func(f *File, need Need) (total int64, err error) {
		for rg := range f.Footer().RowGroups {
			n, err := f.WalkPages(context.Background(), rg, ColumnNeed{Column: 0, Need: need})
			if err != nil {
				return 0, err
			}
			total += n
		}
		return total, nil
	}
	present := int64(0)
	for rg := range f.Footer().RowGroups {
		counts, err := f.CountLevels(context.Background(), rg, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		present += counts.Counts[0][f.Columns()[0].MaxDef]
	}
	if got, err := walk(f, ReadValues); err != nil || got != 8*present {
		t.Errorf("values: %d bytes, error %v, want %d", got, err, 8*present)
	}
	if got, err := walk(f, ReadLevels); err != nil || got != 0 {
		t.Errorf("levels: %d bytes, error %v, want none", got, err)
	}
	if _, err := f.WalkPages(context.Background(), 0, ColumnNeed{Column: 7}); err == nil {
		t.Error("a column that is not there is no error")
	}
}
