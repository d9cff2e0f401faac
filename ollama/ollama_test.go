//go:build unix

package ollama

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen/ollama/ollamatest"
)

// These tests run against a real server. Its tiny model answers with nonsense that
// fits the schema, and always answers the same prompt in the same way. Few words
// are tokens of it, so that a prompt has more tokens than English usually has.

const tiny = "tiny"

func tinyServer(t *testing.T, environment ...string) *ollamatest.Server {
	t.Helper()
	server := ollamatest.Start(t, environment...)
	server.Create(t, tiny, ollamatest.Tiny)
	return server
}

func tinyClient(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	config := Config{Model: tiny, Host: url, Timeout: 5 * time.Minute, LoadTimeout: 5 * time.Minute}
	if change != nil {
		change(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// about returns a question that the tiny model answers in about ten tokens.
func about(text string) Question {
	return Question{
		Messages: []Message{{Role: "system", Content: "Is it rude?"}, {Role: "user", Content: text}},
		Format:   json.RawMessage(`{"type":"object","properties":{"verdict":{"enum":["yes","no"]}},"required":["verdict"],"additionalProperties":false}`),
		Predict:  64, Logprobs: 20,
	}
}

func replyTo(t *testing.T, c *Client, q Question) Reply {
	t.Helper()
	r, err := c.Ask(t.Context(), q)
	if err != nil {
		t.Fatalf("%v: %v", q.Messages, err)
	}
	return r
}

func TestAModelIsRequired(t *testing.T) {
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "no model is given: choose one from `ollama list`") {
		t.Error(err)
	}
}

func TestAReplyHasWhatWasAskedFor(t *testing.T) {
	c := tinyClient(t, tinyServer(t).URL, nil)
	r := replyTo(t, c, about("you idiot"))
	var written strings.Builder
	for _, token := range r.Logprobs {
		written.WriteString(token.Token)
		if len(token.TopLogprobs) != 20 {
			t.Errorf("%d tokens are listed for %q", len(token.TopLogprobs), token.Token)
		}
	}
	if written.String() != r.Text || !slices.Contains([]string{`{"verdict":"yes"}`, `{"verdict":"no"}`}, strings.ReplaceAll(r.Text, " ", "")) || r.Cut != "" ||
		r.InputTokens < len("Is it rude?you idiot") || r.OutputTokens < len(r.Logprobs) || r.Session == nil || r.Session != c.Session() {
		t.Errorf("%+v", r)
	}
	// Free text, without log-probabilities, goes on until it is cut off.
	r = replyTo(t, c, Question{Messages: []Message{{Role: "user", Content: "Go on:"}}, Predict: 5})
	if r.Logprobs != nil || r.Text == "" || r.OutputTokens != 5 || r.Cut != "it was cut off at 5 tokens" {
		t.Errorf("%+v", r)
	}
}

// Every call has the same options except the length of its answer. Prompts must not
// be truncated, and each call has what its question asks for.
func TestWhatTheServerIsAsked(t *testing.T) {
	var kept ollamatest.Requests
	c := tinyClient(t, ollamatest.NewProxy(t, tinyServer(t), kept.Plan(t, nil)).URL, nil)
	replyTo(t, c, about("x"))
	replyTo(t, c, Question{Messages: []Message{{Role: "user", Content: "y"}}, Predict: 5})
	for i, r := range append(kept.Asked, kept.Loads...) {
		first := i == 0
		if (r.Format != nil) != first || r.Logprobs != first || (r.TopLogprobs == 20) != first || r.Think != nil ||
			r.Truncate == nil || *r.Truncate || r.Shift == nil || *r.Shift || r.KeepAlive == nil || r.KeepAlive.Duration != keepAlive {
			t.Errorf("request %+v", r)
		}
		if want := []float64{64, 5, 1}[i]; r.Options["num_predict"] != want || r.Options["num_ctx"] != float64(defaultContext) || r.Options["temperature"] != 0.0 || r.Options["seed"] != 0.0 {
			t.Errorf("options %v, want %v tokens", r.Options, want)
		}
	}
}

// A model that can think is told not to, since otherwise the server does not
// enforce the schema. A model that cannot think gets no such option.
func TestModelsThatThink(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "thinking", ollamatest.Tiny, map[string]any{
		"template": `{{ range .Messages }}<|im_start|>{{ .Role }}
{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`,
	})
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, server, kept.Plan(t, nil))
	r := replyTo(t, tinyClient(t, proxy.URL, func(c *Config) { c.Model = "thinking" }), about("x"))
	if think := kept.Asked[0].Think; think == nil || think.Bool() || len(kept.Asked) != 1 || !json.Valid([]byte(r.Text)) || !r.Session.Thinking {
		t.Errorf("think is %+v, want false; %d calls; %+v", think, len(kept.Asked), r)
	}
}

// An endless answer is cut off, and is not a failure of the server.
func TestAnswersThatAreNotWhole(t *testing.T) {
	server := tinyServer(t)
	for name, test := range map[string]struct {
		fault ollamatest.Fault
		want  string
	}{
		"out of tokens": {ollamatest.OutOfTokens, "it was cut off at 64 tokens"},
		"white space":   {ollamatest.WhiteSpace, "it ends in white space without end"},
		"a long text": {func(_ *ollamatest.Proxy, w http.ResponseWriter, _ *http.Request) {
			for range maxAnswer/1024 + 1 {
				fmt.Fprintf(w, "{\"message\":{\"content\":%q}}\n", strings.Repeat("no", 512))
			}
		}, "it has more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var kept ollamatest.Requests
			c := tinyClient(t, ollamatest.NewProxy(t, server, kept.Plan(t, ollamatest.Always(test.fault))).URL, nil)
			if r := replyTo(t, c, about("x")); r.Cut != test.want || len(kept.Asked) != 1 {
				t.Errorf("%q after %d calls, want %q", r.Cut, len(kept.Asked), test.want)
			}
		})
	}
	// The server stops a model that repeats one token, without a message, with and
	// without log-probabilities.
	c := tinyClient(t, server.URL, nil)
	for _, logprobs := range []int{0, 1} {
		q := about("x")
		q.Format, q.Logprobs = json.RawMessage(`{"const":"`+strings.Repeat("x", 50)+`"}`), logprobs
		if r := replyTo(t, c, q); r.Cut != "it repeats one token" {
			t.Errorf("with %d log-probabilities: %+v", logprobs, r)
		}
	}
}

// The tokens of the probe are counted. If the model needs more than were reserved,
// it is loaded once more, and never again.
func TestTheProbeIsMeasured(t *testing.T) {
	server := tinyServer(t)
	probe := []Message{{Role: "system", Content: strings.Repeat("Answer in one word. ", 60)}}
	var planned []int
	c := tinyClient(t, server.URL, func(c *Config) {
		c.Probe = probe
		c.Context = func(prefix, limit int) (int, error) {
			if limit != 32768 {
				t.Errorf("the model can have %d tokens", limit)
			}
			planned = append(planned, prefix)
			return prefix + 200, nil
		}
	})
	first := replyTo(t, c, about("x")).Session
	const loaded = "runner --model"
	if loads := strings.Count(server.Log(t), loaded); loads != 2 || !slices.Equal(planned, []int{600, MostTokens(probe)}) {
		t.Errorf("%d loads for prefixes of %v tokens", loads, planned)
	}
	if first.Planned != MostTokens(probe) || first.Context != first.Planned+200 || first.Prefix <= 600 || first.Prefix > first.Planned || first.Limit != 32768 || len(first.Digest) != 64 {
		t.Errorf("%+v", first)
	}
	// It is not loaded again for a new session.
	c.forget(first)
	if c.Session() != nil {
		t.Error("the session is still there")
	}
	second := replyTo(t, c, about("y")).Session
	if loads := strings.Count(server.Log(t), loaded); loads != 2 || second == first || second.Context != first.Context || second.Prefix != first.Prefix || second.Planned != first.Planned {
		t.Errorf("%d loads, %+v after %+v", loads, second, first)
	}
}

// By default, the context is Ollama's, or the model's if that is shorter. The model
// can be identified before it is loaded.
func TestTheModelIsDescribed(t *testing.T) {
	server := tinyServer(t)
	server.Create(t, "short", ollamatest.WithContext(t, ollamatest.Tiny, 1024))
	for name, want := range map[string]int{tiny: 4096, "short": 1024} {
		c := tinyClient(t, server.URL, func(c *Config) { c.Model = name })
		loads := strings.Count(server.Log(t), "runner --model")
		named, err := c.Identify(t.Context())
		if err != nil || strings.Count(server.Log(t), "runner --model") != loads || c.Session() != nil || named.Context != 0 {
			t.Errorf("%+v, %v, and the server's log is %s", named, err, server.Log(t))
		}
		s, err := c.Connect(t.Context())
		if err != nil || s.Digest != named.Digest || s.Context != want || s.Prefix != 0 || s.Thinking || c.Session() != s {
			t.Errorf("%+v, then %+v, %v", named, s, err)
		}
		if again, err := c.Identify(t.Context()); err != nil || again != s {
			t.Errorf("%+v after %+v, %v", again, s, err)
		}
	}
}

// A model may be removed while it is used.
func TestAModelThatGoesAway(t *testing.T) {
	server := tinyServer(t)
	c := tinyClient(t, server.URL, nil)
	replyTo(t, c, about("x"))
	if err := c.api.Delete(t.Context(), &api.DeleteRequest{Model: tiny}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once by the call, once by the new session
		if _, err := c.Ask(t.Context(), about("x")); err == nil || !strings.Contains(err.Error(), "get it with `ollama pull tiny`") {
			t.Error(err)
		}
	}
}
