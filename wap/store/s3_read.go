package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// bodyAttempts is how often a body that breaks off is asked for again without
// a byte of progress. The SDK repeats requests, not bodies.
const bodyAttempts = 4

func (s *S3) getInput(key string) *s3.GetObjectInput {
	return &s3.GetObjectInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(key)),
		RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	}
}

func (s *S3) Get(ctx context.Context, key string) ([]byte, Version, error) {
	if err := errors.Join(checkRead(key), ctx.Err()); err != nil {
		return nil, Version{}, fmt.Errorf("get object %q: %w", key, err)
	}
	var err error
	for range bodyAttempts {
		var body []byte
		var v Version
		body, v, err = s.getOnce(ctx, key)
		if err == nil {
			return body, v, nil
		}
		if !errors.Is(err, errBroken) || ctx.Err() != nil {
			break
		}
	}
	return nil, Version{}, fmt.Errorf("get object %q: %w", key, err)
}

// errBroken: the body did not arrive whole.
var errBroken = errors.New("answer broke off")

func (s *S3) getOnce(ctx context.Context, key string) ([]byte, Version, error) {
	out, err := s.client.GetObject(ctx, s.getInput(key))
	if err != nil {
		return nil, Version{}, answer(readMode, err)
	}
	defer out.Body.Close()
	v, err := version(out.ETag, out.VersionId)
	if err != nil {
		return nil, Version{}, err
	}
	if strings.HasPrefix(aws.ToString(out.ContentType), "text/html") {
		return nil, Version{}, fmt.Errorf("answer is an HTML page: %w", errNotS3) // of any host's front, with status 200
	}
	body, err := io.ReadAll(out.Body)
	if err == nil && (out.ContentLength == nil || *out.ContentLength != int64(len(body))) {
		err = io.ErrUnexpectedEOF // a clean end can be a cut connection
	}
	if err != nil {
		return nil, Version{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	return body, v, nil
}

func (s *S3) Head(ctx context.Context, key string) (Entry, error) {
	e, err := s.head(ctx, key, Version{})
	if err != nil {
		return Entry{}, fmt.Errorf("head object %q: %w", key, err)
	}
	return e, nil
}

// head is pinned to v if that is not zero.
func (s *S3) head(ctx context.Context, key string, v Version) (Entry, error) {
	if err := errors.Join(checkRead(key), ctx.Err()); err != nil {
		return Entry{}, err
	}
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(key)), IfMatch: optional(v.ETag), VersionId: optional(v.ID),
		RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	})
	if r, ok := errors.AsType[*awshttp.ResponseError](err); ok && r.HTTPStatusCode() == http.StatusNotFound {
		return Entry{}, s.whyAbsent(ctx, key, v)
	}
	if err != nil {
		return Entry{}, answer(readMode, err)
	}
	got, err := version(out.ETag, out.VersionId)
	if err != nil {
		return Entry{}, err
	}
	if v.ETag != "" && got.ETag != v.ETag {
		return Entry{}, ErrVersionMismatch // a store that ignores the condition
	}
	if out.ContentLength == nil {
		return Entry{}, errors.New("answer has no length")
	}
	return Entry{Key: key, Size: *out.ContentLength, Version: got, Modified: aws.ToTime(out.LastModified).UTC()}, nil
}

// whyAbsent asks again after a HEAD that answered 404, in a way that has a body
// to say whether it is the key that is missing: it may be the bucket, the user
// (versitygw), or a proxy's page.
func (s *S3) whyAbsent(ctx context.Context, key string, v Version) error {
	in := s.getInput(key)
	in.VersionId, in.Range = optional(v.ID), aws.String("bytes=0-0")
	out, err := s.client.GetObject(ctx, in)
	if err != nil {
		return answer(readMode, err)
	}
	out.Body.Close()
	return ErrNotFound // it came while we asked: the first answer holds
}

// GetRange goes on where it was when the connection breaks. A change of the
// object shows when it is opened, and at each such break.
func (s *S3) GetRange(ctx context.Context, key string, off, n int64, v Version) (io.ReadCloser, error) {
	r, err := s.openRange(ctx, key, off, n, v)
	if err != nil {
		return nil, fmt.Errorf("read object %q: %w", key, err)
	}
	return r, nil
}

func (s *S3) openRange(ctx context.Context, key string, off, n int64, v Version) (io.ReadCloser, error) {
	if err := errors.Join(checkRead(key), checkRange(off, n), checkVersion(v), ctx.Err()); err != nil {
		return nil, err
	}
	if n == 0 { // there is no such range
		_, err := s.head(ctx, key, v)
		return io.NopCloser(strings.NewReader("")), err
	}
	r := &rangeReader{ctx: ctx, s: s, key: key, version: v, off: off, wanted: n, end: math.MaxInt64}
	if n < math.MaxInt64-off {
		r.end = off + n
	}
	return r, r.open()
}

// rangeReader reads off to end of one version, over several requests if need be.
type rangeReader struct {
	ctx      context.Context
	s        *S3
	key      string
	version  Version
	off, end int64 // what is still to be read; end is at most the object's
	wanted   int64 // bytes still owed to the caller, also beyond the object
	body     io.ReadCloser
	failures int
}

// open asks for the rest. At the end of the object there is no body.
func (r *rangeReader) open() error {
	in := r.s.getInput(r.key)
	in.IfMatch, in.VersionId = &r.version.ETag, optional(r.version.ID)
	in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", r.off, r.end-1))
	out, err := r.s.client.GetObject(r.ctx, in)
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "InvalidRange" {
		// All of it is beyond the end; the condition may not have been looked at.
		r.end = r.off
		_, err := r.s.head(r.ctx, r.key, r.version)
		return err
	}
	if err != nil {
		return answer(readMode, err)
	}
	if err := r.accept(out); err != nil {
		out.Body.Close()
		return err
	}
	r.body = out.Body
	return nil
}

// accept checks that the answer is the range and version that was asked for.
func (r *rangeReader) accept(out *s3.GetObjectOutput) error {
	v, err := version(out.ETag, nil)
	if err != nil {
		return err
	}
	if v.ETag != r.version.ETag {
		return ErrVersionMismatch // a store that ignores the condition
	}
	if out.ContentRange == nil {
		if r.off == 0 && out.ContentLength != nil { // all of it, from the start
			r.end = min(r.end, *out.ContentLength)
			return nil
		}
		return errors.New("store ignores the range that was asked for")
	}
	first, last, err := parseContentRange(*out.ContentRange)
	if err != nil {
		return err
	}
	if first != r.off || last >= r.end {
		return fmt.Errorf("store sent %q, asked for %d-%d", *out.ContentRange, r.off, r.end-1)
	}
	r.end = last + 1
	return nil
}

// parseContentRange reads "bytes 0-9/10"; first and last are inclusive.
func parseContentRange(s string) (first, last int64, err error) {
	span, _, _ := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	a, b, _ := strings.Cut(span, "-")
	first, err1 := strconv.ParseInt(a, 10, 64)
	last, err2 := strconv.ParseInt(b, 10, 64)
	if err := errors.Join(err1, err2); err != nil || first > last {
		return 0, 0, fmt.Errorf("unreadable content range %q", s)
	}
	return first, last, nil
}

func (r *rangeReader) Read(p []byte) (int, error) {
	switch {
	case r.wanted == 0:
		return 0, io.EOF
	case r.off == r.end:
		return 0, io.ErrUnexpectedEOF // the object ends here
	case len(p) == 0:
		return 0, nil
	}
	n, err := r.body.Read(p[:min(int64(len(p)), r.end-r.off)])
	r.off += int64(n)
	r.wanted -= int64(n)
	if n > 0 {
		r.failures = 0
		return n, nil // an error comes again
	}
	if err == nil {
		return 0, nil
	}
	r.failures++
	if err := r.ctx.Err(); err != nil {
		return 0, fmt.Errorf("read object %q: %w", r.key, err)
	}
	if r.failures == bodyAttempts {
		return 0, fmt.Errorf("read object %q at %d: %w: %w", r.key, r.off, errBroken, err)
	}
	r.body.Close()
	if err := r.open(); err != nil {
		return 0, fmt.Errorf("read object %q at %d: %w", r.key, r.off, err)
	}
	return 0, nil
}

func (r *rangeReader) Close() error {
	if r.body == nil {
		return nil
	}
	return r.body.Close()
}
