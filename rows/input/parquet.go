package input

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

// copied is a column of an input as it is copied to an output.
type copied struct{ parquet.Field }

func (c copied) Fields() []parquet.Field {
	fields := slices.Clone(c.Field.Fields())
	for i, f := range fields {
		fields[i] = copied{f}
	}
	return fields
}

// Encoding implements [parquet.Node]. The library can mistake the encoding of the levels,
// RLE, for the encoding of the values, but RLE can only encode booleans.
func (c copied) Encoding() encoding.Encoding {
	if e := c.Field.Encoding(); e != nil && e.Encoding() != format.RLE {
		return e
	}
	return nil
}

// Compression implements [parquet.Node]: the output chooses the compression.
func (copied) Compression() compress.Codec { return nil }

// Damaged turns a panic of the Parquet library into an error, since some broken files make
// it panic. Use it with defer.
func Damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// parquetReader reads the rows of a Parquet file.
type parquetReader struct {
	source
	Options

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

	parts    []part // the top-level columns
	text, at int    // parts with the text and the id (-1 if none)
	leaves   int
}

// part is a top-level column and its leaves.
type part struct {
	shape

	first int // its first leaf
}

func openParquet(ctx context.Context, from source, o Options) (_ Reader, err error) {
	if from.file == nil {
		if from, err = spool(ctx, from, spoolBytes); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, from.Close())
		}
	}()
	defer Damaged(&err)
	opened, err := open(from.file, from.bytes)
	if err != nil {
		return nil, err
	}
	if err := readable(opened); err != nil {
		return nil, err
	}
	r := &parquetReader{
		source: from, Options: o, schema: opened.Schema(), groups: opened.RowGroups(), total: opened.NumRows(),
		buffer: make([]parquet.Row, 64), text: -1, at: -1,
	}
	if g := o.Groups; g != (Groups{}) {
		r.groups, r.before, r.total = r.groups[g.From:g.To], g.Before, 0
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
		column := part{shape: shapeOf(f), first: r.leaves}
		r.leaves += column.leaves
		r.parts = append(r.parts, column)
		switch f.Name() {
		case o.Text:
			r.text = i
			if !f.Leaf() || f.Repeated() || f.Type().Kind() != parquet.ByteArray && !onlyNulls(opened.Metadata(), f.Type(), column.first) {
				return nil, fmt.Errorf("column %q must contain strings, but it is %s", o.Text, f)
			}
		case o.ID:
			r.at = i
			if !f.Leaf() || f.Repeated() {
				return nil, fmt.Errorf("column %q cannot be an id: it is %s", o.ID, f)
			}
		}
	}
	if r.text < 0 && o.Text != "" {
		return nil, o.missingColumn("TextColumn", o.Text, names)
	}
	if r.at < 0 && o.MustID {
		return nil, o.missingColumn("IDColumn", o.ID, names)
	}
	return r, nil
}

// onlyNulls reports whether a leaf has no value but null. pandas gives such a column the
// type NULL, or double.
func onlyNulls(file *format.FileMetaData, t parquet.Type, leaf int) bool {
	if l := t.LogicalType(); l != nil {
		if _, null := l.Value.(*format.NullType); null {
			return true
		}
	}
	for _, g := range file.RowGroups {
		// The NullCount of a column without statistics is 0.
		if column := g.Columns[leaf].MetaData; column.Statistics.NullCount < column.NumValues {
			return false
		}
	}
	return true
}

// spoolBytes is the highest length, in bytes, of a Parquet input that is not a regular
// file.
const spoolBytes = 8 << 30

// spool copies Parquet from a pipe to a temporary file, since Parquet is read from its end.
// Where the system allows it, the file loses its name at once, so that it never outlives
// the process.
func spool(ctx context.Context, pipe source, limit int64) (source, error) {
	defer pipe.Close() // nothing is written to it
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

// temporary is a file that is removed at once, or when it is closed.
type temporary struct {
	*os.File

	removed bool
}

func (t temporary) Close() error {
	err := t.File.Close()
	if !t.removed {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

// open opens a Parquet file.
func open(file io.ReaderAt, size int64, o ...parquet.FileOption) (*parquet.File, error) {
	err := checkFooter(file, size)
	var opened *parquet.File
	if err == nil {
		opened, err = parquet.OpenFile(file, size, o...)
	}
	if err != nil {
		return nil, fmt.Errorf("it is not a complete Parquet file: %w", err)
	}
	return opened, nil
}

// Groups are the row groups From..To of an input in Parquet, To excluded.
type Groups struct {
	From, To int
	Before   int64 // rows before them
}

// RowGroup is the size of a row group.
type RowGroup struct{ Rows, Bytes int64 }

// RowGroups returns the sizes of all row groups of a Parquet file.
func RowGroups(file *os.File) (all []RowGroup, err error) {
	defer Damaged(&err)
	info, err := file.Stat()
	if err != nil {
		return nil, files.Cause(err)
	}
	opened, err := open(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	for _, g := range opened.Metadata().RowGroups {
		all = append(all, RowGroup{g.NumRows, max(g.TotalByteSize, 0)})
	}
	return all, nil
}

// checkFooter refuses a file that is shorter than the footer length in its last bytes
// claims: the library would first allocate that much memory, up to 4 GiB. The library
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

func (p *parquetReader) Columns() []Column {
	var others []Column
	for i, f := range p.schema.Fields() {
		if i != p.text && i != p.at {
			others = append(others, Column{"input_" + f.Name(), copied{f}})
		}
	}
	return others
}

func (p *parquetReader) IDNode() parquet.Node {
	if p.at < 0 {
		return parquet.Optional(parquet.String())
	}
	return copied{p.schema.Fields()[p.at]}
}

func (p *parquetReader) Length() int64 { return p.texts }

func (p *parquetReader) Close() error {
	var err error
	if p.rows != nil {
		err = p.rows.Close()
	}
	return errors.Join(err, p.source.Close())
}

func (p *parquetReader) skip(ctx context.Context, rows int64) (_ Skipped, err error) {
	defer Damaged(&err)
	if rows > p.total {
		return Skipped{}, errTooFew(p.total, rows)
	}
	if p.Measured {
		if err := p.measure(ctx, rows); err != nil {
			return Skipped{}, err
		}
	}
	p.number = p.before + rows
	for rows > 0 {
		n := p.groups[0].NumRows()
		if n > rows {
			p.rows = p.groups[0].Rows()
			p.groups = p.groups[1:]
			return Skipped{UpTo: p.read}, p.rows.SeekToRow(rows)
		}
		p.groups = p.groups[1:]
		rows -= n
	}
	return Skipped{UpTo: p.read}, nil
}

// measure adds up the lengths of all texts, and of the texts in the rows to skip. The
// remaining time depends on them: a text can be a word or a book. It reads one column,
// which takes seconds where scoring takes days.
func (p *parquetReader) measure(ctx context.Context, skipped int64) error {
	buffer := make([]parquet.Value, 64)
	rows := int64(0)
	for _, group := range p.groups {
		texts := parquet.NewColumnChunkValueReader(group.ColumnChunks()[p.parts[p.text].first])
		for ended := false; !ended; {
			n, err := texts.ReadValues(buffer)
			if ended = err == io.EOF; ended || err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return errors.Join(err, texts.Close())
			}
			for _, v := range buffer[:n] {
				length := int64(len(v.ByteArray()))
				if p.texts += length; rows < skipped {
					p.read += length
				}
				rows++
			}
		}
		if err := texts.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetReader) Next() (_ Row, err error) {
	defer Damaged(&err)
	for len(p.ready) == 0 {
		if p.rows == nil {
			if len(p.groups) == 0 {
				if p.number-p.before != p.total {
					return Row{}, fmt.Errorf("the file is damaged: it has %s instead of %d", plural.Count(p.number-p.before, "row", "rows"), p.total)
				}
				return Row{}, io.EOF
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
			return Row{}, err
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
		return Row{}, fmt.Errorf("the file is damaged: row %d lacks a column", p.number)
	}
	r := Row{Number: p.number, Fields: in, Size: 512}
	for _, v := range values {
		r.Size += 32
		if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
			r.Size += len(v.ByteArray())
		}
	}
	if p.text >= 0 {
		if text := in.leaves[p.parts[p.text].first][0]; text.IsNull() {
			r.Err = errors.New("the text is null")
		} else {
			r.Text = string(text.ByteArray())
		}
	}
	p.read += int64(len(r.Text))
	r.UpTo = p.read
	return r, nil
}

// parquetFields are the fields of a row.
type parquetFields struct {
	reader *parquetReader
	row    parquet.Row
	leaves [][]parquet.Value // the values of each leaf
}

// each calls other with every column but text and id, and returns the id. A nil scalar is
// null.
func (p *parquetFields) each(other func(name string, value *scalar)) (id *scalar, err error) {
	defer Damaged(&err)
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

func (p *parquetFields) JSON() (id, others []byte, err error) {
	name, err := p.each(func(name string, value *scalar) { others = AppendField(others, name, value.json(nil)) })
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

func (p *parquetFields) Cells() (id string, others []string, err error) {
	name, err := p.each(func(_ string, value *scalar) { others = append(others, value.cell()) })
	return name.cell(), others, err
}

func (p *parquetFields) Values() (id parquet.Value, others [][]parquet.Value) {
	for i, part := range p.reader.parts {
		if i == p.reader.text {
			continue
		}
		for _, values := range p.leaves[part.first : part.first+part.leaves] {
			if i == p.reader.at {
				id = values[0]
			} else {
				others = append(others, values)
			}
		}
	}
	return id, others
}
