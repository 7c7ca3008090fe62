package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// makeFolder makes a folder and its parents, each durable in its own parent
// when it returns, whoever made it. Above the root, what is there is left alone.
// It returns fs.ErrNotExist when one was removed as empty meanwhile.
func (f *File) makeFolder(folder string) error {
	f.mu.Lock()
	known := f.synced[folder]
	f.mu.Unlock()
	if known {
		return nil
	}
	st, err := statPath(folder)
	if err == nil && !st.folder() {
		return fmt.Errorf("make folder %q: %w", folder, syscall.ENOTDIR)
	}
	if err != nil || f.below(folder) {
		if err := f.makeDurable(folder); err != nil {
			return err
		}
	}
	f.mu.Lock()
	f.synced[folder] = true
	f.mu.Unlock()
	return nil
}

func (f *File) makeDurable(folder string) error {
	parent := filepath.Dir(folder)
	if err := f.makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}

// below reports whether path is the root or inside it.
func (f *File) below(path string) bool {
	return path == f.dir || strings.HasPrefix(path, strings.TrimSuffix(f.dir, "/")+"/")
}

// forgetFolders is called when a folder turned out to be gone.
func (f *File) forgetFolders() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.synced)
}

// removeEmpty removes folder and its parents below the root while they are
// empty. Any error means that it is not ours to remove: in use, or a link.
func (f *File) removeEmpty(folder string) {
	for folder != f.dir && f.below(folder) {
		if syscall.Rmdir(folder) != nil {
			return
		}
		f.forgetFolders()
		folder = filepath.Dir(folder)
	}
}

// syncFolder makes the names in a folder durable. A file system that cannot
// (EINVAL, ENOTSUP) gives no way to do better.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
