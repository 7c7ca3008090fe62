package manifest

import (
	"fmt"
	"slices"
	"strings"
)

// builder makes the new nodes of a tree.
type builder struct {
	newID   func() string
	written []Written
}

// node returns the entry of what n becomes; nil where nothing is left.
func (b *builder) node(n *node) (*TreeEntry, error) {
	entry := n.entry
	if entry != nil && entry.Kind == NodeManifest && n.change != nil && n.change.Leaf == nil {
		entry = nil // taken away, so that a folder may take its place
	}
	if len(n.children) > 0 {
		var err error
		if entry, err = b.folder(n, entry); err != nil {
			return nil, err
		}
	}
	if n.change == nil {
		return entry, nil
	}
	return leafEntry(n, entry)
}

// leafEntry makes n's own change to the entry that is there.
func leafEntry(n *node, entry *TreeEntry) (*TreeEntry, error) {
	isFolder := entry != nil && entry.Kind == NodeTree
	wasFolder := n.entry != nil && n.entry.Kind == NodeTree
	switch taken := n.change.Leaf == nil; {
	case isFolder && (wasFolder || !taken):
		return nil, n.conflict("is a folder, not a partition")
	case taken:
		return entry, nil // nothing, or the folder that has taken the place
	}
	e := TreeEntry{Name: n.name(), Kind: NodeManifest, Ref: n.change.Leaf.Manifest, Totals: n.change.Leaf.Totals}
	if entry != nil {
		e.Extensions = entry.Extensions
	}
	return &e, nil
}

func (n *node) conflict(reason string) error {
	return &NodeConflictError{Path: strings.Join(n.path, "/"), Reason: reason}
}

// folder returns the entry of n with its children's changes; entry is what is
// there now.
func (b *builder) folder(n *node, entry *TreeEntry) (*TreeEntry, error) {
	old := n.tree
	if old == nil {
		old = &Tree{}
	}
	entries, err := b.entries(n, old)
	if err != nil {
		return nil, err
	}
	if entry != nil && entry.Kind == NodeManifest {
		if len(entries) > 0 {
			return nil, n.conflict("is a partition, nothing can lie below it")
		}
		return entry, nil
	}
	if len(entries) == 0 {
		return nil, nil
	}
	tree := Tree{Format: Format, Entries: entries, Table: old.Table, Extensions: old.Extensions}
	for _, c := range n.tables {
		if c.Table == nil {
			continue
		}
		if tree.Table, err = c.Table(tree.Table); err != nil {
			return nil, fmt.Errorf("change %q: %w", strings.Join(c.Path, "/"), err)
		}
	}
	if !slices.ContainsFunc(entries, func(e TreeEntry) bool { return isKeyComponent(e.Name) }) {
		tree.Table = nil // its last partition is gone, other tables are in its place
	}
	if err := n.checkFolder(&tree); err != nil {
		return nil, err
	}
	if entry != nil && slices.Equal(entries, old.Entries) && sameTable(tree.Table, old.Table) {
		return entry, nil
	}
	return b.write(n, &tree, entry)
}

// entries are old's with the children of n in their places.
func (b *builder) entries(n *node, old *Tree) ([]TreeEntry, error) {
	var entries []TreeEntry
	for _, e := range old.Entries {
		if n.children[e.Name] == nil {
			entries = append(entries, e)
		}
	}
	for _, child := range n.find() {
		entry, err := b.node(child)
		if err != nil {
			return nil, err
		}
		if entry != nil {
			entries = append(entries, *entry)
		}
	}
	slices.SortFunc(entries, func(a, b TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// checkFolder refuses a folder that is a table and holds others, and one of a
// table that no change gave its keys.
func (n *node) checkFolder(t *Tree) error {
	keys := 0
	for _, e := range t.Entries {
		if isKeyComponent(e.Name) {
			keys++
		}
	}
	above := len(n.path) == 0 || !isKeyComponent(n.name())
	switch {
	case keys > 0 && keys < len(t.Entries):
		return n.conflict("is a table, no other can lie in it")
	case keys > 0 && above && t.Table == nil:
		return n.conflict("is a table without keys and columns")
	case keys == 0 && !above:
		return n.conflict("is a key, only keys can lie below it")
	}
	return nil
}

// write makes a new node of tree; entry is the one it takes the place of, or nil.
func (b *builder) write(n *node, tree *Tree, entry *TreeEntry) (*TreeEntry, error) {
	for _, e := range tree.Entries {
		tree.Totals = tree.Totals.Add(e.Totals)
	}
	body, err := Encode(tree)
	if err != nil {
		return nil, fmt.Errorf("build tree of %q: %w", strings.Join(n.path, "/"), err)
	}
	sha := SHA256Hex(body)
	e := TreeEntry{Kind: NodeTree, Ref: Ref{Key: TreeKey(b.newID(), sha), SHA256: sha}, Totals: tree.Totals}
	if len(n.path) > 0 {
		e.Name = n.name()
	}
	if entry != nil {
		e.Extensions = entry.Extensions
	}
	b.written = append(b.written, Written{Key: e.Key, Body: body})
	return &e, nil
}
