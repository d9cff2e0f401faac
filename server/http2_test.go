package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// http2 runs a server and a client that speaks HTTP/2 to it, with TLS or without. end
// begins to shut the server down, and returns when it has.
func http2(t *testing.T, srv *server.Server, secure bool) (client *http.Client, url string, end func()) {
	t.Helper()
	const host = "tox.example.org"
	l := listening(t, "tcp4", "127.0.0.1:0")
	transport := &http.Transport{Protocols: &http.Protocols{}}
	url = "http://" + l.Addr().String()
	if secure {
		folder := t.TempDir()
		ca, err := authority.Open(folder, []string{host})
		if err != nil {
			t.Fatal(err)
		}
		config, err := ca.TLSConfig()
		if err != nil {
			t.Fatal(err)
		}
		trusted := x509.NewCertPool()
		files, err := filepath.Glob(filepath.Join(folder, "*.pem"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		trusted.AppendCertsFromPEM(contentOf(t, files[0]))
		l = tls.NewListener(l, config)
		transport.TLSClientConfig = &tls.Config{RootCAs: trusted, ServerName: host}
		transport.Protocols.SetHTTP2(true)
		url = "https://" + l.Addr().String()
	} else {
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 10*time.Second) }()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		end()
	})
	return &http.Client{Transport: transport}, url, end
}

func contentOf(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bothWays runs a test with TLS and without.
func bothWays(t *testing.T, test func(t *testing.T, secure bool)) {
	for _, secure := range []bool{true, false} {
		t.Run(fmt.Sprintf("TLS %t", secure), func(t *testing.T) { test(t, secure) })
	}
}

// posted sends a body and returns the answer, which must come over HTTP/2.
func posted(t *testing.T, client *http.Client, url string, body io.Reader) reply {
	t.Helper()
	response, err := client.Post(url, "application/json", body)
	if err != nil {
		t.Error(err)
		return reply{}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.ProtoMajor != 2 {
		t.Errorf("%s, %v after %.100s", response.Proto, err, data)
	}
	return reply{Status: response.StatusCode, Header: response.Header, Body: string(data)}
}

// slowly is a body that never ends.
type slowly struct{ begun bool }

func (s *slowly) Read(p []byte) (int, error) {
	if s.begun {
		time.Sleep(10 * time.Millisecond)
		p[0] = ' '
		return 1, nil
	}
	s.begun = true
	return copy(p, "{"), nil
}

// A client that sends slowly is answered with an error after the time for a request,
// and other requests on its connection are answered as usual.
func TestHTTP2ClientsThatAreSlowHinderNobody(t *testing.T) {
	bothWays(t, func(t *testing.T, secure bool) {
		srv, err := servertest.New(toxscreen.New(words), server.Config{})
		if err != nil {
			t.Fatal(err)
		}
		srv.SetBodyTimeout(300 * time.Millisecond)
		client, url, _ := http2(t, srv, secure)
		var slow sync.WaitGroup
		for range 5 {
			slow.Go(func() {
				if r := posted(t, client, url+"/v1/score", &slowly{}); r.Status != http.StatusRequestTimeout || r.Code(t) != "slow_client" {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
		for range 5 {
			if r := posted(t, client, url+"/v1/score", strings.NewReader(`{"text": "you idiot"}`)); r.Result(t).Score != 0.9 {
				t.Errorf("%s", r.Body)
			}
		}
		slow.Wait()
	})
}

// The time for a piece of an answer is not the time between two pieces: texts may
// take longer than the network.
func TestHTTP2AnswersMayTakeTheirTime(t *testing.T) {
	bothWays(t, func(t *testing.T, secure bool) {
		srv, err := servertest.New(toxscreen.New(taking(250*time.Millisecond)), server.Config{})
		if err != nil {
			t.Fatal(err)
		}
		srv.SetBodyTimeout(100 * time.Millisecond)
		client, url, _ := http2(t, srv, secure)
		if r := posted(t, client, url+"/v1/score", strings.NewReader(`{"texts": ["a", "b", "c", "d", "e"]}`)); r.Status != http.StatusOK || strings.Count(r.Body, "\n") != 5 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	})
}

// A client that reads nothing loses its request, and not the others on its connection.
func TestHTTP2ClientsThatDoNotReadAreDropped(t *testing.T) {
	srv, err := servertest.New(toxscreen.New(words), server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv.SetBodyTimeout(200 * time.Millisecond)
	client, url, _ := http2(t, srv, false)
	client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 1 << 16} // so that the answer does not fit
	long := `{"texts": [` + strings.TrimSuffix(strings.Repeat(`"hello",`, 1000), ",") + `]}`
	response, err := client.Post(url+"/v1/score", "application/json", strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	servertest.Wait(t, "the server gives up", func() bool {
		return strings.Contains(servertest.Debug(t, srv, "/metrics"), `toxscreen_requests_total{api="native",failure="client_gone",status="200"} 1`)
	})
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the answer was complete")
	}
	if r := posted(t, client, url+"/v1/score", strings.NewReader(`{"text": "hello"}`)); r.Status != http.StatusOK {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}

// A request that is refused before its body arrives does not end the connection for
// the others on it.
func TestHTTP2RefusalsLeaveTheConnectionOpen(t *testing.T) {
	_, key := newKey(t, "alice", "")
	srv, err := servertest.New(toxscreen.New(words), server.Config{Keys: []server.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	client, url, _ := http2(t, srv, false)
	var connections atomic.Int64
	dial := (&net.Dialer{}).DialContext
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections.Add(1)
		return dial(ctx, network, address)
	}
	for range 10 {
		if r := posted(t, client, url+"/v1/score", strings.NewReader(`{"text": "hello"}`)); r.Status != http.StatusUnauthorized {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
	if connections.Load() != 1 {
		t.Errorf("10 requests took %d connections", connections.Load())
	}
}

// A server that shuts down answers the requests under way on its connections, and
// those that come meanwhile.
func TestHTTP2RequestsAreAnsweredBeforeTheEnd(t *testing.T) {
	bothWays(t, func(t *testing.T, secure bool) {
		var begun atomic.Int64
		waiting := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
			begun.Add(1)
			return taking(40*time.Millisecond)(ctx, text)
		})
		srv, err := servertest.New(toxscreen.New(waiting), server.Config{QueueWait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		client, url, end := http2(t, srv, secure)
		posted(t, client, url+"/v1/score", strings.NewReader(`{"text": "first"}`)) // opens the only connection
		var requests sync.WaitGroup
		for i := range 90 { // two seconds of work
			requests.Go(func() {
				if r := posted(t, client, url+"/v1/score", strings.NewReader(fmt.Sprintf(`{"text": "hello %d"}`, i))); r.Status != http.StatusOK {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
		}
		servertest.Wait(t, "texts are classified", func() bool { return begun.Load() > 10 })
		end()
		requests.Wait()
	})
}

// Older clients are answered as before, at the same address.
func TestHTTP1IsStillSpoken(t *testing.T) {
	srv, err := servertest.New(toxscreen.New(words), server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	client, url, _ := http2(t, srv, true)
	old := &http.Transport{TLSClientConfig: client.Transport.(*http.Transport).TLSClientConfig, Protocols: &http.Protocols{}}
	old.Protocols.SetHTTP1(true)
	defer old.CloseIdleConnections()
	response, err := (&http.Client{Transport: old}).Post(url+"/v1/score", "application/json", strings.NewReader(`{"text": "hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 1 {
		t.Errorf("%s %s", response.Proto, response.Status)
	}
}
