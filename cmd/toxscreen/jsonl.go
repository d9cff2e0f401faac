package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/toxscreen/toxscreen"
)

// lineReader reads lines of a limited length in constant memory.
type lineReader struct {
	in     *bufio.Reader
	limit  int   // bytes of a line, its break not counted
	number int64 // of the line read last
	offset int64 // bytes read
	buffer []byte
}

// next returns the next line without its break, valid until the next call. Of
// a line over the limit it only says so.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	l.buffer = l.buffer[:0]
	l.number++
	for some := false; ; some = true {
		part, err := l.in.ReadSlice('\n')
		l.offset += int64(len(part))
		if !tooLong {
			l.buffer = append(l.buffer, part...)
			tooLong = len(bytes.TrimRight(l.buffer, "\r\n")) > l.limit
		}
		if tooLong && len(l.buffer) > 0 {
			l.buffer = l.buffer[:0]
		}
		switch {
		case err == nil:
			return bytes.TrimRight(l.buffer, "\r\n"), tooLong, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && (some || len(part) > 0):
			return bytes.TrimRight(l.buffer, "\r\n"), tooLong, nil
		default:
			return nil, false, err
		}
	}
}

// jsonReader reads an object a line.
type jsonReader struct {
	source  *countingSource
	lines   lineReader
	options inputOptions
	rows    int64
}

func (j *jsonReader) columns() []column {
	return []column{{"input", parquet.Optional(parquet.JSON())}}
}

func (j *jsonReader) id() parquet.Node { return parquet.Optional(parquet.String()) }
func (j *jsonReader) length() int64    { return j.source.length }
func (j *jsonReader) close() error     { return j.source.closer.Close() }

func (j *jsonReader) skip(ctx context.Context, rows int64) (int64, error) {
	return skipRows(ctx, j, rows)
}

// next reads the next line that is not blank.
func (j *jsonReader) next() (row, error) {
	for {
		line, tooLong, err := j.lines.next()
		if err != nil {
			return row{}, cause(err)
		}
		if len(bytes.TrimSpace(line)) == 0 && !tooLong {
			continue
		}
		j.rows++
		r := row{number: j.rows, size: 2*len(line) + 512, upTo: j.lines.offset}
		where := fmt.Sprintf("line %d", j.lines.number)
		if tooLong {
			r.err = errTooLongRow(where, j.lines.limit)
			return r, nil
		}
		found, err := parseObject(line, j.options)
		if err != nil {
			r.err = fmt.Errorf("%s: %w", where, err)
			return r, nil
		}
		r.fields = found
		if r.text, err = found.text(j.options.text); err != nil {
			r.err = fmt.Errorf("%s: %w", where, err)
		}
		return r, nil
	}
}

// object is a line's JSON object, taken apart.
type object struct {
	rawText []byte // nil where there is none
	rawID   []byte // string or number; nil where there is none
	rest    []byte // object of the other fields; nil where there are none
	names   []string
}

// parseObject takes a line apart without changing the order of its fields or
// the way that numbers are written. Of a name given twice the last counts for
// text and id, as nearly everywhere.
func parseObject(line []byte, o inputOptions) (*object, error) {
	if !json.Valid(line) {
		var nothing any
		err := json.Unmarshal(line, &nothing)
		if err == nil {
			err = errors.New("it is broken")
		}
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, errors.New("it is JSON, but not an object")
	}
	found := &object{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		switch name {
		case o.text:
			found.rawText = value
		case o.id:
			found.rawID = value
		default:
			found.names = append(found.names, name.(string))
			if found.rest == nil {
				found.rest = append(found.rest, '{')
			} else {
				found.rest = append(found.rest, ',')
			}
			found.rest = appendJSON(found.rest, name)
			found.rest = append(found.rest, ':')
			found.rest = append(found.rest, bytes.ToValidUTF8(value, []byte("\uFFFD"))...)
		}
	}
	if found.rest != nil {
		found.rest = append(found.rest, '}')
	}
	if o.id != "" && bytes.Equal(found.rawID, []byte("null")) {
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
		there := make([]string, len(o.names))
		for i, n := range o.names {
			there[i] = fmt.Sprintf("%q", n)
		}
		return "", fmt.Errorf("there is no field %q; there are: %s", name, quoted(there))
	case o.rawText[0] != '"':
		return "", fmt.Errorf("the field %q is not a string but %s", name, typeOf(o.rawText))
	case o.rawID != nil && o.rawID[0] != '"' && o.rawID[0] != '-' && (o.rawID[0] < '0' || o.rawID[0] > '9'):
		return "", fmt.Errorf("the id is neither a string nor a number but %s", typeOf(o.rawID))
	}
	return unquote(o.rawText)
}

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
		return "a string"
	}
	return "a number"
}

// unquote returns what a JSON string stands for. Bytes that are not valid
// UTF-8 are kept, where encoding/json would replace them: the offsets of
// spans count the bytes of the input, and the result is to carry a warning.
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

func (o *object) json() (id, rest []byte, err error) {
	if o.rawID != nil {
		id = bytes.ToValidUTF8(o.rawID, []byte("\uFFFD"))
	}
	return id, o.rest, nil
}

// idText returns the id as a cell.
func (o *object) idText() string {
	if len(o.rawID) == 0 || o.rawID[0] != '"' {
		return string(o.rawID)
	}
	id, err := unquote(o.rawID)
	if err != nil {
		return string(o.rawID)
	}
	return id
}

func (o *object) cells() (id string, rest []string, err error) {
	return o.idText(), []string{string(o.rest)}, nil
}

func (o *object) values() (id parquet.Value, rest [][]parquet.Value) {
	id, input := parquet.NullValue(), parquet.NullValue()
	if o.rawID != nil {
		id = parquet.ByteArrayValue([]byte(o.idText())).Level(0, 1, 0)
	}
	if o.rest != nil {
		input = parquet.ByteArrayValue(o.rest).Level(0, 1, 0)
	}
	return id, [][]parquet.Value{{input}}
}

// encodeJSON returns the JSON form of a value in one line.
func encodeJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, value, ""); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// appendJSON appends a value that is known to have a JSON form.
func appendJSON(to []byte, value any) []byte {
	encoded, err := encodeJSON(value)
	if err != nil {
		panic(err)
	}
	return append(to, encoded...)
}

// jsonLine returns the line of a row. It is the native result with the row's
// number and id before it and the rest of the input's fields behind it.
func jsonLine(o toxscreen.Outcome[row], keepText bool) ([]byte, error) {
	line := fmt.Appendf(nil, `{"row":%d`, o.Row.number)
	var rest []byte
	if o.Row.fields != nil {
		id, others, err := o.Row.fields.json()
		if err != nil {
			return nil, err
		}
		if id != nil {
			line = append(append(line, `,"id":`...), id...)
		}
		rest = others
	}
	if keepText && o.Row.err == nil {
		line = appendJSON(append(line, `,"text":`...), o.Row.text)
	}
	line = append(line, ',')
	if o.Err != nil {
		line = appendJSON(append(line, `"error":`...), o.Err.Error())
	} else {
		result, err := encodeJSON(o.Result)
		if err != nil {
			return nil, err
		}
		line = append(line, result[1:len(result)-1]...)
	}
	if rest != nil {
		line = append(append(line, `,"input":`...), rest...)
	}
	return append(line, '}', '\n'), nil
}
