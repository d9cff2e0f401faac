//go:build unix

package judge

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// Prompt returns what the server gets. A text without a verdict still reports the
// tokens that were used.
func TestThePromptIsWhatIsSent(t *testing.T) {
	server := tinyServer(t)
	var lock sync.Mutex
	var sent []string
	j := tinyJudge(t, ollamatest.NewProxy(t, server, func(call ollamatest.Call) ollamatest.Fault {
		var request api.ChatRequest
		if err := json.Unmarshal(call.Body, &request); err != nil {
			t.Error(err)
		}
		var contents []string
		for _, m := range request.Messages {
			contents = append(contents, m.Content)
		}
		lock.Lock()
		defer lock.Unlock()
		sent = append(sent, strings.Join(contents, "\n\n"))
		if strings.Contains(string(call.Body), "nonsense") {
			return ollamatest.Say("nonsense")
		}
		return nil
	}).URL, func(c *Config) { c.Rubric.Fields, c.TextBytes = []string{"input"}, leastText })
	// Only a part of the text is shown. Which part depends on the model's context.
	c := Case{Text: strings.Repeat("one word after the other ", 100), Fields: map[string]string{"input": "why?"}}
	want, err := j.Prompt(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(want, "^…^") || !strings.Contains(want, "input: why?") {
		t.Errorf("the prompt is %q", want)
	}
	sent = nil
	if _, err := j.JudgeCase(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if sent[0] != want {
		t.Errorf("sent was %q, want %q", sent[0], want)
	}

	v, err := j.JudgeCase(t.Context(), Case{Text: "nonsense"})
	if err == nil || v.InputTokens == 0 || v.OutputTokens == 0 || v.Aspects != nil {
		t.Errorf("%v, %+v", err, v)
	}
}

// Judges with several rubrics and one context size share the loaded model.
func TestJudgesOfOneModelShareItsContext(t *testing.T) {
	server := tinyServer(t)
	long := smallRubric(t)
	long.Name = "long"
	for range 12 {
		long.NonViolations = append(long.NonViolations, strings.Repeat("Whatever it says of the weather. ", 4))
	}
	short, err := Context(Config{Model: tiny, Rubric: smallRubric(t)})
	if err != nil {
		t.Fatal(err)
	}
	most, err := Context(Config{Model: tiny, Rubric: long})
	if err != nil || most <= short || most%contextStep != 0 {
		t.Fatalf("contexts of %d and %d tokens, %v", short, most, err)
	}
	for _, change := range []func(*Config){
		func(c *Config) {},
		func(c *Config) { c.Rubric = long },
		func(c *Config) {},
	} {
		j := tinyJudge(t, server.URL, func(c *Config) {
			c.Context = most // enough for the tiny model too, whose tokens are bytes
			change(c)
		})
		m, err := j.Connect(t.Context())
		if err != nil || m.Context != most {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if loads := strings.Count(server.Log(t), "runner --model"); loads != 1 {
		t.Errorf("the server loaded the model %d times", loads)
	}
	// The model's own limit holds: 32,768 tokens for the tiny one.
	m, err := tinyJudge(t, server.URL, func(c *Config) { c.Context = 1 << 20 }).Connect(t.Context())
	if err != nil || m.Context != 32768 {
		t.Errorf("%+v, %v", m, err)
	}
}
