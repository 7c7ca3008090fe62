package scan

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

func TestReadAheadGivesTheSame(t *testing.T) {
	data, groups := arrowFile(t, 1000, allPhysical)
	for _, opts := range []Options{{ReadAhead: true}, {ReadAhead: true, ReadSize: 100}, {ReadAhead: true, ReadSize: 1000, BatchRows: 50}} {
		checkFile(t, data, groups, opts)
	}
}

func TestSmallChunksShareRequests(t *testing.T) {
	data, groups := arrowFile(t, 100, allPhysical)
	src := &countingSource{Source: ReaderAt(bytes.NewReader(data), int64(len(data)))}
	f, err := Open(context.Background(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before, bytesBefore := src.requests.Load(), src.bytes.Load()
	if _, err := scanGroup(f, 0); err != nil {
		t.Fatal(err)
	}
	if n := src.requests.Load() - before; n != 1 {
		t.Errorf("%d requests for %d chunks side by side", n, len(groups[0]))
	}
	if n, chunks := src.bytes.Load()-bytesBefore, f.Footer().RowGroups[0].Bytes; n > chunks*105/100 {
		t.Errorf("%d bytes read for chunks of %d", n, chunks)
	}
}

// slowSource answers when it is told to, and knows how many reads wait.
type slowSource struct {
	Source
	begun   chan struct{}
	release chan struct{}
}

func (s *slowSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	s.begun <- struct{}{}
	<-s.release
	return s.Source.ReadRange(ctx, p, off)
}

// All columns' first reads are under way before any has been answered.
func TestReadAheadIsConcurrent(t *testing.T) {
	data, _ := arrowFile(t, 2000, []Physical{PhysInt64})
	f := openBytes(t, data, Options{ReadAhead: true})
	f.opts.ReadSize = 1 << 10 // smaller than the chunks, so none are joined
	slow := &slowSource{Source: f.src, begun: make(chan struct{}, 1000), release: make(chan struct{})}
	f.src = slow
	done := make(chan error)
	go func() {
		_, err := scanGroup(f, 0)
		done <- err
	}()
	for range f.Columns() {
		<-slow.begun
	}
	close(slow.release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestNoReadOutlivesTheScan(t *testing.T) {
	data, _ := arrowFile(t, 2000, allPhysical)
	f := openBytes(t, data, Options{ReadAhead: true, ReadSize: 500})
	src := &openSource{Source: f.src}
	f.src = src
	stop := errors.New("stop")
	req := Request{}
	for i := range f.Columns() {
		req.Columns = append(req.Columns, ColumnNeed{i, ReadValues})
	}
	if err := f.ScanRowGroup(context.Background(), 0, req, func(*Batch) error { return stop }); err != stop {
		t.Fatalf("error %v", err)
	}
	src.close(t)
}

// openSource must not be read after it was closed.
type openSource struct {
	Source
	reads countingSource
}

func (s *openSource) ReadRange(ctx context.Context, p []byte, off int64) error {
	s.reads.requests.Add(1)
	defer s.reads.requests.Add(-1)
	return s.Source.ReadRange(ctx, p, off)
}

func (s *openSource) close(t *testing.T) {
	if n := s.reads.requests.Load(); n != 0 {
		t.Errorf("%d reads are under way", n)
	}
}
