package rows

import (
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// resultColumn is one result column.
type resultColumn[V any] struct {
	name string
	node parquet.Node // nil for the id, whose type is the input's
	// value returns the value for a row: nil if it was not measured, an int64, a
	// bool, a string, a Probability, or a value to encode as JSON.
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

// columns returns the result columns in their order. The input columns follow them.
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

// errorColumn is the column with the reason why a row has no value.
func errorColumn[V any]() resultColumn[V] {
	return resultColumn[V]{"error", textColumn, func(r *Row[V]) any { return unlessEmpty(r.Error) }}
}

// valueColumn is a column of a part of the value, empty for a row with an error.
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

// places returns the index of each column by its name. In Parquet it is also the
// index of the leaf.
func (o output[V]) places() map[string]int {
	places := map[string]int{}
	for i, c := range o.columns() {
		places[c.name] = i
	}
	return places
}

// csvHeader returns the header of the output.
func (o output[V]) csvHeader(in []column) []string {
	var names []string
	for _, c := range o.columns() {
		names = append(names, c.name)
	}
	for _, c := range in {
		names = append(names, c.name)
	}
	return names
}

// csvRecord returns an encoder of rows with width cells and a delimiter between
// them. A value that was not measured is an empty cell.
func (o output[V]) csvRecord(width int, comma byte) func(row, *Row[V]) ([]byte, error) {
	columns := o.columns()
	return func(in row, r *Row[V]) ([]byte, error) {
		id, others := "", []string(nil)
		if in.fields != nil {
			var err error
			if id, others, err = in.fields.cells(); err != nil {
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
		return encodeRecord(cells, comma)
	}
}

// parquetSchema returns the schema of the output for an input. Each result
// column is one leaf; the input columns follow.
func (o output[V]) parquetSchema(in rowReader) *parquet.Schema {
	var all []column
	for _, c := range o.columns() {
		if c.node == nil {
			c.node = in.idNode()
		}
		all = append(all, column{c.name, c.node})
	}
	return parquet.NewSchema("toxscreen", ordered(append(all, in.columns()...)))
}

// parquetRow returns an encoder of rows with the given number of leaves. A value
// that was not measured is null.
func (o output[V]) parquetRow(leaves int) func(row, *Row[V]) (parquet.Row, error) {
	columns := o.columns()
	return func(in row, r *Row[V]) (parquet.Row, error) {
		id, others := parquet.NullValue(), [][]parquet.Value(nil)
		if in.fields != nil {
			id, others = in.fields.values()
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
