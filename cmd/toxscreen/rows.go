package main

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
)

// A kind of file is told by the ending of its name.
type kind string

const (
	jsonLines   kind = "JSONL"
	commas      kind = "CSV"
	parquetFile kind = "Parquet"
)

// standard is the name of standard input and output, which are JSONL.
const standard = "-"

func kindOf(path string) (kind, error) {
	switch ending := strings.ToLower(filepath.Ext(path)); {
	case path == standard, ending == ".jsonl", ending == ".ndjson":
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
	number int64 // from 1; of the rows, not of the lines
	text   string
	err    error  // why there is no text
	fields fields // the rest of the row; nil where it could not be read
	size   int    // bytes that it holds in memory, about
	upTo   int64  // where it ends in the input, in the unit of rowReader.length
}

// fields is what a row holds beside its text, as each kind of output has it.
type fields interface {
	// json returns the id, a string or number or nil where there is none,
	// and an object of the rest or nil where there is none.
	json() (id, rest []byte, err error)
	// cells returns the id and one cell for each column of the reader.
	cells() (id string, rest []string, err error)
	// values returns the id's value and those of each column of the reader,
	// which may be several or null; their levels are set, their column
	// indexes are not.
	values() (id parquet.Value, rest [][]parquet.Value)
}

// column is a column of the input beside text and id.
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
	// columns returns the columns for outputs that have some.
	columns() []column
	// id is the type of the id in Parquet.
	id() parquet.Node
	// length of the input in bytes or rows, 0 where it cannot be known.
	length() int64
	close() error
}

// inputOptions says how rows are read.
type inputOptions struct {
	text, id string // names of columns
	idGiven  bool   // whether the id's column must be there
	maxRow   int    // bytes
}

// openRows opens the input at path. ctx ends a read that waits for more.
func openRows(ctx context.Context, path string, kind kind, stdin io.Reader, o inputOptions) (rowReader, error) {
	r, err := openKind(ctx, path, kind, stdin, o)
	if err != nil {
		return nil, fmt.Errorf("failed to read %s: %w", inputName(path), err)
	}
	return r, nil
}

func inputName(path string) string {
	if path == standard {
		return "standard input"
	}
	return path
}

func openKind(ctx context.Context, path string, kind kind, stdin io.Reader, o inputOptions) (rowReader, error) {
	source := &countingSource{reader: stdin, closer: io.NopCloser(nil)}
	if path != standard {
		file, err := os.Open(path)
		if err != nil {
			return nil, cause(err)
		}
		info, err := file.Stat()
		switch {
		case err != nil:
		case info.IsDir():
			err = errors.New("it is a folder: name a file in it")
		case kind == parquetFile && !info.Mode().IsRegular():
			err = errors.New("it is not a regular file, and Parquet is read from its end: copy it to one")
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if kind == parquetFile {
			return openParquet(file, info.Size(), o)
		}
		source = &countingSource{reader: file, closer: file}
		if info.Mode().IsRegular() {
			source.length = info.Size()
		}
	}
	source.reader = newInterruptible(ctx, source.reader)
	buffered := bufio.NewReaderSize(source.reader, 256<<10)
	if err := checkText(buffered, kind); err != nil {
		return nil, errors.Join(err, source.closer.Close())
	}
	if kind == commas {
		r, err := openCSV(source, buffered, o)
		if err != nil {
			return nil, errors.Join(err, source.closer.Close())
		}
		return r, nil
	}
	return &jsonReader{source: source, lines: lineReader{in: buffered, limit: o.maxRow}, options: o}, nil
}

// cause returns an error of the file system without the operation and path,
// which the caller names.
func cause(err error) error {
	if wrapped, ok := errors.AsType[*os.PathError](err); ok {
		return wrapped.Err
	}
	return err
}

// countingSource is where text is read from.
type countingSource struct {
	reader io.Reader
	closer io.Closer
	length int64
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkText refuses what is no text by its first bytes, and passes over a byte
// order mark. NUL is looked for in the first line only: in CSV it may be part
// of a text.
func checkText(in *bufio.Reader, kind kind) error {
	if _, err := in.Peek(1); err != nil && err != io.EOF {
		return cause(err)
	}
	start, _ := in.Peek(min(in.Buffered(), 512)) // more may be long in coming
	for magic, what := range map[string]string{
		"\xff\xfe": "UTF-16 text; save it as UTF-8", "\xfe\xff": "UTF-16 text; save it as UTF-8",
		"PAR1": "a Parquet file; its name must end in .parquet", "\x1f\x8b": "compressed with gzip; unpack it",
		"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it", "PK\x03\x04": "a ZIP archive or a workbook; save it as CSV",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("it is no %s but %s", kind, what)
		}
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // was peeked at
	}
	line, _, _ := bytes.Cut(start, []byte("\n"))
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("it is no %s but a binary file: its first line holds NUL", kind)
	}
	return nil
}

// skipRows is skip for a reader that has to read what it passes over.
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
	return fmt.Errorf("there is no column %q; name another with --%s; there are: %s%s", name, flag, quoted(shown), hint)
}

// errTooLongRow is the error of a row over the limit, which is passed over
// without holding it in memory.
func errTooLongRow(where string, limit int) error {
	return fmt.Errorf("%s: the row has more than %d bytes, the limit at this --max-bytes", where, limit)
}
