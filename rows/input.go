package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/ctxio"
	"github.com/toxscreen/toxscreen/internal/files"
)

// fileFormat is the format that a file extension stands for.
type fileFormat string

const (
	jsonLines   fileFormat = "JSONL"
	commas      fileFormat = "CSV"
	parquetFile fileFormat = "Parquet"
)

func formatOf(path string) (fileFormat, error) {
	switch extension := strings.ToLower(filepath.Ext(path)); {
	case path == Standard, extension == ".jsonl", extension == ".ndjson":
		return jsonLines, nil
	case extension == ".csv":
		return commas, nil
	case extension == ".parquet":
		return parquetFile, nil
	case extension == ".json":
		return "", fmt.Errorf("%s: a .json file contains one value; rename it to .jsonl if each line is an object, or convert it with `jq -c '.[]'`", path)
	}
	return "", fmt.Errorf("%s: the extension must be .jsonl, .ndjson, .csv or .parquet, or - for JSONL through standard input and output", path)
}

// row is one row of the input.
type row struct {
	number int64 // from 1; blank lines and the header are not counted
	text   string
	err    error  // reason why there is no text
	fields fields // the rest of the row; nil if it could not be read
	size   int    // approximate bytes in memory
	upTo   int64  // its end in the input, in the unit of rowReader.length
}

// fields are the values of a row except its text, for each kind of output.
type fields interface {
	// json returns the id and an object of the other fields, each nil if there is
	// none.
	json() (id, others []byte, err error)
	// cells returns the id and one cell for each column of the reader.
	cells() (id string, others []string, err error)
	// values returns the value of the id and the values of each leaf of the columns
	// of the reader, which may be several or null. Their levels are set, their
	// column indexes are not.
	values() (id parquet.Value, others [][]parquet.Value)
}

// column is an output column that comes from the input.
type column struct {
	name string // its name in the output
	node parquet.Node
}

// rowReader reads the rows of one input.
type rowReader interface {
	// next returns the next row. A row that cannot be read has its err set. An
	// error ends the input; io.EOF is its regular end.
	next() (row, error)
	// skip skips rows that were scored before and returns their end in the input.
	skip(ctx context.Context, rows int64) (upTo int64, err error)
	// columns returns the input columns except text and id, for outputs with
	// columns.
	columns() []column
	// idNode is the type of the id in Parquet.
	idNode() parquet.Node
	// length returns the length of the input in bytes or rows, 0 if it is unknown.
	length() int64
	close() error
}

// openInput opens the input. The end of ctx ends a read that waits for data.
func openInput(ctx context.Context, o Options) (rowReader, error) {
	path := o.Input
	format, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	if path == Standard {
		return openText(ctx, source{reader: o.Stdin, closer: io.NopCloser(nil)}, format, o)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, files.Cause(err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a folder; name a file in it")
	case format == parquetFile && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file, but Parquet is read from its end; copy it to a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if format == parquetFile {
		return openParquet(file, info.Size(), o)
	}
	from := source{reader: file, closer: file}
	if info.Mode().IsRegular() {
		from.size = info.Size()
	}
	return openText(ctx, from, format, o)
}

// source is the source of an input in a text format.
type source struct {
	reader io.Reader
	closer io.Closer
	size   int64 // bytes; 0 if unknown
}

func (s source) length() int64 { return s.size }
func (s source) close() error  { return s.closer.Close() }

// openText opens an input in JSONL or CSV, and closes it after an error.
func openText(ctx context.Context, from source, format fileFormat, o Options) (r rowReader, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, from.close())
		}
	}()
	in := bufio.NewReaderSize(ctxio.NewReader(ctx, from.reader), 256<<10)
	if err := checkText(in, format); err != nil {
		return nil, err
	}
	if format == commas {
		return openCSV(from, in, o)
	}
	return &jsonReader{source: from, lines: lineReader{in: in, limit: RowBytes(o.MaxBytes)}, text: o.TextColumn, id: o.idColumn()}, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkText checks the first bytes of an input, refuses other formats than text, and
// skips a byte order mark. NUL is refused in the first line only: in CSV it can be
// part of a text.
func checkText(in *bufio.Reader, format fileFormat) error {
	if _, err := in.Peek(1); err != nil && err != io.EOF {
		return files.Cause(err)
	}
	start, _ := in.Peek(min(in.Buffered(), 512)) // the next bytes may come late
	for magic, what := range map[string]string{
		"\xff\xfe": "UTF-16 text; save it as UTF-8", "\xfe\xff": "UTF-16 text; save it as UTF-8",
		"PAR1": "a Parquet file; its name must end in .parquet", "\x1f\x8b": "compressed with gzip; unpack it",
		"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it", "PK\x03\x04": "a ZIP archive or a workbook; save it as CSV",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("it is not %s but %s", format, what)
		}
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail after Peek
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("it is not %s but a binary file: its first line contains NUL", format)
	}
	return nil
}

// skipRows is rowReader.skip for a reader that must read the skipped rows.
func skipRows(ctx context.Context, r rowReader, rows int64) (upTo int64, err error) {
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		skipped, err := r.next()
		if err == io.EOF {
			return 0, fmt.Errorf("it has %d rows, but the output already has %d", i, rows)
		}
		if err != nil {
			return 0, err
		}
		upTo = skipped.upTo
	}
	return upTo, nil
}

// missingColumn is the error for a column that is missing in a header.
func missingColumn(flag, name string, there []string) error {
	hint := ""
	if len(there) == 1 && strings.ContainsAny(there[0], ";\t") {
		hint = "; columns must be separated by commas"
	}
	if i := slices.IndexFunc(there, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		hint = fmt.Sprintf("; did you mean --%s %s?", flag, there[i])
	}
	shown := make([]string, len(there))
	for i, n := range there {
		shown[i] = fmt.Sprintf("%q", n)
	}
	return fmt.Errorf("there is no column %q; name another with --%s; there are: %s%s", name, flag, strings.Join(shown, ", "), hint)
}

// errTooLongRow is the error of a row over the limit. The row is skipped without
// being held in memory.
func errTooLongRow(where string, limit int) error {
	return fmt.Errorf("%s: the row has more than %d bytes, the limit for this --max-bytes", where, limit)
}
