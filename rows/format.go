package rows

import (
	"fmt"
	"path/filepath"
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
)

// ParseFormat returns the format with the given name: jsonl, csv, tsv or parquet.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case JSONL, CSV, TSV, Parquet:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q: it must be jsonl, csv, tsv or parquet", name)
}

// String returns the name of the format in a sentence.
func (f Format) String() string {
	if f == Parquet {
		return "Parquet"
	}
	return strings.ToUpper(string(f))
}

// hasCells reports whether rows are lines of cells with a delimiter between them.
func (f Format) hasCells() bool { return f == CSV || f == TSV }

// delimiter returns the delimiter of cells in a file that does not name another.
func (f Format) delimiter() byte {
	if f == TSV {
		return '\t'
	}
	return ','
}

// formatOf returns the format that the ending of a file name stands for, and the
// compression that a second ending stands for, also with an error.
func formatOf(path string) (Format, compression, error) {
	if path == Standard {
		return JSONL, "", nil
	}
	packed := compressions[strings.ToLower(filepath.Ext(path))]
	name := path
	if packed != "" {
		name = path[:len(path)-len(filepath.Ext(path))]
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return JSONL, packed, nil
	case ".csv":
		return CSV, packed, nil
	case ".tsv":
		return TSV, packed, nil
	case ".parquet":
		return Parquet, packed, nil
	case ".json":
		return "", packed, fmt.Errorf("%s: a .json file contains one value; rename it to .jsonl if each line is an object, or convert it with `jq -c '.[]'`", path)
	}
	return "", packed, fmt.Errorf("%s: the extension must be .jsonl, .ndjson, .csv, .tsv or .parquet", path)
}

// inputFormat returns the format of the input, and its compression as far as its
// name tells.
func (o Options) inputFormat() (Format, compression, error) {
	format, packed, err := formatOf(o.Input)
	switch {
	case o.InputFormat != "":
		if format, err = ParseFormat(string(o.InputFormat)); err != nil {
			return "", "", fmt.Errorf("--input-format: %w", err)
		}
	case err != nil:
		return "", "", fmt.Errorf("--input %w; or name the format with --input-format", err)
	}
	if format == Parquet && packed != "" {
		return "", "", fmt.Errorf("--input %s: Parquet is compressed inside and is read from its end: unpack it first", o.Input)
	}
	return format, packed, nil
}

// outputFormat returns the format of the output.
func (o Options) outputFormat() (Format, error) {
	format, packed, err := formatOf(o.Output)
	if err == nil && packed != "" {
		err = fmt.Errorf("%s: outputs are not compressed, so that they can be resumed; compress the complete file afterwards, or write .parquet, which is compressed inside", o.Output)
	}
	if err != nil {
		return "", fmt.Errorf("--output %w", err)
	}
	return format, nil
}

// delimiter returns the delimiter of the cells of the input, 0 if it has none.
func (o Options) delimiter(format Format) byte {
	switch {
	case !format.hasCells():
		return 0
	case o.Delimiter != 0:
		return o.Delimiter
	}
	return format.delimiter()
}

// separates reports whether a byte can separate cells.
func separates(delimiter byte) bool {
	return delimiter < 0x80 && !strings.ContainsRune("\"\r\n", rune(delimiter))
}
