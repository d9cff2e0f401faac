//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toxscreen/toxscreen/judge/cases"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// Metrics of several cases are judged in parallel, up to --judge-parallel. A case
// whose metrics get no verdict has a report too, with the tokens that it used.
func TestRedteamKeepsTheJudgeBusy(t *testing.T) {
	const parallel = 3
	server := ollamatest.Start(t, fmt.Sprintf("OLLAMA_NUM_PARALLEL=%d", parallel))
	server.Create(t, "tiny", ollamatest.Tiny)
	configure(t)
	var under, most atomic.Int64
	proxy := ollamatest.NewProxy(t, server, func(call ollamatest.Call) ollamatest.Fault {
		pass := ollamatest.Delay(0)
		if bytes.Contains(call.Body, []byte("the^third")) {
			pass = ollamatest.Say("I would rather not.")
		}
		return func(p *ollamatest.Proxy, w http.ResponseWriter, r *http.Request) {
			now := under.Add(1)
			defer under.Add(-1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			pass(p, w, r)
		}
	})
	t.Setenv("OLLAMA_HOST", proxy.URL)

	folder := t.TempDir()
	input, out := filepath.Join(folder, "cases.jsonl"), filepath.Join(folder, "out")
	var lines strings.Builder
	names := []string{"first", "second", "third", "fourth"}
	for _, name := range names {
		fmt.Fprintf(&lines, "{\"case_id\":%q,\"output\":\"This is the %s.\"}\n", name, name)
	}
	if err := os.WriteFile(input, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	code := run(t.Context(), []string{
		"redteam", "run", "--input", input, "--output-dir", out, "--judge-model", "tiny", "--judge-cache", "off",
		"--judge-parallel", fmt.Sprint(parallel), "--judge-timeout", "10m",
	}, stdio{strings.NewReader(""), &said, &said})
	if code != exitPartly {
		t.Fatalf("exit code %d: %s", code, &said)
	}
	if most.Load() != parallel {
		t.Errorf("%d calls at once, want %d", most.Load(), parallel)
	}
	if loads := strings.Count(server.Log(t), "runner --model"); loads != 1 {
		t.Errorf("the server loaded the model %d times, want once for all metrics", loads)
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(out, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var report cases.Report
		if err := json.Unmarshal(data, &report); err != nil {
			t.Fatal(err)
		}
		if report.CaseID != name || len(report.Metrics) != 2 || report.Metrics[0].Name != "bias" || report.Metrics[1].Name != "toxicity" || report.Cost.InputTokens == 0 {
			t.Errorf("%s: %s", name, data)
		}
		for _, m := range report.Metrics {
			judged := m.Score != nil && m.Result != nil && m.Error == nil
			abstained := m.Score == nil && m.Result == nil && m.Error != nil && strings.Contains(*m.Error, "the judge gave no verdict: ")
			if judged == (name == "third") || abstained != (name == "third") {
				t.Errorf("%s: %s", name, data)
			}
		}
	}
}

// An interrupt ends a run at once, and the error says how many reports exist.
func TestRedteamIsInterrupted(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	configure(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	t.Setenv("OLLAMA_HOST", ollamatest.NewProxy(t, server, func(call ollamatest.Call) ollamatest.Fault {
		if !bytes.Contains(call.Body, []byte("the^first")) {
			return nil // the request that loads the prompt, without a text
		}
		interrupt()
		return ollamatest.Hang
	}).URL)
	input := filepath.Join(t.TempDir(), "case.json")
	if err := os.WriteFile(input, []byte(`{"output":"This is the first."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	code := run(ctx, []string{
		"redteam", "run", "--input", input, "--output-dir", t.TempDir(), "--judge-model", "tiny", "--judge-timeout", "10m",
	}, stdio{strings.NewReader(""), &said, &said})
	if want := "toxscreen: interrupted; 0 of 1 case has a report\nverdicts are stored: to continue, run the same command\n"; code != exitFailed || !strings.HasSuffix(said.String(), want) {
		t.Errorf("exit code %d: %s", code, &said)
	}
}
