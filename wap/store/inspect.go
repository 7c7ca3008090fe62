package store

import (
	"context"
	"time"
)

// Facts is what a store says of itself, besides how it behaves.
type Facts struct {
	Endpoint    string // URL, or empty for AWS and local folders
	Region      string
	Credentials string // the source that has them, as the SDK calls it
	// Versioning is "off", "enabled" or "suspended"; "" where it is not known.
	Versioning string
	// ObjectLock: new objects cannot be deleted for a time.
	ObjectLock bool
	// Lifecycle are the enabled rules that remove current objects or parts.
	Lifecycle []LifecycleRule
	// Uploads are multipart uploads below the root that nobody completed.
	Uploads []PendingUpload
	// UploadsHidden: the store does not list them by a prefix, so that Uploads
	// says nothing.
	UploadsHidden bool
	// Checksum is what the store did with a body whose SHA-256 was wrong, and
	// PartChecksum with a part of an upload: "refused", "accepted" or, where that
	// could not be told, "".
	Checksum, PartChecksum string
	// Trailer is what the store did with a body in chunks and its checksum
	// behind it, as SDKs send by default over TLS: "taken", "refused", or
	// "stored with its framing"; "" where it was not asked, or not told.
	Trailer string
	// Unanswered names what the store or its permissions did not tell.
	Unanswered []string
}

// LifecycleRule is one enabled rule of a bucket.
type LifecycleRule struct {
	ID     string
	Prefix string // whole key prefix in the bucket that it covers
	// Expires: it removes current objects that it covers.
	Expires bool
	// AbortDays is after how many days it removes unfinished uploads; 0: never.
	AbortDays int64
}

// PendingUpload is a multipart upload that was begun.
type PendingUpload struct {
	Key     string // relative to the root
	Started time.Time
}

// Inspector is a store that can tell facts about itself.
type Inspector interface {
	// Inspect asks for everything that the caller may know. It writes, if at
	// all, below the prefix scratch and leaves the removal to the caller.
	Inspect(ctx context.Context, scratch string) (Facts, error)
}

// Inspect returns the facts of st, or of the store that it wraps.
func Inspect(ctx context.Context, st Store, scratch string) (Facts, error) {
	for {
		switch s := st.(type) {
		case Inspector:
			return s.Inspect(ctx, scratch)
		case interface{ Unwrap() Store }:
			st = s.Unwrap()
		default:
			return Facts{}, nil
		}
	}
}
