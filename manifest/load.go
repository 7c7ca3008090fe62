package manifest

import (
	"context"
	"fmt"
	"sync"
)

// Loader reads the tree's nodes.
type Loader interface {
	// Load returns the bytes that ref names, their checksum verified, or an
	// error that says why there are none. It is called concurrently.
	Load(ctx context.Context, ref Ref) ([]byte, error)
}

// maxLoads is how many nodes are read at once.
const maxLoads = 32

// loadTree reads one folder. want are the totals of the entry that names it;
// nil where nothing does.
func loadTree(ctx context.Context, ld Loader, ref Ref, want *Totals) (*Tree, error) {
	data, err := ld.Load(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("load tree %q: %w", ref.Key, err)
	}
	t := &Tree{}
	if err := Decode(data, t); err != nil {
		return nil, fmt.Errorf("decode tree %q: %w", ref.Key, err)
	}
	if want != nil && t.Totals != *want {
		err := &FormatError{Path: "totals", Offset: -1, Reason: fmt.Sprintf("%v, its parent says %v", t.Totals, *want)}
		return nil, fmt.Errorf("decode tree %q: %w", ref.Key, err)
	}
	return t, nil
}

// loadEntries reads the folders among entries at once; the others, and nil
// ones, have nil at their index. The first error, by index, wins.
func loadEntries(ctx context.Context, ld Loader, entries []*TreeEntry) ([]*Tree, error) {
	trees := make([]*Tree, len(entries))
	errs := make([]error, len(entries))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxLoads)
	for i, e := range entries {
		if e == nil || e.Kind != NodeTree {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			trees[i], errs[i] = loadTree(ctx, ld, e.Ref, &e.Totals)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return trees, nil
}
