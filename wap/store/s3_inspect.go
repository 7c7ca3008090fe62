package store

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

var _ Inspector = (*S3)(nil)

// Inspect asks each question by itself: stores know some, and permissions
// differ. Only a bucket that is not there, or the end of ctx, is an error.
func (s *S3) Inspect(ctx context.Context, scratch string) (Facts, error) {
	f := Facts{Region: s.Region(), Credentials: s.source, Endpoint: aws.ToString(s.client.Options().BaseEndpoint)}
	for _, q := range []struct {
		what string
		ask  func(ctx context.Context, f *Facts) error
	}{
		{"versioning", s.askVersioning},
		{"object lock", s.askLock},
		{"lifecycle rules", s.askLifecycle},
		{"unfinished uploads", func(ctx context.Context, f *Facts) error { return s.askUploads(ctx, scratch, f) }},
		{"checksums", func(ctx context.Context, f *Facts) error { return s.askChecksum(ctx, scratch, f) }},
		{"checksums of parts", func(ctx context.Context, f *Facts) error { return s.askPartChecksum(ctx, scratch, f) }},
		{"checksums in trailers", func(ctx context.Context, f *Facts) error { return s.askTrailer(ctx, scratch, f) }},
	} {
		err := answer(readMode, q.ask(ctx, &f))
		switch {
		case errors.Is(err, ErrNoBucket), ctx.Err() != nil:
			return f, err
		case err != nil:
			f.Unanswered = append(f.Unanswered, q.what+": "+brief(err))
		}
	}
	return f, nil
}

// brief is the part of an error that tells answers apart: request ids and the
// SDK's nesting do not.
func brief(err error) string {
	for _, known := range []error{ErrForbidden, ErrUnsupported} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "no answer"
}

func (s *S3) askVersioning(ctx context.Context, f *Facts) error {
	status, err := s.versioning(ctx)
	if err != nil {
		return err
	}
	f.Versioning = "off"
	if status != "" {
		f.Versioning = strings.ToLower(string(status))
	}
	return nil
}

// hasCode reports whether the store answered with the error code.
func hasCode(err error, code string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && api.ErrorCode() == code
}

func (s *S3) askLock(ctx context.Context, f *Facts) error {
	out, err := s.client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{
		Bucket: &s.loc.Bucket, ExpectedBucketOwner: s.owner,
	})
	if hasCode(err, "ObjectLockConfigurationNotFoundError") {
		return nil
	}
	if err == nil && out.ObjectLockConfiguration != nil {
		// Without a default rule only objects that ask for it are locked.
		f.ObjectLock = out.ObjectLockConfiguration.Rule != nil
	}
	return err
}

func (s *S3) askLifecycle(ctx context.Context, f *Facts) error {
	out, err := s.client.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{
		Bucket: &s.loc.Bucket, ExpectedBucketOwner: s.owner,
	})
	if hasCode(err, "NoSuchLifecycleConfiguration") {
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range out.Rules {
		if r.Status != "Enabled" {
			continue
		}
		rule := LifecycleRule{ID: aws.ToString(r.ID)}
		if r.Filter != nil {
			rule.Prefix = aws.ToString(r.Filter.Prefix)
			if r.Filter.And != nil { // tags and sizes narrow it; the prefix is what can be compared
				rule.Prefix = aws.ToString(r.Filter.And.Prefix)
			}
		}
		if e := r.Expiration; e != nil {
			rule.Expires = aws.ToInt32(e.Days) > 0 || e.Date != nil
		}
		if a := r.AbortIncompleteMultipartUpload; a != nil {
			rule.AbortDays = int64(aws.ToInt32(a.DaysAfterInitiation))
		}
		f.Lifecycle = append(f.Lifecycle, rule)
	}
	return nil
}

// uploadsLooked bounds how many unfinished uploads are named: the first page.
const uploadsLooked = 1000

// askUploads begins one of its own, to see whether the store shows it.
func (s *S3) askUploads(ctx context.Context, scratch string, f *Facts) (err error) {
	own, abort, err := s.beginUpload(ctx, scratch+"uploads")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, abort()) }()
	root := s.loc.Key("")
	out, err := s.client.ListMultipartUploads(ctx, &s3.ListMultipartUploadsInput{
		Bucket: &s.loc.Bucket, Prefix: &root, MaxUploads: aws.Int32(uploadsLooked), ExpectedBucketOwner: s.owner,
	})
	if err != nil {
		return err
	}
	f.UploadsHidden = !aws.ToBool(out.IsTruncated)
	for _, u := range out.Uploads {
		key, ok := strings.CutPrefix(aws.ToString(u.Key), root)
		switch {
		case aws.ToString(u.UploadId) == own:
			f.UploadsHidden = false
		case ok:
			f.Uploads = append(f.Uploads, PendingUpload{Key: key, Started: aws.ToTime(u.Initiated).UTC()})
			f.UploadsHidden = false
		}
	}
	return nil
}

// beginUpload begins a multipart upload that will not be completed.
func (s *S3) beginUpload(ctx context.Context, key string) (id string, abort func() error, err error) {
	whole := aws.String(s.loc.Key(key))
	begun, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &s.loc.Bucket, Key: whole, ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ServerSideEncryption: s.sse, SSEKMSKeyId: s.kmsKey, RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	})
	if err != nil {
		return "", nil, err
	}
	return aws.ToString(begun.UploadId), func() error {
		_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket: &s.loc.Bucket, Key: whole, UploadId: begun.UploadId, RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
		})
		return err
	}, nil
}
