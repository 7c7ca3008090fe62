package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Change replaces what a tree holds for one partition.
type Change struct {
	Path []string // Partition.Components
	// Leaf is the partition's new manifest; nil takes the partition away.
	Leaf *Leaf
	// Table makes the new table of the old one, which is nil before the table's
	// first publish; see MergeTable. It is called once, with Leaf only, and not
	// for an unpartitioned table: its manifest has the table.
	Table func(old *Table) (*Table, error)
}

// Leaf is a manifest and what it holds.
type Leaf struct {
	Manifest Ref
	Totals   Totals
}

// Written is a new object: nothing of a tree is changed in place.
type Written struct {
	Key  string
	Body []byte
}

// NodeConflictError says that a node cannot be what a change wants it to be.
type NodeConflictError struct {
	Path   string
	Reason string
}

func (e *NodeConflictError) Error() string {
	return fmt.Sprintf("change %q: %s", e.Path, e.Reason)
}

// Apply returns the tree of root, which is nil while nothing was published,
// with changes made to it, in whatever order they are given: its root (nil
// where nothing is left), the new nodes to be written before anything names
// them, children first, and its totals. newID gives the ULIDs of their keys.
//
// Only nodes on the way to a change are loaded, those of one depth at once, and
// only those that differ are new: without a difference the root is the same.
// Folders that become empty go. Errors: *NodeConflictError, that a path is
// given twice, those of Table and of ld.
func Apply(ctx context.Context, ld Loader, root *Ref, changes []Change, newID func() string) (newRoot *Ref, written []Written, totals Totals, err error) {
	top := &node{}
	if root != nil {
		top.entry = &TreeEntry{Kind: NodeTree, Ref: *root}
		if top.tree, err = (folder{ref: root}).load(ctx, ld); err != nil {
			return nil, nil, Totals{}, err
		}
		top.entry.Totals = top.tree.Totals
	}
	for _, c := range changes {
		if err := top.plan(c); err != nil {
			return nil, nil, Totals{}, err
		}
	}
	if err := top.load(ctx, ld); err != nil {
		return nil, nil, Totals{}, err
	}
	b := &builder{newID: newID}
	entry, err := b.node(top)
	if err != nil || entry == nil {
		return nil, nil, Totals{}, err
	}
	return &entry.Ref, b.written, entry.Totals, nil
}

// node is a place of the tree that a change touches or lies below.
type node struct {
	path     []string
	entry    *TreeEntry // as it was; nil where nothing was
	tree     *Tree      // the entry's folder, once loaded
	children map[string]*node
	change   *Change   // of this very place
	tables   []*Change // whose table this node is
}

func (n *node) name() string { return n.path[len(n.path)-1] }

// plan puts c into its place below n, which is the root.
func (n *node) plan(c Change) error {
	if len(c.Path) == 0 {
		return &NodeConflictError{Reason: "the root is no partition"}
	}
	depth := slices.IndexFunc(c.Path, isKeyComponent)
	if depth == 0 {
		return &NodeConflictError{Path: c.Path[0], Reason: "is a key without a table"}
	}
	for i, name := range c.Path {
		if n.children == nil {
			n.children = map[string]*node{}
		}
		child := n.children[name]
		if child == nil {
			child = &node{path: c.Path[:i+1]}
			n.children[name] = child
		}
		n = child
		if i+1 == depth && c.Leaf != nil {
			n.tables = append(n.tables, &c)
		}
	}
	if n.change != nil {
		return &NodeConflictError{Path: strings.Join(c.Path, "/"), Reason: "changed twice at once"}
	}
	n.change = &c
	return nil
}

func isKeyComponent(name string) bool { return strings.Contains(name, "=") }

// load reads the folders that changes lie below, depth by depth.
func (n *node) load(ctx context.Context, ld Loader) error {
	for level := []*node{n}; len(level) > 0; {
		var below []*node
		for _, parent := range level {
			below = append(below, parent.find()...)
		}
		folders := make([]folder, len(below))
		for i, child := range below {
			if len(child.children) > 0 {
				folders[i] = folderOf(child.entry)
			}
		}
		trees, err := loadFolders(ctx, ld, folders)
		if err != nil {
			return err
		}
		for i, child := range below {
			child.tree = trees[i]
		}
		level = below
	}
	return nil
}

// find sets the entries of n's children and returns these sorted by name.
func (n *node) find() []*node {
	var children []*node
	for _, child := range n.children {
		if n.tree != nil {
			child.entry = n.tree.entry(child.name())
		}
		children = append(children, child)
	}
	slices.SortFunc(children, func(a, b *node) int { return strings.Compare(a.name(), b.name()) })
	return children
}
