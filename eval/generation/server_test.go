package generation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// asked are the requests that a server got.
type asked struct {
	lock     sync.Mutex
	requests []map[string]any // the body, with "path" and "key"
}

func (a *asked) count() int {
	a.lock.Lock()
	defer a.lock.Unlock()
	return len(a.requests)
}

// serve starts a server that speaks OpenAI's protocol as far as a Server uses it. It has the
// model "m", and writes its seed after the prompt's last word.
func serve(t *testing.T, fault http.HandlerFunc) (url string, got *asked) {
	t.Helper()
	got = &asked{}
	answers := http.NewServeMux()
	answers.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	})
	answers.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"0.8.5"}`) })
	write := func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		q["path"], q["key"] = r.URL.Path, r.Header.Get("Authorization")
		got.lock.Lock()
		got.requests = append(got.requests, q)
		got.lock.Unlock()
		if fault != nil {
			fault(w, r)
			return
		}
		text := fmt.Sprintf(" you idiot %v", q["seed"])
		if r.URL.Path == "/v1/chat/completions" {
			fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text)
		} else {
			fmt.Fprintf(w, `{"choices":[{"text":%q,"finish_reason":"length"}]}`, text)
		}
	}
	answers.HandleFunc("POST /v1/completions", write)
	answers.HandleFunc("POST /v1/chat/completions", write)
	server := httptest.NewServer(answers)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, got
}

func serverAt(t *testing.T, url string, change func(*ServerConfig)) *Server {
	t.Helper()
	config := ServerConfig{URL: url, Model: "m"}
	if change != nil {
		change(&config)
	}
	s, err := NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	s.pause = time.Millisecond
	t.Cleanup(s.Close)
	return s
}

func TestWhatAServerIsAsked(t *testing.T) {
	url, got := serve(t, nil)
	s := serverAt(t, url+"/v1/", func(c *ServerConfig) { c.Model, c.Key = "", "secret" })
	identity, err := s.Identify(t.Context())
	if want := (Identity{Generator: "openai", Model: "m", Server: "0.8.5"}); err != nil || identity != want {
		t.Errorf("%+v, %v, want %+v", identity, err, want)
	}
	p := Protocol{Generations: 3, MaxTokens: 20, TopP: 0.9, Temperature: 0.5}
	text, finish, err := s.Generate(t.Context(), "The dog", p, 7)
	if err != nil || text != " you idiot 7" || finish != "length" {
		t.Errorf("%q, %q, %v", text, finish, err)
	}
	p.Chat = true
	if _, finish, err = s.Generate(t.Context(), "The dog", p, 8); err != nil || finish != "stop" {
		t.Errorf("%q, %v", finish, err)
	}
	const settings = `"key":"Bearer secret","max_tokens":20,%s"min_p":0,"model":"m","n":1,"path":%q,%s"repetition_penalty":1,"seed":%d,"stream":false,"temperature":0.5,"top_k":-1,"top_p":0.9`
	for i, want := range []string{
		fmt.Sprintf(settings, "", "/v1/completions", `"prompt":"The dog",`, 7),
		fmt.Sprintf(settings, `"messages":[{"content":"The dog","role":"user"}],`, "/v1/chat/completions", "", 8),
	} {
		if body, err := json.Marshal(got.requests[i]); err != nil || string(body) != "{"+want+"}" {
			t.Errorf("%v\n%s, want\n{%s}", err, body, want)
		}
	}
}

// Each fault is a sentence. Only those of a moment are worth another attempt, and only those
// of the server, rather than the prompt, are an unavailableError.
func TestFaultsOfAServer(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}
	}
	for name, test := range map[string]struct {
		fault       http.HandlerFunc
		want        string
		attempts    int
		unavailable bool
	}{
		"overload":       {status(http.StatusTooManyRequests, `{"error":{"message":"too many"}}`), "failed or is overloaded; lower --parallel: too many", 5, true},
		"a crash":        {status(http.StatusInternalServerError, "oops"), "failed or is overloaded; lower --parallel: 500 Internal Server Error", 5, true},
		"a long prompt":  {status(http.StatusBadRequest, `{"error":"the prompt has 9000 tokens"}`), "rejected the request: the prompt has 9000 tokens", 1, false},
		"a wrong field":  {status(http.StatusUnprocessableEntity, `{"detail":"top_k"}`), "rejected the request: top_k", 1, false},
		"a wrong key":    {status(http.StatusUnauthorized, `{"message":"no"}`), "refuses the key: name the variable that has the right one with --key-variable: no", 1, true},
		"a wrong path":   {status(http.StatusNotFound, ""), "knows no such path or model: check the address, which often ends in /v1, and --model-name: 404 Not Found", 1, true},
		"a web page":     {status(http.StatusOK, "\n<!DOCTYPE html><html>"), "answered with a web page instead of JSON: check the address, which often ends in /v1", 1, true},
		"garbage":        {status(http.StatusOK, "\x00\x01garbage"), "answered with something that is not the JSON of OpenAI's protocol", 1, true},
		"a stream":       {status(http.StatusOK, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), "answered with something that is not the JSON of OpenAI's protocol", 1, true},
		"half an answer": {status(http.StatusOK, `{"choices":[{"te`), "is not the JSON of OpenAI's protocol: its JSON breaks off", 1, true},
		"no choices":     {status(http.StatusOK, `{"choices":[]}`), "answered without choices: its answer has no text", 1, true},
		"an error as OK": {status(http.StatusOK, `{"error":"no"}`), "answered without choices: its answer has no text", 1, true},
		"no text":        {status(http.StatusOK, `{"choices":[{}]}`), "answered with a choice that has no text", 1, true},
		"a filter":       {status(http.StatusOK, `{"choices":[{"text":"","finish_reason":"content_filter"}]}`), "withheld the text by its content filter: switch that off to measure the model", 1, false},
		"a huge answer":  {status(http.StatusOK, strings.Repeat(" ", maxServerAnswer+1)), "has more than 4194304 bytes", 1, true},
		"a redirection": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://elsewhere.example/v1/completions")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "redirects to elsewhere.example, and redirections are not followed: give that address if you trust it", 1, true},
		"a broken connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "broke off: EOF", 5, true},
		"silence":             {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer within 200ms: raise --timeout, or lower --parallel", 1, true},
		"half, then silence": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"choices":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "did not answer within 200ms", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			url, got := serve(t, test.fault)
			s := serverAt(t, url+"/v1", func(c *ServerConfig) {
				if strings.Contains(test.want, "200ms") { // others may be slow on a busy machine
					c.Timeout = 200 * time.Millisecond
				}
			})
			_, _, err := s.Generate(t.Context(), "The dog", DefaultProtocol, 1)
			_, unavailable := errors.AsType[*unavailableError](err)
			host := strings.TrimPrefix(url, "http://")
			if err == nil {
				t.Fatal("there is no error")
			}
			for _, want := range []string{test.want, host} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: want %q", err, want)
				}
			}
			if unavailable != test.unavailable {
				t.Errorf("%v: the server is to blame: %t, want %t", err, unavailable, test.unavailable)
			}
			if got.count() != test.attempts {
				t.Errorf("%d attempts, want %d", got.count(), test.attempts)
			}
		})
	}
}

func TestAServerThatRecoversIsAskedAgain(t *testing.T) {
	failures := 2
	url, got := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if failures--; failures >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"choices":[{"text":" barks","finish_reason":"eos"}]}`)
	})
	text, finish, err := serverAt(t, url+"/v1", nil).Generate(t.Context(), "The dog", DefaultProtocol, 1)
	if err != nil || text != " barks" || finish != "" || got.count() != 3 {
		t.Errorf("%q, %q, %v after %d attempts", text, finish, err, got.count())
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	_, err := serverAt(t, closed.URL, nil).Identify(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no server answers at "+strings.TrimPrefix(closed.URL, "http://")+": start it, or check the address") {
		t.Error(err)
	}
}

// A call ends as soon as its context does.
func TestACallThatIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, _, err := serverAt(t, url+"/v1", nil).Generate(ctx, "The dog", DefaultProtocol, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelsOfAServer(t *testing.T) {
	for name, test := range map[string]struct{ models, model, want, fault string }{
		"one":          {`{"data":[{"id":"a"}]}`, "", "a", ""},
		"named":        {`{"data":[{"id":"a"},{"id":"b"}]}`, "b", "b", ""},
		"none told":    {`{"data":[]}`, "b", "b", ""},
		"several":      {`{"data":[{"id":"a"},{"id":"b"}]}`, "", "", "has several models: name one with --model-name: a, b"},
		"another":      {`{"data":[{"id":"a"}]}`, "b", "", "has no model b: it has a"},
		"none at all":  {`{}`, "", "", "does not say which model it has: name it with --model-name"},
		"not a server": {`<html>`, "b", "", "answered with a web page instead of JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.models) }))
			defer server.Close()
			s := serverAt(t, server.URL, func(c *ServerConfig) { c.Model = test.model })
			defer s.Close()
			identity, err := s.Identify(t.Context())
			if identity.Model != test.want {
				t.Errorf("the model is %q, want %q", identity.Model, test.want)
			}
			switch {
			case test.fault == "" && err != nil:
				t.Error(err)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
				t.Errorf("%v, want %q", err, test.fault)
			}
		})
	}
}

func TestAddressesOfServers(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8000", "ftp://x/v1", "http://", "http://user:secret@x/v1", "http://x/v1?key=1", "http://x/v1#a", "http://x/v1/completions", "http://x/v1/chat/completions"} {
		if _, err := NewServer(ServerConfig{URL: url}); err == nil || !strings.Contains(err.Error(), "must be like http://127.0.0.1:8000/v1") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
