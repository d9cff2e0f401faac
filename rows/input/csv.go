package input

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/rows/csv"
)

// csvReader reads CSV or TSV with a header.
type csvReader struct {
	source
	Options

	records  *csv.Reader
	names    []string // of all columns, each once
	text, at int      // columns of the text and of the id (-1 if none)
	rows     int64
}

func openCSV(from source, in *bufio.Reader, o Options) (Reader, error) {
	r := &csvReader{source: from, Options: o, records: csv.NewReader(in, csv.Options{Comma: cmp.Or(o.Delimiter, o.Format.Delimiter()), Escape: o.Escape, Limit: o.Limit})}
	if delimiter, ok := r.records.Separator(); ok && o.Delimiter == 0 && o.Format == CSV {
		r.records.Comma = delimiter
	}
	header, err := r.records.Next()
	if err == io.EOF {
		return nil, errors.New("it is empty: the first line must name the columns")
	}
	if broken, ok := errors.AsType[*csv.Error](err); ok {
		err = r.explain(broken)
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", files.Cause(err))
	}
	find := func(option, name string, must bool) (int, error) {
		if name == "" {
			return -1, nil // the text is a field like the others
		}
		i := slices.Index(header, name)
		if i < 0 && must {
			return 0, o.missingColumn(option, name, header)
		}
		if i >= 0 && slices.Contains(header[i+1:], name) {
			return 0, fmt.Errorf("two columns have the name %q", name)
		}
		return i, nil
	}
	if r.text, err = find("TextColumn", o.Text, true); err != nil {
		return nil, err
	}
	if r.at, err = find("IDColumn", o.ID, o.MustID); err != nil {
		return nil, err
	}
	r.names = csv.Distinct(header)
	return r, nil
}

// explain returns why a record cannot be used, and what to do.
func (c *csvReader) explain(broken *csv.Error) error {
	if broken.TooLong {
		return c.tooLong(broken.Where)
	}
	return fmt.Errorf("%w%s", broken, c.hint())
}

// hint says how to read a record in which a backslash may escape quotes.
func (c *csvReader) hint() string {
	if !c.records.Backslash() {
		return ""
	}
	return fmt.Sprintf(`; if a backslash escapes quotes, as in what Spark writes, use %s '\'`, c.Option("Escape"))
}

func (c *csvReader) Columns() []Column {
	var found []Column
	for i, name := range c.names {
		if i != c.text && i != c.at {
			found = append(found, Column{"input_" + name, parquet.Optional(parquet.String())})
		}
	}
	return found
}

func (c *csvReader) Next() (Row, error) {
	cells, err := c.records.Next()
	broken, ok := errors.AsType[*csv.Error](err)
	if err != nil && !ok {
		return Row{}, files.Cause(err)
	}
	c.rows++
	r := Row{Number: c.rows, UpTo: c.records.Offset(), Size: 512}
	if content := c.records.Content(); len(content) < c.Limit { // else a character may be cut
		r.Undecodable = c.undecodable(content)
	}
	switch {
	case ok:
		r.Err = c.explain(broken)
	case len(cells) != len(c.names):
		r.Err = fmt.Errorf("line %d: it has %s, the header has %d%s", c.records.Line(), plural.Count(len(cells), "cell", "cells"), len(c.names), c.hint())
	default:
		if c.text >= 0 {
			r.Text = cells[c.text]
		}
		r.Fields = &csvCells{c, cells}
		for _, cell := range cells {
			r.Size += len(cell) + 32
		}
	}
	return r, nil
}

// csvCells are the cells of a record.
type csvCells struct {
	reader *csvReader
	all    []string
}

// each calls other with every cell but text and id, and returns the cell of the id.
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

func (c *csvCells) JSON() (id, others []byte, err error) {
	name := c.each(func(name, cell string) { others = AppendField(others, name, plainjson.Append(nil, cell)) })
	if name != nil {
		id = plainjson.Append(nil, *name)
	}
	if others != nil {
		others = append(others, '}')
	}
	return id, others, nil
}

func (c *csvCells) Cells() (id string, others []string, err error) {
	if name := c.each(func(_, cell string) { others = append(others, cell) }); name != nil {
		id = *name
	}
	return id, others, nil
}

func (c *csvCells) Values() (id parquet.Value, others [][]parquet.Value) {
	value := func(cell string) parquet.Value { return parquet.ByteArrayValue([]byte(cell)).Level(0, 1, 0) }
	if name := c.each(func(_, cell string) { others = append(others, []parquet.Value{value(cell)}) }); name != nil {
		id = value(*name)
	}
	return id, others
}
