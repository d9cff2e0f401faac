package rows

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

// InputFormats returns the formats that can be read.
func InputFormats() []Format { return []Format{JSONL, CSV, TSV, Parquet, Lines} }

// OutputFormats returns the formats that can be written.
func OutputFormats() []Format { return []Format{JSONL, CSV, TSV, Parquet} }

// among returns an error for a format that is not one of several.
func (f Format) among(formats []Format) error {
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
	switch f {
	case Parquet:
		return "Parquet"
	case Lines:
		return "plain text"
	case JSONL, CSV, TSV:
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

// endings are the endings of file names and the formats that they stand for.
var endings = []struct {
	ending string
	format Format
}{{".jsonl", JSONL}, {".ndjson", JSONL}, {".csv", CSV}, {".tsv", TSV}, {".parquet", Parquet}, {".txt", Lines}}

// formatOf returns which of several formats the ending of a file name stands for, and the
// compression that a second ending stands for, also with an error.
func formatOf(path string, formats []Format) (Format, compression, error) {
	if path == Standard {
		return JSONL, "", nil
	}
	packed := compressions[strings.ToLower(filepath.Ext(path))]
	name := path
	if packed != "" {
		name = path[:len(path)-len(filepath.Ext(path))]
	}
	ending := strings.ToLower(filepath.Ext(name))
	var known []string
	for _, e := range endings {
		if !slices.Contains(formats, e.format) {
			continue
		}
		if e.ending == ending {
			return e.format, packed, nil
		}
		known = append(known, e.ending)
	}
	if ending == ".json" {
		return "", packed, fmt.Errorf("%s: a .json file contains one value; rename it to .jsonl if each line is an object, or convert it with `jq -c '.[]'`", path)
	}
	return "", packed, fmt.Errorf("%s: the extension must be %s", path, oneOf(known))
}

// ReadFormat returns the format of the input, by InputFormat or its name.
func (o Options) ReadFormat() (Format, error) {
	format, _, err := o.withDefaults().inputFormat()
	return format, err
}

// inputFormat returns the format of the input, and its compression as far as its
// name tells.
func (o Options) inputFormat() (Format, compression, error) {
	format, packed, err := formatOf(o.Input, InputFormats())
	switch {
	case o.InputFormat != "":
		if format = o.InputFormat; format.among(InputFormats()) != nil {
			return "", "", fmt.Errorf("--input-format: %w", format.among(InputFormats()))
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
	format, packed, err := formatOf(o.Output, OutputFormats())
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

// marks reports whether a byte can separate cells, or escape a quote in them.
func marks(character byte) bool {
	return character < 0x80 && !strings.ContainsRune("\"\r\n", rune(character))
}
