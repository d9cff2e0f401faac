package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Call is a request while it is answered. Its methods are what a format asks of the
// server. Those that take a context, that of the request or one derived from it, may be
// called concurrently; see [Each].
type Call struct {
	// Request is the request. Its context ends with the time for the request.
	Request *http.Request
	// Writer is the answer. [Call.Send] writes JSON to it.
	Writer http.ResponseWriter

	server  *Server
	format  *Format
	id      string // see requestIDHeader
	caller  *caller
	began   time.Time
	clock   *clock
	failure *Failure
	read    bool  // whether the handler began to read the body
	memory  int64 // bytes of the body, counted in Server.memory
	texts   atomic.Int64
	bytes   atomic.Int64 // of the texts
}

// Config returns the configuration of the server, which must not be changed.
func (c *Call) Config() Config { return c.server.config }

// Model returns what is known about the server's model.
func (c *Call) Model() toxscreen.ModelInfo { return c.server.screener.Info() }

// Header returns the header of the answer.
func (c *Call) Header() http.Header { return c.Writer.Header() }

// Send answers with a value as JSON.
func (c *Call) Send(status int, value any) { writeJSON(c.Writer, status, value) }

// Report logs the failure of a part of the request, like one of its texts, if the operator
// must know of it. The failure of the whole request is in its line of the log anyway.
func (c *Call) Report(message string, f *Failure) {
	if f.isOurs() {
		c.server.config.Log.Error(message, "error", f.Cause)
	}
}

// Address returns the URL under which the client reaches the server.
func (c *Call) Address() *url.URL {
	if external := c.server.config.External; external != nil {
		return external
	}
	scheme := "http"
	if c.Request.TLS != nil {
		scheme = "https"
	}
	return &url.URL{Scheme: scheme, Host: c.Request.Host}
}

// Path returns a path under which clients reach the server as the server knows it: without
// the path of its external URL.
func (c *Call) Path(path string) string {
	if external := c.server.config.External; external != nil {
		return strings.TrimPrefix(path, strings.TrimSuffix(external.Path, "/"))
	}
	return path
}

// Authorize sets the caller by the key of a request that this one contains, on an open
// route. The error is a [*Failure].
func (c *Call) Authorize(inner *http.Request) error {
	caller, err := c.server.callerOf(inner)
	if err == nil {
		c.caller = caller
	}
	return err
}

// count counts a text.
func (c *Call) count(bytes int) {
	c.texts.Add(1)
	c.bytes.Add(int64(bytes))
}

// log writes the log line of a request. It has the route's pattern in place of the
// URL, which may contain a key or a text.
func (c *Call) log(pattern string, status int) {
	level, attributes := slog.LevelInfo, []slog.Attr{
		slog.String("id", c.id), slog.String("api", c.format.Name), slog.String("route", pattern), slog.Int("status", status),
		slog.Float64("milliseconds", float64(time.Since(c.began).Microseconds())/1000),
	}
	if c.caller.Name != "" {
		attributes = append(attributes, slog.String("caller", c.caller.Name))
	}
	if n := c.texts.Load(); n > 0 {
		attributes = append(attributes, slog.Int64("texts", n), slog.Int64("bytes", c.bytes.Load()))
	}
	if f := c.failure; f != nil {
		attributes = append(attributes, slog.String("failure", string(f.Code)))
		if f.isOurs() {
			level = slog.LevelError
			attributes = append(attributes, slog.Any("error", f.Cause))
		}
	}
	c.server.config.Log.LogAttrs(c.Request.Context(), level, "request", attributes...)
}

// writeJSON answers with a value. It panics where the value has no JSON form, which
// only a type of ours could cause.
func writeJSON(w http.ResponseWriter, status int, value any) {
	data := append(plainjson.Append(nil, value), '\n') // before the status: it may panic
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that has disconnected needs no error
}

func writeFailure(w http.ResponseWriter, f *Failure) { writeJSON(w, f.Status(), NewErrorBody("", f)) }

// ErrorBody is the form of a failure in formats that do not have one of their own.
type ErrorBody struct {
	ID    string `json:"id,omitempty"` // of the text that failed, in a line of many
	Error struct {
		Code    Code   `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// NewErrorBody returns the form of a failure of a request, or of a text with an id.
func NewErrorBody(id string, f *Failure) ErrorBody {
	body := ErrorBody{ID: id}
	body.Error.Code, body.Error.Message = f.Code, f.Message
	return body
}

// answer is a response that keeps its status.
type answer struct {
	http.ResponseWriter
	status int
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	if status == http.StatusUnauthorized { // which requires it
		a.Header().Set("WWW-Authenticate", "Bearer")
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] find the connection's own writer.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Body reads the body of the request, of at most [Config.MaxBody] as it is sent and as it is
// decoded.
func (c *Call) Body() ([]byte, error) {
	r, most := c.Request, c.server.config.MaxBody
	if r.ContentLength > most {
		return nil, Fail(bodyTooLarge, "failed to read the request: it has %d bytes, the limit is %d; send fewer texts at once", r.ContentLength, most)
	}
	gzipped, err := isGzip(r.Header.Get("Content-Encoding"))
	if err != nil {
		c.Header().Set("Accept-Encoding", "gzip")
		return nil, err
	}
	c.read = true
	in := &counted{c: c, r: http.MaxBytesReader(c.Writer, r.Body, most)}
	if gzipped {
		in = &counted{c: c, r: http.MaxBytesReader(c.Writer, io.NopCloser(&gunzip{in: in}), most)}
	}
	data, err := io.ReadAll(in)
	if _, ok := errors.AsType[*Failure](err); ok {
		return nil, err
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, Fail(bodyTooLarge, "failed to read the request: it has more than %d bytes; send fewer texts at once", large.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, Fail(slowClient, "failed to read the request: it did not arrive within %s", c.server.bodyTimeout)
	}
	if err != nil {
		return nil, &Failure{Code: ClientGone, Message: "failed to read the request: it ended early", Cause: err}
	}
	// From here on net/http reads to notice a client that disconnects, which has
	// no time limit.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Time{})
	return data, nil
}

// JSON reads the body of the request, which should be JSON. Of that it checks only how deep
// it is nested.
func (c *Call) JSON() ([]byte, error) {
	data, err := c.Body()
	if err != nil {
		return nil, err
	}
	return data, CheckDepth(data)
}

// Decode reads the body of the request as JSON. Unknown fields are errors, so that a
// misspelt one is noticed.
func (c *Call) Decode(into any) error {
	data, err := c.Body()
	if err != nil {
		return err
	}
	if !utf8.Valid(data) {
		return Fail(InvalidRequest, "failed to read the request: it is not valid UTF-8, which JSON must be")
	}
	if err := CheckDepth(data); err != nil {
		return err
	}
	if err := plainjson.UnmarshalStrict(data, into); err != nil {
		return Fail(InvalidRequest, "failed to read the request: %v", err)
	}
	return nil
}

// maxDepth is the limit of nesting in the JSON of a request. No documented request
// has a depth of 10.
const maxDepth = 64

// CheckDepth rejects JSON that is nested too deep.
func CheckDepth(data []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return Fail(InvalidRequest, "failed to read the request: its JSON is nested deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// counted counts the bytes of a body in Server.memory as they arrive: a length
// that is announced and not sent counts nothing.
type counted struct {
	c   *Call
	r   io.Reader
	err error // of r, except its end
}

func (b *counted) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.c.memory += int64(n)
	if b.c.server.memory.Add(int64(n)) > b.c.server.maxMemory {
		err = &Failure{Code: overloaded, Retry: time.Second, Message: "failed to read the request: the bodies of all requests under way are too large together; try again later"}
	}
	if err != io.EOF {
		b.err = err
	}
	return n, err
}

// Ended returns the failure of a request whose time is over, or whose client has
// disconnected, and else nil.
func (c *Call) Ended() error {
	ctx := c.Request.Context()
	return ended(ctx, ctx.Err())
}

// ended replaces the error of a request whose time is over, or whose client has
// disconnected, whatever that interrupted, and returns any other as it is.
func ended(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if f, ok := errors.AsType[*Failure](err); ok && f.Code != notJudged {
		return err
	}
	if isTimeOver(ctx) {
		return context.Cause(ctx)
	}
	return &Failure{Code: ClientGone, Message: "failed to score text: the client has disconnected", Cause: ctx.Err()}
}
