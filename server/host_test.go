package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// served runs a server on a listener until the test ends, and returns where clients
// connect to it.
func served(t *testing.T, c server.Config, l net.Listener) net.Addr {
	t.Helper()
	srv, err := servertest.New(toxscreen.New(words), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, l, 10*time.Second) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		srv.Close()
	})
	return l.Addr()
}

// listening listens on an address of the network and returns the listener.
func listening(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// named asks the server at an address under the name of a host, as a page of this
// host does after DNS rebinding.
func named(t *testing.T, at net.Addr, host, method, path, body string) reply {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, at.Network(), at.String())
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://server"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Origin", "http://"+host)
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{Status: response.StatusCode, Header: response.Header, Body: string(data)}
}

// Where no key is needed, a page whose name was made to lead to the server's address
// gets no answer. The server answers under its own names, which depend on where it
// listens.
func TestAServerAnswersUnderItsOwnNamesOnly(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config{External: &url.URL{Scheme: "https", Host: "tox.example.org"}, Hosts: []string{"proxy.example.org"}}
	everywhere := []string{"localhost", "LOCALHOST:8080", "localhost.", "127.0.0.1:80", "[::1]:8080", "192.0.2.7:8080", "tox.example.org", "tox.example.org:443", "proxy.example.org:8080"}
	network := []string{"toxscreen:8080", machine, "toxscreen.prod.svc:8080", "toxscreen.prod.svc.cluster.local", "tox.corp.internal"}
	for address, accepted := range map[string]map[bool][]string{
		"127.0.0.1:0": {true: everywhere, false: {"toxscreen:8080", "toxscreen.prod.svc.cluster.local"}},
		"0.0.0.0:0":   {true: append(network, everywhere...)},
	} {
		t.Run(address, func(t *testing.T) {
			at := served(t, config, listening(t, "tcp4", address))
			for _, host := range accepted[true] {
				if r := named(t, at, host, http.MethodPost, "/v1/score", `{"text": "hello"}`); r.Status != http.StatusOK {
					t.Errorf("%s: %d %s", host, r.Status, r.Body)
				}
			}
			for _, host := range append(accepted[false], "rebound.example.com", "rebound.example.com:8080", "localhost.example.com", "127.0.0.1.example.com", "tox.example.org.example.com") {
				r := named(t, at, host, http.MethodPost, "/v1/score", `{"text": "hello"}`)
				if r.Status != http.StatusMisdirectedRequest || r.Code(t) != "misdirected" || !strings.Contains(r.Body, "--allow-host "+strings.TrimSuffix(host, ":8080")) {
					t.Errorf("%s: %d %s", host, r.Status, r.Body)
				}
				for _, path := range []string{"/v1/score/id", "/", "/v1/openapi.json"} {
					if r := named(t, at, host, http.MethodGet, path, ""); r.Status != http.StatusMisdirectedRequest {
						t.Errorf("%s of %s: %d %s", path, host, r.Status, r.Body)
					}
				}
				if r := named(t, at, host, http.MethodPost, "/batch", ""); r.Status != http.StatusMisdirectedRequest || !strings.Contains(r.Body, `"status":"`) {
					t.Errorf("a batch to %s: %d %s", host, r.Status, r.Body)
				}
				for _, probe := range []string{"/healthz", "/readyz"} {
					if r := named(t, at, host, http.MethodGet, probe, ""); r.Status != http.StatusOK {
						t.Errorf("%s of %s: %d %s", probe, host, r.Status, r.Body)
					}
				}
			}
		})
	}
}

// A page has no key, no certificate for its name, and no way to a socket of the file
// system.
func TestHostsDoNotMatterWhereNoPageCanAsk(t *testing.T) {
	alice, key := newKey(t, "alice", "")
	at := served(t, server.Config{Keys: []server.Key{key}}, listening(t, "tcp4", "127.0.0.1:0"))
	if r := named(t, at, "tox.example.org", http.MethodPost, "/v1/score?key="+alice, `{"text": "hello"}`); r.Status != http.StatusOK {
		t.Errorf("with a key: %d %s", r.Status, r.Body)
	}
	if r := named(t, at, "tox.example.org", http.MethodPost, "/v1/score", `{"text": "hello"}`); r.Status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", r.Status, r.Body)
	}
	at = served(t, server.Config{}, listening(t, "unix", t.TempDir()+"/it.sock"))
	if r := named(t, at, "tox.example.org", http.MethodPost, "/v1/score", `{"text": "hello"}`); r.Status != http.StatusOK {
		t.Errorf("over a socket: %d %s", r.Status, r.Body)
	}
	ca, err := authority.Open(t.TempDir(), []string{"tox.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := ca.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	at = served(t, server.Config{}, tls.NewListener(listening(t, "tcp4", "127.0.0.1:0"), config))
	c, err := tls.Dial("tcp", at.String(), &tls.Config{InsecureSkipVerify: true}) // only the host matters
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://tox.example.net/v1/score", strings.NewReader(`{"text": "hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(c); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("with TLS: %s", response.Status)
	}
}
