package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

var _ VersionLister = (*S3)(nil)

// ListVersions asks whether the bucket keeps versions, because some stores list
// none of a bucket that does not. Whoever may not know gets a plain listing.
func (s *S3) ListVersions(ctx context.Context, prefix string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		status, err := s.versioning(ctx)
		if err == nil && status == "" || errors.Is(err, ErrForbidden) || errors.Is(err, ErrUnsupported) {
			s.List(ctx, prefix)(yield)
			return
		}
		if err == nil {
			err = s.versionPages(ctx, prefix, func(e Entry) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("list versions %q: %w", prefix, err))
		}
	}
}

// versioning is the bucket's state; "" when it never kept versions.
func (s *S3) versioning(ctx context.Context) (types.BucketVersioningStatus, error) {
	out, err := s.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{
		Bucket: &s.loc.Bucket, ExpectedBucketOwner: s.owner,
	})
	if err != nil {
		return "", answer(readMode, err)
	}
	return out.Status, nil
}

// versionPages visits the newest version of each object that is not deleted.
func (s *S3) versionPages(ctx context.Context, prefix string, visit func(Entry) bool) error {
	root := s.loc.Key("")
	var key, id *string
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := s.client.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{
			Bucket: &s.loc.Bucket, Prefix: aws.String(root + prefix), KeyMarker: key, VersionIdMarker: id,
			EncodingType: types.EncodingTypeUrl, RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
		})
		if err != nil {
			return answer(readMode, err)
		}
		if out.IsTruncated == nil {
			return errNoListing
		}
		for _, v := range out.Versions {
			if !aws.ToBool(v.IsLatest) {
				continue
			}
			e, err := entry(types.Object{Key: v.Key, ETag: v.ETag, Size: v.Size, LastModified: v.LastModified}, out.EncodingType, root)
			if err != nil {
				return err
			}
			if id := aws.ToString(v.VersionId); id != nullVersion {
				e.Version.ID = id
			}
			if !folder(e) && !visit(e) {
				return nil
			}
		}
		if !*out.IsTruncated {
			return nil
		}
		if aws.ToString(out.NextKeyMarker) == "" {
			return errCutListing
		}
		if key, err = decoded(out.NextKeyMarker, out.EncodingType); err != nil {
			return err
		}
		id = out.NextVersionIdMarker
	}
}
