//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
	"github.com/toxscreen/toxscreen/rows"
)

// smallRubric is a rubric with one question, which the tiny model answers soon.
const smallRubric = "name: small\ngoal: Decide.\nseverity: [Low, High]\naspects:\n- {name: rude, question: \"Is it rude?\", attribute: insult}\n"

// An Ollama server that stops in mid-run and comes back after its pause has begun costs
// time, but no verdict.
func TestABatchOutlivesARestartOfOllama(t *testing.T) {
	server := ollamatest.Start(t) // found in the user's own folder
	configure(t)
	server.Create(t, "tiny", ollamatest.Tiny)
	const texts, before = 12, 3
	back := make(chan struct{})
	stopped := false
	proxy := ollamatest.NewProxy(t, server, func(c ollamatest.Call) ollamatest.Fault {
		if !stopped && strings.Contains(string(c.Body), fmt.Sprintf("number^%d", before)) { // datamarking joins the words
			stopped = true
			server.Stop(t)
		}
		return nil
	})
	folder := t.TempDir()
	rubric, in, out := filepath.Join(folder, "small.yaml"), filepath.Join(folder, "in.jsonl"), filepath.Join(folder, "out.jsonl")
	write(t, rubric, []byte(smallRubric))
	var lines bytes.Buffer
	for i := range texts {
		fmt.Fprintf(&lines, "{\"text\":\"you idiot number %d\"}\n", i)
	}
	write(t, in, lines.Bytes())
	// Three texts that fail four times each begin the pause. Each attempt first asks for
	// the models.
	go func() {
		defer close(back)
		for proxy.Calls("/api/tags") < 1+3*4 {
			select {
			case <-t.Context().Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		server.Restart(t)
	}()
	var said bytes.Buffer
	code := run(t.Context(), []string{
		"batch", "-i", in, "-o", out, "--judge-model", "tiny", "--judge-host", proxy.URL, "--judge-rubric", rubric,
		"--judge-band", "0-1", "--judge-trust", "none", "--judge-cache", "off", "--judge-timeout", "5m",
	}, stdio{strings.NewReader(""), os.Stdout, &said})
	<-back
	if want := fmt.Sprintf("toxscreen: the judge: %d asked, %d verdicts, 0 failed, %d not believed\n", texts, texts, texts); code != exitDone || !stopped || !strings.Contains(said.String(), want) {
		t.Errorf("exit code %d, stopped %v, said %s, want %s", code, stopped, &said, want)
	}
	for line := range bytes.Lines(read(t, out)) {
		var r rows.Result
		if err := json.Unmarshal(line, &r); err != nil || len(r.Value.Judge.Verdicts) != 1 {
			t.Errorf("%v, %s", err, line)
		}
	}
}
