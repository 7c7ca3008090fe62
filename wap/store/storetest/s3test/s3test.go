// Package s3test starts real object stores for tests: the same servers in a
// container where there is Docker, else as processes, on the loopback only.
package s3test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/wap-cli/wap/wap/store"
)

// Environment that chooses the servers.
const (
	// EnvEndpoint is the URL of a server to use in place of all others. Keys
	// and region come from the usual AWS variables, the bucket from EnvBucket.
	EnvEndpoint = "WAP_TEST_S3_ENDPOINT"
	// EnvBucket is the bucket to use there, made if it is missing; "wap-test"
	// when not set.
	EnvBucket = "WAP_TEST_S3_BUCKET"
	// EnvRunner is "docker" or "process"; when not set, Docker if there is one.
	EnvRunner = "WAP_TEST_S3_RUNNER"
	// EnvServers names a file to which every started server's name is added, a
	// line each, for a summary over the binaries of all packages.
	EnvServers = "WAP_TEST_SERVERS"
)

// Kind is a server that tests know how to build and start.
type Kind string

const (
	MinIO     Kind = "minio"
	VersityGW Kind = "versitygw"
	// MinIOPools is MinIO with two pools, which overwrites existing keys under
	// If-None-Match when they lie in the other pool: a store to refuse.
	MinIOPools Kind = "minio-2-pools"
)

// Kinds lists the servers that every test of the S3 store is to pass on.
func Kinds() []Kind { return []Kind{MinIO, VersityGW} }

// Server is a running object store with an empty bucket.
type Server struct {
	Name      string // for people: what it is and how it runs
	Endpoint  string // URL
	AccessKey string
	SecretKey string
	Region    string
	Bucket    string
	CABundle  string // PEM file, for an endpoint with TLS that the system does not trust

	direct string // endpoint without TLS, if there are two
}

// Start starts a server that lives until t ends; subtests share it. It builds
// the server's binary into .tools/ if that is not there, which takes minutes.
// A server that cannot be started fails the test; none is ever skipped.
func Start(t testing.TB, kind Kind) Server {
	t.Helper()
	srv := Server{AccessKey: "wap-test-access", SecretKey: "wap-test-secret", Region: "us-east-1", Bucket: "wap-test"}
	if endpoint := os.Getenv(EnvEndpoint); endpoint != "" {
		srv = fromEnvironment(endpoint)
	} else {
		spec := kind.spec(t)
		runner := os.Getenv(EnvRunner)
		if runner == "" {
			runner = "process"
			if dockerAnswers() {
				runner = "docker"
			}
		}
		srv.Name = fmt.Sprintf("%s (%s)", kind, runner)
		switch runner {
		case "docker":
			srv.Endpoint = startContainer(t, spec, srv)
		case "process":
			srv.Endpoint = startProcess(t, spec, srv)
		default:
			t.Fatalf("%s=%q: want docker or process", EnvRunner, runner)
		}
	}
	t.Logf("object store: %s at %s", srv.Name, srv.Endpoint)
	srv.record(t)
	srv.MakeBucket(t, srv.Bucket)
	return srv
}

func fromEnvironment(endpoint string) Server {
	srv := Server{
		Name:      endpoint + " (" + EnvEndpoint + ")",
		Endpoint:  endpoint,
		AccessKey: os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		Region:    os.Getenv("AWS_REGION"),
		Bucket:    os.Getenv(EnvBucket),
		CABundle:  os.Getenv("AWS_CA_BUNDLE"),
	}
	if srv.Region == "" {
		srv.Region = "us-east-1"
	}
	if srv.Bucket == "" {
		srv.Bucket = "wap-test"
	}
	return srv
}

// Environ is what a process needs to reach the server by its s3:// URLs.
func (s Server) Environ() []string {
	var env []string
	for _, v := range s.variables() {
		env = append(env, v.name+"="+v.value)
	}
	return env
}

// Setenv sets Environ for the rest of the test.
func (s Server) Setenv(t testing.TB) {
	for _, v := range s.variables() {
		t.Setenv(v.name, v.value)
	}
}

type variable struct{ name, value string }

func (s Server) variables() []variable {
	return []variable{
		{"AWS_ENDPOINT_URL_S3", s.Endpoint},
		{"AWS_ACCESS_KEY_ID", s.AccessKey},
		{"AWS_SECRET_ACCESS_KEY", s.SecretKey},
		{"AWS_SESSION_TOKEN", ""},
		{"AWS_REGION", s.Region},
		{"AWS_CA_BUNDLE", s.CABundle},
		{"AWS_EC2_METADATA_DISABLED", "true"},
		{"AWS_CONFIG_FILE", os.DevNull},
		{"AWS_SHARED_CREDENTIALS_FILE", os.DevNull},
	}
}

// Root is the URL of a prefix that nobody else uses.
func (s Server) Root() string {
	return fmt.Sprintf("s3://%s/test-%s", s.Bucket, rand.Text())
}

// Open opens a root of the server, whose variables must be set.
func (s Server) Open(t testing.TB, root string) store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), root, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// Client is a plain client of the server, for what the store does not offer.
func (s Server) Client() *s3.Client {
	endpoint := s.Endpoint
	if s.direct != "" {
		endpoint = s.direct
	}
	trusted, _ := x509.SystemCertPool() // nil is the system's own, too
	if bundle, err := os.ReadFile(s.CABundle); err == nil && trusted != nil {
		trusted.AppendCertsFromPEM(bundle)
	}
	return s3.New(s3.Options{
		HTTPClient: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
		}),
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: s.Region,
		Credentials:                credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		// Some servers say that they are ready a little before they are.
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 30, time.Second }),
	})
}

// MakeBucket makes a bucket that is not there.
func (s Server) MakeBucket(t testing.TB, bucket string) {
	t.Helper()
	client := s.Client()
	if _, err := client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: &bucket}); err == nil {
		return
	}
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket}); err != nil {
		t.Fatalf("make bucket %q of %s: %v", bucket, s.Name, err)
	}
}

// KeepVersions turns the versions of a bucket on.
func (s Server) KeepVersions(t testing.TB, bucket string) {
	t.Helper()
	_, err := s.Client().PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: &bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatalf("keep versions in bucket %q of %s: %v", bucket, s.Name, err)
	}
}

// record adds the server to the file of EnvServers.
func (s Server) record(t testing.TB) {
	t.Helper()
	name := os.Getenv(EnvServers)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintln(f, s.Name)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// FreeAddress is a host and port that are free now. On Linux all of 127/8 is this
// machine, and nobody else comes upon the same host before the server listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		r := make([]byte, 3)
		_, _ = rand.Read(r) // never fails
		host = net.IPv4(127, r[0]|1, r[1], r[2]|1).String()
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
