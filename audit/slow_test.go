package audit

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/wap-cli/wap/audit/scan"
)

// slowSource answers each request after a while.
type slowSource struct {
	scan.Source
	latency time.Duration
}

func (s slowSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	time.Sleep(s.latency)
	return s.Source.ReadRange(ctx, p, off)
}

// From a store with 30 ms a request, by a clock that only requests move: the
// rounds that had to wait for each other, the requests, and the bytes.
func TestSlowStore(t *testing.T) {
	const groups, rows, latency = 8, 70_000, 30 * time.Millisecond
	local := wideGroups(t, groups, rows)
	sizes := chunkSizes(t, local)
	chunks := func(columns ...int) (n int64) {
		for g := range groups {
			for _, c := range columns {
				n += sizes[g][c]
			}
		}
		return n
	}
	footer := int64(64 << 10) // what is read of the end
	tests := []struct {
		name     string
		checks   []string
		bytes    int64
		rounds   int64
		requests int64
	}{
		{"levels", []string{"not_null: key", "not_null: note"}, chunks(1, 2) / 10, 6, groups*2 + 4},
		{"values", []string{"max: {column: key, min: a}", "sum: {column: id, min: 0}"}, chunks(0, 1) * 105 / 100, 5, groups*4 + 4},
		{"both", []string{"unique: key", "sum: {column: id, min: 0}", "not_null: note"}, (chunks(0, 1) + chunks(2)/10) * 105 / 100, 5, groups*5 + 4},
	}
	for _, tt := range tests {
		c := mustParse(t, checks(tt.checks...))
		want := mustRun(t, c, Partition{Files: []File{local}}, Options{Parallel: 2})
		synctest.Test(t, func(t *testing.T) {
			slow := local
			slow.Source = slowSource{local.Source, latency}
			begin := time.Now()
			r := mustRun(t, c, Partition{Files: []File{slow}}, Options{Parallel: 2})
			rounds := int64(time.Since(begin) / latency)
			t.Logf("%s: %d rounds, %d requests, %d bytes", tt.name, rounds, r.Requests, r.BytesRead)
			if rounds > tt.rounds || r.Requests > tt.requests || r.BytesRead > tt.bytes+footer {
				t.Errorf("%s: %d rounds, %d requests, %d bytes; want at most %d, %d, %d",
					tt.name, rounds, r.Requests, r.BytesRead, tt.rounds, tt.requests, tt.bytes+footer)
			}
			if r.Requests != want.Requests || r.BytesRead != want.BytesRead {
				t.Errorf("%s: %d requests and %d bytes, without latency %d and %d", tt.name, r.Requests, r.BytesRead, want.Requests, want.BytesRead)
			}
		})
	}
}

// Many small files wait for a few rounds in all, not for a few each.
func TestSlowStoreOfSmallFiles(t *testing.T) {
	const many, latency = 200, 30 * time.Millisecond
	var files, slow []File
	for i := range many {
		f := fileOf(t, fmt.Sprintf("%03d", i), longs("id", i, i+many), strs("note", "a", nil))
		files = append(files, f)
		f.Source = slowSource{f.Source, latency}
		slow = append(slow, f)
	}
	c := mustParse(t, checks("unique: id", "not_null: {column: note, fail_if: '> 50%'}"))
	mustRun(t, c, Partition{Files: files}, Options{Parallel: 2})
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := mustRun(t, c, Partition{Files: slow}, Options{Parallel: 2})
		if rounds := int64(time.Since(begin) / latency); rounds > many/maxRequests+2 || r.Requests != many || r.Outcome != Pass {
			t.Errorf("%d rounds and %d requests for %d files: %s", rounds, r.Requests, many, r.Outcome)
		}
	})
}

// wideGroups has an id, a key of random digits and a nullable note, in pages as
// large as their chunks.
func wideGroups(t *testing.T, groups, rows int) File {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	var all [][]testColumn
	for g := range groups {
		ids, keys, notes := make([]any, rows), make([]any, rows), make([]any, rows)
		for i := range rows {
			ids[i] = g*rows + i
			keys[i] = fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
			if r.IntN(10) > 0 {
				notes[i] = fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
			}
		}
		all = append(all, []testColumn{longs("id", ids...), strs("key", keys...), strs("note", notes...)})
	}
	return memoryFile("a", parquetBytes(t, all, parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(64<<20)))
}

// chunkSizes are the compressed bytes of a file's chunks, by row group and column.
func chunkSizes(t *testing.T, f File) (sizes [][]int64) {
	t.Helper()
	raw := make([]byte, f.Source.Size())
	if err := f.Source.ReadRange(t.Context(), raw, 0); err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range r.MetaData().RowGroups {
		var row []int64
		for _, c := range g.Columns {
			row = append(row, c.MetaData.TotalCompressedSize)
		}
		sizes = append(sizes, row)
	}
	return sizes
}
