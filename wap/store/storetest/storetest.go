// Package storetest is the conformance suite that every store backend passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// Handle gives one more independent handle on the same root, as another process
// would have it.
type Handle func() store.Store

// Run checks every clause of the contract in package store. fresh opens an
// empty root for one subtest; the root may hold nothing afterwards but what its
// keys say.
func Run(t *testing.T, fresh func(t *testing.T) Handle) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open Handle)
	}{
		{"create", testCreate},
		{"swap", testSwap},
		{"same bytes again", testABA},
		{"delete", testDelete},
		{"read after write", testReadAfterWrite},
		{"odd keys", testOddKeys},
		{"bad keys", testBadKeys},
		{"cancelled", testCancelled},
		{"list prefixes", testListPrefixes},
		{"list many", testListMany},
		{"list while writing", testListWhileWriting},
		{"upload", testUpload},
		{"upload broken source", testUploadBroken},
		{"upload cancelled", testUploadCancelled},
		{"range", testRange},
		{"range pinned", testRangePinned},
		{"race create", testRaceCreate},
		{"race swap", testRaceSwap},
		{"race swap once", testRaceSwapOnce},
		{"race create delete", testRaceCreateDelete},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
}

// refusal fails unless err is the given sentinel, which proves inaction.
func refusal(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if !store.Refused(err) {
		t.Fatalf("error %v is not a refusal", err)
	}
}

func create(t *testing.T, s store.Store, key, body string) store.Version {
	t.Helper()
	v, err := s.Create(t.Context(), key, []byte(body))
	if err != nil {
		t.Fatalf("create %q: %v", key, err)
	}
	if v.ETag == "" {
		t.Fatalf("create %q: no etag", key)
	}
	return v
}

func swap(t *testing.T, s store.Store, key string, old store.Version, body string) store.Version {
	t.Helper()
	v, err := s.Swap(t.Context(), key, old, []byte(body))
	if err != nil {
		t.Fatalf("swap %q: %v", key, err)
	}
	if v.ETag == "" {
		t.Fatalf("swap %q: no etag", key)
	}
	return v
}

func remove(t *testing.T, s store.Store, key string) {
	t.Helper()
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatalf("delete %q: %v", key, err)
	}
}

// list collects and checks that no key comes twice.
func list(t *testing.T, s store.Store, prefix string) map[string]store.Entry {
	t.Helper()
	found := map[string]store.Entry{}
	for e, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		if _, twice := found[e.Key]; twice {
			t.Fatalf("list %q: %q comes twice", prefix, e.Key)
		}
		found[e.Key] = e
	}
	return found
}

func keys(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(list(t, s, prefix)))
}

func wantKeys(t *testing.T, s store.Store, prefix string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := keys(t, s, prefix); !slices.Equal(got, want) {
		t.Fatalf("list %q:\n got %q\nwant %q", prefix, got, want)
	}
}

// wantObject checks that every way to look at one object agrees.
func wantObject(t *testing.T, s store.Store, key, body string, v store.Version) {
	t.Helper()
	got, gv, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	if string(got) != body {
		t.Fatalf("get %q: %.60q, want %.60q", key, got, body)
	}
	if gv != v {
		t.Fatalf("get %q: version %v, want %v", key, gv, v)
	}
	e, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatalf("head %q: %v", key, err)
	}
	wantEntry(t, e, key, body, v)
	l, ok := list(t, s, key)[key]
	if !ok {
		t.Fatalf("list does not show %q", key)
	}
	// Listings of versioned buckets carry no version ids.
	l.Version.ID = v.ID
	wantEntry(t, l, key, body, v)
	if got := readRange(t, s, key, 0, int64(len(body)), v); got != body {
		t.Fatalf("read %q: %.60q, want %.60q", key, got, body)
	}
}

func wantEntry(t *testing.T, e store.Entry, key, body string, v store.Version) {
	t.Helper()
	if e.Key != key || e.Size != int64(len(body)) || e.Version != v || e.Modified.IsZero() {
		t.Fatalf("entry %+v, want %q, %d bytes, version %v, a time", e, key, len(body), v)
	}
}

func wantAbsent(t *testing.T, s store.Store, key string) {
	t.Helper()
	_, _, err := s.Get(t.Context(), key)
	refusal(t, err, store.ErrNotFound)
	_, err = s.Head(t.Context(), key)
	refusal(t, err, store.ErrNotFound)
	_, err = s.GetRange(t.Context(), key, 0, 1, store.Version{ETag: `"0"`})
	refusal(t, err, store.ErrNotFound)
	wantKeys(t, s, key)
}

func readRange(t *testing.T, s store.Store, key string, off, n int64, v store.Version) string {
	t.Helper()
	b, err := readAll(t.Context(), s, key, span{off, n, v})
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	return string(b)
}

type span struct {
	off, n int64
	v      store.Version
}

func readAll(ctx context.Context, s store.Store, key string, r span) ([]byte, error) {
	body, err := s.GetRange(ctx, key, r.off, r.n, r.v)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(body)
	return b, errors.Join(err, body.Close())
}

func upload(t *testing.T, s store.Store, key, body string) store.Version {
	t.Helper()
	e, err := s.Upload(t.Context(), key, bytes.NewReader([]byte(body)), int64(len(body)))
	if err != nil {
		t.Fatalf("upload %q: %v", key, err)
	}
	wantEntry(t, e, key, body, e.Version)
	if e.Version.ETag == "" {
		t.Fatalf("upload %q: no etag", key)
	}
	return e.Version
}
