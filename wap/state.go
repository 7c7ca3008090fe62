package wap

import (
	"context"
	"errors"
	"sort"
	"strings"
	"sync"

	"github.com/wap-cli/wap/manifest"
)

// state is one snapshot with what it reaches. It loads every tree node once.
type state struct {
	w    *Warehouse
	base manifest.Base
	snap *manifest.Snapshot

	lock  sync.Mutex
	nodes map[string]*node
}

// node is an object that was asked for, and once ready what came of it.
type node struct {
	once sync.Once
	body []byte
	err  error
}

// Load implements manifest.Loader.
func (s *state) Load(ctx context.Context, ref manifest.Ref) ([]byte, error) {
	s.lock.Lock()
	n := s.nodes[ref.Key]
	if n == nil {
		n = new(node)
		s.nodes[ref.Key] = n
	}
	s.lock.Unlock()
	n.once.Do(func() { n.body, n.err = s.w.Load(ctx, ref) })
	return n.body, n.err
}

// at reads a snapshot.
func (w *Warehouse) at(ctx context.Context, base manifest.Base) (*state, error) {
	snap, err := load[manifest.Snapshot](ctx, w, base.Snapshot)
	if err != nil {
		return nil, err
	}
	if snap.Sequence != base.Sequence || snap.Warehouse != w.id {
		return nil, failf(KindStoreBroken, "%s is sequence %d of warehouse %s, not %d of %s",
			base.Snapshot.Key, snap.Sequence, snap.Warehouse, base.Sequence, w.id)
	}
	return &state{w: w, base: base, snap: snap, nodes: map[string]*node{}}, nil
}

// lookup finds what stands under a path, or nil.
func (s *state) lookup(ctx context.Context, path []string) (*manifest.TreeEntry, *manifest.Table, error) {
	if s.snap.Tree == nil {
		return nil, nil, nil
	}
	e, table, err := manifest.Lookup(ctx, s, s.snap.Tree, path)
	return e, table, treeFault(err)
}

// manifestRef names the manifest of a partition, or nil.
func (s *state) manifestRef(ctx context.Context, path []string) (*manifest.Ref, error) {
	e, _, err := s.lookup(ctx, path)
	if err != nil || e == nil || e.Kind != manifest.NodeManifest {
		return nil, err
	}
	return &e.Ref, nil
}

// manifest reads the manifest of a partition, or nil.
func (s *state) manifest(ctx context.Context, path []string) (*manifest.Manifest, error) {
	ref, err := s.manifestRef(ctx, path)
	if err != nil || ref == nil {
		return nil, err
	}
	return load[manifest.Manifest](ctx, s.w, *ref)
}

// walk calls fn for every partition at or below a path, sorted.
func (s *state) walk(ctx context.Context, path []string, fn func(manifest.Partition, manifest.TreeEntry) error) error {
	return treeFault(manifest.Walk(ctx, s, s.snap.Tree, path, func(at []string, e manifest.TreeEntry, _ *manifest.Table) error {
		p, err := manifest.ParsePartition(strings.Join(at, "/"))
		if err != nil {
			return failf(KindStoreBroken, "the tree of sequence %d holds a bad path", s.base.Sequence).because(err)
		}
		return fn(p, e)
	}))
}

// walkScope calls fn for every partition in a run's scope, sorted within its
// table.
func (s *state) walkScope(ctx context.Context, rec *record, fn func(manifest.Partition, manifest.TreeEntry) error) error {
	scope, err := manifest.ParseScope(rec.Scope)
	if err != nil {
		return failf(KindStoreBroken, "scope of %s", rec.names()).because(err)
	}
	for _, table := range scope.Tables() {
		err := s.walk(ctx, pathComponents(table), func(p manifest.Partition, e manifest.TreeEntry) error {
			if !scope.Contains(p) {
				return nil
			}
			return fn(p, e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the state that a bare `@REF` stands for, as seen from h.
func (w *Warehouse) resolve(ctx context.Context, h *head, ref manifest.PathRef) (manifest.Base, error) {
	switch ref.Kind() {
	case manifest.RefNone:
		return h.base(), nil
	case manifest.RefSequence:
		return w.resolveSequence(ctx, h, ref.Sequence())
	case manifest.RefTag:
		snap, err := load[manifest.Snapshot](ctx, w, h.Snapshot)
		if err != nil {
			return manifest.Base{}, err
		}
		i := sort.Search(len(snap.Tags), func(i int) bool { return snap.Tags[i].Name >= ref.Ref })
		if i < len(snap.Tags) && snap.Tags[i].Name == ref.Ref {
			return manifest.Base{Sequence: snap.Tags[i].Sequence, Snapshot: snap.Tags[i].Snapshot}, nil
		}
		return manifest.Base{}, failf(KindNotFound, "there is no tag %q", ref.Ref).hint("wap log")
	}
	return w.resolveTime(ctx, h, ref)
}

// resolveSequence finds a sequence in the lineage of h.
func (w *Warehouse) resolveSequence(ctx context.Context, h *head, seq int64) (manifest.Base, error) {
	if seq > h.Sequence {
		return manifest.Base{}, failf(KindNotFound, "sequence %d is not there yet: the newest is %d", seq, h.Sequence)
	}
	after, err := w.readable(ctx, h, seq-1)
	if err != nil {
		return manifest.Base{}, err
	}
	var found manifest.Base
	_, err = w.walk(ctx, h, after, func(e entry) bool {
		if e.Sequence == seq {
			found = e.Base
		}
		return e.Sequence > seq
	})
	if err == nil && found.Snapshot.IsZero() {
		err = failf(KindNotFound, "sequence %d is below the horizon: it was collected", seq).hint("wap log shows what is readable")
	}
	return found, err
}

// resolveTime finds the newest state that is not younger than a time.
func (w *Warehouse) resolveTime(ctx context.Context, h *head, ref manifest.PathRef) (manifest.Base, error) {
	var found manifest.Base
	var bad error
	after, err := w.readable(ctx, h, -1)
	if err != nil {
		return found, err
	}
	_, err = w.walk(ctx, h, after, func(e entry) bool {
		snap, err := load[manifest.Snapshot](ctx, w, e.Snapshot)
		if err != nil {
			bad = err
			return false
		}
		if !snap.Time.After(ref.Time()) {
			found = e.Base
		}
		return found.Snapshot.IsZero()
	})
	if err := errors.Join(bad, err); err != nil {
		return found, err
	}
	if found.Snapshot.IsZero() {
		return found, failf(KindNotFound, "no readable state is as old as %s", ref.Ref).hint("wap log shows what is readable")
	}
	return found, nil
}

// reading runs fn on the newest state. A reader that meets a missing object
// reads the pointer again and starts over if it moved.
func (w *Warehouse) reading(ctx context.Context, fn func(*head) error) error {
	for {
		h, err := w.head(ctx)
		if err != nil {
			return err
		}
		err = fn(h)
		if !errors.Is(err, errGone) {
			return err
		}
		now, headErr := w.head(ctx)
		if headErr != nil {
			return headErr
		}
		if now.Sequence == h.Sequence {
			return err
		}
	}
}
