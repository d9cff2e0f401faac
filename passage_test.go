package toxscreen_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// seeing is a Classifier of texts in several windows. The probabilities of a text are
// the highest of its windows.
func seeing(windows ...toxscreen.Window) classify {
	return func(context.Context, string) (toxscreen.Classification, error) {
		found := toxscreen.Classification{Windows: windows}
		for _, w := range windows {
			for a, p := range w.Scores.All() {
				if highest, ok := found.Scores.Get(a); !ok || p > highest {
					found.Scores.Set(a, p)
				}
			}
		}
		return found, nil
	}
}

// saw is a window with probabilities of toxicity and insult, whose thresholds are 0.5
// and 0.7.
func saw(start, end int, toxicity, insult float64) toxscreen.Window {
	return toxscreen.Window{Start: start, End: end, Scores: scores(toxscreen.Toxicity, toxicity, toxscreen.Insult, insult)}
}

func passagesOf(t *testing.T, s *toxscreen.Screener) []toxscreen.Passage {
	t.Helper()
	result, err := s.Score(t.Context(), "a text")
	if err != nil {
		t.Fatal(err)
	}
	return result.Passages
}

// The passages of a text are its windows that are flagged by themselves, the worst
// first, at most three, without overlap.
func TestPassages(t *testing.T) {
	for _, test := range []struct {
		name    string
		windows []toxscreen.Window
		want    []toxscreen.Passage
	}{
		{"no window is flagged", []toxscreen.Window{saw(0, 10, 0.4, 0.6), saw(10, 20, 0.1, 0.1)}, nil},
		{"one is", []toxscreen.Window{saw(0, 10, 0.1, 0.1), saw(10, 20, 0.8, 0.1)}, []toxscreen.Passage{{Start: 10, End: 20, Score: 0.8}}},
		{
			"the worst comes first",
			[]toxscreen.Window{saw(0, 10, 0.6, 0.1), saw(10, 20, 0.9, 0.1)},
			[]toxscreen.Passage{{Start: 10, End: 20, Score: 0.9}, {Start: 0, End: 10, Score: 0.6}},
		},
		{
			"of equal ones the earlier comes first",
			[]toxscreen.Window{saw(0, 10, 0.6, 0.1), saw(10, 20, 0.6, 0.1)},
			[]toxscreen.Passage{{Start: 0, End: 10, Score: 0.6}, {Start: 10, End: 20, Score: 0.6}},
		},
		{
			"neighbours of a worse one that share words with it are left out",
			[]toxscreen.Window{saw(0, 12, 0.8, 0.1), saw(10, 22, 0.9, 0.1), saw(20, 32, 0.7, 0.1), saw(32, 40, 0.6, 0.1)},
			[]toxscreen.Passage{{Start: 10, End: 22, Score: 0.9}, {Start: 32, End: 40, Score: 0.6}},
		},
		{
			"three are enough",
			[]toxscreen.Window{saw(0, 10, 0.6, 0.1), saw(10, 20, 0.7, 0.1), saw(20, 30, 0.8, 0.1), saw(30, 40, 0.9, 0.1)},
			[]toxscreen.Passage{{Start: 30, End: 40, Score: 0.9}, {Start: 20, End: 30, Score: 0.8}, {Start: 10, End: 20, Score: 0.7}},
		},
		{
			"a window that is flagged for another attribute has its toxicity as score",
			[]toxscreen.Window{saw(0, 10, 0.1, 0.1), saw(10, 20, 0.4, 0.75)},
			[]toxscreen.Passage{{Start: 10, End: 20, Score: 0.4}},
		},
		{
			"without toxicity, the highest flagged attribute is the score",
			[]toxscreen.Window{saw(0, 10, 0.1, 0.1), {Start: 10, End: 20, Scores: scores(toxscreen.Insult, 0.75)}},
			[]toxscreen.Passage{{Start: 10, End: 20, Score: 0.75}},
		},
		{"a flagged text of one window is one passage", []toxscreen.Window{saw(2, 10, 0.8, 0.1)}, []toxscreen.Passage{{Start: 2, End: 10, Score: 0.8}}},
		{"the classifier does not tell its windows", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			classifier := seeing(test.windows...)
			if test.windows == nil {
				classifier = func(context.Context, string) (toxscreen.Classification, error) {
					return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.9)}, nil
				}
			}
			if diff := cmp.Diff(test.want, passagesOf(t, toxscreen.New(classifier))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Passages depend on the caller's thresholds like flags do.
func TestPassagesFollowThresholds(t *testing.T) {
	screener := toxscreen.New(seeing(saw(0, 10, 0.6, 0.1), saw(10, 20, 0.8, 0.1)))
	strict := screener.With(toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.7)))
	if got := passagesOf(t, strict); len(got) != 1 || got[0].Start != 10 {
		t.Errorf("a threshold of 0.7 gives %v", got)
	}
	above := screener.With(toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.81)))
	if got := passagesOf(t, above); got != nil {
		t.Errorf("a text that is not flagged has the passages %v", got)
	}
}

// halving is a fusion that halves the classifier's probabilities, and raises those that
// a verdict measures to 0.99.
type halving struct{}

func (halving) Version() string { return "halving" }

func (halving) Fuse(s toxscreen.Scores, v *toxscreen.Verdict) (toxscreen.Fused, error) {
	var fused toxscreen.Fused
	for a, p := range s.All() {
		fused.Scores.Set(a, p/2)
	}
	if v != nil {
		for a := range v.Measured().All() {
			fused.Scores.Set(a, 0.99)
			fused.Evidence.Set(a, 1)
		}
	}
	return fused, nil
}

// A passage has the score that it would have as a text of its own: fusion parameters
// correct it, too.
func TestPassagesAreCorrectedLikeTexts(t *testing.T) {
	classifier := seeing(saw(0, 10, 0.9, 0.1), saw(10, 20, 0.98, 0.1))
	screener := toxscreen.New(classifier, opinion(halving{}, nil, toxscreen.Band{}), toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.47)))
	if diff := cmp.Diff([]toxscreen.Passage{{Start: 10, End: 20, Score: 0.49}}, passagesOf(t, screener)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A verdict that does not say what the judge saw is about the whole text. It counts for the
// passage that is the whole text; of a longer text that only the verdict flags, no part
// stands out.
func TestPassagesAndTheJudge(t *testing.T) {
	judge := judging(func(string) (toxscreen.Verdict, error) { return verdictOf(toxscreen.Toxicity, true, 0.9), nil })
	for name, test := range map[string]struct {
		windows []toxscreen.Window
		want    []toxscreen.Passage
	}{
		"one window":                       {[]toxscreen.Window{saw(0, 10, 0.6, 0.1)}, []toxscreen.Passage{{Start: 0, End: 10, Score: 0.99}}},
		"several, none flagged by itself":  {[]toxscreen.Window{saw(0, 10, 0.6, 0.1), saw(10, 20, 0.6, 0.1)}, nil},
		"several, one of them was flagged": {[]toxscreen.Window{saw(0, 10, 0.6, 0.1), saw(10, 20, 1, 0.1)}, []toxscreen.Passage{{Start: 10, End: 20, Score: 0.5}}},
	} {
		screener := toxscreen.New(seeing(test.windows...), opinion(halving{}, judge, all))
		if diff := cmp.Diff(test.want, passagesOf(t, screener)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// onlyWhole is a fusion that knows the scores of a whole text only.
type onlyWhole struct{ whole toxscreen.Scores }

func (onlyWhole) Version() string { return "only whole" }

func (f onlyWhole) Fuse(s toxscreen.Scores, _ *toxscreen.Verdict) (toxscreen.Fused, error) {
	if s != f.whole {
		return toxscreen.Fused{}, errors.New("it knows one text only")
	}
	return toxscreen.Fused{Scores: s}, nil
}

func TestAFusionThatFailsForAPassageIsAnError(t *testing.T) {
	worst, other := saw(10, 20, 0.8, 0.1), saw(0, 10, 0.6, 0.1)
	screening, err := toxscreen.New(seeing(other, worst), opinion(onlyWhole{worst.Scores}, nil, toxscreen.Band{})).Begin(t.Context(), "a text")
	if screening != nil || err == nil {
		t.Errorf("%+v, %v", screening, err)
	}
}

// believing is a fusion that takes over the judge's probabilities.
type believing struct{}

func (believing) Version() string { return "believing" }

func (believing) Fuse(s toxscreen.Scores, v *toxscreen.Verdict) (toxscreen.Fused, error) {
	fused := toxscreen.Fused{Scores: s}
	if v != nil {
		for a, p := range v.Measured().All() {
			before, _ := s.Get(a)
			fused.Scores.Set(a, p)
			fused.Evidence.Set(a, p-before)
		}
	}
	return fused, nil
}

// A verdict on a passage is about the windows whose spans the judge saw. It raises and
// lowers their scores, but the text keeps those of its other parts.
func TestAVerdictIsAboutThePassageThatTheJudgeSaw(t *testing.T) {
	span := func(start, end int) toxscreen.Span {
		return toxscreen.Span{Start: start, End: end, Attributes: scores(toxscreen.Toxicity, 0.9)}
	}
	for name, test := range map[string]struct {
		windows  []toxscreen.Window
		spans    []toxscreen.Span
		p        toxscreen.Probability // of the verdict on bytes 0 to 10
		want     toxscreen.Probability
		held     bool
		passages []toxscreen.Passage
	}{
		"nothing else":            {[]toxscreen.Window{saw(0, 10, 0.8, 0.1)}, nil, 0.05, 0.05, false, nil},
		"another part as toxic":   {[]toxscreen.Window{saw(0, 10, 0.8, 0.1), saw(10, 20, 0.6, 0.1)}, nil, 0.05, 0.6, true, []toxscreen.Passage{{Start: 10, End: 20, Score: 0.6}}},
		"another part harmless":   {[]toxscreen.Window{saw(0, 10, 0.8, 0.1), saw(10, 20, 0.02, 0.1)}, nil, 0.05, 0.05, false, nil},
		"a window without spans":  {[]toxscreen.Window{saw(0, 12, 0.8, 0.1), saw(8, 20, 0.6, 0.1)}, []toxscreen.Span{}, 0.05, 0.6, true, []toxscreen.Passage{{Start: 8, End: 20, Score: 0.6}}},
		"a span that two share":   {[]toxscreen.Window{saw(0, 12, 0.8, 0.1), saw(8, 20, 0.6, 0.1)}, []toxscreen.Span{span(8, 10)}, 0.05, 0.05, false, nil},
		"a span beyond a passage": {[]toxscreen.Window{saw(0, 20, 0.8, 0.1)}, []toxscreen.Span{span(2, 4), span(16, 18)}, 0.05, 0.8, true, []toxscreen.Passage{{Start: 0, End: 20, Score: 0.8}}},
		"a yes":                   {[]toxscreen.Window{saw(0, 10, 0.4, 0.1), saw(10, 20, 0.3, 0.1)}, nil, 0.9, 0.9, false, []toxscreen.Passage{{Start: 0, End: 10, Score: 0.9}}},
	} {
		t.Run(name, func(t *testing.T) {
			classifier := classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
				found, err := seeing(test.windows...)(ctx, text)
				found.Spans = test.spans
				return found, err
			})
			judge := judging(func(string) (toxscreen.Verdict, error) {
				v := verdictOf(toxscreen.Toxicity, test.p >= 0.5, test.p)
				v.Passage = &toxscreen.Range{Start: 0, End: 10}
				return v, nil
			})
			result, err := toxscreen.New(classifier, opinion(believing{}, judge, all)).Score(t.Context(), strings.Repeat("x", 20))
			if err != nil {
				t.Fatal(err)
			}
			if result.Score != test.want {
				t.Errorf("the score is %v, want %v", result.Score, test.want)
			}
			const warning = "the judge saw the worst passage only: other parts of the text keep the verdict from lowering toxicity further"
			if held := slices.Contains(result.Warnings, warning); held != test.held {
				t.Errorf("warnings %q", result.Warnings)
			}
			if diff := cmp.Diff(test.passages, result.Passages); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
