package manifest

import (
	"context"
	"slices"
	"strings"
)

// Lookup finds what lies at path in the tree of root, which is nil while
// nothing was published. The entry is a folder or a manifest, and nil where
// there is nothing; an empty path is the root folder, whose entry has no name.
//
// The table is the one that path belongs to, or is: it comes from the folder of
// the table and is nil above tables, where there is none, and for an
// unpartitioned table, whose manifest has it. One node is loaded for each
// component, and one more where path is a folder that may be a table.
func Lookup(ctx context.Context, ld Loader, root *Ref, path []string) (*TreeEntry, *Table, error) {
	if root == nil {
		return nil, nil, nil
	}
	node, err := loadTree(ctx, ld, *root, nil)
	if err != nil {
		return nil, nil, err
	}
	entry := &TreeEntry{Kind: NodeTree, Ref: *root, Totals: node.Totals}
	table := node.Table
	for i, name := range path {
		entry = node.entry(name)
		if entry == nil {
			return nil, table, nil
		}
		last := i == len(path)-1
		if entry.Kind == NodeManifest {
			if !last {
				return nil, table, nil
			}
			return entry, table, nil
		}
		if last && table != nil {
			return entry, table, nil
		}
		if node, err = loadTree(ctx, ld, entry.Ref, &entry.Totals); err != nil {
			return nil, nil, err
		}
		if node.Table != nil {
			table = node.Table
		}
	}
	return entry, table, nil
}

// entry returns the entry of a name, nil where there is none.
func (t *Tree) entry(name string) *TreeEntry {
	i, ok := slices.BinarySearchFunc(t.Entries, name, func(e TreeEntry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !ok {
		return nil
	}
	e := t.Entries[i]
	return &e
}

// Walk calls fn for every manifest at or below path, component by component in
// the order of names. The table is as in Lookup. Nothing at path is no error;
// an error of fn ends the walk and is returned. The folders of one folder are
// loaded at once.
func Walk(ctx context.Context, ld Loader, root *Ref, path []string, fn func(path []string, e TreeEntry, t *Table) error) error {
	entry, table, err := Lookup(ctx, ld, root, path)
	if err != nil || entry == nil {
		return err
	}
	if entry.Kind == NodeManifest {
		return fn(path, *entry, table)
	}
	tree, err := loadTree(ctx, ld, entry.Ref, &entry.Totals)
	if err != nil {
		return err
	}
	return walkTree(ctx, ld, tree, walked{path: path, table: table, fn: fn})
}

// walked is where a walk is.
type walked struct {
	path  []string
	table *Table
	fn    func(path []string, e TreeEntry, t *Table) error
}

func walkTree(ctx context.Context, ld Loader, tree *Tree, w walked) error {
	if tree.Table != nil {
		w.table = tree.Table
	}
	entries := make([]*TreeEntry, len(tree.Entries))
	for i := range tree.Entries {
		entries[i] = &tree.Entries[i]
	}
	below, err := loadEntries(ctx, ld, entries)
	if err != nil {
		return err
	}
	parent := w.path
	for i, e := range entries {
		w.path = append(slices.Clone(parent), e.Name)
		if below[i] == nil {
			err = w.fn(w.path, *e, w.table)
		} else {
			err = walkTree(ctx, ld, below[i], w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
