package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Names that File keeps for itself, in any folder. They are no keys: List hides
// them and every other method refuses them.
const (
	tempPrefix = ".wap-tmp-"
	lockName   = ".wap-lock"
)

// maxRereads bounds how often Get starts over when somebody other than wap
// writes the file in place while it is read.
const maxRereads = 100

// File keeps objects as files below a folder. Any number of processes may use
// one folder at once, over NFS too if it supports flock and hard links.
//
// An object becomes visible by link(2), which fails if there is one, or by
// rename(2) under an exclusive lock on a file of its own in the same folder
// (".wap-lock", never deleted), after comparing. Bytes are written to a temporary
// file (".wap-tmp-…") and synced before, the folder after. A kill leaves at most
// a temporary file, which Sweep removes.
//
// A key cannot be both an object and a folder of others, each component is at
// most 255 bytes, and what a symbolic link points to counts as being there.
// See stamp for the ETag.
type File struct {
	dir string // absolute

	mu     sync.Mutex
	synced map[string]bool // folders known to be durable in their parent
}

var _ Store = (*File)(nil)

// NewFile returns the store below the folder dir, which need not exist: the
// first Create makes it.
func NewFile(dir string) (*File, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder %q: %w", dir, err)
	}
	return &File{dir: abs, synced: map[string]bool{}}, nil
}

// path is the local path of a key.
func (f *File) path(key string) (string, error) {
	if err := checkKey(key); err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(key, "/") {
		if reserved(part) {
			return "", fmt.Errorf("key %q uses the reserved name %q", key, part)
		}
	}
	return filepath.Join(f.dir, filepath.FromSlash(key)), nil
}

func reserved(name string) bool {
	return name == lockName || strings.HasPrefix(name, tempPrefix)
}

// readError gives the contract's errors to what a read met.
func readError(verb, key string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return fmt.Errorf("%s object %q: %w", verb, key, ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s object %q: %w: %w", verb, key, ErrForbidden, err)
	}
	return fmt.Errorf("%s object %q: %w", verb, key, err)
}

// open opens an object that is still in place after it was opened.
func (f *File) open(ctx context.Context, key string) (*os.File, stamp, error) {
	path, err := f.path(key)
	if err != nil {
		return nil, stamp{}, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, stamp{}, err
		}
		// O_NONBLOCK, or a FIFO would hold us for ever; no effect on files.
		file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, stamp{}, err
		}
		st, err := statFile(file.Fd())
		switch {
		case err != nil:
		case !st.regular():
			err = fs.ErrNotExist
		case st.links == 0: // replaced between open and stat: its ctime was never current
			file.Close()
			continue
		default:
			return file, st, nil
		}
		file.Close()
		return nil, stamp{}, err
	}
}

func (f *File) Get(ctx context.Context, key string) ([]byte, Version, error) {
	for range maxRereads {
		body, st, err := f.readWhole(ctx, key)
		if errors.Is(err, errChanged) {
			continue
		}
		if err != nil {
			return nil, Version{}, readError("get", key, err)
		}
		return body, st.version(), nil
	}
	return nil, Version{}, fmt.Errorf("get object %q: %w", key, errChanged)
}

var errChanged = errors.New("file changes while it is read")

func (f *File) readWhole(ctx context.Context, key string) ([]byte, stamp, error) {
	file, st, err := f.open(ctx, key)
	if err != nil {
		return nil, stamp{}, err
	}
	defer file.Close()
	body := make([]byte, st.size)
	_, err = io.ReadFull(&ctxReader{ctx: ctx, src: file}, body)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, stamp{}, errChanged
	}
	if err != nil {
		return nil, stamp{}, err
	}
	later, err := statFile(file.Fd())
	if err != nil {
		return nil, stamp{}, err
	}
	if !st.sameBytes(later) {
		return nil, stamp{}, errChanged
	}
	return body, st, nil
}

// ctxReader looks at the context before each read of at most a chunk.
type ctxReader struct {
	ctx context.Context
	src io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p[:min(len(p), chunk)])
}

func (f *File) Head(ctx context.Context, key string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, fmt.Errorf("head object %q: %w", key, err)
	}
	path, err := f.path(key)
	if err != nil {
		return Entry{}, fmt.Errorf("head object: %w", err)
	}
	st, err := statPath(path)
	if err == nil && !st.regular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Entry{}, readError("head", key, err)
	}
	return st.entry(key), nil
}

// GetRange compares the open file before the first byte and after the last.
func (f *File) GetRange(ctx context.Context, key string, off, n int64, v Version) (io.ReadCloser, error) {
	if err := errors.Join(checkRange(off, n), checkVersion(v)); err != nil {
		return nil, fmt.Errorf("read object %q: %w", key, err)
	}
	file, st, err := f.open(ctx, key)
	if err != nil {
		return nil, readError("read", key, err)
	}
	if st.version() != v {
		file.Close()
		return nil, fmt.Errorf("read object %q: %w", key, ErrVersionMismatch)
	}
	src := &ctxReader{ctx: ctx, src: io.NewSectionReader(file, off, n)}
	return &pinnedReader{exactReader: exactReader{src: src, left: n}, file: file, stamp: st, key: key}, nil
}

type pinnedReader struct {
	exactReader
	file  *os.File
	stamp stamp
	key   string
}

// Read looks at the file again once the range has ended, also when it ended too
// early: a file that was cut is a changed one. The last bytes are withheld then,
// because io.ReadFull drops an error that comes together with them.
func (r *pinnedReader) Read(p []byte) (int, error) {
	n, err := r.exactReader.Read(p)
	if err != io.ErrUnexpectedEOF && r.left > 0 {
		return n, err
	}
	later, serr := statFile(r.file.Fd())
	if serr != nil {
		return 0, fmt.Errorf("read object %q: %w", r.key, serr)
	}
	if !r.stamp.sameBytes(later) {
		return 0, fmt.Errorf("read object %q: %w", r.key, ErrVersionMismatch)
	}
	return n, err
}

func (r *pinnedReader) Close() error { return r.file.Close() }
