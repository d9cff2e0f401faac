package fairness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/plural"
	"github.com/toxscreen/toxscreen/rows"
)

// DefaultSample is the number of sentences of each set of templates. Two cores score them
// in about a minute.
const DefaultSample = 31_000

// Run scores texts and measures them: the rows of a file, or the templates if no input is
// named.
type Run struct {
	Rows

	Input    rows.Options
	Sample   int // sentences drawn of each set of templates; 0: all
	MinSize  int
	Seed     uint64
	Settings Settings // what the model's manifest says, and the calibration
	// Progress is called with how far the run is. Default: nothing is called.
	Progress func(rows.Progress)
	// Undecodable says that rows hold bytes which are not in the encoding of the input.
	Undecodable func(n int64) string

	Failed int64 // rows that are left out; set by Measure

	threshold float64
	first     string // failure
	foreign   int    // texts that are not decided
	odd       string // what Undecodable said
	wrong     error  // of a row
}

// Measure scores the texts and measures their scores.
func (r *Run) Measure(ctx context.Context, screener *toxscreen.Screener) (Results, error) {
	s := r.Settings
	s.Attribute, s.MinSize, s.Seed, s.Model, s.Toxscreen = r.Attribute, r.MinSize, r.Seed, screener.Info().Scale.Of(screener.Info().Version), toxscreen.Version
	var groups, intersections []Text
	var err error
	if r.Input.Input == "" {
		sets := [][]Text{Templates(), CrossTemplates()}
		s.Source, s.Templates = "Perspective's Sentence Templates", true
		for i, set := range sets {
			s.Sentences += len(set)
			sets[i] = Sample(set, r.Sample, r.Seed)
		}
		groups, intersections = sets[0], sets[1]
		err = r.scoreTemplates(ctx, screener, groups, intersections)
	} else {
		s.Source = cmp.Or(map[string]string{rows.Standard: "standard input"}[r.Input.Input], filepath.Base(r.Input.Input))
		groups, err = r.scoreRows(ctx, screener)
		intersections = groups
	}
	if err != nil {
		return Results{}, err
	}
	s.Threshold = r.threshold
	results, err := Measure(s, groups, intersections)
	if err != nil {
		return results, err
	}
	warn := func(format string, args ...any) {
		results.Warnings = append(results.Warnings, fmt.Sprintf(format, args...))
	}
	if r.Failed > 0 {
		warn("rows that failed and are left out: %d; the first: %s", r.Failed, r.first)
	}
	if r.unlabelled > 0 {
		warn("rows without a label, which are left out: %d", r.unlabelled)
	}
	if r.odd != "" {
		warn("%s", r.odd)
	}
	if r.foreign > 0 {
		warn("texts that seem to be in a language that the model does not know: %d; here they count by their scores", r.foreign)
	}
	return results, nil
}

// scoreTemplates sets the scores of texts.
func (r *Run) scoreTemplates(ctx context.Context, screener *toxscreen.Screener, sets ...[]Text) error {
	total, done := 0, 0
	for _, texts := range sets {
		total += len(texts)
	}
	each := func(yield func(*Text) bool) {
		for _, texts := range sets {
			for i := range texts {
				if !yield(&texts[i]) {
					return
				}
			}
		}
	}
	began := time.Now()
	for o := range toxscreen.Batch(ctx, screener, each, func(t *Text) (string, error) { return t.Text, nil }) {
		if ctx.Err() != nil {
			break
		}
		if o.Err != nil {
			return fmt.Errorf("text %d of %d: %w", done+1, total, o.Err)
		}
		o.Row.Score = r.take(o.Result)
		done++
		if r.Progress != nil {
			r.Progress(rows.Progress{Summary: rows.Summary{Rows: int64(done), Duration: time.Since(began)}, At: int64(done), Length: int64(total)})
		}
	}
	if done < total {
		return fmt.Errorf("interrupted; %d of %s scored", done, plural.Count(total, "text is", "texts are"))
	}
	return nil
}

// take returns the score of a text, and keeps what the run needs of its result.
func (r *Run) take(result toxscreen.Result) float64 {
	measured := result.Attributes[r.Attribute]
	r.threshold = float64(measured.Threshold)
	if result.NotDecided != "" {
		r.foreign++
	}
	return float64(measured.Score)
}

// scoreRows scores the rows of a file.
func (r *Run) scoreRows(ctx context.Context, screener *toxscreen.Screener) ([]Text, error) {
	r.Input.Stdout, r.Input.KeepText, r.Input.Progress = lines(r.add), true, r.Progress
	job, err := rows.Open(ctx, r.Input)
	if err != nil {
		return nil, err
	}
	defer job.Close()
	summary, err := job.Score(screener)
	if r.wrong != nil {
		err = r.wrong
	}
	if err != nil {
		return nil, fmt.Errorf("failed to measure fairness: %s: %w", r.Input.Input, err)
	}
	r.Failed, r.first = summary.Failed, summary.FirstFailure
	if summary.Undecodable > 0 && r.Undecodable != nil {
		r.odd = r.Undecodable(summary.Undecodable)
	}
	texts, err := r.Texts()
	if err != nil && r.first != "" {
		err = fmt.Errorf("%w; %s failed, the first: %s", err, plural.Count(r.Failed, "row", "rows"), r.first)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to measure fairness: %s: %w", r.Input.Input, err)
	}
	return texts, nil
}

// lines is the standard output of a job, which is called with each line.
type lines func(line []byte) (int, error)

func (l lines) Write(line []byte) (int, error) { return l(line) }

// add takes one result of the job. A row that is wrong ends the run.
func (r *Run) add(line []byte) (int, error) {
	var result rows.Result
	if err := json.Unmarshal(line, &result); err != nil {
		return 0, err
	}
	if result.Error == "" {
		text := ""
		if result.Text != nil {
			text = *result.Text
		}
		if r.wrong = r.Add(result.Number, text, r.take(result.Value), result.Input); r.wrong != nil {
			return 0, errors.New("a row is wrong")
		}
	}
	return len(line), nil
}
