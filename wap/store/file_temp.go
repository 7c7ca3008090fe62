package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"
)

// temp is a file being written, in the folder where it is going to stand. Its
// writer holds a lock on it, which ends with the process: Sweep can tell what a
// dead one left from work in progress without a clock.
type temp struct {
	file *os.File
	lock *flock.Flock
	path string // "" when the name is gone
}

// maxRemakes bounds how often newTemp makes its folder again. Each time needs a
// Delete in between, or a dangling link in the folder's place.
const maxRemakes = 1000

// newTemp makes the folder if needed. A Delete may remove the folder as empty
// at any time until the temporary file is in it; then it is made again.
func (f *File) newTemp(ctx context.Context, folder string) (*temp, error) {
	var err error
	for range maxRemakes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err = f.makeFolder(folder); err == nil {
			var tmp *temp
			if tmp, err = lockedTemp(filepath.Join(folder, tempPrefix+ulid.Make().String())); err == nil {
				return tmp, nil
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		f.forgetFolders()
	}
	return nil, err
}

// lockedTemp returns fs.ErrNotExist if the file was swept before it was locked.
func lockedTemp(path string) (*temp, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	tmp := &temp{file: file, lock: flock.New(path, flock.SetFlag(os.O_RDWR)), path: path}
	held, err := tmp.lock.TryLock()
	if err == nil && held {
		var st stamp
		if st, err = statFile(file.Fd()); err == nil && st.links > 0 {
			return tmp, nil
		}
	}
	tmp.discard()
	if err == nil {
		err = fs.ErrNotExist
	}
	return nil, err
}

// fill writes src, sets an mtime later than after (nanoseconds), and syncs. A
// file system full, or a source that ends early, is found here, before anything
// is visible.
func (t *temp) fill(ctx context.Context, src source, after int64) error {
	if err := copyAll(ctx, t.file, src.bytes, src.size); err != nil {
		return err
	}
	if err := t.setTime(after); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	return ctx.Err()
}

// setTime gives the file the time of now, or the next that the file system can
// tell from after: some keep whole seconds, or two of them.
func (t *temp) setTime(after int64) error {
	now := max(time.Now().UnixNano(), after)
	for _, step := range []time.Duration{0, 1, time.Microsecond, time.Millisecond, time.Second, 2 * time.Second} {
		at := time.Unix(0, now).Add(step)
		if err := os.Chtimes(t.path, at, at); err != nil {
			return err
		}
		st, err := statFile(t.file.Fd())
		if err != nil {
			return err
		}
		if st.mtime > after {
			return nil
		}
	}
	return fmt.Errorf("file system does not keep the time %d of a file", now)
}

// remove takes the temporary name away.
func (t *temp) remove() error {
	if t.path == "" {
		return nil
	}
	err := os.Remove(t.path)
	if err == nil {
		t.path = ""
	}
	return err
}

// settle ends a write whose object is visible: after it, the object survives a
// crash of the machine and its version is final. What fails here leaves the
// outcome unknown.
func (t *temp) settle(key string) (Entry, error) {
	if err := t.remove(); err != nil {
		return Entry{}, err
	}
	if err := syncFolder(filepath.Dir(t.file.Name())); err != nil {
		return Entry{}, err
	}
	st, err := statFile(t.file.Fd())
	if err != nil {
		return Entry{}, err
	}
	return st.entry(key), nil
}

// discard lets go of the file and of its temporary name, if it still has one.
// Errors are dropped: the bytes are synced or not wanted, and a name that cannot
// be removed is one that Sweep finds.
func (t *temp) discard() {
	_ = t.remove()
	_ = t.lock.Close()
	_ = t.file.Close()
}

// Sweep removes the temporary files below prefix whose writers are dead, and
// returns how many there were. It is safe at any time, next to any writer.
func (f *File) Sweep(ctx context.Context, prefix string) (int, error) {
	n := 0
	err := f.walk(ctx, prefix, func(path, key string, st stamp) error {
		if !strings.HasPrefix(filepath.Base(path), tempPrefix) {
			return nil
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDWR))
		defer lock.Close()
		held, err := lock.TryLock()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !held {
			return nil
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("sweep %q: %w", key, err)
		}
		n++
		f.removeEmpty(filepath.Dir(path))
		return nil
	})
	return n, err
}
