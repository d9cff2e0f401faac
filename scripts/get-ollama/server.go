package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen/judge/ollama/ollamatest"
)

// module is a Go module with source files of the server.
type module struct {
	path, version string
	sum           string   // of all files, as in a go.sum file
	headers       []header // to put on the compiler's include path
}

type header struct{ from, to string }

// server is the Ollama module itself. The go command leaves folders named vendor
// out of modules, and Ollama has the C++ headers of others in one, so they come
// from other modules.
var server = module{
	path: "github.com/ollama/ollama", version: "v" + ollamatest.Version,
	sum: "h1:X3KNm9x4BlHqk/AXMGtC7pBAFd46nmJmy8yDaBZLo9s=",
}

var headers = []module{
	// An earlier release, which had two of the headers in another folder.
	{
		path: "github.com/ollama/ollama", version: "v0.9.0", sum: "h1:GvdGhi8G/QMnFrY0TMLDy1bXua+Ify8KTkFe4ZY/OZs=",
		headers: []header{
			{"llama/llama.cpp/common/json.hpp", "nlohmann/json.hpp"},
			{"llama/llama.cpp/common/stb_image.h", "stb/stb_image.h"},
		},
	},
	// Go's binding of miniaudio.
	{
		path: "github.com/gen2brain/malgo", version: "v0.11.24", sum: "h1:hHcIJVfzWcEDHFdPl5Dl/CUSOjzOleY0zzAV8Kx+imE=",
		headers: []header{{"miniaudio.h", "miniaudio/miniaudio.h"}},
	},
}

// installServer installs the server in a folder, or leaves the folder without it.
func installServer(ctx context.Context, folder string, log io.Writer) (string, error) {
	program := filepath.Join(folder, ollamatest.ProgramName())
	if err := check(ctx, program); err == nil {
		fmt.Fprintf(log, "Ollama %s is already in %s\n", ollamatest.Version, folder)
		return program, nil
	}
	source, err := download(ctx, folder, server)
	if err != nil {
		return "", err
	}
	// Always the same folder: its path is part of the go command's cache key for a
	// compiled package, so an interrupted build continues.
	include := filepath.Join(folder, "include")
	for _, m := range headers {
		from, err := download(ctx, folder, m)
		if err != nil {
			return "", err
		}
		for _, h := range m.headers {
			if err := copyFile(filepath.Join(from, filepath.FromSlash(h.from)), filepath.Join(include, filepath.FromSlash(h.to))); err != nil {
				return "", fmt.Errorf("failed to put %s of %s@%s on the include path: %w", h.from, m.path, m.version, err)
			}
		}
	}
	// Declarations without definitions; the one large header has them too.
	if err := os.WriteFile(filepath.Join(include, "nlohmann", "json_fwd.hpp"), []byte("#include \"json.hpp\"\n"), 0o644); err != nil {
		return "", fmt.Errorf("failed to complete the include path: %w", err)
	}

	fmt.Fprintf(log, "building Ollama %s, which takes five to six minutes of one core …\n", ollamatest.Version)
	built := filepath.Join(folder, "built-"+ollamatest.ProgramName())
	defer os.Remove(built)
	flags := "-O2"
	if instructions := ollamatest.Instructions(); instructions != "" {
		flags += " -march=" + instructions
	}
	// In the module's own folder, where its go.sum checks all imports.
	_, err = command(ctx, source,
		[]string{
			"CGO_ENABLED=1", "CGO_CPPFLAGS=" + strconv.Quote("-I"+include), "CGO_CFLAGS=" + flags, "CGO_CXXFLAGS=" + flags,
			"GOWORK=off", "GOOS=", "GOARCH=",
		},
		"go", "build", "-mod=readonly", "-trimpath",
		"-ldflags", "-s -w -X github.com/ollama/ollama/version.Version="+ollamatest.Version, "-o", built, ".")
	if err != nil {
		return "", fmt.Errorf("failed to build Ollama %s; it needs a C and a C++ compiler, such as gcc and g++: %w", ollamatest.Version, err)
	}
	if err := check(ctx, built); err != nil {
		return "", fmt.Errorf("built an Ollama server that does not work: %w", err)
	}
	if err := os.Rename(built, program); err != nil {
		return "", fmt.Errorf("failed to install the Ollama server: %w", err)
	}
	fmt.Fprintf(log, "Ollama %s is in %s\n", ollamatest.Version, folder)
	return program, nil
}

// check reports whether a file is the server in the right version.
func check(ctx context.Context, program string) error {
	if _, err := os.Stat(program); err != nil {
		return err
	}
	// It also asks a server for its version, so it gets an address without a
	// server.
	output, err := command(ctx, filepath.Dir(program), []string{"OLLAMA_HOST=127.0.0.1:1"}, program, "--version")
	if err != nil {
		return err
	}
	if !strings.Contains(string(output), "client version is "+ollamatest.Version+"\n") {
		return fmt.Errorf("%s --version prints %q", program, output)
	}
	return nil
}

// download returns the folder with a module's files after the go command has
// checked them.
func download(ctx context.Context, folder string, m module) (string, error) {
	name := m.path + "@" + m.version
	output, err := command(ctx, folder, []string{"GOWORK=off"}, "go", "mod", "download", "-json", name)
	var answer struct{ Dir, Sum string }
	if err == nil {
		err = json.Unmarshal(output, &answer)
	}
	if err != nil {
		return "", fmt.Errorf("failed to download the Go module %s; without a network, copy the folder %s from another machine: %w", name, folder, err)
	}
	if answer.Sum != m.sum {
		return "", fmt.Errorf("refused the Go module %s: its checksum is %s, not %s", name, answer.Sum, m.sum)
	}
	return answer.Dir, nil
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
