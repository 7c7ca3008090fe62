package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/semaphore"
)

// S3 keeps objects in a bucket of S3 or of a store with its interface, below a
// prefix. It relies on conditions of PutObject alone; whether a store has them
// is for the caller to probe.
//
// Reads and uploads are repeated while the store is slow or broken. Create and
// Swap are sent once.
type S3 struct {
	loc     Location
	client  *s3.Client
	manager *transfermanager.Client
	uploads chan struct{}       // one slot for each multipart upload at a time
	whole   *semaphore.Weighted // bytes of uploads in one request
	source  string              // of the credentials

	sse    types.ServerSideEncryption
	kmsKey *string
	payer  types.RequestPayer
	owner  *string
}

var _ Store = (*S3)(nil)

// checkRead is laxer than checkKey: others may have written keys to the bucket
// that wap does not, with empty components.
func checkRead(key string) error {
	if key == "" || key[0] == '/' || strings.IndexByte(key, 0) >= 0 {
		return checkKey(key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "." || part == ".." {
			return checkKey(key)
		}
	}
	return nil
}

// List passes over the empty objects named "folder/" that consoles make.
func (s *S3) List(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := s.pages(ctx, prefix, func(e Entry) bool { return yield(e, nil) })
		if err != nil {
			yield(Entry{}, fmt.Errorf("list objects %q: %w", prefix, err))
		}
	}
}

func (s *S3) pages(ctx context.Context, prefix string, visit func(Entry) bool) error {
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		if err := checkRead(prefix[:i]); err != nil {
			return err
		}
	}
	root := s.loc.Key("")
	token := ""
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
			Bucket: &s.loc.Bucket, Prefix: aws.String(root + prefix), ContinuationToken: optional(token),
			EncodingType: types.EncodingTypeUrl, // XML has no way to say some bytes
			RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
		})
		if err != nil {
			return answer(readMode, err)
		}
		if out.IsTruncated == nil {
			return errNoListing
		}
		for _, o := range out.Contents {
			e, err := entry(o, out.EncodingType, root)
			if err != nil {
				return err
			}
			if !folder(e) && !visit(e) {
				return nil
			}
		}
		if !*out.IsTruncated {
			return nil
		}
		next := aws.ToString(out.NextContinuationToken)
		if next == "" || next == token {
			return errCutListing
		}
		token = next
	}
}

var (
	errNoListing  = fmt.Errorf("answer is no listing: %w", errNotS3)
	errCutListing = errors.New("listing is cut: the store gives no way to go on")
)

// folder tells the empty objects that consoles make.
func folder(e Entry) bool { return strings.HasSuffix(e.Key, "/") && e.Size == 0 || e.Key == "" }

// decoded is a key of a listing.
func decoded(key *string, encoding types.EncodingType) (*string, error) {
	if encoding != types.EncodingTypeUrl || key == nil {
		return key, nil
	}
	plain, err := url.QueryUnescape(*key)
	if err != nil {
		return nil, fmt.Errorf("unreadable key %q: %w", *key, err)
	}
	return &plain, nil
}

func entry(o types.Object, encoding types.EncodingType, root string) (Entry, error) {
	plain, err := decoded(o.Key, encoding)
	if err != nil {
		return Entry{}, err
	}
	key := aws.ToString(plain)
	relative, ok := strings.CutPrefix(key, root)
	if !ok {
		return Entry{}, fmt.Errorf("store lists %q, which does not start with %q", key, root)
	}
	v, err := version(o.ETag, nil)
	if err != nil {
		return Entry{}, fmt.Errorf("key %q: %w", key, err)
	}
	if o.Size == nil {
		return Entry{}, fmt.Errorf("key %q is listed without a size", key)
	}
	return Entry{Key: relative, Size: *o.Size, Version: v, Modified: aws.ToTime(o.LastModified).UTC()}, nil
}

func (s *S3) Delete(ctx context.Context, key string) error {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return fmt.Errorf("delete object %q: %w", key, err)
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(key)), RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	})
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "NoSuchKey" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete object %q: %w", key, answer(readMode, err))
	}
	return nil
}
