package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
)

func newFile(t *testing.T, dir string) *store.File {
	t.Helper()
	f, err := store.NewFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Handle {
		dir := t.TempDir()
		return func() store.Store { return newFile(t, dir) }
	})
}

// Sweep removes what dead writers left, and nothing of a living one.
func TestFileSweep(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	if err := os.MkdirAll(filepath.Join(dir, "dead", "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dead/.wap-tmp-1", "dead/a/.wap-tmp-2", "dead/.wap-tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	src := &hooked{data: []byte("0123456789"), hook: func() {
		if n, err := newFile(t, dir).Sweep(t.Context(), ""); n != 2 || err != nil {
			t.Errorf("sweep: %d, %v; want 2", n, err)
		}
		if got := keysOf(t, s); !slices.Equal(got, []string{"dead/.wap-tmp"}) {
			t.Errorf("during the upload: %q", got)
		}
	}}
	if _, err := s.Upload(t.Context(), "dead/live/x", src, 10); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, "dead/.wap-tmp", "dead/live/x")
}

type hooked struct {
	data []byte
	hook func()
}

func (h *hooked) ReadAt(p []byte, off int64) (int, error) {
	h.hook()
	return copy(p, h.data[off:]), nil
}

func keysOf(t *testing.T, s store.Store) []string {
	t.Helper()
	var keys []string
	for e, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, e.Key)
	}
	slices.Sort(keys)
	return keys
}

// tree lists all files and empty folders below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if d.IsDir() {
			if below, err := os.ReadDir(path); err != nil || len(below) > 0 {
				return err
			}
			rel += "/"
		}
		found = append(found, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantTree(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := tree(t, dir); !slices.Equal(got, want) {
		t.Fatalf("on disk: %q, want %q", got, want)
	}
}

// Nothing but objects and lock files is left, also by what was refused.
func TestFileLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := newFile(t, dir)
	if got := keysOf(t, s); len(got) != 0 {
		t.Fatalf("keys %q", got)
	}
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("reading made the folder: %v", err)
	}
	v, err := s.Create(t.Context(), "a/b", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	create := func(key string) error { _, err := s.Create(t.Context(), key, nil); return err }
	for _, c := range []struct {
		name string
		err  error
		want error
		text string
	}{
		{"exists", create("a/b"), store.ErrExists, ""},
		{"below an object", create("a/b/c"), store.ErrNotSent, "not a directory"},
		{"a folder", create("a"), store.ErrNotSent, "a folder of this name"},
		{"too long", create(strings.Repeat("x", 300)), store.ErrNotSent, "file name too long"},
		{"lock", create("a/.wap-lock"), store.ErrNotSent, "reserved"},
		{"temp", create(".wap-tmp-x/y"), store.ErrNotSent, "reserved"},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("%s: %v; want %v with %q", c.name, c.err, c.want, c.text)
		}
	}
	if _, err := s.Swap(t.Context(), "a/c", v, nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.Swap(t.Context(), "a", v, nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := s.Swap(t.Context(), "a/b", store.Version{ETag: `"1-2-3-4"`}, nil); !errors.Is(err, store.ErrVersionMismatch) {
		t.Error(err)
	}
	wantTree(t, dir, "a/b")
	if _, err := s.Swap(t.Context(), "a/b", v, nil); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Error(err)
	}
	wantTree(t, dir, "a/.wap-lock") // never deleted
}

// A file that another program changed has another version, whatever it did to
// hide that.
func TestFileChangedInPlace(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	path := filepath.Join(dir, "in.parquet")
	if err := os.WriteFile(path, bytes.Repeat([]byte("a"), 3<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	e, err := s.Head(t.Context(), "in.parquet")
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.GetRange(t.Context(), "in.parquet", 0, e.Size, e.Version)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()

	if err := os.WriteFile(path, bytes.Repeat([]byte("b"), 3<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, e.Modified); err != nil {
		t.Fatal(err)
	}
	now, err := s.Head(t.Context(), "in.parquet")
	if err != nil || now.Version == e.Version || !now.Modified.Equal(e.Modified) {
		t.Fatalf("head %+v, %v; was %+v", now, err, e)
	}
	if _, err := s.GetRange(t.Context(), "in.parquet", 0, 1, e.Version); !errors.Is(err, store.ErrVersionMismatch) {
		t.Errorf("range of the old version: %v", err)
	}
	if n, err := io.ReadFull(open, make([]byte, e.Size)); !errors.Is(err, store.ErrVersionMismatch) {
		t.Errorf("reader opened before: %d bytes, %v", n, err)
	}
}

// Layouts with links can be read; what links lead nowhere is not there.
func TestFileLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	for path, body := range map[string]string{elsewhere + "/x": "1", elsewhere + "/sub/y": "2"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(body), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Symlink(elsewhere, dir+"/folder"), os.Symlink(elsewhere+"/x", dir+"/file"),
		os.Symlink(dir+"/none", dir+"/dangling"), syscall.Mkfifo(dir+"/fifo", 0o666))
	if err != nil {
		t.Fatal(err)
	}
	s := newFile(t, dir)
	if got := keysOf(t, s); !slices.Equal(got, []string{"file", "folder/sub/y", "folder/x"}) {
		t.Errorf("keys %q", got)
	}
	for key, want := range map[string]string{"file": "1", "folder/x": "1", "folder/sub/y": "2"} {
		if body, _, err := s.Get(t.Context(), key); err != nil || string(body) != want {
			t.Errorf("get %q: %q, %v", key, body, err)
		}
	}
	for _, key := range []string{"dangling", "fifo", "folder", "fifo/x"} {
		if _, _, err := s.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("get %q: %v", key, err)
		}
	}
	if err := os.Symlink(dir, elsewhere+"/loop"); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range s.List(t.Context(), "folder/") {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "links to a folder above it") {
		t.Errorf("a loop of links: %v", last)
	}
}

// A writer waiting for the lock gives up with its context, and did nothing.
func TestFileLockCancelled(t *testing.T) {
	dir := t.TempDir()
	s := newFile(t, dir)
	v, err := s.Create(t.Context(), "k", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, ".wap-lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Swap(ctx, "k", v, []byte("2")); !errors.Is(err, store.ErrNotSent) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("swap: %v", err)
	}
	lock.Close()
	if _, err := s.Swap(t.Context(), "k", v, []byte("3")); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, ".wap-lock", "k")
}

// Folders that come and go never make a Create fail, nor its outcome unknown.
func TestFileFolderRace(t *testing.T) {
	dir := t.TempDir()
	var clients sync.WaitGroup
	for w := range 8 {
		clients.Go(func() {
			s := newFile(t, dir)
			for i := range 100 {
				key := fmt.Sprintf("a/%d/b/%d", i%2, w)
				if _, err := s.Create(t.Context(), key, nil); err != nil {
					t.Errorf("create %q: %v", key, err)
				}
				if err := s.Delete(t.Context(), key); err != nil {
					t.Errorf("delete %q: %v", key, err)
				}
			}
		})
	}
	clients.Wait()
	wantTree(t, dir)
}
