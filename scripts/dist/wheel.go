package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// described is what the Python package must know about the binary and the library in it.
type described struct {
	Version string `json:"version"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Glibc   string `json:"glibc,omitempty"` // the oldest release of the GNU C library that has all their symbols
}

// wheel builds the binary for GOOS and GOARCH and writes it with ONNX Runtime's library
// and the licences of everything in both into an empty folder. It must run in the module's
// root.
func wheel(ctx context.Context, folder string) (described, error) {
	platform, err := goCommand(ctx, "env", "GOOS", "GOARCH")
	if err != nil {
		return described{}, err
	}
	names := strings.Fields(platform)
	d := described{Version: toxscreen.Version, OS: names[0], Arch: names[1]}
	binary := filepath.Join(folder, binaryName(d.OS))
	if err := build(ctx, binary); err != nil {
		return described{}, err
	}
	got, err := os.MkdirTemp("", "toxscreen-wheel-*")
	if err != nil {
		return described{}, fmt.Errorf("failed to create a work folder: %w", err)
	}
	defer os.RemoveAll(got)
	library, err := getLibrary(ctx, d, got)
	if err != nil {
		return described{}, err
	}
	if d.OS == "linux" {
		needs, err := glibc(binary)
		if err != nil {
			return described{}, fmt.Errorf("failed to read which C library %s needs: %w", binary, err)
		}
		// Every system that manylinux names has the libraries of C++.
		also, err := glibc(library, "libstdc++", "libgcc_s")
		if err != nil {
			return described{}, fmt.Errorf("failed to read which C library %s needs: %w", library, err)
		}
		newest := slices.MaxFunc([][]int{needs, also}, slices.Compare[[]int])
		d.Glibc = fmt.Sprintf("%d.%d", newest[0], newest[1])
	}
	files := map[string]string{
		filepath.Base(library):                       library,
		"licenses/onnxruntime/LICENSE":               filepath.Join(got, "LICENSE"),
		"licenses/onnxruntime/ThirdPartyNotices.txt": filepath.Join(got, "ThirdPartyNotices.txt"),
	}
	if err := addLicenses(ctx, files); err != nil {
		return described{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := copyFile(filepath.Join(folder, name), files[name]); err != nil {
			return described{}, fmt.Errorf("failed to add %s to the package: %w", name, err)
		}
	}
	return d, nil
}

// getLibrary gets ONNX Runtime's library with its licences into a folder. Only pip's
// package includes the licences.
func getLibrary(ctx context.Context, d described, folder string) (string, error) {
	c := exec.CommandContext(ctx, "go", "run", "./scripts/get-onnxruntime", "-source=pip", "-platform="+d.OS+"/"+d.Arch, "-dir="+folder)
	c.Env = append(os.Environ(), "GOOS=", "GOARCH=", "CC=", "CXX=") // it runs here, whatever the library is for
	c.Stderr = os.Stderr
	printed, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("failed to get ONNX Runtime: %w", err)
	}
	return strings.TrimSpace(string(printed)), nil
}

// systemLibraries are those of the GNU C library, without which no program starts.
var systemLibraries = []string{"libc", "libm", "libdl", "libpthread", "librt", "libresolv", "ld-linux-x86-64", "ld-linux-aarch64"}

// glibc returns the oldest release of the GNU C library that a file runs with, which
// names the manylinux platform that it keeps (PEP 600). A file that needs another
// library, except for those that are allowed, is an error: not every system has it.
func glibc(path string, allowed ...string) ([]int, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	for _, library := range libraries {
		if stem, _, _ := strings.Cut(library, ".so"); !slices.Contains(slices.Concat(systemLibraries, allowed), stem) {
			return nil, fmt.Errorf("it needs %s, which not every system has", library)
		}
	}
	symbols, err := file.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	newest := []int{}
	for _, symbol := range symbols {
		release, ok := strings.CutPrefix(symbol.Version, "GLIBC_")
		if !ok {
			continue
		}
		numbers := []int{}
		for part := range strings.SplitSeq(release, ".") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return nil, fmt.Errorf("%s needs the unknown version %s", symbol.Name, symbol.Version)
			}
			numbers = append(numbers, n)
		}
		newest = slices.MaxFunc([][]int{newest, numbers}, slices.Compare[[]int])
	}
	if len(newest) < 2 {
		return nil, errors.New("it needs no version of the C library")
	}
	return newest, nil
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
