package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/files"
)

// The files of a sample's folder.
const (
	SheetFile  = "sample.csv"
	DesignFile = "design.json"
)

// Save writes the sheet and the design of a sample into a folder, which is created if it
// is missing.
func (d Design) Save(folder string, entries map[int]Entry) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to create %s: %w", folder, files.Cause(err))
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{SheetFile, func(w io.Writer) error { return d.WriteSheet(w, entries) }},
		{DesignFile, d.Write},
	} {
		path := filepath.Join(folder, file.name)
		if err := files.Write(path, 0o644, file.write); err != nil {
			return fmt.Errorf("failed to write %s: %w", path, err)
		}
	}
	return nil
}

// OpenDesign reads the design in the folder of a sample.
func OpenDesign(folder string) (Design, error) {
	return opened(filepath.Join(folder, DesignFile), "the design of a sample", ReadDesign)
}

// OpenCorpus is [ReadCorpus] for a file.
func OpenCorpus(path string, attributes []toxscreen.Attribute) (Corpus, error) {
	return opened(path, "results", func(r io.Reader) (Corpus, error) { return ReadCorpus(r, filepath.Base(path), attributes) })
}

// OpenEntries is [Corpus.Entries] for a file.
func (c Corpus) OpenEntries(d Design, path string) (map[int]Entry, error) {
	return opened(path, "the texts of the sample", func(r io.Reader) (map[int]Entry, error) { return c.Entries(d, r, filepath.Base(path)) })
}

// Open is [Labels.Read] for a file.
func (l Labels) Open(path string) error {
	_, err := opened(path, "labels", func(r io.Reader) (Labels, error) { return l, l.Read(r, path) })
	return err
}

// opened reads a file.
func opened[T any](path, what string, read func(io.Reader) (T, error)) (T, error) {
	file, err := os.Open(path)
	if err != nil {
		var none T
		return none, fmt.Errorf("failed to read %s: %w", what, err)
	}
	defer file.Close()
	return read(file)
}

// Repeats counts the texts that are the same as one before them.
func Repeats(entries map[int]Entry) int {
	seen := map[string]bool{}
	for _, entry := range entries {
		seen[entry.Text] = true
	}
	return len(entries) - len(seen)
}

// ParseAttributes reads the names of different attributes.
func ParseAttributes(names []string) ([]toxscreen.Attribute, error) {
	var all []toxscreen.Attribute
	for _, name := range names {
		attribute, err := toxscreen.ParseAttribute(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, attribute) {
			all = append(all, attribute)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is none")
	}
	return all, nil
}
