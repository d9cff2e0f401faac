package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// strictJSON turns JSON in the form that Google's parser accepted into standard JSON:
// names may lack quotation marks, names and strings may have single ones, and there may
// be a comma after the last element.
func strictJSON(data []byte) []byte {
	if json.Valid(data) {
		return data
	}
	var out bytes.Buffer
	out.Grow(len(data) + len(data)/8)
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"' || c == '\'':
			i = strictString(&out, data, i)
		case c == ',':
			next := i + 1
			for next < len(data) && blankJSON(data[next]) {
				next++
			}
			if next == len(data) || data[next] != '}' && data[next] != ']' {
				out.WriteByte(',')
			}
			i = next
		case nameJSON(c) && (c < '0' || c > '9'):
			end := i
			for end < len(data) && nameJSON(data[end]) {
				end++
			}
			word := data[i:end]
			for i = end; i < len(data) && blankJSON(data[i]); {
				i++
			}
			if i < len(data) && data[i] == ':' {
				fmt.Fprintf(&out, "%q", word)
			} else {
				out.Write(word) // true, false, null, or an error
			}
		case c >= '0' && c <= '9' || c == '-':
			for ; i < len(data) && (nameJSON(data[i]) || strings.IndexByte("+-.", data[i]) >= 0); i++ {
				out.WriteByte(data[i])
			}
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.Bytes()
}

// strictString writes the string whose quotation mark is data[i] with double quotation
// marks, and returns the index after it.
func strictString(out *bytes.Buffer, data []byte, i int) int {
	mark := data[i]
	out.WriteByte('"')
	for i++; i < len(data); i++ {
		switch c := data[i]; {
		case c == mark:
			out.WriteByte('"')
			return i + 1
		case c == '\\' && i+1 < len(data):
			i++
			if data[i] != '\'' { // JSON has no such escape
				out.WriteByte('\\')
			}
			out.WriteByte(data[i])
		case c == '"':
			out.WriteString(`\"`)
		default:
			out.WriteByte(c)
		}
	}
	return i
}

func blankJSON(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func nameJSON(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '@'
}

// unmarshalProto reads a protobuf message as JSON: field names may be in camel case or
// with underscores, and PHP clients write [] for an empty message.
func unmarshalProto(data []byte, into any) error {
	if trimmed := bytes.TrimSpace(data); len(trimmed) >= 2 && trimmed[0] == '[' && len(bytes.TrimSpace(trimmed[1:len(trimmed)-1])) == 0 {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	named := make(map[string]json.RawMessage, len(fields))
	for name, value := range fields {
		if _, ok := fields[camelCase(name)]; !ok || camelCase(name) == name {
			named[camelCase(name)] = value
		}
	}
	plain, err := json.Marshal(named)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// camelCase returns the camel case form of a field's name: requestedAttributes for
// requested_attributes.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// perspectiveNumber is a number, in JSON also as a string.
type perspectiveNumber float64

func (n *perspectiveNumber) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return errors.New("it is not a number")
	}
	*n = perspectiveNumber(value)
	return nil
}
