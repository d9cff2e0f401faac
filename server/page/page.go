// Package page serves the playground, a page to try the server in a browser:
//
//	playground := page.Handler()
//	mux.Handle("GET /{$}", playground)
//	mux.Handle("GET /page/", playground)
//
// It is embedded in the binary, loads nothing from other hosts and uses the native
// routes of the server that it comes from: POST v1/score, GET v1/score/{id} for a
// pending verdict, POST v1/feedback for what the user sends, and GET readyz, and a route
// of another format while its answer is shown. All its URLs but those of the project's documents are relative, so it works
// below any base path.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed index.html *.css *.js icon.svg
var content embed.FS

// kinds are the Content-Types of the files.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// policy is the Content-Security-Policy: the page may load its own scripts, style
// sheet and images and call its own server. Trusted Types prevent turning strings
// into markup, so texts are always shown as text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is a file that Handler serves.
type file struct {
	kind, tag string // Content-Type and ETag
	content   []byte
}

// Handler serves the page at / and its files below /page/. A base path before
// them must be removed first, see [http.StripPrefix]. It is safe for concurrent use.
func Handler() http.Handler {
	files := map[string]file{}
	entries, err := content.ReadDir(".")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded
	}
	for _, entry := range entries {
		data, err := content.ReadFile(entry.Name())
		if err != nil {
			panic(err) // cannot happen: the file is embedded
		}
		address := "/page/" + entry.Name()
		if entry.Name() == "index.html" {
			address = "/"
		}
		sum := sha256.Sum256(data)
		files[address] = file{kind: kinds[path.Ext(entry.Name())], tag: `"` + hex.EncodeToString(sum[:16]) + `"`, content: data}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed: use GET", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Browsers may cache it, but must revalidate it each time: after an update
		// of the server, the page never runs the old script.
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", f.tag)
		// Answers If-None-Match, HEAD and ranges.
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})
}
