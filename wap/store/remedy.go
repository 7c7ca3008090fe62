package store

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/aws/smithy-go"
)

// ErrConfig: the store cannot be opened as it is named or configured.
var ErrConfig = errors.New("unusable configuration")

// errNoCredentials: no source has any that can be used.
var errNoCredentials = errors.New("no usable credentials")

// errNotS3: something answered with success that does not do what S3 does.
var errNotS3 = errors.New("this does not behave like an S3 store")

// answered is an error that the store answered with.
type answered struct {
	sentinel error  // or nil
	code     string // of the API; empty where there was none
	region   string // where the bucket is, if the store said so
	text     string
}

func (a *answered) Error() string {
	if a.sentinel == nil {
		return a.text
	}
	return a.sentinel.Error() + ": " + a.text
}

func (a *answered) Unwrap() error { return a.sentinel }

// Remedy says what to do about an error of a store, for people; empty where
// nothing better is known than trying again.
func Remedy(err error) string {
	if a, ok := errors.AsType[*answered](err); ok {
		if text := a.remedy(); text != "" {
			return text
		}
	}
	if text := tlsRemedy(err); text != "" {
		return text
	}
	var dns *net.DNSError
	var garbled *smithy.DeserializationError
	switch {
	case errors.Is(err, errNoCredentials):
		return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile with --profile, or log in again"
	case errors.Is(err, errNotS3), errors.As(err, &garbled):
		return noStore
	case errors.As(err, &dns):
		return fmt.Sprintf("there is no host %q: check --endpoint-url and --region", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: check --endpoint-url, and whether the store runs"
	case errors.Is(err, ErrNoBucket):
		return "check the bucket's name and --endpoint-url; wap makes no buckets"
	case errors.Is(err, ErrForbidden):
		return permissions
	}
	return ""
}

const noStore = "check --endpoint-url: what answers there is no S3 store, perhaps its console, a login page or a proxy"

const permissions = "the credentials need s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject and s3:DeleteObject below the warehouse"

func (a *answered) remedy() string {
	switch a.code {
	case "RequestTimeTooSkewed":
		return "set this machine's clock: it differs from the store's by more than the store allows"
	case "ExpiredToken", "TokenRefreshRequired", "RequestExpired":
		return "the credentials have expired: log in again"
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "XAdminUserNotFound", "NotSignedUp":
		return "this store does not know these credentials: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --profile"
	case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "301", "307":
		if a.region != "" {
			return "the bucket is in another region: --region " + a.region
		}
		return "the bucket is in another region: give the right one with --region"
	case "NotFound", "UnknownError": // the SDK's words for answers that name no code
		return noStore
	case "InvalidBucketName":
		return "that is no name of a bucket: check what follows s3:// in the warehouse's URL"
	case "InvalidObjectState":
		return "the object is in an archive: restore it first"
	case "InvalidPayer":
		return "the bucket wants its requesters to pay: s3.requester_pays in wap.yaml"
	}
	return ""
}

// tlsRemedy knows what goes wrong before a request is sent.
func tlsRemedy(err error) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the endpoint does not speak TLS: use http:// in --endpoint-url"
	case errors.As(err, &unknown):
		return "name the store's certificate authority: s3.ca_bundle in wap.yaml, or AWS_CA_BUNDLE"
	case errors.As(err, &host):
		return "the certificate is for another host: use the name that it has in --endpoint-url"
	case errors.As(err, &invalid):
		return "the store's certificate is not valid now: check its dates, and this machine's clock"
	}
	return ""
}
