package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
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
		r := s.Ask(http.MethodOptions, path, "", append(preflight, "Origin", forum)...)
		if r.Status != http.StatusNoContent || r.Header.Get("Access-Control-Allow-Origin") != forum || r.Header.Get("Access-Control-Allow-Methods") != "POST" {
			t.Errorf("%s: %d %v", path, r.Status, r.Header)
		}
		if r.Header.Get("Access-Control-Allow-Headers") != preflight[5] || !strings.Contains(r.Header.Get("Vary"), "Origin") || r.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", path, r.Header)
		}
		r = s.Ask(http.MethodOptions, path, "", append(preflight, "Origin", "https://example.com")...)
		if r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("another site: %v", r.Header)
		}
	}
	asked := []string{"Origin", forum, "Sec-Fetch-Site", "cross-site"}
	r := s.Post("/v1/score", `{"text": "you idiot"}`, append(asked, "x-api-key", alice)...)
	if r.Result(t).Score != 0.9 || r.Header.Get("Access-Control-Allow-Origin") != forum || r.Header.Get("Vary") != "Origin" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	for _, name := range []string{"Retry-After", "X-Request-Id", "Toxscreen-Not-Measured", "Toxscreen-Unsupported-Language", "Toxscreen-Unsupported-Entities"} {
		if exposed := r.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, name) {
			t.Errorf("the page cannot read %s: %s", name, exposed)
		}
	}
	// The page can read why it is refused, and needs a key as everybody does.
	if r := s.Post("/v1/score", `{"text": "hello"}`, asked...); r.Status != http.StatusUnauthorized || r.Header.Get("Access-Control-Allow-Origin") != forum {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	r = s.Post("/v1/score", `{"text": "hello"}`, "Origin", "https://example.com", "Sec-Fetch-Site", "cross-site", "x-api-key", alice)
	if r.Status != http.StatusForbidden || r.Header.Get("Access-Control-Allow-Origin") != "" || r.Header.Get("Vary") != "Origin" {
		t.Errorf("another site: %d %v", r.Status, r.Header)
	}
}

// With keys, every page may be allowed: a page without a key still gets nothing.
func TestEveryOriginMayAskWithAKey(t *testing.T) {
	alice, key := newKey(t, "alice", "")
	s := serve(t, toxscreen.New(words), server.Config{Origins: []string{"*"}, Keys: []server.Key{key}})
	asked := []string{"Origin", "https://example.com", "Sec-Fetch-Site", "cross-site"}
	if r := s.Post("/v1/score", `{"text": "hello"}`, append(asked, "x-api-key", alice)...); r.Status != http.StatusOK || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
	if r := s.Post("/v1/score", `{"text": "hello"}`, asked...); r.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	for _, origins := range [][]string{{"*"}, {"forum.example.org"}, {forum + "/path"}} {
		if srv, err := servertest.New(toxscreen.New(words), server.Config{Origins: origins}); err == nil {
			srv.Close()
			t.Errorf("a server for %v without keys was made", origins)
		}
	}
}

// Without the setting, the server says nothing to pages of other sites.
func TestNoOriginIsAllowedByDefault(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	r := s.Ask(http.MethodOptions, "/v1/score", "", "Origin", forum, "Access-Control-Request-Method", "POST")
	if r.Status != http.StatusMethodNotAllowed || r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", r.Status, r.Header)
	}
}
