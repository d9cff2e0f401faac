package input

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
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
func everyRow(t *testing.T, r Reader, use func(Row)) {
	t.Helper()
	var number, at int64
	for {
		in, err := r.Next()
		if err != nil {
			return
		}
		number++
		if in.Number != number || in.UpTo < at || r.Length() > 0 && in.UpTo > r.Length() {
			t.Fatalf("row %d is number %d, up to %d after %d, of %d", number, in.Number, in.UpTo, at, r.Length())
		}
		at = in.UpTo
		if in.Fields == nil && in.Err == nil {
			t.Fatalf("row %d has neither fields nor an error", number)
		}
		if in.Fields == nil {
			continue
		}
		if _, others, err := in.Fields.Cells(); err == nil && len(others) != len(r.Columns()) {
			t.Fatalf("row %d has %d cells for %d columns", number, len(others), len(r.Columns()))
		}
		in.Fields.Values()
		id, others, err := in.Fields.JSON()
		if err != nil {
			continue // a Parquet value that JSON does not have
		}
		for _, encoded := range [][]byte{id, others} {
			if encoded != nil && !json.Valid(encoded) {
				t.Fatalf("row %d has the JSON %q", number, encoded)
			}
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
		r, err := openText(t.Context(), inMemory(data), reading(JSONL))
		if err != nil {
			return
		}
		everyRow(t, r, func(Row) {})
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
		r, err := openText(t.Context(), inMemory(data), reading(Lines))
		if err != nil {
			return
		}
		var text strings.Builder
		everyRow(t, r, func(in Row) { text.WriteString(in.Text) })
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
			if r, err := openText(t.Context(), from, reading(Lines)); err == nil {
				everyRow(t, r, func(in Row) {
					if !utf8.ValidString(in.Text) && !bytes.HasPrefix(data, byteOrderMark) {
						t.Errorf("%q is decoded to %q", data, in.Text)
					}
				})
			}
		}
	})
}

// Every record is a row or its own error.
func FuzzCSV(f *testing.F) {
	for i, seed := range odd {
		f.Add([]byte(seed), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, escapes bool) {
		o := reading(CSV)
		if escapes {
			o.Escape = '\\'
		}
		if r, err := openText(t.Context(), inMemory(data), o); err == nil {
			everyRow(t, r, func(Row) {})
		}
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
		r, err := openParquet(t.Context(), inMemory(data), reading(Parquet))
		if err == nil {
			everyRow(t, r, func(Row) {})
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
	// What toxscreen batch writes.
	ours, err := os.ReadFile(filepath.Join("testdata", "scored.parquet"))
	if err != nil {
		f.Fatal(err)
	}
	return [][]byte{small, ours}
}
