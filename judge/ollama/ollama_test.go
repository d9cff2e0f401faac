//go:build unix

package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
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
// be truncated, and each call has what its question asks for. How long the model stays
// loaded is the server's own setting.
func TestWhatTheServerIsAsked(t *testing.T) {
	var kept ollamatest.Requests
	c := tinyClient(t, ollamatest.NewProxy(t, tinyServer(t), kept.Plan(t, nil)).URL, nil)
	replyTo(t, c, about("x"))
	replyTo(t, c, Question{Messages: []Message{{Role: "user", Content: "y"}}, Predict: 5})
	for i, r := range append(kept.Asked, kept.Loads...) {
		first := i == 0
		if (r.Format != nil) != first || r.Logprobs != first || (r.TopLogprobs == 20) != first || r.Think != nil ||
			r.Truncate == nil || *r.Truncate || r.Shift == nil || *r.Shift || r.KeepAlive != nil {
			t.Errorf("request %+v", r)
		}
		if want := []float64{64, 5, 1}[i]; r.Options["num_predict"] != want || r.Options["num_ctx"] != float64(defaultContext) || r.Options["temperature"] != 0.0 || r.Options["seed"] != 0.0 {
			t.Errorf("options %v, want %v tokens", r.Options, want)
		}
	}
}

// A prompt is continued as it is, without a template, and its seed decides how. No number of
// tokens limits the choice.
func TestAPromptIsContinued(t *testing.T) {
	var kept ollamatest.Requests
	c := tinyClient(t, ollamatest.NewProxy(t, tinyServer(t), kept.Plan(t, nil)).URL, nil)
	const prompt = "Go on:"
	write := func(s *Sampling) string {
		r := replyTo(t, c, Question{Prompt: prompt, Predict: 8, Sampling: s})
		// The tiny model has a token for each byte, and one for the beginning.
		if r.InputTokens > len(prompt)+1 || r.OutputTokens != 8 || r.Cut != "it was cut off at 8 tokens" {
			t.Errorf("%+v", r)
		}
		return r.Text
	}
	first, again, other := write(&Sampling{Temperature: 1, TopP: 0.9, Seed: 7}), write(&Sampling{Temperature: 1, TopP: 0.9, Seed: 7}), write(&Sampling{Temperature: 1, TopP: 0.9, Seed: 8})
	if first != again || first == other {
		t.Errorf("seed 7: %q, then %q; seed 8: %q", first, again, other)
	}
	if cold, same := write(nil), write(&Sampling{TopP: 1, Seed: 9}); cold != same {
		t.Errorf("%q without a sampling, %q at temperature 0", cold, same)
	}
	o := kept.Asked[0].Options
	for name, want := range map[string]float64{"temperature": 1, "top_p": 0.9, "seed": 7, "top_k": 0, "min_p": 0, "typical_p": 1, "repeat_penalty": 1, "num_predict": 8} {
		if o[name] != want {
			t.Errorf("%s is %v, want %v", name, o[name], want)
		}
	}
}

// thinkingModel has a template from which the server concludes that it can think.
var thinkingModel = map[string]any{
	"template": `{{ range .Messages }}<|im_start|>{{ .Role }}
{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`,
}

// A model that can think is told not to. A model that cannot think gets no such
// option.
func TestModelsThatThink(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "thinking", ollamatest.Tiny, thinkingModel)
	var kept ollamatest.Requests
	proxy := ollamatest.NewProxy(t, server, kept.Plan(t, nil))
	r := replyTo(t, tinyClient(t, proxy.URL, func(c *Config) { c.Model = "thinking" }), about("x"))
	if think := kept.Asked[0].Think; think == nil || think.Bool() || len(kept.Asked) != 1 || !json.Valid([]byte(r.Text)) || !r.Session.Thinking || r.Session.Thoughts != 0 {
		t.Errorf("think is %+v, want false; %d calls; %+v", think, len(kept.Asked), r)
	}
}

// gpt-oss and its relatives cannot be told not to think. They think little, and their
// thoughts have room of their own in the answer and in the context. Whatever a model
// is called, the server knows its family.
func TestModelsThatAlwaysThink(t *testing.T) {
	const theirs = `{{ range .Messages }}<|start|>{{ .Role }}<|message|>{{ .Content }}<|end|>{{ end }}<|start|>assistant`
	server := ollamatest.Start(t)
	// The tiny model has no thoughts that would end.
	answer := func(_ *ollamatest.Proxy, w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"message":{"thinking":"is it?","content":"{\"verdict\":\"no\"}"},"done":true,"done_reason":"stop","prompt_eval_count":40}`)
	}
	for _, model := range []struct {
		name, template string
		think          any
	}{
		{"gpt-oss:20b", theirs, "low"},
		{"hf.co/example/gpt-oss-safeguard-20b-GGUF:Q4_K_M", theirs, "low"},
		{"registry.example/team/moderator", theirs, "low"},
		// For another template, the server knows no levels.
		{"converted", `{{ range .Messages }}{{ .Role }}: {{ .Content }} {{ end }}`, false},
	} {
		t.Run(model.name, func(t *testing.T) {
			server.Create(t, model.name, ollamatest.Tiny, map[string]any{"info": map[string]any{"model_family": "gptoss"}, "template": model.template})
			var kept ollamatest.Requests
			proxy := ollamatest.NewProxy(t, server, kept.Plan(t, ollamatest.Always(answer)))
			r := replyTo(t, tinyClient(t, proxy.URL, func(c *Config) {
				c.Model, c.Probe = model.name, about("")
				c.Context = func(_, limit int) (int, error) {
					if limit != 32768-lowThoughts {
						t.Errorf("the context can have %d tokens", limit)
					}
					return 2048, nil
				}
			}), about("x"))
			if s := r.Session; s.Thoughts != lowThoughts || s.Context != 2048+lowThoughts || s.FormatIgnored {
				t.Errorf("%+v", s)
			}
			if len(kept.Asked) != 1 {
				t.Fatalf("%d calls, want 1", len(kept.Asked))
			}
			for i, request := range []api.ChatRequest{kept.Asked[0], kept.Loads[len(kept.Loads)-1]} {
				if want := []float64{64 + lowThoughts, 1}[i]; request.Think == nil || request.Think.Value != model.think || request.Options["num_predict"] != want || request.Options["num_ctx"] != 2048.0+lowThoughts {
					t.Errorf("think is %+v with %v, want %v and %v tokens", request.Think, request.Options, model.think, want)
				}
			}
		})
	}
}

// ignoringFormat is a server that enforces no format on a model that is told not to
// think (ollama/ollama#14645). A model that thinks is one that is told nothing here,
// since the tiny model has no thoughts.
var ignoringFormat = ollamatest.Instead(func(r map[string]any) {
	if r["think"] == false {
		delete(r, "format")
	}
	r["think"] = false
})

// A server that ignores the format is noticed when a session begins, not by a text. If
// the model answers well all the same, it is asked as before.
func TestAServerThatIgnoresTheFormat(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "thinking", ollamatest.Tiny, thinkingModel)
	for name, test := range map[string]struct {
		fault    ollamatest.Fault
		fits     bool
		ignored  bool
		thoughts int
		calls    int // besides those that load the model
	}{
		"it does not ignore it":         {nil, true, false, 0, 1 + 2},
		"and the answer can be used":    {ollamatest.Say("Sure: no."), true, true, 0, 2 + 2},
		"and the answer cannot be used": {ignoringFormat, false, true, freeThoughts, 2 + 2},
	} {
		t.Run(name, func(t *testing.T) {
			var kept ollamatest.Requests
			var log strings.Builder
			plan := kept.Plan(t, func(ollamatest.Call) ollamatest.Fault { return test.fault })
			c := tinyClient(t, ollamatest.NewProxy(t, server, plan).URL, func(c *Config) {
				c.Model, c.Probe = "thinking", about("")
				c.Fits = func(string) bool { return test.fits }
				c.Log = slog.New(slog.NewTextHandler(&log, nil))
			})
			for range 2 {
				r := replyTo(t, c, about("x"))
				if s := r.Session; s.FormatIgnored != test.ignored || s.Thoughts != test.thoughts || s.Context != defaultContext+test.thoughts {
					t.Errorf("%+v", s)
				}
				if enforced := !test.ignored || !test.fits; json.Valid([]byte(r.Text)) != enforced {
					t.Errorf("the answer is %q", r.Text)
				}
			}
			last := kept.Asked[len(kept.Asked)-1]
			if last.Think == nil || last.Think.Bool() != (test.thoughts > 0) || last.Options["num_predict"] != 64.0+float64(test.thoughts) {
				t.Errorf("request %+v", last)
			}
			if len(kept.Asked) != test.calls || strings.Contains(log.String(), "ignores the format") != test.ignored {
				t.Errorf("%d calls, want %d; the log is %s", len(kept.Asked), test.calls, &log)
			}
			// A new session with the same model need not find out again.
			c.forget(c.Session())
			if s := replyTo(t, c, about("x")).Session; s.FormatIgnored != test.ignored || s.Thoughts != test.thoughts || len(kept.Asked) != test.calls+1 {
				t.Errorf("%+v after %d calls", s, len(kept.Asked))
			}
		})
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
		"only thoughts": {func(_ *ollamatest.Proxy, w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"message":{"content":"","thinking":"let me see"},"done":true,"done_reason":"length"}`)
		}, "the model's thoughts used all 64 tokens and left none for an answer; use a model that thinks less or that can be told not to think"},
		"only thoughts, in the answer": {func(_ *ollamatest.Proxy, w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"message":{"content":"<think>let me see"},"done":true,"done_reason":"length"}`)
		}, "the model's thoughts used all 64 tokens and left none for an answer; use a model that thinks less or that can be told not to think"},
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
		c.Probe = Question{Messages: probe}
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
