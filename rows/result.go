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
	var line []byte
	if r.Row != 0 {
		line = appendField(line, "row", strconv.AppendInt(nil, r.Row, 10))
	}
	if r.ID != nil {
		line = appendField(line, "id", r.ID)
	}
	// In feedback, the text has always been after the result.
	textLast := r.Row == 0
	if r.Text != nil && !textLast {
		line = appendField(line, "text", plainjson.Append(nil, *r.Text))
	}
	if r.Error != "" {
		line = appendField(line, "error", plainjson.Append(nil, r.Error))
	} else {
		result := r.Result
		result.ID = "" // the id is that of the row
		encoded, err := plainjson.Marshal(result)
		if err != nil {
			return nil, err
		}
		line = append(separated(line), encoded[1:len(encoded)-1]...)
	}
	if r.Text != nil && textLast {
		line = appendField(line, "text", plainjson.Append(nil, *r.Text))
	}
	if r.Input != nil {
		line = appendField(line, "input", r.Input)
	}
	return append(line, '}'), nil
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
