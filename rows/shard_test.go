//go:build unix

package rows_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/rows"
)

// folderOfInputs writes a folder with files of several formats and sizes: one Parquet file
// has most of the rows, in groups of seven, and one has none.
func folderOfInputs(t *testing.T, n int) string {
	t.Helper()
	folder := t.TempDir()
	from := writeInputs(t, n)
	for name, path := range map[string]string{"b.jsonl.gz": from["in.jsonl.gz"], "c.csv": from["in.csv"]} {
		write(t, filepath.Join(folder, name), read(t, path))
	}
	for name, o := range map[string]rows.Options{
		"a.parquet": {Input: from["in.jsonl"], RowGroup: 7},
		"d.parquet": {Input: write(t, filepath.Join(t.TempDir(), "none.jsonl"), "")},
	} {
		o.Output, o.KeepText = filepath.Join(folder, name), true
		if _, err := score(t, o, screener()); err != nil {
			t.Fatal(err)
		}
	}
	// What other systems leave in a folder is no data.
	write(t, filepath.Join(folder, "_SUCCESS"), "")
	write(t, filepath.Join(folder, ".a.parquet.crc"), "crc")
	return folder
}

// The shards together have exactly the rows of the whole, with the same numbers, however
// many there are: the parts of a cut file, one after another, are the output of the file.
func TestShardsTogetherAreTheWhole(t *testing.T) {
	in := folderOfInputs(t, 100)
	whole := t.TempDir()
	wholeSummary := scored(t, rows.Options{Input: in, Output: whole, OutputFormat: rows.JSONL}, screener())
	if want := []string{"_done", "a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}; !slices.Equal(names(t, whole), want) {
		t.Fatalf("the whole has the outputs %v, want %v", names(t, whole), want)
	}
	for _, of := range []int{1, 2, 3, 4, 7, 16, 60} {
		t.Run(fmt.Sprint(of), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "new", "folder")
			var sum rows.Summary
			outputs := map[string]string{}
			for number := range of {
				o := rows.Options{Input: filepath.Join(in, "*"), Output: out, OutputFormat: rows.JSONL, Shard: rows.Shard{Number: number, Of: of}}
				job, err := rows.Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				summary, err := job.Score(screener())
				if err := errors.Join(err, job.Close()); err != nil {
					t.Fatal(err)
				}
				sum.Rows += summary.Rows
				sum.Failed += summary.Failed
				sum.Flagged += summary.Flagged
				sum.NotDecided += summary.NotDecided
				sum.FirstFailure = cmp.Or(sum.FirstFailure, summary.FirstFailure)
				for _, path := range job.Outputs() {
					if other, ok := outputs[path]; ok {
						t.Errorf("the shards %s and %d both write %s", other, number, path)
					}
					outputs[path] = fmt.Sprint(number)
				}
			}
			counts(t, sum, wholeSummary)
			together := map[string]string{}
			for _, name := range names(t, out) { // sorted, so that parts are in order
				if name != "_done" {
					stem, _, _ := strings.Cut(name, ".")
					together[stem] += read(t, filepath.Join(out, name))
				}
			}
			for _, stem := range []string{"a", "b", "c", "d"} {
				if together[stem] != read(t, filepath.Join(whole, stem+".jsonl")) {
					t.Errorf("the parts of %s are not the whole: %v", stem, names(t, out))
				}
			}
			if cut := len(outputs) - 4; cut < 0 || cut > of-1 {
				t.Errorf("%d files are cut between %d shards", cut, of)
			}
		})
	}
}

// names returns the sorted names in a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// A run over a folder is killed with SIGKILL inside its files and between them, and started
// again with Resume. Each output is then that of an undisturbed run, byte by byte, and the
// summary counts each row once.
func TestResumeFolderAfterKill(t *testing.T) {
	in := folderOfInputs(t, 200)
	for _, shard := range []rows.Shard{{}, {Number: 1, Of: 3}} {
		t.Run(shard.String(), func(t *testing.T) {
			whole, cut := t.TempDir(), t.TempDir()
			j := job{Input: in, Output: whole, Shard: shard}
			start := time.Now()
			code, counted, failure := j.run(t, 0)
			if code != 0 {
				t.Fatalf("the undisturbed run ended with %d: %s", code, failure)
			}
			undisturbed := time.Since(start)
			// The first kill comes when the run is stuck inside a file.
			j.Output, j.Resume, j.Stuck = cut, true, 20
			c, _, _ := j.start(t, stuck(cut))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			if all, _ := filepath.Glob(filepath.Join(cut, "*.resume.json")); len(all) != 1 {
				t.Fatalf("the killed run left the notes %v, want one", all)
			}
			j.Stuck = 0
			kills, between := 1, 0
			for {
				after := time.Duration(1 + rand.Int64N(int64(undisturbed)))
				if kills == 5 {
					after = 0 // enough kills
				}
				code, summary, failure := j.run(t, after)
				if code == killed {
					kills++
					if all, _ := filepath.Glob(filepath.Join(cut, "*.resume.json")); len(all) == 0 {
						between++
					}
					continue
				}
				if code != 0 || summary != counted {
					t.Fatalf("after %d kills the last run ended with %d: %s\nit counts %s\nundisturbed %s", kills, code, failure, summary, counted)
				}
				break
			}
			t.Logf("killed %d times, of them %d outside of files", kills, between)
			if !slices.Equal(names(t, cut), names(t, whole)) {
				t.Errorf("the outputs are %v, undisturbed %v", names(t, cut), names(t, whole))
			}
			for _, name := range names(t, whole) {
				if name != "_done" {
					same(t, filepath.Join(cut, name), filepath.Join(whole, name))
				}
			}
		})
	}
}

// A kill can also come after the last row of an output: before the output is recorded as
// complete, or before its note is removed. And it can leave a part of a note.
func TestResumeFolderBetweenSteps(t *testing.T) {
	in, out := folderOfInputs(t, 30), t.TempDir()
	o := rows.Options{Input: in, Output: out, Resume: true}
	want := scored(t, o, screener())
	for _, name := range []string{"a.parquet", "b.jsonl", "c.csv"} {
		for _, recorded := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, recorded %t", name, recorded), func(t *testing.T) {
				output, record := filepath.Join(out, name), filepath.Join(out, "_done", name+".json")
				content := read(t, output)
				write(t, note(output), read(t, record))
				write(t, note(output)+".new-ABCDEFGH", `{"format":`)
				if !recorded {
					if err := os.Remove(record); err != nil {
						t.Fatal(err)
					}
				}
				summary := scored(t, o, screener())
				summary.Before = 0
				counts(t, summary, want)
				if read(t, output) != content {
					t.Error("the output was changed")
				}
				if exists(note(output)) || !exists(record) {
					t.Errorf("the output is not recorded as complete: %v", names(t, out))
				}
				if exists(note(output) + ".new-ABCDEFGH") {
					t.Errorf("what a killed run left is still there: %v", names(t, out))
				}
			})
		}
	}
}

// Complete outputs are passed over: they are neither read nor written, and their rows count.
// One that is gone is made again.
func TestResumePassesOverCompleteOutputs(t *testing.T) {
	in, out := folderOfInputs(t, 30), t.TempDir()
	o := rows.Options{Input: in, Output: out, Resume: true}
	first := scored(t, o, screener())
	complete := filepath.Join(out, "c.csv")
	content := read(t, complete)
	write(t, complete, "somebody edits it")
	write(t, note(complete)+".new-ABCDEFGH", "") // a run was killed when it checked that it may write
	if err := os.Remove(filepath.Join(out, "b.jsonl")); err != nil {
		t.Fatal(err)
	}
	again := scored(t, o, screener())
	first.Before = first.Rows - 30
	counts(t, again, first)
	if read(t, complete) == content {
		t.Error("a complete output was written again")
	}
	if read(t, filepath.Join(out, "b.jsonl")) == "" {
		t.Error("a missing output was not written again")
	}

	// With other settings, or of another input, they are not what was asked for.
	if _, err := score(t, o, screener(), rows.Setting{Name: "the weather", Value: "fine"}); err == nil || !strings.Contains(err.Error(), "the run began with other settings: the weather") {
		t.Errorf("with another setting: %v", err)
	}
	write(t, filepath.Join(in, "c.csv"), "id,text,note\n1,bread,x\n")
	if _, err := score(t, o, screener()); err == nil || !strings.Contains(err.Error(), "c.csv: the input differs") {
		t.Errorf("with another input: %v", err)
	}
	o.Resume = false
	if _, err := score(t, o, screener()); err == nil || !strings.Contains(err.Error(), "continue the run with Resume") {
		t.Errorf("without Resume: %v", err)
	}
	o.Overwrite = true
	if summary, err := score(t, o, screener()); err != nil || summary.Before != 0 {
		t.Errorf("with Overwrite: %+v, %v", summary, err)
	}
	if exists(note(complete) + ".new-ABCDEFGH") {
		t.Errorf("what a killed run left is still there: %v", names(t, out))
	}
}

// What cannot be done is refused before a row is scored.
func TestFolderRefused(t *testing.T) {
	folder := t.TempDir()
	in := func(name, content string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, content)
		return filepath.Dir(path)
	}
	const row = "{\"text\":\"garden\"}\n"
	in("two/a.jsonl", row)
	two := in("two/b.jsonl", row)
	in("twice/a.jsonl", row)
	twice := in("twice/a.jsonl.gz", row)
	in("foreign/a.jsonl", row)
	foreign := in("foreign/notes.doc", "x")
	in("about/a.jsonl", row)
	about := in("about/README.txt", "x")
	in("deep/x/a.jsonl", row)
	in("mixed/a.jsonl", row)
	mixed := in("mixed/b.csv", "text\ngarden\n")
	in("wrong/a.jsonl", row)
	wrong := in("wrong/b.csv", "comment\ngarden\n")
	empty := in("empty/_SUCCESS", "")
	file := filepath.Join(in("out.jsonl", ""), "out.jsonl")
	shard := rows.Shard{Number: 1, Of: 2}
	in("before/a.0-of-3.jsonl", "")
	before := in("before/other.jsonl", "")
	for name, c := range map[string]struct {
		o    rows.Options
		want string
	}{
		"no such file":         {rows.Options{Input: filepath.Join(two, "*.csv")}, "*.csv: there is no such file"},
		"a bad pattern":        {rows.Options{Input: filepath.Join(two, "[")}, "syntax error in pattern"},
		"an empty folder":      {rows.Options{Input: empty}, "there is no such file"},
		"one output for two":   {rows.Options{Input: twice}, "a.jsonl.gz would both be written to"},
		"one output, format":   {rows.Options{Input: mixed, OutputFormat: "xml"}, `OutputFormat: unknown format "xml"`},
		"not rows":             {rows.Options{Input: foreign}, "notes.doc: the extension must be"},
		"notes on the rows":    {rows.Options{Input: about}, "README.txt is plain text, and " + filepath.Join(about, "a.jsonl") + " is not: use a pattern for the files of one kind, like '*.jsonl'"},
		"a folder in it":       {rows.Options{Input: filepath.Join(folder, "deep")}, "it is a folder; use a pattern"},
		"a missing column":     {rows.Options{Input: wrong}, `b.csv: there is no column "text"`},
		"an option for some":   {rows.Options{Input: mixed, Delimiter: ';'}, "Delimiter is for CSV, but the input is JSONL"},
		"a file as output":     {rows.Options{Input: two, Output: file}, "it must be a folder"},
		"the name of a file":   {rows.Options{Input: two, Output: filepath.Join(folder, "new.parquet")}, "its name is that of a file"},
		"standard output":      {rows.Options{Input: two, Output: rows.Standard, Stdout: os.Stdout}, "it must be a folder"},
		"standard input":       {rows.Options{Input: rows.Standard, Stdin: os.Stdin, Shard: shard}, "Shard is for files"},
		"outputs as inputs":    {rows.Options{Input: two, Output: two}, "a later run would read the outputs too"},
		"the judge again":      {rows.Options{Input: two, Redo: true}, "Redo changes one output"},
		"a shard too high":     {rows.Options{Input: two, Shard: rows.Shard{Number: 2, Of: 2}}, "the shards of 2 have the numbers 0 to 1"},
		"a negative shard":     {rows.Options{Input: two, Shard: rows.Shard{Number: -1, Of: 2}}, "the shards of 2 have the numbers 0 to 1"},
		"too many shards":      {rows.Options{Input: two, Shard: rows.Shard{Number: 0, Of: 1 << 21}}, "the number of shards is not in 1..1048576"},
		"no shards":            {rows.Options{Input: two, Shard: rows.Shard{Number: 1}}, "the number of shards is not in"},
		"cut otherwise":        {rows.Options{Input: two, Output: before}, "it has a.0-of-3.jsonl, of a run with another number of shards"},
		"the format of a file": {rows.Options{Input: filepath.Join(two, "a.jsonl"), OutputFormat: rows.CSV}, "OutputFormat is for a folder of outputs"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			if c.o.Output == "" {
				c.o.Output = out
			}
			if _, err := rows.Open(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if exists(out) && len(names(t, out)) > 0 {
				t.Errorf("it wrote %v", names(t, out))
			}
		})
	}
	for _, text := range []string{"", "3", "3/", "/3", "a/b", "3/3", "-1/3", "1/2/3", "1 /2"} {
		if s, err := rows.ParseShard(text); err == nil {
			t.Errorf("%q is shard %v", text, s)
		}
	}
}

// The outputs may be in a folder among the inputs, also when the run is resumed.
func TestOutputsBesideInputs(t *testing.T) {
	in := t.TempDir()
	write(t, filepath.Join(in, "a.jsonl"), "{\"text\":\"garden\"}\n")
	for range 2 {
		summary, err := score(t, rows.Options{Input: in, Output: filepath.Join(in, "scored"), Resume: true}, screener())
		if err != nil || summary.Rows != 1 {
			t.Errorf("%+v, %v", summary, err)
		}
	}
}

// A shard without rows is done at once and has no outputs.
func TestShardWithoutRows(t *testing.T) {
	in := write(t, filepath.Join(t.TempDir(), "in.jsonl"), "{\"text\":\"garden\"}\n")
	counts := []int{}
	for number := range 4 {
		job, err := rows.Open(t.Context(), rows.Options{Input: in, Output: filepath.Join(t.TempDir(), "out"), Shard: rows.Shard{Number: number, Of: 4}})
		if err != nil {
			t.Fatal(err)
		}
		summary, err := job.Score(screener())
		if err := errors.Join(err, job.Close()); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, int(summary.Rows), len(job.Outputs()))
	}
	if fmt.Sprint(counts) != "[0 0 0 0 1 1 0 0]" {
		t.Errorf("rows and outputs of each shard: %v", counts)
	}
}

// The progress of many inputs goes from nothing to the end once.
func TestProgressOfAFolder(t *testing.T) {
	var seen []rows.Progress
	o := rows.Options{Input: folderOfInputs(t, 40), Output: t.TempDir(), Progress: func(p rows.Progress) { seen = append(seen, p) }}
	summary, err := score(t, o, screener())
	if err != nil {
		t.Fatal(err)
	}
	last := seen[len(seen)-1]
	if seen[0].At != 0 {
		t.Errorf("the progress begins with %+v", seen[0])
	}
	if last.Rows != summary.Rows || last.At <= last.Length/2 { // the last file has no rows
		t.Errorf("the progress ends with %+v", last)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i].At < seen[i-1].At || seen[i].Rows < seen[i-1].Rows {
			t.Fatalf("%+v comes after %+v", seen[i], seen[i-1])
		}
		if seen[i].At > seen[i].Length {
			t.Fatalf("%+v is after the end", seen[i])
		}
	}
}
