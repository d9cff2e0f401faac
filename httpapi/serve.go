package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// headerTimeout is how long a client may take for the headers of a request,
// and idleTimeout how long it may keep a connection without one.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// noticed is how long a server that ends goes on answering: clients that hold a
// connection learn from the next answer that it closes, and whoever asks for
// readiness that it is over.
const noticed = time.Second

// Serve answers on a listener until ctx ends. Then it tells so, answers what it
// has, at most for the time drain, and returns.
func (s *Server) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	hs := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    s.config.MaxHeader,
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
	err := hs.Shutdown(limited)
	if err != nil {
		err = errors.Join(fmt.Errorf("failed to answer all requests within %s: %w", drain, err), hs.Close())
	}
	if !s.finish(limited) {
		s.config.Log.Warn("verdicts that were outstanding are lost", "waited", drain)
	}
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// finish waits for the verdicts that come after their answers. It returns false
// when ctx ends first.
func (s *Server) finish(ctx context.Context) bool {
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		if s.late.outstanding() == 0 {
			tick.Stop()
			return true
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return false
		case <-tick.C:
		}
	}
}
