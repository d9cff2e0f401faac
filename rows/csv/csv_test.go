package csv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Records are read according to RFC 4180, and each byte of a cell is kept.
func TestReader(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "a,b\nc,d", `["a" "b"] ["c" "d"]`},
		{"carriage returns", "a,b\r\nc,d\r\n", `["a" "b"] ["c" "d"]`},
		{"quotes", `"a, ""b""",c`, `["a, \"b\"" "c"]`},
		{"line breaks in quotes", "\"a\r\nb\nc\",d\n", `["a\r\nb\nc" "d"]`},
		{"empty cells", ",\n\"\",\n", `["" ""] ["" ""]`},
		{"blank lines", "a\n\n\r\nb\n", `["a"] ["b"]`},
		{"an empty cell in quotes is not a blank line", "a\n\"\"\n", `["a"] [""]`},
		{"a quote inside a cell", "5\" long,b\n", `["5\" long" "b"]`},
		{"a carriage return inside a cell", "a,b\na\rb,c\n", `["a" "b"] ["a\rb" "c"]`},
		{"NUL and invalid UTF-8", "\x00,\xff\n", `["\x00" "\xff"]`},
		{"text after quotes", "\"a\"b,c\nd,e\n", `(line 1: text after a closing quote; a quote inside quotes must be doubled) ["d" "e"]`},
		{"an open quote", "a\n\"b\nc\n", `["a"] (a quote is not closed from line 2 to the end of the file)`},
		{"a long record", "a\n" + strings.Repeat("x", 101) + "\nb\n", `["a"] (line 2: the record has more than 100 bytes) ["b"]`},
		{"a long record in quotes", "\"" + strings.Repeat("x\n", 60) + "\"\nb\n", `(lines 1 to 61: the record has more than 100 bytes) ["b"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(bufio.NewReader(strings.NewReader(test.in)), Options{Comma: ',', Limit: 100})
			if got := allRecords(t, r, len(test.in)); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// allRecords returns all records or their errors, and checks that each byte was read.
func allRecords(t *testing.T, r *Reader, length int) string {
	t.Helper()
	var got []string
	for {
		cells, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			got = append(got, "("+err.Error()+")")
		} else {
			got = append(got, fmt.Sprintf("%q", cells))
		}
	}
	if r.Offset() != int64(length) {
		t.Errorf("%d bytes read of %d", r.Offset(), length)
	}
	return strings.Join(got, " ")
}

// Spark writes a backslash before a quote and before a backslash, inside quotes only.
func TestEscapedQuotes(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"quotes", `"a \"b\", c",d`, `["a \"b\", c" "d"]`},
		{"a quote at both ends", `"\"a\"",d`, `["\"a\"" "d"]`},
		{"a backslash at the end", `"C:\\",d`, `["C:\\" "d"]`},
		{"a backslash before a quote", `"a\\\"b",d`, `["a\\\"b" "d"]`},
		{"a backslash before another character", `"a\nb",d`, `["a\\nb" "d"]`},
		{"a backslash without quotes", `a\\b\",d`, `["a\\\\b\\\"" "d"]`},
		{"doubled quotes", `"a ""b""",""`, `["a \"b\"" ""]`},
		{"a line break after a backslash", "\"a\\\nb\",d\n", `["a\\\nb" "d"]`},
		{"the end after a backslash", `"a\`, `(a quote is not closed from line 1 to the end of the file)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(bufio.NewReader(strings.NewReader(test.in)), Options{Comma: ',', Escape: '\\', Limit: 100})
			if got := allRecords(t, r, len(test.in)); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// The first line break of a file decides whether a carriage return alone ends a line, as in
// files of the old Mac OS, which Excel still writes. Inside quotes it never does.
func TestCarriageReturnsEndLines(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"old Mac OS", "a,b\rc,d\re,f", `["a" "b"] ["c" "d"] ["e" "f"]`},
		{"with one at the end", "a,b\rc,d\r", `["a" "b"] ["c" "d"]`},
		{"blank lines", "a\r\rb\r", `["a"] ["b"]`},
		{"followed by other files", "a\rb\nc\r\nd\r", `["a"] ["b"] ["c"] ["d"]`},
		{"after other line breaks", "a\nb\rc\r\nd\r", `["a"] ["b\rc"] ["d"]`},
		{"Windows", "a\r\nb\rc\r\n", `["a"] ["b\rc"]`},
		{"before a line break", "a\r\r\nb\rc\n", `["a"] ["b"] ["c"]`},
		{"in quotes", "\"a\rb\",c\rd,e\r", `["a\rb" "c"] ["d" "e"]`},
		{"nothing", "", ``},
		{"only a line break", "\r", ``},
	} {
		// Small buffers: what follows a carriage return may come late.
		for _, size := range []int{16, 4096} {
			t.Run(fmt.Sprint(test.name, size), func(t *testing.T) {
				one := iotest.OneByteReader(strings.NewReader(test.in))
				if got := allRecords(t, NewReader(bufio.NewReaderSize(one, size), Options{Comma: ',', Limit: 100}), len(test.in)); got != test.want {
					t.Errorf("\n got %s\nwant %s", got, test.want)
				}
			})
		}
	}
}

// Excel takes the delimiter from a first line like sep=; and shows it as no row.
func TestSeparator(t *testing.T) {
	for in, want := range map[string]byte{
		"sep=;\n": ';', "sep=;\r\n": ';', "sep=;\r": ';', "SEP=|\n": '|', "\"sep=;\"\r\n": ';', "sep=\t\n": '\t', "sep=\\t\n": '\t', "sep=,": ',',
		"": 0, "\n": 0, "s": 0, "sep\n": 0, "sep=\n": 0, "sep=;;\n": 0, "sep=\"\n": 0, "separate;text\n": 0, "sep=;text\n": 0, "text\nsep=;\n": 0, "\"se\"\n": 0,
	} {
		rest := "text;n\n"
		if !strings.ContainsAny(in, "\r\n") {
			rest = "" // the file ends
		}
		reader := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(in+rest)), 64)
		r := NewReader(reader, Options{Limit: 100})
		got, ok := r.Separator()
		length := int(r.Offset())
		left, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if got != want || ok != (want != 0) {
			t.Errorf("%q: %q, %t, want %q", in, got, ok, want)
		}
		line := in
		if want == 0 {
			line, rest = "", in+rest
		}
		if length != len(line) || string(left) != rest {
			t.Errorf("%q: %d bytes are read, %q is left, want %q", in, length, left, rest)
		}
	}
}

func TestColumnsGetNamesOfTheirOwn(t *testing.T) {
	got := Distinct([]string{"a", "", "a", "a_2", "a", "column_2", "a_2", "a"})
	if want := []string{"a", "column_2", "a_2", "a_2_2", "a_3", "column_2_2", "a_2_3", "a_4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	Distinct(slices.Repeat([]string{"a"}, maxColumns)) // must be fast
}

// A record that is read, or its neighbours, can be written and read again.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{"", "a,b\n", "\"a\"\"b\nc\",\r\n", "\"open", "\"a\"b\n", "a\rb", "\"a \\\"b\\\", c\",\\\n\"\\\\\",\n\"\\"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, escapes bool) {
		o := Options{Comma: ',', Limit: 100}
		if escapes {
			o.Escape = '\\'
		}
		for r := NewReader(bufio.NewReader(bytes.NewReader(data)), o); ; {
			cells, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				continue
			}
			cells = append([]string{"1"}, cells...) // a record of one empty cell is a blank line
			record, err := Encode(cells, ',')
			if err != nil {
				t.Fatal(err)
			}
			back, err := NewReader(bufio.NewReader(bytes.NewReader(record)), Options{Comma: ',', Limit: 1 << 20}).Next()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(back, cells) {
				t.Errorf("%q is written as %q and read as %q", cells, record, back)
			}
		}
	})
}
