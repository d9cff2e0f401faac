//go:build slow

package tokenize_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestHuggingFaceCorpus compares with the library itself: 10,000 texts of the data folder
// for every kind of tokenizer, and every code point in four contexts for the default model
// and a Unigram model, whose normaliser handles graphemes. It needs TOXSCREEN_PYTHON, an
// interpreter with scripts/make/tokenizer/requirements.txt installed, and TOXSCREEN_DATA,
// the folder of *.jsonl.gz files.
func TestHuggingFaceCorpus(t *testing.T) {
	python, data := os.Getenv("TOXSCREEN_PYTHON"), os.Getenv("TOXSCREEN_DATA")
	if python == "" || data == "" {
		t.Fatal("TOXSCREEN_PYTHON and TOXSCREEN_DATA should name an interpreter and the data folder; `make test-all` sets them")
	}
	vectors := func(t *testing.T, kind, tokenizer string, more ...string) string {
		t.Helper()
		out := filepath.Join(t.TempDir(), "vectors.jsonl.gz")
		args := append([]string{"../scripts/make/tokenizer/vectors.py", kind, tokenizer, out}, more...)
		if output, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
			t.Fatalf("failed to make vectors: %v\n%s", err, output)
		}
		return out
	}
	paths := []string{bertUncased}
	for _, name := range kinds(t) {
		paths = append(paths, "testdata/"+name+".json")
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if n := checkVectors(t, load(t, path), vectors(t, "corpus", path, data)); n < 10_000 {
				t.Errorf("%d texts compared, should be 10,000", n)
			}
			checkVectors(t, load(t, path), vectors(t, "nasty", path))
		})
	}
	for _, path := range []string{bertUncased, "testdata/unigram-xlmr.json"} {
		t.Run("sweep "+filepath.Base(path), func(t *testing.T) {
			checkVectors(t, load(t, path), vectors(t, "sweep", path))
		})
	}
}
