package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen"
)

// failure is an error for the client. Each API has its own form for it.
type failure struct {
	code    code
	message string        // for the client: the step, the input and what to do
	retry   time.Duration // after which a retry may succeed; 0 where it will not
	cause   error         // for the log only; nil where the message says everything
}

// code is the kind of a failure.
type code string

// The codes, as native errors have them.
const (
	invalidRequest   code = "invalid_request"
	unsupported      code = "unsupported"
	tooLong          code = "too_long"       // one text
	tooManyTexts     code = "too_many_texts" // of one request
	bodyTooLarge     code = "body_too_large" // the request as a whole
	wrongKey         code = "wrong_key"      // missing or unknown
	crossOrigin      code = "cross_origin"   // sent by a page of another site
	misdirected      code = "misdirected"    // to a host that is not known as the server's name
	rateLimited      code = "rate_limited"   // by the caller's own limit
	overloaded       code = "overloaded"     // rejected without waiting
	noTime           code = "no_time"        // waited in the queue too long
	timedOut         code = "timed_out"      // the request as a whole took too long
	slowClient       code = "slow_client"    // the body did not arrive in time
	notFound         code = "not_found"      // no such route, or nothing with this id
	methodNotAllowed code = "method_not_allowed"
	badEncoding      code = "unsupported_encoding"
	wrongLanguage    code = "unsupported_language"
	notStored        code = "not_stored" // feedback, for lack of space
	notJudged        code = "not_judged" // in a format that needs a verdict
	internal         code = "internal"
	clientGone       code = "client_gone" // disconnected
)

// statuses are the HTTP statuses of the codes.
var statuses = map[code]int{
	invalidRequest: http.StatusBadRequest, unsupported: http.StatusBadRequest, wrongLanguage: http.StatusUnprocessableEntity,
	tooLong: http.StatusRequestEntityTooLarge, tooManyTexts: http.StatusRequestEntityTooLarge, bodyTooLarge: http.StatusRequestEntityTooLarge,
	wrongKey: http.StatusUnauthorized, crossOrigin: http.StatusForbidden, misdirected: http.StatusMisdirectedRequest, rateLimited: http.StatusTooManyRequests, overloaded: http.StatusTooManyRequests,
	noTime: http.StatusServiceUnavailable, timedOut: http.StatusServiceUnavailable, slowClient: http.StatusRequestTimeout,
	notFound: http.StatusNotFound, methodNotAllowed: http.StatusMethodNotAllowed, badEncoding: http.StatusUnsupportedMediaType,
	notStored: http.StatusInsufficientStorage, notJudged: http.StatusBadGateway, internal: http.StatusInternalServerError,
	clientGone: 499, // as nginx logs it; it is not sent
}

// Error implements error.
func (f *failure) Error() string {
	if f.cause != nil {
		return fmt.Sprintf("%s: %v", f.message, f.cause)
	}
	return f.message
}

func (f *failure) Unwrap() error { return f.cause }

func (f *failure) status() int { return statuses[f.code] }

// fail returns a failure whose message is all there is to say.
func fail(c code, format string, args ...any) *failure {
	return &failure{code: c, message: fmt.Sprintf(format, args...)}
}

// failureOf returns the failure in the chain of an error, or one for it.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, toxscreen.ErrTooLong):
		return &failure{code: tooLong, message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &failure{code: clientGone, message: "the client disconnected before the answer", cause: err}
	}
	return &failure{code: internal, message: "failed to answer: the server's log says why", cause: err}
}
