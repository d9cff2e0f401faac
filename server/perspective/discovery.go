package perspective

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// discovery is the discovery document, in Google's format, with "$root" in place of the
// server's URL. Clients do not send a parameter that it does not have, and would use a URL
// for mutual TLS instead of the other one.
//
//go:embed discovery.json
var discovery []byte

// Discovery returns the document from which clients are generated at run time. address is
// the URL under which they reach the server, with its base path.
func Discovery(address *url.URL) json.RawMessage {
	root := strings.TrimSuffix((&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String(), "/") + "/"
	return bytes.ReplaceAll(discovery, []byte(`"$root"`), plainjson.Append(nil, root))
}
