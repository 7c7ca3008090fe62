package audit

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/wap-cli/wap/audit/scan"
)

// readOnce is a source that knows how often each byte was read.
type readOnce struct {
	scan.Source
	mu    *sync.Mutex
	times []uint8
}

func (s readOnce) ReadRange(ctx context.Context, p []byte, off int64) error {
	s.mu.Lock()
	for i := range p {
		s.times[off+int64(i)]++
	}
	s.mu.Unlock()
	return s.Source.ReadRange(ctx, p, off)
}

// Three hundred rules over a hundred columns read each column once, with no more
// requests than one rule a column takes.
func TestManyRulesReadEachColumnOnce(t *testing.T) {
	const columns, rows, groups = 100, 500, 3
	var all [][]testColumn
	for range groups {
		var group []testColumn
		for c := range columns {
			values := make([]any, rows)
			for i := range values {
				values[i] = (i + c) % 97
			}
			group = append(group, longs(fmt.Sprintf("c%03d", c), values...))
		}
		all = append(all, group)
	}
	file := memoryFile("a", parquetBytes(t, all))
	var few, many []string
	for c := range columns {
		few = append(few, fmt.Sprintf("accepted_range: {column: c%03d, min: 0, max: 96}", c))
		many = append(many, few[c], fmt.Sprintf("not_null: c%03d", c), fmt.Sprintf("sum: {column: c%03d, min: 1}", c))
	}
	const little = 1 << 20 // too little to keep the file
	run := func(items []string) (*Report, []uint8) {
		src := readOnce{file.Source, new(sync.Mutex), make([]uint8, file.Source.Size())}
		r := mustRun(t, mustParse(t, checks(items...)), Partition{Files: []File{{Key: "a", Source: src}}}, Options{Memory: little})
		if r.Outcome != Pass {
			t.Fatalf("report is %s", r.Outcome)
		}
		return r, src.times
	}
	one, _ := run(few)
	three, times := run(many)
	if three.Requests != one.Requests || three.BytesRead != one.BytesRead || three.Requests > groups+3 { // the footer takes two, the head one
		t.Errorf("%d requests and %d bytes for 300 rules, %d and %d for 100", three.Requests, three.BytesRead, one.Requests, one.BytesRead)
	}
	const magic = 4
	for at, n := range times[magic:] {
		if n > 1 {
			t.Fatalf("byte %d was read %d times", at+magic, n)
		}
	}
}
