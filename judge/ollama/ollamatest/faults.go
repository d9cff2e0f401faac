//go:build unix

package ollamatest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault handles one request with a fault. All except [Delay], [Restart] and
// [Instead] replace the answer, or change the real server's answer.
type Fault func(p *Proxy, w http.ResponseWriter, r *http.Request)

// Call is a request that has reached a [Proxy].
type Call struct {
	Number int // of the calls with this path, from 1
	Path   string
	Body   []byte
}

// Proxy stands between a client and a [Server]. Requests pass unchanged, except
// requests to /api/chat and /api/generate for which its plan has a fault. To refuse
// connections, stop the server instead.
type Proxy struct {
	URL string // for the client, in place of the server's

	t       testing.TB
	server  *Server
	plan    func(Call) Fault
	forward *httputil.ReverseProxy
	client  *http.Client
	ended   chan struct{} // closed when the test ends, to end hanging requests

	mu    sync.Mutex
	calls map[string]int

	restart sync.Mutex
}

// NewProxy starts a proxy in front of a server. The plan is called once for every
// call of a model, concurrently if the client makes concurrent calls; nil lets the
// call pass. The proxy ends with the test.
func NewProxy(t testing.TB, server *Server, plan func(Call) Fault) *Proxy {
	t.Helper()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	p := &Proxy{
		t: t, server: server, plan: plan,
		forward: &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			Transport:     transport,
			FlushInterval: -1, // streams are passed on as they come
			ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { reset(w) },
		},
		client: &http.Client{Transport: transport},
		ended:  make(chan struct{}),
		calls:  map[string]int{},
	}
	front := httptest.NewServer(p)
	p.URL = front.URL
	t.Cleanup(func() {
		close(p.ended)
		front.CloseClientConnections()
		front.Close()
		transport.CloseIdleConnections()
	})
	return p
}

// InTurn is a plan with the first fault for the first call of a model, and so on. A
// nil fault lets a call pass, and so do calls after the last fault.
func InTurn(faults ...Fault) func(Call) Fault {
	var mu sync.Mutex
	return func(Call) Fault {
		mu.Lock()
		defer mu.Unlock()
		if len(faults) == 0 {
			return nil
		}
		next := faults[0]
		faults = faults[1:]
		return next
	}
}

// Always is a plan with one fault for every call.
func Always(fault Fault) func(Call) Fault { return func(Call) Fault { return fault } }

// Calls returns how many requests with a path, such as /api/chat, have reached the
// proxy, including those with a fault.
func (p *Proxy) Calls(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[path]
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.calls[r.URL.Path]++
	number := p.calls[r.URL.Path]
	p.mu.Unlock()
	if p.plan != nil && (r.URL.Path == "/api/chat" || r.URL.Path == "/api/generate") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			reset(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if fault := p.plan(Call{number, r.URL.Path, body}); fault != nil {
			fault(p, w, r)
			return
		}
	}
	p.forward.ServeHTTP(w, r)
}

// Reset breaks the connection before there is an answer, like a server that dies.
func Reset(_ *Proxy, w http.ResponseWriter, _ *http.Request) { reset(w) }

func reset(w http.ResponseWriter) {
	// Possible on every HTTP/1.1 connection.
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		tcp.SetLinger(0) // a reset rather than an orderly end
	}
	connection.Close()
}

// QueueFull is the answer of a server with OLLAMA_MAX_QUEUE requests waiting.
func QueueFull(_ *Proxy, w http.ResponseWriter, _ *http.Request) {
	answerError(w, http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded")
}

// Fail answers with a status and an error in Ollama's form. The message is
// plain ASCII.
func Fail(status int, message string) Fault {
	return func(_ *Proxy, w http.ResponseWriter, _ *http.Request) { answerError(w, status, message) }
}

func answerError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"error\":%q}\n", message)
}

// ErrorLine passes half of the answer's lines and then a line that says that the
// model stopped, all under status 200. An answer without streaming becomes only
// that line.
func ErrorLine(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(body []byte) []byte {
		lines := bytes.SplitAfter(body, []byte("\n"))
		kept := bytes.Join(lines[:len(lines)/2], nil)
		return append(kept, `{"error":"an error was encountered while running the model: unexpected EOF"}`+"\n"...)
	})
}

// Hang sends half of the answer and then nothing until the client or the test
// gives up.
func Hang(p *Proxy, w http.ResponseWriter, r *http.Request) {
	body, ok := p.ask(w, r)
	if !ok {
		return
	}
	w.Write(body[:len(body)/2])
	http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done():
	case <-p.ended:
	}
	panic(http.ErrAbortHandler)
}

// Break sends half of the answer and then breaks the connection.
func Break(p *Proxy, w http.ResponseWriter, r *http.Request) {
	body, ok := p.ask(w, r)
	if !ok {
		return
	}
	w.Write(body[:len(body)/2])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// Cut ends the answer's body in its middle as if it were complete.
func Cut(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.change(w, r, func(body []byte) []byte { return body[:len(body)/2] })
}

// OutOfTokens cuts the model's text in the middle, which the answer states by
// "done_reason":"length".
func OutOfTokens(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.changeContent(w, r, func(content string, last map[string]any) string {
		last["done_reason"] = "length"
		return content[:len(content)/2]
	})
}

// WhiteSpace replaces the model's text by an opening brace and line feeds only. The
// server gives up after 31 equal tokens and sends no last message: "done" is false,
// and there are no counts and no reason.
func WhiteSpace(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.changeContent(w, r, func(_ string, last map[string]any) string {
		last["done"] = false
		for _, field := range []string{
			"done_reason", "total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration",
			"eval_count", "eval_duration",
		} {
			delete(last, field)
		}
		return "{" + strings.Repeat("\n", 31)
	})
}

// InvalidUTF8 inserts invalid UTF-8 into the model's text.
func InvalidUTF8(p *Proxy, w http.ResponseWriter, r *http.Request) {
	const mark = "invalid bytes come here"
	p.change(w, r, func(body []byte) []byte {
		changed := changeLines(body, func(content string, _ map[string]any) string {
			return content[:len(content)/2] + mark + content[len(content)/2:]
		})
		return bytes.ReplaceAll(changed, []byte(mark), []byte("\xff\xfe\xc3"))
	})
}

// Say replaces the model's text.
func Say(content string) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		p.changeContent(w, r, func(string, map[string]any) string { return content })
	}
}

// Instead sends another request to the server: change gets the fields of the
// request, as encoding/json reads them.
func Instead(change func(request map[string]any)) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			p.t.Errorf("failed to read the request: %v", err)
			reset(w)
			return
		}
		change(request)
		body, err := json.Marshal(request)
		if err != nil {
			p.t.Errorf("failed to change the request: %v", err)
			reset(w)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		p.forward.ServeHTTP(w, r)
	}
}

// Delay passes the request on after a time.
func Delay(d time.Duration) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			p.forward.ServeHTTP(w, r)
		case <-r.Context().Done():
		case <-p.ended:
		}
	}
}

// Restart restarts the server before it passes the request on; answers in progress
// break off.
func Restart(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.restart.Lock()
	err := p.server.restart()
	p.restart.Unlock()
	if err != nil {
		p.t.Errorf("failed to restart the server: %v", err)
		reset(w)
		return
	}
	p.forward.ServeHTTP(w, r)
}

// ask gets the server's whole answer and sends its status and type. It returns
// false if there is no answer to change: errors go to the client unchanged.
func (p *Proxy) ask(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	request := r.Clone(context.WithoutCancel(r.Context()))
	request.RequestURI = ""
	request.URL.Scheme, request.URL.Host, _ = strings.Cut(p.server.URL, "://")
	response, err := p.client.Do(request)
	if err != nil {
		reset(w)
		return nil, false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		reset(w)
		return nil, false
	}
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	if response.StatusCode != http.StatusOK {
		w.Write(body)
		return nil, false
	}
	return body, true
}

func (p *Proxy) change(w http.ResponseWriter, r *http.Request, change func([]byte) []byte) {
	if body, ok := p.ask(w, r); ok {
		w.Write(change(body))
	}
}

func (p *Proxy) changeContent(w http.ResponseWriter, r *http.Request, change func(content string, last map[string]any) string) {
	p.change(w, r, func(body []byte) []byte { return changeLines(body, change) })
}

// changeLines turns an answer, a stream of lines or a single one, into its last
// line with the whole content, changed.
func changeLines(body []byte, change func(content string, last map[string]any) string) []byte {
	var content strings.Builder
	var last map[string]any
	for line := range bytes.Lines(body) {
		last = nil
		if err := json.Unmarshal(line, &last); err != nil {
			panic(fmt.Sprintf("the server's answer has a line that is not a JSON object: %q", line))
		}
		if message, ok := last["message"].(map[string]any); ok {
			content.WriteString(message["content"].(string))
		} else if response, ok := last["response"].(string); ok {
			content.WriteString(response)
		}
	}
	changed := change(content.String(), last)
	if message, ok := last["message"].(map[string]any); ok {
		message["content"] = changed
	} else {
		last["response"] = changed
	}
	line, err := json.Marshal(last)
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}
