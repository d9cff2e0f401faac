package ollama

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
)

// Address returns the address of a host setting: HOST, HOST:PORT or a URL, in the
// syntax of OLLAMA_HOST, which is used if the setting is empty.
func Address(host string) (*url.URL, error) {
	from := "the host of the Ollama server"
	if host == "" {
		host, from = strings.Trim(strings.TrimSpace(os.Getenv("OLLAMA_HOST")), `"'`), "OLLAMA_HOST"
	}
	if host == "" {
		host = "127.0.0.1"
	}
	given := host
	port := "11434" // Ollama's default
	scheme, rest, ok := strings.Cut(host, "://")
	switch {
	case !ok:
		host = "http://" + host
		rest = given
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	if ip := net.ParseIP(rest); ip != nil && strings.Contains(rest, ":") {
		host = strings.TrimSuffix(host, rest) + "[" + rest + "]"
	}
	u, err := url.Parse(host)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" && u.Port() == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("failed to read %s: %q is not an address: it must be like 127.0.0.1:11434 or https://host/path", from, given)
	}
	name := u.Hostname()
	if name == "0.0.0.0" || name == "::" || name == "" {
		name = "127.0.0.1" // a server listens on these, but a client cannot connect to them
	}
	u.Host = net.JoinHostPort(name, cmp.Or(u.Port(), port))
	return u, nil
}
