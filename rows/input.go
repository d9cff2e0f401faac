package rows

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/encoding"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// row is one row of the input.
type row struct {
	number int64 // from 1; blank lines and the header are not counted
	text   string
	err    error       // reason why there is no text
	fields fields      // the rest of the row; nil if it could not be read
	size   int         // approximate bytes in memory
	was    *writtenRow // in the output that is judged again; else nil
	upTo   int64       // its end in the input: in bytes of its content, or of the texts of Parquet

	undecodable, nonfinite bool // as in [Summary]
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
	// skip skips rows that were scored before. It is called once, before next.
	skip(ctx context.Context, rows int64) (skipped, error)
	// columns returns the input columns except text and id, for outputs with
	// columns.
	columns() []column
	// idNode is the type of the id in Parquet.
	idNode() parquet.Node
	// length returns the length of the input in the unit of row.upTo, 0 if it is
	// unknown.
	length() int64
	// digest returns the SHA-256 of the content of an input that is a regular file.
	// It reads all of it.
	digest(ctx context.Context) (string, error)
	close() error
}

// skipped are rows that were scored before.
type skipped struct {
	upTo int64   // their end in the input, as that of a row
	odd  Summary // what is odd in them
}

// openInput opens the input. The end of ctx ends a read that waits for data.
func openInput(ctx context.Context, o Options) (rowReader, error) {
	format, packed, err := o.inputFormat()
	if err != nil {
		return nil, err
	}
	from := source{reader: o.Stdin, closer: io.NopCloser(nil), packed: packed}
	encoded, err := o.encoding()
	if err != nil {
		return nil, fmt.Errorf("--input-encoding: %w", err)
	}
	if o.Input != Standard {
		if from, err = openFile(o.Input, packed); err != nil {
			return nil, err
		}
	}
	from.encoded = encoded
	if format == Parquet {
		return openParquet(ctx, from, o)
	}
	return openText(ctx, from, format, o)
}

// source is the data of an input.
type source struct {
	reader io.Reader
	closer io.Closer
	// file is the same data for any access, if it is a regular file, and bytes its
	// length.
	file  io.ReaderAt
	bytes int64
	// packed is the compression of a text, as far as it is known.
	packed compression
	// encoded is the encoding of a text; nil is UTF-8.
	encoded encoding.Encoding
	// decoded reports whether the content is decoded to UTF-8.
	decoded bool
	// size is the number of bytes of the content, 0 if it is unknown.
	size int64
}

func openFile(path string, packed compression) (source, error) {
	file, err := os.Open(path)
	if err != nil {
		return source{}, files.Cause(err)
	}
	from := source{reader: file, closer: file, packed: packed}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a folder; name a file in it")
	case info.Mode().IsRegular():
		from.file, from.bytes = file, info.Size()
	}
	if err != nil {
		return source{}, errors.Join(err, file.Close())
	}
	return from, nil
}

func (s *source) length() int64 { return s.size }
func (s *source) close() error  { return s.closer.Close() }

// digest returns the SHA-256 of the content of a regular file. From then on, the
// length of the content is known, also if it is compressed or decoded.
func (s *source) digest(ctx context.Context) (string, error) {
	in, _, err := content(io.NewSectionReader(s.file, 0, s.bytes), s.packed)
	if err != nil {
		return "", err
	}
	in, _ = decode(in, s.encoded)
	sum, size, err := hashOf(ctx, in)
	s.size = size
	return sum, err
}

// hashOf returns the SHA-256 and the length of what it reads.
func hashOf(ctx context.Context, in io.Reader) (sum string, size int64, err error) {
	h := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := in.Read(buffer)
		h.Write(buffer[:n])
		size += int64(n)
		if err == io.EOF {
			return "sha256:" + hex.EncodeToString(h.Sum(nil)), size, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// openText opens an input in JSONL, CSV, TSV or plain text, and closes it after an error.
func openText(ctx context.Context, from source, format Format, o Options) (r rowReader, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, from.close())
		}
	}()
	in, packed, err := content(files.Interruptible(ctx, from.reader), from.packed)
	if err != nil {
		return nil, files.Cause(err)
	}
	in, from.decoded = decode(in, from.encoded)
	if from.packed = packed; packed == "" && !from.decoded {
		from.size = from.bytes
	}
	if err := checkText(in, format, o.InputFormat != ""); err != nil {
		return nil, err
	}
	lines := lineReader{in: in, limit: RowBytes(o.MaxBytes)}
	switch {
	case format.hasCells():
		return openCSV(from, in, format, o)
	case format == Lines:
		return &plainReader{source: from, lines: lines, asField: o.TextColumn == ""}, nil
	}
	return &jsonReader{source: from, lines: lines, text: o.TextColumn, id: o.idColumn()}, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkText checks the first bytes of an input, refuses what is not rows of text, and
// skips a byte order mark. NUL is refused in the first line only: in CSV it can be
// part of a text. named tells whether the user named the format: other formats come under
// the name .txt, too.
func checkText(in *bufio.Reader, format Format, named bool) error {
	if _, err := in.Peek(1); err != nil && err != io.EOF {
		return files.Cause(err)
	}
	start, _ := in.Peek(min(in.Buffered(), 512)) // the next bytes may come late
	for magic, what := range map[string]string{
		"\xff\xfe\x00\x00": "UTF-32 text; save it as UTF-8", "\x00\x00\xfe\xff": "UTF-32 text; save it as UTF-8",
		"PAR1": "a Parquet file; end its name in .parquet, or use --input-format parquet", "PK\x03\x04": "a ZIP archive or a workbook; save it as CSV",
		"\x1f\x8b": "compressed twice; unpack it", "\x28\xb5\x2f\xfd": "compressed twice; unpack it",
		"BZh91AY&SY": "compressed with bzip2; unpack it", "\xfd7zXZ\x00": "compressed with xz; unpack it",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("it is not %s but %s", format, what)
		}
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail after Peek
		start = start[len(byteOrderMark):]
	}
	line, complete := cutLine(start)
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("it is not %s but a binary file: its first line contains NUL; if it is UTF-16 text, use --input-encoding utf-16le", format)
	}
	switch {
	case format == Lines && !named && bytes.HasPrefix(line, []byte(`{"`)) && (!complete || json.Valid(line)):
		return errors.New("its first line is a JSON object: name its format, --input-format jsonl, or lines if each line is a text")
	case format != JSONL:
		return nil
	}
	// What other programs call JSON would fail in each of its lines.
	line, complete = cutLine(bytes.TrimLeft(start, " \t\r\n"))
	switch {
	case bytes.HasPrefix(line, []byte("[")):
		return errors.New("it is not JSONL but a JSON list; write each item on a line of its own with `jq -c '.[]'`")
	case complete && string(bytes.TrimSpace(line)) == "{":
		return errors.New("it is not JSONL: an object takes several lines; write each on a line of its own with `jq -c .`")
	}
	return nil
}

// cutLine returns the first line, and whether it ends.
func cutLine(of []byte) (line []byte, complete bool) {
	if end := bytes.IndexAny(of, "\r\n"); end >= 0 {
		return of[:end], true
	}
	return of, false
}

// skipRows is rowReader.skip for a reader that must read the skipped rows.
func skipRows(ctx context.Context, r rowReader, rows int64) (before skipped, err error) {
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return skipped{}, err
		}
		one, err := r.next()
		if err == io.EOF {
			return skipped{}, fmt.Errorf("it has %s, but the output already has %d", plural.Count(i, "row", "rows"), rows)
		}
		if err != nil {
			return skipped{}, err
		}
		before.upTo = one.upTo
		before.odd.addInput(one)
	}
	return before, nil
}

// missingColumn is the error for a column that is missing in a header.
func missingColumn(flag, name string, there []string) error {
	hint := ""
	if len(there) == 1 {
		for _, other := range []struct{ delimiter, option string }{{";", "--delimiter ';'"}, {"|", "--delimiter '|'"}, {"\t", "--delimiter tab"}, {",", "--input-format csv"}} {
			if strings.Contains(there[0], other.delimiter) {
				hint = fmt.Sprintf("; if %q separates the columns, use %s", other.delimiter, other.option)
				break
			}
		}
	}
	if i := slices.IndexFunc(there, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		hint = fmt.Sprintf("; did you mean --%s %s?", flag, there[i])
	}
	if slices.ContainsFunc(there, func(n string) bool { return !utf8.ValidString(n) }) {
		hint = "; the names are not UTF-8: name their encoding, like --input-encoding windows-1252"
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
