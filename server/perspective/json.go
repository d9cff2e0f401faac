package perspective

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

// standardJSON turns JSON in the form that Google's parser accepted into standard JSON:
// names may lack quotation marks, names and strings may have single ones, and there may
// be a comma after the last element.
func standardJSON(data []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(data) + len(data)/8)
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '"' || c == '\'':
			i = standardString(&out, data, i)
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

// standardString writes the string whose quotation mark is data[i] with double quotation
// marks, and returns the index after it.
func standardString(out *bytes.Buffer, data []byte, i int) int {
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
	data = bytes.TrimPrefix(data, []byte(plainjson.Mark))
	if !json.Valid(data) {
		data = standardJSON(data)
		if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
			return err
		}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return setProto(reflect.ValueOf(into).Elem(), value, "")
}

// setProto sets a Go value to a JSON value, whose numbers are [json.Number]; at is the path of
// the value.
func setProto(into reflect.Value, value any, at string) error {
	if value == nil {
		return nil
	}
	expected := func(what string) error { return &plainjson.FieldError{Field: at, Expected: what} }
	switch into.Kind() {
	case reflect.Interface:
		into.Set(reflect.ValueOf(value))
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return setProto(into.Elem(), value, at)
	case reflect.Struct:
		fields, ok := fieldsOf(value)
		if !ok {
			return expected("an object")
		}
		return setMessage(into, fields, at)
	case reflect.Map:
		fields, ok := fieldsOf(value)
		if !ok {
			return expected("an object")
		}
		into.Set(reflect.MakeMapWithSize(into.Type(), len(fields)))
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			element := reflect.New(into.Type().Elem()).Elem()
			if err := setProto(element, fields[name], path(at, name)); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(name), element)
		}
	case reflect.Slice:
		elements, ok := value.([]any)
		if !ok {
			elements = []any{value}
		}
		into.Set(reflect.MakeSlice(into.Type(), len(elements), len(elements)))
		for i, element := range elements {
			if element == nil {
				return &plainjson.FieldError{Field: fmt.Sprintf("%s[%d]", at, i), Expected: "a value", Found: "nothing"}
			}
			if err := setProto(into.Index(i), element, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case reflect.String:
		text, wrong := textOf(value, into)
		if wrong != "" {
			return expected(wrong)
		}
		into.SetString(text)
	case reflect.Bool:
		switch value {
		case true, "true":
			into.SetBool(true)
		case false, "false":
			into.SetBool(false)
		default:
			return expected("true or false")
		}
	case reflect.Int:
		number, ok := numberOf(value)
		if !ok || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32 {
			return expected("a whole number")
		}
		into.SetInt(int64(number))
	case reflect.Float32, reflect.Float64:
		number, ok := numberOf(value)
		if !ok {
			return expected("a number")
		}
		into.SetFloat(number)
	default:
		panic("perspective: no message has a field of the kind " + into.Kind().String())
	}
	return nil
}

// textOf returns the text of a string or of an enumeration, or what was expected in its
// place.
func textOf(value any, into reflect.Value) (text, expected string) {
	text, quoted := value.(string)
	enum, ok := reflect.TypeAssert[protoEnum](into)
	if !ok {
		if !quoted {
			return "", "a string"
		}
		return text, ""
	}
	if written, ok := value.(json.Number); ok {
		text = string(written)
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

// setMessage sets the fields of a message. Of two spellings of a name, that of the tag
// counts.
func setMessage(into reflect.Value, fields map[string]any, at string) error {
	folded := make(map[string]any, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		folded[strings.ReplaceAll(strings.ToLower(name), "_", "")] = fields[name]
	}
	for field, into := range into.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, ok := fields[name]
		if !ok {
			value = folded[strings.ToLower(name)]
		}
		if value == nil && field.Tag.Get("proto") == "required" {
			return &plainjson.FieldError{Field: path(at, name), Expected: "a value", Found: "nothing"}
		}
		if err := setProto(into, value, path(at, name)); err != nil {
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

// fieldsOf returns the fields of an object; ok is false for another value. PHP writes an
// empty object as [].
func fieldsOf(value any) (fields map[string]any, ok bool) {
	if list, isList := value.([]any); isList {
		return nil, len(list) == 0
	}
	fields, ok = value.(map[string]any)
	return fields, ok
}

// numberOf returns a number, also one in quotation marks.
func numberOf(value any) (number float64, ok bool) {
	text, quoted := value.(string)
	if written, ok := value.(json.Number); ok {
		text = string(written)
	} else if !quoted {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	return number, err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
}
