package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toxscreen/toxscreen/server/page"
)

// api is an API that scores or finds personal data. Everything about it is in a file of its own.
type api struct {
	// name is its name in settings, logs and metrics.
	name string
	// fail answers with a failure in the API's form. Retry-After is set already.
	fail func(w http.ResponseWriter, r *http.Request, f *failure)
	// paths are those that only it has, with all paths below them: a request there
	// that no route takes fails in its form.
	paths []string
	// routes returns its routes. Their handlers must not refer to the variable of
	// the api, since Go rejects that cycle: they find it by [exchangeOf].
	routes func(s *Server) []route
}

// route is a route of an API.
type route struct {
	pattern string // of [http.ServeMux]
	// handle answers, or returns an error, which api.fail sends. It reads the body
	// with [Server.body].
	handle func(w http.ResponseWriter, r *http.Request) error
	// open is true where no key is needed.
	open bool
}

// apis are all APIs that score or find personal data. This is the only list of them.
var apis = []api{native, perspective, openAI, liteLLM, patronus, presidio, writer}

// APIs returns the names of the APIs that score: the keys of [Config.JudgeWait].
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
		for _, path := range a.paths {
			s.handle(mux, a, noRoute(mux, path))
			s.handle(mux, a, noRoute(mux, path+"/"))
		}
	}
	s.healthRoutes(mux)
	mux.Handle("GET /v1/openapi.json", s.named(http.HandlerFunc(describe)))
	playground := s.named(page.Handler())
	mux.Handle("GET /{$}", playground)
	mux.Handle("GET /page/", playground)
	s.handle(mux, native, noRoute(mux, "/"))
	return identified(s.belowBase(mux))
}

// noRoute returns the route of what no other route takes at a path, or below one that
// ends in a slash.
func noRoute(mux *http.ServeMux, path string) route {
	return route{pattern: path, open: true, handle: func(w http.ResponseWriter, r *http.Request) error {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
			if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
				w.Header().Set("Allow", method)
				return fail(methodNotAllowed, "failed to answer %s: this route takes %s", r.Method, method)
			}
		}
		return fail(notFound, "there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all")
	}}
}

// belowBase returns a handler that also answers below the path of the external URL.
func (s *Server) belowBase(h http.Handler) http.Handler {
	if s.config.External == nil {
		return h
	}
	base := strings.TrimSuffix(s.config.External.Path, "/")
	if base == "" {
		return h
	}
	stripped := http.StripPrefix(base, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, base+"/"):
			stripped.ServeHTTP(w, r)
		case r.URL.Path == base: // the URLs in the page are relative to the slash
			http.Redirect(w, r, (&url.URL{Path: base + "/", RawQuery: r.URL.RawQuery}).String(), http.StatusTemporaryRedirect)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// handle adds a route of an API.
func (s *Server) handle(mux *http.ServeMux, a api, to route) {
	mux.HandleFunc(to.pattern, func(w http.ResponseWriter, r *http.Request) {
		e := &exchange{api: a, id: w.Header().Get(requestIDHeader), caller: anyone, began: time.Now()}
		ctx, clock, stop := withClock(r.Context(), s.config.RequestTimeout)
		defer stop()
		e.clock = clock
		r = r.WithContext(context.WithValue(ctx, exchangeKey{}, e))
		answer := &answer{ResponseWriter: w}
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		err := guarded(func() error {
			if err := s.authorize(r, to.open); err != nil {
				return err
			}
			return to.handle(answer, r)
		})
		s.memory.Add(-e.memory)
		if errors.Is(err, context.Canceled) {
			err = s.ended(ctx, err)
		}
		if err != nil {
			e.failure = failureOf(err)
			if answer.status == 0 {
				if !e.read && r.ContentLength != 0 && r.ProtoMajor == 1 {
					// Otherwise net/http would read the body before it answers. In
					// HTTP/2 it need not, and this would end the connection for the
					// other requests on it.
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

// authorize sets the caller of a request by its key, or rejects the request. An open
// route needs no key.
func (s *Server) authorize(r *http.Request, open bool) error {
	if err := s.checkHost(r); err != nil {
		return err
	}
	// A page of another site must not send requests through its visitors' browsers:
	// a server on their own machine needs no key.
	if err := s.origins.Check(r); err != nil {
		return fail(crossOrigin, "failed to authorize the request: a page of another site sent it")
	}
	if open {
		return nil
	}
	caller, err := s.callerOf(r)
	if err != nil {
		return err
	}
	exchangeOf(r.Context()).caller = caller
	return nil
}

// guarded calls h and turns a panic into an error with the stack. The value of the
// panic is left out: it may contain a piece of a text.
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

// exchange is the state of a request while it is answered.
type exchange struct {
	api     api
	id      string // see requestIDHeader
	caller  *caller
	began   time.Time
	clock   *clock
	failure *failure
	read    bool  // whether the handler began to read the body
	memory  int64 // bytes of the body, counted in Server.memory
	texts   atomic.Int64
	bytes   atomic.Int64 // of the texts
}

// count counts a text.
func (e *exchange) count(bytes int) {
	e.texts.Add(1)
	e.bytes.Add(int64(bytes))
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a request's context.
func exchangeOf(ctx context.Context) *exchange {
	e, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		panic("server: the context is not a request's") // the route was not added by handle
	}
	return e
}

// log writes the log line of a request. It has the route's pattern in place of the
// URL, which may contain a key or a text.
func (s *Server) log(r *http.Request, pattern string, e *exchange, status int) {
	level, attributes := slog.LevelInfo, []slog.Attr{
		slog.String("id", e.id), slog.String("api", e.api.name), slog.String("route", pattern), slog.Int("status", status),
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

// answer is a response that keeps its status.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	if status == http.StatusUnauthorized { // which requires it
		a.Header().Set("WWW-Authenticate", "Bearer")
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] find the connection's own writer.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// body reads the body of a request, of at most most bytes, as it is sent and as it is
// decoded.
func (s *Server) body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	e := exchangeOf(r.Context())
	if r.ContentLength > most {
		return nil, fail(bodyTooLarge, "failed to read the request: it has %d bytes, the limit is %d; send fewer texts at once", r.ContentLength, most)
	}
	gzipped, err := isGzip(r.Header.Get("Content-Encoding"))
	if err != nil {
		w.Header().Set("Accept-Encoding", "gzip")
		return nil, err
	}
	e.read = true
	in := &counted{s: s, e: e, r: http.MaxBytesReader(w, r.Body, most)}
	if gzipped {
		in = &counted{s: s, e: e, r: http.MaxBytesReader(w, &gunzip{in: in}, most)}
	}
	data, err := io.ReadAll(in)
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
		return nil, &failure{code: clientGone, message: "failed to read the request: it ended early", cause: err}
	}
	// From here on net/http reads to notice a client that disconnects, which has
	// no time limit.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return data, nil
}

// counted counts the bytes of a body in Server.memory as they arrive: a length
// that is announced and not sent counts nothing.
type counted struct {
	s   *Server
	e   *exchange
	r   io.Reader
	err error // of r, except its end
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.e.memory += int64(n)
	if c.s.memory.Add(int64(n)) > c.s.maxMemory {
		err = &failure{code: overloaded, retry: time.Second, message: "failed to read the request: the bodies of all requests under way are too large together; try again later"}
	}
	if err != io.EOF {
		c.err = err
	}
	return n, err
}
