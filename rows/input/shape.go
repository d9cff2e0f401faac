package input

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// shape is a node of a Parquet schema, with the form of its values in JSON and in a cell of
// CSV. The library's own conversion to Go values would lose unsigned numbers, the digits of
// decimals, the types of nested values and the order of their fields.
type shape struct {
	name               string
	optional, repeated bool
	leaves             int
	kind               nodeKind
	fields             []shape
	wrapped            bool                        // whether the items of a list are in groups of one field
	leaf               func(parquet.Value) *scalar // of a leaf
}

// nodeKind is what a node stands for.
type nodeKind int

const (
	leafNode nodeKind = iota
	groupNode
	listNode // its only field is repeated: the items
	mapNode  // its only field is repeated: groups of a key and a value
)

// scalar is a value in a cell of CSV: the text of a string, else JSON. A nil scalar is
// null.
type scalar struct {
	text   string
	quoted bool // whether it is a string in JSON
}

func (s *scalar) cell() string {
	if s == nil {
		return ""
	}
	return s.text
}

// json appends the value.
func (s *scalar) json(to []byte) []byte {
	switch {
	case s == nil:
		return append(to, "null"...)
	case s.quoted:
		return plainjson.Append(to, s.text)
	}
	return append(to, s.text...)
}

// shapeOf returns the shape of a node.
func shapeOf(f parquet.Field) shape {
	s := shape{name: f.Name(), optional: f.Optional(), repeated: f.Repeated()}
	if f.Leaf() {
		s.leaves, s.leaf = 1, leafOf(f.Type())
		return s
	}
	s.kind = groupNode
	for _, field := range f.Fields() {
		inner := shapeOf(field)
		s.fields = append(s.fields, inner)
		s.leaves += inner.leaves
	}
	if t := f.Type().LogicalType(); t != nil && len(s.fields) == 1 && s.fields[0].repeated {
		items := &s.fields[0]
		switch t.Value.(type) {
		case *format.ListType:
			s.kind = listNode
			// Older writers have no group around an item that is a group itself.
			s.wrapped = items.kind != leafNode && len(items.fields) == 1 && items.name != "array" && items.name != s.name+"_tuple"
		case *format.MapType:
			if items.kind == groupNode && len(items.fields) == 2 && items.fields[0].kind == leafNode && !items.fields[0].repeated {
				s.kind = mapNode
			}
		}
	}
	return s
}

// readable refuses columns of types that hardly any file has and that another type can
// replace.
func readable(file *parquet.File) error {
	leaf := 0
	for _, e := range file.Metadata().Schema {
		if !e.Type.Valid {
			continue // a group
		}
		name, cast := "", ""
		switch e.LogicalType.Value.(type) {
		case *format.Float16Type:
			name, cast = "FLOAT16", "FLOAT"
		case *format.BsonType:
			name, cast = "BSON", "JSON"
		case *format.GeometryType:
			name, cast = "GEOMETRY", "a string, such as WKT"
		case *format.GeographyType:
			name, cast = "GEOGRAPHY", "a string, such as WKT"
		}
		switch {
		case e.Type.V == format.Int96:
			name, cast = "INT96", "TIMESTAMP"
		case e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval:
			name, cast = "INTERVAL", "a string"
		case e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Bson:
			name, cast = "BSON", "JSON"
		}
		if name != "" {
			return fmt.Errorf("column %q has the type %s, which is not supported: cast it to %s, or leave it out", strings.Join(file.Schema().Columns()[leaf], "."), name, cast)
		}
		leaf++
	}
	return nil
}

// value returns the value of a node in a row. columns are the values of its leaves. depth
// and defined are the highest levels of repetition and of definition outside the node.
func (s *shape) value(columns [][]parquet.Value, depth, defined int) *scalar {
	if s.optional {
		if defined++; columns[0][0].DefinitionLevel() < defined {
			return nil
		}
	}
	if s.repeated {
		return list(columns, depth, defined, s.one)
	}
	return s.one(columns, depth, defined)
}

// one is value for a node that is present, or for one item of a repeated node.
func (s *shape) one(columns [][]parquet.Value, depth, defined int) *scalar {
	var object []byte
	switch s.kind {
	case leafNode:
		return s.leaf(columns[0][0])
	case listNode:
		if items := &s.fields[0]; !s.wrapped {
			return list(columns, depth, defined, items.one)
		}
		return list(columns, depth, defined, s.fields[0].fields[0].value)
	case mapNode:
		key, value := &s.fields[0].fields[0], &s.fields[0].fields[1]
		for item := range items(columns, depth, defined) {
			name := key.value(item[:1], depth+1, defined+1).cell()
			object = AppendField(object, name, value.value(item[1:], depth+1, defined+1).json(nil))
		}
	case groupNode:
		first := 0
		for _, field := range s.fields {
			object = AppendField(object, field.name, field.value(columns[first:first+field.leaves], depth, defined).json(nil))
			first += field.leaves
		}
	}
	if object == nil {
		object = []byte{'{'}
	}
	return &scalar{text: string(append(object, '}'))}
}

// list returns the list of the items of a repeated node.
func list(columns [][]parquet.Value, depth, defined int, item func(columns [][]parquet.Value, depth, defined int) *scalar) *scalar {
	out := []byte{'['}
	for values := range items(columns, depth, defined) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = item(values, depth+1, defined+1).json(out)
	}
	return &scalar{text: string(append(out, ']'))}
}

// items yields the values of the leaves of a repeated node, item by item.
func items(columns [][]parquet.Value, depth, defined int) iter.Seq[[][]parquet.Value] {
	return func(yield func([][]parquet.Value) bool) {
		if columns[0][0].DefinitionLevel() <= defined {
			return // no item
		}
		rest := slices.Clone(columns)
		for len(rest[0]) > 0 {
			item := make([][]parquet.Value, len(rest))
			for i, values := range rest {
				n := 1
				for n < len(values) && values[n].RepetitionLevel() > depth+1 {
					n++
				}
				item[i], rest[i] = values[:n], values[n:]
			}
			if !yield(item) {
				return
			}
		}
	}
}

// leafOf returns the function that writes the values of a leaf. A value outside the type's
// range becomes null.
func leafOf(t parquet.Type) func(parquet.Value) *scalar {
	write := plain
	if logical := t.LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.StringType, *format.EnumType:
			write = text
		case *format.JsonType:
			write = embedded
		case *format.UUIDType:
			write = func(v parquet.Value) *scalar {
				b := v.ByteArray()
				return &scalar{fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true}
			}
		case *format.IntType:
			if !l.IsSigned {
				write = unsigned
			}
		case *format.DecimalType:
			write = func(v parquet.Value) *scalar { return decimal(v, int(l.Scale)) }
		case *format.DateType:
			write = func(v parquet.Value) *scalar { return moment(time.Unix(86400*wholeNumber(v), 0), time.DateOnly) }
		case *format.TimeType:
			write = func(v parquet.Value) *scalar { return moment(since1970(wholeNumber(v), l.Unit), timeOfDay) }
		case *format.TimestampType:
			layout := time.RFC3339Nano
			if !l.IsAdjustedToUTC {
				layout = time.DateOnly + "T" + timeOfDay // it is local: no offset is known
			}
			write = func(v parquet.Value) *scalar { return moment(since1970(wholeNumber(v), l.Unit), layout) }
		case *format.NullType:
			write = func(parquet.Value) *scalar { return nil }
		}
	}
	return func(v parquet.Value) *scalar {
		if v.IsNull() {
			return nil
		}
		return write(v)
	}
}

// timeOfDay is the layout of a time with as many digits of the second as it has.
const timeOfDay = "15:04:05.999999999"

// plain writes a value without a logical type. Bytes that can be text are text: some
// writers do not mark their strings.
func plain(v parquet.Value) *scalar {
	switch v.Kind() {
	case parquet.Boolean:
		return &scalar{text: strconv.FormatBool(v.Boolean())}
	case parquet.Int32, parquet.Int64:
		return &scalar{text: strconv.FormatInt(wholeNumber(v), 10)}
	case parquet.Float:
		if f := v.Float(); f-f == 0 {
			return &scalar{text: string(plainjson.Append(nil, f))}
		}
		return nil
	case parquet.Double:
		return float(v.Double())
	default:
		if utf8.Valid(v.ByteArray()) {
			return text(v)
		}
		return base64Of(v)
	}
}

func wholeNumber(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func unsigned(v parquet.Value) *scalar {
	if v.Kind() == parquet.Int32 {
		return &scalar{text: strconv.FormatUint(uint64(v.Uint32()), 10)}
	}
	return &scalar{text: strconv.FormatUint(v.Uint64(), 10)}
}

// float writes a number. NaN and infinities, which JSON lacks, become null.
func float(f float64) *scalar {
	if f-f != 0 {
		return nil
	}
	return &scalar{text: string(plainjson.Append(nil, f))}
}

// decimal writes a number with as many digits after the point as its type has.
func decimal(v parquet.Value, scale int) *scalar {
	const most = 64 // bytes, and digits after the point; formats have at most 76 digits
	unscaled := new(big.Int)
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		unscaled.SetInt64(wholeNumber(v))
	default:
		b := v.ByteArray() // big-endian, two's complement
		if len(b) > most {
			return base64Of(v)
		}
		if unscaled.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
			unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	digits := unscaled.Text(10)
	sign := ""
	if unscaled.Sign() < 0 {
		sign, digits = "-", digits[1:]
	}
	switch {
	case scale == 0:
		return &scalar{text: sign + digits}
	case scale < 0 || scale > 2*most:
		return &scalar{text: fmt.Sprintf("%s%se%d", sign, digits, -scale)}
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - scale
	return &scalar{text: sign + digits[:point] + "." + digits[point:]}
}

// since1970 returns the time n units after the beginning of 1970, UTC.
func since1970(n int64, unit format.TimeUnit) time.Time {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n)
	case *format.MicroSeconds:
		return time.UnixMicro(n)
	}
	return time.Unix(0, n)
}

func moment(t time.Time, layout string) *scalar { return &scalar{t.UTC().Format(layout), true} }

func text(v parquet.Value) *scalar { return &scalar{string(v.ByteArray()), true} }

// embedded writes JSON on one line. Other content is text.
func embedded(v parquet.Value) *scalar {
	var b bytes.Buffer
	if err := json.Compact(&b, v.ByteArray()); err != nil || !utf8.Valid(b.Bytes()) {
		return text(v)
	}
	return &scalar{text: b.String()}
}

func base64Of(v parquet.Value) *scalar {
	return &scalar{base64.StdEncoding.EncodeToString(v.ByteArray()), true}
}
