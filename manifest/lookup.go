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
	p, err := locate(ctx, ld, root, path)
	if err != nil || p.entry == nil || p.table != nil || p.tree != nil || p.entry.Kind == NodeManifest {
		return p.entry, p.table, err
	}
	if p.tree, err = folderOf(p.entry).load(ctx, ld); err != nil {
		return nil, nil, err
	}
	return p.entry, p.tree.Table, nil
}

// place is what lies at a path.
type place struct {
	entry *TreeEntry // nil where there is nothing
	table *Table     // of the folders that were loaded
	tree  *Tree      // the entry's folder, where it was loaded
}

// locate loads the folders above path, and that of an empty path.
func locate(ctx context.Context, ld Loader, root *Ref, path []string) (place, error) {
	if root == nil {
		return place{}, nil
	}
	tree, err := folder{ref: root}.load(ctx, ld)
	if err != nil {
		return place{}, err
	}
	p := place{entry: &TreeEntry{Kind: NodeTree, Ref: *root, Totals: tree.Totals}, table: tree.Table, tree: tree}
	for i, name := range path {
		p.entry, p.tree = p.tree.entry(name), nil
		last := i == len(path)-1
		if p.entry == nil || last {
			break
		}
		if p.entry.Kind == NodeManifest {
			p.entry = nil
			break
		}
		if p.tree, err = folderOf(p.entry).load(ctx, ld); err != nil {
			return place{}, err
		}
		if p.tree.Table != nil {
			p.table = p.tree.Table
		}
	}
	return p, nil
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
	p, err := locate(ctx, ld, root, path)
	if err != nil || p.entry == nil {
		return err
	}
	if p.entry.Kind == NodeManifest {
		return fn(path, *p.entry, p.table)
	}
	if p.tree == nil {
		if p.tree, err = folderOf(p.entry).load(ctx, ld); err != nil {
			return err
		}
	}
	return walkTree(ctx, ld, p.tree, walked{path: path, table: p.table, fn: fn})
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
	folders := make([]folder, len(tree.Entries))
	for i := range tree.Entries {
		folders[i] = folderOf(&tree.Entries[i])
	}
	below, err := loadFolders(ctx, ld, folders)
	if err != nil {
		return err
	}
	parent := w.path
	for i, e := range tree.Entries {
		w.path = append(slices.Clone(parent), e.Name)
		if below[i] == nil {
			err = w.fn(w.path, e, w.table)
		} else {
			err = walkTree(ctx, ld, below[i], w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
