package main

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/encoder"
)

//go:embed onnxruntime.sha256
var sums string

// file is a line of onnxruntime.sha256.
type file struct {
	sha256   string // 64 hexadecimal digits, lower case
	provider encoder.Provider
	platform string // GOOS/GOARCH
	source   string // pip, npm or archive
	member   string // its path in the source's package
	name     string // in the cache
}

type fileList []file

func readSums(text string) (fileList, error) {
	var list fileList
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 6 {
			return nil, fmt.Errorf("failed to read the list of sums: line %d has %d fields, want 6", i+1, len(fields))
		}
		if sum, err := hex.DecodeString(fields[0]); err != nil || len(sum) != 32 {
			return nil, fmt.Errorf("failed to read the list of sums: line %d begins with %q, which is not a SHA-256", i+1, fields[0])
		}
		list = append(list, file{fields[0], encoder.Provider(fields[1]), fields[2], fields[3], fields[4], fields[5]})
	}
	return list, nil
}

// of returns the files for a provider on a platform, from all sources.
func (l fileList) of(provider encoder.Provider, platform string) fileList {
	return l.where(func(f file) bool { return f.provider == provider && f.platform == platform })
}

// from returns the files that a source has.
func (l fileList) from(source string) fileList {
	return l.where(func(f file) bool { return f.source == source })
}

func (l fileList) where(keep func(file) bool) fileList {
	return slices.DeleteFunc(slices.Clone(l), func(f file) bool { return !keep(f) })
}
