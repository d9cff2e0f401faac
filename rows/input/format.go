package input

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is the format of a file with rows.
type Format string

// The formats.
const (
	JSONL   Format = "jsonl"   // one JSON object on each line
	CSV     Format = "csv"     // RFC 4180, with a header
	TSV     Format = "tsv"     // CSV with tabs in place of commas
	Parquet Format = "parquet" // https://parquet.apache.org
	Lines   Format = "lines"   // plain text, where each line is the text of a row; of inputs only
)

// declared lists the formats that can be read: the name of each in a sentence, and the
// endings of its files.
var declared = []struct {
	format  Format
	name    string
	endings []string
}{
	{JSONL, "JSONL", []string{".jsonl", ".ndjson"}},
	{CSV, "CSV", []string{".csv"}},
	{TSV, "TSV", []string{".tsv"}},
	{Parquet, "Parquet", []string{".parquet"}},
	{Lines, "plain text", []string{".txt"}},
}

// Formats returns the formats that can be read. [Open] chooses the reader of each.
func Formats() []Format {
	var all []Format
	for _, d := range declared {
		all = append(all, d.format)
	}
	return all
}

// Endings returns the endings of the names of files in these formats, like .csv.
func Endings(formats []Format) []string {
	var all []string
	for _, d := range declared {
		if slices.Contains(formats, d.format) {
			all = append(all, d.endings...)
		}
	}
	return all
}

// Among returns an error unless the format is one of formats.
func (f Format) Among(formats []Format) error {
	if slices.Contains(formats, f) {
		return nil
	}
	names := make([]string, len(formats))
	for i, name := range formats {
		names[i] = string(name)
	}
	return fmt.Errorf("unknown format %q: it must be %s", string(f), oneOf(names))
}

// oneOf returns a list of alternatives in a sentence.
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// String returns the name of the format in a sentence.
func (f Format) String() string {
	for _, d := range declared {
		if d.format == f {
			return d.name
		}
	}
	return string(f)
}

// HasCells reports whether the rows of the format are lines of cells with a delimiter
// between them.
func (f Format) HasCells() bool { return f == CSV || f == TSV }

// Delimiter returns the usual delimiter of cells in the format.
func (f Format) Delimiter() byte {
	if f == TSV {
		return '\t'
	}
	return ','
}

// FormatOf returns the one of formats for which the ending of a file name stands. packed
// says that a second ending stands for a compression; it is right even with an error.
func FormatOf(path string, formats []Format) (format Format, packed bool, err error) {
	name := path
	if packed = compressionOf(path) != ""; packed {
		name = path[:len(path)-len(filepath.Ext(path))]
	}
	ending := strings.ToLower(filepath.Ext(name))
	for _, d := range declared {
		if slices.Contains(formats, d.format) && slices.Contains(d.endings, ending) {
			return d.format, packed, nil
		}
	}
	if ending == ".json" {
		return "", packed, fmt.Errorf("%s: a .json file contains one value; rename it to .jsonl if each line is an object, or convert it with `jq -c '.[]'`", path)
	}
	return "", packed, fmt.Errorf("%s: the extension must be %s", path, oneOf(Endings(formats)))
}
