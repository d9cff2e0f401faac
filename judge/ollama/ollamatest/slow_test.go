//go:build slow && unix

package ollamatest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// The script makes the tiny model that is committed, byte for byte. It needs
// TOXSCREEN_PYTHON, an interpreter with scripts/make/tiny-models/requirements.txt
// installed, which `make test-all` sets.
func TestTheScriptMakesTheTinyModel(t *testing.T) {
	python := os.Getenv("TOXSCREEN_PYTHON")
	if python == "" {
		t.Fatal("TOXSCREEN_PYTHON should name an interpreter; `make test-all` sets it")
	}
	made := filepath.Join(t.TempDir(), "tiny.gguf")
	if out, err := exec.CommandContext(t.Context(), python, "testdata/make_tiny.py", made).CombinedOutput(); err != nil {
		t.Fatalf("failed to make the model: %v\n%s", err, out)
	}
	model, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(model, ollamatest.Tiny) {
		t.Error("testdata/tiny.gguf differs from what testdata/make_tiny.py makes")
	}
}

// SmolLM2 is a real model, which answers a question. One file serves two models.
func TestSmolLM2(t *testing.T) {
	server := ollamatest.Start(t)
	server.Create(t, "smollm2", ollamatest.SmolLM2(t))
	server.Create(t, "again", ollamatest.SmolLM2(t))
	request := `{"model":"smollm2","messages":[{"role":"user","content":"What is the capital of France? Answer in one sentence."}],
		"stream":false,"options":{"temperature":0,"seed":1,"num_ctx":1024,"num_predict":24}}`
	if got := askOK(t, server.URL, request); !strings.Contains(got.Message.Content, "Paris") {
		t.Errorf("the capital of France is not named in %q", got.Message.Content)
	}
}
