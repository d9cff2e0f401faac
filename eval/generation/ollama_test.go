//go:build unix

package generation

import (
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// These tests run against a real server with a tiny model of random weights, which writes
// nonsense.

func tinyAt(t *testing.T, url string, timeout time.Duration) *Ollama {
	t.Helper()
	o, err := NewOllama(ollama.Config{Model: "tiny", Host: url, Timeout: timeout, LoadTimeout: time.Minute}, "The dog", 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func tinyServer(t *testing.T) *ollamatest.Server {
	t.Helper()
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	return server
}

// The seed decides what is written. Two runs write the same, as a text to continue and as an
// answer.
func TestARunOfOllama(t *testing.T) {
	server := tinyServer(t)
	for _, chat := range []bool{false, true} {
		var contents []string
		for range 2 {
			job := jobOf(t, 2, 3, nil)
			job.Generator, job.Parallel = tinyAt(t, server.URL, time.Minute), 1
			job.Protocol.Chat, job.Protocol.MaxTokens = chat, 8
			run := generate(t, job)
			s := run.Settings
			if run.Missing() != 0 || s.Generator != "ollama" || s.Model != "tiny" || len(s.Digest) != 64 || !strings.HasPrefix(s.Server, "ollama ") || len(run.Warnings) != 0 {
				t.Errorf("%+v", run)
			}
			contents = append(contents, content(t, job))
			if texts := run.Samples[0].Generations; texts[0].Text == texts[1].Text || texts[0].Finish != "length" {
				t.Errorf("%+v", texts)
			}
		}
		if contents[0] != contents[1] {
			t.Errorf("chat: %v: first\n%s, then\n%s", chat, contents[0], contents[1])
		}
	}
}

// A restart of the server costs no generation.
func TestARestartOfOllama(t *testing.T) {
	server := tinyServer(t)
	// The first call loads the model.
	proxy := ollamatest.NewProxy(t, server, ollamatest.InTurn(nil, nil, ollamatest.Restart, ollamatest.Reset))
	job := jobOf(t, 2, 3, nil)
	job.Generator, job.Parallel = tinyAt(t, proxy.URL, time.Minute), 1
	if run := generate(t, job); run.Missing() != 0 {
		t.Errorf("%+v", run)
	}
}

func TestAModelThatOllamaDoesNotHave(t *testing.T) {
	server := ollamatest.Start(t)
	job := jobOf(t, 2, 1, nil)
	job.Generator = tinyAt(t, server.URL, time.Minute)
	if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), "failed to generate: the server at ") || !strings.Contains(err.Error(), "has no model tiny: get it with `ollama pull tiny`") {
		t.Error(err)
	}
}
