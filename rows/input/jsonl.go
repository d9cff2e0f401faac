package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen/internal/files"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// jsonReader reads one object from each line.
type jsonReader struct {
	source
	Options

	lines lineReader
	rows  int64
}

func (j *jsonReader) Columns() []Column {
	return []Column{{"input", parquet.Optional(parquet.JSON())}}
}

// Next reads the next line and skips blank ones.
func (j *jsonReader) Next() (Row, error) {
	for {
		line, tooLong, err := j.lines.next()
		if err != nil {
			return Row{}, files.Cause(err)
		}
		if len(bytes.TrimSpace(line)) == 0 && !tooLong {
			continue
		}
		j.rows++
		r := Row{Number: j.rows, Size: 2*len(line) + 512, UpTo: j.lines.offset, Undecodable: j.undecodable(line)}
		where := fmt.Sprintf("line %d", j.lines.number)
		if tooLong {
			r.Err = j.tooLong(where)
			return r, nil
		}
		found, err := parseObject(line, j.Text, j.ID)
		if err != nil {
			r.Err = fmt.Errorf("%s: %w", where, err)
			if j.rows == 1 && line[0] != '{' {
				r.Err = fmt.Errorf("%w; if the input has another format, name it with %s: csv, tsv or lines", r.Err, j.Option("InputFormat"))
			}
			return r, nil
		}
		r.Fields, r.Nonfinite = found, found.nonfinite
		if j.Text == "" {
			return r, nil
		}
		if r.Text, err = found.text(j.Text); err != nil {
			r.Err = fmt.Errorf("%s: %w", where, err)
		}
		return r, nil
	}
}

// object is the parsed JSON object of a line.
type object struct {
	rawText []byte   // nil if there is none
	rawID   []byte   // nil if there is none
	others  []byte   // object of the other fields; nil if there are none
	names   []string // of the other fields

	nonfinite bool // whether it has NaN or an infinity, which are read as null
}

// parseObject parses a line. It keeps the order of the fields and the notation of numbers.
// If a name is repeated, the last value counts for text and id, as in most parsers. NaN and
// infinities, which Python writes, become null. Values may be nested 10,000 deep, the limit
// of encoding/json.
func parseObject(line []byte, text, id string) (*object, error) {
	found := &object{}
	if line, found.nonfinite = plainjson.Finite(line); !found.nonfinite && !json.Valid(line) {
		var nothing any
		err := json.Unmarshal(line, &nothing)
		if err == nil {
			err = errors.New("it is broken")
		}
		if errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&nothing), io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w; an object must be on one line", err)
		}
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it is JSON, but not an object")
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		switch name := token.(string); name {
		case text:
			found.rawText = value
		case id:
			found.rawID = value
		default:
			found.names = append(found.names, name)
			found.others = AppendField(found.others, name, bytes.ToValidUTF8(value, replacement))
		}
	}
	if found.others != nil {
		found.others = append(found.others, '}')
	}
	if bytes.Equal(found.rawID, []byte("null")) {
		found.rawID = nil
	}
	return found, nil
}

func (o *object) text(name string) (string, error) {
	switch {
	case o.rawText == nil:
		if len(o.names) == 0 {
			return "", fmt.Errorf("there is no field %q", name)
		}
		return "", fmt.Errorf("there is no field %q; there are: %s", name, quoted(o.names))
	case o.rawText[0] != '"':
		return "", fmt.Errorf("the field %q is not a string but %s", name, typeOf(o.rawText))
	case o.rawID != nil && typeOf(o.rawID) != aString && typeOf(o.rawID) != aNumber:
		return "", fmt.Errorf("the id is neither a string nor a number but %s", typeOf(o.rawID))
	}
	return unquote(o.rawText)
}

// The names that [typeOf] gives to the types that matter.
const (
	aString = "a string"
	aNumber = "a number"
)

func typeOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '"':
		return aString
	}
	return aNumber
}

// unquote returns the value of a JSON string. It keeps bytes that are not valid UTF-8,
// which encoding/json would replace, for two reasons: the offsets of spans count the bytes
// of the input, and the result must have a warning.
func unquote(quoted []byte) (string, error) {
	var b strings.Builder
	inner := quoted[1 : len(quoted)-1]
	for len(inner) > 0 {
		valid := 0
		for valid < len(inner) {
			c, size := utf8.DecodeRune(inner[valid:])
			if c == utf8.RuneError && size == 1 {
				break
			}
			valid += size
		}
		if valid > 0 {
			var part string
			if err := json.Unmarshal(append(append([]byte{'"'}, inner[:valid]...), '"'), &part); err != nil {
				return "", err
			}
			b.WriteString(part)
		}
		if inner = inner[valid:]; len(inner) > 0 {
			b.WriteByte(inner[0])
			inner = inner[1:]
		}
	}
	return b.String(), nil
}

func (o *object) JSON() (id, others []byte, err error) {
	if o.rawID != nil {
		id = bytes.ToValidUTF8(o.rawID, replacement)
	}
	return id, o.others, nil
}

func (o *object) Cells() (id string, others []string, err error) {
	return IDText(o.rawID), []string{string(o.others)}, nil
}

func (o *object) Values() (id parquet.Value, others [][]parquet.Value) {
	input := parquet.NullValue()
	if o.rawID != nil {
		id = parquet.ByteArrayValue([]byte(IDText(o.rawID))).Level(0, 1, 0)
	}
	if o.others != nil {
		input = parquet.ByteArrayValue(o.others).Level(0, 1, 0)
	}
	return id, [][]parquet.Value{{input}}
}

// IDText returns a JSON id as text: the value of a string, or a number in its notation.
func IDText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return string(raw)
	}
	id, err := unquote(raw)
	if err != nil {
		return string(raw)
	}
	return id
}

// AppendField appends a field to a JSON object that still lacks its closing brace. nil
// stands for an object that also lacks its opening brace.
func AppendField(object []byte, name string, value []byte) []byte {
	object = append(plainjson.Append(Separated(object), name), ':')
	return append(object, value...)
}

// Separated appends what stands before the next field to an object without its closing
// brace: the opening brace or a comma.
func Separated(object []byte) []byte {
	if object == nil {
		return []byte{'{'}
	}
	return append(object, ',')
}
