package store

import (
	"context"
	"fmt"
)

// Config is what a root URL does not say. The zero value is right for local
// folders and for S3 with the usual AWS environment.
type Config struct {
	S3 S3Config
}

// S3Config overrides what the SDK finds in environment and files.
type S3Config struct {
	Endpoint      string // URL of a store that is not AWS
	Region        string // else the environment's, else looked up from the bucket
	Profile       string // in the shared config files
	PathStyle     bool   // bucket in the path, not in the host; always so with Endpoint
	RequesterPays bool   // accept the charges of a bucket that asks for it
	SSE           string // "AES256", "aws:kms" or "aws:kms:dsse"; "" leaves it to the bucket
	KMSKey        string // for the two KMS kinds; "" is the account's own
	BucketOwner   string // account id that the bucket must belong to
	CABundle      string // PEM file of certificates to trust besides the system's
}

// Open returns the store at a root URL, see [ParseURL]. A local folder need not
// exist: it reads as empty until the first write makes it. What is wrong with
// the URL or the configuration is ErrConfig; see [Remedy] for all errors.
func Open(ctx context.Context, url string, cfg Config) (Store, error) {
	l, err := ParseURL(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	// Not returned directly: a nil *File or *S3 is no nil Store.
	if l.Scheme == SchemeFile {
		f, err := NewFile(l.Dir)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		return f, nil
	}
	s, err := NewS3(ctx, l, cfg.S3)
	if err != nil {
		return nil, err
	}
	return s, nil
}
