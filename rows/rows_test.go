package rows_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/rows"
)

// words is a model with a few known words. A text with the word grün is German, which
// it does not know.
type words struct {
	version string
	pause   time.Duration // time per text
}

func (w words) Info() toxscreen.ModelInfo {
	info := toxscreen.ModelInfo{Version: w.version, Parallel: 2, Attributes: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.Insult, toxscreen.Threat}}
	for _, a := range info.Attributes {
		info.Thresholds.Set(a, 0.5)
	}
	return info
}

func (w words) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	found := toxscreen.Classification{Spans: []toxscreen.Span{}}
	for _, a := range w.Info().Attributes {
		found.Scores.Set(a, 0.01)
	}
	for word, attribute := range map[string]toxscreen.Attribute{"idiot": toxscreen.Insult, "kill": toxscreen.Threat} {
		if at := strings.Index(text, word); at >= 0 {
			found.Scores.Set(attribute, 0.95)
			found.Scores.Set(toxscreen.Toxicity, 0.9)
			var s toxscreen.Scores
			s.Set(attribute, 0.95)
			found.Spans = append(found.Spans, toxscreen.Span{Start: at, End: at + len(word), Attributes: s})
		}
	}
	if strings.Contains(text, "grün") {
		found.Language = toxscreen.Language{Code: "de", Name: "German", Foreign: true, Certain: true}
	}
	found.Windows = []toxscreen.Window{{Start: 0, End: len(text), Scores: found.Scores}}
	slices.SortFunc(found.Spans, func(a, b toxscreen.Span) int { return a.Start - b.Start })
	select {
	case <-time.After(w.pause):
	case <-ctx.Done():
		return toxscreen.Classification{}, ctx.Err()
	}
	return found, nil
}

// yes is a judge that calls every text an insult.
type yes struct{}

func (yes) Judge(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	if strings.Contains(text, "silence") {
		return toxscreen.Verdict{}, errors.New("no answer")
	}
	insult, p := toxscreen.Insult, toxscreen.Probability(0.75)
	return toxscreen.Verdict{
		Rubric: "r@1", Model: "m@2", Score: &p, Scale: 1, Warnings: []string{},
		Aspects: []toxscreen.AspectVerdict{{Name: "rude", Attribute: &insult, Yes: true, PYes: &p}},
	}, nil
}

func screener(o ...toxscreen.Option) *toxscreen.Screener {
	return toxscreen.New(words{version: "words@1"}, o...)
}

// score runs a job.
func score(t *testing.T, o rows.Options, s *toxscreen.Screener, settings ...rows.Setting) (rows.Summary, error) {
	t.Helper()
	job, err := rows.Open(t.Context(), o)
	if err != nil {
		return rows.Summary{}, err
	}
	defer job.Close()
	return job.Score(s, settings...)
}

// scored is score for a job that must succeed. The summary is without its duration.
func scored(t *testing.T, o rows.Options, s *toxscreen.Screener) rows.Summary {
	t.Helper()
	summary, err := score(t, o, s)
	if err != nil {
		t.Fatal(err)
	}
	summary.Duration = 0
	return summary
}

// continued is scored for a job that an earlier run has begun, which must have written at least some of
// the rows, and not all. The summary is also without the number of these rows.
func continued(t *testing.T, o rows.Options, s *toxscreen.Screener, atLeast int64) rows.Summary {
	t.Helper()
	summary := scored(t, o, s)
	if summary.Before < atLeast || summary.Before == summary.Rows {
		t.Errorf("the earlier run has written %d rows of %d, want at least %d and not all", summary.Before, summary.Rows, atLeast)
	}
	summary.Before = 0
	return summary
}

// counts compares summaries.
func counts(t *testing.T, got, want rows.Summary) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the summary differs: %s", diff)
	}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSummaryCountsRows(t *testing.T) {
	const in = `{"text": "you idiot"}
{"comment": "no text"}
{"text": "I kill you"}
{"text": "what a garden"}
`
	var limits toxscreen.Limits
	limits.Scores.Set(toxscreen.Threat, 0.95)
	var out bytes.Buffer
	var seen []rows.Progress
	summary, err := score(t, rows.Options{Stdin: strings.NewReader(in), Stdout: &out, Limits: limits, Progress: func(p rows.Progress) { seen = append(seen, p) }}, screener())
	if err != nil {
		t.Fatal(err)
	}
	summary.Duration = 0
	want := rows.Summary{Rows: 4, Failed: 1, Flagged: 2, Reached: 1, FirstFailure: `row 2: line 2: there is no field "text"; there are: "comment"`}
	if summary != want {
		t.Errorf("%+v, want %+v", summary, want)
	}
	var at []string
	for _, p := range seen {
		at = append(at, fmt.Sprintf("%d rows, %d of %d", p.Rows, p.At, p.Length))
	}
	if diff := cmp.Diff([]string{"0 rows, 0 of 0", "1 rows, 22 of 0", "2 rows, 45 of 0", "3 rows, 68 of 0", "4 rows, 94 of 0"}, at); diff != "" {
		t.Errorf("progress: %s", diff)
	}
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Errorf("%d lines, want 4: %s", n, &out)
	}
}

// A row in a language that the model does not know has scores and the reason why it is
// neither flagged nor not, in every format. It is counted, also by a run that goes on
// after it.
func TestRowsThatAreNotDecided(t *testing.T) {
	const reason = "the text seems to be German, which the model does not know"
	var limits toxscreen.Limits
	limits.Scores.Set(toxscreen.Toxicity, 0.5)
	for ending, want := range map[string]string{
		".jsonl":   `{"row":1,"score":0.01,"not_decided":"` + reason + `","language":"de","unsupported_language":"de","direction":"higher_is_more_toxic","spans":[],`,
		".csv":     "\n1,,0.01,,,0.01,,0.01,,,0.01,,,[],\"[\"\"" + reason + ": its scores mean little\"\"]\",\"" + reason + "\",,\n",
		".parquet": `"input":{"row":1,"score":0.01,"flagged":null,"severity":null,"toxicity":0.01,`,
	} {
		folder := t.TempDir()
		o := rows.Options{
			Input:  write(t, filepath.Join(folder, "in.jsonl"), "{\"text\":\"grün\"}\n{\"text\":\"you idiot\"}\n{\"text\":\"grün, grün\"}\n"),
			Output: filepath.Join(folder, "out"+ending), Limits: limits,
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Progress = func(p rows.Progress) {
			if p.Rows == 1 {
				cancel()
			}
		}
		job, err := rows.Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		summary, err := job.Score(toxscreen.New(words{version: "words@1", pause: 50 * time.Millisecond}))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %+v, %v: want an unfinished run", ending, summary, err)
		}
		if summary.NotDecided != 1 {
			t.Errorf("%s: %d rows were not decided before the interrupt, want 1", ending, summary.NotDecided)
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
		o.Progress, o.Resume = nil, true
		counts(t, continued(t, o, screener(), 1), rows.Summary{Rows: 3, NotDecided: 2, Flagged: 1, Reached: 1})
		shown := o.Output
		if ending == ".parquet" {
			shown = filepath.Join(folder, "shown.jsonl")
			if _, err := score(t, rows.Options{Input: o.Output, Output: shown, TextColumn: "warnings"}, screener()); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, shown); !strings.Contains(got, want) || strings.Count(got, `"`+reason+`"`) != 2 && strings.Count(got, `,"`+reason+`",,`) != 2 {
			t.Errorf("%s: %s is not in\n%s", ending, want, got)
		}
	}
}

// With a judge, its verdicts have their own columns.
func TestColumnsOfTheJudge(t *testing.T) {
	folder := t.TempDir()
	in, out := write(t, filepath.Join(folder, "in.csv"), "text\nyou idiot\nsilence\n"), filepath.Join(folder, "out.csv")
	if _, err := score(t, rows.Options{Input: in, Output: out, KeepText: true}, screener(toxscreen.WithOpinion(toxscreen.Opinion{Ask: yes{}.Judge}))); err != nil {
		t.Fatal(err)
	}
	got := read(t, out)
	for _, want := range []string{
		"row,id,text,score,flagged,severity,toxicity,severe_toxicity,insult,profanity,identity_attack,threat,sexually_explicit,passages,spans,warnings,not_decided,error," +
			"judge_score,judge_toxicity,judge_severe_toxicity,judge_insult,judge_profanity,judge_identity_attack,judge_threat,judge_sexually_explicit,not_judged,judge,source\n",
		`1,,you idiot,0.9,true,severe,0.9,,0.95,,,0.01,,"[{""start"":0,""end"":9,""score"":0.9}]","[{""start"":4,""end"":9,""attributes"":{""insult"":0.95}}]",[],,,0.75,,,0.75,,,,,,"{""asked"":true,`,
		"\n2,,silence,0.01,false,none,0.01,,0.01,,,0.01,,,[],[],,,,,,,,,,,no answer,\"{",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	// The same through Parquet.
	whole, again := filepath.Join(folder, "out.parquet"), filepath.Join(folder, "again.csv")
	if _, err := score(t, rows.Options{Input: in, Output: whole, KeepText: true}, screener(toxscreen.WithOpinion(toxscreen.Opinion{Ask: yes{}.Judge}))); err != nil {
		t.Fatal(err)
	}
	if _, err := score(t, rows.Options{Input: whole, Output: again}, screener()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, again); !strings.Contains(got, ",0.75,,,0.75,,,,,,") || !strings.Contains(got, ",no answer,") {
		t.Errorf("by way of Parquet:\n%s", got)
	}
}

// Python and pandas write NaN and infinities, which JSON does not have. In a field beside
// the text they are null in the output; as the text or the id, they are missing. Rows with them
// are counted, also those of an earlier run.
func TestNumbersThatJSONDoesNotHave(t *testing.T) {
	const in = `{"text": "you idiot", "stars": NaN, "more": [-Infinity, {"a": Infinity, "b": 1.50}], "note": "NaN"}
{"text": NaN}
{"id": NaN, "text": "NaN, Infinity \\"}
{"text": "a", "x": nan}
`
	folder := t.TempDir()
	o := rows.Options{Input: write(t, filepath.Join(folder, "in.jsonl"), in+strings.Repeat("{\"text\":\"a\"}\n", 500)), Output: filepath.Join(folder, "out.jsonl"), Resume: true}
	interrupted(t, o, 2)
	counts(t, continued(t, o, screener(), 2), rows.Summary{
		Rows: 504, Nonfinite: 3, Failed: 2, Flagged: 1, FirstFailure: `row 2: line 2: the field "text" is not a string but null`,
	})
	var got []string
	for line := range strings.Lines(read(t, o.Output)) {
		var r rows.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s %s%s", r.Number, r.ID, r.Error, r.Input))
	}
	want := []string{
		`1  {"stars":null,"more":[null, {"a": null, "b": 1.50}],"note":"NaN"}`,
		`2  line 2: the field "text" is not a string but null`,
		`3  `,
		`4  line 4: it is not JSON: invalid character 'a' in literal null (expecting 'u')`,
	}
	if diff := cmp.Diff(want, got[:4]); diff != "" {
		t.Error(diff)
	}
}

// believes is a Fusion in which verdicts on insults count.
type believes struct{}

func (believes) Version() string { return "believes" }

func (believes) Fuse(s toxscreen.Scores, v *toxscreen.Verdict) (toxscreen.Fused, error) {
	fused := toxscreen.Fused{Scores: s}
	if p, _ := s.Get(toxscreen.Insult); v != nil && p > 0.5 {
		fused.Evidence.Set(toxscreen.Insult, 1)
	}
	return fused, nil
}

// The summary counts the verdicts: those that are missing, and those that could change
// no score. It counts those of an interrupted run from its output, in every format.
func TestSummaryCountsVerdicts(t *testing.T) {
	folder := t.TempDir()
	in := write(t, filepath.Join(folder, "in.csv"), "text\n"+strings.Repeat("you idiot\nsilence\na garden\nsilence\nidiot\n\"two\nlines\"\n", 100))
	judged := by(yes{})
	for _, ending := range []string{".jsonl", ".csv", ".parquet"} {
		ctx, interrupt := context.WithCancel(t.Context())
		o := rows.Options{Input: in, Output: filepath.Join(folder, "out"+ending), Resume: true, Progress: func(p rows.Progress) {
			if p.Rows == 3 {
				interrupt()
			}
		}}
		job, err := rows.Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := job.Score(judged); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		job.Close()
		o.Progress = nil
		got := continued(t, o, judged, 3)
		counts(t, got, rows.Summary{Rows: 600, Flagged: 200, Asked: 600, Verdicts: 400, NotBelieved: 200, FirstUnjudged: "row 2: no answer"})
		if got.Unjudged() != 200 {
			t.Errorf("%s: %d rows are without a verdict, want 200", ending, got.Unjudged())
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	folder := t.TempDir()
	in := write(t, filepath.Join(folder, "in.jsonl"), "")
	link := filepath.Join(folder, "link.jsonl")
	if err := os.Link(in, link); err != nil {
		t.Fatal(err)
	}
	subfolder := filepath.Join(folder, "folder.csv")
	if err := os.Mkdir(subfolder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    rows.Options
		want string
	}{
		"nothing at all":         {rows.Options{}, "the input is missing"},
		"no output":              {rows.Options{Input: in}, "the output is missing"},
		"resume and overwrite":   {rows.Options{Input: in, Output: "o.jsonl", Resume: true, Overwrite: true}, "use only one of them"},
		"one column for both":    {rows.Options{Input: in, Output: "o.jsonl", TextColumn: "id"}, `TextColumn and IDColumn are both "id"`},
		"an unknown format":      {rows.Options{Input: "in.doc", Output: "o.jsonl"}, "Input in.doc: the extension must be .jsonl, .ndjson, .csv, .tsv, .parquet or .txt; or name"},
		"one value":              {rows.Options{Input: in, Output: "o.json"}, "Output o.json: a .json file contains one value"},
		"no rows in a row group": {rows.Options{Input: in, Output: "o.parquet", RowGroup: -1}, "RowGroup: -1 is not in 1..1048576"},
		"row groups in CSV":      {rows.Options{Input: in, Output: "o.csv", RowGroup: 5}, "RowGroup is for Parquet, but the output is CSV"},
		"a format of its own":    {rows.Options{Input: in, Output: "o.csv", InputFormat: "xml"}, `InputFormat: unknown format "xml"`},
		"a delimiter for JSONL":  {rows.Options{Input: in, Output: "o.csv", Delimiter: ';'}, "Delimiter is for CSV, but the input is JSONL"},
		"a quote as delimiter":   {rows.Options{Input: in, Output: "o.csv", InputFormat: rows.CSV, Delimiter: '"'}, "cannot separate cells"},
		"a compressed output":    {rows.Options{Input: in, Output: "o.csv.gz"}, "Output o.csv.gz: outputs are not compressed"},
		"compressed Parquet":     {rows.Options{Input: "in.parquet.zst", Output: "o.csv"}, "Parquet is compressed inside"},
		"no file to resume":      {rows.Options{Stdin: strings.NewReader(""), Output: "o.csv", Resume: true}, "Resume: standard input and output cannot be resumed"},
		"a folder to resume":     {rows.Options{Input: in, Output: subfolder, Resume: true}, "is not a regular file, which Resume needs"},
		"the same file":          {rows.Options{Input: in, Output: link, Overwrite: true}, "is both input and output"},
	} {
		if err := c.o.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := rows.Open(t.Context(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Open gives %v, want %q", name, err, c.want)
		}
	}
}

// Rows of all kinds are written and read back without loss.
func TestResultsAreReadAsTheyWereWritten(t *testing.T) {
	const in = `{"id": 7, "text": "you idiot <b>", "who": {"b":  [1, 2.50e3], "a": null}, "stars": 1.50}
{"id": "x", "comment": "no text"}
{"text": ""}
`
	var out bytes.Buffer
	if _, err := score(t, rows.Options{Stdin: strings.NewReader(in), Stdout: &out, KeepText: true}, screener()); err != nil {
		t.Fatal(err)
	}
	type short struct {
		Row             int64
		ID, Text, Error string
		Score           toxscreen.Probability
		Input           string
	}
	var got []short
	for line := range strings.Lines(out.String()) {
		var r rows.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		text := "none"
		if r.Text != nil {
			text = *r.Text
		}
		got = append(got, short{r.Number, string(r.ID), text, r.Error, r.Value.Score, string(r.Input)})
		if again, err := r.MarshalJSON(); err != nil || string(again)+"\n" != line {
			t.Errorf("%v: it is written again as\n%s\nwas\n%s", err, again, line)
		}
	}
	want := []short{
		{1, "7", "you idiot <b>", "", 0.9, `{"who":{"b":  [1, 2.50e3], "a": null},"stars":1.50}`},
		{2, `"x"`, "none", `line 2: there is no field "text"; there are: "comment"`, 0, `{"comment":"no text"}`},
		{3, "", "", "", 0.01, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// generator is a JSONL input of any length that is generated while it is read. At
// each tenth it measures the heap.
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

// Memory does not grow with the input, also with a real model: after the first
// tenths, the heap stays constant.
func TestMemoryIsFlat(t *testing.T) {
	model, err := models.Open("../testdata/models/tiny", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	for name, test := range map[string]struct {
		rows int
		o    rows.Options
	}{
		"JSONL to a stream": {memoryRows, rows.Options{}},
		"Parquet":           {memoryRows / 4, rows.Options{Output: "out.parquet", RowGroup: 2000}},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := &generator{rows: test.rows}, &counter{}
			o := test.o
			o.Stdin, o.Stdout = in, out
			if o.Output != "" {
				o.Output = filepath.Join(t.TempDir(), o.Output)
			}
			if summary := scored(t, o, toxscreen.New(model)); summary.Rows != int64(test.rows) {
				t.Errorf("%d rows, want %d", summary.Rows, test.rows)
			}
			if o.Output == "" && out.lines != test.rows {
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

// A run that waits for input ends when it is interrupted, and no goroutine remains
// when the input is closed.
func TestInterruptedWhileWaiting(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	in, feed := io.Pipe()
	out, printed := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		job, err := rows.Open(ctx, rows.Options{Stdin: in, Stdout: printed})
		if err == nil {
			_, err = job.Score(screener())
			err = errors.Join(err, job.Close())
		}
		ended <- err
	}()
	if _, err := io.WriteString(feed, "{\"text\":\"garden\"}\n"); err != nil {
		t.Fatal(err)
	}
	// The first result comes while the run waits for the second row.
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"row":1,`) {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, want that of the context", err)
		}
		if want := "interrupted; 1 row is done"; err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if unfinished, ok := errors.AsType[*rows.UnfinishedError](err); ok {
			t.Errorf("a stream cannot be resumed: %v", unfinished)
		}
	case <-time.After(time.Minute):
		t.Error("the run still waits")
	}
	feed.Close()
}

// The same is true of a run that copies Parquet from a pipe, whose temporary file then has gone.
func TestInterruptedWhileCopying(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.WriteString(feed, "PAR1 and more")
		cancel()
	}()
	_, err := rows.Open(ctx, rows.Options{Stdin: in, Stdout: io.Discard, InputFormat: rows.Parquet})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of the context", err)
	}
	if want := "failed to read standard input: interrupted"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: the file is left", left, err)
	}
}

// A failing output ends the run, even if more input is coming.
func TestOutputFails(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	summary, err := score(t, rows.Options{Stdin: &generator{rows: 1 << 30}, Stdout: &broken{after: 10}}, screener())
	if want := "failed to write standard output: the tape is broken; 10 rows are done"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if summary.Rows != 10 {
		t.Errorf("%d rows are done, want 10", summary.Rows)
	}
}

type broken struct{ after int }

func (b *broken) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errors.New("the tape is broken")
	}
	return len(p), nil
}
