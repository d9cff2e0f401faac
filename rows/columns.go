package rows

import (
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/rows/csv"
	"github.com/toxscreen/toxscreen/rows/input"
	"github.com/toxscreen/toxscreen/rows/parts"
)

// resultColumn is one column of the results.
type resultColumn[V any] struct {
	name string
	node parquet.Node // nil for the id, whose type is the input's
	// value returns the value for a row: an int64, a bool, a string, a Probability, a value
	// to encode as JSON, or nil if there is no measurement.
	value func(*Row[V]) any
}

// The types of result columns.
var (
	doubleColumn  = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	booleanColumn = parquet.Optional(parquet.Leaf(parquet.BooleanType))
	numberColumn  = parquet.Optional(parquet.Int(64))
	textColumn    = parquet.Optional(parquet.String())
	jsonColumn    = parquet.Optional(parquet.JSON())
)

// columns returns the result columns in their order. The columns of the input follow them.
func (o output[V]) columns() []resultColumn[V] {
	all := []resultColumn[V]{{"row", parquet.Int(64), func(r *Row[V]) any { return r.Number }}, {"id", nil, nil}}
	if o.KeepText {
		all = append(all, resultColumn[V]{"text", textColumn, func(r *Row[V]) any {
			if r.Text == nil {
				return nil
			}
			return *r.Text
		}})
	}
	return append(all, o.task.columns()...)
}

// errorColumn is the column that says why a row has no value.
func errorColumn[V any]() resultColumn[V] {
	return resultColumn[V]{"error", textColumn, func(r *Row[V]) any { return unlessEmpty(r.Error) }}
}

// valueColumn is a column with a part of the value. It is empty for a row with an error.
func valueColumn[V any](name string, node parquet.Node, part func(*V) any) resultColumn[V] {
	return resultColumn[V]{name, node, func(r *Row[V]) any {
		if r.Error != "" {
			return nil
		}
		return part(&r.Value)
	}}
}

func unlessEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func unlessNil(p *toxscreen.Probability) any {
	if p == nil {
		return nil
	}
	return *p
}

// of returns the column's value of a row: nil, an int64, a bool, a string or a
// float64.
func (c resultColumn[V]) of(r *Row[V]) (any, error) {
	switch v := c.value(r).(type) {
	case nil, int64, bool, string:
		return v, nil
	case toxscreen.Probability:
		return v.Rounded(), nil
	default:
		encoded, err := plainjson.Marshal(v)
		return string(encoded), err
	}
}

// places returns the index of each column by its name. In Parquet, this is also the index
// of its leaf.
func (o output[V]) places() map[string]int {
	places := map[string]int{}
	for i, c := range o.columns() {
		places[c.name] = i
	}
	return places
}

// csvHeader returns the header of the output.
func (o output[V]) csvHeader(in []input.Column) []string {
	var names []string
	for _, c := range o.columns() {
		names = append(names, c.name)
	}
	for _, c := range in {
		names = append(names, c.Name)
	}
	return names
}

// csvRecord returns a function that encodes rows with width cells, separated by comma. A
// missing value is an empty cell.
func (o output[V]) csvRecord(width int, comma byte) func(input.Row, *Row[V]) ([]byte, error) {
	columns := o.columns()
	return func(in input.Row, r *Row[V]) ([]byte, error) {
		id, others := "", []string(nil)
		if in.Fields != nil {
			var err error
			if id, others, err = in.Fields.Cells(); err != nil {
				return nil, err
			}
		}
		cells := make([]string, 0, width)
		for _, c := range columns {
			if c.value == nil {
				cells = append(cells, id)
				continue
			}
			value, err := c.of(r)
			if err != nil {
				return nil, err
			}
			cell := ""
			switch v := value.(type) {
			case nil:
			case float64:
				cell = strconv.FormatFloat(v, 'f', -1, 64)
			default:
				cell = fmt.Sprint(v)
			}
			cells = append(cells, cell)
		}
		cells = append(cells, others...)
		for len(cells) < width {
			cells = append(cells, "")
		}
		return csv.Encode(cells, comma)
	}
}

// parquetSchema returns the schema of the output for an input. Each result
// column is one leaf; the input columns follow.
func (o output[V]) parquetSchema(in input.Reader) *parquet.Schema {
	var all []input.Column
	for _, c := range o.columns() {
		if c.node == nil {
			c.node = in.IDNode()
		}
		all = append(all, input.Column{Name: c.name, Node: c.node})
	}
	return parts.Schema(append(all, in.Columns()...))
}

// parquetRow returns a function that encodes rows with a number of leaves. A missing value
// is null.
func (o output[V]) parquetRow(leaves int) func(input.Row, *Row[V]) (parquet.Row, error) {
	columns := o.columns()
	return func(in input.Row, r *Row[V]) (parquet.Row, error) {
		id, others := parquet.NullValue(), [][]parquet.Value(nil)
		if in.Fields != nil {
			id, others = in.Fields.Values()
		}
		var out parquet.Row
		leaf := 0
		add := func(values ...parquet.Value) {
			for _, v := range values {
				out = append(out, v.Level(v.RepetitionLevel(), v.DefinitionLevel(), leaf))
			}
			leaf++
		}
		for _, c := range columns {
			if c.value == nil {
				add(id)
				continue
			}
			value, err := c.of(r)
			if err != nil {
				return nil, err
			}
			v := parquet.ValueOf(value)
			if value != nil && c.node.Optional() {
				v = v.Level(0, 1, 0)
			}
			add(v)
		}
		for _, values := range others {
			add(values...)
		}
		for leaf < leaves {
			add(parquet.NullValue())
		}
		return out, nil
	}
}

// partsWriter writes Parquet.
type partsWriter[V any] struct {
	*parts.Writer

	encode func(input.Row, *Row[V]) (parquet.Row, error)
}

func (p *partsWriter[V]) write(in input.Row, r *Row[V]) (err error) {
	defer input.Damaged(&err)
	values, err := p.encode(in, r)
	if err != nil {
		return fmt.Errorf("row %d: %w", in.Number, err)
	}
	return p.Write(values, in.Size)
}

func (p *partsWriter[V]) finish() error { return p.Finish() }
func (p *partsWriter[V]) stop() error   { return p.Stop() }

// parts returns the writer of an output in Parquet: of a new output if each is nil, else of
// an unfinished one, with a call of each for every row that is already written.
func (o output[V]) parts(each func(parquet.Row) error) (_ *partsWriter[V], err error) {
	defer input.Damaged(&err)
	schema := o.parquetSchema(o.in)
	p := &partsWriter[V]{encode: o.parquetRow(len(schema.Columns()))}
	p.Writer, err = parts.Open(parts.Options{Path: o.Output, Schema: schema, Metadata: o.task.metadata(), RowGroup: o.rowGroup()}, each)
	return p, err
}

// resumeParts does for Parquet what resume does for other formats.
func (o output[V]) resumeParts() (rowWriter[V], Summary, error) {
	var done Summary
	place, number := o.places(), o.groups.Before
	p, err := o.parts(func(values parquet.Row) error {
		if number++; values[place["row"]].Int64() != number {
			return o.foreign(number)
		}
		r, err := o.counted(number, place, func(i int) string { return cellOf(values[i]) })
		if err == nil {
			add(&done, r, o.task)
		}
		return err
	})
	return p, done, err
}

// cellOf returns the cell that CSV would have for the value of a result column.
func cellOf(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	default:
		return string(v.ByteArray())
	}
}
