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

// folder is a node to read.
type folder struct {
	ref    *Ref    // nil: there is none
	totals *Totals // of the entry that names it; nil where nothing does
}

// folderOf is the folder an entry names; none for a manifest, and for nil.
func folderOf(e *TreeEntry) folder {
	if e == nil || e.Kind != NodeTree {
		return folder{}
	}
	return folder{&e.Ref, &e.Totals}
}

func (f folder) load(ctx context.Context, ld Loader) (*Tree, error) {
	data, err := ld.Load(ctx, *f.ref)
	if err != nil {
		return nil, fmt.Errorf("load tree %q: %w", f.ref.Key, err)
	}
	t := &Tree{}
	if err := Decode(data, t); err != nil {
		return nil, fmt.Errorf("decode tree %q: %w", f.ref.Key, err)
	}
	if f.totals != nil && t.Totals != *f.totals {
		err := invalid("totals", "%+v, its parent says %+v", t.Totals, *f.totals)
		return nil, fmt.Errorf("decode tree %q: %w", f.ref.Key, err)
	}
	return t, nil
}

// loadFolders reads all folders at once; where there is none the tree is nil.
// The first error, by index, wins.
func loadFolders(ctx context.Context, ld Loader, folders []folder) ([]*Tree, error) {
	trees := make([]*Tree, len(folders))
	errs := make([]error, len(folders))
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxLoads)
	for i, f := range folders {
		if f.ref == nil {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			trees[i], errs[i] = f.load(ctx, ld)
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
