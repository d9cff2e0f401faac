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
		{"a carriage return inside a cell", "a\rb,c\n", `["a\rb" "c"]`},
		{"NUL and invalid UTF-8", "\x00,\xff\n", `["\x00" "\xff"]`},
		{"text after quotes", "\"a\"b,c\nd,e\n", `(line 1: text after a closing quote; a quote inside quotes must be doubled) ["d" "e"]`},
		{"an open quote", "a\n\"b\nc\n", `["a"] (a quote is not closed from line 2 to the end of the file)`},
		{"a long record", "a\n" + strings.Repeat("x", 101) + "\nb\n", `["a"] (line 2: the row has more than 100 bytes, the limit for this --max-bytes) ["b"]`},
		{"a long record in quotes", "\"" + strings.Repeat("x\n", 60) + "\"\nb\n", `(lines 1 to 61: the row has more than 100 bytes, the limit for this --max-bytes) ["b"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := csvRecords{in: bufio.NewReader(strings.NewReader(test.in)), comma: ',', limit: 100}
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
			if joined := strings.Join(got, " "); joined != test.want {
				t.Errorf("\n got %s\nwant %s", joined, test.want)
			}
			if r.offset != int64(len(test.in)) {
				t.Errorf("%d bytes read of %d", r.offset, len(test.in))
			}
		})
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
		if at, err := r.skip(t.Context(), int64(skipped)); err != nil || at != want || r.length() != 7004 {
			t.Errorf("after %d rows: %d of %d, %v, want %d of 7004", skipped, at, r.length(), err, want)
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
		if e := (copied{f, &shape{}}).Encoding(); e != nil {
			found = e.String()
		}
		if want := map[string]string{"a": "none", "b": "RLE_DICTIONARY"}[f.Name()]; found != want {
			t.Errorf("%s has the encoding %s, want %s", f.Name(), found, want)
		}
	}
}
