package rows_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/toxscreen/toxscreen/rows"
)

// interrupted runs a job until some rows are written, and returns what was reported.
func interrupted(t *testing.T, o rows.Options, after int64) rows.Summary {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o.Progress = func(p rows.Progress) {
		if p.Rows == after {
			interrupt()
		}
	}
	job, err := rows.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	summary, err := job.Score(screener())
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v: want an interrupted run", summary, err)
	}
	return summary
}

// A file in another encoding has the results of the same file in UTF-8, also compressed, and
// the position in it is in bytes of UTF-8.
func TestInputEncodings(t *testing.T) {
	const european, japan = "text,who\nyou idiot,Jürgen\n“what a garden”,Zoë – 5 €\n", "text,who\n庭,花\nyou idiot,木\n"
	utf16 := unicode.UTF16
	for name, c := range map[string]struct {
		text    string
		encoded encoding.Encoding
		named   string // with InputEncoding
		ending  string
	}{
		"UTF-8 by its name":             {european, unicode.UTF8, "utf-8", ""},
		"UTF-8 with a mark":             {european, unicode.UTF8BOM, "windows-1252", ""},
		"Windows-1252":                  {european, charmap.Windows1252, "windows-1252", ""},
		"Latin-1 that is Windows-1252":  {european, charmap.Windows1252, "latin1", ""},
		"compressed":                    {european, charmap.Windows1252, "Windows-1252", ".gz"},
		"UTF-16 with a mark":            {european, utf16(unicode.LittleEndian, unicode.UseBOM), "", ""},
		"UTF-16 of the other order":     {japan, utf16(unicode.BigEndian, unicode.UseBOM), "", ".zst"},
		"UTF-16 with a mark and a name": {european, utf16(unicode.LittleEndian, unicode.UseBOM), "utf-16le", ""},
		"UTF-16 without a mark":         {european, utf16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le", ""},
		"Shift JIS":                     {japan, japanese.ShiftJIS, "shift_jis", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := c.encoded.NewEncoder().String(c.text)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			content := data
			if c.ending != "" {
				content = string(packed(t, c.ending, func(w io.Writer) { _, _ = io.WriteString(w, data) }))
			}
			plain := rows.Options{Input: write(t, filepath.Join(folder, "plain.csv"), c.text), Output: filepath.Join(folder, "plain.jsonl"), KeepText: true}
			if _, err := score(t, plain, screener()); err != nil {
				t.Fatal(err)
			}
			want := read(t, plain.Output)

			var last rows.Progress
			o := rows.Options{Input: write(t, filepath.Join(folder, "in.csv"+c.ending), content), InputEncoding: c.named, Output: filepath.Join(folder, "out.jsonl"), KeepText: true}
			o.Progress = func(p rows.Progress) { last = p }
			if summary := scored(t, o, screener()); summary.Undecodable != 0 {
				t.Errorf("%d rows are not in the encoding", summary.Undecodable)
			}
			if left := last.Length - last.At; left != 0 && left != 3 { // a mark
				t.Errorf("%d bytes are left of %d", left, last.Length)
			}
			if diff := cmp.Diff(want, read(t, o.Output)); diff != "" {
				t.Error(diff)
			}
			// From a pipe.
			var out bytes.Buffer
			pipe := rows.Options{Stdin: strings.NewReader(content), InputFormat: rows.CSV, InputEncoding: c.named, Stdout: &out, KeepText: true}
			if _, err := score(t, pipe, screener()); err != nil || out.String() != want {
				t.Errorf("from a pipe: %v, %s", err, &out)
			}
		})
	}
}

// Without its encoding, a file is read as it is: rows that are not UTF-8 are counted, also
// those of earlier runs and of complete outputs in a folder.
func TestUndecodableRowsAreCounted(t *testing.T) {
	folder := t.TempDir()
	const in = "text,who\nyou idiot,J\xfcrgen\nZo\xeb,\nZoë,ann\nbread,ann\ngarden,\xe9\n"
	path := write(t, filepath.Join(folder, "in.csv"), in+strings.Repeat("bread,ann\n", 500))
	o := rows.Options{Input: path, Output: filepath.Join(folder, "out.jsonl"), Resume: true}
	interrupted(t, o, 2)
	counts(t, continued(t, o, screener(), 2), rows.Summary{Rows: 505, Flagged: 1, Undecodable: 3})
	if got, _, _ := strings.Cut(read(t, o.Output), "\n"); !strings.HasSuffix(got, `"input":{"who":"J\ufffdrgen"}}`) {
		t.Errorf("%s", got)
	}
	// What an encoding does not have counts, too.
	for named, want := range map[string]int64{"windows-1252": 0, "shift_jis": 3, "utf-8": 3} {
		o := rows.Options{Stdin: strings.NewReader(in), Stdout: io.Discard, InputFormat: rows.CSV, InputEncoding: named}
		if summary, err := score(t, o, screener()); err != nil || summary.Undecodable != want {
			t.Errorf("%s: %v, %+v, want %d rows", named, err, summary, want)
		}
	}
	inputs := filepath.Join(folder, "*.csv")
	write(t, filepath.Join(folder, "more.csv"), "text\nZo\xeb\n")
	for range 2 {
		o := rows.Options{Input: inputs, Output: filepath.Join(folder, "outputs"), Resume: true}
		if summary, err := score(t, o, screener()); err != nil || summary.Undecodable != 4 {
			t.Errorf("%v, %+v, want 4 rows that are not UTF-8", err, summary)
		}
	}
	// Lines and JSONL.
	for format, in := range map[rows.Format]string{rows.Lines: "Zo\xeb\nZoë\n", rows.JSONL: "{\"text\":\"a\",\"\xfc\":1}\n{\"text\":\"ü\"}\n"} {
		counts(t, scored(t, rows.Options{Stdin: strings.NewReader(in), Stdout: io.Discard, InputFormat: format}, screener()), rows.Summary{Rows: 2, Undecodable: 1})
	}
}

// An unfinished run is not continued with another encoding: its texts would be others.
func TestResumedWithAnotherEncoding(t *testing.T) {
	folder := t.TempDir()
	o := rows.Options{Input: write(t, filepath.Join(folder, "in.csv"), "text\n"+strings.Repeat("Zo\xeb\n", 500)), Output: filepath.Join(folder, "out.jsonl")}
	interrupted(t, o, 1)
	o.Resume, o.InputEncoding = true, "windows-1252"
	if _, err := score(t, o, screener()); err == nil || !strings.Contains(err.Error(), "the input differs from the input of the interrupted run") {
		t.Errorf("%v", err)
	}
}

// A name of a column that is not UTF-8 is not found by what people see on their screens.
func TestHeaderInAnotherEncoding(t *testing.T) {
	in := write(t, filepath.Join(t.TempDir(), "in.csv"), "gr\xfc\xdfe\nidiot\n")
	o := rows.Options{Input: in, Stdout: io.Discard, TextColumn: "grüße"}
	if _, err := score(t, o, screener()); err == nil || !strings.HasSuffix(err.Error(), `there are: "gr\xfc\xdfe"; the names are not UTF-8: name their encoding, like InputEncoding windows-1252`) {
		t.Errorf("%v", err)
	}
	o.InputEncoding = "windows-1252"
	if summary, err := score(t, o, screener()); err != nil || summary.Flagged != 1 {
		t.Errorf("%v, %+v", err, summary)
	}
}
