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
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// The files of a sample's folder.
const (
	SheetFile  = "sample.csv"
	DesignFile = "design.json"
)

// Save writes the sheet and the design of a sample into a folder, and creates the folder if
// it is missing.
func (d Design) Save(folder string, entries map[int]Entry) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("failed to create %s: %w", folder, files.Cause(err))
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{SheetFile, func(w io.Writer) error { return d.writeSheet(w, entries) }},
		{DesignFile, func(w io.Writer) error { return plainjson.Write(w, d, "  ") }},
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
	return opened(filepath.Join(folder, DesignFile), "the design of a sample", readDesign)
}

// OpenCorpus reads results in JSONL, as `toxscreen batch --full` writes them: the scores of
// the given attributes. All results must be of one model and of its whole network. Rows
// that failed are counted and left out. A line may have up to 64 MiB, and a file up to 50
// million rows.
func OpenCorpus(path string, attributes []toxscreen.Attribute) (Corpus, error) {
	return opened(path, "results", func(r io.Reader) (Corpus, error) { return readCorpus(r, filepath.Base(path), attributes) })
}

// OpenEntries reads the texts of a sample and their ids, by row number, from the file at
// path: the results that the sample was drawn from, or JSONL with the same rows, such as
// the input of batch.
func (c Corpus) OpenEntries(d Design, path string) (map[int]Entry, error) {
	return opened(path, "the texts of the sample", func(r io.Reader) (map[int]Entry, error) { return c.entries(d, r, filepath.Base(path)) })
}

// Open reads a sheet that people filled in. A column has labels if it is named like an
// attribute, or like an attribute and an underscore with more after it (insult,
// insult_ann). A label is 0 or 1, yes or no, or a share of people in 0..1; an empty cell is
// no opinion. Opinions about one text from several columns, rows and sheets are averaged.
// Other columns are ignored, and rows and columns can have any order. Commas, semicolons or
// tabs separate the cells. A sheet may have up to 256 MiB. If Open returns an error, the
// labels are incomplete.
func (l Labels) Open(path string) error {
	_, err := opened(path, "labels", func(r io.Reader) (Labels, error) { return l, l.read(r, path) })
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

// Repeats counts the texts that equal an earlier one.
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
