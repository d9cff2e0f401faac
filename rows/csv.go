package rows

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// csvRecords reads the records of RFC 4180. encoding/csv is not used because it
// turns \r\n inside quotes into \n, which moves the offsets of spans, and holds a
// record of any length in memory, such as everything after a quote that is never
// closed.
type csvRecords struct {
	in     *bufio.Reader
	comma  byte  // the delimiter of cells
	escape byte  // as [Options].Escape
	limit  int   // bytes of a record
	line   int64 // first line of the next record
	offset int64 // bytes read
	breaks byte  // the first line break of the file, as that of lineReader

	// Of the latest record:
	first  int64 // its first line
	ended  bool  // whether it ends with a line break
	quoted bool  // whether it has a quoted cell
	slash  bool  // whether a backslash is before a quote in a quoted cell

	buffer []byte
}

// next returns the cells of the next record that is not a blank line. An error of
// type *recordError concerns only this record.
func (c *csvRecords) next() ([]string, error) {
	if c.line == 0 {
		c.line = 1
	}
	for {
		cells, err := c.record()
		if err != nil || len(cells) != 1 || cells[0] != "" || c.quoted {
			return cells, err
		}
	}
}

// recordError is the reason why one record cannot be used.
type recordError struct{ reason error }

func (e *recordError) Error() string { return e.reason.Error() }

func (c *csvRecords) record() ([]string, error) {
	const (
		cellStart = iota
		plain
		inQuotes
		quoteInQuotes // the closing one, or the first of a pair
		spoilt        // text after a closing quote: up to the end of the line
	)
	c.first, c.ended, c.quoted, c.slash = c.line, false, false, false
	c.buffer = c.buffer[:0]
	var ends []int // ends of the cells in the buffer
	state, tooLong, wrong := cellStart, false, false
	begun, last := false, byte(0)
	add := func(b byte) {
		if tooLong = tooLong || len(c.buffer) >= c.limit; !tooLong {
			c.buffer = append(c.buffer, b)
		}
	}
	for !c.ended {
		b, err := c.in.ReadByte()
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
		c.offset++
		if b == '\r' && state != inQuotes {
			if c.atLineBreak() {
				continue
			}
			b = c.lineBreak(b)
		}
		if b == '\n' {
			c.line++
			if state != inQuotes {
				c.breaks = cmp.Or(c.breaks, '\n')
				c.ended = true
				break
			}
		}
		switch state {
		case cellStart, plain:
			switch {
			case b == '"' && state == cellStart:
				state, c.quoted = inQuotes, true
			case b == c.comma:
				ends, state = append(ends, len(c.buffer)), cellStart
			default:
				add(b)
				state = plain
			}
		case inQuotes:
			switch {
			case b == '"':
				state = quoteInQuotes
				c.slash = c.slash || last == '\\'
			case b == c.escape && c.escape != 0:
				add(c.escaped(b))
			default:
				add(b)
			}
		case quoteInQuotes:
			switch b {
			case '"':
				add(b)
				state = inQuotes
			case c.comma:
				ends, state = append(ends, len(c.buffer)), cellStart
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
		return nil, &recordError{errTooLongRow(c.where(), c.limit)}
	case wrong:
		return nil, &recordError{fmt.Errorf("%s: text after a closing quote; a quote inside quotes must be doubled%s", c.where(), c.hint())}
	case state == inQuotes:
		return nil, &recordError{fmt.Errorf("a quote is not closed from line %d to the end of the file%s", c.first, c.hint())}
	}
	return c.cells(ends), nil
}

// where names the lines of a record.
func (c *csvRecords) where() string {
	if last := c.line - 1; c.ended && last > c.first {
		return fmt.Sprintf("lines %d to %d", c.first, last)
	}
	return fmt.Sprintf("line %d", c.first)
}

// cells returns the cells of a record; ends are those of all but the last.
func (c *csvRecords) cells(ends []int) []string {
	cells, at := make([]string, 0, len(ends)+1), 0
	for _, end := range append(ends, len(c.buffer)) {
		cells = append(cells, string(c.buffer[at:end]))
		at = end
	}
	return cells
}

// lineBreak returns the line break that a carriage return is outside quotes: \r itself in a
// file whose lines end with \n.
func (c *csvRecords) lineBreak(b byte) byte {
	if c.breaks == '\n' {
		return b
	}
	c.breaks = '\r'
	return '\n'
}

// escaped returns the character that an escape character and the next one stand for.
func (c *csvRecords) escaped(escape byte) byte {
	next, err := c.in.Peek(1)
	if err != nil || next[0] != '"' && next[0] != escape {
		return escape // the next one is a character of its own
	}
	character := next[0]
	_, _ = c.in.Discard(1) // cannot fail after Peek
	c.offset++
	return character
}

// hint returns how to read a record that may escape quotes by a backslash.
func (c *csvRecords) hint() string {
	if !c.slash || c.escape != 0 {
		return ""
	}
	return `; if a backslash escapes quotes, as in what Spark writes, use --escape '\'`
}

// maxColumns limits the memory of a record that consists of delimiters.
const maxColumns = 1 << 16

func (c *csvRecords) atLineBreak() bool {
	next, err := c.in.Peek(1)
	return err == io.EOF || err == nil && next[0] == '\n'
}

// csvReader reads CSV or TSV with a header.
type csvReader struct {
	source
	records  csvRecords
	names    []string // of all columns, each once
	text, at int      // columns of the text and of the id (-1 if none)
	rows     int64
}

func openCSV(from source, in *bufio.Reader, format Format, o Options) (rowReader, error) {
	r := &csvReader{source: from, records: csvRecords{in: in, comma: o.delimiter(format), escape: o.Escape, limit: RowBytes(o.MaxBytes)}}
	if delimiter, length := separatorLine(in); length > 0 {
		r.records.line, r.records.offset = 2, int64(length)
		if o.Delimiter == 0 && format == CSV {
			r.records.comma = delimiter
		}
	}
	header, err := r.records.next()
	if err == io.EOF {
		return nil, errors.New("it is empty: the first line must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", files.Cause(err))
	}
	find := func(flag, name string, must bool) (int, error) {
		if name == "" {
			return -1, nil // [Records] has the text among the fields
		}
		i := slices.Index(header, name)
		if i < 0 && must {
			return 0, missingColumn(flag, name, header)
		}
		if i >= 0 && slices.Contains(header[i+1:], name) {
			return 0, fmt.Errorf("two columns have the name %q", name)
		}
		return i, nil
	}
	if r.text, err = find("text-column", o.TextColumn, true); err != nil {
		return nil, err
	}
	if r.at, err = find("id-column", o.idColumn(), o.IDColumn != ""); err != nil {
		return nil, err
	}
	r.names = distinct(header)
	return r, nil
}

// separatorLine reads a first line like sep=; which names the delimiter for Excel and is not
// a row. length is its number of bytes with the line break, 0 if there is no such line.
func separatorLine(in *bufio.Reader) (delimiter byte, length int) {
	const name, longest = "sep=", len(`"sep=\t"`)
	for ; length <= longest; length++ {
		start, err := in.Peek(length + 1)
		if err != nil || start[length] == '\r' || start[length] == '\n' {
			break
		}
		begin := strings.TrimPrefix(strings.ToLower(string(start)), `"`)
		if !strings.HasPrefix(name, begin[:min(len(begin), len(name))]) {
			return 0, 0
		}
	}
	line, _ := in.Peek(length)
	value := bytes.TrimPrefix(line, []byte(`"`))
	if len(value) < len(line) {
		value = bytes.TrimSuffix(value, []byte(`"`))
	}
	if value = value[min(len(name), len(value)):]; string(value) == `\t` {
		value = []byte("\t")
	}
	if len(value) != 1 || value[0] != '\t' && !strings.ContainsRune(",;|:^~#&/!", rune(value[0])) {
		return 0, 0
	}
	delimiter = value[0]
	switch rest, _ := in.Peek(length + 2); {
	case bytes.HasPrefix(rest[length:], []byte("\r\n")):
		length += 2
	case len(rest) > length:
		length++
	}
	_, _ = in.Discard(length) // cannot fail after Peek
	return delimiter, length
}

// distinct gives each column a unique name: an empty name is replaced by the
// column's number, and a repeated name gets a number.
func distinct(header []string) []string {
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

func (c *csvReader) columns() []column {
	var found []column
	for i, name := range c.names {
		if i != c.text && i != c.at {
			found = append(found, column{"input_" + name, parquet.Optional(parquet.String())})
		}
	}
	return found
}

func (c *csvReader) idNode() parquet.Node { return parquet.Optional(parquet.String()) }

func (c *csvReader) skip(ctx context.Context, rows int64) (skipped, error) {
	return skipRows(ctx, c, rows)
}

func (c *csvReader) next() (row, error) {
	cells, err := c.records.next()
	broken, ok := errors.AsType[*recordError](err)
	if err != nil && !ok {
		return row{}, files.Cause(err)
	}
	c.rows++
	r := row{number: c.rows, upTo: c.records.offset, size: 512}
	if len(c.records.buffer) < c.records.limit { // else a character may be cut
		r.undecodable = c.undecodable(c.records.buffer)
	}
	switch {
	case ok:
		r.err = broken
	case len(cells) != len(c.names):
		r.err = fmt.Errorf("line %d: it has %s, the header has %d%s", c.records.first, plural.Count(len(cells), "cell", "cells"), len(c.names), c.records.hint())
	default:
		if c.text >= 0 {
			r.text = cells[c.text]
		}
		r.fields = &csvCells{c, cells}
		for _, cell := range cells {
			r.size += len(cell) + 32
		}
	}
	return r, nil
}

// csvCells are the fields of a record.
type csvCells struct {
	reader *csvReader
	all    []string
}

// each calls other with each cell except text and id, and returns the id's cell.
func (c *csvCells) each(other func(name, cell string)) (id *string) {
	for i, cell := range c.all {
		switch i {
		case c.reader.text:
		case c.reader.at:
			id = &cell
		default:
			other(c.reader.names[i], cell)
		}
	}
	return id
}

func (c *csvCells) json() (id, others []byte, err error) {
	name := c.each(func(name, cell string) { others = appendField(others, name, plainjson.Append(nil, cell)) })
	if name != nil {
		id = plainjson.Append(nil, *name)
	}
	if others != nil {
		others = append(others, '}')
	}
	return id, others, nil
}

func (c *csvCells) cells() (id string, others []string, err error) {
	if name := c.each(func(_, cell string) { others = append(others, cell) }); name != nil {
		id = *name
	}
	return id, others, nil
}

func (c *csvCells) values() (id parquet.Value, others [][]parquet.Value) {
	value := func(cell string) parquet.Value { return parquet.ByteArrayValue([]byte(cell)).Level(0, 1, 0) }
	if name := c.each(func(_, cell string) { others = append(others, []parquet.Value{value(cell)}) }); name != nil {
		id = value(*name)
	}
	return id, others
}

// encodeRecord returns a record with a line break.
func encodeRecord(cells []string, comma byte) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = rune(comma)
	if err := w.Write(cells); err != nil {
		return nil, err
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
