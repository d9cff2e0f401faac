package rows

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
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

// damaged turns a panic of the Parquet library into an error. Some broken files
// cause panics.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// parquetReader reads the rows of a Parquet file.
type parquetReader struct {
	file   randomAccess
	schema *parquet.Schema
	groups []parquet.RowGroup // not read yet
	total  int64
	rows   parquet.Rows // of the current group, nil between groups
	buffer []parquet.Row
	ready  []parquet.Row // read, not returned
	number int64

	text, at int // fields of the text and of the id (-1 if none)
	leaves   []int
	others   []column
}

// randomAccess is the source of Parquet, whose end says where the rest is.
type randomAccess interface {
	io.ReaderAt
	io.Closer
}

func openParquet(file randomAccess, size int64, o Options) (_ rowReader, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	defer damaged(&err)
	if err := checkFooter(file, size); err != nil {
		return nil, fmt.Errorf("it is not a complete Parquet file: %w", err)
	}
	opened, err := parquet.OpenFile(file, size)
	if err != nil {
		return nil, fmt.Errorf("it is not a complete Parquet file: %w", err)
	}
	r := &parquetReader{
		file: file, schema: opened.Schema(), groups: opened.RowGroups(), total: opened.NumRows(),
		buffer: make([]parquet.Row, 64), text: -1, at: -1,
	}
	var names []string
	for i, f := range r.schema.Fields() {
		names = append(names, f.Name())
		for range leaves(f) {
			r.leaves = append(r.leaves, i)
		}
		switch f.Name() {
		case o.TextColumn:
			r.text = i
			if !f.Leaf() || f.Repeated() || f.Type().Kind() != parquet.ByteArray {
				return nil, fmt.Errorf("column %q must contain strings, but it is %s", o.TextColumn, f)
			}
		case o.idColumn():
			r.at = i
			if !f.Leaf() || f.Repeated() {
				return nil, fmt.Errorf("column %q cannot be an id: it is %s", o.idColumn(), f)
			}
		default:
			r.others = append(r.others, column{"input_" + f.Name(), f})
		}
	}
	if r.text < 0 {
		return nil, missingColumn("text-column", o.TextColumn, names)
	}
	if r.at < 0 && o.IDColumn != "" {
		return nil, missingColumn("id-column", o.IDColumn, names)
	}
	return r, nil
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

// leaves returns the number of leaf columns of a node.
func leaves(n parquet.Node) int {
	if n.Leaf() {
		return 1
	}
	sum := 0
	for _, f := range n.Fields() {
		sum += leaves(f)
	}
	return sum
}

func (p *parquetReader) columns() []column { return p.others }

func (p *parquetReader) idNode() parquet.Node {
	if p.at < 0 {
		return parquet.Optional(parquet.String())
	}
	return p.schema.Fields()[p.at]
}

func (p *parquetReader) length() int64 { return p.total }

func (p *parquetReader) close() error {
	var err error
	if p.rows != nil {
		err = p.rows.Close()
	}
	return errors.Join(err, p.file.Close())
}

func (p *parquetReader) skip(_ context.Context, rows int64) (_ int64, err error) {
	defer damaged(&err)
	if rows > p.total {
		return 0, fmt.Errorf("it has %d rows, but the output already has %d", p.total, rows)
	}
	p.number = rows
	for rows > 0 {
		n := p.groups[0].NumRows()
		if n > rows {
			p.rows = p.groups[0].Rows()
			p.groups = p.groups[1:]
			return p.number, p.rows.SeekToRow(rows)
		}
		p.groups = p.groups[1:]
		rows -= n
	}
	return p.number, nil
}

func (p *parquetReader) next() (_ row, err error) {
	defer damaged(&err)
	for len(p.ready) == 0 {
		if p.rows == nil {
			if len(p.groups) == 0 {
				if p.number != p.total {
					return row{}, fmt.Errorf("the file is damaged: it has %d rows instead of %d", p.number, p.total)
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
	r := row{number: p.number, upTo: p.number, fields: &parquetFields{p, values}, size: 512}
	for _, v := range values {
		r.size += 32
		if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
			r.size += len(v.ByteArray())
		}
	}
	values.Range(func(leaf int, of []parquet.Value) bool {
		if p.leaves[leaf] != p.text {
			return true
		}
		if of[0].IsNull() {
			r.err = errors.New("the text is null")
		} else {
			r.text = string(of[0].ByteArray())
		}
		return false
	})
	return r, nil
}

// parquetFields are the fields of a row.
type parquetFields struct {
	reader *parquetReader
	row    parquet.Row
}

// tree returns the values of the row by field name.
func (p *parquetFields) tree() (_ map[string]any, err error) {
	defer damaged(&err)
	tree := map[string]any{}
	if err := p.reader.schema.Reconstruct(&tree, p.row); err != nil {
		return nil, fmt.Errorf("failed to read the row's other columns: %w", err)
	}
	for _, f := range p.reader.schema.Fields() {
		tree[f.Name()] = readable(f, tree[f.Name()])
	}
	return tree, nil
}

// readable returns a value for JSON: times become text, and numbers that JSON does
// not have become null.
func readable(n parquet.Node, value any) any {
	if whole, ok := wholeNumber(value); ok && n.Leaf() && !n.Repeated() {
		if t := n.Type().LogicalType(); t != nil {
			switch logical := t.Value.(type) {
			case *format.DateType:
				return time.Unix(whole*86400, 0).UTC().Format(time.DateOnly)
			case *format.TimestampType:
				switch logical.Unit.Value.(type) {
				case *format.MilliSeconds:
					return time.UnixMilli(whole).UTC().Format(time.RFC3339Nano)
				case *format.MicroSeconds:
					return time.UnixMicro(whole).UTC().Format(time.RFC3339Nano)
				case *format.NanoSeconds:
					return time.Unix(0, whole).UTC().Format(time.RFC3339Nano)
				}
			}
		}
	}
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		if v-v != 0 {
			return nil
		}
	case map[string]any:
		for name, inner := range v {
			v[name] = finite(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = finite(inner)
		}
	}
	return value
}

// finite is like readable for values without types, inside lists and groups.
func finite(value any) any { return readable(parquet.Leaf(parquet.BooleanType), value) }

func wholeNumber(value any) (int64, bool) {
	switch v := value.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// each calls use with each column except the text: its value and its JSON.
func (p *parquetFields) each(use func(name string, isID bool, value any, encoded []byte)) error {
	tree, err := p.tree()
	if err != nil {
		return err
	}
	for i, f := range p.reader.schema.Fields() {
		if i == p.reader.text {
			continue
		}
		value := tree[f.Name()]
		encoded, err := plainjson.Marshal(value)
		if err != nil {
			return fmt.Errorf("failed to encode column %s: %w", f.Name(), err)
		}
		use(f.Name(), i == p.reader.at, value, encoded)
	}
	return nil
}

func (p *parquetFields) json() (id, others []byte, err error) {
	err = p.each(func(name string, isID bool, value any, encoded []byte) {
		switch {
		case !isID:
			others = appendField(others, name, encoded)
		case value == nil:
		case typeOf(encoded) == aString || typeOf(encoded) == aNumber:
			id = encoded
		default:
			id = plainjson.Append(nil, string(encoded))
		}
	})
	if others != nil {
		others = append(others, '}')
	}
	return id, others, err
}

func (p *parquetFields) cells() (id string, others []string, err error) {
	err = p.each(func(_ string, isID bool, value any, encoded []byte) {
		cell := string(encoded)
		switch v := value.(type) {
		case nil:
			cell = ""
		case string:
			cell = v
		}
		if isID {
			id = cell
		} else {
			others = append(others, cell)
		}
	})
	return id, others, err
}

func (p *parquetFields) values() (id parquet.Value, others [][]parquet.Value) {
	p.row.Range(func(leaf int, values []parquet.Value) bool {
		switch p.reader.leaves[leaf] {
		case p.reader.text:
		case p.reader.at:
			id = values[0]
		default:
			others = append(others, values)
		}
		return true
	})
	return id, others
}
