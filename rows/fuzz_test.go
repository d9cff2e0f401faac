package rows

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/toxscreen/toxscreen"
)

// odd are unusual inputs for readers of any format.
var odd = []string{
	"", "\n", "\xef\xbb\xbf", "text", "text\n", "id,text\n1,\"a\"\"b\nc\"\r\n2,x,y\n3\n", "text,text\n", ",text,,\n1,2,3,4\n", "text\n\"open", "text\n\"a\"b\n",
	"{}", "[]", "null", `{"text":"a","id":1.50e3,"x":{"y":  [1]}}`, `{"id":"\ud800","text":"\u0000\"<"}` + "\n\n" + `{"text":1}`,
	"{\"text\":\"\xff\",\"\xfe\":\"\xfd\",\"id\":\"\xfc\"}", `{"text":"a","text":"b","id":null,"id":[]}`, `{"text":"a`, "PAR1", "\xff\xfe", "a\x00b",
	"\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd\x00\x58\x11\x00\x00{}", "[\n{}]", "{\n}",
	"sep=;\r\ntext;n\r\na;b\r\n", "\"sep=\\t\"\ntext", "sep=", "text,n\n\"a \\\"b\\\", c\",\\\n\"\\\\\",\n\"\\", "text\ra\r\"b\rc\"\r\nd\re", "a\r\r\n\r",
	`{"text":"a","x":NaN,"y":[-Infinity,"NaN"]}`, `{"text":NaN}` + "\r" + `{"text":"a"}`, "\xff\xfet\x00e\x00x\x00t\x00\n\x00\x00\xd8", "\xfe\xff\x00a",
}

// everyRow reads an input to its end and checks the invariants of all rows.
func everyRow(t *testing.T, r rowReader, use func(row)) {
	t.Helper()
	var number, at int64
	for {
		in, err := r.next()
		if err != nil {
			return
		}
		number++
		if in.number != number || in.upTo < at || r.length() > 0 && in.upTo > r.length() {
			t.Fatalf("row %d is number %d, up to %d after %d, of %d", number, in.number, in.upTo, at, r.length())
		}
		at = in.upTo
		if in.fields == nil && in.err == nil {
			t.Fatalf("row %d has neither fields nor an error", number)
		}
		if in.fields == nil {
			continue
		}
		if _, others, err := in.fields.cells(); err == nil && len(others) != len(r.columns()) {
			t.Fatalf("row %d has %d cells for %d columns", number, len(others), len(r.columns()))
		}
		in.fields.values()
		encoded, err := jsonLine(in, &Result{Number: in.number, Text: &in.text, Error: "none"})
		if err != nil {
			continue // a Parquet value that JSON does not have
		}
		var back Result
		if err := json.Unmarshal(encoded, &back); err != nil || back.Number != in.number {
			t.Fatalf("%v: row %d is written as %q", err, number, encoded)
		}
		if utf8.ValidString(in.text) && *back.Text != in.text {
			t.Fatalf("the text %q is written as %q", in.text, *back.Text)
		}
		use(in)
	}
}

func inMemory(data []byte) source {
	all := bytes.NewReader(data)
	return source{reader: all, closer: io.NopCloser(nil), file: all, bytes: int64(len(data))}
}

// Every line is a row or its own error, and encoding/json reads the same text.
func FuzzJSONL(f *testing.F) {
	for _, seed := range odd {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openText(t.Context(), inMemory(data), JSONL, Options{TextColumn: "text", MaxBytes: 100})
		if err != nil {
			return
		}
		everyRow(t, r, func(in row) {
			_, others, _ := in.fields.json()
			if others != nil && !json.Valid(others) {
				t.Errorf("the other fields are %q", others)
			}
		})
		for line := range bytes.Lines(data) {
			var want struct {
				Text *string `json:"text"`
			}
			object := map[string]json.RawMessage{}
			if !utf8.Valid(line) || json.Unmarshal(line, &object) != nil || json.Unmarshal(object["text"], &want.Text) != nil || want.Text == nil {
				continue
			}
			found, err := parseObject(line, "text", "id")
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if got, err := found.text("text"); err == nil && got != *want.Text {
				t.Errorf("%q has the text %q, want %q", line, got, *want.Text)
			}
		}
	})
}

// Each line is a row with its text, and the lines with what is between them are the data.
func FuzzLines(f *testing.F) {
	for _, seed := range odd {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openText(t.Context(), inMemory(data), Lines, Options{TextColumn: "text", MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		var text strings.Builder
		everyRow(t, r, func(in row) { text.WriteString(in.text) })
		if from := r.(*plainReader); from.decoded || from.packed != "" {
			return
		}
		breaks := strings.NewReplacer("\r", "", "\n", "")
		if want := breaks.Replace(strings.TrimPrefix(string(data), "\ufeff")); breaks.Replace(text.String()) != want {
			t.Errorf("%q is read as %q", data, text.String())
		}
		for _, encoded := range []encoding.Encoding{charmap.Windows1252, japanese.ShiftJIS, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)} {
			from := inMemory(data)
			from.encoded = encoded
			if r, err := openText(t.Context(), from, Lines, Options{TextColumn: "text", MaxBytes: 100}); err == nil {
				everyRow(t, r, func(in row) {
					if !utf8.ValidString(in.text) && !bytes.HasPrefix(data, byteOrderMark) {
						t.Errorf("%q is decoded to %q", data, in.text)
					}
				})
			}
		}
	})
}

// Every record is a row or its own error, and a written record is read back
// unchanged.
func FuzzCSV(f *testing.F) {
	for i, seed := range odd {
		f.Add([]byte(seed), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, escapes bool) {
		o := Options{TextColumn: "text", MaxBytes: 100}
		if escapes {
			o.Escape = '\\'
		}
		r, err := openText(t.Context(), inMemory(data), CSV, o)
		if err != nil {
			return
		}
		everyRow(t, r, func(in row) {
			cells := append([]string{"1"}, in.fields.(*csvCells).all...)
			record, err := encodeRecord(cells, ',')
			if err != nil {
				t.Fatal(err)
			}
			again, err := openText(t.Context(), inMemory(append([]byte("text\n"), record...)), CSV, Options{TextColumn: "text", MaxBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if back, err := again.(*csvReader).records.next(); err != nil || !slices.Equal(back, cells) {
				t.Errorf("%q is written as %q and read as %q, %v", cells, record, back, err)
			}
		})
	})
}

// Every file gives rows or an error, and no panic.
func FuzzParquet(f *testing.F) {
	for _, seed := range odd {
		f.Add([]byte(seed))
	}
	for _, data := range parquetFiles(f) {
		f.Add(data)
		f.Add(data[:len(data)-5])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openParquet(t.Context(), inMemory(data), Options{TextColumn: "text"})
		if err == nil {
			everyRow(t, r, func(row) {})
		}
	})
}

// parquetFiles returns files with columns of several types.
func parquetFiles(f *testing.F) [][]byte {
	f.Helper()
	type inner struct {
		A int32    `parquet:"a"`
		B []string `parquet:"b,list"`
	}
	type everything struct {
		ID    int64    `parquet:"id"`
		Text  *string  `parquet:"text,optional"`
		Day   int32    `parquet:"day,date"`
		Time  int64    `parquet:"time,timestamp"`
		Share *float64 `parquet:"share,optional"`
		Inner inner    `parquet:"inner"`
	}
	text, share := "you idiot", 0.5
	rows := []everything{{ID: 1, Text: &text, Day: 20000, Time: 1e12, Share: &share, Inner: inner{7, []string{"x", "y"}}}, {ID: 2}}
	path := filepath.Join(f.TempDir(), "in.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		f.Fatal(err)
	}
	small, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	// Files that a job writes.
	from := &jsonReader{text: "text", id: "id"}
	o := output[toxscreen.Result]{Options: Options{Output: filepath.Join(f.TempDir(), "out.parquet"), KeepText: true}, task: &scoring{model: "m", judged: true}, in: from}
	w, err := o.create()
	for n := int64(1); n <= 3 && err == nil; n++ {
		err = w.write(row{number: n}, &Result{Number: n, Text: &text, Value: toxscreen.Result{Warnings: []string{}}})
	}
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		f.Fatal(err)
	}
	ours, err := os.ReadFile(o.Output)
	if err != nil {
		f.Fatal(err)
	}
	return [][]byte{small, ours}
}

// Every input for labelled results is read or refused.
func FuzzReadLabelled(f *testing.F) {
	for _, seed := range append([]string{
		`{"row":1,"id":7,"score":0.5,"attributes":{"toxicity":{"score":0.5,"classifier":0.5,"plain":0.25,"threshold":0.5}},"passages":[{"start":0,"end":3,"score":0.5}],"spans":[],` +
			`"judge":{"verdicts":[{"score":1}],"milliseconds":5},"versions":{"model":"m"},"input":{"labels":{"toxicity":0.5},"weight":3}}`,
		`{"input":null,"attributes":null,"id":{"a":[]},"text":null}`,
	}, odd...) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ReadLabelled(Standard, bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, r := range all.Rows {
			if r.Name == "" || r.Found.Scores.Len() == 0 {
				t.Errorf("%q is read as %+v", data, r)
			}
		}
	})
}
