package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

// mode says what a failed condition means.
type mode int

const (
	readMode   mode = iota // If-Match on a read
	createMode             // If-None-Match on a put
	swapMode               // If-Match on a put
)

func (m mode) preconditionFailed() error {
	if m == createMode {
		return ErrExists
	}
	return ErrVersionMismatch
}

// answer translates an error of the SDK: by the code in the store's answer if
// there is one, else by the status. What is neither stays unknown. The text is
// ours, because the SDK's names its own internals first.
func answer(m mode, err error) error {
	if err == nil {
		return nil
	}
	a := &answered{text: err.Error()}
	status, id := 0, ""
	if r, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status, id = r.HTTPStatusCode(), r.ServiceRequestID()
		if r.Response != nil {
			a.region = r.Response.Header.Get("X-Amz-Bucket-Region")
		}
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		a.code = api.ErrorCode()
		a.text = fmt.Sprintf("%s: %s (status %d, request %q)", a.code, api.ErrorMessage(), status, id)
	}
	a.sentinel = byCode(m, a.code)
	if a.sentinel == nil && !indefinite(a.code) {
		a.sentinel = byStatus(m, status)
	}
	switch {
	case a.sentinel != nil:
		return a
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // callers look for these
	case a.code != "":
		return a
	}
	return err
}

// indefinite codes decide nothing, whatever their status: the same request may
// be, or may have been, carried out.
func indefinite(code string) bool {
	switch code {
	case "ConditionalRequestConflict", "OperationAborted", // 409: another write is in progress
		"RequestTimeout", // 400: the body came too slowly
		"SlowDown", "ServiceUnavailable", "InternalError", "ServerBusy", "Throttling", "ThrottlingException",
		"TooManyRequests", "XMinioServerNotInitialized":
		return true
	}
	return false
}

func byCode(m mode, code string) error {
	switch code {
	case "PreconditionFailed": // also inside an answer of status 200 or 500
		return m.preconditionFailed()
	case "NoSuchKey", "NoSuchVersion": // not "NotFound", the SDK's word for any 404 without a code
		if m == createMode {
			return nil // makes no sense there, so it proves nothing
		}
		return ErrNotFound
	case "NoSuchBucket":
		return ErrNoBucket
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch",
		"XAdminUserNotFound", "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "RequestTimeTooSkewed", "RequestExpired", "NotSignedUp",
		"InvalidObjectState", "InvalidPayer":
		return ErrForbidden
	case "NotImplemented", "MethodNotAllowed", "InvalidRequest", "InvalidArgument", "MalformedXML", "InvalidBucketName",
		"KeyTooLongError", "EntityTooLarge", "MissingContentLength", "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch",
		"XAmzContentChecksumMismatch", "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
		"IllegalLocationConstraintException", "InvalidURI", "InvalidEncryptionAlgorithmError", "KMS.NotFoundException", "KMS.DisabledException":
		return ErrUnsupported
	}
	return nil
}

// byStatus is for answers without a code that we know, which may be a proxy's:
// a 404 of such is not "absent", and no other status proves inaction.
func byStatus(m mode, status int) error {
	switch status {
	case http.StatusPreconditionFailed:
		return m.preconditionFailed()
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return ErrForbidden
	case http.StatusNotImplemented, http.StatusMethodNotAllowed, http.StatusMovedPermanently, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong:
		return ErrUnsupported
	}
	return nil
}
