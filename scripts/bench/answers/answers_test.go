//go:build slow && unix

// Package answers makes the set of a language model's long answers that `make bench` scores: what SmolLM2 says
// to harmless prompts, at a real Ollama server.
//
//	TOXSCREEN_DATA=$PWD/../shared/data go test -tags slow -timeout 3h ./scripts/bench/answers -run TestAnswers -out $PWD/build/bench/answers.jsonl
//
// Each row has the prompt's id, the prompt and the answer. Rows are written as they come; an interrupted run goes on
// after the last one. A whole set takes a quarter of an hour or more.
package answers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

var (
	out   = flag.String("out", "", "JSONL `FILE` that gets the answers")
	count = flag.Int("count", 60, "number of answers")
)

const (
	size  = 4000 // bytes of an answer
	model = "smollm2"
	// A model of this size ends after one or two kilobytes, and is then asked to go on.
	goOn  = "Please go on."
	parts = 20 // of an answer, at most: after that it is complete even if it is shorter
)

// sources are those sources of clean_prompts whose prompts are for language models, and need an answer of more
// than a sentence.
var sources = []string{"arena-hard", "oasst-lottery", "self-instruct-user", "vicuna_bench"}

type prompt struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Source  string `json:"source"`
	Split   string `json:"split"`
	Trigger int    `json:"trigger"` // 1: holds a word that classifiers misread
}

type answer struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
}

func TestAnswers(t *testing.T) {
	if *out == "" {
		t.Skip("-out names no file for the answers; `make bench` makes them")
	}
	asked, err := prompts(filepath.Join(os.Getenv("TOXSCREEN_DATA"), "clean_prompts.jsonl.gz"), *count)
	if err != nil {
		t.Fatalf("failed to read the prompts; TOXSCREEN_DATA should name the data's folder: %v", err)
	}
	done, err := resume(*out)
	if err != nil {
		t.Fatal(err)
	}
	if done >= len(asked) {
		return
	}
	if err := write(t.Context(), smolLM2(t), *out, asked, done, size); err != nil {
		t.Fatal(err)
	}
}

// A run that was killed in the middle of a row keeps the rows before it and has no half rows.
func TestAnInterruptedRunGoesOn(t *testing.T) {
	goesOn(t, smolLM2(t))
}

func goesOn(t *testing.T, client *api.Client) {
	t.Helper()
	asked := []prompt{{ID: "a", Text: "How can I improve my time management skills?"}, {ID: "b", Text: "Tell me how to grow plants from seeds"}}
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	if err := write(t.Context(), client, path, asked[:1], 0, 300); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(slices.Clip(first), `{"id":"b","prompt":"Tell`...), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := resume(path)
	if err != nil {
		t.Fatal(err)
	}
	if done != 1 {
		t.Fatalf("%d rows are complete, want one", done)
	}
	if err := write(t.Context(), client, path, asked, done, 300); err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(rows, first) {
		t.Errorf("the first row was\n%s and is lost in\n%s", first, rows)
	}
	i := 0
	for row := range bytes.Lines(rows) {
		var a answer
		if err := json.Unmarshal(row, &a); err != nil {
			t.Fatalf("row %d: %v", i+1, err)
		}
		if i >= len(asked) {
			t.Fatalf("row %d is one more than the %d prompts", i+1, len(asked))
		}
		if a.ID != asked[i].ID {
			t.Errorf("row %d has the id %q, want %q", i+1, a.ID, asked[i].ID)
		}
		if a.Prompt != asked[i].Text {
			t.Errorf("row %d has the prompt %q, want %q", i+1, a.Prompt, asked[i].Text)
		}
		if n := len(a.Text); n < 200 || n > 300 {
			t.Errorf("row %d: the answer has %d bytes, want 200 to 300", i+1, n)
		}
		i++
	}
	if i != len(asked) {
		t.Errorf("%d rows for %d prompts", i, len(asked))
	}
}

// smolLM2 starts a server with the model.
func smolLM2(t *testing.T) *api.Client {
	t.Helper()
	server := ollamatest.Start(t)
	server.Create(t, model, ollamatest.SmolLM2(t))
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(base, http.DefaultClient)
}

// prompts returns the first n that are on one line and neither too short nor too long for a long answer.
func prompts(path string, n int) ([]prompt, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var found []prompt
	for rows := json.NewDecoder(bufio.NewReader(unzipped)); rows.More() && len(found) < n; {
		var p prompt
		if err := rows.Decode(&p); err != nil {
			return nil, err
		}
		if p.Split == "test" && p.Trigger == 0 && slices.Contains(sources, p.Source) && len(p.Text) >= 30 && len(p.Text) <= 300 && !strings.Contains(p.Text, "\n") {
			found = append(found, p)
		}
	}
	if len(found) < n {
		return nil, fmt.Errorf("%s has %d suitable prompts, %d are needed", path, len(found), n)
	}
	return found, nil
}

// resume returns the number of complete rows of a file, and removes half a row at its end.
func resume(path string) (int, error) {
	rows, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return bytes.Count(rows, []byte("\n")), os.Truncate(path, int64(bytes.LastIndexByte(rows, '\n')+1))
}

// write adds the answers of at most size bytes to the prompts after the first done ones.
func write(ctx context.Context, client *api.Client, path string, asked []prompt, done, size int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	for i, p := range asked[done:] {
		text, err := ask(ctx, client, p.Text, done+i+1, size)
		if err != nil {
			return fmt.Errorf("failed to answer prompt %s: %w", p.ID, err)
		}
		row, err := json.Marshal(answer{p.ID, p.Text, text})
		if err != nil {
			return err
		}
		if _, err := file.Write(append(row, '\n')); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "answer %d of %d: %d bytes\n", done+i+1, len(asked), len(text))
	}
	return file.Close()
}

var errEnough = errors.New("enough")

// ask returns an answer, which ends between two words where it reaches size bytes.
func ask(ctx context.Context, client *api.Client, question string, seed, size int) (string, error) {
	said := []api.Message{{Role: "user", Content: question}}
	var text strings.Builder
	for range parts {
		part := text.Len()
		err := client.Chat(ctx, &api.ChatRequest{
			Model: model, Messages: said,
			Options: map[string]any{
				"seed": seed, "temperature": 0.7, "num_ctx": 4096, "num_predict": size / 3,
				"repeat_penalty": 1.1, "repeat_last_n": 256, // otherwise it repeats sentences
			},
		}, func(r api.ChatResponse) error {
			text.WriteString(r.Message.Content)
			if text.Len() > size {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			break
		} else if err != nil {
			return "", err
		}
		said = append(said, api.Message{Role: "assistant", Content: text.String()[part:]}, api.Message{Role: "user", Content: goOn})
		text.WriteString("\n\n")
	}
	answer := text.String()
	if len(answer) > size {
		answer = answer[:size+1]
		answer = answer[:max(strings.LastIndexAny(answer, " \n"), 0)]
	}
	return strings.TrimSpace(answer), nil
}
