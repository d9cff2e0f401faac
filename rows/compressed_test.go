package rows_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/toxscreen/toxscreen/rows"
)

// packers compress what is written to them, by the ending of a file name.
var packers = map[string]func(io.Writer) io.WriteCloser{
	".gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	".zst": func(w io.Writer) io.WriteCloser {
		packer, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are right
		}
		return packer
	},
}

func packed(t *testing.T, ending string, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := packers[ending](&b)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// noise returns rows of which each compressed byte tells something.
func noise(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":%d,"text":"garden %x"}`+"\n", i, i*2654435761)
	}
	return b.String()
}

// The results of complete rows before the end of a stream that is cut off are
// written, and the incomplete row is not.
func TestCompressedStreamIsCutOff(t *testing.T) {
	for ending := range packers {
		data := packed(t, ending, func(w io.Writer) { _, _ = io.WriteString(w, noise(20_000)) })
		out := &counter{}
		summary, err := score(t, rows.Options{Stdin: bytes.NewReader(data[:len(data)*3/4]), Stdout: out}, screener())
		if want := fmt.Sprintf("it is not complete; copy it again; %d rows are done", summary.Rows); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", ending, err, want)
		}
		if summary.Rows < 1000 {
			t.Errorf("%s: %d rows, want nearly three quarters of 20000", ending, summary.Rows)
		}
		if summary.Failed > 0 {
			t.Errorf("%s: %d rows failed: %s", ending, summary.Failed, summary.FirstFailure)
		}
		if out.lines != int(summary.Rows) {
			t.Errorf("%s: %d lines for %d rows", ending, out.lines, summary.Rows)
		}
	}
}

// A file that is cut off after its first rows is found out before they are scored.
func TestCompressedFileIsCutOff(t *testing.T) {
	for ending := range packers {
		data := packed(t, ending, func(w io.Writer) { _, _ = io.WriteString(w, noise(50_000)) })
		folder := t.TempDir()
		o := rows.Options{Input: write(t, filepath.Join(folder, "in.jsonl"+ending), string(data[:len(data)-10])), Output: filepath.Join(folder, "out.jsonl")}
		summary, err := score(t, o, screener())
		if err == nil || !strings.Contains(err.Error(), "it ends inside its data") {
			t.Errorf("%s: %v", ending, err)
		}
		if summary.Rows > 0 {
			t.Errorf("%s: %d rows were scored", ending, summary.Rows)
		}
		if _, err := os.Stat(o.Output); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: there is an output: %v", ending, err)
		}
	}
}

// The position in a compressed file is in bytes of its content, like its length. The
// length of a stream is unknown.
func TestProgressOfCompressedFiles(t *testing.T) {
	content := noise(3)
	for ending := range packers {
		data := packed(t, ending, func(w io.Writer) { _, _ = io.WriteString(w, content) })
		folder := t.TempDir()
		var last rows.Progress
		o := rows.Options{Progress: func(p rows.Progress) { last = p }}
		o.Stdin, o.Stdout = bytes.NewReader(data), io.Discard
		scored(t, o, screener())
		if got, want := fmt.Sprint(last.At, last.Length), fmt.Sprint(len(content), 0); got != want {
			t.Errorf("%s from a stream: the position and the length are %s, want %s", ending, got, want)
		}
		o.Input, o.Output = write(t, filepath.Join(folder, "in.jsonl"+ending), string(data)), filepath.Join(folder, "out.jsonl")
		scored(t, o, screener())
		if got, want := fmt.Sprint(last.At, last.Length), fmt.Sprint(len(content), len(content)); got != want {
			t.Errorf("%s from a file: the position and the length are %s, want %s", ending, got, want)
		}
	}
}

// A row of a quarter of a gigabyte takes a few kB compressed. It is skipped like any
// row over the limit, in constant memory.
func TestDecompressionBomb(t *testing.T) {
	chunk := bytes.Repeat([]byte("a"), 1<<20)
	for ending := range packers {
		data := packed(t, ending, func(w io.Writer) {
			_, _ = io.WriteString(w, `{"text":"`)
			for range 256 {
				_, _ = w.Write(chunk)
			}
			_, _ = io.WriteString(w, "\"}\n{\"text\":\"garden\"}\n")
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		summary := scored(t, rows.Options{Stdin: bytes.NewReader(data), Stdout: io.Discard, MaxBytes: 1000}, screener())
		runtime.ReadMemStats(&after)
		counts(t, summary, rows.Summary{Rows: 2, Failed: 1, FirstFailure: "row 1: line 1: the row has more than 1056576 bytes, the limit for this MaxBytes"})
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
			t.Errorf("%s: %d MiB were allocated for %d bytes", ending, grown>>20, len(data))
		}
	}
}

// Frames of zstd that have no content, with which some files begin, are skipped.
func TestSkippableFrames(t *testing.T) {
	data := "\x50\x2a\x4d\x18\x04\x00\x00\x00note" + string(packed(t, ".zst", func(w io.Writer) { _, _ = io.WriteString(w, noise(2)) }))
	in := write(t, filepath.Join(t.TempDir(), "in.jsonl.zst"), data)
	counts(t, scored(t, rows.Options{Input: in, Stdout: io.Discard}, screener()), rows.Summary{Rows: 2})
}
