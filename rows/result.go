package rows

import (
	"encoding/json"
	"strconv"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Result is the result of one row. Its JSON form is a line of an output in JSONL:
// the [toxscreen.Result], with the row's number, id and text before it and the rest
// of the input after it. If Error is not empty, there is no result.
type Result struct {
	// Row is the number of the row in its input, from 1. It is 0 for a row without
	// an input, such as feedback.
	Row int64 `json:"row"`
	// ID is the id of the row as it was given in JSON: a string or a number, nil if
	// there is none. If the text has no result, it can be any JSON value.
	ID json.RawMessage `json:"id"`
	// Text is nil if it is not stored.
	Text *string `json:"text"`
	// Error is the reason why there is no result.
	Error string `json:"error"`
	toxscreen.Result
	// Input is a JSON object of the other fields of the input, in their order and
	// with numbers as they were written; nil if there are none.
	Input json.RawMessage `json:"input"`
}

// Labels are the fields of [Result].Input that [ReadLabelled] reads.
type Labels struct {
	// Labels has, for each attribute, the share in 0..1 of people who say that it
	// applies to the text.
	Labels *toxscreen.Scores `json:"labels,omitempty"`
	// Weight is the number of texts in the traffic that the row represents; nil is 1.
	Weight *float64 `json:"weight,omitempty"`
	// LabelSets is the number of label sets that Labels is the mean of; 0 if
	// unknown.
	LabelSets int `json:"label_sets,omitempty"`
}

// NewLabelled returns the result of a text with its labels. id identifies the text:
// rows with the same id are the same text. The text may be empty if it is unknown.
func NewLabelled(id, text string, result toxscreen.Result, labels Labels) Result {
	r := Result{ID: plainjson.Append(nil, id), Result: result, Input: plainjson.Append(nil, labels)}
	if text != "" {
		r.Text = &text
	}
	return r
}

// MarshalJSON returns the line of the row without its line break. It keeps the
// white space in Input, which json.Marshal then removes.
func (r Result) MarshalJSON() ([]byte, error) {
	result := r.Result
	result.ID = "" // the id is that of the row
	return line{row: r.Row, id: r.ID, text: r.Text, err: r.Error, value: result, input: r.Input}.json()
}

// Found is the personal data that [Job.Find] found in one row. Its JSON form is a line of
// an output in JSONL, like that of [Result].
type Found struct {
	Row   int64           `json:"row"`
	ID    json.RawMessage `json:"id"`
	Text  *string         `json:"text"`
	Error string          `json:"error"`
	toxscreen.Found
	Input json.RawMessage `json:"input"`
}

// MarshalJSON returns the line of the row without its line break.
func (f Found) MarshalJSON() ([]byte, error) {
	return line{row: f.Row, id: f.ID, text: f.Text, err: f.Error, value: f.Found, input: f.Input}.json()
}

// line is a row of an output: a [Result] or a [Found], whose fields are explained there.
type line struct {
	row   int64
	id    json.RawMessage
	text  *string
	err   string
	value any // what the task of the job found; it does not count if there is an error
	input json.RawMessage
}

// json returns the line in JSONL without its line break.
func (l line) json() ([]byte, error) {
	var out []byte
	if l.row != 0 {
		out = appendField(out, "row", strconv.AppendInt(nil, l.row, 10))
	}
	if l.id != nil {
		out = appendField(out, "id", l.id)
	}
	// In feedback, the text has always been after the result.
	textLast := l.row == 0
	if l.text != nil && !textLast {
		out = appendField(out, "text", plainjson.Append(nil, *l.text))
	}
	if l.err != "" {
		out = appendField(out, "error", plainjson.Append(nil, l.err))
	} else {
		encoded, err := plainjson.Marshal(l.value)
		if err != nil {
			return nil, err
		}
		out = append(separated(out), encoded[1:len(encoded)-1]...)
	}
	if l.text != nil && textLast {
		out = appendField(out, "text", plainjson.Append(nil, *l.text))
	}
	if l.input != nil {
		out = appendField(out, "input", l.input)
	}
	return append(out, '}'), nil
}

// appendField appends a field to a JSON object that is not closed yet; nil is an
// object without a beginning.
func appendField(object []byte, name string, value []byte) []byte {
	object = append(plainjson.Append(separated(object), name), ':')
	return append(object, value...)
}

// separated appends the separator before the next field to an object that is not
// closed yet.
func separated(object []byte) []byte {
	if object == nil {
		return []byte{'{'}
	}
	return append(object, ',')
}
