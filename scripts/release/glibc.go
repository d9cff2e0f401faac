package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// glibc returns the oldest release of the GNU C library that the program runs with, which
// names the manylinux platform that it keeps (PEP 600).
func (p program) glibc() (string, error) {
	binary, err := needs(p.binary())
	if err != nil {
		return "", fmt.Errorf("failed to read which C library the binary needs: %w", err)
	}
	// Every system that manylinux names has the libraries of C++.
	library, err := needs(p.library(), "libstdc++", "libgcc_s")
	if err != nil {
		return "", fmt.Errorf("failed to read which C library ONNX Runtime needs: %w", err)
	}
	newest := slices.MaxFunc([][]int{binary, library}, slices.Compare[[]int])
	return fmt.Sprintf("%d.%d", newest[0], newest[1]), nil
}

// systemLibraries are those of the GNU C library, without which no program starts.
var systemLibraries = []string{"libc", "libm", "libdl", "libpthread", "librt", "libresolv", "ld-linux-x86-64", "ld-linux-aarch64"}

// newestGLIBCXX is the last number of GLIBCXX_3.4.24, the newest symbols of libstdc++ that
// systems with glibc 2.28 have, by the policy of manylinux_2_28.
const newestGLIBCXX = 24

// needs returns the oldest release of the GNU C library that has all symbols of a file. A
// file that needs another library, except for those that are allowed, is an error: not
// every system has it.
func needs(path string, allowed ...string) ([]int, error) {
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
		if release, ok := strings.CutPrefix(symbol.Version, "GLIBCXX_3.4."); ok {
			if n, err := strconv.Atoi(release); err != nil || n > newestGLIBCXX {
				return nil, fmt.Errorf("%s needs %s of libstdc++, which is newer than what manylinux_2_28 promises, %d", symbol.Name, symbol.Version, newestGLIBCXX)
			}
		}
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
