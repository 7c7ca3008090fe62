package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestApplyConflicts(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("sales/dt=1/region=1", 1), put("eu/t/k=1", 2), put("customers", 3))
	noTable := put("new/k=1", 9)
	noTable.Table = nil
	tests := []struct {
		name    string
		changes []Change
		path    string
		reason  string
	}{
		{"a partition where a folder is", []Change{put("eu", 9)}, "eu", "is a folder, not a partition"},
		{"a partition where a table is", []Change{put("sales", 9)}, "sales", "is a folder, not a partition"},
		{"a shorter key", []Change{{Path: []string{"sales", "dt=1"}, Leaf: leaf(9)}}, "sales/dt=1", "is a folder, not a partition"},
		{"a folder taken away", []Change{take("eu/t")}, "eu/t", "is a folder, not a partition"},
		{"a folder where a partition is", []Change{put("customers/k=1", 9)}, "customers", "is a partition, nothing can lie below it"},
		{"both at once", []Change{put("new", 9), put("new/k=1", 9)}, "new", "is a folder, not a partition"},
		{"a table in a table", []Change{put("sales/eu/k=1", 9)}, "sales", "is a table, no other can lie in it"},
		{"a table around a table", []Change{put("eu/k=1", 9)}, "eu", "is a table, no other can lie in it"},
		{"twice", []Change{put("new/k=1", 9), take("new/k=1")}, "new/k=1", "changed twice at once"},
		{"a table nobody described", []Change{noTable}, "new", "is a table without keys and columns"},
		{"a key of no table", []Change{{Path: []string{"k=1"}, Leaf: leaf(9)}}, "k=1", "is a key without a table"},
		{"a folder below a key", []Change{{Path: []string{"new", "k=1", "x"}, Leaf: leaf(9), Table: put("new/k=1", 9).Table}}, "new/k=1", "is a key, only keys can lie below it"},
		{"the root", []Change{{Leaf: leaf(9)}}, "", "the root is no partition"},
	}
	for _, tt := range tests {
		_, written, _, err := Apply(t.Context(), o, root, tt.changes, o.newID)
		var e *NodeConflictError
		if !errors.As(err, &e) || e.Path != tt.path || e.Reason != tt.reason || written != nil {
			t.Errorf("%s: %v, %d nodes, want %q: %s", tt.name, err, len(written), tt.path, tt.reason)
		}
	}
	var order *KeyOrderError
	if _, _, _, err := Apply(t.Context(), o, root, []Change{put("sales/region=1/dt=1", 9)}, o.newID); !errors.As(err, &order) {
		t.Errorf("keys in another order: %v", err)
	}
}

// A node may change its kind in one step when all of the old kind goes.
func TestApplyChangesKind(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("a", 1), put("b/k=1", 2), put("c/k=1", 3))
	root, _ = o.apply(t, root,
		take("a"), put("a/k=1", 4), // a table gets keys
		take("b/k=1"), put("b", 5), // a table loses them
		take("c/k=1"), put("c/d/j=1", 6), // a table goes, a folder takes its place
	)
	want := map[string]Leaf{"a/k=1": *leaf(4), "b": *leaf(5), "c/d/j=1": *leaf(6)}
	got := o.contents(t, root)
	for path, l := range want {
		if got[path] != l {
			t.Errorf("%q is %+v, want %+v", path, got[path], l)
		}
	}
	if len(got) != len(want) {
		t.Errorf("contents %v", got)
	}
	if _, table, err := Lookup(t.Context(), o, root, []string{"c"}); err != nil || table != nil {
		t.Errorf("the folder has the old table %+v, %v", table, err)
	}
	var kinds []string
	last, _ := o.apply(t, root, take("b"), put("b/k=2", 7))
	if err := Diff(t.Context(), o, root, last, func(path []string, old, new *TreeEntry) error {
		kind := strings.Join(path, "/")
		if old != nil {
			kind += " gone"
		}
		if new != nil {
			kind += " new"
		}
		kinds = append(kinds, kind)
		return nil
	}); err != nil || strings.Join(kinds, ", ") != "b gone, b/k=2 new" {
		t.Errorf("diff %q, %v", kinds, err)
	}
}

// What others noted in a tree stays when the tree is changed.
func TestApplyKeepsExtensions(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("sales/dt=1", 1), put("sales/dt=2", 2))
	noted := annotate(t, o.bodies[root.Key])
	top := Ref{Key: "_wap/trees/noted.json", SHA256: SHA256Hex(noted)}
	o.bodies[top.Key] = noted
	next, _ := o.apply(t, &top, put("sales/dt=1", 3))
	if n, want := bytes.Count(o.bodies[next.Key], []byte("x_note")), bytes.Count(noted, []byte("x_note")); n != want {
		t.Errorf("%d notes in %s, want %d", n, o.bodies[next.Key], want)
	}
	same, written := o.apply(t, &top, put("sales/dt=1", 1))
	if *same != top || len(written) != 0 {
		t.Errorf("no change makes %v of %v", same, top)
	}
}

// A node that is missing, broken, or not what its parent says stops everything.
func TestTreeBroken(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("sales/dt=1/region=1", 1))
	var e *TreeEntry
	var err error
	if e, _, err = Lookup(t.Context(), o, root, []string{"sales"}); err != nil {
		t.Fatal(err)
	}
	intact := o.bodies[e.Key]
	check := func(name string, is func(error) bool) {
		t.Helper()
		_, _, lookup := Lookup(t.Context(), o, root, []string{"sales", "dt=1"})
		walk := Walk(t.Context(), o, root, nil, func([]string, TreeEntry, *Table) error { return nil })
		diff := Diff(t.Context(), o, nil, root, func(_ []string, _, _ *TreeEntry) error { return nil })
		_, _, _, apply := Apply(t.Context(), o, root, []Change{put("sales/dt=1/region=1", 2)}, o.newID)
		for i, err := range []error{lookup, walk, diff, apply} {
			if err == nil || !is(err) || !strings.Contains(err.Error(), e.Key) {
				t.Errorf("%s, function %d: %v", name, i, err)
			}
		}
	}
	delete(o.bodies, e.Key)
	check("missing", func(error) bool { return true })

	o.bodies[e.Key] = bytes.Replace(intact, []byte("dt=1"), []byte("dt=2"), 1)
	var sum *ChecksumError
	check("tampered", func(err error) bool { return errors.As(err, &sum) })

	var parent Tree
	if err := Decode(o.bodies[root.Key], &parent); err != nil {
		t.Fatal(err)
	}
	o.bodies[e.Key] = intact
	parent.Entries[0].Rows, parent.Totals.Rows = 99, 99
	body, err := Encode(&parent)
	if err != nil {
		t.Fatal(err)
	}
	root = &Ref{Key: "_wap/trees/liar.json", SHA256: SHA256Hex(body)}
	o.bodies[root.Key] = body
	var format *FormatError
	check("other totals", func(err error) bool { return errors.As(err, &format) && format.Path == "totals" })
}

func TestWalkBelow(t *testing.T) {
	o := newObjects()
	root, _ := o.apply(t, nil, put("sales/dt=1/region=1", 1), put("sales/dt=1/region=2", 2), put("sales/dt=2/region=1", 3), put("sales2", 4))
	tests := []struct{ path, want string }{
		{"", "sales/dt=1/region=1 sales/dt=1/region=2 sales/dt=2/region=1 sales2"},
		{"sales", "sales/dt=1/region=1 sales/dt=1/region=2 sales/dt=2/region=1"},
		{"sales/dt=1", "sales/dt=1/region=1 sales/dt=1/region=2"},
		{"sales/dt=2/region=1", "sales/dt=2/region=1"},
		{"sales2", "sales2"},
		{"sales2/k=1", ""},
		{"sal", ""},
	}
	for _, tt := range tests {
		var path, got []string
		if tt.path != "" {
			path = strings.Split(tt.path, "/")
		}
		o.loads = nil
		err := Walk(t.Context(), o, root, path, func(at []string, _ TreeEntry, table *Table) error {
			if (table == nil) != (at[0] == "sales2") {
				t.Errorf("%q has the table %v", at, table)
			}
			got = append(got, strings.Join(at, "/"))
			return nil
		})
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("below %q: %q, %v, want %q", tt.path, got, err, tt.want)
		}
		if tt.path == "sales/dt=1" && len(o.loads) != 3 {
			t.Errorf("below %q: %d loads", tt.path, len(o.loads))
		}
	}
	stop := errors.New("stop")
	calls := 0
	err := Walk(t.Context(), o, root, nil, func([]string, TreeEntry, *Table) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("an error of fn comes back as %v after %d calls", err, calls)
	}
	if err := Walk(t.Context(), o, nil, nil, nil); err != nil {
		t.Errorf("an empty warehouse: %v", err)
	}
}

// slowObjects takes one second of the bubble's clock for each load, so that
// seconds count the rounds of loads that wait for each other.
type slowObjects struct{ *objects }

func (o slowObjects) Load(ctx context.Context, ref Ref) ([]byte, error) {
	time.Sleep(time.Second)
	return o.objects.Load(ctx, ref)
}

// Nodes of one depth are loaded together: as many rounds as the tree is deep.
func TestTreeRounds(t *testing.T) {
	o := newObjects()
	var changes, again []Change
	for day := range 10 {
		for region := range 2 {
			path := fmt.Sprintf("sales/dt=%d/region=%d", day, region)
			changes = append(changes, put(path, 1))
			again = append(again, put(path, 2))
		}
	}
	a, _ := o.apply(t, nil, changes...)
	b, _ := o.apply(t, a, again...)
	ld := slowObjects{o}
	tests := []struct {
		name   string
		rounds time.Duration
		act    func() error
	}{
		{"apply", 3, func() error { _, _, _, err := Apply(t.Context(), ld, b, changes, o.newID); return err }},
		{"diff", 3, func() error {
			return Diff(t.Context(), ld, a, b, func(_ []string, _, _ *TreeEntry) error { return nil })
		}},
		{"walk", 3, func() error {
			return Walk(t.Context(), ld, b, nil, func([]string, TreeEntry, *Table) error { return nil })
		}},
		{"lookup", 3, func() error {
			_, _, err := Lookup(t.Context(), ld, b, []string{"sales", "dt=1", "region=1"})
			return err
		}},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			if err := tt.act(); err != nil {
				t.Error(err)
			}
			if rounds := time.Since(start); rounds != tt.rounds*time.Second {
				t.Errorf("%s takes %d rounds, want %d", tt.name, rounds/time.Second, tt.rounds)
			}
		})
	}
}
