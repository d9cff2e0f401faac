package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen"
)

// Failure is an error for the client. Each format has its own form for it.
type Failure struct { //nolint:errname // failure is the word of the log and the metrics
	Code    Code
	Message string        // for the client: the step, the input and what to do
	Retry   time.Duration // after which a retry may succeed; 0 where it will not
	Cause   error         // for the log only; nil where the message says everything
}

// Code is the kind of a [Failure].
type Code string

// The codes, as [ErrorBody] has them. Formats cause those with a name for them.
const (
	InvalidRequest   Code = "invalid_request"
	Unsupported      Code = "unsupported"
	TooLong          Code = "too_long"       // one text
	TooManyTexts     Code = "too_many_texts" // of one request
	bodyTooLarge     Code = "body_too_large" // the request as a whole
	WrongKey         Code = "wrong_key"      // missing or unknown
	crossOrigin      Code = "cross_origin"   // sent by a page of another site
	misdirected      Code = "misdirected"    // to a host that is not known as the server's name
	rateLimited      Code = "rate_limited"   // by the caller's own limit
	overloaded       Code = "overloaded"     // rejected without waiting
	noTime           Code = "no_time"        // waited in the queue too long
	timedOut         Code = "timed_out"      // the request as a whole took too long
	slowClient       Code = "slow_client"    // the body did not arrive in time
	NotFound         Code = "not_found"      // no such route, or nothing with this id
	methodNotAllowed Code = "method_not_allowed"
	badEncoding      Code = "unsupported_encoding"
	WrongLanguage    Code = "unsupported_language"
	notStored        Code = "not_stored" // feedback, for lack of space
	notJudged        Code = "not_judged" // in a format that needs a verdict
	internal         Code = "internal"
	ClientGone       Code = "client_gone" // disconnected
)

// statuses are the HTTP statuses of the codes.
var statuses = map[Code]int{
	InvalidRequest: http.StatusBadRequest, Unsupported: http.StatusBadRequest, WrongLanguage: http.StatusUnprocessableEntity,
	TooLong: http.StatusRequestEntityTooLarge, TooManyTexts: http.StatusRequestEntityTooLarge, bodyTooLarge: http.StatusRequestEntityTooLarge,
	WrongKey: http.StatusUnauthorized, crossOrigin: http.StatusForbidden, misdirected: http.StatusMisdirectedRequest, rateLimited: http.StatusTooManyRequests, overloaded: http.StatusTooManyRequests,
	noTime: http.StatusServiceUnavailable, timedOut: http.StatusServiceUnavailable, slowClient: http.StatusRequestTimeout,
	NotFound: http.StatusNotFound, methodNotAllowed: http.StatusMethodNotAllowed, badEncoding: http.StatusUnsupportedMediaType,
	notStored: http.StatusInsufficientStorage, notJudged: http.StatusBadGateway, internal: http.StatusInternalServerError,
	ClientGone: 499, // as nginx logs it; it is not sent
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Cause != nil {
		return fmt.Sprintf("%s: %v", f.Message, f.Cause)
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Cause }

// isOurs reports whether the operator must know of a failure: its cause is in the server.
func (f *Failure) isOurs() bool { return f.Code == internal || f.Code == notStored }

// Status returns the HTTP status of the failure, where a format has no own.
func (f *Failure) Status() int { return statuses[f.Code] }

// Fail returns a failure whose message is all there is to say.
func Fail(c Code, format string, args ...any) *Failure {
	return &Failure{Code: c, Message: fmt.Sprintf(format, args...)}
}

// FailureOf returns the failure in the chain of an error, or one for it.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, toxscreen.ErrTooLong):
		return &Failure{Code: TooLong, Message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &Failure{Code: ClientGone, Message: "the client disconnected before the answer", Cause: err}
	}
	return &Failure{Code: internal, Message: "failed to answer: the server's log says why", Cause: err}
}
