package server

import (
	"net/http"
	"time"
)

// paced returns a handler whose clients must send a request, and receive each piece
// of an answer, within a time limit. It does not limit how long h computes.
//
// In HTTP/1.1 a deadline belongs to the connection and takes effect when something
// is read or written; in HTTP/2 it belongs to the request and resets it, whatever
// it does then. So there is a deadline only while something is sent.
func (s *Server) paced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: s.bodyTimeout}
		// Also where the handler does not read the body: net/http then reads it to
		// find the next request. Writers without deadlines return an error.
		_ = p.control.SetReadDeadline(time.Now().Add(p.timeout))
		h.ServeHTTP(p, r)
		p.begin() // net/http sends the rest
	})
}

// pacedWriter drops a client that reads too slowly.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // of each write
}

// begin begins the time for a write. Writers without deadlines return an error.
func (p *pacedWriter) begin() { _ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) }

func (p *pacedWriter) Write(data []byte) (int, error) {
	p.begin()
	return p.ResponseWriter.Write(data)
}

// FlushError sends what was written, for [http.ResponseController].
func (p *pacedWriter) FlushError() error {
	p.begin()
	err := p.control.Flush()
	_ = p.control.SetWriteDeadline(time.Time{})
	return err
}

// Unwrap lets [http.ResponseController] find the connection's own writer.
func (p *pacedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
