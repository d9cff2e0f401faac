package rows

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/rows/input"
)

// Format is the format of a file with rows.
type Format = input.Format

// The formats.
const (
	JSONL   = input.JSONL   // one JSON object on each line
	CSV     = input.CSV     // RFC 4180, with a header
	TSV     = input.TSV     // CSV with tabs in place of commas
	Parquet = input.Parquet // https://parquet.apache.org
	Lines   = input.Lines   // plain text, where each line is the text of a row; of inputs only
)

// InputFormats returns the formats that can be read.
func InputFormats() []Format { return input.Formats() }

// OutputFormats returns the formats that can be written.
func OutputFormats() []Format { return []Format{JSONL, CSV, TSV, Parquet} }

// formatOf is [input.FormatOf], but path may be [Standard].
func formatOf(path string, formats []Format) (format Format, packed bool, err error) {
	if path == Standard {
		return JSONL, false, nil
	}
	return input.FormatOf(path, formats)
}

// ReadFormat returns the format of the input: InputFormat, or else the one that the name of
// the input tells.
func (o Options) ReadFormat() (Format, error) {
	o = o.withDefaults()
	format, packed, err := formatOf(o.Input, InputFormats())
	switch {
	case o.InputFormat != "":
		if format = o.InputFormat; format.Among(InputFormats()) != nil {
			return "", fmt.Errorf("%s: %w", o.option("InputFormat"), format.Among(InputFormats()))
		}
	case err != nil:
		return "", fmt.Errorf("%s %w; or name the format with %s", o.option("Input"), err, o.option("InputFormat"))
	}
	if format == Parquet && packed {
		return "", fmt.Errorf("%s %s: Parquet is compressed inside and is read from its end: unpack it first", o.option("Input"), o.Input)
	}
	return format, nil
}

// outputFormat returns the format of the output.
func (o Options) outputFormat() (Format, error) {
	format, packed, err := formatOf(o.Output, OutputFormats())
	if err == nil && packed {
		err = fmt.Errorf("%s: outputs are not compressed, so that they can be resumed; compress the complete file afterwards, or write .parquet, which is compressed inside", o.Output)
	}
	if err != nil {
		return "", fmt.Errorf("%s %w", o.option("Output"), err)
	}
	return format, nil
}

// delimiter returns the delimiter of the cells of the input, or 0 for a format without
// cells.
func (o Options) delimiter(format Format) byte {
	if !format.HasCells() {
		return 0
	}
	return cmp.Or(o.Delimiter, format.Delimiter())
}

// marks reports whether a byte is fit to separate cells, or to escape a quote in them.
func marks(character byte) bool {
	return character < 0x80 && !strings.ContainsRune("\"\r\n", rune(character))
}

// open opens the input. A read that waits for data fails when ctx ends.
func (o Options) open(ctx context.Context) (input.Reader, error) {
	format, err := o.ReadFormat()
	if err != nil {
		return nil, err
	}
	encoding, err := input.EncodingOf(o.InputEncoding)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.option("InputEncoding"), err)
	}
	path := o.Input
	if path == Standard {
		path = ""
	}
	return input.Open(ctx, input.Options{
		Path: path, Stdin: o.Stdin, Format: format, Named: o.InputFormat != "", Encoding: encoding, Delimiter: o.Delimiter, Escape: o.Escape,
		Text: o.TextColumn, ID: o.idColumn(), MustID: o.IDColumn != "", Limit: RowBytes(o.MaxBytes), Groups: o.groups, Measured: o.Progress != nil, Option: o.option,
	})
}
