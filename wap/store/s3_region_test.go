package store

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/smithy-go"
)

// The region is in a header of whatever S3 answers to the wrong one.
func TestS3BucketRegion(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-west-2",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	for _, c := range []struct {
		status int
		header string
		want   string
		err    error
	}{
		{200, "eu-west-1", "eu-west-1", nil},
		{200, "", "us-west-2", nil}, // a store that does not say
		{301, "eu-west-1", "eu-west-1", nil},
		{403, "eu-west-1", "eu-west-1", nil},
		{403, "", "", ErrForbidden},
		{404, "", "", ErrNoBucket},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.header != "" {
				w.Header().Set("X-Amz-Bucket-Region", c.header)
			}
			w.WriteHeader(c.status)
		}))
		s, err := NewS3(t.Context(), Location{Scheme: SchemeS3, Bucket: "b"}, S3Config{Endpoint: srv.URL})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.bucketRegion(t.Context())
		if got != c.want || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("status %d, header %q: %q, %v; want %q, %v", c.status, c.header, got, err, c.want, c.err)
		}
		srv.Close()
	}
}

// TestS3Addressing: the bucket is in the host's name on AWS, and in the path with
// an endpoint or where it is asked for.
func TestS3Addressing(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "access", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	for _, c := range []struct {
		endpoint string // of the environment
		cfg      S3Config
		path     bool
		region   string
	}{
		{"", S3Config{Region: "eu-west-1"}, false, "eu-west-1"},
		{"", S3Config{Region: "eu-west-1", PathStyle: true}, true, "eu-west-1"},
		{"", S3Config{Endpoint: "http://127.0.0.1:1"}, true, "us-east-1"},
		{"http://127.0.0.1:1", S3Config{}, true, "us-east-1"},
	} {
		t.Setenv("AWS_ENDPOINT_URL_S3", c.endpoint)
		s, err := NewS3(t.Context(), Location{Scheme: SchemeS3, Bucket: "b"}, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if o := s.client.Options(); o.UsePathStyle != c.path || o.Region != c.region {
			t.Errorf("endpoint %q, %+v: path style %v, region %s", c.endpoint, c.cfg, o.UsePathStyle, o.Region)
		}
	}
}

// TestS3Backoff: a store may take some seconds to come back, and longer where it
// asks for it.
func TestS3Backoff(t *testing.T) {
	for _, c := range []struct {
		err         error
		least, most time.Duration
	}{
		{errors.New("connection refused"), 6 * time.Second, 13 * time.Second},
		{&smithy.GenericAPIError{Code: "SlowDown"}, 22 * time.Second, 45 * time.Second},
	} {
		var all time.Duration
		for n := range readAttempts - 1 {
			d, err := backoff(n+1, c.err)
			if err != nil {
				t.Fatal(err)
			}
			all += d
		}
		if all < c.least || all > c.most {
			t.Errorf("%v: %s in all, want %s to %s", c.err, all, c.least, c.most)
		}
	}
	if d, err := backoff(1000, nil); err != nil || d > 10*time.Second {
		t.Errorf("after many attempts: %s, %v", d, err)
	}
}
