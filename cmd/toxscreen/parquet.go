package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toxscreen/toxscreen"
)

// group is a group of columns in a fixed order, where [parquet.Group] has that
// of the alphabet.
type group struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements [parquet.Node].
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

// damaged turns a panic of the Parquet library, which some broken files cause,
// into an error.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// parquetReader reads the rows of a Parquet file.
type parquetReader struct {
	file   *os.File
	schema *parquet.Schema
	groups []parquet.RowGroup // not begun yet
	total  int64
	rows   parquet.Rows // of the group being read, nil between two
	buffer []parquet.Row
	ready  []parquet.Row // read, not returned
	number int64

	text, at int // fields of the text and, unless -1, of the id
	leaves   []int
	others   []column
}

func openParquet(file *os.File, size int64, o inputOptions) (r *parquetReader, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	defer damaged(&err)
	opened, err := parquet.OpenFile(file, size)
	if err != nil {
		return nil, fmt.Errorf("it is no Parquet file, or only a part of one: %w", err)
	}
	r = &parquetReader{
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
		case o.text:
			r.text = i
			if !f.Leaf() || f.Repeated() || f.Type().Kind() != parquet.ByteArray {
				return nil, fmt.Errorf("column %q is not of strings but %s", o.text, f)
			}
		case o.id:
			r.at = i
			if !f.Leaf() || f.Repeated() {
				return nil, fmt.Errorf("column %q cannot be an id: it is %s", o.id, f)
			}
		default:
			r.others = append(r.others, column{"input_" + f.Name(), f})
		}
	}
	if r.text < 0 {
		return nil, missingColumn("text-column", o.text, names)
	}
	if r.at < 0 && o.idGiven {
		return nil, missingColumn("id-column", o.id, names)
	}
	return r, nil
}

// leaves returns how many leaf columns a node has.
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

func (p *parquetReader) id() parquet.Node {
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
		return 0, fmt.Errorf("it has %d rows, but %d are in the output already", p.total, rows)
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
					return row{}, fmt.Errorf("the file is damaged: it has %d rows where it says %d", p.number, p.total)
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
	values := p.ready[0].Clone() // the buffer's memory is used again
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

// parquetFields is a row.
type parquetFields struct {
	reader *parquetReader
	row    parquet.Row
}

// tree returns the values of the row by the names of the fields.
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

// readable returns a value as JSON has it: times are written out, and what is
// no number in JSON is null.
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

// finite is readable without the types, inside lists and groups.
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

func (p *parquetFields) json() (id, rest []byte, err error) {
	tree, err := p.tree()
	if err != nil {
		return nil, nil, err
	}
	for i, f := range p.reader.schema.Fields() {
		if i == p.reader.text {
			continue
		}
		value, err := encodeJSON(tree[f.Name()])
		if err != nil {
			return nil, nil, fmt.Errorf("failed to encode column %s: %w", f.Name(), err)
		}
		if i == p.reader.at {
			if tree[f.Name()] == nil {
				continue
			}
			if value[0] != '"' && value[0] != '-' && (value[0] < '0' || value[0] > '9') {
				value = appendJSON(nil, string(value))
			}
			id = value
			continue
		}
		if rest == nil {
			rest = append(rest, '{')
		} else {
			rest = append(rest, ',')
		}
		rest = appendJSON(rest, f.Name())
		rest = append(append(rest, ':'), value...)
	}
	if rest != nil {
		rest = append(rest, '}')
	}
	return id, rest, nil
}

func (p *parquetFields) cells() (id string, rest []string, err error) {
	tree, err := p.tree()
	if err != nil {
		return "", nil, err
	}
	for i, f := range p.reader.schema.Fields() {
		if i == p.reader.text {
			continue
		}
		cell := ""
		switch v := tree[f.Name()].(type) {
		case nil:
		case string:
			cell = v
		default:
			encoded, err := encodeJSON(v)
			if err != nil {
				return "", nil, fmt.Errorf("failed to encode column %s: %w", f.Name(), err)
			}
			cell = string(encoded)
		}
		if i == p.reader.at {
			id = cell
		} else {
			rest = append(rest, cell)
		}
	}
	return id, rest, nil
}

func (p *parquetFields) values() (id parquet.Value, rest [][]parquet.Value) {
	id = parquet.NullValue()
	p.row.Range(func(leaf int, values []parquet.Value) bool {
		switch p.reader.leaves[leaf] {
		case p.reader.text:
		case p.reader.at:
			id = values[0]
		default:
			rest = append(rest, values)
		}
		return true
	})
	return id, rest
}

// resultSchema returns the schema of the output for an input. Its leaf columns
// are in the order of the layout's, with those of the input behind them.
func resultSchema(in rowReader, l layout) *parquet.Schema {
	var all []column
	for _, name := range l.columns() {
		var node parquet.Node
		switch name {
		case "row":
			node = parquet.Int(64)
		case "id":
			node = in.id()
		case "flagged":
			node = parquet.Optional(parquet.Leaf(parquet.BooleanType))
		case "text", "severity", "error", "not_judged":
			node = parquet.Optional(parquet.String())
		case "spans", "warnings", "judge":
			node = parquet.Optional(parquet.JSON())
		default: // scores and attributes
			node = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		}
		all = append(all, column{name, node})
	}
	return parquet.NewSchema("toxscreen", ordered(append(all, in.columns()...)))
}

// parquetRow returns the row of the output. What was not measured is null.
func parquetRow(o toxscreen.Outcome[row], schema *parquet.Schema, l layout) (parquet.Row, error) {
	id, rest := parquet.NullValue(), [][]parquet.Value(nil)
	if o.Row.fields != nil {
		id, rest = o.Row.fields.values()
	}
	var out parquet.Row
	leaf := 0
	add := func(values ...parquet.Value) {
		for _, v := range values {
			out = append(out, v.Level(v.RepetitionLevel(), v.DefinitionLevel(), leaf))
		}
		leaf++
	}
	set := func(v parquet.Value, there bool) {
		if there {
			add(v.Level(0, 1, 0))
		} else {
			add(parquet.NullValue())
		}
	}
	text := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

	add(parquet.Int64Value(o.Row.number))
	add(id)
	if l.keepText {
		set(text(o.Row.text), o.Row.err == nil)
	}
	scored := o.Err == nil
	r := o.Result
	set(parquet.DoubleValue(r.Score.Rounded()), scored)
	set(parquet.BooleanValue(r.Flagged), scored)
	set(text(string(r.Severity)), scored)
	for _, a := range toxscreen.Attributes() {
		m, ok := r.Attributes[a]
		set(parquet.DoubleValue(m.Score.Rounded()), ok)
	}
	spans, warnings, err := lists(r)
	if err != nil {
		return nil, err
	}
	set(parquet.ByteArrayValue(spans), scored && spans != nil)
	set(parquet.ByteArrayValue(warnings), scored)
	if scored {
		set(parquet.Value{}, false)
	} else {
		set(text(o.Err.Error()), true)
	}
	if l.judged {
		probability := func(p *toxscreen.Probability) {
			if p == nil {
				set(parquet.Value{}, false)
			} else {
				set(parquet.DoubleValue(p.Rounded()), true)
			}
		}
		score, why := judgeScore(r.Judge)
		probability(score)
		for _, a := range toxscreen.Attributes() {
			probability(r.Attributes[a].Judge)
		}
		set(text(why), scored && why != "")
		set(parquet.ByteArrayValue(appendJSON(nil, r.Judge)), scored)
	}
	for _, values := range rest {
		add(values...)
	}
	for leaf < len(schema.Columns()) {
		add(parquet.NullValue())
	}
	return out, nil
}
