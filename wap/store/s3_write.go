package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	tmtypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

var errNoETag = fmt.Errorf("answer has no etag: %w", errNotS3)

func (s *S3) Create(ctx context.Context, key string, body []byte) (Version, error) {
	v, err := s.put(ctx, key, condition{mode: createMode, ifNoneMatch: aws.String("*")}, body)
	if err != nil {
		return Version{}, fmt.Errorf("create object %q: %w", key, err)
	}
	return v, nil
}

func (s *S3) Swap(ctx context.Context, key string, v Version, body []byte) (Version, error) {
	if err := checkVersion(v); err != nil {
		return Version{}, notSent("swap", key, err)
	}
	v, err := s.put(ctx, key, condition{mode: swapMode, ifMatch: &v.ETag}, body)
	if err != nil {
		return Version{}, fmt.Errorf("swap object %q: %w", key, err)
	}
	return v, nil
}

type condition struct {
	mode                 mode
	ifMatch, ifNoneMatch *string
}

// put is one conditional PutObject, sent once. The SDK would send it again
// after a lost answer, and report as a failed condition that the first had
// landed. The checksum is a header of our own: the SDK's would be a trailer,
// which some stores reject.
func (s *S3) put(ctx context.Context, key string, c condition, body []byte) (Version, error) {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return Version{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	sum := sha256.Sum256(body)
	// The witness: without a connection not a byte has left.
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	in := s.putInput(key, bytes.NewReader(body), int64(len(body)))
	in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum[:]))
	in.IfMatch, in.IfNoneMatch = c.ifMatch, c.ifNoneMatch
	out, err := s.client.PutObject(traced, in, func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
	switch {
	case err != nil && !connected.Load():
		return Version{}, fmt.Errorf("%w: %w", ErrNotSent, err)
	case err != nil:
		return Version{}, answer(c.mode, err)
	}
	return version(out.ETag, out.VersionId)
}

func (s *S3) putInput(key string, body io.Reader, size int64) *s3.PutObjectInput {
	return &s3.PutObjectInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(key)), Body: body, ContentLength: &size,
		ServerSideEncryption: s.sse, SSEKMSKeyId: s.kmsKey,
		RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	}
}

// nullVersion is the id in a bucket whose versioning is off or suspended.
const nullVersion = "null"

func version(etag, id *string) (Version, error) {
	v := Version{ETag: aws.ToString(etag), ID: aws.ToString(id)}
	if v.ETag == "" {
		return Version{}, errNoETag
	}
	if v.ID == nullVersion {
		v.ID = ""
	}
	return v, nil
}

// Upload sends up to two parts' size in one request, and more in parts, a few
// uploads at a time. Unlike the conditional writes it is sent again when it
// fails: its key is never reused, so that a second landing changes nothing.
func (s *S3) Upload(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error) {
	if err := errors.Join(checkKey(key), ctx.Err()); err != nil {
		return Entry{}, notSent("upload", key, err)
	}
	send := s.uploadWhole
	if size > 2*partSize {
		send = s.uploadParts
	}
	e, err := send(ctx, key, src, size)
	if err != nil {
		return Entry{}, fmt.Errorf("upload object %q: %w", key, err)
	}
	return e, nil
}

// uploadWhole reads src once: what is sent, however often, are the bytes that the
// checksum is of.
func (s *S3) uploadWhole(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error) {
	held := max(size, 0) // a negative one is refused where it is read
	if err := s.whole.Acquire(ctx, held); err != nil {
		return Entry{}, err
	}
	defer s.whole.Release(held)
	var body bytes.Buffer
	body.Grow(int(held))
	if err := copyAll(ctx, &body, src, size); err != nil {
		return Entry{}, err
	}
	sum := sha256.Sum256(body.Bytes())
	in := s.putInput(key, bytes.NewReader(body.Bytes()), size)
	in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(sum[:]))
	out, err := s.client.PutObject(ctx, in)
	if err != nil {
		return Entry{}, answer(readMode, err)
	}
	v, err := version(out.ETag, out.VersionId)
	return Entry{Key: key, Size: size, Version: v, Modified: serverTime(out.ResultMetadata)}, err
}

// uploadParts leaves no parts behind when it fails, unless it is killed.
func (s *S3) uploadParts(ctx context.Context, key string, src io.ReaderAt, size int64) (Entry, error) {
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	case <-ctx.Done():
		return Entry{}, ctx.Err()
	}
	out, err := s.manager.UploadObject(ctx, &transfermanager.UploadObjectInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(key)), ContentLength: &size,
		Body:                 &exactReader{src: &ctxReader{ctx: ctx, src: io.NewSectionReader(src, 0, size)}, left: size},
		ChecksumAlgorithm:    tmtypes.ChecksumAlgorithmSha256,
		ServerSideEncryption: tmtypes.ServerSideEncryption(s.sse), SSEKMSKeyID: s.kmsKey,
		RequestPayer: tmtypes.RequestPayer(s.payer), ExpectedBucketOwner: s.owner,
	})
	if err == nil {
		v, err := version(out.ETag, out.VersionID)
		return Entry{Key: key, Size: size, Version: v, Modified: serverTime(out.ResultMetadata)}, err
	}
	if ctx.Err() != nil {
		return Entry{}, fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if errors.Is(err, errWrongSum) { // of a whole object, perhaps
		return Entry{}, errors.Join(err, s.Delete(ctx, key))
	}
	// The last request may have been carried out without its answer reaching
	// us, and then been refused when repeated. Only this upload writes the key,
	// and only whole.
	if e, herr := s.Head(ctx, key); herr == nil && e.Size == size {
		return e, nil
	}
	return Entry{}, answer(readMode, err)
}

// serverTime is when the store answered.
func serverTime(m smithymiddleware.Metadata) time.Time {
	if at, ok := middleware.GetServerTime(m); ok {
		return at.UTC()
	}
	return time.Now().UTC()
}
