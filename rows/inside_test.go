package rows

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// The rows that are read ahead have a limited number of bytes.
func TestBudget(t *testing.T) {
	b := newBudget(100)
	if !b.take(t.Context(), 1000) {
		t.Error("a single row over the budget must pass")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.take(ctx, 1) {
		t.Error("nothing may pass while the budget is used up")
	}
	b.give(1000)
	if !b.take(ctx, 60) || !b.take(ctx, 40) {
		t.Error("a row that fits must pass")
	}
	waiting := make(chan bool)
	go func() { waiting <- b.take(t.Context(), 50) }()
	b.give(40)
	b.give(60)
	if !<-waiting {
		t.Error("a waiting row must pass when there is room")
	}
}

// Records are read according to RFC 4180, and each byte of a cell is kept.
func TestCSVRecords(t *testing.T) {
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
		{"a long record", "a\n" + strings.Repeat("x", 101) + "\nb\n", `["a"] (line 2: the row has more than 100 bytes, the limit for this --max-bytes) ["b"]`},
		{"a long record in quotes", "\"" + strings.Repeat("x\n", 60) + "\"\nb\n", `(lines 1 to 61: the row has more than 100 bytes, the limit for this --max-bytes) ["b"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := csvRecords{in: bufio.NewReader(strings.NewReader(test.in)), comma: ',', limit: 100}
			if got := allRecords(t, &r, len(test.in)); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// allRecords returns all records or their errors, and checks that each byte was read.
func allRecords(t *testing.T, r *csvRecords, length int) string {
	t.Helper()
	var got []string
	for {
		cells, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			got = append(got, "("+err.Error()+")")
		} else {
			got = append(got, fmt.Sprintf("%q", cells))
		}
	}
	if r.offset != int64(length) {
		t.Errorf("%d bytes read of %d", r.offset, length)
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
			r := csvRecords{in: bufio.NewReader(strings.NewReader(test.in)), comma: ',', escape: '\\', limit: 100}
			if got := allRecords(t, &r, len(test.in)); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// Without the option, an error names it if a backslash is before a quote, and only then.
func TestErrorsNameTheEscapeCharacter(t *testing.T) {
	const hint = `; if a backslash escapes quotes, as in what Spark writes, use --escape '\'`
	for in, want := range map[string]bool{
		"text,n\n\"a \\\"b\\\" c\",1\n": true,  // text after a closing quote
		"text,n\n\"a \\\", b\",1\n":     true,  // another number of cells
		"text,n\n\"a \\\"\"\n":          true,  // a quote that is not closed
		"text,n\n\"a \"b\" c\",1\n":     false, // neither is it doubled
		"text,n\na,b,c\n":               false,
	} {
		r, err := openText(t.Context(), inMemory([]byte(in)), CSV, Options{TextColumn: "text", MaxBytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.next()
		if err != nil || got.err == nil || strings.Contains(got.err.Error(), hint) != want {
			t.Errorf("%q: %v, %v", in, got.err, err)
		}
	}
}

// The first line break of a file decides whether a carriage return alone ends a line, as in
// files of the old Mac OS, which Excel still writes. Inside quotes it never does.
func TestCarriageReturnsEndLines(t *testing.T) {
	for _, test := range []struct{ name, in, records, lines string }{
		{"old Mac OS", "a,b\rc,d\re,f", `["a" "b"] ["c" "d"] ["e" "f"]`, `"a,b" "c,d" "e,f"`},
		{"with one at the end", "a,b\rc,d\r", `["a" "b"] ["c" "d"]`, `"a,b" "c,d"`},
		{"blank lines", "a\r\rb\r", `["a"] ["b"]`, `"a" "" "b"`},
		{"followed by other files", "a\rb\nc\r\nd\r", `["a"] ["b"] ["c"] ["d"]`, `"a" "b" "c" "d"`},
		{"after other line breaks", "a\nb\rc\r\nd\r", `["a"] ["b\rc"] ["d"]`, `"a" "b\rc" "d"`},
		{"Windows", "a\r\nb\rc\r\n", `["a"] ["b\rc"]`, `"a" "b\rc"`},
		{"before a line break", "a\r\r\nb\rc\n", `["a"] ["b"] ["c"]`, `"a" "" "b" "c"`},
		{"in quotes", "\"a\rb\",c\rd,e\r", `["a\rb" "c"] ["d" "e"]`, `"\"a" "b\",c" "d,e"`},
		{"nothing", "", ``, ``},
		{"only a line break", "\r", ``, `""`},
	} {
		// Small buffers: what follows a carriage return may come late.
		for _, size := range []int{16, 4096} {
			t.Run(fmt.Sprint(test.name, size), func(t *testing.T) {
				one := iotest.OneByteReader(strings.NewReader(test.in))
				if got := allRecords(t, &csvRecords{in: bufio.NewReaderSize(one, size), comma: ',', limit: 100}, len(test.in)); got != test.records {
					t.Errorf("\n got %s\nwant %s", got, test.records)
				}
				l := lineReader{in: bufio.NewReaderSize(strings.NewReader(test.in), size), limit: 100}
				var got []string
				for {
					line, _, err := l.next()
					if err != nil {
						break
					}
					got = append(got, fmt.Sprintf("%q", line))
				}
				if joined := strings.Join(got, " "); joined != test.lines || l.offset != int64(len(test.in)) {
					t.Errorf("\n got %s, %d bytes of %d\nwant %s", joined, l.offset, len(test.in), test.lines)
				}
			})
		}
	}
}

// A line that does not fit into the buffer of the reader is read in parts, also where a
// part ends with a carriage return.
func TestLinesLongerThanTheBuffer(t *testing.T) {
	long := strings.Repeat("x", 15) + "\r" + strings.Repeat("y", 40)
	l := lineReader{in: bufio.NewReaderSize(strings.NewReader("a\n"+long+"\r\n"+strings.Repeat("z", 101)+"\nb"), 16), limit: 100}
	var got []string
	for {
		line, tooLong, err := l.next()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%s %v", line, tooLong))
	}
	if want := []string{"a false", long + " false", " true", "b false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Excel takes the delimiter from a first line like sep=; and shows it as no row.
func TestSeparatorLine(t *testing.T) {
	for in, want := range map[string]byte{
		"sep=;\n": ';', "sep=;\r\n": ';', "sep=;\r": ';', "SEP=|\n": '|', "\"sep=;\"\r\n": ';', "sep=\t\n": '\t', "sep=\\t\n": '\t', "sep=,": ',',
		"": 0, "\n": 0, "s": 0, "sep\n": 0, "sep=\n": 0, "sep=;;\n": 0, "sep=\"\n": 0, "separate;text\n": 0, "sep=;text\n": 0, "text\nsep=;\n": 0, "\"se\"\n": 0,
	} {
		rest := "text;n\n"
		if !strings.ContainsAny(in, "\r\n") {
			rest = "" // the file ends
		}
		reader := bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(in+rest)), 64)
		got, length := separatorLine(reader)
		left, err := io.ReadAll(reader)
		if whole := in + rest; err != nil || got != want || want == 0 && (length != 0 || string(left) != whole) || want != 0 && (length != len(in) || string(left) != rest) {
			t.Errorf("%q: %q, %d bytes, %q is left, %v", in, got, length, left, err)
		}
	}
}

// A file cannot make the library allocate memory for a footer that does not exist.
func TestFooterLongerThanItsFile(t *testing.T) {
	data := []byte("PAR1 \xff\xff\xff\xffPAR1")
	_, err := openParquet(t.Context(), inMemory(data), Options{TextColumn: "text"})
	if want := "it is not a complete Parquet file: its footer should have 4294967295 bytes, but the file has 13"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestColumnsGetNamesOfTheirOwn(t *testing.T) {
	got := distinct([]string{"a", "", "a", "a_2", "a", "column_2", "a_2", "a"})
	if want := []string{"a", "column_2", "a_2", "a_2_2", "a_3", "column_2_2", "a_2_3", "a_4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	distinct(slices.Repeat([]string{"a"}, maxColumns)) // must be fast
}

// Parquet from a pipe is copied to a file of a limited size, which has gone when the
// input is closed, and after an error.
func TestSpool(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	gone := func() {
		t.Helper()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%v, %v: the file is left", left, err)
		}
	}
	const data = "PAR1 and more"
	pipe := source{reader: strings.NewReader(data), closer: io.NopCloser(nil)}
	spooled, err := spool(t.Context(), pipe, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	copied, err := io.ReadAll(io.NewSectionReader(spooled.file, 0, spooled.bytes))
	if err != nil || string(copied) != data {
		t.Errorf("%q, %v", copied, err)
	}
	if err := spooled.close(); err != nil {
		t.Error(err)
	}
	gone()

	pipe.reader = strings.NewReader(data)
	if _, err := spool(t.Context(), pipe, int64(len(data))-1); err == nil || err.Error() != "it has more than 12 bytes, the limit for Parquet from a pipe; copy it to a file and read that" {
		t.Errorf("%v", err)
	}
	gone()

	// The pipe stays open, and the run is interrupted.
	waiting, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.WriteString(feed, data)
		cancel()
	}()
	if _, err := Open(ctx, Options{Stdin: waiting, Stdout: io.Discard, InputFormat: Parquet}); !errors.Is(err, context.Canceled) || err.Error() != "failed to read standard input: interrupted" {
		t.Errorf("%v", err)
	}
	gone()
}

// A resumed run begins after the texts that are skipped, also in another row group.
func TestSkippedTextsCountAsDone(t *testing.T) {
	type one struct {
		Text *string `parquet:"text,optional"`
	}
	short, long := "ab", strings.Repeat("garden ", 1000)
	var b bytes.Buffer
	if err := parquet.Write(&b, []one{{&short}, {nil}, {&long}, {&short}}, parquet.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	for skipped, want := range []int64{0, 2, 2, 7002, 7004} {
		r, err := openParquet(t.Context(), inMemory(b.Bytes()), Options{TextColumn: "text", Progress: func(Progress) {}})
		if err != nil {
			t.Fatal(err)
		}
		if at, err := r.skip(t.Context(), int64(skipped)); err != nil || at.upTo != want || r.length() != 7004 {
			t.Errorf("after %d rows: %d of %d, %v, want %d of 7004", skipped, at.upTo, r.length(), err, want)
		}
	}
}

// levels is a column whose values seem to have the encoding of levels.
type levels struct{ parquet.Field }

func (levels) Encoding() encoding.Encoding { return &parquet.RLE }

func TestCopiedColumnsHaveAnEncodingForValues(t *testing.T) {
	for _, f := range parquet.NewSchema("", parquet.Group{"a": parquet.String(), "b": parquet.Encoded(parquet.String(), &parquet.RLEDictionary)}).Fields() {
		if f.Name() == "a" {
			f = levels{f}
		}
		found := "none"
		if e := (copied{f}).Encoding(); e != nil {
			found = e.String()
		}
		if want := map[string]string{"a": "none", "b": "RLE_DICTIONARY"}[f.Name()]; found != want {
			t.Errorf("%s has the encoding %s, want %s", f.Name(), found, want)
		}
	}
}
