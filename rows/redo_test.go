package rows_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/rows"
)

// always is a judge that also answers where yes fails.
type always struct{ yes }

func (a always) Judge(ctx context.Context, _ string, found toxscreen.Classification) (toxscreen.Verdict, error) {
	return a.yes.Judge(ctx, "any text", found)
}

// by returns a screener with a judge that is asked about every text.
func by(j interface {
	Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error)
},
) *toxscreen.Screener {
	return screener(toxscreen.WithOpinion(toxscreen.Opinion{Ask: j.Judge, Fuse: believes{}.Fuse, Version: believes{}.Version()}))
}

const judgedRows = "id,text,who\n1,you idiot,ann\n2,silence,\"b\no\"\n3,,c\n4,silence,d\n5,\"a \"\"garden\"\"\",e\n"

// Only the rows whose verdict failed are scored again; the others stay byte for byte.
func TestRedo(t *testing.T) {
	for _, ending := range []string{".jsonl", ".csv", ".tsv"} {
		folder := t.TempDir()
		in, out := write(t, filepath.Join(folder, "in.csv"), judgedRows), filepath.Join(folder, "out"+ending)
		o := rows.Options{Input: in, Output: out, KeepText: true}
		if summary, err := score(t, o, by(yes{})); err != nil || summary.Unjudged() != 2 {
			t.Fatalf("%v, %+v", err, summary)
		}
		was := read(t, out)
		o.Redo = true
		counts(t, scored(t, o, by(always{})), rows.Summary{Rows: 5, Before: 3, Flagged: 1, Asked: 5, Verdicts: 5, NotBelieved: 4})
		now := read(t, out)
		if strings.Contains(now, "no answer") || strings.Count(now, "p_yes") != 5 {
			t.Errorf("%s: there are rows without a verdict:\n%s", ending, now)
		}
		for _, row := range []string{"1", "3", "5"} {
			if line := lineOf(was, row); line == "" || line != lineOf(now, row) {
				t.Errorf("%s: row %s was\n%s and is\n%s", ending, row, line, lineOf(now, row))
			}
		}
		// Again, nothing is left to do.
		if summary := scored(t, o, by(yes{})); summary.Before != 5 {
			t.Errorf("%s: %d rows were kept, want all 5", ending, summary.Before)
		}
		if read(t, out) != now {
			t.Errorf("%s: the output was changed", ending)
		}
		if left, _ := filepath.Glob(out + "*"); len(left) != 1 {
			t.Errorf("files are left: %v", left)
		}
	}
}

// lineOf returns the line that a row begins with.
func lineOf(output, row string) string {
	for line := range strings.Lines(output) {
		for _, begin := range []string{`{"row":` + row + ",", row + ",", row + "\t"} {
			if strings.HasPrefix(line, begin) {
				return line
			}
		}
	}
	return ""
}

// An output is changed only with its own input, model and settings, and only if it is
// complete. Otherwise it stays as it was.
func TestRedoRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, o *rows.Options)
		by     *toxscreen.Screener
		want   string
	}{
		"another input": {change: func(t *testing.T, o *rows.Options) {
			write(t, o.Input, strings.Replace(judgedRows, ",d\n", ",x\n", 1))
		}, want: "row 4 is not what the output was made of"},
		"another text": {change: func(t *testing.T, o *rows.Options) {
			write(t, o.Input, strings.Replace(judgedRows, "4,silence", "4,you idiot", 1))
		}, want: "row 4 is not what the output was made of"},
		"a longer input": {change: func(t *testing.T, o *rows.Options) {
			write(t, o.Input, judgedRows+"6,a,b\n")
		}, want: "it has more or fewer rows than the output"},
		"a shorter input": {change: func(t *testing.T, o *rows.Options) {
			write(t, o.Input, strings.Join(strings.SplitAfter(judgedRows, "\n")[:2], ""))
		}, want: "it has more or fewer rows than the output"},
		"an unfinished output": {change: func(t *testing.T, o *rows.Options) {
			write(t, o.Output+".resume.json", "{}")
		}, want: "is an unfinished output: continue it with Resume before Redo"},
		"no output": {change: func(t *testing.T, o *rows.Options) {
			o.Output = filepath.Join(filepath.Dir(o.Output), "other.jsonl")
		}, want: "there is no output"},
		"Parquet": {change: func(t *testing.T, o *rows.Options) {
			o.Output = strings.TrimSuffix(o.Output, ".jsonl") + ".parquet"
		}, want: "rows of Parquet cannot be replaced: use Overwrite in its place"},
		"with Overwrite": {change: func(t *testing.T, o *rows.Options) {
			o.Overwrite = true
		}, want: "it cannot be combined with Resume or Overwrite"},
		"without a judge":    {by: screener(), want: "no judge is configured"},
		"another threshold":  {by: by(always{}).With(toxscreen.WithThresholds(insults(0.001))), want: "row 2 is not what the output was made of"},
		"without the texts":  {change: func(_ *testing.T, o *rows.Options) { o.KeepText = true }, want: "row 1 is not what the run wrote"},
		"standard output":    {change: func(_ *testing.T, o *rows.Options) { o.Output, o.Stdout = rows.Standard, os.Stderr }, want: "standard input and output cannot be resumed"},
		"a foreign output":   {change: func(t *testing.T, o *rows.Options) { write(t, o.Output, "{\"row\":7}\n") }, want: "row 1 is not what the run wrote"},
		"an incomplete line": {change: func(t *testing.T, o *rows.Options) { write(t, o.Output, read(t, o.Output)+"{") }, want: "row 6 is not what the run wrote"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			o := rows.Options{Input: write(t, filepath.Join(folder, "in.csv"), judgedRows), Output: filepath.Join(folder, "out.jsonl")}
			if _, err := score(t, o, by(yes{})); err != nil {
				t.Fatal(err)
			}
			o.Redo = true
			if c.change != nil {
				c.change(t, &o)
			}
			judge := c.by
			if judge == nil {
				judge = by(always{})
			}
			was := read(t, filepath.Join(folder, "out.jsonl"))
			if _, err := score(t, o, judge); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if read(t, filepath.Join(folder, "out.jsonl")) != was {
				t.Error("the output was changed")
			}
		})
	}
}

func insults(p float64) toxscreen.Scores {
	var s toxscreen.Scores
	s.Set(toxscreen.Insult, p)
	return s
}
