// Package plainjson encodes values as encoding/json does, but leaves <, > and &
// as they are: texts for people are full of them, and no result is put into
// HTML as it is.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Write writes the JSON form of a value and a line break, indented where indent
// is not empty. The error is that of the value or of w.
func Write(w io.Writer, value any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(value)
}

// Marshal returns the JSON form of a value in one line without a line break.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	if err := Write(&b, value, ""); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Append appends the JSON form of a value that is known to have one: it panics
// where there is none.
func Append(to []byte, value any) []byte {
	encoded, err := Marshal(value)
	if err != nil {
		panic(err)
	}
	return append(to, encoded...)
}
