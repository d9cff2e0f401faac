package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// headerTimeout is how long a client may take to send the headers of a request,
// maxHeader is their limit in bytes (URLs, keys and the cookies of other programs
// on the host take a few KiB), and idleTimeout is how long a connection may stay
// open without a request.
const (
	maxHeader     = 64 << 10
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// maxStreams is how many requests a client may have under way on one connection of
// HTTP/2; others wait at the client. Proxies and browsers open more connections.
const maxStreams = 100

// noticeTime is how long a server that shuts down still accepts requests, so that
// others notice: each answer closes its connection, in HTTP/2 for new requests, and
// /readyz answers 503.
const noticeTime = time.Second

// unreadTimeout is how long a server that shuts down waits for the first request
// on a connection, from when it was accepted: as long as [http.Server.Shutdown].
const unreadTimeout = 5 * time.Second

// Serve serves requests on a listener until ctx ends, then shuts down and closes
// the listener: it still accepts requests for a second, with readiness off, and
// then waits for the answers and the late verdicts under way, for the time drain
// at most. The error is nil where every request was answered; late verdicts that
// are lost are only logged. Close must still be called, and Serve not again.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	var unread connections
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	hs := &http.Server{
		Protocols: &protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams,
			// Deadlines end requests. This ends a connection that takes no data at all.
			WriteByteTimeout: s.bodyTimeout,
		},
		Handler:           unread.removing(s),
		ConnState:         unread.track,
		BaseContext:       withListener,
		ConnContext:       withConnection,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("failed to serve: %w", err)
	case <-ctx.Done():
	}
	s.ending.Store(true)
	time.Sleep(noticeTime)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	// Shutdown drops requests that were read but whose handler has not been called.
	// By now those come on new connections only: so the listener is closed first,
	// then the last connections reach the handler, then Shutdown is called.
	err := l.Close()
	if ended := <-served; !errors.Is(ended, net.ErrClosed) {
		err = errors.Join(err, ended)
	}
	wait(limited, unread.empty)
	if late := hs.Shutdown(limited); late != nil {
		err = errors.Join(err, fmt.Errorf("failed to answer all requests within %s: %w", drain, late), hs.Close())
	}
	if !wait(limited, func() bool { return s.late.outstanding() == 0 }) {
		s.config.Log.Warn("outstanding verdicts are lost", "waited", drain)
	}
	return err
}

// wait waits until done returns true. It returns false where ctx ends first.
func wait(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// connections are those that were accepted and whose first request has not reached
// the handler yet, with the time since when.
type connections struct{ sync.Map }

func (c *connections) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.Store(conn, time.Now())
	case http.StateHijacked, http.StateClosed:
		c.Delete(conn)
	case http.StateActive, http.StateIdle:
	}
}

// removing returns a handler that removes the connection of each request.
func (c *connections) removing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Delete(r.Context().Value(connectionKey{}))
		h.ServeHTTP(w, r)
	})
}

// empty reports whether no connection still has time for its first request. Browsers
// and clients of HTTP/2 open more connections than they use.
func (c *connections) empty() bool {
	empty := true
	c.Range(func(_, since any) bool {
		empty = time.Since(since.(time.Time)) > unreadTimeout
		return empty
	})
	return empty
}

// connectionKey is the key of the connection in a request's context.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
