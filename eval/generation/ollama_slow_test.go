//go:build slow && unix

package generation

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/judge/ollama"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/screen"
)

// A server that stays broken ends the run, after it had time to restart.
func TestOllamaServersThatFail(t *testing.T) {
	server := tinyServer(t)
	for name, test := range map[string]struct {
		fault ollamatest.Fault
		want  string
	}{
		"silence": {ollamatest.Hang, "did not complete its answer within 1s"},
		"garbage": {func(_ *ollamatest.Proxy, w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "\x00garbage") }, "failed: "},
		"refusal": {ollamatest.Fail(http.StatusForbidden, "no"), "rejected the request: 403 Forbidden: no"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := ollamatest.NewProxy(t, server, func(call ollamatest.Call) ollamatest.Fault {
				if call.Path == "/api/generate" { // the model is loaded through the other path
					return test.fault
				}
				return nil
			})
			job := jobOf(t, 5, 2, nil)
			job.Generator, job.Parallel = tinyAt(t, proxy.URL, time.Second), 1
			_, err := Generate(t.Context(), job)
			if _, ok := errors.AsType[*UnfinishedError](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// The example of docs/evaluating.md is what a real model wrote: it writes the same again.
func TestTheExampleIsOfARealModel(t *testing.T) {
	given, err := OpenGenerations(filepath.Join("testdata", "smollm2.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	server := ollamatest.Start(t)
	server.Create(t, "smollm2", ollamatest.SmolLM2(t))
	o, err := NewOllama(ollama.Config{Model: "smollm2", Host: server.URL}, "", 20)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	screener, err := screen.Open(screen.Settings{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	defer screener.Close()
	p := DefaultProtocol
	p.Generations = len(given.Samples[0].Generations)
	prompts := given.Prompts()
	prompts.Prompts = prompts.Prompts[:2]
	run := generate(t, Job{Generator: o, Prompts: prompts, Protocol: p, Scorer: screener, Folder: t.TempDir()})
	for i, s := range run.Samples {
		for k, g := range s.Generations {
			if want := given.Samples[i].Generations[k].Text; g.Text != want || g.Scores.Len() != 7 {
				t.Errorf("%s: %+v, want the text %q", s.ID, g, want)
			}
		}
	}
}
