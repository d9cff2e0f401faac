// Package input reads the rows of JSONL, CSV, TSV, Parquet and plain text for package rows.
// Each format has a [Reader] in its own file. A reader gives the text of a row, and the
// other fields in the forms that outputs need.
package input

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

// Options name an input and say how to read it.
type Options struct {
	Path   string // of a file; empty means Stdin
	Stdin  io.Reader
	Format Format
	Named  bool // whether the user named the format, rather than the path
	// Encoding is that of an input other than Parquet; nil is UTF-8.
	Encoding encoding.Encoding
	// Delimiter is an ASCII character between the cells of CSV and TSV. 0 means the usual
	// one, or the one that a first line like sep=; names. Escape is as in [csv.Options].
	Delimiter, Escape byte
	// Text is the column or field with the text. If it is empty, rows have no text, and a
	// text is a field like the others.
	Text string
	// ID is the column or field with the id of a row. If MustID is set, CSV and Parquet
	// must have it.
	ID     string
	MustID bool
	Limit  int // bytes of a row of text
	// Groups are the row groups of Parquet to read; the zero value means all.
	Groups Groups
	// Measured asks for positions in Parquet, at the cost of reading all texts first.
	Measured bool
	// Option returns the name that errors use for a field of the options of package rows.
	Option func(field string) string
}

// Row is a row of an input.
type Row struct {
	Number int64 // from 1; blank lines and the header are not counted
	Text   string
	Err    error  // reason why there is no text
	Fields Fields // the rest of the row; nil if it could not be read
	Size   int    // approximate bytes in memory
	UpTo   int64  // end of the row in the input: in bytes of the content, or of the texts of Parquet

	// Undecodable says that the row has bytes which are not text in the encoding of the
	// input, and Nonfinite that it has a number which JSON lacks: NaN or an infinity.
	Undecodable, Nonfinite bool
}

// Fields are the values of a row, except its text, in the form of each kind of output.
type Fields interface {
	// JSON returns the id and an object of the other fields. Either is nil if the row lacks
	// it.
	JSON() (id, others []byte, err error)
	// Cells returns the id and one cell for each column of the reader.
	Cells() (id string, others []string, err error)
	// Values returns the value of the id, and for each leaf of the reader's columns its
	// values, which may be several or null. Their levels are set, but not their column
	// indexes.
	Values() (id parquet.Value, others [][]parquet.Value)
}

// Column is a column of an output that comes from the input.
type Column struct {
	Name string // in the output
	Node parquet.Node
}

// Reader reads the rows of one input. It serves one goroutine.
type Reader interface {
	// Next returns the next row. If one row cannot be read, its Err is set. An error ends
	// the input: io.EOF at its regular end.
	Next() (Row, error)
	// Columns returns the input columns, except text and id, for outputs with columns.
	Columns() []Column
	// IDNode returns the type of the id in Parquet.
	IDNode() parquet.Node
	// Length returns the length of the input in the unit of Row.UpTo, or 0 if it is
	// unknown.
	Length() int64
	// Digest returns the SHA-256 of the whole content in hexadecimal digits. The input must
	// be a regular file.
	Digest(ctx context.Context) (string, error)
	Close() error
}

// Skipped describes the rows that [Skip] has skipped.
type Skipped struct {
	UpTo                   int64 // end of the last skipped row, see Row
	Undecodable, Nonfinite int64 // the numbers of rows with these fields, see Row
}

// Open opens an input. A read that waits for data fails when ctx ends.
func Open(ctx context.Context, o Options) (Reader, error) {
	from := source{reader: o.Stdin, closer: io.NopCloser(nil)}
	if o.Path != "" {
		var err error
		if from, err = openFile(o.Path); err != nil {
			return nil, err
		}
	}
	from.encoded = o.Encoding
	if o.Format == Parquet {
		return openParquet(ctx, from, o)
	}
	return openText(ctx, from, o)
}

// source is the data of an input.
type source struct {
	reader io.Reader
	closer io.Closer
	// file gives random access to the data of a regular file, and bytes is its length.
	file  io.ReaderAt
	bytes int64
	// packed is the compression of a text, if it is known.
	packed compression
	// encoded is the encoding of a text; nil is UTF-8.
	encoded encoding.Encoding
	// decoded reports whether the content is decoded to UTF-8.
	decoded bool
	// size is the length of the content in bytes, or 0 if it is unknown.
	size int64
}

func openFile(path string) (source, error) {
	file, err := os.Open(path)
	if err != nil {
		return source{}, files.Cause(err)
	}
	from := source{reader: file, closer: file, packed: compressionOf(path)}
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

// IDNode is the type of an id in text inputs: a string.
func (*source) IDNode() parquet.Node { return parquet.Optional(parquet.String()) }

func (s *source) Length() int64 { return s.size }

func (s *source) Close() error { return s.closer.Close() }

// Digest hashes the content. From then on, its length is known, even if it is compressed or
// decoded.
func (s *source) Digest(ctx context.Context) (string, error) {
	in, _, err := content(io.NewSectionReader(s.file, 0, s.bytes), s.packed)
	if err != nil {
		return "", err
	}
	in, _ = decode(in, s.encoded)
	sum, size, err := hashOf(ctx, in)
	s.size = size
	return sum, err
}

// hashOf returns the SHA-256 and the length of the data of a reader.
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
func openText(ctx context.Context, from source, o Options) (r Reader, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, from.Close())
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
	if err := o.checkText(in); err != nil {
		return nil, err
	}
	lines := lineReader{in: in, limit: o.Limit}
	switch {
	case o.Format.HasCells():
		return openCSV(from, in, o)
	case o.Format == Lines:
		return &plainReader{source: from, Options: o, lines: lines}, nil
	}
	return &jsonReader{source: from, Options: o, lines: lines}, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// checkText checks the first bytes of an input, skips a byte order mark, and refuses
// content that is not rows of text. It refuses NUL in the first line only, since a text in
// CSV may have one. Files named .txt may have other formats, too.
func (o Options) checkText(in *bufio.Reader) error {
	if _, err := in.Peek(1); err != nil && err != io.EOF {
		return files.Cause(err)
	}
	start, _ := in.Peek(min(in.Buffered(), 512)) // the next bytes may come late
	for magic, what := range map[string]string{
		"\xff\xfe\x00\x00": "UTF-32 text; save it as UTF-8", "\x00\x00\xfe\xff": "UTF-32 text; save it as UTF-8",
		"PAR1": "a Parquet file; end its name in .parquet, or use " + o.Option("InputFormat") + " parquet", "PK\x03\x04": "a ZIP archive or a workbook; save it as CSV",
		"\x1f\x8b": "compressed twice; unpack it", "\x28\xb5\x2f\xfd": "compressed twice; unpack it",
		"BZh91AY&SY": "compressed with bzip2; unpack it", "\xfd7zXZ\x00": "compressed with xz; unpack it",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("it is not %s but %s", o.Format, what)
		}
	}
	if bytes.HasPrefix(start, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail after Peek
		start = start[len(byteOrderMark):]
	}
	line, complete := cutLine(start)
	if bytes.IndexByte(line, 0) >= 0 {
		return fmt.Errorf("it is not %s but a binary file: its first line contains NUL; if it is UTF-16 text, use %s utf-16le", o.Format, o.Option("InputEncoding"))
	}
	switch {
	case o.Format == Lines && !o.Named && bytes.HasPrefix(line, []byte(`{"`)) && (!complete || json.Valid(line)):
		return fmt.Errorf("its first line is a JSON object: name its format, %s jsonl, or lines if each line is a text", o.Option("InputFormat"))
	case o.Format != JSONL:
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

// Skip skips rows. Call it once, before the first row is read.
func Skip(ctx context.Context, r Reader, rows int64) (before Skipped, err error) {
	if p, ok := r.(*parquetReader); ok {
		return p.skip(ctx, rows)
	}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return Skipped{}, err
		}
		one, err := r.Next()
		if err == io.EOF {
			return Skipped{}, errTooFew(i, rows)
		}
		if err != nil {
			return Skipped{}, err
		}
		before.UpTo = one.UpTo
		if one.Undecodable {
			before.Undecodable++
		}
		if one.Nonfinite {
			before.Nonfinite++
		}
	}
	return before, nil
}

func errTooFew(rows, skipped int64) error {
	return fmt.Errorf("it has %s, but the output already has %d", plural.Count(rows, "row", "rows"), skipped)
}

// missingColumn is the error for a column that the header lacks. option is the field of the
// options that names the column.
func (o Options) missingColumn(option, name string, there []string) error {
	hint := ""
	if len(there) == 1 {
		for _, other := range []struct{ delimiter, option, value string }{{";", "Delimiter", "';'"}, {"|", "Delimiter", "'|'"}, {"\t", "Delimiter", "tab"}, {",", "InputFormat", "csv"}} {
			if strings.Contains(there[0], other.delimiter) {
				hint = fmt.Sprintf("; if %q separates the columns, use %s %s", other.delimiter, o.Option(other.option), other.value)
				break
			}
		}
	}
	if i := slices.IndexFunc(there, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		hint = fmt.Sprintf("; did you mean %s %s?", o.Option(option), there[i])
	}
	if slices.ContainsFunc(there, func(n string) bool { return !utf8.ValidString(n) }) {
		hint = fmt.Sprintf("; the names are not UTF-8: name their encoding, like %s windows-1252", o.Option("InputEncoding"))
	}
	return fmt.Errorf("there is no column %q; name another with %s; there are: %s%s", name, o.Option(option), quoted(there), hint)
}

// quoted lists names in a sentence.
func quoted(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(shown, ", ")
}

// tooLong is the error of a row over the limit, which is skipped in constant memory.
func (o Options) tooLong(where string) error {
	return fmt.Errorf("%s: the row has more than %d bytes, the limit for this %s", where, o.Limit, o.Option("MaxBytes"))
}
