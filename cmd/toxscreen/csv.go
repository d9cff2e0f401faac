package main

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
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
)

// csvRecords reads the records of RFC 4180. encoding/csv would do, but it
// turns \r\n inside quotes into \n, which moves the offsets of spans, and
// holds a record of any length in memory, such as all that follows a quote
// that is never closed.
type csvRecords struct {
	in     *bufio.Reader
	limit  int   // bytes of a record
	line   int64 // that the next record begins in
	offset int64 // bytes read

	// Of the record read last:
	first  int64 // the line that it begins in
	ended  bool  // whether it has its line break
	quoted bool  // whether it has a quoted cell

	buffer []byte
}

// next returns the cells of the next record that is not a blank line. An
// error of type *recordError is this record's alone.
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

// recordError is why one record cannot be used.
type recordError struct{ reason error }

func (e *recordError) Error() string { return e.reason.Error() }

func (c *csvRecords) record() ([]string, error) {
	const (
		cellStart = iota
		plain
		inQuotes
		quoteInQuotes // the closing one, or the first of a pair
		spoilt        // text behind a closing quote: up to the end of the line
	)
	c.first, c.ended, c.quoted = c.line, false, false
	c.buffer = c.buffer[:0]
	var ends []int // of the cells, in the buffer
	state, tooLong, wrong := cellStart, false, false
	begun := false
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
		if b == '\n' {
			c.line++
			if state != inQuotes {
				c.ended = true
				break
			}
		}
		switch state {
		case cellStart, plain:
			switch {
			case b == '"' && state == cellStart:
				state, c.quoted = inQuotes, true
			case b == ',':
				ends, state = append(ends, len(c.buffer)), cellStart
			case b == '\r' && c.atLineBreak():
			default:
				add(b)
				state = plain
			}
		case inQuotes:
			if b == '"' {
				state = quoteInQuotes
			} else {
				add(b)
			}
		case quoteInQuotes:
			switch {
			case b == '"':
				add(b)
				state = inQuotes
			case b == ',':
				ends, state = append(ends, len(c.buffer)), cellStart
			case b == '\r' && c.atLineBreak():
			default:
				state, wrong = spoilt, true
			}
		case spoilt:
		}
		if len(ends) > maxColumns {
			tooLong = true
			ends = ends[:0]
		}
	}
	where := fmt.Sprintf("line %d", c.first)
	if last := c.line - 1; c.ended && last > c.first {
		where = fmt.Sprintf("lines %d to %d", c.first, last)
	}
	switch {
	case tooLong:
		return nil, &recordError{errTooLongRow(where, c.limit)}
	case wrong:
		return nil, &recordError{fmt.Errorf("%s: there is text behind a closing quote; a quote inside quotes is doubled", where)}
	case state == inQuotes:
		return nil, &recordError{fmt.Errorf("a quote is not closed from line %d to the end of the file", c.first)}
	}
	cells, at := make([]string, 0, len(ends)+1), 0
	for _, end := range append(ends, len(c.buffer)) {
		cells = append(cells, string(c.buffer[at:end]))
		at = end
	}
	return cells, nil
}

// maxColumns bounds what a record of nothing but commas holds in memory.
const maxColumns = 1 << 16

func (c *csvRecords) atLineBreak() bool {
	next, err := c.in.Peek(1)
	return err == io.EOF || err == nil && next[0] == '\n'
}

// csvReader reads CSV with a header.
type csvReader struct {
	source   *countingSource
	records  csvRecords
	names    []string // of all columns, each once
	text, at int      // columns of the text and, unless -1, of the id
	rows     int64
}

func openCSV(source *countingSource, in *bufio.Reader, o inputOptions) (*csvReader, error) {
	r := &csvReader{source: source, records: csvRecords{in: in, limit: o.maxRow}}
	header, err := r.records.next()
	if err == io.EOF {
		return nil, errors.New("it is empty: the first line must name the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", cause(err))
	}
	find := func(flag, name string, must bool) (int, error) {
		i := slices.Index(header, name)
		if i < 0 && must {
			return 0, missingColumn(flag, name, header)
		}
		if i >= 0 && slices.Contains(header[i+1:], name) {
			return 0, fmt.Errorf("there are two columns %q", name)
		}
		return i, nil
	}
	if r.text, err = find("text-column", o.text, true); err != nil {
		return nil, err
	}
	if r.at, err = find("id-column", o.id, o.idGiven); err != nil {
		return nil, err
	}
	r.names = distinct(header)
	return r, nil
}

// distinct gives each column a name of its own: an empty one is called after
// its place, and one that is there already gets a number.
func distinct(header []string) []string {
	names := make([]string, 0, len(header))
	for i, name := range header {
		if name == "" {
			name = fmt.Sprintf("column_%d", i+1)
		}
		free := name
		for n := 2; slices.Contains(names, free); n++ {
			free = fmt.Sprintf("%s_%d", name, n)
		}
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

func (c *csvReader) id() parquet.Node { return parquet.Optional(parquet.String()) }
func (c *csvReader) length() int64    { return c.source.length }
func (c *csvReader) close() error     { return c.source.closer.Close() }

func (c *csvReader) skip(ctx context.Context, rows int64) (int64, error) {
	return skipRows(ctx, c, rows)
}

func (c *csvReader) next() (row, error) {
	cells, err := c.records.next()
	broken, ok := errors.AsType[*recordError](err)
	if err != nil && !ok {
		return row{}, cause(err)
	}
	c.rows++
	r := row{number: c.rows, upTo: c.records.offset, size: 512}
	switch {
	case ok:
		r.err = broken
	case len(cells) != len(c.names):
		r.err = fmt.Errorf("line %d: it has %d cells, the header has %d", c.records.first, len(cells), len(c.names))
	default:
		r.text = cells[c.text]
		r.fields = &csvCells{c, cells}
		for _, cell := range cells {
			r.size += len(cell) + 32
		}
	}
	return r, nil
}

// csvCells is a record.
type csvCells struct {
	reader *csvReader
	all    []string
}

func (c *csvCells) json() (id, rest []byte, err error) {
	for i, cell := range c.all {
		switch i {
		case c.reader.text:
		case c.reader.at:
			id = appendJSON(nil, cell)
		default:
			if rest == nil {
				rest = append(rest, '{')
			} else {
				rest = append(rest, ',')
			}
			rest = appendJSON(rest, c.reader.names[i])
			rest = append(rest, ':')
			rest = appendJSON(rest, cell)
		}
	}
	if rest != nil {
		rest = append(rest, '}')
	}
	return id, rest, nil
}

func (c *csvCells) cells() (id string, rest []string, err error) {
	for i, cell := range c.all {
		switch i {
		case c.reader.text:
		case c.reader.at:
			id = cell
		default:
			rest = append(rest, cell)
		}
	}
	return id, rest, nil
}

func (c *csvCells) values() (id parquet.Value, rest [][]parquet.Value) {
	for i, cell := range c.all {
		value := parquet.ByteArrayValue([]byte(cell)).Level(0, 1, 0)
		switch i {
		case c.reader.text:
		case c.reader.at:
			id = value
		default:
			rest = append(rest, []parquet.Value{value})
		}
	}
	return id, rest
}

// layout says which columns an output as CSV or Parquet has before those of the
// input.
type layout struct {
	keepText bool // that of the text
	judged   bool // those of the judge, where one may be asked
}

func (l layout) columns() []string {
	names := []string{"row", "id"}
	if l.keepText {
		names = append(names, "text")
	}
	names = append(names, "score", "flagged", "severity")
	for _, a := range toxscreen.Attributes() {
		names = append(names, a.String())
	}
	names = append(names, "spans", "warnings", "error")
	if l.judged {
		names = append(names, "judge_score")
		for _, a := range toxscreen.Attributes() {
			names = append(names, "judge_"+a.String())
		}
		names = append(names, "not_judged", "judge")
	}
	return names
}

// csvHeader returns the header of the output.
func csvHeader(in []column, l layout) []string {
	names := l.columns()
	for _, c := range in {
		names = append(names, c.name)
	}
	return names
}

// csvLine returns the record of a row. What was not measured is an empty cell.
func csvLine(o toxscreen.Outcome[row], width int, l layout) ([]byte, error) {
	cells := make([]string, 0, width)
	var rest []string
	id := ""
	if o.Row.fields != nil {
		var err error
		if id, rest, err = o.Row.fields.cells(); err != nil {
			return nil, err
		}
	}
	cells = append(cells, strconv.FormatInt(o.Row.number, 10), id)
	if l.keepText {
		cells = append(cells, o.Row.text)
	}
	if o.Err != nil {
		for range 3 + len(toxscreen.Attributes()) + 2 {
			cells = append(cells, "")
		}
		cells = append(cells, o.Err.Error())
		for len(cells) < len(l.columns()) {
			cells = append(cells, "")
		}
	} else {
		r := o.Result
		cells = append(cells, number(r.Score), strconv.FormatBool(r.Flagged), string(r.Severity))
		for _, a := range toxscreen.Attributes() {
			if m, ok := r.Attributes[a]; ok {
				cells = append(cells, number(m.Score))
			} else {
				cells = append(cells, "")
			}
		}
		spans, warnings, err := lists(r)
		if err != nil {
			return nil, err
		}
		cells = append(cells, string(spans), string(warnings), "")
		if l.judged {
			cells = append(cells, judgeCells(r)...)
		}
	}
	cells = append(cells, rest...)
	for len(cells) < width {
		cells = append(cells, "")
	}
	return encodeRecord(cells)
}

func judgeCells(r toxscreen.Result) []string {
	orEmpty := func(p *toxscreen.Probability) string {
		if p == nil {
			return ""
		}
		return number(*p)
	}
	score, why := judgeScore(r.Judge)
	cells := []string{orEmpty(score)}
	for _, a := range toxscreen.Attributes() {
		cells = append(cells, orEmpty(r.Attributes[a].Judge))
	}
	return append(cells, why, string(appendJSON(nil, r.Judge)))
}

// judgeScore returns the score of a verdict, nil where there is none, and why
// the text was not judged, empty where it was.
func judgeScore(j toxscreen.JudgeReport) (score *toxscreen.Probability, why string) {
	if len(j.Verdicts) == 0 {
		return nil, cmp.Or(j.Error, j.Why)
	}
	v := j.Verdicts[0]
	if v.Score == nil && len(v.Addressed) > 0 {
		return nil, "the text speaks to whoever judges it, and was found harmless: that counts for nothing"
	}
	return v.Score, ""
}

func number(p toxscreen.Probability) string {
	return strconv.FormatFloat(p.Rounded(), 'f', -1, 64)
}

// lists returns the spans and warnings of a result as JSON; no spans at all
// where the model cannot tell.
func lists(r toxscreen.Result) (spans, warnings []byte, err error) {
	if r.Spans != nil {
		if spans, err = encodeJSON(r.Spans); err != nil {
			return nil, nil, err
		}
	}
	return spans, appendJSON(nil, r.Warnings), nil
}

func encodeRecord(cells []string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(cells); err != nil {
		return nil, err
	}
	w.Flush()
	return b.Bytes(), w.Error()
}
