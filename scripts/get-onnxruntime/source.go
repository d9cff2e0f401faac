package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toxscreen/toxscreen/encoder"
)

// source is a place to get a package with the library.
type source struct {
	name string
	// fetch puts the package into a folder and returns its path.
	fetch func(ctx context.Context, in installer, folder string) (string, error)
}

// sources are tried in this order: pip's wheel is the smallest download and
// includes the licences.
var sources = []source{{"pip", fetchWheel}, {"npm", fetchNPM}, {"archive", fetchArchive}}

func sourcesNamed(name string) ([]source, error) {
	var names []string
	for _, s := range sources {
		if s.name == name {
			return []source{s}, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("unknown source %q: it must be one of %s", name, strings.Join(names, ", "))
}

// wheelPlatforms are the platform tags of the wheels.
var wheelPlatforms = map[string]string{
	"linux/amd64":   "manylinux_2_28_x86_64",
	"linux/arm64":   "manylinux_2_28_aarch64",
	"darwin/arm64":  "macosx_14_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// fetchWheel asks pip for one fixed wheel for any Python version: the library does
// not depend on it.
func fetchWheel(ctx context.Context, in installer, folder string) (string, error) {
	var tried []string
	for _, python := range []string{"python3", "python"} {
		if _, err := exec.LookPath(python); err != nil {
			tried = append(tried, err.Error())
			continue
		}
		if err := command(ctx, folder, python, "-m", "pip", "--version"); err != nil {
			tried = append(tried, err.Error())
			continue
		}
		distribution := "onnxruntime"
		if in.provider == encoder.CUDA {
			distribution = "onnxruntime-gpu"
		}
		err := command(ctx, folder, python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
			"--no-deps", "--only-binary=:all:", "--implementation=cp", "--python-version=3.12", "--abi=cp312",
			"--platform="+wheelPlatforms[in.platform], "--dest="+folder, distribution+"=="+encoder.LibraryVersion)
		if err != nil {
			return "", err
		}
		return only(folder, "*.whl")
	}
	return "", fmt.Errorf("no Python with pip: %s", strings.Join(tried, "; "))
}

func fetchNPM(ctx context.Context, in installer, folder string) (string, error) {
	if err := command(ctx, folder, "npm", "pack", "--silent", "onnxruntime-node@"+encoder.LibraryVersion); err != nil {
		return "", err
	}
	return only(folder, "*.tgz")
}

// releasesURL is where Microsoft publishes its release archives.
const releasesURL = "https://github.com/microsoft/onnxruntime/releases/download/v" + encoder.LibraryVersion + "/"

func fetchArchive(ctx context.Context, in installer, folder string) (string, error) {
	// The archive has the name of its only folder.
	name, _, _ := strings.Cut(in.files.from("archive")[0].member, "/")
	if strings.HasPrefix(in.platform, "windows/") {
		name += ".zip"
	} else {
		name += ".tgz"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, in.releases+name, nil)
	if err != nil {
		return "", err
	}
	response, err := in.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("GET %s: %s", request.URL, response.Status)
	}
	path := filepath.Join(folder, name)
	to, err := os.Create(path)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, response.Body)
	if err := errors.Join(err, to.Close()); err != nil {
		return "", fmt.Errorf("failed to download %s: %w", request.URL, err)
	}
	return path, nil
}

// command runs a program in a folder; its output is part of the error.
func command(ctx context.Context, folder, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	output, err := c.CombinedOutput()
	if err != nil {
		line := name + " " + strings.Join(args[:min(len(args), 3)], " ")
		if text := strings.TrimSpace(string(output)); text != "" {
			return fmt.Errorf("%s: %w: %s", line, err, text)
		}
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// only returns the one file of a folder that matches a pattern.
func only(folder, pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d files %s were downloaded, want one", len(found), pattern)
	}
	return found[0], nil
}
