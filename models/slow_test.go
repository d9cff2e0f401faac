//go:build slow

package models_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestImportFullSize recreates the architectures of TestImport in the size of
// BERT-base, 86 million weights each with small vocabularies, and imports them. It
// needs 1.6 GB in TMPDIR and TOXSCREEN_PYTHON, an interpreter with
// scripts/make/tiny-models/requirements.txt installed, which `make test-all` sets.
func TestImportFullSize(t *testing.T) {
	python := os.Getenv("TOXSCREEN_PYTHON")
	if python == "" {
		t.Fatal("TOXSCREEN_PYTHON should name an interpreter; `make test-all` sets it")
	}
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), python, "../scripts/make/tiny-models/make.py", "--full", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("failed to make the models: %v\n%s", err, out)
	}
	testImport(t, dir)
}
