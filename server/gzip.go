package server

import (
	"compress/gzip"
	"io"
	"strings"
)

// isGzip returns whether a Content-Encoding is gzip. An encoding that is not decoded is
// a failure.
func isGzip(encoding string) (bool, error) {
	switch strings.ToLower(encoding) {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, Fail(badEncoding, "failed to read the request: its Content-Encoding is %.40q: send it as gzip, or without one", encoding)
}

// gunzip is the decoded body of a request. Data that is not gzip is a failure; other
// errors are those of the body.
type gunzip struct {
	in  *counted
	out *gzip.Reader // nil before the first read
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.out == nil {
		g.out, err = gzip.NewReader(g.in)
	}
	if err == nil {
		n, err = g.out.Read(p)
	}
	switch {
	case err == nil || err == io.EOF && g.out != nil:
		return n, err
	case g.in.err != nil:
		return n, g.in.err
	}
	return n, Fail(InvalidRequest, "failed to read the request: its Content-Encoding is gzip, but its body is not valid gzip")
}
