package toxscreen_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// classify is a Classifier that returns what the function returns. These tests are
// about the Screener; models/ and the command line are tested with real models.
type classify func(ctx context.Context, text string) (toxscreen.Classification, error)

func (c classify) Classify(ctx context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	return c(ctx, text)
}

func (c classify) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{
		Version: "tiny@1.0.0", Parallel: 2,
		Attributes: []toxscreen.Attribute{toxscreen.Toxicity, toxscreen.Insult}, Thresholds: scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.7),
	}
}

// scores makes Scores of alternating attributes and numbers.
func scores(pairs ...any) toxscreen.Scores {
	var s toxscreen.Scores
	for i := 0; i < len(pairs); i += 2 {
		s.Set(pairs[i].(toxscreen.Attribute), pairs[i+1].(float64))
	}
	return s
}

// score returns the result of a text.
func score(t *testing.T, s *toxscreen.Screener, text string) toxscreen.Result {
	t.Helper()
	result, err := s.Score(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// check reports what is not as it should be.
func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestScoreGivesTheNativeResult(t *testing.T) {
	screener := toxscreen.New(classify(func(context.Context, string) (toxscreen.Classification, error) {
		return toxscreen.Classification{
			Scores:  scores(toxscreen.Toxicity, 0.91234567, toxscreen.Insult, 0.69),
			Windows: []toxscreen.Window{{Start: 0, End: 13, Scores: scores(toxscreen.Toxicity, 0.91234567, toxscreen.Insult, 0.69)}},
			Spans:   []toxscreen.Span{{Start: 8, End: 13, Attributes: scores(toxscreen.Toxicity, 0.8, toxscreen.Insult, 0.75)}},
		}, nil
	}))
	result, err := screener.Score(t.Context(), "you are silly")
	if err != nil {
		t.Fatal(err)
	}
	result.Versions.Toxscreen = "1.2.3"
	got, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "score": 0.912346,
 "flagged": true,
 "severity": "severe",
 "direction": "higher_is_more_toxic",
 "attributes": {
  "toxicity": {
   "score": 0.912346,
   "classifier": 0.912346,
   "threshold": 0.5,
   "flagged": true
  },
  "insult": {
   "score": 0.69,
   "classifier": 0.69,
   "threshold": 0.7,
   "flagged": false
  }
 },
 "passages": [
  {
   "start": 0,
   "end": 13,
   "score": 0.912346
  }
 ],
 "spans": [
  {
   "start": 8,
   "end": 13,
   "attributes": {
    "toxicity": 0.8,
    "insult": 0.75
   }
  }
 ],
 "offset_unit": "byte",
 "source": "classifier",
 "judge": {
  "asked": false,
  "why": "no judge is configured"
 },
 "warnings": [],
 "versions": {
  "toxscreen": "1.2.3",
  "model": "tiny@1.0.0"
 }
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestScoreWarns(t *testing.T) {
	for _, test := range []struct {
		name, text string
		toxicity   float64
		spans      []toxscreen.Span
		want       string
	}{
		{"about a blank text", " \n", 0.1, nil, "the text is empty or blank: its scores mean nothing"},
		{"about a flag without a span", "text", 0.9, []toxscreen.Span{}, "flagged without a span: no single word stands out"},
		{"about nothing else", "text", 0.9, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			screener := toxscreen.New(classify(func(context.Context, string) (toxscreen.Classification, error) {
				return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, test.toxicity), Spans: test.spans}, nil
			}))
			result, err := screener.Score(t.Context(), test.text)
			if got := strings.Join(result.Warnings, "; "); err != nil || got != test.want {
				t.Errorf("warnings %q (error %v), want %q", got, err, test.want)
			}
		})
	}
}

// A span shows what nearly or really makes a text flagged: without that, a harmless
// text would have marked words. Only what makes it flagged is masked.
func TestSpansFollowTheScores(t *testing.T) {
	const text = "a, b and c"
	for name, test := range map[string]struct {
		toxicity, insult float64
		want, masked     string
	}{
		"nowhere near a threshold": {0.05, 0.05, "", "a, b and c"},
		"near one":                 {0.3, 0.05, "0-2 toxicity", "a, b and c"},
		"at one":                   {0.5, 0.3, "0-2 toxicity insult; 3-4 insult", "** b and c"},
		"at the other":             {0.3, 0.7, "0-2 toxicity insult; 3-4 insult", "** * and c"},
	} {
		screener := toxscreen.New(classify(func(context.Context, string) (toxscreen.Classification, error) {
			return toxscreen.Classification{
				Scores: scores(toxscreen.Toxicity, test.toxicity, toxscreen.Insult, test.insult),
				Spans: []toxscreen.Span{
					{Start: 0, End: 2, Attributes: scores(toxscreen.Toxicity, 0.4, toxscreen.Insult, 0.4)},
					{Start: 3, End: 4, Attributes: scores(toxscreen.Insult, 0.4)},
				},
			}, nil
		}))
		result, err := screener.Score(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, s := range result.Spans {
			words := []string{fmt.Sprintf("%d-%d", s.Start, s.End)}
			for a := range s.Attributes.All() {
				words = append(words, a.String())
			}
			shown = append(shown, strings.Join(words, " "))
		}
		if got := strings.Join(shown, "; "); got != test.want || result.Spans == nil {
			t.Errorf("%s: spans %q, want %q", name, got, test.want)
		}
		if got := toxscreen.Mask(text, result.FlaggedSpans()); got != test.masked {
			t.Errorf("%s: masked %q, want %q", name, got, test.masked)
		}
	}
}

// A broken model gives an error, never a score.
func TestScoreRejectsInvalidProbabilities(t *testing.T) {
	for name, s := range map[string]toxscreen.Scores{
		"nan":          scores(toxscreen.Toxicity, math.NaN()),
		"over one":     scores(toxscreen.Toxicity, 1.5),
		"no toxicity":  scores(toxscreen.Insult, 0.5),
		"no threshold": scores(toxscreen.Toxicity, 0.5, toxscreen.Threat, 0.5),
		"no scores":    {},
		"under zero":   scores(toxscreen.Toxicity, -0.1),
	} {
		screener := toxscreen.New(classify(func(context.Context, string) (toxscreen.Classification, error) {
			return toxscreen.Classification{Scores: s}, nil
		}))
		if result, err := screener.Score(t.Context(), "text"); err == nil {
			t.Errorf("%s: score %v, want an error", name, result.Score)
		}
	}
}

func TestOptions(t *testing.T) {
	c := classify(func(context.Context, string) (toxscreen.Classification, error) {
		return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.6, toxscreen.Insult, 0.6)}, nil
	})
	screener := toxscreen.New(c, toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.61)), toxscreen.WithMaxBytes(4))
	result := score(t, screener, "text")
	check(t, "flagged, by the caller's threshold of toxicity,", result.Flagged, false)
	check(t, "the model's threshold of insult", result.Attributes[toxscreen.Insult].Threshold, 0.7)
	if result.Severity != toxscreen.SeverityModerate {
		t.Errorf("severity %s, want moderate: 0.6 is over the model's threshold, whatever the caller's is", result.Severity)
	}
	if _, err := screener.Score(t.Context(), "text!"); !errors.Is(err, toxscreen.ErrTooLong) {
		t.Errorf("error %v, want ErrTooLong", err)
	}
}

func TestSeverityOf(t *testing.T) {
	const none, mild, moderate, severe = toxscreen.SeverityNone, toxscreen.SeverityMild, toxscreen.SeverityModerate, toxscreen.SeveritySevere
	for _, c := range []struct {
		score, threshold float64
		want             toxscreen.Severity
	}{
		{0, 0.5, none}, {0.0999, 0.5, none}, {0.1, 0.5, mild}, {0.4999, 0.5, mild},
		{0.5, 0.5, moderate}, {0.7999, 0.5, moderate}, {0.8, 0.5, severe}, {1, 0.5, severe},
		{0.024, 0.2, none}, {0.028, 0.2, mild}, {0.2, 0.2, moderate}, {0.501, 0.2, severe}, // odds of 1 to 4
		{0, 0, severe}, {0.99, 1, none}, {1, 1, severe}, // flags all, and only certainty
	} {
		if got := toxscreen.SeverityOf(c.score, c.threshold); got != c.want {
			t.Errorf("SeverityOf(%v, %v) = %s, want %s", c.score, c.threshold, got, c.want)
		}
	}
}
