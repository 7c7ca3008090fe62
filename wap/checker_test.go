package wap

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// world is what a warehouse's raw objects say: the oracle of every test. It
// knows nothing of the code that wrote them.
type world struct {
	pointer   manifest.Pointer
	chain     []*manifest.Snapshot // by sequence
	records   map[string]*manifest.Run
	published map[string][]int64 // run → generations, in the order of the chain
	live      map[string]*manifest.Manifest
}

// examine reads every object and asserts what must hold in every state: a
// linear chain, each generation at most once, every reference there with its
// bytes, records that say no more than the history.
func examine(t *testing.T, st store.Store) *world {
	t.Helper()
	w := &world{records: map[string]*manifest.Run{}, published: map[string][]int64{}, live: map[string]*manifest.Manifest{}}
	read(t, st, manifest.PointerKey, &w.pointer)
	w.chain = readChain(t, st, &w.pointer)
	for i := 1; i < len(w.chain); i++ {
		examineStep(t, st, w.chain[i-1], w.chain[i])
	}
	for _, s := range w.chain {
		for _, r := range s.Runs {
			if r.Effect == manifest.EffectPublished {
				w.published[r.Run] = append(w.published[r.Run], r.Generation)
			}
		}
	}
	for run, gens := range w.published {
		for i := 1; i < len(gens); i++ {
			if gens[i] <= gens[i-1] {
				t.Fatalf("run %q was published as generations %v", run, gens)
			}
		}
	}
	w.readTree(t, st, w.chain[len(w.chain)-1].Tree, nil)
	w.readRecords(t, st)
	return w
}

// readChain reads the history that ends in a pointer, by sequence.
func readChain(t *testing.T, st store.Store, ptr *manifest.Pointer) []*manifest.Snapshot {
	t.Helper()
	var chain []*manifest.Snapshot
	ref := &ptr.Snapshot
	for seq := ptr.Sequence; ref != nil; seq-- {
		snap := new(manifest.Snapshot)
		readRef(t, st, *ref, snap)
		if snap.Sequence != seq || snap.Warehouse != ptr.Warehouse {
			t.Fatalf("%s has sequence %d, want %d", ref.Key, snap.Sequence, seq)
		}
		chain = append(chain, snap)
		ref = snap.Parent
	}
	if len(chain) != int(ptr.Sequence)+1 {
		t.Fatalf("the chain has %d entries at sequence %d", len(chain), ptr.Sequence)
	}
	slices.Reverse(chain)
	return chain
}

func (w *world) readTree(t *testing.T, st store.Store, ref *manifest.Ref, at []string) {
	t.Helper()
	if ref == nil {
		return
	}
	node := new(manifest.Tree)
	readRef(t, st, *ref, node)
	for _, e := range node.Entries {
		path := append(append([]string{}, at...), e.Name)
		if e.Kind == manifest.NodeTree {
			w.readTree(t, st, &e.Ref, path)
			continue
		}
		m := new(manifest.Manifest)
		readRef(t, st, e.Ref, m)
		if m.Partition.Path != strings.Join(path, "/") {
			t.Fatalf("%v holds the manifest of %s", path, m.Partition.Path)
		}
		for _, f := range m.Files {
			h, err := st.Head(context.Background(), f.Key)
			if err != nil {
				t.Fatalf("%s is referenced: %v", f.Key, err)
			}
			if h.Size != f.Size || h.Version.ETag != f.ETag {
				t.Fatalf("%s is not what was audited", f.Key)
			}
		}
		w.live[m.Partition.Path] = m
	}
}

func (w *world) readRecords(t *testing.T, st store.Store) {
	t.Helper()
	for e, err := range st.List(context.Background(), manifest.RunsPrefix) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(e.Key, "/run.json") {
			continue
		}
		r := new(manifest.Run)
		read(t, st, e.Key, r)
		w.records[r.Run] = r
		if r.State == manifest.StatePublished && !w.has(r.Run, r.Generation) {
			t.Fatalf("the record of %q says published, the history does not", r.Run)
		}
		over := r.State == manifest.StateAborted || r.State == manifest.StateCollected
		if over && w.has(r.Run, r.Generation) {
			t.Fatalf("run %q is %s and published", r.Run, r.State)
		}
	}
}

// has reports whether the chain published a generation of a run.
func (w *world) has(run string, generation int64) bool {
	for _, g := range w.published[run] {
		if g == generation {
			return true
		}
	}
	return false
}

func read[T any](t *testing.T, st store.Store, key string, v *T) {
	t.Helper()
	if _, err := fetched(st, key, v); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
}

func readRef[T any](t *testing.T, st store.Store, ref manifest.Ref, v *T) {
	t.Helper()
	sha, err := fetched(st, ref.Key, v)
	if err != nil {
		t.Fatalf("%s is referenced: %v", ref.Key, err)
	}
	if sha != ref.SHA256 {
		t.Fatalf("%s has other bytes than its reference", ref.Key)
	}
}
