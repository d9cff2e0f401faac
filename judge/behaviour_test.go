//go:build unix

package judge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ollama/ollama/api"
)

// The server behaves as docs/judge.md describes and this package expects.
func TestWhatTheServerDoes(t *testing.T) {
	server := tinyServer(t)
	client := apiClient(t, server.URL)
	chat := func(text string, change func(*api.ChatRequest)) (api.ChatResponse, []api.Logprob, error) {
		t.Helper()
		request := &api.ChatRequest{
			Model: tiny, Messages: []api.Message{{Role: "user", Content: text}},
			Options: map[string]any{"num_ctx": 1024, "num_predict": 8, "temperature": 0, "seed": 0},
		}
		if change != nil {
			change(request)
		}
		var last api.ChatResponse
		var tokens []api.Logprob
		err := client.Chat(context.WithoutCancel(t.Context()), request, func(r api.ChatResponse) error {
			tokens = append(tokens, r.Logprobs...)
			last = r
			return nil
		})
		return last, tokens, err
	}
	status := func(err error) int {
		refused, _ := errors.AsType[api.StatusError](err)
		return refused.StatusCode
	}

	t.Run("a prompt that is too long is truncated unless the request forbids it", func(t *testing.T) {
		long := strings.Repeat("word ", 2000)
		r, _, err := chat(long, nil)
		if err != nil || r.PromptEvalCount > 1024 {
			t.Errorf("%d tokens, %v", r.PromptEvalCount, err)
		}
		no := false
		if _, _, err = chat(long, func(r *api.ChatRequest) { r.Truncate = &no }); status(err) != http.StatusBadRequest || !strings.Contains(err.Error(), "exceeds the context length") {
			t.Error(err)
		}
	})

	t.Run("another context reloads the model and other options do not", func(t *testing.T) {
		yes, no := true, false
		for _, c := range []struct {
			name   string
			loads  int
			change func(*api.ChatRequest)
		}{
			{"temperature", 0, func(r *api.ChatRequest) { r.Options["temperature"] = 1 }},
			{"seed", 0, func(r *api.ChatRequest) { r.Options["seed"] = 7 }},
			{"num_predict", 0, func(r *api.ChatRequest) { r.Options["num_predict"] = 2 }},
			{"shift on", 0, func(r *api.ChatRequest) { r.Shift = &yes }},
			{"shift off", 0, func(r *api.ChatRequest) { r.Shift = &no }},
			{"num_ctx", 1, func(r *api.ChatRequest) { r.Options["num_ctx"] = 2048 }},
		} {
			before := strings.Count(server.Log(t), "runner --model")
			if _, _, err := chat("x", c.change); err != nil {
				t.Fatal(err)
			}
			if loads := strings.Count(server.Log(t), "runner --model") - before; loads != c.loads {
				t.Errorf("%s: the model was loaded %d times", c.name, loads)
			}
		}
	})

	t.Run("control tokens in a text are control tokens", func(t *testing.T) {
		count := func(text string) int {
			r, _, err := chat(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.PromptEvalCount
		}
		// The tiny model has one token per byte, except for control tokens.
		plain := count("")
		if n := count("<|im_end|>") - plain; n != 1 {
			t.Errorf("the control token has %d tokens", n)
		}
		if n := count(marked("<|im_end|>")) - plain; n != len(marked("<|im_end|>")) {
			t.Errorf("the broken control token has %d tokens", n)
		}
	})

	t.Run("probabilities are from before the schema excludes tokens, and are the same each time", func(t *testing.T) {
		one := func(r *api.ChatRequest) {
			r.Format = json.RawMessage(`{"type":"object","properties":{"verdict":{"enum":["yes","no"]}},"required":["verdict"]}`)
			r.Logprobs, r.TopLogprobs = true, topLogprobs
		}
		_, tokens, err := chat("is it rude?", one)
		if err != nil || len(tokens) == 0 {
			t.Fatalf("%d tokens, %v", len(tokens), err)
		}
		if !slices.ContainsFunc(tokens[0].TopLogprobs, func(o api.TokenLogprob) bool { return !strings.HasPrefix(strings.TrimSpace(o.Token), "{") }) {
			t.Errorf("an object must begin with {, and no other token is listed: %+v", tokens[0].TopLogprobs)
		}
		if _, _, err := chat("something else, so that the prompt cache holds another prompt", nil); err != nil {
			t.Fatal(err)
		}
		_, again, err := chat("is it rude?", one)
		if err != nil {
			t.Fatal(err)
		}
		// The state of the prompt cache may change the last digits.
		if diff := cmp.Diff(tokens, again, cmpopts.EquateApprox(0, 1e-4)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a model that cannot think accepts false for think and refuses true", func(t *testing.T) {
		if _, _, err := chat("x", func(r *api.ChatRequest) { r.Think = &api.ThinkValue{Value: true} }); status(err) != http.StatusBadRequest {
			t.Error(err)
		}
		if _, _, err := chat("x", func(r *api.ChatRequest) { r.Think = &api.ThinkValue{Value: false} }); err != nil {
			t.Error(err)
		}
	})
}
