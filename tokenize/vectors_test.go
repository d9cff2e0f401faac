package tokenize_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/tokenize"
)

// vector is the output of Hugging Face's tokenizers for one text, written by
// scripts/make/tokenizer/vectors.py.
type vector struct {
	Text    string  `json:"text"`
	Bytes   []byte  `json:"bytes"` // instead of Text if it is not UTF-8
	IDs     []int64 `json:"ids"`
	Offsets []int32 `json:"offsets"` // start and end of each id, in bytes
	Words   []int32 `json:"words"`
}

func (v vector) text() string {
	if v.Bytes != nil {
		return string(v.Bytes)
	}
	return v.Text
}

// eachVector calls f for every line of a .jsonl.gz file and returns how many there were.
func eachVector(t testing.TB, path string, f func(line int, v vector)) int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	n := 0
	for lines.Scan() {
		n++
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", path, n, err)
		}
		f(n, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return n
}

// checkVectors compares every line of a file and returns how many there were.
func checkVectors(t *testing.T, tok *tokenize.Tokenizer, path string) int {
	t.Helper()
	var enc tokenize.Encoding
	wrong := 0
	n := eachVector(t, path, func(line int, v vector) {
		if diff := difference(tok, v, &enc); diff != "" {
			if wrong++; wrong <= 10 {
				t.Errorf("%s:%d: %.200q: %s", path, line, v.text(), diff)
			}
		}
	})
	if wrong > 0 {
		t.Errorf("%s: %d of %d texts differ from Hugging Face", path, wrong, n)
	}
	return n
}

// difference describes how an encoding differs from Hugging Face's, or returns "".
func difference(tok *tokenize.Tokenizer, v vector, enc *tokenize.Encoding) string {
	if err := tok.Encode(v.text(), enc); err != nil {
		return err.Error()
	}
	for i := range min(len(enc.IDs), len(v.IDs)) {
		got, want := enc.Offsets[i], tokenize.Offset{Start: v.Offsets[2*i], End: v.Offsets[2*i+1]}
		if enc.IDs[i] != v.IDs[i] || got != want || enc.Words[i] != v.Words[i] {
			return fmt.Sprintf("token %d is %d at %v of word %d, should be %d at %v of word %d",
				i, enc.IDs[i], got, enc.Words[i], v.IDs[i], want, v.Words[i])
		}
	}
	if !slices.Equal(enc.IDs, v.IDs) {
		return fmt.Sprintf("%d tokens, should be %d", len(enc.IDs), len(v.IDs))
	}
	return ""
}

func load(t testing.TB, path string) *tokenize.Tokenizer {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenize.Load(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tok
}

// bertUncased is the vocabulary of the default model and of most toxicity models.
const bertUncased = "../models/toxicity-en/tokenizer.json"

// TestHuggingFace: all ids, offsets and word indices equal Hugging Face's.
func TestHuggingFace(t *testing.T) {
	if n := checkVectors(t, load(t, bertUncased), "testdata/bert-uncased.jsonl.gz"); n < 1000 {
		t.Errorf("%d vectors for the default model, should be 1,000 or more", n)
	}
	for _, name := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			checkVectors(t, load(t, "testdata/"+name+".json"), "testdata/"+name+".jsonl.gz")
		})
	}
}

// kinds lists the small tokenizers in testdata, one for each kind of tokenizer.json
// (scripts/make/tokenizer/models.py).
func kinds(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata has no tokenizers: %v", err)
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return paths
}
