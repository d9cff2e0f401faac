package server

import (
	"crypto/rand"
	"net/http"
)

// requestIDHeader has the id of a request, which is in its answer and in its line of
// the log: the client's own, or a new one.
const requestIDHeader = "X-Request-ID"

// maxRequestID is the limit of a client's id in bytes. UUIDs and the ids of proxies have
// up to 100.
const maxRequestID = 128

// identified returns a handler whose answers have the id of the request.
func identified(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !validRequestID(id) {
			id = rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		h.ServeHTTP(w, r)
	})
}

// validRequestID reports whether a client's id is short, printable ASCII, and without
// spaces: what has spaces may be a text.
func validRequestID(id string) bool {
	for _, c := range []byte(id) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}
