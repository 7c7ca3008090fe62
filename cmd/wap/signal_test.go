package main

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// writerFunc is a stderr that does something when it is written to.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestAbandonMeetsACommit: what a second signal has wap say of a commit stays
// true, wherever the call was that goes on beside it.
func TestAbandonMeetsACommit(t *testing.T) {
	ctx := context.Background()
	start := func() (*store.Mem, store.Version) {
		mem := store.NewMem()
		v, err := mem.Create(ctx, manifest.PointerKey, []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		return mem, v
	}
	stands := func(mem *store.Mem) string {
		body, _, err := mem.Get(ctx, manifest.PointerKey)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}

	// The commit would begin while "published nothing" is printed.
	mem, v := start()
	c := &call{meter: newMeter()}
	s := c.meter.watch(mem)
	tried := 0
	c.page = newPage(io.Discard, writerFunc(func(p []byte) (int, error) {
		tried++
		if _, err := s.Swap(ctx, manifest.PointerKey, v, []byte("b")); !errors.Is(err, store.ErrNotSent) {
			t.Errorf("swap: %v", err)
		}
		return len(p), nil
	}))
	if code := c.abandon(); code != 1 || tried == 0 || stands(mem) != "a" {
		t.Errorf("exit %d after %d swaps, the pointer is %q", code, tried, stands(mem))
	}

	// The signal arrives while the commit is at the store.
	mem, v = start()
	c = &call{meter: newMeter(), page: newPage(io.Discard, io.Discard)}
	code := -1
	s = c.meter.watch(faultstore.New(mem, faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if op.Verb == faultstore.Swap && op.Phase == faultstore.Before {
			code = c.abandon()
		}
		return nil
	}}))
	if _, err := s.Swap(ctx, manifest.PointerKey, v, []byte("b")); err != nil || code != 5 || stands(mem) != "b" {
		t.Errorf("exit %d, swap: %v, the pointer is %q", code, err, stands(mem))
	}
}
