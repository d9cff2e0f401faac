package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

const forum = "https://forum.example.org"

// A page of an allowed origin asks as its own site's pages do: the browser asks
// first whether it may, and lets the page read the answer.
func TestPagesOfAllowedOriginsMayAsk(t *testing.T) {
	alice, key := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(words), server.Config{Origins: []string{forum, "http://localhost:3000"}, Keys: []server.Key{key}})
	preflight := []string{
		"Access-Control-Request-Method", "POST", "Sec-Fetch-Site", "cross-site",
		"Access-Control-Request-Headers", "authorization,content-type,toxscreen-judge-wait,x-api-key,x-goog-api-key",
	}
	for _, path := range []string{"/v1/score", "/v1alpha1/comments:analyze", "/v1/moderations", "/batch"} {
		r := s.ask(http.MethodOptions, path, "", append(preflight, "Origin", forum)...)
		if r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != forum || r.header.Get("Access-Control-Allow-Methods") != "POST" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
		if r.header.Get("Access-Control-Allow-Headers") != preflight[5] || !strings.Contains(r.header.Get("Vary"), "Origin") || r.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", path, r.header)
		}
		r = s.ask(http.MethodOptions, path, "", append(preflight, "Origin", "https://example.com")...)
		if r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("another site: %v", r.header)
		}
	}
	asked := []string{"Origin", forum, "Sec-Fetch-Site", "cross-site"}
	r := s.post("/v1/score", `{"text": "you idiot"}`, append(asked, "x-api-key", alice)...)
	if r.result(t).Score != 0.9 || r.header.Get("Access-Control-Allow-Origin") != forum || r.header.Get("Vary") != "Origin" {
		t.Errorf("%d %v", r.status, r.header)
	}
	for _, name := range []string{"Retry-After", "X-Request-Id", "Toxscreen-Not-Measured", "Toxscreen-Unsupported-Language", "Toxscreen-Unsupported-Entities"} {
		if exposed := r.header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, name) {
			t.Errorf("the page cannot read %s: %s", name, exposed)
		}
	}
	// The page can read why it is refused, and needs a key as everybody does.
	if r := s.post("/v1/score", `{"text": "hello"}`, asked...); r.status != http.StatusUnauthorized || r.header.Get("Access-Control-Allow-Origin") != forum {
		t.Errorf("%d %v", r.status, r.header)
	}
	r = s.post("/v1/score", `{"text": "hello"}`, "Origin", "https://example.com", "Sec-Fetch-Site", "cross-site", "x-api-key", alice)
	if r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" || r.header.Get("Vary") != "Origin" {
		t.Errorf("another site: %d %v", r.status, r.header)
	}
}

// With keys, every page may be allowed: a page without a key still gets nothing.
func TestEveryOriginMayAskWithAKey(t *testing.T) {
	alice, key := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(words), server.Config{Origins: []string{"*"}, Keys: []server.Key{key}})
	asked := []string{"Origin", "https://example.com", "Sec-Fetch-Site", "cross-site"}
	if r := s.post("/v1/score", `{"text": "hello"}`, append(asked, "x-api-key", alice)...); r.status != http.StatusOK || r.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", r.status, r.header)
	}
	if r := s.post("/v1/score", `{"text": "hello"}`, asked...); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
	for _, origins := range [][]string{{"*"}, {"forum.example.org"}, {forum + "/path"}} {
		if srv, err := server.New(toxscreen.New(words), server.Config{Origins: origins}); err == nil {
			srv.Close()
			t.Errorf("a server for %v without keys was made", origins)
		}
	}
}

// Without the setting, the server says nothing to pages of other sites.
func TestNoOriginIsAllowedByDefault(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	r := s.ask(http.MethodOptions, "/v1/score", "", "Origin", forum, "Access-Control-Request-Method", "POST")
	if r.status != http.StatusMethodNotAllowed || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", r.status, r.header)
	}
}
