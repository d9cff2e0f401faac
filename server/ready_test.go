package server_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// A server that ends is not ready any more, while it still answers: a health check sees that.
func TestReadyUntilTheServerEnds(t *testing.T) {
	s, err := servertest.New(toxscreen.New(words), server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, time.Minute) }()
	address := "http://" + l.Addr().String()
	if answer, err := server.Ready(t.Context(), address); err != nil || !strings.Contains(string(answer), `"ready":true`) {
		t.Errorf("a running server: %s, %v", answer, err)
	}
	end()
	servertest.Wait(t, "the server is about to end", func() bool {
		_, err := server.Ready(t.Context(), address)
		return err != nil && strings.Contains(err.Error(), "it is about to end")
	})
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := server.Ready(t.Context(), address); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a server that has ended: %v", err)
	}
}

// Something else may answer at the address: that is no server that is ready, whatever it says.
func TestOtherServersAreNotReady(t *testing.T) {
	ready := serve(t, toxscreen.New(words), server.Config{})
	for name, answer := range map[string]http.HandlerFunc{
		"a page":         func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<p>ready</p>")) },
		"nothing":        http.NotFound,
		"an endless one": func(w http.ResponseWriter, _ *http.Request) { endless(w) },
		"a redirection": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, ready.URL+"/readyz", http.StatusFound)
		},
		"an error's body": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte(`{"ready":true}`))
		},
	} {
		other := httptest.NewServer(answer)
		if _, err := server.Ready(t.Context(), other.URL); err == nil || !strings.Contains(err.Error(), "it is not a server of toxscreen") {
			t.Errorf("%s: %v", name, err)
		}
		other.Close()
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://a@127.0.0.1:8080", "http://127.0.0.1:8080/screen"} {
		if _, err := server.Ready(t.Context(), address); err == nil || !strings.Contains(err.Error(), "it must be like http://127.0.0.1:8080") {
			t.Errorf("the address %q: %v", address, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := server.Ready(stopped, ready.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// endless answers until the client goes away.
func endless(w http.ResponseWriter) {
	for {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}
