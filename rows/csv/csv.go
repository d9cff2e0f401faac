// Package csv reads and writes records of CSV and TSV, by RFC 4180:
//
//	in := csv.NewReader(bufio.NewReader(file), csv.Options{Comma: ',', Limit: 1 << 20})
//	for {
//		cells, err := in.Next()
//		…
//	}
//
// encoding/csv does not serve for reading, for two reasons. It turns \r\n inside quotes
// into \n, which moves the offsets of spans. And it holds records of any length in memory,
// such as everything after a quote that is never closed.
package csv

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
)

// Options describe how records are written.
type Options struct {
	Comma byte // the delimiter of cells
	// Escape is a character that, inside quotes, makes a quote or itself after it a part of the
	// cell; 0 for none. A doubled quote is a part of the cell, too.
	Escape byte
	Limit  int // bytes of a record
}

// Reader reads records. It serves one goroutine.
type Reader struct {
	Options

	in     *bufio.Reader
	line   int64 // first line of the next record
	offset int64 // bytes read
	breaks byte  // the last byte of the first line break of the file: \n, or \r in files of the old Mac OS

	// Of the latest record:
	first  int64 // its first line
	ended  bool  // whether it ends with a line break
	quoted bool  // whether it has a quoted cell
	slash  bool  // whether a backslash is before a quote in a quoted cell

	buffer []byte
}

// NewReader returns a reader of the records of a file, which in reads from its beginning.
func NewReader(in *bufio.Reader, o Options) *Reader { return &Reader{Options: o, in: in, line: 1} }

// Offset returns the number of bytes from the beginning to the end of the latest record.
func (r *Reader) Offset() int64 { return r.offset }

// Line returns the number, from 1, of the line on which the latest record begins.
func (r *Reader) Line() int64 { return r.first }

// Ended reports whether a line break ends the latest record, rather than the end of the
// file.
func (r *Reader) Ended() bool { return r.ended }

// Backslash reports whether, in the latest record, a backslash seems to escape a quote
// although Escape is 0.
func (r *Reader) Backslash() bool { return r.slash && r.Escape == 0 }

// Content returns the content of the latest record's cells, valid until the next call. It
// ends at Limit bytes.
func (r *Reader) Content() []byte { return r.buffer }

// Next returns the cells of the next record and skips blank lines. After an [*Error], which
// concerns this record only, the next call reads on.
func (r *Reader) Next() ([]string, error) {
	for {
		cells, err := r.record()
		if err != nil || len(cells) != 1 || cells[0] != "" || r.quoted {
			return cells, err
		}
	}
}

// Error says why one record cannot be used.
type Error struct {
	Where   string // "line 3" or "lines 3 to 5"
	TooLong bool   // over the limit
	Reason  string
}

func (e *Error) Error() string { return e.Reason }

func (r *Reader) record() ([]string, error) {
	const (
		cellStart = iota
		plain
		inQuotes
		quoteInQuotes // the closing one, or the first of a pair
		spoilt        // text after a closing quote: up to the end of the line
	)
	r.first, r.ended, r.quoted, r.slash = r.line, false, false, false
	r.buffer = r.buffer[:0]
	var ends []int // ends of the cells in the buffer
	state, tooLong, wrong := cellStart, false, false
	begun, last := false, byte(0)
	add := func(b byte) {
		if tooLong = tooLong || len(r.buffer) >= r.Limit; !tooLong {
			r.buffer = append(r.buffer, b)
		}
	}
	for !r.ended {
		b, err := r.in.ReadByte()
		if err == io.EOF {
			if !begun {
				return nil, io.EOF
			}
			break
		}
		if err != nil {
			return nil, err
		}
		begun = true
		r.offset++
		if b == '\r' && state != inQuotes {
			if r.atLineBreak() {
				continue
			}
			b = r.lineBreak(b)
		}
		if b == '\n' {
			r.line++
			if state != inQuotes {
				r.breaks = cmp.Or(r.breaks, '\n')
				r.ended = true
				break
			}
		}
		switch state {
		case cellStart, plain:
			switch {
			case b == '"' && state == cellStart:
				state, r.quoted = inQuotes, true
			case b == r.Comma:
				ends, state = append(ends, len(r.buffer)), cellStart
			default:
				add(b)
				state = plain
			}
		case inQuotes:
			switch {
			case b == '"':
				state = quoteInQuotes
				r.slash = r.slash || last == '\\'
			case b == r.Escape && r.Escape != 0:
				add(r.escaped(b))
			default:
				add(b)
			}
		case quoteInQuotes:
			switch b {
			case '"':
				add(b)
				state = inQuotes
			case r.Comma:
				ends, state = append(ends, len(r.buffer)), cellStart
			default:
				state, wrong = spoilt, true
			}
		case spoilt:
		}
		last = b
		if len(ends) > maxColumns {
			tooLong = true
			ends = ends[:0]
		}
	}
	switch {
	case tooLong:
		return nil, &Error{r.where(), true, fmt.Sprintf("%s: the record has more than %d bytes", r.where(), r.Limit)}
	case wrong:
		return nil, &Error{r.where(), false, r.where() + ": text after a closing quote; a quote inside quotes must be doubled"}
	case state == inQuotes:
		return nil, &Error{r.where(), false, fmt.Sprintf("a quote is not closed from line %d to the end of the file", r.first)}
	}
	return r.cells(ends), nil
}

// where names the lines of the latest record.
func (r *Reader) where() string {
	if last := r.line - 1; r.ended && last > r.first {
		return fmt.Sprintf("lines %d to %d", r.first, last)
	}
	return fmt.Sprintf("line %d", r.first)
}

// cells returns the cells of a record. ends are the ends of all cells but the last in the
// buffer.
func (r *Reader) cells(ends []int) []string {
	cells, at := make([]string, 0, len(ends)+1), 0
	for _, end := range append(ends, len(r.buffer)) {
		cells = append(cells, string(r.buffer[at:end]))
		at = end
	}
	return cells
}

// lineBreak returns the byte as which a carriage return outside quotes counts: \r itself in a
// file whose lines end with \n, else \n.
func (r *Reader) lineBreak(b byte) byte {
	if r.breaks == '\n' {
		return b
	}
	r.breaks = '\r'
	return '\n'
}

// escaped returns the character that an escape character and the character after it stand
// for.
func (r *Reader) escaped(escape byte) byte {
	next, err := r.in.Peek(1)
	if err != nil || next[0] != '"' && next[0] != escape {
		return escape // the next one is a character of its own
	}
	character := next[0]
	_, _ = r.in.Discard(1) // cannot fail after Peek
	r.offset++
	return character
}

// maxColumns limits the memory for a record that consists of delimiters.
const maxColumns = 1 << 16

func (r *Reader) atLineBreak() bool {
	next, err := r.in.Peek(1)
	return err == io.EOF || err == nil && next[0] == '\n'
}

// Separator reads a first line like sep=;, by which Excel names the delimiter and which is
// not a record. It returns false, and reads nothing, for any other line. Call it before
// Next.
func (r *Reader) Separator() (delimiter byte, ok bool) {
	length := 0
	for ; length <= len(`"sep=\t"`); length++ {
		start, err := r.in.Peek(length + 1)
		if err != nil || start[length] == '\r' || start[length] == '\n' {
			break
		}
	}
	line, _ := r.in.Peek(length)
	found := separator.FindSubmatch(line)
	if found == nil || len(found[3]) > len(found[1]) {
		return 0, false
	}
	if delimiter = found[2][0]; delimiter == '\\' {
		delimiter = '\t'
	}
	switch rest, _ := r.in.Peek(length + 2); {
	case bytes.HasPrefix(rest[length:], []byte("\r\n")):
		length += 2
	case len(rest) > length:
		length++
	}
	_, _ = r.in.Discard(length) // cannot fail after Peek
	r.line, r.offset = 2, int64(length)
	return delimiter, true
}

var separator = regexp.MustCompile(`^(?i:("?)sep=(\\t|[\t,;|:^~#&/!])("?))$`)

// Distinct gives each column a unique name: the column's number replaces an empty name, and
// a repeated name gets a number.
func Distinct(header []string) []string {
	names := make([]string, 0, len(header))
	taken, last := map[string]bool{}, map[string]int{} // last is the latest number of a name
	for i, name := range header {
		if name == "" {
			name = fmt.Sprintf("column_%d", i+1)
		}
		free := name
		for n := max(last[name], 1) + 1; taken[free]; n++ {
			free = fmt.Sprintf("%s_%d", name, n)
			last[name] = n
		}
		taken[free] = true
		names = append(names, free)
	}
	return names
}

// Encode returns a record with a line break at its end.
func Encode(cells []string, comma byte) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = rune(comma)
	if err := w.Write(cells); err != nil {
		return nil, err
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
