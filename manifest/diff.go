package manifest

import (
	"context"
	"slices"
	"strings"
)

// Diff calls fn for every path whose manifest is another one in b than in a:
// old is nil where it is new, new where it is gone. Either root may be nil.
// Paths come component by component in the order of names. What has one
// reference in both trees is not read; the folders of one folder, on both
// sides, are loaded at once. An error of fn ends the walk and is returned.
func Diff(ctx context.Context, ld Loader, a, b *Ref, fn func(path []string, old, new *TreeEntry) error) error {
	if a == nil && b == nil || a != nil && b != nil && *a == *b {
		return nil
	}
	roots, err := loadFolders(ctx, ld, []folder{{ref: a}, {ref: b}})
	if err != nil {
		return err
	}
	d := differ{ld: ld, fn: fn}
	return d.trees(ctx, nil, roots)
}

type differ struct {
	ld Loader
	fn func(path []string, old, new *TreeEntry) error
}

// trees compares two folders at path, the old and the new; either may be nil.
func (d differ) trees(ctx context.Context, path []string, sides []*Tree) error {
	var entries [2][]TreeEntry
	for i, tree := range sides {
		if tree != nil {
			entries[i] = tree.Entries
		}
	}
	var pairs []*TreeEntry // old and new by turns
	var folders []folder
	for _, p := range pairEntries(entries[0], entries[1]) {
		if p[0] != nil && p[1] != nil && p[0].Kind == p[1].Kind && p[0].Ref == p[1].Ref {
			continue
		}
		pairs = append(pairs, p[0], p[1])
		folders = append(folders, folderOf(p[0]), folderOf(p[1]))
	}
	trees, err := loadFolders(ctx, d.ld, folders)
	if err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		if err := d.pair(ctx, path, pairs[i:i+2], trees[i:i+2]); err != nil {
			return err
		}
	}
	return nil
}

// pair compares what two folders hold under one name: entries has both, trees
// what of them are folders.
func (d differ) pair(ctx context.Context, path []string, entries []*TreeEntry, trees []*Tree) error {
	var manifests [2]*TreeEntry
	name := ""
	for side, e := range entries {
		if e == nil {
			continue
		}
		name = e.Name
		if trees[side] == nil {
			manifests[side] = e
		}
	}
	at := append(slices.Clone(path), name)
	if manifests[0] != nil || manifests[1] != nil {
		if err := d.fn(at, manifests[0], manifests[1]); err != nil {
			return err
		}
	}
	if trees[0] == nil && trees[1] == nil {
		return nil
	}
	return d.trees(ctx, at, trees)
}

// pairEntries joins two sorted lists by name.
func pairEntries(a, b []TreeEntry) [][2]*TreeEntry {
	var pairs [][2]*TreeEntry
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].Name, b[0].Name)
		}
		var p [2]*TreeEntry
		if order <= 0 {
			p[0], a = &a[0], a[1:]
		}
		if order >= 0 {
			p[1], b = &b[0], b[1:]
		}
		pairs = append(pairs, p)
	}
	return pairs
}
