package rows

import (
	"encoding/json"
	"strconv"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// Result is what became of one row. Its JSON form is a line of an output in
// JSONL: the [toxscreen.Result] with the row's number, id and text before it
// and the rest of the input behind it. Where Error is not empty there is no
// result.
type Result struct {
	// Row is the number of the row in its input, from 1. It is 0 where the row is
	// of no input, such as feedback.
	Row int64 `json:"row"`
	// ID is the row's own name, in JSON as it was given: a string or a number, nil
	// where there is none. Where the text has no result it may be anything.
	ID json.RawMessage `json:"id"`
	// Text is nil where it is not kept.
	Text *string `json:"text"`
	// Error tells why there is no result.
	Error string `json:"error"`
	toxscreen.Result
	// Input is a JSON object of the other fields of the input, in their order and
	// with numbers as they were written; nil where there are none.
	Input json.RawMessage `json:"input"`
}

// Labels are the fields of [Result].Input that [ReadLabelled] knows.
type Labels struct {
	// Labels holds the share in 0..1 of people who say that the text has an
	// attribute.
	Labels *toxscreen.Scores `json:"labels,omitempty"`
	// Weight is how many texts of the traffic the row stands for; nil is 1.
	Weight *float64 `json:"weight,omitempty"`
	// LabelSets is how many people or programs the labels are the mean of; 0 where
	// it is not known.
	LabelSets int `json:"label_sets,omitempty"`
}

// NewLabelled returns the result of a text with what people say of it. id tells texts
// apart: rows with one id are one text. The text may be empty where it is not known.
func NewLabelled(id, text string, result toxscreen.Result, labels Labels) Result {
	r := Result{ID: plainjson.Append(nil, id), Result: result, Input: plainjson.Append(nil, labels)}
	if text != "" {
		r.Text = &text
	}
	return r
}

// MarshalJSON returns the line of the row without its line break. It leaves the
// white space in Input as it is, which json.Marshal then removes.
func (r Result) MarshalJSON() ([]byte, error) {
	var line []byte
	if r.Row != 0 {
		line = appendField(line, "row", strconv.AppendInt(nil, r.Row, 10))
	}
	if r.ID != nil {
		line = appendField(line, "id", r.ID)
	}
	// Feedback has always had its text behind the result.
	textLast := r.Row == 0
	if r.Text != nil && !textLast {
		line = appendField(line, "text", plainjson.Append(nil, *r.Text))
	}
	if r.Error != "" {
		line = appendField(line, "error", plainjson.Append(nil, r.Error))
	} else {
		result := r.Result
		result.ID = "" // it is the row's
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

// appendField appends a field to a JSON object that is not closed yet; nil is
// one that has not begun.
func appendField(object []byte, name string, value []byte) []byte {
	object = append(plainjson.Append(separated(object), name), ':')
	return append(object, value...)
}

// separated returns an object that is not closed yet with what comes before its
// next field.
func separated(object []byte) []byte {
	if object == nil {
		return []byte{'{'}
	}
	return append(object, ',')
}
