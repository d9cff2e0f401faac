package input

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// plainReader reads plain text: each line is a row, also a blank one, so that the number of
// a row is that of its line.
type plainReader struct {
	source
	Options

	lines lineReader
}

func (p *plainReader) Columns() []Column { return nil }

func (p *plainReader) Next() (Row, error) {
	line, tooLong, err := p.lines.next()
	if err != nil {
		return Row{}, files.Cause(err)
	}
	r := Row{Number: p.lines.number, Text: string(line), Size: len(line) + 512, UpTo: p.lines.offset, Undecodable: p.undecodable(line)}
	switch {
	case tooLong:
		r.Err = p.tooLong(fmt.Sprintf("line %d", r.Number))
	case p.Text == "":
		r.Fields = plainFields{r.Text}
	default:
		r.Fields = plainFields{}
	}
	return r, nil
}

// plainFields are the fields of a line: none, or its text.
type plainFields []string

func (f plainFields) JSON() (id, others []byte, err error) {
	for _, text := range f {
		others = append(AppendField(nil, "text", plainjson.Append(nil, text)), '}')
	}
	return nil, others, nil
}

func (plainFields) Cells() (id string, others []string, err error) { return "", nil, nil }

func (plainFields) Values() (id parquet.Value, others [][]parquet.Value) {
	return parquet.NullValue(), nil
}
