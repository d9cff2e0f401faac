package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/encoder"
)

// configure gives the test an environment of its own, since [run] reads it.
func configure(t *testing.T) {
	t.Helper()
	library := runtimeLibrary(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("TOXSCREEN_MODEL", tinyModel(t))
	t.Setenv(encoder.LibraryEnv, library)
}

// generator is a JSONL input of any length that holds none of it. At each
// tenth it looks at the heap.
type generator struct {
	rows, made int
	rest       []byte
	heap       []uint64 // bytes in use after a collection
}

func (g *generator) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		if g.made == g.rows {
			return 0, io.EOF
		}
		if g.made >= g.rows/20+len(g.heap)*(g.rows/10) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			g.heap = append(g.heap, m.HeapAlloc)
		}
		var b bytes.Buffer
		for range 50 {
			fmt.Fprintf(&b, `{"id":%d,"text":"you stupid garden %d","note":"n"}`+"\n", g.made, g.made)
			g.made++
		}
		g.rest = b.Bytes()
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

type counter struct{ lines int }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

// Memory does not grow with the input: the heap stays what it is after the
// first tenths.
func TestBatchMemoryIsFlat(t *testing.T) {
	for _, test := range []struct {
		name string
		rows int
		out  string
	}{
		{"JSONL to standard output", memoryRows, standard},
		{"Parquet", memoryRows / 4, "out.parquet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			configure(t)
			in, out := &generator{rows: test.rows}, &counter{}
			args := []string{"batch", "-i", "-", "-o", test.out}
			if test.out != standard {
				args = []string{"batch", "-i", "-", "-o", filepath.Join(t.TempDir(), test.out), "--row-group", "2000"}
			}
			var messages bytes.Buffer
			if code := run(t.Context(), args, stdio{in, out, &messages}); code != exitDone {
				t.Fatalf("exit code %d: %s", code, &messages)
			}
			if want := fmt.Sprintf("toxscreen: %d rows in ", test.rows); !strings.HasPrefix(messages.String(), want) {
				t.Errorf("summary %q, want %q", messages.String(), want)
			}
			if test.out == standard && out.lines != test.rows {
				t.Errorf("%d rows in, %d lines out", test.rows, out.lines)
			}
			early, late := in.heap[1], slices.Max(in.heap[2:])
			t.Logf("heap early %d KiB, later at most %d KiB", early>>10, late>>10)
			if late > early+2<<20 { // 40 bytes a row would be too many
				t.Errorf("the heap grows from %d to %d bytes", early, late)
			}
		})
	}
}

// A run that waits for standard input ends when it is interrupted, and leaves
// no goroutine behind once the input is closed.
func TestBatchInterruptedWhileWaiting(t *testing.T) {
	configure(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	in, feed := io.Pipe()
	out, printed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	var messages bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"batch", "-i", "-", "-o", "-"}, stdio{in, printed, &messages})
	}()
	if _, err := io.WriteString(feed, "{\"text\":\"garden\"}\n"); err != nil {
		t.Fatal(err)
	}
	// The first result comes while the second row is waited for.
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"row":1,`) {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	select {
	case code := <-ended:
		if code != exitFailed || !strings.Contains(messages.String(), "toxscreen: interrupted; 1 rows are done\n") {
			t.Errorf("exit code %d: %s", code, &messages)
		}
	case <-time.After(time.Minute):
		t.Error("the run goes on waiting")
	}
	feed.Close()
}

// A reader of the output that fails ends the run, though more input is coming.
func TestBatchOutputFails(t *testing.T) {
	configure(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var messages bytes.Buffer
	code := run(t.Context(), []string{"batch", "-i", "-", "-o", "-"}, stdio{&generator{rows: 1 << 30}, &broken{after: 10}, &messages})
	if want := "toxscreen: failed to write standard output: the tape is torn; 10 rows are done\n"; code != exitFailed || messages.String() != want {
		t.Errorf("exit code %d: %s\nwant %s", code, &messages, want)
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errors.New("the tape is torn")
	}
	return len(p), nil
}

// The rows that are read ahead hold a bounded number of bytes.
func TestBudget(t *testing.T) {
	b := newBudget(100)
	if !b.take(t.Context(), 1000) {
		t.Error("a single row over the budget must pass")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.take(ctx, 1) {
		t.Error("nothing may pass while the budget is spent")
	}
	b.give(1000)
	if !b.take(ctx, 60) || !b.take(ctx, 40) {
		t.Error("what fits must pass")
	}
	waiting := make(chan bool)
	go func() { waiting <- b.take(t.Context(), 50) }()
	b.give(40)
	b.give(60)
	if !<-waiting {
		t.Error("what has been waited for must pass")
	}
}

// Records are read as RFC 4180 has it, and each byte of a cell is kept.
func TestCSVRecords(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"plain", "a,b\nc,d", `["a" "b"] ["c" "d"]`},
		{"carriage returns", "a,b\r\nc,d\r\n", `["a" "b"] ["c" "d"]`},
		{"quotes", `"a, ""b""",c`, `["a, \"b\"" "c"]`},
		{"line breaks in quotes", "\"a\r\nb\nc\",d\n", `["a\r\nb\nc" "d"]`},
		{"empty cells", ",\n\"\",\n", `["" ""] ["" ""]`},
		{"blank lines", "a\n\n\r\nb\n", `["a"] ["b"]`},
		{"an empty cell in quotes is no blank line", "a\n\"\"\n", `["a"] [""]`},
		{"a quote inside a cell", "5\" long,b\n", `["5\" long" "b"]`},
		{"a carriage return inside a cell", "a\rb,c\n", `["a\rb" "c"]`},
		{"NUL and invalid UTF-8", "\x00,\xff\n", `["\x00" "\xff"]`},
		{"text behind quotes", "\"a\"b,c\nd,e\n", `(line 1: there is text behind a closing quote; a quote inside quotes is doubled) ["d" "e"]`},
		{"an open quote", "a\n\"b\nc\n", `["a"] (a quote is not closed from line 2 to the end of the file)`},
		{"a long record", "a\n" + strings.Repeat("x", 101) + "\nb\n", `["a"] (line 2: the row has more than 100 bytes, the limit at this --max-bytes) ["b"]`},
		{"a long record in quotes", "\"" + strings.Repeat("x\n", 60) + "\"\nb\n", `(lines 1 to 61: the row has more than 100 bytes, the limit at this --max-bytes) ["b"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := csvRecords{in: bufio.NewReader(strings.NewReader(test.in)), limit: 100}
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

// What a terminal shows of a text cannot steer it.
func TestPrintable(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain, grün, 日本語, 😀\n", "plain, grün, 日本語, 😀\n"},
		{"\x1b]0;title\x07", `\x1b]0;title\x07`},
		{"a\r\x08b\x7f\u009b", `a\x0d\x08b\x7f\x9b`},
		{"\u202eabc\u2066\ufeff\u200b", `\u202eabc\u2066\ufeff\u200b`},
		{"\U000e0041\U0010fffd", `\U000e0041\U0010fffd`},
		{"👩\u200d🚀", "👩\u200d🚀"},
		{"a\tb", "a    b"},
		{"\xff\xfe", `\xff\xfe`},
	} {
		if got := printable(test.in); got != test.want {
			t.Errorf("printable(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, test := range []struct {
		score, threshold float64
		want             string
	}{
		{0, 0.5, "|·····┃····"},
		{0.25, 0.5, "██▌|··┃····"},
		{0.75, 0.5, "█████┃█▌|··"},
		{1, 1, "█████████┃|"},
		{0.5, 0, "┃████|·····"},
	} {
		filled, rest := bar(10, test.score, test.threshold)
		if got := filled + "|" + rest; got != test.want {
			t.Errorf("bar(%v, %v) = %s, want %s", test.score, test.threshold, got, test.want)
		}
	}
}
