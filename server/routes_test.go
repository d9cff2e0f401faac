package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

// A client's own id finds its request in the log and its answer. Any other gets a new
// one, on whatever route.
func TestARequestHasAnID(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	const own = "7f3c-1a/2b:Root=1"
	if r := s.Post("/v1/score", `{"text": "hello"}`, "X-Request-ID", own); r.Header.Get("X-Request-ID") != own || !strings.Contains(s.Log.String(), own) {
		t.Errorf("%s\n%s", r.Header, s.Log)
	}
	seen := map[string]bool{}
	for _, sent := range []string{"", "you idiot", "f\u00fcr", strings.Repeat("x", 129)} {
		for _, path := range []string{"/v1/openapi.json", "/healthz", "/readyz", "/", "/page/page.js", "/v1/models", "/nothing", "/v1/moderations"} {
			r := s.Get(path, "X-Request-ID", sent)
			id := r.Header.Get("X-Request-ID")
			if len(id) < 16 || len(id) > 64 || seen[id] {
				t.Errorf("%s: the id is %q", path, id)
			}
			seen[id] = true
		}
	}
	if log := s.Log.String(); strings.Contains(log, "idiot") {
		t.Errorf("what is no id is in the log: %s", log)
	}
}

// All routes are served with and without the path of the external URL, and the page also
// without the slash after it: browsers are sent to the one with it, since the URLs in
// the page are relative.
func TestRoutesBelowTheExternalPath(t *testing.T) {
	for _, external := range []string{"https://tox.example.org/screen", "https://tox.example.org/screen/"} {
		base, err := url.Parse(external)
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, toxscreen.New(words), server.Config{External: base})
		client := *s.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		for path, want := range map[string]string{"/screen": "307 /screen/", "/screen?text=x": "307 /screen/?text=x", "/screen/": "200 ", "/": "200 ", "/screens": "404 "} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if got := response.Status[:3] + " " + response.Header.Get("Location"); got != want {
				t.Errorf("%s: %s is %s, want %s", external, path, got, want)
			}
		}
		for _, path := range []string{"/v1/score", "/screen/v1/score"} {
			if r := s.Post(path, `{"text": "hello"}`); r.Status != http.StatusOK {
				t.Errorf("%s: %s: %d %s", external, path, r.Status, r.Body)
			}
		}
	}
}
