// Package plainjson encodes values like encoding/json, but does not escape <, >
// and &: texts often contain them, and no result is put into HTML without escaping.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// Write writes the JSON form of a value and a line break, indented if indent is not
// empty. It returns the error of the value or of w.
func Write(w io.Writer, value any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(value)
}

// Marshal returns the JSON form of a value on one line, without a line break.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	if err := Write(&b, value, ""); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Append appends the JSON form of a value. It panics if the value cannot be encoded.
func Append(to []byte, value any) []byte {
	encoded, err := Marshal(value)
	if err != nil {
		panic(err)
	}
	return append(to, encoded...)
}
