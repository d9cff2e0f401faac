package httpapi

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

// headerTimeout is how long a client may take for the headers of a request,
// maxHeader how many bytes they may have, and idleTimeout how long a connection
// may stay open without a request. Addresses, keys and cookies of other programs
// on the same host take a few KiB.
const (
	maxHeader     = 64 << 10
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// noticed is how long a server that ends goes on answering: clients that hold a
// connection learn from the next answer that it closes, and whoever asks for
// readiness that it is over.
const noticed = time.Second

// unreadTimeout is how long a server that ends waits for the first request of a
// connection that it has accepted, as long as [http.Server.Shutdown] does.
const unreadTimeout = 5 * time.Second

// Serve answers on a listener, which it closes, until ctx ends. Then it tells
// so, answers what it has, at most for the time drain, and returns.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	var unread connections
	hs := &http.Server{
		Handler:           unread.until(s),
		ConnState:         unread.track,
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
	time.Sleep(noticed)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	// Shutdown drops the requests that it meets between their reading and their
	// handler. Those come on new connections by now: first there are no more of
	// them, then the last ones get to the handler, then it is shut down.
	err := l.Close()
	if ended := <-served; !errors.Is(ended, net.ErrClosed) {
		err = errors.Join(err, ended)
	}
	first, enough := context.WithTimeout(limited, unreadTimeout)
	wait(first, unread.empty)
	enough()
	if late := hs.Shutdown(limited); late != nil {
		err = errors.Join(err, fmt.Errorf("failed to answer all requests within %s: %w", drain, late), hs.Close())
	}
	if !wait(limited, func() bool { return s.late.outstanding() == 0 }) {
		s.config.Log.Warn("verdicts that were outstanding are lost", "waited", drain)
	}
	return err
}

// wait waits for something. It returns false when ctx ends first.
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

// connections are those that are accepted and whose first request has not got to
// the handler yet.
type connections struct{ sync.Map }

func (c *connections) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.Store(conn, true)
	case http.StateHijacked, http.StateClosed:
		c.Delete(conn)
	case http.StateActive, http.StateIdle:
	}
}

// until returns a handler that takes connections out.
func (c *connections) until(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.Delete(r.Context().Value(connectionKey{}))
		h.ServeHTTP(w, r)
	})
}

func (c *connections) empty() bool {
	empty := true
	c.Range(func(any, any) bool { empty = false; return false })
	return empty
}

// connectionKey is where the context of a request has its connection.
type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}
