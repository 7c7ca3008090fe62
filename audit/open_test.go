package audit

import (
	"fmt"
	"testing"
)

// A small file costs one request, all of it, as long as what is kept fits; then
// one for its footer, one for its head, and one for each column.
func TestRequestsOfSmallFiles(t *testing.T) {
	var files []File
	for i := range 100 {
		var values []any
		for k := range 2000 {
			values = append(values, 2000*i+k)
		}
		files = append(files, fileOf(t, fmt.Sprintf("%03d", i), longs("id", values...), longs("x", values...)))
	}
	size := files[0].Source.Size()
	for _, tt := range []struct {
		memory int64
		kept   int64
	}{{0, 100}, {16 * 30 * size, 30}, {16 * size / 2, 0}} {
		r := mustRun(t, mustParse(t, checks("not_null: x", "sum: {column: id, min: 0}")), Partition{Files: files}, Options{Memory: tt.memory})
		if want := tt.kept + (100-tt.kept)*4; r.Requests > want+want/20 || r.Outcome != Pass {
			t.Errorf("memory %d: %d requests, want about %d; %s", tt.memory, r.Requests, want, r.Outcome)
		}
		if all := 100 * size * 5 / 4; r.BytesRead > all {
			t.Errorf("memory %d: %d bytes read of %d", tt.memory, r.BytesRead, 100*size)
		}
	}
}
