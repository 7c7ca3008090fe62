package manifest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// objects is a Loader that counts.
type objects struct {
	mu     sync.Mutex
	bodies map[string][]byte
	loads  []string
	ids    int
}

func newObjects() *objects { return &objects{bodies: map[string][]byte{}} }

func (o *objects) Load(_ context.Context, ref Ref) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.loads = append(o.loads, ref.Key)
	body, ok := o.bodies[ref.Key]
	if !ok {
		return nil, fmt.Errorf("no object %q", ref.Key)
	}
	return body, ref.Check(body)
}

func (o *objects) newID() string {
	o.ids++
	return fmt.Sprintf("ID%06d", o.ids)
}

// apply applies changes and stores what is new.
func (o *objects) apply(t *testing.T, root *Ref, changes ...Change) (*Ref, []Written) {
	t.Helper()
	o.loads = nil
	root, written, totals, err := Apply(t.Context(), o, root, changes, o.newID)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range written {
		if o.bodies[w.Key] != nil {
			t.Fatalf("object %q is written twice", w.Key)
		}
		o.bodies[w.Key] = w.Body
	}
	var sum Totals
	if err := Walk(t.Context(), o, root, nil, func(_ []string, e TreeEntry, _ *Table) error {
		sum = sum.Add(e.Totals)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if sum != totals {
		t.Fatalf("totals %+v of manifests with %+v", totals, sum)
	}
	return root, written
}

// leaf is a made-up manifest that n tells from others.
func leaf(n int) *Leaf {
	return &Leaf{
		Manifest: Ref{Key: fmt.Sprintf("_wap/m%d.json", n), SHA256: SHA256Hex(fmt.Append(nil, n))},
		Totals:   Totals{Files: 1, Rows: int64(n), Bytes: int64(10 * n)},
	}
}

func put(path string, n int) Change {
	p, err := ParsePartition(path)
	if err != nil {
		panic(err)
	}
	return Change{Path: p.Components(), Leaf: leaf(n), Table: func(old *Table) (*Table, error) {
		return MergeTable(old, p, []Schema{{Columns: []Column{column("int64", "id")}}})
	}}
}

func take(path string) Change { return Change{Path: strings.Split(path, "/")} }

// contents are the manifests of a tree, by path.
func (o *objects) contents(t *testing.T, root *Ref) map[string]Leaf {
	t.Helper()
	got := map[string]Leaf{}
	var last []string
	err := Walk(t.Context(), o, root, nil, func(path []string, e TreeEntry, table *Table) error {
		if slices.Compare(last, path) >= 0 {
			t.Errorf("%q stands after %q", path, last)
		}
		last = path
		keys := slices.IndexFunc(path, isKeyComponent)
		if keys < 0 != (table == nil) || table != nil && len(table.Keys) != len(path)-keys {
			t.Errorf("%q has the table %+v", path, table)
		}
		got[strings.Join(path, "/")] = Leaf{Manifest: e.Ref, Totals: e.Totals}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A tree under random changes holds what a map holds, and Diff says how two
// differ.
func TestTreeModel(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := newObjects()
		model := map[string]Leaf{}
		var root *Ref
		for step := range 40 {
			before, old := maps.Clone(model), root
			changes := randomChanges(r, step, model)
			root, _ = o.apply(t, root, changes...)
			if got := o.contents(t, root); !maps.Equal(got, model) {
				t.Fatalf("seed %d, step %d: %v, want %v", seed, step, got, model)
			}
			if (root == nil) != (len(model) == 0) {
				t.Fatalf("seed %d, step %d: root %v of %d manifests", seed, step, root, len(model))
			}
			if unchanged := maps.Equal(before, model); unchanged != sameRoot(old, root) {
				t.Fatalf("seed %d, step %d: root %v after %v, unchanged: %t", seed, step, root, old, unchanged)
			}
			o.checkDiff(t, old, root, before, model)
			o.checkLookup(t, root, model)
		}
	}
}

func sameRoot(a, b *Ref) bool { return a == b || a != nil && b != nil && *a == *b }

// randomChanges makes up to 6 changes and makes them to model.
func randomChanges(r *rand.Rand, step int, model map[string]Leaf) []Change {
	paths := map[string]bool{}
	for range 1 + r.IntN(6) {
		switch r.IntN(4) {
		case 0:
			paths[fmt.Sprintf("plain%d", r.IntN(3))] = true
		case 1:
			paths[fmt.Sprintf("eu/deep/t%d/k=%d", r.IntN(2), r.IntN(4))] = true
		default:
			paths[fmt.Sprintf("sales/dt=%d/region=%d", r.IntN(5), r.IntN(3))] = true
		}
	}
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		switch old, there := model[path]; {
		case r.IntN(3) == 0:
			changes = append(changes, take(path))
			delete(model, path)
		case there && r.IntN(4) == 0: // the same again
			c := put(path, 0)
			c.Leaf = &old
			changes = append(changes, c)
		default:
			n := 1 + step*1000 + len(changes)
			changes = append(changes, put(path, n))
			model[path] = *leaf(n)
		}
	}
	r.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	return changes
}

func (o *objects) checkDiff(t *testing.T, a, b *Ref, before, after map[string]Leaf) {
	t.Helper()
	want := map[string][2]Leaf{}
	for path, l := range before {
		if after[path] != l {
			want[path] = [2]Leaf{l, after[path]}
		}
	}
	for path, l := range after {
		if _, there := before[path]; !there {
			want[path] = [2]Leaf{{}, l}
		}
	}
	got := map[string][2]Leaf{}
	var last []string
	err := Diff(t.Context(), o, a, b, func(path []string, old, new *TreeEntry) error {
		if slices.Compare(last, path) >= 0 {
			t.Errorf("%q stands after %q", path, last)
		}
		last = path
		var pair [2]Leaf
		for i, e := range []*TreeEntry{old, new} {
			if e != nil {
				pair[i] = Leaf{Manifest: e.Ref, Totals: e.Totals}
			}
		}
		got[strings.Join(path, "/")] = pair
		return nil
	})
	if err != nil || !maps.Equal(got, want) {
		t.Fatalf("diff %v, %v, want %v", got, err, want)
	}
}

func (o *objects) checkLookup(t *testing.T, root *Ref, model map[string]Leaf) {
	t.Helper()
	folders := map[string]Totals{}
	for path, l := range model {
		parts := strings.Split(path, "/")
		for i := range parts {
			folder := strings.Join(parts[:i], "/")
			folders[folder] = folders[folder].Add(l.Totals)
		}
		e, _, err := Lookup(t.Context(), o, root, parts)
		if err != nil || e == nil || e.Kind != NodeManifest || e.Ref != l.Manifest || e.Totals != l.Totals {
			t.Fatalf("%q is %+v, %v, want %+v", path, e, err, l)
		}
		for _, absent := range [][]string{append(slices.Clone(parts), "x"), append(slices.Clone(parts[:len(parts)-1]), "k=no")} {
			if e, _, err := Lookup(t.Context(), o, root, absent); e != nil || err != nil {
				t.Fatalf("%q is %+v, %v", absent, e, err)
			}
		}
	}
	for path, totals := range folders {
		var parts []string
		if path != "" {
			parts = strings.Split(path, "/")
		}
		e, _, err := Lookup(t.Context(), o, root, parts)
		if err != nil || e == nil || e.Kind != NodeTree || e.Totals != totals {
			t.Fatalf("folder %q is %+v, %v, want %+v", path, e, err, totals)
		}
	}
}

// A change loads the nodes on its way and writes these, and no others.
func TestApplyTouches(t *testing.T) {
	o := newObjects()
	var changes []Change
	for day := range 30 {
		for region := range 4 {
			changes = append(changes, put(fmt.Sprintf("sales/dt=%02d/region=%d", day, region), day))
		}
		changes = append(changes, put(fmt.Sprintf("eu/t%02d/k=1", day), day))
	}
	root, written := o.apply(t, nil, changes...)
	if want := 1 + 1 + 30 + 1 + 30; len(written) != want {
		t.Errorf("the first publish writes %d nodes, want %d", len(written), want)
	}
	if last := written[len(written)-1]; last.Key != root.Key {
		t.Errorf("the root %q is not written last but %q", root.Key, last.Key)
	}
	tests := []struct {
		name           string
		changes        []Change
		loads, written int
	}{
		{"one partition", []Change{put("sales/dt=07/region=2", 100)}, 3, 3},
		{"the same again", []Change{put("sales/dt=07/region=2", 100)}, 3, 0},
		{"two of one folder", []Change{put("sales/dt=07/region=1", 101), put("sales/dt=07/region=3", 101)}, 3, 3},
		{"two of two folders", []Change{put("sales/dt=07/region=1", 102), put("sales/dt=08/region=3", 102)}, 4, 4},
		{"one changed, one not", []Change{put("sales/dt=07/region=1", 103), put("sales/dt=08/region=3", 102)}, 4, 3},
		{"a new folder", []Change{put("sales/dt=99/region=1", 104)}, 2, 3},
		{"an unpartitioned table", []Change{put("customers", 105)}, 1, 1},
		{"the last of a folder", []Change{take("sales/dt=99/region=1")}, 3, 2},
		{"the last of a table", []Change{take("eu/t07/k=1")}, 3, 2},
		{"nothing there", []Change{take("us/t07/k=1"), take("sales/dt=50/region=1"), take("customers/k=1")}, 2, 0},
		{"nothing", nil, 1, 0},
	}
	for _, tt := range tests {
		o.loads = nil
		next, written, totals, err := Apply(t.Context(), o, root, tt.changes, o.newID)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.loads) != tt.loads || len(written) != tt.written {
			t.Errorf("%s: %d loads, %d nodes written, want %d and %d", tt.name, len(o.loads), len(written), tt.loads, tt.written)
		}
		if (tt.written == 0) != (*next == *root) {
			t.Errorf("%s: root %v after %v", tt.name, next, root)
		}
		for _, w := range written {
			o.bodies[w.Key] = w.Body
		}
		if tree, err := (folder{next, &totals}).load(t.Context(), o); err != nil || tree.Totals != totals {
			t.Errorf("%s: %v", tt.name, err)
		}
		root = next
	}
}

// What two trees share is not read.
func TestDiffTouches(t *testing.T) {
	o := newObjects()
	var changes []Change
	for day := range 30 {
		changes = append(changes, put(fmt.Sprintf("sales/dt=%02d/region=1", day), day), put(fmt.Sprintf("t%02d/k=1", day), day))
	}
	a, _ := o.apply(t, nil, changes...)
	b, _ := o.apply(t, a, put("sales/dt=07/region=1", 100))
	o.loads = nil
	var paths []string
	if err := Diff(t.Context(), o, a, b, func(path []string, _, _ *TreeEntry) error {
		paths = append(paths, strings.Join(path, "/"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(paths, []string{"sales/dt=07/region=1"}) || len(o.loads) != 6 {
		t.Errorf("paths %q, %d loads", paths, len(o.loads))
	}
	o.loads = nil
	stop := errors.New("stop")
	if err := Diff(t.Context(), o, nil, b, func([]string, *TreeEntry, *TreeEntry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of fn comes back as %v", err)
	}
	o.loads = nil
	if err := Diff(t.Context(), o, b, b, nil); err != nil || len(o.loads) != 0 {
		t.Errorf("a tree with itself: %v, %d loads", err, len(o.loads))
	}
}

func TestLookupTable(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("eu/sales/dt=1/region=1", 1), put("customers", 2))
	tests := []struct {
		path  string
		keys  []string
		kind  NodeKind
		loads int
	}{
		{"eu", nil, NodeTree, 2},
		{"eu/sales", []string{"dt", "region"}, NodeTree, 3},
		{"eu/sales/dt=1", []string{"dt", "region"}, NodeTree, 3},
		{"eu/sales/dt=1/region=1", []string{"dt", "region"}, NodeManifest, 4},
		{"eu/sales/dt=2/region=1", []string{"dt", "region"}, "", 3},
		{"customers", nil, NodeManifest, 1},
		{"customers/k=1", nil, "", 1},
		{"none/at/all", nil, "", 1},
	}
	for _, tt := range tests {
		o.loads = nil
		e, table, err := Lookup(t.Context(), o, root, strings.Split(tt.path, "/"))
		if err != nil {
			t.Fatal(err)
		}
		var kind NodeKind
		if e != nil {
			kind = e.Kind
		}
		var keys []string
		if table != nil {
			for _, k := range table.Keys {
				keys = append(keys, k.Name)
			}
		}
		if kind != tt.kind || !reflect.DeepEqual(keys, tt.keys) || len(o.loads) != tt.loads {
			t.Errorf("%q: %q with keys %q after %d loads, want %q, %q, %d", tt.path, kind, keys, len(o.loads), tt.kind, tt.keys, tt.loads)
		}
	}
	if e, table, err := Lookup(t.Context(), o, nil, []string{"x"}); e != nil || table != nil || err != nil {
		t.Errorf("in an empty warehouse: %v, %v, %v", e, table, err)
	}
}
