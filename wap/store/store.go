// Package store is what wap needs from an object store, and all that it uses.
//
// Keys are relative to the root that [Open] was given and slash-separated. No
// component is empty, "." or ".."; all other bytes but zero stand for themselves.
// Key and prefix arguments that break this are refused with an error.
package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Definite answers of a store. Every other error of Create or Swap leaves the
// outcome unknown: the write may have happened, or may still happen later.
var (
	// ErrExists: Create was refused because the key exists.
	ErrExists = errors.New("object exists")
	// ErrNotFound: there is no object under the key.
	ErrNotFound = errors.New("no such object")
	// ErrVersionMismatch: the object no longer has the version that was asked for.
	ErrVersionMismatch = errors.New("object has another version")
	// ErrNotSent: the request provably never reached the store.
	ErrNotSent = errors.New("request not sent")
	// ErrForbidden: the store refused for lack of permission, or of valid
	// credentials. Never "absent".
	ErrForbidden = errors.New("permission denied")
	// ErrNoBucket: there is no such bucket; nor then an object, but reads say
	// this and not ErrNotFound, because the location is wrong.
	ErrNoBucket = errors.New("no such bucket")
	// ErrUnsupported: the store does not do what was asked, or not like this,
	// and the same request will never work.
	ErrUnsupported = errors.New("store refused the request")
)

// Refused reports whether err proves that a Create or Swap did not act and
// never will. A nil error is not a refusal.
func Refused(err error) bool {
	for _, e := range []error{ErrExists, ErrNotFound, ErrVersionMismatch, ErrNotSent, ErrForbidden, ErrNoBucket, ErrUnsupported} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Version identifies one state of one object. Both parts are opaque and go back
// to the store exactly as they came, quotes included.
type Version struct {
	ETag string // never empty
	ID   string // the version id of a versioned bucket, else empty
}

// Entry describes one object.
type Entry struct {
	Key      string
	Size     int64 // bytes
	Version  Version
	Modified time.Time // UTC, for people; never used in a decision
}

// Meta holds small objects: read whole, written by one conditional request.
// All methods may be called concurrently, from many processes.
type Meta interface {
	// Create writes body under key only if key is absent, else ErrExists.
	// When it returns nil the object is durable and visible to every later
	// read and list.
	Create(ctx context.Context, key string, body []byte) (Version, error)
	// Swap replaces the object only while it has version v, else
	// ErrVersionMismatch; an absent key is ErrNotFound. Durable as Create.
	Swap(ctx context.Context, key string, v Version, body []byte) (Version, error)
	// Get returns the whole object, or ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, Version, error)
	// List yields every object whose key starts with prefix (a plain string
	// prefix; not necessarily a folder), in no particular order. It stops
	// after the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Entry, error]
	// Delete removes the object. An absent key is no error.
	Delete(ctx context.Context, key string) error
}

// Bulk holds large objects under keys that are never reused.
type Bulk interface {
	// Upload stores size bytes of src under key. Nothing is visible under key
	// until all of it is durable; a failed or killed upload leaves no object.
	Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error)
	// GetRange reads n bytes from off, of exactly version v: an object that
	// has changed is ErrVersionMismatch, a missing one ErrNotFound; where v.ID
	// is set, a versioned bucket still gives what v was. The reader ends with
	// io.ErrUnexpectedEOF when there are fewer bytes, and may report a change
	// as late as that: bytes are good once it has ended with io.EOF.
	GetRange(ctx context.Context, key string, off, n int64, v Version) (io.ReadCloser, error)
	// Head describes the object, or ErrNotFound.
	Head(ctx context.Context, key string) (Entry, error)
}

// Store is a whole backend.
type Store interface {
	Meta
	Bulk
}
