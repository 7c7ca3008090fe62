package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/sync/semaphore"
)

const (
	// credentialsTimeout bounds all sources together; some start programs.
	credentialsTimeout = 30 * time.Second
	// metadataTimeout is for one request to the metadata service of a machine,
	// which answers at once where there is one.
	metadataTimeout = 2 * time.Second
	// readAttempts is how often a request other than Create and Swap is sent
	// while the store is slow or broken: for about 10 s in all, see backoff.
	readAttempts = 8
	// parallelUploads multipart uploads of partsInFlight parts of partSize bytes
	// run at once, and one part more is being read: whatever the number of files
	// in flight, about 100 MiB are in use, and twice that with what the collector
	// has yet to free.
	parallelUploads = 2
	partsInFlight   = 5
	partSize        = 8 << 20
	// wholeBytes are held at a time of uploads in one request: four of the largest.
	wholeBytes = 8 * partSize
	// abortTimeout is for removing the parts of a failed upload.
	abortTimeout = 30 * time.Second
)

// NewS3 returns the store at an s3 location. It finds credentials and, on AWS,
// the bucket's region before it returns: what is wrong with either shows here.
func NewS3(ctx context.Context, l Location, cfg S3Config) (*S3, error) {
	s, err := newS3(ctx, l, cfg)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", l, err)
	}
	return s, nil
}

func newS3(ctx context.Context, l Location, cfg S3Config) (*S3, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	awsCfg, err := cfg.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	source, err := findCredentials(ctx, awsCfg.Credentials)
	if err != nil {
		return nil, err
	}
	s := &S3{
		loc:     l,
		source:  source,
		uploads: make(chan struct{}, parallelUploads),
		whole:   semaphore.NewWeighted(wholeBytes),
		sse:     types.ServerSideEncryption(cfg.SSE),
		kmsKey:  optional(cfg.KMSKey),
		owner:   optional(cfg.BucketOwner),
	}
	if cfg.RequesterPays {
		s.payer = types.RequestPayerRequester
	}
	custom := false // an endpoint may also come from the environment
	adapt := func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true
		o.UsePathStyle = o.UsePathStyle || cfg.PathStyle
		if cfg.Endpoint != "" {
			o.BaseEndpoint = &cfg.Endpoint // AWS_ENDPOINT_URL_S3 would come before the configuration
		}
		if o.BaseEndpoint != nil {
			custom = true
			o.UsePathStyle = true
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		}
	}
	s.client = s3.NewFromConfig(awsCfg, adapt)
	if !custom && cfg.Region == "" {
		region, err := s.bucketRegion(ctx)
		if err != nil {
			return nil, err
		}
		awsCfg.Region = region
		s.client = s3.NewFromConfig(awsCfg, adapt)
	}
	s.manager = transfermanager.New(summed{s.client}, func(o *transfermanager.Options) {
		o.PartSizeBytes = partSize
		o.MultipartUploadThreshold = partSize
		o.Concurrency = partsInFlight
		o.FailTimeout = abortTimeout
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired // summed has its own
	})
	return s, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c S3Config) check() error {
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return fmt.Errorf("endpoint %q is no http or https URL", c.Endpoint)
		}
	}
	if c.KMSKey != "" && !strings.HasPrefix(c.SSE, "aws:kms") {
		return fmt.Errorf("a KMS key needs aws:kms encryption, not %q", c.SSE)
	}
	switch c.SSE {
	case "", "AES256", "aws:kms", "aws:kms:dsse":
		return nil
	}
	return fmt.Errorf("unknown encryption %q: want AES256, aws:kms or aws:kms:dsse", c.SSE)
}

// load reads the SDK's environment and files.
func (c S3Config) load(ctx context.Context) (aws.Config, error) {
	client := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 64 // requests run in parallel, mostly to one host
	})
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(client),
		config.WithLogger(logging.Nop{}), // it would write to standard error
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = metadataService() }),
	}
	if c.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(c.Profile))
	}
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	if c.CABundle != "" {
		bundle, err := os.Open(c.CABundle)
		if err != nil {
			return aws.Config{}, fmt.Errorf("read CA bundle: %w", err)
		}
		defer bundle.Close()
		options = append(options, config.WithCustomCABundle(bundle))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("read AWS configuration: %w", err)
	}
	if loaded.Region == "" {
		loaded.Region = "us-east-1"
	}
	if loaded.RetryMaxAttempts == 0 {
		loaded.RetryMaxAttempts = readAttempts
	}
	if loaded.RetryMode != aws.RetryModeAdaptive { // that is asked for, and has its own
		loaded.Retryer = func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.Backoff = retry.BackoffDelayerFunc(backoff)
				// The SDK's tokens are the whole client's: parallel requests to a store
				// that restarts would use them up. Attempts are bounded anyway.
				o.RateLimiter = ratelimit.None
			})
		}
	}
	return loaded, nil
}

// backoff is the wait after a number of attempts. The SDK's own begins at 50 ms
// and is over in a second or two: a store that restarts takes longer.
func backoff(attempts int, err error) (time.Duration, error) {
	d := 100 * time.Millisecond
	if retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary {
		d = time.Second
	}
	d = min(d<<min(attempts-1, 10), 10*time.Second)
	return d/2 + rand.N(d/2), nil
}

// metadataService asks once and briefly: off AWS there is nobody to answer.
func metadataService() *imds.Client {
	o := imds.Options{
		Endpoint:   os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
		HTTPClient: awshttp.NewBuildableClient().WithTimeout(metadataTimeout),
		Retryer:    retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 2 }),
	}
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		o.ClientEnableState = imds.ClientDisabled
	}
	return imds.New(o)
}

// findCredentials returns the name of the source that has them.
func findCredentials(ctx context.Context, p aws.CredentialsProvider) (string, error) {
	if p == nil {
		return "", fmt.Errorf("%w: %w: no source is configured", errNoCredentials, ErrForbidden)
	}
	bounded, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	c, err := p.Retrieve(bounded)
	if ctx.Err() != nil {
		return "", fmt.Errorf("find credentials: %w", ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("%w in the environment, shared files and roles of the machine: %w: %v", errNoCredentials, ErrForbidden, err)
	}
	if c.Expired() {
		return "", fmt.Errorf("%w: %w: those from %s expired at %s", errNoCredentials, ErrForbidden, c.Source, c.Expires.UTC().Format(time.RFC3339))
	}
	return c.Source, nil
}

// bucketRegion asks where the bucket is. S3 tells in a header of whatever it
// answers, a refusal too; a redirect is not followed.
func (s *S3) bucketRegion(ctx context.Context) (string, error) {
	out, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.loc.Bucket, ExpectedBucketOwner: s.owner})
	if err == nil && aws.ToString(out.BucketRegion) != "" {
		return *out.BucketRegion, nil
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok && response.Response != nil {
		if region := response.Response.Header.Get("X-Amz-Bucket-Region"); region != "" {
			return region, nil
		}
		if response.HTTPStatusCode() == http.StatusNotFound {
			return "", fmt.Errorf("find region of bucket %q: %w", s.loc.Bucket, ErrNoBucket)
		}
	}
	if err == nil {
		return s.client.Options().Region, nil
	}
	return "", fmt.Errorf("find region of bucket %q: %w", s.loc.Bucket, answer(readMode, err))
}

// CredentialSource names where the credentials come from, as the SDK calls it.
func (s *S3) CredentialSource() string { return s.source }

// Region is the region that requests are signed for.
func (s *S3) Region() string { return s.client.Options().Region }
