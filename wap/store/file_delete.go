package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// lockFolder waits for the exclusive lock on a folder. Closing it releases it,
// as does the end of the process. The file stays: whoever removed it could let
// two processes lock two files of the same name.
func lockFolder(ctx context.Context, folder string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(folder, lockName), flock.SetPermissions(0o666))
	done := make(chan error, 1)
	go func() { done <- lock.Lock() }()
	select {
	case err := <-done:
		if err != nil {
			return nil, fmt.Errorf("lock folder: %w", err)
		}
		return lock, nil
	case <-ctx.Done():
		go func() {
			<-done // flock(2) cannot be interrupted: let go when it comes
			lock.Close()
		}()
		return nil, fmt.Errorf("lock folder: %w", ctx.Err())
	}
}

// Delete also removes the folders that it leaves empty, up to the root: an
// object store has none. It is not synced: an object that is back after a power
// failure is one that was not deleted yet.
func (f *File) Delete(ctx context.Context, key string) error {
	path, err := f.path(key)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	if err := removeFile(ctx, path); err != nil {
		if err := readError("delete", key, err); !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	f.removeEmpty(filepath.Dir(path))
	return nil
}

// removeFile removes path under the folder's lock if there has ever been a Swap
// in the folder, lest one that has compared already bring the object back.
func removeFile(ctx context.Context, path string) error {
	if locked, err := removeLocked(ctx, path); locked {
		return err
	}
	if err := unlink(path); err != nil {
		return err
	}
	// The first Swap ever may have begun meanwhile: again, after it.
	if locked, err := removeLocked(ctx, path); locked && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func removeLocked(ctx context.Context, path string) (locked bool, err error) {
	folder := filepath.Dir(path)
	if _, err := statPath(filepath.Join(folder, lockName)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock, err := lockFolder(ctx, folder)
	if err != nil {
		return true, err
	}
	defer lock.Close()
	return true, unlink(path)
}

// unlink removes what is not a folder.
func unlink(path string) error {
	if st, err := statPath(path); err == nil && st.folder() {
		return fs.ErrNotExist
	}
	return again(func() error { return unix.Unlink(path) })
}
