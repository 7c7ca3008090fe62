package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

func testCreate(t *testing.T, open Handle) {
	s := open()
	wantAbsent(t, s, "a/b")
	for _, body := range []string{"one", "", "\x00\xff\r\n", strings.Repeat("x", 70_000)} {
		key := fmt.Sprintf("a/b%d", len(body))
		v := create(t, s, key, body)
		wantObject(t, s, key, body, v)
		_, err := open().Create(t.Context(), key, []byte("other"))
		refusal(t, err, store.ErrExists)
		_, err = s.Create(t.Context(), key, []byte(body)) // the same bytes are no excuse
		refusal(t, err, store.ErrExists)
		wantObject(t, open(), key, body, v)
	}
	wantKeys(t, s, "", "a/b3", "a/b0", "a/b4", "a/b70000")
}

func testSwap(t *testing.T, open Handle) {
	s, other := open(), open()
	_, err := s.Swap(t.Context(), "a/p", store.Version{ETag: `"0"`}, []byte("x"))
	refusal(t, err, store.ErrNotFound)
	wantKeys(t, s, "")

	v1 := create(t, s, "a/p", "one")
	v2 := swap(t, other, "a/p", v1, "two")
	wantObject(t, s, "a/p", "two", v2)
	for _, stale := range []store.Version{v1, {ETag: `"0"`}} {
		_, err = s.Swap(t.Context(), "a/p", stale, []byte("three"))
		refusal(t, err, store.ErrVersionMismatch)
	}
	_, err = s.Swap(t.Context(), "a/p", store.Version{}, []byte("three"))
	refusal(t, err, store.ErrNotSent)
	wantObject(t, other, "a/p", "two", v2)

	// Bodies of one length, as fast as possible: no two states look alike.
	seen := map[store.Version]bool{v1: true, v2: true}
	v := v2
	for i := range 50 {
		v = swap(t, s, "a/p", v, fmt.Sprintf("body %02d", i))
		if seen[v] {
			t.Fatalf("swap %d: version %v came back", i, v)
		}
		seen[v] = true
	}
	for old := range seen {
		if old != v {
			_, err := s.Swap(t.Context(), "a/p", old, []byte("stale"))
			refusal(t, err, store.ErrVersionMismatch)
		}
	}
	wantObject(t, s, "a/p", "body 49", v)
	v = swap(t, s, "a/p", v, "")
	wantObject(t, s, "a/p", "", v)
	wantKeys(t, s, "", "a/p")
}

// The same bytes may have the same ETag again. Then, and only then, may a
// version that was left behind be good again.
func testABA(t *testing.T, open Handle) {
	s := open()
	a1 := create(t, s, "a/p", "AAA")
	b := swap(t, s, "a/p", a1, "BBB")
	a2 := swap(t, s, "a/p", b, "AAA")
	wantObject(t, s, "a/p", "AAA", a2)
	_, err := s.Swap(t.Context(), "a/p", b, []byte("CCC"))
	refusal(t, err, store.ErrVersionMismatch)
	want := a2
	switch v, err := s.Swap(t.Context(), "a/p", a1, []byte("AAA")); {
	case err == nil:
		want = v
	default:
		refusal(t, err, store.ErrVersionMismatch)
	}
	wantObject(t, s, "a/p", "AAA", want)

	// Nor does a key that was deleted and made anew take the old version.
	remove(t, s, "a/p")
	c := create(t, s, "a/p", "CCC")
	for _, old := range []store.Version{a1, b, a2, want} {
		_, err = s.Swap(t.Context(), "a/p", old, []byte("DDD"))
		refusal(t, err, store.ErrVersionMismatch)
	}
	wantObject(t, s, "a/p", "CCC", c)
}

func testDelete(t *testing.T, open Handle) {
	s, other := open(), open()
	remove(t, s, "d/e/never")
	v := create(t, s, "d/e/x", "x")
	create(t, s, "d/e/y", "y")
	remove(t, other, "d/e/x")
	remove(t, s, "d/e/x")
	wantAbsent(t, s, "d/e/x")
	_, err := s.Swap(t.Context(), "d/e/x", v, []byte("z"))
	refusal(t, err, store.ErrNotFound)
	wantKeys(t, s, "", "d/e/y")
	remove(t, s, "d/e/y")
	wantKeys(t, s, "")
	v = create(t, other, "d/e/x", "again")
	wantObject(t, s, "d/e/x", "again", v)
	// Folders are no objects, and do not stand in the way once they are empty.
	wantAbsent(t, s, "d/f")
	remove(t, s, "d/e/x")
	v = create(t, s, "d", "now an object")
	wantObject(t, other, "d", "now an object", v)
	wantKeys(t, s, "", "d")
}

func testReadAfterWrite(t *testing.T, open Handle) {
	writer, reader := open(), open()
	for i := range 20 {
		key := fmt.Sprintf("r/%02d/x", i)
		wantAbsent(t, reader, key) // a cached "absent" would show below
		v := create(t, writer, key, "one")
		wantObject(t, reader, key, "one", v)
		v = swap(t, writer, key, v, "two")
		wantObject(t, reader, key, "two", v)
		remove(t, writer, key)
		wantAbsent(t, reader, key)
	}
	wantKeys(t, reader, "")
}

// oddKeys are keys that wap writes, or may be pointed at.
func oddKeys() []string {
	slug := strings.Repeat("s", 97)
	return []string{
		"a b", "a+b", "a%20b", "a%2Fb", "a=b", "a&b=c", "a#b", "a?b", "a~b", "a:b", "a@b", "a*b", "a'b", `a"b`, "a,b;c", "a(b)", "a[b]{c}", "a$b!",
		"dt=2025-03-05/region=%C3%A9u", "größe/日本語/🙂", "e\u0301 not composed", ".hidden/_x", "...", "a..b", "UPPER/lower", "upper",
		strings.Join([]string{"_wap/data", slug, slug, "g1", slug, "01JZZZZZZZZZZZZZZZZZZZZZZZ", "dt=" + slug, "k=" + slug, slug + ".parquet"}, "/"),
		strings.Repeat(slug+"/", 6) + strings.Repeat("t", 97),
	}
}

func testOddKeys(t *testing.T, open Handle) {
	s := open()
	versions := map[string]store.Version{}
	for i, key := range oddKeys() {
		if i%2 == 0 {
			versions[key] = create(t, s, key, key)
		} else {
			versions[key] = upload(t, s, key, key)
		}
	}
	for key, v := range versions {
		wantObject(t, s, key, key, v)
		_, err := s.Create(t.Context(), key, []byte("other"))
		refusal(t, err, store.ErrExists)
	}
	wantKeys(t, s, "", oddKeys()...)
	for key, v := range versions {
		swap(t, s, key, v, key+"!")
		remove(t, s, key)
	}
	wantKeys(t, s, "")
}

func testBadKeys(t *testing.T, open Handle) {
	s := open()
	create(t, s, "inside", "x")
	one := strings.NewReader("1")
	for _, key := range []string{"", "/", "/a", "..", "../a", "a/../b", "a/..", ".", "./a", "a/./b", "a//b", "a/", "a\x00b"} {
		_, err := s.Create(t.Context(), key, []byte("1"))
		refusal(t, err, store.ErrNotSent)
		_, err = s.Swap(t.Context(), key, store.Version{ETag: `"0"`}, []byte("1"))
		refusal(t, err, store.ErrNotSent)
		if _, err := s.Upload(t.Context(), key, one, 1); err == nil {
			t.Fatalf("upload to %q is no error", key)
		}
		if err := s.Delete(t.Context(), key); err == nil {
			t.Fatalf("delete of %q is no error", key)
		}
		if key == "a//b" || key == "a/" {
			continue // others may have such keys in a bucket
		}
		if _, _, err := s.Get(t.Context(), key); err == nil {
			t.Fatalf("get of %q is no error", key)
		}
		if _, err := s.Head(t.Context(), key); err == nil {
			t.Fatalf("head of %q is no error", key)
		}
		if _, err := s.GetRange(t.Context(), key, 0, 1, store.Version{ETag: `"0"`}); err == nil {
			t.Fatalf("range of %q is no error", key)
		}
	}
	for _, prefix := range []string{"/", "../", "a/../b"} {
		errs := 0
		for e, err := range s.List(t.Context(), prefix) {
			if err == nil {
				t.Fatalf("list %q shows %q", prefix, e.Key)
			}
			errs++
		}
		if errs != 1 {
			t.Fatalf("list %q: %d errors, want one", prefix, errs)
		}
	}
	wantKeys(t, s, "", "inside")
}

// A context that is over before the call is a definite refusal.
func testCancelled(t *testing.T, open Handle) {
	s := open()
	v := create(t, s, "c", "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Create(ctx, "d", []byte("x"))
	refusal(t, err, store.ErrNotSent)
	_, err = s.Swap(ctx, "c", v, []byte("two"))
	refusal(t, err, store.ErrNotSent)
	_, _, getErr := s.Get(ctx, "c")
	_, headErr := s.Head(ctx, "c")
	_, rangeErr := readAll(ctx, s, "c", span{0, 3, v})
	_, uploadErr := s.Upload(ctx, "u", strings.NewReader("x"), 1)
	deleteErr := s.Delete(ctx, "c")
	var listErr error
	for _, err := range s.List(ctx, "") {
		listErr = err
	}
	for i, err := range []error{err, getErr, headErr, rangeErr, uploadErr, deleteErr, listErr} {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %d is %v, want context.Canceled", i, err)
		}
	}
	wantObject(t, s, "c", "one", v)
	wantKeys(t, s, "", "c")
}
