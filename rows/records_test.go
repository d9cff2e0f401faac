package rows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen/rows"
)

// Records have what a row says beside its text, in any format, and need no text.
func TestRecords(t *testing.T) {
	folder := t.TempDir()
	jsonl := write(t, filepath.Join(folder, "in.jsonl"), `{"id":1.0,"text":"a","old":{"toxicity":0.7}}`+"\n\n"+`{"id":"b","old":null}`+"\n")
	csv := write(t, filepath.Join(folder, "in.csv"), "old,id,text,\n0.7,1.0,a,\n,b,,x\n")
	lines := write(t, filepath.Join(folder, "in.txt"), "a \"b\"\n\n")
	parquet := filepath.Join(folder, "out.parquet")
	if _, err := score(t, rows.Options{Input: csv, Output: parquet, KeepText: true}, screener()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		jsonl:   {`1 1.0 {"text":"a","old":{"toxicity":0.7}}`, `2 b {"old":null}`},
		csv:     {`1 1.0 {"old":"0.7","text":"a","column_4":""}`, `2 b {"old":"","text":"","column_4":"x"}`},
		lines:   {`1  {"text":"a \"b\""}`, `2  {"text":""}`},
		parquet: {`1 1.0 {"row":1,"text":"a","score":`, `2 b {"row":2,"text":"","score":`},
	} {
		var got []string
		for r, err := range rows.Records(t.Context(), rows.Options{Input: path}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.Join([]string{string(rune('0' + r.Row)), r.ID, string(r.Fields)}, " "))
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q", path, got)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %s, want %s", path, got[i], want[i])
			}
		}
	}
}

// Files of spreadsheets and of Spark are read as for a job.
func TestRecordsOfOtherCSV(t *testing.T) {
	in := write(t, filepath.Join(t.TempDir(), "in.csv"), "old;text\n0.7;\"a \\\"b\\\" \xfc\"\n")
	var got []string
	for r, err := range rows.Records(t.Context(), rows.Options{Input: in, Delimiter: ';', Escape: '\\', InputEncoding: "latin1"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(r.Fields))
	}
	if diff := cmp.Diff([]string{`{"old":"0.7","text":"a \"b\" ü"}`}, got); diff != "" {
		t.Error(diff)
	}
	var last error
	for _, err := range rows.Records(t.Context(), rows.Options{Input: in, Escape: '"'}) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "in.csv: Escape: ") {
		t.Errorf("%v", last)
	}
}

// The first row that cannot be read ends the sequence: half of a file is no file.
func TestRecordsEndWithTheFirstError(t *testing.T) {
	folder := t.TempDir()
	broken := write(t, filepath.Join(folder, "in.jsonl"), "{\"text\":\"a\"}\n{\n{\"text\":\"b\"}\n")
	for path, want := range map[string]string{
		broken:                              "failed to read " + broken + ": line 2: it is not JSON",
		filepath.Join(folder, "none.jsonl"): "none.jsonl: no such file",
		filepath.Join(folder, "in.doc"):     "the extension must be",
		rows.Standard:                       "failed to read standard input: there is neither a file nor Stdin",
	} {
		read, last := 0, error(nil)
		for _, err := range rows.Records(t.Context(), rows.Options{Input: path}) {
			if last = err; err == nil {
				read++
			}
		}
		if last == nil || !strings.Contains(last.Error(), want) {
			t.Errorf("%s: %v, want %q", path, last, want)
		}
		if read > 1 {
			t.Errorf("%s: %d rows were read", path, read)
		}
	}
}
