package page_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/server/page"
)

func get(method, path string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, nil)
	for name, values := range header {
		request.Header[name] = values
	}
	recorder := httptest.NewRecorder()
	page.Handler().ServeHTTP(recorder, request)
	return recorder
}

// TestHeaders: the policy of each file allows only what the page needs, and browsers
// cache a file until it changes.
func TestHeaders(t *testing.T) {
	for path, kind := range map[string]string{
		"/":              "text/html; charset=utf-8",
		"/page/page.css": "text/css; charset=utf-8",
		"/page/page.js":  "text/javascript; charset=utf-8",
		"/page/text.js":  "text/javascript; charset=utf-8",
		"/page/icon.svg": "image/svg+xml",
	} {
		response := get("GET", path, nil)
		if response.Code != http.StatusOK || response.Body.Len() < 100 {
			t.Errorf("%s: status %d with %d bytes", path, response.Code, response.Body.Len())
		}
		h := response.Header()
		if got := h.Get("Content-Type"); got != kind {
			t.Errorf("%s: Content-Type %q, want %q", path, got, kind)
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: the policy allows too much: %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: a browser may guess another content type", path)
		}

		again := get("GET", path, http.Header{"If-None-Match": {h.Get("ETag")}})
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s is sent to a client that has it: status %d", path, again.Code)
		}
		other := get("GET", path, http.Header{"If-None-Match": {`"another"`}})
		if other.Code != http.StatusOK {
			t.Errorf("%s is not sent to a client that has another: status %d", path, other.Code)
		}
	}
}

func TestOtherRequests(t *testing.T) {
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{"HEAD", "/", http.StatusOK},
		{"POST", "/", http.StatusMethodNotAllowed},
		{"GET", "/page/page.go", http.StatusNotFound},
		{"GET", "/v1/", http.StatusNotFound},
	} {
		if response := get(test.method, test.path, nil); response.Code != test.want {
			t.Errorf("%s %s: status %d, want %d", test.method, test.path, response.Code, test.want)
		}
	}
}

var address = regexp.MustCompile(`[a-z]+://[^\s"'<>]+|(?:src|href)="[^"]*"|@import|\burl\([^)]`)

// link matches what a reader may follow: the description of this server's interface, and
// documents on the project's site, to which the browser does not say where it comes from.
var link = regexp.MustCompile(`<a (href="v1/openapi\.json"|(id="documents" )?rel="noreferrer" href="https://github\.com/toxscreen/toxscreen/tree/main/docs[a-z/.-]*")>`)

// markup matches what a policy without unsafe-inline and with Trusted Types blocks.
var markup = regexp.MustCompile(`<style|<script>|\sstyle=|\son[a-z]+=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(`)

// TestNothingFromElsewhere: the page loads only the files of this package, by
// relative addresses, so it works below a base path. It contains nothing that the
// policy would block.
func TestNothingFromElsewhere(t *testing.T) {
	paths := []string{"/", "/page/page.css", "/page/icon.svg"}
	scripts, err := filepath.Glob("*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are the scripts %q: %v", scripts, err)
	}
	for _, script := range scripts {
		paths = append(paths, "/page/"+script)
	}
	for _, path := range paths {
		body := get("GET", path, nil).Body.String()
		body = link.ReplaceAllString(body, "")
		for _, found := range address.FindAllString(body, -1) {
			switch found {
			case `href="page/icon.svg"`, `href="page/page.css"`, `src="page/page.js"`:
			case "http://www.w3.org/2000/svg": // a namespace, which is not loaded
			default:
				t.Errorf("%s names %s", path, found)
			}
		}
		if found := markup.FindString(body); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}
