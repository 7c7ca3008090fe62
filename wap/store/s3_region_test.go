package store

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
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
