package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// askedBody is what the store is asked to take, and wrongSum the SHA-256 of
// something else.
const askedBody = "what does this store do with checksums?\n"

func wrongSum() *string {
	sum := sha256.Sum256(nil)
	return aws.String(base64.StdEncoding.EncodeToString(sum[:]))
}

// judged is what a store did with a wrong checksum.
func judged(err error) string {
	if err == nil {
		return "accepted"
	}
	for _, code := range []string{"BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch", "InvalidRequest", "InvalidArgument"} {
		if hasCode(err, code) {
			return "refused"
		}
	}
	return ""
}

// askChecksum sends a body with another's SHA-256.
func (s *S3) askChecksum(ctx context.Context, scratch string, f *Facts) error {
	in := s.putInput(scratch+"checksum", strings.NewReader(askedBody), int64(len(askedBody)))
	in.ChecksumSHA256 = wrongSum()
	_, err := s.client.PutObject(ctx, in)
	if f.Checksum = judged(err); f.Checksum != "" {
		return nil
	}
	return err
}

// askPartChecksum sends one part with another's SHA-256, of an upload that is
// given up then.
func (s *S3) askPartChecksum(ctx context.Context, scratch string, f *Facts) error {
	id, abort, err := s.beginUpload(ctx, scratch+"parts")
	if err != nil {
		return err
	}
	_, err = s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &s.loc.Bucket, Key: aws.String(s.loc.Key(scratch + "parts")), UploadId: &id, PartNumber: aws.Int32(1),
		Body: strings.NewReader(askedBody), ChecksumSHA256: wrongSum(), RequestPayer: s.payer, ExpectedBucketOwner: s.owner,
	})
	if f.PartChecksum = judged(err); f.PartChecksum != "" {
		err = nil
	}
	return errors.Join(err, abort())
}

// askTrailer writes as SDKs do that nobody has told otherwise, which is another
// way over TLS than without. wap does not; engines that stage files may.
func (s *S3) askTrailer(ctx context.Context, scratch string, f *Facts) error {
	if !strings.HasPrefix(f.Endpoint, "https://") {
		return nil
	}
	in := s.putInput(scratch+"trailer", strings.NewReader(askedBody), int64(len(askedBody)))
	in.ChecksumAlgorithm = types.ChecksumAlgorithmCrc32
	_, err := s.client.PutObject(ctx, in)
	if err = answer(readMode, err); err != nil {
		if errors.Is(err, ErrUnsupported) {
			f.Trailer = "refused"
			return nil
		}
		return err
	}
	out, err := s.client.GetObject(ctx, s.getInput(scratch+"trailer"))
	if err != nil {
		return err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil {
		return err
	}
	f.Trailer = "taken"
	if !bytes.Equal(body, []byte(askedBody)) {
		f.Trailer = "stored with its framing"
	}
	return nil
}
