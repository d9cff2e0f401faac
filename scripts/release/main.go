// Release makes what a release consists of, for linux/amd64 and linux/arm64: archives,
// Debian packages, wheels, OCI images, an SBOM of each program, and SHA256SUMS.
//
//	go build -C scripts/release -o ../../build/release/release .
//	build/release/release -zig COMMAND [-o DIR]
//
// COMMAND runs zig, like "build/release/zig/bin/python -m ziglang": it compiles for both
// processors and an old GNU C library. The same commit gives the same bytes, with the same
// Go and zig; the wheels also need the same Python, and the images the same Debian packages.
//
//	build/release/release -stage DIR
//
// This writes what the Python package holds into an empty folder and describes the
// program in JSON. It builds with CC for GOOS and GOARCH, and needs no zig.
//
// Both must run in the root of a clone, since the commit's time is the time of all files.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
)

func main() {
	out := flag.String("o", "dist", "write the files into `DIR`; what is in it is removed")
	zig := flag.String("zig", "", "the `COMMAND` that runs zig")
	folder := flag.String("stage", "", "write the files of the Python package into `DIR` instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *zig, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, zig, folder string) error {
	if folder != "" {
		p, err := stage(ctx, folder, nil)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(p)
	}
	if zig == "" {
		return errors.New("-zig is missing: give the command that runs zig, or run `make release`")
	}
	return release(ctx, out, zig)
}

// architectures are those of a release. The oldest GNU C library that zig links for is
// that of manylinux_2_28, Debian 10 and RHEL 8.
var architectures = map[string]string{"amd64": "x86_64-linux-gnu.2.28", "arm64": "aarch64-linux-gnu.2.28"}

// neutral is the environment of the compilers: the settings of whoever makes the release
// must not change its bytes, or ask for a newer processor.
var neutral = []string{"GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "CGO_CFLAGS=-O2 -g", "CGO_CPPFLAGS=", "CGO_LDFLAGS=-O2 -g"}

// release writes all files of a release into a folder, in place of those of an earlier one.
func release(ctx context.Context, out, zig string) error {
	if runtime.GOOS != "linux" || architectures[runtime.GOARCH] == "" {
		return fmt.Errorf("a release is made on linux/amd64 or linux/arm64, since the program prints its completions, and not on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	if changed, err := command(ctx, nil, "git", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		return fmt.Errorf("these files differ from the commit that the release would name; commit or stash them:\n%s", changed)
	}
	created, err := commitTime(ctx)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "toxscreen-release-*")
	if err != nil {
		return fmt.Errorf("failed to create a work folder: %w", err)
	}
	defer os.RemoveAll(work)
	if err := emptied(out); err != nil {
		return err
	}

	zigFor := func(arch string) []string {
		return append(slices.Clone(neutral), "GOOS=linux", "GOARCH="+arch, fmt.Sprintf("CC=%s cc -target %s", zig, architectures[arch]))
	}
	// What is the same for both comes from the program that runs here.
	texts := filepath.Join(work, "texts")
	if err := writeTexts(ctx, texts, zigFor(runtime.GOARCH), created); err != nil {
		return err
	}
	for _, arch := range []string{"amd64", "arm64"} {
		fmt.Fprintf(os.Stderr, "release: linux/%s\n", arch)
		dir := filepath.Join(work, arch)
		p, err := stage(ctx, dir, zigFor(arch))
		if err != nil {
			return err
		}
		if err := errors.Join(p.describe(ctx), os.CopyFS(dir, os.DirFS(texts))); err != nil {
			return err
		}
		if err := copyFile(filepath.Join(out, p.fileName(".cdx.json")), filepath.Join(dir, sbom)); err != nil {
			return fmt.Errorf("failed to place the SBOM: %w", err)
		}
		for _, artefact := range []func(context.Context, program, string, time.Time) error{archive, deb, wheel} {
			if err := artefact(ctx, p, out, created); err != nil {
				return err
			}
		}
		file, packages, err := image(ctx, out, dir, arch, created)
		if err != nil {
			return err
		}
		if err := p.describeImage(strings.TrimSuffix(file, ".tar")+".cdx.json", packages); err != nil {
			return err
		}
	}
	return sum(out)
}

// emptied makes a folder, or removes what is in that of an earlier release.
func emptied(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to read the folder of the release: %w", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "SHA256SUMS")); len(entries) > 0 && err != nil {
		return fmt.Errorf("%s has files, and no SHA256SUMS of a release: empty it, or give another folder with -o", folder)
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return fmt.Errorf("failed to empty the folder of the release: %w", err)
	}
	// So that a release that fails can be repeated.
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), nil, 0o644)
}

// commitTime returns the time of the commit that the release is made of.
func commitTime(ctx context.Context) (time.Time, error) {
	output, err := command(ctx, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(output), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("failed to read the time of the commit: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// fileName returns the name of a file of the release.
func (p program) fileName(end string) string {
	return fmt.Sprintf("toxscreen-%s-%s-%s%s", toxscreen.Version, p.OS, p.Arch, end)
}

// sum writes SHA256SUMS, which `sha256sum --check` reads, for all files of a folder.
func sum(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("failed to read the folder of the release: %w", err)
	}
	var lines strings.Builder
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" {
			continue
		}
		h := sha256.New()
		if err := copyTo(h, filepath.Join(folder, e.Name())); err != nil {
			return fmt.Errorf("failed to sum the release: %w", err)
		}
		fmt.Fprintf(&lines, "%x  %s\n", h.Sum(nil), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// copyTo writes the content of a file.
func copyTo(w io.Writer, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(w, from)
	return err
}

// command runs a program with more environment variables, and returns its standard
// output. The error has what it printed on standard error.
func command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), env...)
	var messages strings.Builder
	c.Stderr = &messages
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{name}, args...), " "), err, &messages)
	}
	return string(output), nil
}
