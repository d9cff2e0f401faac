package input

import (
	"bufio"
	"bytes"
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

// reading returns how an input is read that has its texts in text. Errors call an option by its
// field.
func reading(format Format) Options {
	return Options{Format: format, Text: "text", ID: "id", Limit: 2 << 20, Option: func(field string) string { return field }}
}

// Without the option, an error names it if a backslash is before a quote, and only then.
func TestErrorsNameTheEscapeCharacter(t *testing.T) {
	const hint = `; if a backslash escapes quotes, as in what Spark writes, use Escape '\'`
	for in, want := range map[string]bool{
		"text,n\n\"a \\\"b\\\" c\",1\n": true,  // text after a closing quote
		"text,n\n\"a \\\", b\",1\n":     true,  // another number of cells
		"text,n\n\"a \\\"\"\n":          true,  // a quote that is not closed
		"text,n\n\"a \"b\" c\",1\n":     false, // neither is it doubled
		"text,n\na,b,c\n":               false,
	} {
		r, err := openText(t.Context(), inMemory([]byte(in)), reading(CSV))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got.Err == nil || strings.Contains(got.Err.Error(), hint) != want {
			t.Errorf("%q: %v, want the hint: %t", in, got.Err, want)
		}
	}
}

// The first line break of a file decides whether a carriage return alone ends a line, as in
// files of the old Mac OS, which Excel still writes.
func TestCarriageReturnsEndLines(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"old Mac OS", "a,b\rc,d\re,f", `"a,b" "c,d" "e,f"`},
		{"with one at the end", "a,b\rc,d\r", `"a,b" "c,d"`},
		{"blank lines", "a\r\rb\r", `"a" "" "b"`},
		{"followed by other files", "a\rb\nc\r\nd\r", `"a" "b" "c" "d"`},
		{"after other line breaks", "a\nb\rc\r\nd\r", `"a" "b\rc" "d"`},
		{"Windows", "a\r\nb\rc\r\n", `"a" "b\rc"`},
		{"before a line break", "a\r\r\nb\rc\n", `"a" "" "b" "c"`},
		{"in quotes", "\"a\rb\",c\rd,e\r", `"\"a" "b\",c" "d,e"`},
		{"nothing", "", ``},
		{"only a line break", "\r", `""`},
	} {
		// Small buffers: what follows a carriage return may come late.
		for _, size := range []int{16, 4096} {
			t.Run(fmt.Sprint(test.name, size), func(t *testing.T) {
				l := lineReader{in: bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(test.in)), size), limit: 100}
				var got []string
				for {
					line, _, err := l.next()
					if err != nil {
						break
					}
					got = append(got, fmt.Sprintf("%q", line))
				}
				if joined := strings.Join(got, " "); joined != test.want {
					t.Errorf("\n got %s\nwant %s", joined, test.want)
				}
				if l.offset != int64(len(test.in)) {
					t.Errorf("%d bytes read of %d", l.offset, len(test.in))
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

// A file cannot make the library allocate memory for a footer that does not exist.
func TestFooterLongerThanItsFile(t *testing.T) {
	data := []byte("PAR1 \xff\xff\xff\xffPAR1")
	_, err := openParquet(t.Context(), inMemory(data), reading(Parquet))
	if want := "it is not a complete Parquet file: its footer should have 4294967295 bytes, but the file has 13"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
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
	if err := spooled.Close(); err != nil {
		t.Error(err)
	}
	gone()

	pipe.reader = strings.NewReader(data)
	if _, err := spool(t.Context(), pipe, int64(len(data))-1); err == nil || err.Error() != "it has more than 12 bytes, the limit for Parquet from a pipe; copy it to a file and read that" {
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
	o := reading(Parquet)
	o.Measured = true
	for skipped, want := range []int64{0, 2, 2, 7002, 7004} {
		r, err := openParquet(t.Context(), inMemory(b.Bytes()), o)
		if err != nil {
			t.Fatal(err)
		}
		at, err := Skip(t.Context(), r, int64(skipped))
		if err != nil {
			t.Fatal(err)
		}
		if at.UpTo != want || r.Length() != 7004 {
			t.Errorf("after %d rows: %d of %d, want %d of 7004", skipped, at.UpTo, r.Length(), want)
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
