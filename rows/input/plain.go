package input

import (
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// plainReader reads plain text. Each line is a row, even a blank one, so that a row and its
// line have the same number.
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

// plainFields are the fields of a line: the text, where it is a field, or nothing.
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
