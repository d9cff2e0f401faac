package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Unmarshal decodes one JSON value, like [json.Unmarshal]. A byte order mark before it
// is ignored. Errors are for the people who wrote the JSON: they name the field and
// what it must be, and no types of Go.
func Unmarshal(data []byte, into any) error { return decode(data, into, false) }

// UnmarshalStrict is [Unmarshal], with an error for a field that into does not have.
func UnmarshalStrict(data []byte, into any) error { return decode(data, into, true) }

// Mark is the byte order mark that some programs on Windows write before JSON.
const Mark = "\ufeff"

func decode(data []byte, into any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte(Mark))))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(into); err != nil {
		return Explain(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more data after its JSON")
	}
	return nil
}

// Explain returns an error of encoding/json as [Unmarshal] would, for callers with a
// decoder of their own. It returns other errors as they are.
func Explain(err error) error {
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty: there must be a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("its JSON breaks off")
	case isType:
		return &FieldError{Field: field(wrong.Field), Expected: kind(wrong.Type), Found: value(wrong.Value)}
	case strings.HasPrefix(err.Error(), "json: "):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return err
}

// FieldError means that a field has a value of another type than it must have.
type FieldError struct {
	Field    string // its path, such as "thresholds.insult"; empty for the whole value
	Expected string // "a number"
	Found    string // "a string"; empty if nothing can be said about it
}

// Error implements error.
func (e *FieldError) Error() string {
	message := "expected " + e.Expected
	if e.Found != "" {
		message += ", found " + e.Found
	}
	if e.Field != "" {
		message = e.Field + ": " + message
	}
	return message
}

// field returns a path without the types of embedded structs, which encoding/json puts
// into it: these begin with a capital letter, and no field does.
func field(path string) string {
	names := strings.Split(path, ".")
	return strings.Join(slices.DeleteFunc(names, func(name string) bool {
		first, _ := utf8.DecodeRuneInString(name)
		return unicode.IsUpper(first)
	}), ".")
}

// kind returns what JSON a type is read from.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return kind(t.Elem())
	default:
		return "a whole number"
	}
}

// value returns what JSON was found, by the description of encoding/json.
func value(found string) string {
	switch found {
	case "bool":
		return "true or false"
	case "string", "number":
		return "a " + found
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return strings.TrimPrefix(found, "number ") // the number itself, which does not fit
}
