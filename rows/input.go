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

// fileFormat is what the ending of a file's name tells.
type fileFormat string

const (
	jsonLines   fileFormat = "JSONL"
	commas      fileFormat = "CSV"
	parquetFile fileFormat = "Parquet"
)

func formatOf(path string) (fileFormat, error) {
	switch ending := strings.ToLower(filepath.Ext(path)); {
	case path == Standard, ending == ".jsonl", ending == ".ndjson":
		return jsonLines, nil
	case ending == ".csv":
		return commas, nil
	case ending == ".parquet":
		return parquetFile, nil
	case ending == ".json":
		return "", fmt.Errorf("%s: a .json file holds one value; name it .jsonl if each line is an object, or make it so with `jq -c '.[]'`", path)
	}
	return "", fmt.Errorf("%s: the ending must be .jsonl, .ndjson, .csv or .parquet, or - for JSONL through standard input and output", path)
}

// row is one row of the input.
type row struct {
	number int64 // from 1; blank lines and the header are not counted
	text   string
	err    error  // why there is no text
	fields fields // the rest of the row; nil where it could not be read
	size   int    // bytes that it holds in memory, about
	upTo   int64  // where it ends in the input, in the unit of rowReader.length
}

// fields is what a row holds beside its text, as each kind of output has it.
type fields interface {
	// json returns the id and an object of the others, each nil where there is
	// none.
	json() (id, others []byte, err error)
	// cells returns the id and one cell for each column of the reader.
	cells() (id string, others []string, err error)
	// values returns the id's value and those of each leaf of the columns of the
	// reader, which may be several or null; their levels are set, their column
	// indexes are not.
	values() (id parquet.Value, others [][]parquet.Value)
}

// column is a column of an output that came with the input.
type column struct {
	name string // in the output
	node parquet.Node
}

// rowReader reads the rows of one input.
type rowReader interface {
	// next returns the next row. A row that cannot be read has its err set;
	// an error ends the input, io.EOF in good order.
	next() (row, error)
	// skip passes over rows that have been scored before and returns how far
	// into the input they reach.
	skip(ctx context.Context, rows int64) (upTo int64, err error)
	// columns returns those of the input beside text and id, for outputs that
	// have columns.
	columns() []column
	// idNode is the type of the id in Parquet.
	idNode() parquet.Node
	// length of the input in bytes or rows, 0 where it cannot be known.
	length() int64
	close() error
}

// openInput opens the input. ctx ends a read that waits for more.
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
		err = errors.New("it is a folder: name a file in it")
	case format == parquetFile && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file, and Parquet is read from its end: copy it to one")
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

// source is where text is read from.
type source struct {
	reader io.Reader
	closer io.Closer
	size   int64 // bytes; 0 where it is not known
}

func (s source) length() int64 { return s.size }
func (s source) close() error  { return s.closer.Close() }

// openText opens an input that is JSONL or CSV, and closes it where it fails.
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

// checkText refuses what is no text by its first bytes, and passes over a byte
// order mark. NUL is looked for in the first line only: in CSV it may be part
// of a text.
func checkText(in *bufio.Reader, format fileFormat) error {
	if _, err := in.Peek(1); err != nil && err != io.EOF {
		return files.Cause(err)
	}
	start, _ := in.Peek(min(in.Buffered(), 512)) // more may be long in coming
	for magic, what := range map[string]string{
		"\xff\xfe": "UTF-16 text; save it as UTF-8", "\xfe\xff": "UTF-16 text; save it as UTF-8",
		"PAR1": "a Parquet file; its name must end in .parquet", "\x1f\x8b": "compressed with gzip; unpack it",
		"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it", "PK\x03\x04": "a ZIP archive or a workbook; save it as CSV",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("it is no %s but %s", format, what)
		}
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // was peeked at
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("it is no %s but a binary file: its first line holds NUL", format)
	}
	return nil
}

// skipRows is rowReader.skip for a reader that has to read what it passes over.
func skipRows(ctx context.Context, r rowReader, rows int64) (upTo int64, err error) {
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		skipped, err := r.next()
		if err == io.EOF {
			return 0, fmt.Errorf("it has %d rows, but %d are in the output already", i, rows)
		}
		if err != nil {
			return 0, err
		}
		upTo = skipped.upTo
	}
	return upTo, nil
}

// missingColumn is the error for a column that is not in a header.
func missingColumn(flag, name string, there []string) error {
	hint := ""
	if len(there) == 1 && strings.ContainsAny(there[0], ";\t") {
		hint = "; columns must be divided by commas"
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

// errTooLongRow is the error of a row over the limit, which is passed over
// without holding it in memory.
func errTooLongRow(where string, limit int) error {
	return fmt.Errorf("%s: the row has more than %d bytes, the limit at this --max-bytes", where, limit)
}
