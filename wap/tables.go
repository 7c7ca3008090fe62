package wap

import (
	"context"
	"slices"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// checkTables refuses a scope whose keys are not its tables': a table's first
// publish fixed their names and order. Found before a task runs, not after.
func (w *Warehouse) checkTables(ctx context.Context, scope []string) error {
	h, err := w.head(ctx)
	if err != nil {
		return err
	}
	st, err := w.at(ctx, h.base())
	if err != nil {
		return err
	}
	for _, pattern := range scope {
		if err := st.checkKeys(ctx, pattern); err != nil {
			return err
		}
	}
	return nil
}

// checkKeys compares one partition or pattern with the table it names.
func (s *state) checkKeys(ctx context.Context, pattern string) error {
	parts := strings.Split(pattern, "/")
	first := slices.IndexFunc(parts, func(c string) bool { return c == "*" || strings.Contains(c, "=") })
	if first < 0 {
		first = len(parts)
	}
	path := parts[:first]
	e, table, err := s.lookup(ctx, path)
	if err != nil {
		return err
	}
	name := strings.Join(path, "/")
	open := parts[len(parts)-1] == "*"
	var keys []string
	for _, c := range parts[first:] {
		if k, _, ok := strings.Cut(c, "="); ok {
			keys = append(keys, k)
		}
	}
	switch {
	case e == nil && table != nil:
		return failf(KindUsage, "%s lies inside another table, partitioned by (%s)", name, tableKeys(table)).
			hint("wap ls %s", path[0])
	case e == nil:
		return nil // a new table
	case e.Kind == manifest.NodeManifest && len(keys) > 0:
		return failf(KindUsage, "table %s is not partitioned, and %s has keys", name, pattern)
	case e.Kind == manifest.NodeTree && table == nil && len(keys) > 0:
		return failf(KindUsage, "%s is a folder of tables, not a table", name).hint("wap ls %s", name)
	case table == nil:
		return nil
	}
	for i, k := range keys {
		if i >= len(table.Keys) || table.Keys[i].Name != k {
			return keysDiffer(name, table, keys)
		}
	}
	if len(keys) < len(table.Keys) && !open {
		return keysDiffer(name, table, keys)
	}
	return nil
}

func keysDiffer(name string, table *manifest.Table, keys []string) error {
	return failf(KindUsage, "table %s is partitioned by (%s), not by (%s)", name, tableKeys(table), strings.Join(keys, ", ")).
		hint("name the keys in the table's order, all of them or up to a final `*`")
}

func tableKeys(t *manifest.Table) string {
	var names []string
	for _, k := range t.Keys {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}
