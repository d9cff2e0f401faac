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

// Fault is what goes wrong with one request. All but [Delay], [Restart] and
// [Instead] replace the answer; where they change it, it is the real server's
// that they change.
type Fault func(p *Proxy, w http.ResponseWriter, r *http.Request)

// Call is a request that has reached a [Proxy].
type Call struct {
	Number int // of the calls with this path, from 1
	Path   string
	Body   []byte
}

// Proxy stands between a client and a [Server]. Requests go through it
// unchanged, but for those to /api/chat and /api/generate that its plan has a
// fault for. A connection that cannot be made at all needs no proxy: stop the
// server.
type Proxy struct {
	URL string // for the client, in place of the server's

	t       testing.TB
	server  *Server
	plan    func(Call) Fault
	forward *httputil.ReverseProxy
	client  *http.Client
	ended   chan struct{} // closed when the test ends, for what hangs

	mu    sync.Mutex
	calls map[string]int

	restart sync.Mutex
}

// NewProxy starts a proxy in front of a server. The plan is asked once for
// every call of a model, by several goroutines at a time where the client
// makes calls at a time; nil means that the call goes through. The proxy ends
// with the test.
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

// InTurn is a plan that has the first call of a model meet the first fault,
// and so on; nil among them lets a call through, as do those after the last.
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

// Calls returns how many requests with a path, such as /api/chat, have reached
// the proxy, those that met a fault among them.
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

// Reset breaks the connection before there is an answer, as a server does that
// dies.
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

// ErrorLine lets half of the answer's lines through and ends with one that
// says that the model stopped, all under status 200. An answer that is no
// stream is that line alone.
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

// OutOfTokens cuts what the model says in its middle, which the answer states
// by "done_reason":"length".
func OutOfTokens(p *Proxy, w http.ResponseWriter, r *http.Request) {
	p.changeContent(w, r, func(content string, last map[string]any) string {
		last["done_reason"] = "length"
		return content[:len(content)/2]
	})
}

// WhiteSpace has the model say an opening brace and then nothing but line
// feeds. The server gives up after 31 tokens of a kind, and then it sends no
// last message: "done" is false, and there are no counts and no reason.
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

// InvalidUTF8 puts bytes into what the model says that are no UTF-8.
func InvalidUTF8(p *Proxy, w http.ResponseWriter, r *http.Request) {
	const mark = "invalid bytes come here"
	p.change(w, r, func(body []byte) []byte {
		changed := changeLines(body, func(content string, _ map[string]any) string {
			return content[:len(content)/2] + mark + content[len(content)/2:]
		})
		return bytes.ReplaceAll(changed, []byte(mark), []byte("\xff\xfe\xc3"))
	})
}

// Say has the model say something else than it did.
func Say(content string) Fault {
	return func(p *Proxy, w http.ResponseWriter, r *http.Request) {
		p.changeContent(w, r, func(string, map[string]any) string { return content })
	}
}

// Instead asks the server something else: change gets the fields of the
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

// Delay lets the request through after a time.
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

// Restart restarts the server before it gets the request; what it is answering
// at the time breaks off.
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

// ask gets the server's whole answer and sends the head of its own. It
// reports whether there is an answer to change: errors go to the client as
// they are.
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

// changeLines makes an answer, a stream of lines or one of them, into the last
// of its lines with all of its content, changed.
func changeLines(body []byte, change func(content string, last map[string]any) string) []byte {
	var content strings.Builder
	var last map[string]any
	for line := range bytes.Lines(body) {
		last = nil
		if err := json.Unmarshal(line, &last); err != nil {
			panic(fmt.Sprintf("the server's answer has a line that is no JSON object: %q", line))
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
