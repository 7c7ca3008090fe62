package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errStop ends a walk early.
var errStop = errors.New("stop")

// List walks only the folders that can hold a key of that prefix. It follows
// symbolic links, and passes over what is neither a file nor a folder.
func (f *File) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := f.walk(ctx, prefix, func(path, key string, st stamp) error {
			if !reserved(filepath.Base(path)) && !yield(st.entry(key), nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield(Entry{}, err)
		}
	}
}

// visit is called for each file, reserved names included.
type visit func(path, key string, st stamp) error

func (f *File) walk(ctx context.Context, prefix string, fn visit) error {
	if err := checkPrefix(prefix); err != nil {
		return fmt.Errorf("list objects %q: %w", prefix, err)
	}
	at := strings.LastIndexByte(prefix, '/') + 1
	w := walker{ctx: ctx, fn: fn, prefix: prefix}
	err := w.folder(filepath.Join(f.dir, filepath.FromSlash(prefix[:at])), prefix[:at], nil)
	if err == nil || err == errStop {
		return err
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("list objects %q: %w: %w", prefix, ErrForbidden, err)
	}
	return fmt.Errorf("list objects %q: %w", prefix, err)
}

type walker struct {
	ctx    context.Context
	fn     visit
	prefix string
}

// folder visits what is below path, whose key is base ("" or ending in a slash).
// above holds the folders on the way: a link to one of them is a loop.
func (w *walker) folder(path, base string, above []stamp) error {
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if vanished(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	st, err := statFile(dir.Fd())
	if err != nil {
		return err
	}
	if !st.folder() {
		return nil
	}
	for _, a := range above {
		if a.inode == st.inode && a.device == st.device {
			return fmt.Errorf("folder %q links to a folder above it", path)
		}
	}
	above = append(above[:len(above):len(above)], st)
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			if err := w.entry(path, base, e, above); err != nil {
				return err
			}
		}
		if err == io.EOF || vanished(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (w *walker) entry(folder, base string, e fs.DirEntry, above []stamp) error {
	key := base + e.Name()
	// At the top the prefix selects by name, below it everything matches.
	if !strings.HasPrefix(key, w.prefix) && !strings.HasPrefix(w.prefix, key+"/") {
		return nil
	}
	path := filepath.Join(folder, e.Name())
	if e.IsDir() && !reserved(e.Name()) {
		return w.folder(path, key+"/", above)
	}
	st, err := statPath(path)
	switch {
	case vanished(err):
		return nil
	case err != nil:
		return err
	case st.folder() && !reserved(e.Name()):
		return w.folder(path, key+"/", above)
	case st.regular() && strings.HasPrefix(key, w.prefix):
		return w.fn(path, key, st)
	}
	return nil
}

// vanished reports that there is nothing there: there never was, or a Delete
// removed it after the walk began, when it may be listed or not.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
