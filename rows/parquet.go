package rows

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// group is a group of columns in a fixed order; [parquet.Group] sorts them by name.
type group struct {
	parquet.Group
	fields []parquet.Field
}

// Fields returns the columns in their order.
func (g group) Fields() []parquet.Field { return g.fields }

func ordered(columns []column) group {
	byName := parquet.Group{}
	for _, c := range columns {
		byName[c.name] = c.node
	}
	fields := map[string]parquet.Field{}
	for _, f := range byName.Fields() {
		fields[f.Name()] = f
	}
	g := group{Group: byName}
	for _, c := range columns {
		g.fields = append(g.fields, fields[c.name])
	}
	return g
}

// copied is a column of an input as a column of an output.
type copied struct {
	parquet.Field

	shape *shape
}

// Fields implements [parquet.Node].
func (c copied) Fields() []parquet.Field {
	fields := slices.Clone(c.Field.Fields())
	for i, f := range fields {
		fields[i] = copied{f, &c.shape.fields[i]}
	}
	return fields
}

// Encoding implements [parquet.Node]. The library can take the encoding of the
// levels, RLE, for that of the values, which only booleans can have.
func (c copied) Encoding() encoding.Encoding {
	if e := c.Field.Encoding(); e != nil && e.Encoding() != format.RLE && !c.shape.half {
		return e
	}
	return nil
}

// Compression implements [parquet.Node]: it is that of the output.
func (copied) Compression() compress.Codec { return nil }

// Type implements [parquet.Node]. The library cannot write FLOAT16.
func (c copied) Type() parquet.Type {
	if c.shape.half {
		return parquet.FloatType
	}
	return c.Field.Type()
}

// damaged turns a panic of the Parquet library into an error. Some broken files
// cause panics.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// parquetReader reads the rows of a Parquet file.
type parquetReader struct {
	source
	schema *parquet.Schema
	groups []parquet.RowGroup // not read yet
	before int64              // rows before the groups
	total  int64              // rows of the groups
	rows   parquet.Rows       // of the current group, nil between groups
	buffer []parquet.Row
	ready  []parquet.Row // read, not returned
	number int64
	read   int64 // bytes of the texts of all rows up to number
	texts  int64 // bytes of all texts, 0 if unknown

	parts    []part       // the top-level columns
	halves   map[int]bool // the leaves of type FLOAT16
	text, at int          // parts with the text and the id (-1 if none)
	leaves   int
	measured bool // whether the position in the input is wanted
}

// part is a top-level column and its leaves.
type part struct {
	shape

	first int // its first leaf
}

func openParquet(ctx context.Context, from source, o Options) (_ rowReader, err error) {
	if from.file == nil {
		if from, err = spool(ctx, from, spoolBytes); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, from.close())
		}
	}()
	defer damaged(&err)
	if err := checkFooter(from.file, from.bytes); err != nil {
		return nil, fmt.Errorf("it is not a complete Parquet file: %w", err)
	}
	opened, err := parquet.OpenFile(from.file, from.bytes)
	if err != nil {
		return nil, fmt.Errorf("it is not a complete Parquet file: %w", err)
	}
	r := &parquetReader{
		source: from, schema: opened.Schema(), groups: opened.RowGroups(), total: opened.NumRows(),
		buffer: make([]parquet.Row, 64), text: -1, at: -1, measured: o.Progress != nil, halves: halfFloats(opened.Metadata()),
	}
	if g := o.groups; g != (groups{}) {
		r.groups, r.before, r.total = r.groups[g.from:g.to], g.before, 0
		for _, group := range r.groups {
			r.total += group.NumRows()
		}
	}
	r.number = r.before
	// A group without rows has no pages either, which the library cannot read.
	r.groups = slices.DeleteFunc(slices.Clone(r.groups), func(g parquet.RowGroup) bool { return g.NumRows() == 0 })
	var names []string
	for i, f := range r.schema.Fields() {
		names = append(names, f.Name())
		column := part{shape: shapeOf(f, r.halves, r.leaves), first: r.leaves}
		r.leaves += column.leaves
		r.parts = append(r.parts, column)
		switch f.Name() {
		case o.TextColumn:
			r.text = i
			if !f.Leaf() || f.Repeated() || f.Type().Kind() != parquet.ByteArray && !onlyNulls(opened.Metadata(), f.Type(), column.first) {
				return nil, fmt.Errorf("column %q must contain strings, but it is %s", o.TextColumn, f)
			}
		case o.idColumn():
			r.at = i
			if !f.Leaf() || f.Repeated() {
				return nil, fmt.Errorf("column %q cannot be an id: it is %s", o.idColumn(), f)
			}
		}
	}
	if r.text < 0 && o.TextColumn != "" {
		return nil, missingColumn("text-column", o.TextColumn, names)
	}
	if r.at < 0 && o.IDColumn != "" {
		return nil, missingColumn("id-column", o.IDColumn, names)
	}
	return r, nil
}

// onlyNulls reports whether a leaf has no value. pandas gives a column without any string
// the type NULL, or double.
func onlyNulls(file *format.FileMetaData, t parquet.Type, leaf int) bool {
	if l := t.LogicalType(); l != nil {
		if _, null := l.Value.(*format.NullType); null {
			return true
		}
	}
	for _, g := range file.RowGroups {
		// A column without statistics has none of its nulls counted.
		if column := g.Columns[leaf].MetaData; column.Statistics.NullCount < column.NumValues {
			return false
		}
	}
	return true
}

// spoolBytes is the limit of a Parquet input that is not a regular file.
const spoolBytes = 8 << 30

// spool copies Parquet from a pipe to a temporary file: it is read from its end. The
// file has no name while it is read, where the system allows that, so that it never
// outlives the process.
func spool(ctx context.Context, pipe source, limit int64) (source, error) {
	defer pipe.close() // nothing is written to it
	in := bufio.NewReader(files.Interruptible(ctx, pipe.reader))
	if !begins(in, "PAR1") {
		if _, err := in.Peek(1); err != nil && err != io.EOF {
			return source{}, files.Cause(err)
		}
		return source{}, errors.New("it is not a complete Parquet file: it does not begin with PAR1")
	}
	file, err := os.CreateTemp("", "toxscreen-*.parquet")
	if err != nil {
		return source{}, fmt.Errorf("failed to create a temporary file: %w; set TMPDIR to another folder, or read a regular file", err)
	}
	spooled := temporary{file, os.Remove(file.Name()) == nil}
	n, err := io.Copy(file, io.LimitReader(in, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it has more than %d bytes, the limit for Parquet from a pipe; copy it to a file and read that", limit)
	} else if failed, ok := errors.AsType[*os.PathError](err); ok && failed.Op == "write" {
		err = fmt.Errorf("failed to copy it to a temporary file: %w; set TMPDIR to a folder with more room, or read a regular file", err)
	}
	if err != nil {
		return source{}, errors.Join(err, spooled.Close())
	}
	return source{closer: spooled, file: file, bytes: n}, nil
}

// temporary is a file that is removed when it is closed, or before.
type temporary struct {
	*os.File

	removed bool
}

// Close implements [io.Closer].
func (t temporary) Close() error {
	err := t.File.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

// checkFooter refuses a file that is smaller than the footer length in its last
// bytes: the library would allocate that memory first, up to 4 GiB. The library
// itself reports all other errors.
func checkFooter(file io.ReaderAt, size int64) error {
	const around = 12 // bytes: the magic number at both ends and the length of the footer
	var end [8]byte
	if size < around {
		return nil
	}
	if _, err := file.ReadAt(end[:], size-int64(len(end))); err != nil {
		return files.Cause(err)
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-around && bytes.HasPrefix(end[4:], []byte("PAR")) {
		return fmt.Errorf("its footer should have %d bytes, but the file has %d", length, size)
	}
	return nil
}

func (p *parquetReader) columns() []column {
	var others []column
	for i, f := range p.schema.Fields() {
		if i != p.text && i != p.at {
			others = append(others, column{"input_" + f.Name(), copied{f, &p.parts[i].shape}})
		}
	}
	return others
}

func (p *parquetReader) idNode() parquet.Node {
	if p.at < 0 {
		return parquet.Optional(parquet.String())
	}
	return copied{p.schema.Fields()[p.at], &p.parts[p.at].shape}
}

func (p *parquetReader) length() int64 { return p.texts }

func (p *parquetReader) close() error {
	var err error
	if p.rows != nil {
		err = p.rows.Close()
	}
	return errors.Join(err, p.source.close())
}

func (p *parquetReader) skip(ctx context.Context, rows int64) (_ skipped, err error) {
	defer damaged(&err)
	if rows > p.total {
		return skipped{}, fmt.Errorf("it has %s, but the output already has %d", plural.Count(p.total, "row", "rows"), rows)
	}
	if p.measured {
		if err := p.measure(ctx, rows); err != nil {
			return skipped{}, err
		}
	}
	p.number = p.before + rows
	for rows > 0 {
		n := p.groups[0].NumRows()
		if n > rows {
			p.rows = p.groups[0].Rows()
			p.groups = p.groups[1:]
			return skipped{upTo: p.read}, p.rows.SeekToRow(rows)
		}
		p.groups = p.groups[1:]
		rows -= n
	}
	return skipped{upTo: p.read}, nil
}

// measure adds up the lengths of all texts, and of those in the rows to skip. The
// remaining time depends on the texts: a row can have a word or a book. It reads one
// column, which takes seconds where scoring takes days.
func (p *parquetReader) measure(ctx context.Context, skipped int64) error {
	buffer := make([]parquet.Value, 64)
	rows := int64(0)
	for _, group := range p.groups {
		pages := group.ColumnChunks()[p.parts[p.text].first].Pages()
		for {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, pages.Close())
			}
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err != nil {
				return errors.Join(err, pages.Close())
			}
			values := page.Values()
			for ended := false; !ended; {
				n, err := values.ReadValues(buffer)
				if ended = err == io.EOF; err != nil && !ended {
					return errors.Join(err, pages.Close())
				}
				for _, v := range buffer[:n] {
					length := int64(len(v.ByteArray()))
					if p.texts += length; rows < skipped {
						p.read += length
					}
					rows++
				}
			}
			parquet.Release(page)
		}
		if err := pages.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetReader) next() (_ row, err error) {
	defer damaged(&err)
	for len(p.ready) == 0 {
		if p.rows == nil {
			if len(p.groups) == 0 {
				if p.number-p.before != p.total {
					return row{}, fmt.Errorf("the file is damaged: it has %s instead of %d", plural.Count(p.number-p.before, "row", "rows"), p.total)
				}
				return row{}, io.EOF
			}
			p.rows = p.groups[0].Rows()
			p.groups = p.groups[1:]
		}
		n, err := p.rows.ReadRows(p.buffer)
		p.ready = p.buffer[:n]
		if err == io.EOF {
			err = p.rows.Close()
			p.rows = nil
		}
		if err != nil {
			return row{}, err
		}
	}
	values := p.ready[0].Clone() // the buffer is reused
	p.ready = p.ready[1:]
	p.number++
	in := &parquetFields{p, values, make([][]parquet.Value, p.leaves)}
	values.Range(func(leaf int, of []parquet.Value) bool {
		in.leaves[leaf] = of
		return true
	})
	if slices.ContainsFunc(in.leaves, func(of []parquet.Value) bool { return len(of) == 0 }) {
		return row{}, fmt.Errorf("the file is damaged: row %d lacks a column", p.number)
	}
	r := row{number: p.number, fields: in, size: 512}
	for _, v := range values {
		r.size += 32
		if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
			r.size += len(v.ByteArray())
		}
	}
	if p.text >= 0 { // else [Records] has the text among the fields
		if text := in.leaves[p.parts[p.text].first][0]; text.IsNull() {
			r.err = errors.New("the text is null")
		} else {
			r.text = string(text.ByteArray())
		}
	}
	p.read += int64(len(r.text))
	r.upTo = p.read
	return r, nil
}

// parquetFields are the fields of a row.
type parquetFields struct {
	reader *parquetReader
	row    parquet.Row
	leaves [][]parquet.Value // the values of each leaf
}

// each calls other with each column except text and id, and returns the id. A nil
// scalar is null.
func (p *parquetFields) each(other func(name string, value *scalar)) (id *scalar, err error) {
	defer damaged(&err)
	for i, part := range p.reader.parts {
		if i == p.reader.text {
			continue
		}
		value := part.value(p.leaves[part.first:part.first+part.leaves], 0, 0)
		if i == p.reader.at {
			id = value
		} else {
			other(part.name, value)
		}
	}
	return id, nil
}

func (p *parquetFields) json() (id, others []byte, err error) {
	name, err := p.each(func(name string, value *scalar) { others = appendField(others, name, value.json(nil)) })
	if err != nil {
		return nil, nil, err
	}
	if name != nil {
		if id = name.json(nil); typeOf(id) != aString && typeOf(id) != aNumber {
			id = plainjson.Append(nil, name.text)
		}
	}
	if others != nil {
		others = append(others, '}')
	}
	return id, others, nil
}

func (p *parquetFields) cells() (id string, others []string, err error) {
	name, err := p.each(func(_ string, value *scalar) { others = append(others, value.cell()) })
	return name.cell(), others, err
}

func (p *parquetFields) values() (id parquet.Value, others [][]parquet.Value) {
	for i, part := range p.reader.parts {
		if i == p.reader.text {
			continue
		}
		for leaf, values := range p.leaves[part.first : part.first+part.leaves] {
			if p.reader.halves[part.first+leaf] {
				values = floats(values)
			}
			if i == p.reader.at {
				id = values[0]
			} else {
				others = append(others, values)
			}
		}
	}
	return id, others
}
