package store

import (
	"context"
	"iter"
)

// VersionLister is a store whose listings can name versions.
type VersionLister interface {
	// ListVersions is List, with the version id of each object where the bucket
	// keeps versions and the caller may see them.
	ListVersions(ctx context.Context, prefix string) iter.Seq2[Entry, error]
}

// ListVersions lists with version ids where st can tell them, else without.
func ListVersions(ctx context.Context, st Store, prefix string) iter.Seq2[Entry, error] {
	if v, ok := st.(VersionLister); ok {
		return v.ListVersions(ctx, prefix)
	}
	return st.List(ctx, prefix)
}
