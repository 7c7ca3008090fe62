package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"sync"
	"time"
)

// Mem keeps objects in memory, for tests. The zero value is an empty store.
//
// Its ETags are digests of the content, as on real stores: the same bytes
// written again have the same ETag, so that code relying on anything better
// fails here too.
type Mem struct {
	// Now gives Entry.Modified; nil means time.Now.
	Now func() time.Time

	mu      sync.Mutex
	objects map[string]memObject
}

type memObject struct {
	body []byte // never changed once stored
	Entry
}

var _ Store = (*Mem)(nil)

// NewMem returns an empty store.
func NewMem() *Mem { return &Mem{} }

// Clone returns a store of its own with the same objects.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Mem{Now: m.Now, objects: maps.Clone(m.objects)}
}

// put stores body; the caller holds m.mu.
func (m *Mem) put(key string, body []byte) Entry {
	now := m.Now
	if now == nil {
		now = time.Now
	}
	sum := sha256.Sum256(body)
	e := Entry{
		Key:      key,
		Size:     int64(len(body)),
		Version:  Version{ETag: fmt.Sprintf("%q", fmt.Sprintf("%x", sum[:16]))},
		Modified: now().UTC(),
	}
	if m.objects == nil {
		m.objects = map[string]memObject{}
	}
	m.objects[key] = memObject{body: bytes.Clone(body), Entry: e}
	return e
}

func (m *Mem) Create(ctx context.Context, key string, body []byte) (Version, error) {
	e, err := m.create(ctx, key, body)
	return e.Version, err
}

func (m *Mem) create(ctx context.Context, key string, body []byte) (Entry, error) {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return Entry{}, notSent("create", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		return Entry{}, fmt.Errorf("create object %q: %w", key, ErrExists)
	}
	return m.put(key, body), nil
}

func (m *Mem) Swap(ctx context.Context, key string, v Version, body []byte) (Version, error) {
	if err := errors.Join(checkKey(key), checkVersion(v), ctx.Err()); err != nil {
		return Version{}, notSent("swap", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return Version{}, fmt.Errorf("swap object %q: %w", key, ErrNotFound)
	}
	if o.Version != v {
		return Version{}, fmt.Errorf("swap object %q: %w", key, ErrVersionMismatch)
	}
	return m.put(key, body).Version, nil
}

func (m *Mem) lookup(ctx context.Context, verb, key string) (memObject, error) {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return memObject{}, fmt.Errorf("%s object %q: %w", verb, key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return memObject{}, fmt.Errorf("%s object %q: %w", verb, key, ErrNotFound)
	}
	return o, nil
}

func (m *Mem) Get(ctx context.Context, key string) ([]byte, Version, error) {
	o, err := m.lookup(ctx, "get", key)
	if err != nil {
		return nil, Version{}, err
	}
	return bytes.Clone(o.body), o.Version, nil
}

func (m *Mem) Head(ctx context.Context, key string) (Entry, error) {
	o, err := m.lookup(ctx, "head", key)
	return o.Entry, err
}

// List yields the objects that there were when it began, in the random order
// of a map: no caller may lean on another one.
func (m *Mem) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Entry{}, fmt.Errorf("list objects %q: %w", prefix, err))
			return
		}
		m.mu.Lock()
		objects := maps.Clone(m.objects)
		m.mu.Unlock()
		for key, o := range objects {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, fmt.Errorf("list objects %q: %w", prefix, err))
				return
			}
			if strings.HasPrefix(key, prefix) && !yield(o.Entry, nil) {
				return
			}
		}
	}
}

func (m *Mem) Delete(ctx context.Context, key string) error {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// Upload refuses a key that exists with ErrExists.
func (m *Mem) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error) {
	var body bytes.Buffer
	if err := copyAll(ctx, &body, src, size); err != nil {
		return Entry{}, fmt.Errorf("upload object %q: %w", key, err)
	}
	return m.create(ctx, key, body.Bytes())
}

func (m *Mem) GetRange(ctx context.Context, key string, off, n int64, v Version) (io.ReadCloser, error) {
	if err := errors.Join(checkRange(off, n), checkVersion(v)); err != nil {
		return nil, fmt.Errorf("read object %q: %w", key, err)
	}
	o, err := m.lookup(ctx, "read", key)
	if err != nil {
		return nil, err
	}
	if o.Version != v {
		return nil, fmt.Errorf("read object %q: %w", key, ErrVersionMismatch)
	}
	rest := o.body[min(off, o.Size):]
	return io.NopCloser(&exactReader{src: bytes.NewReader(rest), left: n}), nil
}
