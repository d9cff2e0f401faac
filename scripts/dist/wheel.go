package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// described is what the Python package must know about the binary in it.
type described struct {
	Version string `json:"version"` // as the binary shows it; "(devel)" outside of a clone
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Glibc   string `json:"glibc,omitempty"` // the oldest release of the GNU C library that has all its symbols
}

// wheel builds the binary for GOOS and GOARCH and writes it with the licences of
// everything in it into an empty folder. It must run in the module's root.
func wheel(ctx context.Context, folder string) (described, error) {
	platform, err := goCommand(ctx, "env", "GOOS", "GOARCH")
	if err != nil {
		return described{}, err
	}
	names := strings.Fields(platform)
	d := described{OS: names[0], Arch: names[1]}
	binary := filepath.Join(folder, binaryName(d.OS))
	if err := build(ctx, binary); err != nil {
		return described{}, err
	}
	if d.Version, _, err = stamp(binary); err != nil {
		return described{}, err
	}
	if d.OS == "linux" {
		if d.Glibc, err = glibc(binary); err != nil {
			return described{}, fmt.Errorf("failed to read which C library %s needs: %w", binary, err)
		}
	}
	files := map[string]string{}
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

// glibc returns the oldest release of the GNU C library that a binary runs with, which
// names the manylinux platform that it keeps (PEP 600). A binary that needs another
// library is an error: not every system has it.
func glibc(binary string) (string, error) {
	file, err := elf.Open(binary)
	if err != nil {
		return "", err
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return "", err
	}
	for _, library := range libraries {
		switch stem, _, _ := strings.Cut(library, ".so"); stem {
		case "libc", "libm", "libdl", "libpthread", "librt", "libresolv", "ld-linux-x86-64", "ld-linux-aarch64":
		default:
			return "", fmt.Errorf("it needs %s, which not every system has", library)
		}
	}
	symbols, err := file.ImportedSymbols()
	if err != nil {
		return "", err
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
				return "", fmt.Errorf("%s needs the unknown version %s", symbol.Name, symbol.Version)
			}
			numbers = append(numbers, n)
		}
		newest = slices.MaxFunc([][]int{newest, numbers}, slices.Compare[[]int])
	}
	if len(newest) < 2 {
		return "", errors.New("it needs no version of the C library")
	}
	return fmt.Sprintf("%d.%d", newest[0], newest[1]), nil
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
