package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toxscreen/toxscreen/httpapi/page"
)

// api is an interface that scores. Its file knows everything about it.
type api struct {
	// name is what settings, logs and metrics call it.
	name string
	// fail answers with a failure. The header Retry-After is set already.
	fail func(w http.ResponseWriter, r *http.Request, f *failure)
	// routes returns its routes. Their handlers must not name the api itself,
	// which Go could not initialize then: [exchangeOf] tells which one it is.
	routes func(s *Server) []route
}

// route is one way to call an API.
type route struct {
	pattern string // of [http.ServeMux]
	// handle answers, or returns an error that the API words. It reads the body
	// by [Server.body].
	handle func(w http.ResponseWriter, r *http.Request) error
	// open needs no key, and pages of other sites may send it.
	open bool
}

// apis are all interfaces that score: what is here has its routes and counts in
// settings, logs and metrics.
var apis = []api{native, perspective, openAI, liteLLM, patronus, writer}

// APIs returns the names of the interfaces that score, which
// [Config.JudgeWait] goes by.
func APIs() []string {
	var names []string
	for _, a := range apis {
		names = append(names, a.name)
	}
	return names
}

// routes returns the handler of all routes.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for _, a := range apis {
		for _, r := range a.routes(s) {
			s.handle(mux, a, r)
		}
	}
	s.healthRoutes(mux)
	mux.HandleFunc("GET /v1/openapi.json", describe)
	playground := page.Handler()
	mux.Handle("GET /{$}", playground)
	mux.Handle("GET /page/", playground)
	s.handle(mux, native, route{pattern: "/", open: true, handle: func(w http.ResponseWriter, r *http.Request) error {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
			if _, pattern := mux.Handler(other); pattern != "/" {
				w.Header().Set("Allow", method)
				return fail(methodNotAllowed, "failed to answer %s: this route takes %s", r.Method, method)
			}
		}
		return fail(notFound, "there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all")
	}})
	if s.config.External == nil {
		return mux
	}
	base := strings.TrimSuffix(s.config.External.Path, "/")
	if base == "" {
		return mux
	}
	stripped := http.StripPrefix(base, mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base+"/") {
			stripped.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// handle adds a route of an API.
func (s *Server) handle(mux *http.ServeMux, a api, to route) {
	mux.HandleFunc(to.pattern, func(w http.ResponseWriter, r *http.Request) {
		e := &exchange{api: a, caller: anyone, began: time.Now()}
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, e))
		answer := &answer{ResponseWriter: w, timeout: s.bodyTimeout}
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		// For the body too where nobody reads it: the server then looks for the
		// next request behind it. A connection that knows no deadline has none.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyTimeout))
		err := guarded(func() error {
			if !to.open {
				if err := s.authorize(r); err != nil {
					return err
				}
			}
			return to.handle(answer, r)
		})
		s.memory.Add(-e.memory)
		if err != nil {
			e.failure = failureOf(err)
			if answer.status == 0 {
				if !e.read && r.ContentLength != 0 {
					// Else the server would wait for the body before it answers.
					w.Header().Set("Connection", "close")
				}
				if e.failure.retry > 0 {
					w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.failure.retry.Seconds()))))
				}
				a.fail(answer, r, e.failure)
			}
		}
		s.metrics.answered(e, answer.status)
		s.log(r, to.pattern, e, answer.status)
	})
}

// authorize finds the caller of a request by its key, or rejects the request.
func (s *Server) authorize(r *http.Request) error {
	// A page of another site that somebody has open must not send requests on
	// their behalf: on their own machine those need no key.
	if err := s.origins.Check(r); err != nil {
		return fail(crossOrigin, "failed to let the request in: a page of another site sent it")
	}
	who, err := s.who(r)
	if err != nil {
		return err
	}
	exchangeOf(r.Context()).caller = who
	return nil
}

// guarded calls h and makes an error of a panic. Its value is not shown: it
// may hold a piece of a text.
func guarded(h func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("panic with a %T\n%s", p, debug.Stack())
		}
	}()
	return h()
}

// exchange is a request and what became of it.
type exchange struct {
	api     api
	caller  *caller
	began   time.Time
	failure *failure
	read    bool  // whether the body was asked for
	memory  int64 // bytes of the body, which count for maxMemory
	texts   atomic.Int64
	bytes   atomic.Int64 // of the texts
}

// count counts a text.
func (e *exchange) count(bytes int) {
	e.texts.Add(1)
	e.bytes.Add(int64(bytes))
}

type exchangeKey struct{}

// exchangeOf returns the exchange that a context belongs to.
func exchangeOf(ctx context.Context) *exchange {
	e, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		panic("httpapi: a context that is none of a request") // a route that was not added by handle
	}
	return e
}

// log writes the line of a request. It has the route's pattern and not its
// address, which may hold a key or a text.
func (s *Server) log(r *http.Request, pattern string, e *exchange, status int) {
	level, attributes := slog.LevelInfo, []slog.Attr{
		slog.String("api", e.api.name), slog.String("route", pattern), slog.Int("status", status),
		slog.Float64("milliseconds", float64(time.Since(e.began).Microseconds())/1000),
	}
	if e.caller.Name != "" {
		attributes = append(attributes, slog.String("caller", e.caller.Name))
	}
	if n := e.texts.Load(); n > 0 {
		attributes = append(attributes, slog.Int64("texts", n), slog.Int64("bytes", e.bytes.Load()))
	}
	if f := e.failure; f != nil {
		attributes = append(attributes, slog.String("failure", string(f.code)))
		if f.code == internal || f.code == notStored {
			level = slog.LevelError
			attributes = append(attributes, slog.Any("error", f.cause))
		}
	}
	s.config.Log.LogAttrs(r.Context(), level, "request", attributes...)
}

// answer counts and bounds what a client reads slowly.
type answer struct {
	http.ResponseWriter
	timeout time.Duration // for a piece
	status  int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	// A connection that knows no deadline has none.
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(a.timeout))
	return a.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] find what a flushes to.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// body returns the body of a request, whole. most is how many bytes it may
// have.
func (s *Server) body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	e := exchangeOf(r.Context())
	if r.ContentLength > most {
		return nil, fail(bodyTooLarge, "failed to read the request: it has %d bytes, the limit is %d; send fewer texts at once", r.ContentLength, most)
	}
	e.read = true
	data, err := io.ReadAll(&counted{s: s, e: e, r: http.MaxBytesReader(w, r.Body, most)})
	if _, ok := errors.AsType[*failure](err); ok {
		return nil, err
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fail(bodyTooLarge, "failed to read the request: it has more than %d bytes; send fewer texts at once", large.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fail(slowClient, "failed to read the request: it did not arrive within %s", s.bodyTimeout)
	}
	if err != nil {
		return nil, &failure{code: clientGone, message: "failed to read the request: it broke off", cause: err}
	}
	// From here on the server looks whether the client is still there, which
	// has no end of its own.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return data, nil
}

// counted counts what is read for maxMemory, byte by byte as it comes:
// what a client announces and does not send costs nothing.
type counted struct {
	s *Server
	e *exchange
	r io.Reader
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.e.memory += int64(n)
	if c.s.memory.Add(int64(n)) > c.s.maxMemory {
		return n, &failure{code: overloaded, retry: time.Second, message: "failed to read the request: the server holds as much as it may; come again later"}
	}
	return n, err
}
