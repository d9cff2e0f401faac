package rows_test

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toxscreen/toxscreen/rows"
)

// annotated is a type with the annotation of another.
type annotated struct {
	parquet.Type

	as format.LogicalTypeValue
}

func (a annotated) LogicalType() *format.LogicalType { return &format.LogicalType{Value: a.as} }

// Values keep what they mean in every output: numbers their sign and their digits,
// times their zone. A string is the same in JSON and in CSV, except for the quotes.
func TestParquetValues(t *testing.T) {
	fixed := func(b ...byte) parquet.Value { return parquet.FixedLenByteArrayValue(b) }
	bytes := func(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }
	types := []struct {
		name  string
		node  parquet.Node
		value parquet.Value
		want  string // JSON
	}{
		{"bool", parquet.Leaf(parquet.BooleanType), parquet.BooleanValue(true), `true`},
		{"int8", parquet.Int(8), parquet.Int32Value(-128), `-128`},
		{"uint8", parquet.Uint(8), parquet.Int32Value(255), `255`},
		{"uint32", parquet.Uint(32), parquet.Int32Value(-1), `4294967295`},
		{"int64", parquet.Int(64), parquet.Int64Value(-9223372036854775808), `-9223372036854775808`},
		{"uint64", parquet.Uint(64), parquet.Int64Value(-1), `18446744073709551615`},
		{"float", parquet.Leaf(parquet.FloatType), parquet.FloatValue(0.1), `0.1`},
		{"double", parquet.Leaf(parquet.DoubleType), parquet.DoubleValue(1e-7), `1e-7`},
		{"decimal int32", parquet.Decimal(2, 9, parquet.Int32Type), parquet.Int32Value(1230), `12.30`},
		{"decimal int64", parquet.Decimal(3, 18, parquet.Int64Type), parquet.Int64Value(-5), `-0.005`},
		{"decimal fixed", parquet.Decimal(1, 38, parquet.FixedLenByteArrayType(3)), fixed(0xff, 0xff, 0x00), `-25.6`},
		{"decimal bytes", parquet.Decimal(0, 76, parquet.ByteArrayType), bytes("\x01\x00\x00\x00\x00\x00\x00\x00\x00"), `18446744073709551616`},
		{"date", parquet.Date(), parquet.Int32Value(-1), `"1969-12-31"`},
		{"time", parquet.Time(parquet.Millisecond), parquet.Int32Value(3723004), `"01:02:03.004"`},
		{"time of ns", parquet.Time(parquet.Nanosecond), parquet.Int64Value(1), `"00:00:00.000000001"`},
		{"timestamp", parquet.Timestamp(parquet.Microsecond), parquet.Int64Value(1704164645678901), `"2024-01-02T03:04:05.678901Z"`},
		{"local timestamp", parquet.TimestampAdjusted(parquet.Millisecond, false), parquet.Int64Value(1704164645000), `"2024-01-02T03:04:05"`},
		{"string", parquet.String(), bytes("a \"b\""), `"a \"b\""`},
		{"unmarked string", parquet.Leaf(parquet.ByteArrayType), bytes("grün"), `"grün"`},
		{"bytes", parquet.Leaf(parquet.ByteArrayType), bytes("\xff\x00"), `"/wA="`},
		{"enum", parquet.Enum(), bytes("A"), `"A"`},
		{"uuid", parquet.UUID(), fixed(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255), `"00010203-0405-0607-0809-0a0b0c0d0eff"`},
		{"json", parquet.JSON(), bytes("{\"b\": 1.50,\n\"a\": [1]}"), `{"b":1.50,"a":[1]}`},
		{"broken json", parquet.JSON(), bytes("{"), `"{"`},
	}
	group := parquet.Group{"text": parquet.String()}
	for _, c := range types {
		group[c.name] = parquet.Optional(c.node)
	}
	schema := parquet.NewSchema("types", group)
	full, empty := make(parquet.Row, len(types)+1), make(parquet.Row, len(types)+1)
	place := func(name string) int {
		leaf, _ := schema.Lookup(name)
		return leaf.ColumnIndex
	}
	for _, c := range types {
		at := place(c.name)
		full[at], empty[at] = c.value.Level(0, 1, at), parquet.NullValue().Level(0, 0, at)
	}
	at := place("text")
	full[at] = bytes("you idiot").Level(0, 0, at)
	empty[at] = full[at]

	in := filepath.Join(t.TempDir(), "in.parquet")
	writeParquet(t, in, schema, full, empty)
	got, null := rowsOf(t, in)
	for _, c := range types {
		if want := c.want; string(got.json[c.name]) != want || string(null.json[c.name]) != "null" {
			t.Errorf("%s is %s and %s in JSON, want %s and null", c.name, got.json[c.name], null.json[c.name], want)
		}
		want := c.want
		if strings.HasPrefix(want, `"`) {
			if err := json.Unmarshal([]byte(want), &want); err != nil {
				t.Fatal(err)
			}
		}
		if got.cells[c.name] != want || null.cells[c.name] != "" {
			t.Errorf("%s is %q and %q in CSV, want %q and nothing", c.name, got.cells[c.name], null.cells[c.name], want)
		}
	}
}

// Types that hardly any file has are refused before a row is scored, with the name of the
// column and what to cast it to.
func TestParquetTypesThatAreNotSupported(t *testing.T) {
	for want, node := range map[string]parquet.Node{
		`column "odd" has the type FLOAT16, which is not supported: cast it to FLOAT, or leave it out`:                   parquet.Leaf(annotated{parquet.FixedLenByteArrayType(2), &format.Float16Type{}}),
		`column "odd" has the type INT96, which is not supported: cast it to TIMESTAMP, or leave it out`:                 parquet.Leaf(parquet.Int96Type),
		`column "odd" has the type INTERVAL, which is not supported: cast it to a string, or leave it out`:               parquet.IntervalNode(),
		`column "odd" has the type BSON, which is not supported: cast it to JSON, or leave it out`:                       parquet.BSON(),
		`column "odd.inner" has the type BSON, which is not supported: cast it to JSON, or leave it out`:                 parquet.Group{"inner": parquet.BSON()},
		`column "odd" has the type GEOMETRY, which is not supported: cast it to a string, such as WKT, or leave it out`:  parquet.Leaf(annotated{parquet.ByteArrayType, &format.GeometryType{}}),
		`column "odd" has the type GEOGRAPHY, which is not supported: cast it to a string, such as WKT, or leave it out`: parquet.Leaf(annotated{parquet.ByteArrayType, &format.GeographyType{}}),
	} {
		in := filepath.Join(t.TempDir(), "in.parquet")
		writeParquet(t, in, parquet.NewSchema("odd", parquet.Group{"text": parquet.String(), "odd": node}))
		if _, err := score(t, rows.Options{Input: in, Stdout: io.Discard}, screener()); err == nil || err.Error() != "failed to read "+in+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Lists, maps and groups are JSON, with the types of what is in them and the order
// of their fields.
func TestNestedParquetValues(t *testing.T) {
	type inner struct {
		Z uint64  `parquet:"z"`
		A *string `parquet:"a,optional"`
	}
	type nested struct {
		Text   string           `parquet:"text"`
		List   []int64          `parquet:"list,list,optional"`
		Lists  [][]uint32       `parquet:"lists,list"`
		Bare   []string         `parquet:"bare"`
		Group  *inner           `parquet:"group,optional"`
		Groups []inner          `parquet:"groups,list"`
		Map    map[string]inner `parquet:"map"`
		Number map[int32]uint64 `parquet:"number"`
	}
	a, in := "x", filepath.Join(t.TempDir(), "in.parquet")
	if err := parquet.WriteFile(in, []nested{
		{
			"you idiot", []int64{1, 2}, [][]uint32{{1<<32 - 1}, {}}, []string{"b", "c"}, &inner{1<<64 - 1, &a}, []inner{{1, nil}, {2, &a}},
			map[string]inner{"k": {3, nil}}, map[int32]uint64{-1: 1<<64 - 1},
		},
		{Text: "garden"},
	}); err != nil {
		t.Fatal(err)
	}
	full, empty := rowsOf(t, in)
	want := map[string][2]string{
		"list":   {`[1,2]`, `null`},
		"lists":  {`[[4294967295],[]]`, `[]`},
		"bare":   {`["b","c"]`, `[]`},
		"group":  {`{"z":18446744073709551615,"a":"x"}`, `null`},
		"groups": {`[{"z":1,"a":null},{"z":2,"a":"x"}]`, `[]`},
		"map":    {`{"k":{"z":3,"a":null}}`, `{}`},
		"number": {`{"-1":18446744073709551615}`, `{}`},
	}
	got := map[string][2]string{}
	for name, value := range full.json {
		got[name] = [2]string{string(value), string(empty.json[name])}
		if cell := full.cells[name]; cell != string(value) {
			t.Errorf("%s is %s in CSV, %s in JSON", name, cell, value)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// columns are the columns of the input in two results.
type columns struct {
	json  map[string]json.RawMessage
	cells map[string]string
}

// rowsOf scores a Parquet file with two rows and returns their columns in JSONL and
// CSV. They must be the same if the file was copied to Parquet first.
func rowsOf(t *testing.T, in string) (first, second columns) {
	t.Helper()
	folder := t.TempDir()
	copied := filepath.Join(folder, "copied.parquet")
	if _, err := score(t, rows.Options{Input: in, Output: copied, KeepText: true}, screener()); err != nil {
		t.Fatal(err)
	}
	columnsOf := func(in, name, prefix string) (found []columns) {
		lines, cells := filepath.Join(folder, name+".jsonl"), filepath.Join(folder, name+".csv")
		for _, out := range []string{lines, cells} {
			if _, err := score(t, rows.Options{Input: in, Output: out}, screener()); err != nil {
				t.Fatal(err)
			}
		}
		records, err := csv.NewReader(strings.NewReader(read(t, cells))).ReadAll()
		if err != nil || len(records) != 3 {
			t.Fatalf("%v: %d records", err, len(records))
		}
		number := 0
		for line := range strings.Lines(read(t, lines)) {
			number++
			one := columns{map[string]json.RawMessage{}, map[string]string{}}
			var r rows.Result
			var input map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(r.Input, &input); err != nil {
				t.Fatal(err)
			}
			for name, value := range input {
				if name, ok := strings.CutPrefix(name, prefix); ok {
					one.json[name] = value
				}
			}
			for i, name := range records[0] {
				if name, ok := strings.CutPrefix(name, "input_"+prefix); ok {
					one.cells[name] = records[number][i]
				}
			}
			found = append(found, one)
		}
		return found
	}
	original, again := columnsOf(in, "original", ""), columnsOf(copied, "again", "input_")
	if diff := cmp.Diff(fmt.Sprintf("%s", original), fmt.Sprintf("%s", again)); diff != "" {
		t.Errorf("a copy in Parquet differs: %s", diff)
	}
	return original[0], original[1]
}

func writeParquet(t *testing.T, path string, schema *parquet.Schema, all ...parquet.Row) {
	t.Helper()
	var b strings.Builder
	w := parquet.NewGenericWriter[any](&b, schema)
	if _, err := w.WriteRows(all); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, b.String())
}

// pyarrow writes a row group without pages for a table without rows, as in
// pyarrow.parquet.write_table(pyarrow.table({"id": …, "text": …}), path, store_schema=False).
const withoutRows = "UEFSMRUEFQAVAkwVABUAEgAAABUEFQAVAkwVABUAEgAAABUEGTw1ABgGc2NoZW1hFQQAFQQlAhgCaWQAFQwlAhgEdGV4dCUATBwAAAAWABkcGSwmABwVBBkl" +
	"AAYZGAJpZBUCFgAWHBYeJgAmCCkcFQQVABUCAAAAJgAcFQwZJQAGGRgEdGV4dBUCFgAWHBYeJgAmJikcFQQVABUCAAAAFjgWACYIFjwAKCBwYXJxdWV0LWNw" +
	"cC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAALEAAABQQVIx"

func TestParquetWithoutRows(t *testing.T) {
	data, err := base64.StdEncoding.DecodeString(withoutRows)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	in := write(t, filepath.Join(folder, "in.parquet"), string(data))
	for _, out := range []string{"out.jsonl", "out.csv", "out.parquet"} {
		out = filepath.Join(folder, out)
		if summary, err := score(t, rows.Options{Input: in, Output: out}, screener()); err != nil || summary.Rows != 0 {
			t.Errorf("%s: %+v, %v", out, summary, err)
		}
	}
	if got := read(t, filepath.Join(folder, "out.csv")); !strings.HasPrefix(got, "row,id,score,") || strings.Count(got, "\n") != 1 {
		t.Errorf("CSV has no header: %q", got)
	}
	again := filepath.Join(folder, "again.csv")
	if _, err := score(t, rows.Options{Input: filepath.Join(folder, "out.parquet"), Output: again, TextColumn: "severity"}, screener()); err != nil {
		t.Errorf("Parquet has no columns: %v", err)
	}
}

// pandas gives a column without any string the type NULL or double, and other columns of nulls
// NULL: each row then lacks its text, and the file is read like others. The files were written by
// pandas 3.1 with pyarrow 26:
//
//	pd.DataFrame({"id": [1, 2], "text": [None, None], "note": [None, None]}).to_parquet("null.parquet")
//	pd.DataFrame({"id": [1, 2], "text": [np.nan, np.nan], "note": ["a", "b"]}).to_parquet("nan.parquet")
//	pd.DataFrame({"id": [1, 2], "text": [1.5, np.nan]}).to_parquet("number.parquet")
func TestParquetColumnsOfNulls(t *testing.T) {
	for in, want := range map[string]string{
		"null": `{"row":1,"id":1,"error":"the text is null","input":{"note":null}}` + "\n" + `{"row":2,"id":2,"error":"the text is null","input":{"note":null}}` + "\n",
		"nan":  `{"row":1,"id":1,"error":"the text is null","input":{"note":"a"}}` + "\n" + `{"row":2,"id":2,"error":"the text is null","input":{"note":"b"}}` + "\n",
	} {
		in = filepath.Join("testdata", in+".parquet")
		var last rows.Progress
		var out bytes.Buffer
		o := rows.Options{Input: in, Stdout: &out, Progress: func(p rows.Progress) { last = p }}
		counts(t, scored(t, o, screener()), rows.Summary{Rows: 2, Failed: 2, FirstFailure: "row 1: the text is null"})
		if last.Rows != 2 {
			t.Errorf("%s: the progress ends with %d rows, want 2", in, last.Rows)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
		copied := filepath.Join(t.TempDir(), "out.parquet")
		if _, err := score(t, rows.Options{Input: in, Output: copied}, screener()); err != nil {
			t.Errorf("%s to Parquet: %v", in, err)
		}
		out.Reset()
		if _, err := score(t, rows.Options{Input: copied, TextColumn: "error", Stdout: &out}, screener()); err != nil || strings.Count(out.String(), `"input_note":`) != 2 {
			t.Errorf("%s from Parquet: %v, %s", in, err, &out)
		}
		records := 0
		for r, err := range rows.Records(t.Context(), rows.Options{Input: in}) {
			if records++; err != nil || !strings.Contains(string(r.Fields), `"text":null`) {
				t.Errorf("%s: %v, %s", in, err, r.Fields)
			}
		}
		if records != 2 {
			t.Errorf("%s: %d records, want 2", in, records)
		}
	}
	number := rows.Options{Input: filepath.Join("testdata", "number.parquet"), Stdout: io.Discard}
	if _, err := score(t, number, screener()); err == nil || !strings.Contains(err.Error(), `column "text" must contain strings, but it is schema.text: optional double`) {
		t.Errorf("a column of numbers: %v", err)
	}
}

// The position in Parquet is in bytes of the texts: a row can have a word or a book.
func TestProgressOfParquetCountsTexts(t *testing.T) {
	folder := t.TempDir()
	lines := write(t, filepath.Join(folder, "in.jsonl"), `{"text":"a"}`+"\n"+`{"text":"`+strings.Repeat("garden ", 100)+`"}`+"\n"+`{"text":"bc"}`+"\n")
	in := filepath.Join(folder, "in.parquet")
	if _, err := score(t, rows.Options{Input: lines, Output: in, KeepText: true, RowGroup: 2}, screener()); err != nil {
		t.Fatal(err)
	}
	var at []int64
	o := rows.Options{Input: in, Stdout: &counter{}, Progress: func(p rows.Progress) { at = append(at, p.At, p.Length) }}
	if _, err := score(t, o, screener()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{0, 703, 1, 703, 701, 703, 703, 703}, at); diff != "" {
		t.Error(diff)
	}
}
