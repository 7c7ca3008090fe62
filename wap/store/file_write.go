package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// refused wraps an error that happened before the object could become visible.
func refused(verb, key string, err error) error {
	if errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("%s object %q: %w: %w", verb, key, ErrForbidden, err)
	}
	return notSent(verb, key, err)
}

func (f *File) Create(ctx context.Context, key string, body []byte) (Version, error) {
	tmp, err := f.link(ctx, "create", key, source{bytes.NewReader(body), int64(len(body))})
	if err != nil {
		return Version{}, err
	}
	defer tmp.discard()
	e, err := tmp.settle(key)
	if err != nil {
		return Version{}, fmt.Errorf("create object %q: %w", key, err)
	}
	return e.Version, nil
}

// Upload refuses a key that exists with ErrExists.
func (f *File) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error) {
	tmp, err := f.link(ctx, "upload", key, source{src, size})
	if err != nil {
		return Entry{}, err
	}
	defer tmp.discard()
	// The version of bulk data is written down: link moved the ctime in it,
	// so that must be as durable as the bytes.
	err = tmp.remove()
	if err == nil {
		err = tmp.file.Sync()
	}
	var e Entry
	if err == nil {
		e, err = tmp.settle(key)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("upload object %q: %w", key, err)
	}
	return e, nil
}

type source struct {
	bytes io.ReaderAt
	size  int64
}

// link writes src to a temporary file and gives it the name of key if that is
// free. It returns the file still under both names; a crash here leaves the
// object and a temporary name for it. Its errors say whether it acted.
func (f *File) link(ctx context.Context, verb, key string, src source) (*temp, error) {
	path, err := f.path(key)
	if err != nil {
		return nil, notSent(verb, key, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, notSent(verb, key, err)
	}
	if err := vacant(path); err != nil {
		return nil, taken(verb, key, err)
	}
	tmp, err := f.newTemp(ctx, filepath.Dir(path))
	if err != nil {
		return nil, refused(verb, key, err)
	}
	if err := tmp.fill(ctx, src, 0); err != nil {
		tmp.discard()
		return nil, refused(verb, key, err)
	}
	if err := linkUnlessTaken(tmp.path, path); err != nil {
		tmp.discard()
		return nil, taken(verb, key, err)
	}
	return tmp, nil
}

var errFolder = errors.New("a folder of this name is in the way")

// vacant reports what stands at path: nil, fs.ErrExist or errFolder.
func vacant(path string) error {
	st, err := statPath(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errBefore{err}
	case st.folder():
		return errBefore{errFolder}
	}
	return fs.ErrExist
}

// errBefore marks an error after which the object is certainly not there by us.
type errBefore struct{ error }

func (e errBefore) Unwrap() error { return e.error }

// taken translates the errors of vacant and linkUnlessTaken.
func taken(verb, key string, err error) error {
	if before, ok := errors.AsType[errBefore](err); ok {
		return refused(verb, key, before.error)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s object %q: %w", verb, key, ErrExists)
	}
	return fmt.Errorf("%s object %q: %w", verb, key, err)
}

// linkUnlessTaken links temp to path. The answer of link(2) may be wrong over
// NFS, where a repeated request finds its own first try; the number of links of
// temp is what counts then (open(2), under O_EXCL).
func linkUnlessTaken(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil {
		return nil
	}
	st, serr := statPath(temp)
	switch {
	case serr != nil:
		return fmt.Errorf("%v; whether it worked: %v", err, serr) // neither is an answer
	case st.links == 2:
		return nil
	case errors.Is(err, fs.ErrExist):
		if err := vacant(path); err != nil {
			return err
		}
		return fs.ErrExist // there when link looked, deleted since
	case settled(err):
		return errBefore{err}
	}
	return err
}

// settled reports whether a failed link or rename certainly did nothing: the
// kernel refused it, instead of a server whose answer was lost.
func settled(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EMLINK,
		syscall.ENAMETOOLONG, syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.EXDEV,
		syscall.ENOSYS, syscall.ENOTSUP, syscall.EINVAL:
		return true
	}
	return false
}

func (f *File) Swap(ctx context.Context, key string, v Version, body []byte) (Version, error) {
	path, err := f.path(key)
	if err := errors.Join(err, checkVersion(v), ctx.Err()); err != nil {
		return Version{}, notSent("swap", key, err)
	}
	// Before the lock, which would make a lock file in a folder of no objects.
	if _, err := current(path, v); err != nil {
		return Version{}, swapRefused(key, err)
	}
	lock, err := lockFolder(ctx, filepath.Dir(path))
	if err != nil {
		return Version{}, swapRefused(key, err)
	}
	defer lock.Close()
	old, err := current(path, v)
	if err != nil {
		return Version{}, swapRefused(key, err)
	}
	tmp, err := f.newTemp(ctx, filepath.Dir(path))
	if err != nil {
		return Version{}, refused("swap", key, err)
	}
	defer tmp.discard()
	if err := tmp.fill(ctx, source{bytes.NewReader(body), int64(len(body))}, old.mtime); err != nil {
		return Version{}, refused("swap", key, err)
	}
	if err := os.Rename(tmp.path, path); err != nil {
		if settled(err) {
			return Version{}, refused("swap", key, err)
		}
		return Version{}, fmt.Errorf("swap object %q: %w", key, err)
	}
	tmp.path = "" // a crash from here on leaves nothing
	e, err := tmp.settle(key)
	if err != nil {
		return Version{}, fmt.Errorf("swap object %q: %w", key, err)
	}
	return e.Version, nil
}

// current is the stamp of the object at path if it has version v, else
// ErrVersionMismatch, or fs.ErrNotExist.
func current(path string, v Version) (stamp, error) {
	st, err := statPath(path)
	switch {
	case err != nil:
		return stamp{}, err
	case !st.regular():
		return stamp{}, fs.ErrNotExist
	case !st.samePut(v):
		return stamp{}, ErrVersionMismatch
	}
	return st, nil
}

func swapRefused(key string, err error) error {
	if errors.Is(err, ErrVersionMismatch) {
		return fmt.Errorf("swap object %q: %w", key, ErrVersionMismatch)
	}
	if err := readError("swap", key, err); Refused(err) {
		return err
	}
	return notSent("swap", key, err)
}
