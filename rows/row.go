package rows

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/rows/input"
)

// Result is a row of [Job.Score].
type Result = Row[toxscreen.Result]

// Found is a row of [Job.Find].
type Found = Row[toxscreen.Found]

// Row is a row of an output. In JSONL, it is a line with these fields: the number, the id
// and the text, then the fields of Value, then the rest of the input.
type Row[V any] struct {
	// Number is the number of the row in its input, from 1; 0 for a row without an input,
	// such as feedback.
	Number int64
	// ID is the id of the row as the input has it, in JSON: a string or a number; nil if
	// the row has no id. In a row with an Error, it can be any JSON value.
	ID json.RawMessage
	// Text is the text, or nil if it is not stored.
	Text *string
	// Error says why the text has no result. It is empty if Value is the result.
	Error string
	Value V
	// Input is a JSON object of the other fields of the input, in their order and with
	// numbers in their notation; nil if the row has no other fields.
	Input json.RawMessage
}

// MarshalJSON returns the line of the row without its line break. It keeps the white space
// in Input; json.Marshal removes that afterwards.
func (r Row[V]) MarshalJSON() ([]byte, error) {
	var out []byte
	if r.Number != 0 {
		out = input.AppendField(out, "row", strconv.AppendInt(nil, r.Number, 10))
	}
	if r.ID != nil {
		out = input.AppendField(out, "id", r.ID)
	}
	// In feedback, the text has always been after the result.
	textLast := r.Number == 0
	if r.Text != nil && !textLast {
		out = input.AppendField(out, "text", plainjson.Append(nil, *r.Text))
	}
	if r.Error != "" {
		out = input.AppendField(out, "error", plainjson.Append(nil, r.Error))
	} else {
		encoded, err := plainjson.Marshal(r.Value)
		if err != nil {
			return nil, err
		}
		out = append(input.Separated(out), encoded[1:len(encoded)-1]...)
	}
	if r.Text != nil && textLast {
		out = input.AppendField(out, "text", plainjson.Append(nil, *r.Text))
	}
	if r.Input != nil {
		out = input.AppendField(out, "input", r.Input)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads a line. It does not pass the fields of the row to Value: a field of
// Value may have the same name and another type, like the id of [toxscreen.Result].
func (r *Row[V]) UnmarshalJSON(line []byte) error {
	var row struct {
		Row   int64           `json:"row"`
		ID    json.RawMessage `json:"id"`
		Text  *string         `json:"text"`
		Error string          `json:"error"`
		Input json.RawMessage `json:"input"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return json.Unmarshal(line, &row) // its error says what there is in place of an object
	}
	var own, others []byte
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		switch name := token.(string); name {
		case "row", "id", "text", "error", "input":
			own = input.AppendField(own, name, value)
		default:
			others = input.AppendField(others, name, value)
		}
	}
	*r = Row[V]{}
	if own != nil {
		if err := json.Unmarshal(append(own, '}'), &row); err != nil {
			return err
		}
		r.Number, r.ID, r.Text, r.Error, r.Input = row.Row, row.ID, row.Text, row.Error, row.Input
	}
	if others == nil {
		return nil
	}
	return json.Unmarshal(append(others, '}'), &r.Value)
}
