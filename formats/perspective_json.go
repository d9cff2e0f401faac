package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// strictJSON turns JSON in the form that Google's parser accepted into standard JSON:
// names may lack quotation marks, names and strings may have single ones, and there may
// be a comma after the last element.
func strictJSON(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte(plainjson.Mark))
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

// protoEnum is an enumeration, whose Go value is a name. A name or number that it does
// not have is kept as it is written.
type protoEnum interface {
	// names returns its names in the order of their numbers, from 0.
	names() []string
}

// unmarshalProto reads the JSON form of a protobuf message into a struct, as leniently
// as Google's parser, and as clients of untyped languages need it:
//
//   - names of fields in camel case or with underscores;
//   - enumerations by name, in upper or lower case, or by number;
//   - numbers, true and false in quotation marks;
//   - a list of one without its brackets, as R writes it;
//   - [] for an empty message or map, as PHP writes it;
//   - null for a field that is absent.
//
// A field with the tag proto:"required" must be there. The error is a
// [*plainjson.FieldError] where it is about a field, else that of encoding/json.
func unmarshalProto(data []byte, into any) error {
	var valid json.RawMessage
	if err := json.Unmarshal(data, &valid); err != nil {
		return err
	}
	return readProto(valid, reflect.ValueOf(into).Elem(), "")
}

// readProto reads valid JSON into a value; at is the path of the value.
func readProto(data json.RawMessage, into reflect.Value, at string) error {
	if data = bytes.TrimSpace(data); string(data) == "null" {
		return nil
	}
	expected := func(what string) error { return &plainjson.FieldError{Field: at, Expected: what} }
	if into.Type() == reflect.TypeFor[json.RawMessage]() {
		into.SetBytes(data)
		return nil
	}
	switch into.Kind() {
	case reflect.Pointer:
		value := reflect.New(into.Type().Elem())
		into.Set(value)
		return readProto(data, value.Elem(), at)
	case reflect.Struct:
		fields, ok := protoFields(data)
		if !ok {
			return expected("an object")
		}
		return readProtoMessage(fields, into, at)
	case reflect.Map:
		fields, ok := protoFields(data)
		if !ok {
			return expected("an object")
		}
		into.Set(reflect.MakeMapWithSize(into.Type(), len(fields)))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			value := reflect.New(into.Type().Elem()).Elem()
			if err := readProto(fields[name], value, path(at, name)); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(name), value)
		}
	case reflect.Slice:
		elements := []json.RawMessage{data}
		if data[0] == '[' {
			_ = json.Unmarshal(data, &elements) // it is valid
		}
		into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
		for i, element := range elements {
			if string(element) == "null" {
				return &plainjson.FieldError{Field: fmt.Sprintf("%s[%d]", at, i), Expected: "a value", Found: "nothing"}
			}
			if err := readProto(element, into.Index(i), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case reflect.String:
		text, wrong := readProtoString(data, into)
		if wrong != "" {
			return expected(wrong)
		}
		into.SetString(text)
	case reflect.Bool:
		switch text, _ := unquoteProto(data); text {
		case "true", "false":
			into.SetBool(text == "true")
		default:
			return expected("true or false")
		}
	case reflect.Int:
		number, ok := protoNumber(data)
		if !ok || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32 {
			return expected("a whole number")
		}
		into.SetInt(int64(number))
	case reflect.Float32, reflect.Float64:
		number, ok := protoNumber(data)
		if !ok {
			return expected("a number")
		}
		into.SetFloat(number)
	default:
		panic("formats: no message has a field of the kind " + into.Kind().String())
	}
	return nil
}

// readProtoString returns the text of a string or of an enumeration, or what was
// expected in its place.
func readProtoString(data json.RawMessage, into reflect.Value) (text, expected string) {
	text, quoted := unquoteProto(data)
	enum, ok := reflect.TypeAssert[protoEnum](into)
	if !ok {
		if !quoted {
			return "", "a string"
		}
		return text, ""
	}
	number, err := strconv.Atoi(text)
	if !quoted && err != nil {
		return "", "one of " + strings.Join(enum.names(), ", ")
	}
	for i, name := range enum.names() {
		if strings.EqualFold(text, name) || err == nil && number == i {
			return name, ""
		}
	}
	return text, ""
}

// readProtoMessage reads the fields of a message. Of two spellings of a name, that of
// the tag counts.
func readProtoMessage(fields map[string]json.RawMessage, into reflect.Value, at string) error {
	folded := make(map[string]json.RawMessage, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		folded[strings.ReplaceAll(strings.ToLower(name), "_", "")] = fields[name]
	}
	for field, value := range into.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		data, ok := fields[name]
		if !ok {
			data, ok = folded[strings.ToLower(name)]
		}
		if !ok || string(data) == "null" {
			if field.Tag.Get("proto") == "required" {
				return &plainjson.FieldError{Field: path(at, name), Expected: "a value", Found: "nothing"}
			}
			continue
		}
		if err := readProto(data, value, path(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// path returns the path of a field of a message at a path.
func path(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// protoFields returns the fields of an object, and whether data is one; PHP writes an
// empty one as [].
func protoFields(data json.RawMessage) (fields map[string]json.RawMessage, ok bool) {
	if data[0] == '[' {
		var elements []json.RawMessage
		_ = json.Unmarshal(data, &elements) // it is valid
		return nil, len(elements) == 0
	}
	_ = json.Unmarshal(data, &fields) // it stays nil where data is no object
	return fields, fields != nil
}

// unquoteProto returns the text of a string, or JSON that is no string as it is.
func unquoteProto(data json.RawMessage) (text string, quoted bool) {
	if data[0] != '"' {
		return string(data), false
	}
	_ = json.Unmarshal(data, &text) // it is valid
	return text, true
}

func protoNumber(data json.RawMessage) (number float64, ok bool) {
	text, _ := unquoteProto(data)
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}
