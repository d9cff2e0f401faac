package toxscreen_test

import (
	"context"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// early is a classifier that always leaves at the second exit.
type early struct{ classify }

func (e early) Info() toxscreen.ModelInfo {
	info := e.classify.Info()
	info.Exits = 2
	return info
}

func (e early) Classify(ctx context.Context, text string, depth toxscreen.Depth) (toxscreen.Classification, error) {
	found, err := e.classify.Classify(ctx, text, depth)
	if depth == toxscreen.Early {
		found.Exit = 2
	}
	return found, err
}

// The classifier ends early only where nothing can depend on the rest: if the model's thresholds
// or higher ones decide, the caller compares with nothing lower, and neither a judge nor a fusion can
// change the scores.
func TestWhenTextsEndEarly(t *testing.T) {
	classifier := early{func(context.Context, string) (toxscreen.Classification, error) {
		return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.01, toxscreen.Insult, 0.01)}, nil
	}}
	judge := opinion(nil, judging(func(string) (toxscreen.Verdict, error) { return toxscreen.Verdict{}, nil }), toxscreen.Band{Low: 0.4, High: 0.6})
	for name, test := range map[string]struct {
		options []toxscreen.Option
		want    int
	}{
		"by default":                 {nil, 2},
		"higher thresholds":          {[]toxscreen.Option{toxscreen.WithThresholds(scores(toxscreen.Toxicity, 0.9, toxscreen.Insult, 0.7))}, 2},
		"a lower threshold":          {[]toxscreen.Option{toxscreen.WithThresholds(scores(toxscreen.Insult, 0.69))}, 0},
		"a limit at a threshold":     {[]toxscreen.Option{toxscreen.WithLimits(toxscreen.Limits{Flagged: true, Scores: scores(toxscreen.Toxicity, 0.5)})}, 2},
		"a limit under a threshold":  {[]toxscreen.Option{toxscreen.WithLimits(toxscreen.Limits{Scores: scores(toxscreen.Toxicity, 0.49)})}, 0},
		"the full network":           {[]toxscreen.Option{toxscreen.WithFullNetwork()}, 0},
		"a fusion":                   {[]toxscreen.Option{opinion(halving{}, nil, all)}, 0},
		"a judge":                    {[]toxscreen.Option{judge}, 0},
		"a judge that is taken away": {[]toxscreen.Option{judge, toxscreen.WithoutJudge("not now")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			screener := toxscreen.New(classifier, test.options...)
			result, err := screener.Score(t.Context(), "text")
			if err != nil {
				t.Fatal(err)
			}
			if result.Exit != test.want {
				t.Errorf("ended at exit %d, want %d", result.Exit, test.want)
			}
			if screener.EndsEarly() != (test.want > 0) {
				t.Errorf("EndsEarly says %v", screener.EndsEarly())
			}
		})
	}
	if result, err := toxscreen.New(classifier.classify).Score(t.Context(), "text"); err != nil || result.Exit != 0 {
		t.Errorf("a classifier without exits ended at exit %d, %v", result.Exit, err)
	}
}
