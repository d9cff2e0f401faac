package rows_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen/rows"
)

// withoutScores cuts results after what is told about the input.
func withoutScores(results string) (short []string) {
	for line := range strings.Lines(results) {
		for _, end := range []string{`,"score"`, ",0."} {
			line, _, _ = strings.Cut(line, end)
		}
		short = append(short, strings.TrimRight(line, "\r\n"))
	}
	return short
}

// Each line of plain text is a row, also a blank one: the number of a row is that of its
// line. A line is only text, also if it looks like JSON or begins with a quote.
func TestPlainText(t *testing.T) {
	const in = "you idiot\r\n\r\n{\"text\": \"a\"}\n \"what, a garden\n"
	folder := t.TempDir()
	for ending, want := range map[string][]string{
		".jsonl": {`{"row":1,"text":"you idiot"`, `{"row":2,"text":""`, `{"row":3,"text":"{\"text\": \"a\"}"`, `{"row":4,"text":" \"what, a garden"`},
		".csv":   {"1,,you idiot", "2,,", `3,,"{""text"": ""a""}"`, `4,," ""what, a garden"`},
	} {
		o := rows.Options{Input: write(t, filepath.Join(folder, "in.txt"), in), Output: filepath.Join(folder, "out"+ending), KeepText: true}
		counts(t, scored(t, o, screener()), rows.Summary{Rows: 4, Flagged: 1})
		if got := withoutScores(read(t, o.Output)); cmp.Diff(want, got[len(got)-4:]) != "" {
			t.Errorf("%s: %q", ending, got)
		}
	}
	// By way of Parquet, which has neither ids nor other columns.
	between := filepath.Join(folder, "out.parquet")
	if _, err := score(t, rows.Options{Input: filepath.Join(folder, "in.txt"), Output: between, KeepText: true}, screener()); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	counts(t, scored(t, rows.Options{Input: between, Stdout: &out}, screener()), rows.Summary{Rows: 4, Flagged: 1})
	if strings.Contains(out.String(), "input_input") {
		t.Errorf("there is another column: %s", &out)
	}
}

// Without KeepText a result has the number of its line and no text, as in other formats.
func TestPlainTextFromAPipe(t *testing.T) {
	var out bytes.Buffer
	o := rows.Options{Stdin: strings.NewReader("garden\nyou idiot"), Stdout: &out, InputFormat: rows.Lines}
	if _, err := score(t, o, screener()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"row":1`, `{"row":2`}, withoutScores(out.String())); diff != "" {
		t.Error(diff)
	}
}

// A run over plain text is continued where it stopped, compressed or not, and its progress is
// that of bytes.
func TestPlainTextIsResumed(t *testing.T) {
	for _, ending := range []string{"", ".gz", ".zst"} {
		folder := t.TempDir()
		content := strings.Repeat("garden\n\nyou idiot\n", 300)
		data := content
		if ending != "" {
			data = string(packed(t, ending, func(w io.Writer) { _, _ = io.WriteString(w, content) }))
		}
		o := rows.Options{Input: write(t, filepath.Join(folder, "in.txt"+ending), data), Output: filepath.Join(folder, "whole.jsonl"), KeepText: true}
		if _, err := score(t, o, screener()); err != nil {
			t.Fatal(err)
		}
		whole := read(t, o.Output)
		o.Output, o.Resume = filepath.Join(folder, "out.jsonl"), true
		interrupted(t, o, 100)
		var last rows.Progress
		o.Progress = func(p rows.Progress) { last = p }
		counts(t, continued(t, o, screener(), 100), rows.Summary{Rows: 900, Flagged: 300})
		if got, want := fmt.Sprint(last.At, last.Length), fmt.Sprint(len(content), len(content)); got != want {
			t.Errorf("%q: the position and the length are %s, want %s", ending, got, want)
		}
		if read(t, o.Output) != whole {
			t.Errorf("%q: the output differs from that of a run without an interruption", ending)
		}
	}
}

// A folder of plain text has outputs in JSONL, since results are no text.
func TestFolderOfPlainText(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.txt", "b.txt", "c.txt.gz"} {
		data := "garden\nyou idiot\n"
		if strings.HasSuffix(name, ".gz") {
			data = string(packed(t, ".gz", func(w io.Writer) { _, _ = io.WriteString(w, "you idiot\n") }))
		}
		write(t, filepath.Join(folder, name), data)
	}
	out := filepath.Join(t.TempDir(), "out")
	for number := range 2 {
		o := rows.Options{Input: folder, Output: out, Shard: rows.Shard{Number: number, Of: 2}}
		if _, err := score(t, o, screener()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, out), []string{"_done", "a.jsonl", "b.jsonl", "c.jsonl"}; cmp.Diff(want, got) != "" {
		t.Errorf("%q, want %q", got, want)
	}
}

// JSONL under the name of plain text is refused, also if its first line is long.
func TestJSONLIsNotPlainText(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{"short": `{"text":"a"}`, "long": `{"text":"` + strings.Repeat("a ", 500) + `"}`} {
		o := rows.Options{Input: write(t, filepath.Join(folder, name+".txt"), content+"\n"), Stdout: io.Discard}
		if _, err := score(t, o, screener()); err == nil || !strings.HasSuffix(err.Error(), "its first line is a JSON object: name its format, InputFormat jsonl, or lines if each line is a text") {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := rows.Options{Input: write(t, filepath.Join(folder, "quotation.txt"), "{\"she said\"} so\n"), Stdout: io.Discard}
	if summary, err := score(t, o, screener()); err != nil || summary.Rows != 1 {
		t.Errorf("%v, %+v", err, summary)
	}
}

// Plain text has no columns, and results do not fit into it.
func TestPlainTextHasNoColumns(t *testing.T) {
	for name, c := range map[string]struct {
		o    rows.Options
		want string
	}{
		"a column":              {rows.Options{Input: "in.txt", Output: "out.csv", TextColumn: "comment"}, "TextColumn and IDColumn are for formats with columns, but the input is plain text"},
		"an id":                 {rows.Options{Input: "in.txt", Output: "out.csv", IDColumn: "id"}, "TextColumn and IDColumn are for formats with columns"},
		"a delimiter":           {rows.Options{Input: "in.txt", Output: "out.csv", Delimiter: ';'}, "Delimiter is for CSV, but the input is plain text; use InputFormat csv if it is not"},
		"an escape character":   {rows.Options{Input: "in.txt", Output: "out.csv", Escape: '\\'}, "Escape is for CSV and TSV, but the input is plain text"},
		"as output":             {rows.Options{Input: "in.txt", Output: "out.txt"}, "Output out.txt: the extension must be .jsonl, .ndjson, .csv, .tsv or .parquet"},
		"as outputs":            {rows.Options{Input: t.TempDir(), Output: "out", OutputFormat: rows.Lines}, `OutputFormat: unknown format "lines": it must be jsonl, csv, tsv or parquet`},
		"an unknown encoding":   {rows.Options{Input: "in.txt", Output: "out.csv", InputEncoding: "ebcdic"}, `InputEncoding: unknown encoding "ebcdic"`},
		"a dangerous encoding":  {rows.Options{Input: "in.txt", Output: "out.csv", InputEncoding: "iso-2022-kr"}, `InputEncoding: unknown encoding "iso-2022-kr"`},
		"an encoding, Parquet":  {rows.Options{Input: "in.parquet", Output: "out.csv", InputEncoding: "latin1"}, "InputEncoding is for text, but the input is Parquet"},
		"a quote that escapes":  {rows.Options{Input: "in.csv", Output: "out.csv", Escape: '"'}, `Escape: '"' cannot escape a quote; without Escape, a quote is doubled`},
		"one character for two": {rows.Options{Input: "in.tsv", Output: "out.csv", Escape: '\t'}, `Escape: '\t' cannot escape a quote`},
	} {
		if err := c.o.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
