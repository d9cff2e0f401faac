package rows

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// layout is the choice of result columns of an output in CSV or Parquet. The input
// columns follow them.
type layout struct {
	keepText bool // the text column
	early    bool // the column exit, if texts may leave the network early
	judged   bool // the judge columns, if there is a judge
}

// resultColumn is one result column.
type resultColumn struct {
	name string
	node parquet.Node // nil for the id, whose type is the input's
	// value returns the value for a row: nil if it was not measured, an int64, a
	// bool, a string, a Probability, or a value to encode as JSON.
	value func(*Result) any
}

// columns returns the columns in their order.
func (l layout) columns() []resultColumn {
	double, text, list := parquet.Optional(parquet.Leaf(parquet.DoubleType)), parquet.Optional(parquet.String()), parquet.Optional(parquet.JSON())
	var all []resultColumn
	add := func(name string, node parquet.Node, value func(*Result) any) {
		all = append(all, resultColumn{name, node, value})
	}
	// scored adds a column that is empty for a row with an error.
	scored := func(name string, node parquet.Node, value func(*toxscreen.Result) any) {
		add(name, node, func(r *Result) any {
			if r.Error != "" {
				return nil
			}
			return value(&r.Result)
		})
	}
	add("row", parquet.Int(64), func(r *Result) any { return r.Row })
	add("id", nil, nil)
	if l.keepText {
		add("text", text, func(r *Result) any {
			if r.Text == nil {
				return nil
			}
			return *r.Text
		})
	}
	scored("score", double, func(r *toxscreen.Result) any { return r.Score })
	scored("flagged", parquet.Optional(parquet.Leaf(parquet.BooleanType)), func(r *toxscreen.Result) any {
		if r.NotDecided != "" {
			return nil
		}
		return r.Flagged
	})
	scored("severity", text, func(r *toxscreen.Result) any { return unlessEmpty(string(r.Severity)) })
	for _, a := range toxscreen.Attributes() {
		scored(a.String(), double, func(r *toxscreen.Result) any {
			if measured, ok := r.Attributes[a]; ok {
				return measured.Score
			}
			return nil
		})
	}
	scored("passages", list, func(r *toxscreen.Result) any {
		if r.Passages == nil {
			return nil // nothing is flagged
		}
		return r.Passages
	})
	scored("spans", list, func(r *toxscreen.Result) any {
		if r.Spans == nil {
			return nil // the model has no spans
		}
		return r.Spans
	})
	scored("warnings", list, func(r *toxscreen.Result) any { return r.Warnings })
	scored("not_decided", text, func(r *toxscreen.Result) any { return unlessEmpty(r.NotDecided) })
	add("error", text, func(r *Result) any { return unlessEmpty(r.Error) })
	if l.early {
		scored("exit", parquet.Optional(parquet.Int(64)), func(r *toxscreen.Result) any {
			if r.Exit == 0 {
				return nil // the whole network was run
			}
			return int64(r.Exit)
		})
	}
	if !l.judged {
		return all
	}
	scored("judge_score", double, func(r *toxscreen.Result) any {
		score, _ := judgeScore(r.Judge)
		return unlessNil(score)
	})
	for _, a := range toxscreen.Attributes() {
		scored("judge_"+a.String(), double, func(r *toxscreen.Result) any { return unlessNil(r.Attributes[a].Judge) })
	}
	scored("not_judged", text, func(r *toxscreen.Result) any {
		_, why := judgeScore(r.Judge)
		return unlessEmpty(why)
	})
	scored("judge", list, func(r *toxscreen.Result) any { return r.Judge })
	scored("source", text, func(r *toxscreen.Result) any { return string(r.Source) })
	return all
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

// judgeScore returns the score of a verdict, nil if there is none, and why the text
// was not judged, empty if it was.
func judgeScore(j toxscreen.JudgeReport) (score *toxscreen.Probability, why string) {
	if len(j.Verdicts) == 0 {
		return nil, cmp.Or(j.Error, j.Why)
	}
	v := j.Verdicts[0]
	if v.Score == nil && len(v.Addressed) > 0 {
		return nil, "the text addresses the judge and was found harmless: that finding is ignored"
	}
	return v.Score, ""
}

// of returns the column's value of a row: nil, an int64, a bool, a string or a
// float64.
func (c resultColumn) of(r *Result) (any, error) {
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
func (l layout) places() map[string]int {
	places := map[string]int{}
	for i, c := range l.columns() {
		places[c.name] = i
	}
	return places
}

// csvHeader returns the header of the output.
func (l layout) csvHeader(in []column) []string {
	var names []string
	for _, c := range l.columns() {
		names = append(names, c.name)
	}
	for _, c := range in {
		names = append(names, c.name)
	}
	return names
}

// csvRecord returns an encoder of rows with width cells and a delimiter between
// them. A value that was not measured is an empty cell.
func (l layout) csvRecord(width int, comma byte) func(row, *Result) ([]byte, error) {
	columns := l.columns()
	return func(in row, r *Result) ([]byte, error) {
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

// parquetSchema returns the schema of the output for an input. Each column of
// the layout is one leaf; the input columns follow.
func (l layout) parquetSchema(in rowReader) *parquet.Schema {
	var all []column
	for _, c := range l.columns() {
		if c.node == nil {
			c.node = in.idNode()
		}
		all = append(all, column{c.name, c.node})
	}
	return parquet.NewSchema("toxscreen", ordered(append(all, in.columns()...)))
}

// parquetRow returns an encoder of rows with the given number of leaves. A value
// that was not measured is null.
func (l layout) parquetRow(leaves int) func(row, *Result) (parquet.Row, error) {
	columns := l.columns()
	return func(in row, r *Result) (parquet.Row, error) {
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
