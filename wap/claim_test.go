package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestMarkThatVanishes: a mark that stood in the way of its creation and is gone
// when it is read is created again.
func TestMarkThatVanishes(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	key := manifest.MarkKey("r", 1)
	wantCode(t, l.open().mark(ctx, "r", 1), 0)
	gone := 0
	fs := faultstore.New(l.store, faultstore.Config{OnOp: func(ctx context.Context, op faultstore.Op) error {
		if op.Key == key && op.Verb == faultstore.Get && op.Phase == faultstore.Before {
			gone++
			return l.store.Delete(ctx, key)
		}
		return nil
	}})
	wantCode(t, l.client(fs).mark(ctx, "r", 1), 0)
	if _, _, err := l.store.Get(ctx, key); err != nil || gone != 1 {
		t.Fatalf("deleted %d times; the mark: %v", gone, err)
	}
}
