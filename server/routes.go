package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen/server/page"
)

// routes returns the handler of all routes.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for i := range s.config.Formats {
		f := &s.config.Formats[i]
		for _, r := range f.Routes {
			s.handle(mux, f, r)
		}
		for _, path := range f.Paths {
			if path != "/" {
				s.handle(mux, f, noRoute(mux, path))
				path += "/"
			}
			s.handle(mux, f, noRoute(mux, path))
		}
		for pattern, document := range f.Documents {
			mux.Handle(pattern, s.named(document))
		}
	}
	s.healthRoutes(mux)
	playground := s.named(page.Handler())
	mux.Handle("GET /{$}", playground)
	mux.Handle("GET /page/", playground)
	return identified(s.belowBase(mux))
}

// noRoute returns the route of what no other route takes at a path, or below one that
// ends in a slash.
func noRoute(mux *http.ServeMux, path string) Route {
	return Route{Pattern: path, Open: true, Handle: func(c *Call) error {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := &http.Request{Method: method, URL: c.Request.URL, Host: c.Request.Host}
			if _, pattern := mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
				c.Header().Set("Allow", method)
				return Fail(methodNotAllowed, "failed to answer %s: this route takes %s", c.Request.Method, method)
			}
		}
		return Fail(NotFound, "there is nothing here: GET /v1/openapi.json lists the native routes, docs/server.md all")
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

// handle adds a route of a format.
func (s *Server) handle(mux *http.ServeMux, f *Format, to Route) {
	mux.HandleFunc(to.Pattern, func(w http.ResponseWriter, r *http.Request) {
		ctx, clock, stop := withClock(r.Context(), s.config.RequestTimeout)
		defer stop()
		answer := &answer{ResponseWriter: w}
		c := &Call{
			Request: r.WithContext(ctx), Writer: answer, server: s, format: f,
			id: w.Header().Get(requestIDHeader), caller: anyone, began: time.Now(), clock: clock,
		}
		if s.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		err := Guarded(func() error {
			if err := s.authorize(c, to.Open); err != nil {
				return err
			}
			return to.Handle(c)
		})
		s.memory.Add(-c.memory)
		if errors.Is(err, context.Canceled) {
			err = ended(ctx, err)
		}
		if err != nil {
			c.failure = FailureOf(err)
			if answer.status == 0 {
				c.refuse()
			}
		}
		s.metrics.answered(c, answer.status)
		c.log(to.Pattern, answer.status)
	})
}

// refuse answers with the failure of the call.
func (c *Call) refuse() {
	if !c.read && c.Request.ContentLength != 0 && c.Request.ProtoMajor == 1 {
		// Otherwise net/http would read the body before it answers. In HTTP/2 it need
		// not, and this would end the connection for the other requests on it.
		c.Header().Set("Connection", "close")
	}
	if c.failure.Retry > 0 {
		c.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(c.failure.Retry.Seconds()))))
	}
	if c.format.Fail == nil {
		writeFailure(c.Writer, c.failure)
		return
	}
	c.format.Fail(c, c.failure)
}

// authorize sets the caller of a request by its key, or rejects the request. An open
// route needs no key.
func (s *Server) authorize(c *Call, open bool) error {
	if err := s.checkHost(c.Request); err != nil {
		return err
	}
	// A page of another site must not send requests through its visitors' browsers:
	// a server on their own machine needs no key.
	if err := s.origins.Check(c.Request); err != nil {
		return Fail(crossOrigin, "failed to authorize the request: a page of another site sent it")
	}
	if open {
		return nil
	}
	return c.Authorize(c.Request)
}

// Guarded calls h and turns a panic into an error with the stack. The value of the
// panic is left out: it may contain a piece of a text.
func Guarded(h func() error) (err error) {
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
