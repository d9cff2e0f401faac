package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen"
)

// failure is why a request gets no result. Each API words it in its own way.
type failure struct {
	code    code
	message string        // for the client: names step, input and way out
	retry   time.Duration // after which it may go better; 0 where it will not
	cause   error         // for the log; nil where the message says it all
}

// code tells kinds of failures apart.
type code string

// The codes, as native errors show them.
const (
	invalidRequest   code = "invalid_request"
	unsupported      code = "unsupported"
	tooLong          code = "too_long"       // one text
	tooManyTexts     code = "too_many_texts" // of one request
	bodyTooLarge     code = "body_too_large" // the request as a whole
	wrongKey         code = "wrong_key"      // none, or one that nobody has
	crossOrigin      code = "cross_origin"   // a page of another site asks
	rateLimited      code = "rate_limited"   // the caller's own
	overloaded       code = "overloaded"     // refused before it waited
	noTime           code = "no_time"        // it waited for its turn in vain
	slowClient       code = "slow_client"    // the body did not arrive in time
	notFound         code = "not_found"      // the route, or what an id names
	methodNotAllowed code = "method_not_allowed"
	notStored        code = "not_stored" // feedback that there is no room for
	notJudged        code = "not_judged" // in a format that is a verdict
	internal         code = "internal"
	clientGone       code = "client_gone" // nobody reads the answer
)

// statuses are the HTTP statuses of the codes.
var statuses = map[code]int{
	invalidRequest: http.StatusBadRequest, unsupported: http.StatusBadRequest,
	tooLong: http.StatusRequestEntityTooLarge, tooManyTexts: http.StatusRequestEntityTooLarge, bodyTooLarge: http.StatusRequestEntityTooLarge,
	wrongKey: http.StatusUnauthorized, crossOrigin: http.StatusForbidden, rateLimited: http.StatusTooManyRequests, overloaded: http.StatusTooManyRequests,
	noTime: http.StatusServiceUnavailable, slowClient: http.StatusRequestTimeout,
	notFound: http.StatusNotFound, methodNotAllowed: http.StatusMethodNotAllowed,
	notStored: http.StatusInsufficientStorage, notJudged: http.StatusBadGateway, internal: http.StatusInternalServerError,
	clientGone: 499, // as nginx logs it; nobody sees it
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

// fail makes a failure that says all to the client.
func fail(c code, format string, args ...any) *failure {
	return &failure{code: c, message: fmt.Sprintf(format, args...)}
}

// failureOf returns the failure in the chain of an error, or makes one.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, toxscreen.ErrTooLong):
		return &failure{code: tooLong, message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &failure{code: clientGone, message: "the request ended before its answer", cause: err}
	}
	return &failure{code: internal, message: "failed to answer: the server's log says why", cause: err}
}
