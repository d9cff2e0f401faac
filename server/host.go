package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// privateDomains are those that no public DNS server answers for: they are reserved,
// or Kubernetes' own.
var privateDomains = []string{".local", ".internal", ".svc"}

// checkHost rejects a request for a host that is not the server, against DNS
// rebinding: a page whose own name suddenly leads to the server's address has the
// same origin as the server, and its visitors' browsers can reach what is on their
// machine and in their network. docs/decisions/0016-host-check.md says why these
// hosts are accepted.
func (s *Server) checkHost(r *http.Request) error {
	at := listensOn(r)
	if len(*s.callers.Load()) > 0 || r.TLS != nil || at == nil || at.Network() == "unix" {
		// A page has no key, no certificate for its name, and no way to a socket of
		// the file system.
		return nil
	}
	host := hostName(r.Host)
	if host == "" || host == "localhost" || isIP(host) || slices.Contains(s.config.Hosts, host) || s.config.External != nil && host == hostName(s.config.External.Host) {
		return nil
	}
	if !isLoopback(at) {
		// Those who could give these names an address are in the same network, where
		// they need no browser to reach the server.
		private := func(domain string) bool { return strings.HasSuffix(host, domain) }
		if !strings.Contains(host, ".") || slices.ContainsFunc(privateDomains, private) || host == machine() {
			return nil
		}
	}
	return Fail(misdirected, "failed to authorize the request: its host %q is not known as a name of this server; if it is one, start the server with --allow-host %[1]s, or require API keys", host)
}

// named returns a handler that answers only under the server's names.
func (s *Server) named(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.checkHost(r); err != nil {
			writeFailure(w, FailureOf(err))
			return
		}
		h.ServeHTTP(w, r)
	})
}

// hostName returns the name in a Host header: without the port, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// machine returns the name of the machine, or nothing if it has none.
func machine() string {
	name, _ := os.Hostname()
	return strings.ToLower(name)
}

func isLoopback(address net.Addr) bool {
	at, ok := address.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// listenerKey is the key of the listener's address in a request's context.
type listenerKey struct{}

// withListener returns the context of all requests that come over a listener.
func withListener(l net.Listener) context.Context {
	return context.WithValue(context.Background(), listenerKey{}, l.Addr())
}

// listensOn returns the address at which the server listens for a request. Without
// [Server.Serve] it is that of the connection, and nil without a connection.
func listensOn(r *http.Request) net.Addr {
	if at, ok := r.Context().Value(listenerKey{}).(net.Addr); ok {
		return at
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return at
}
