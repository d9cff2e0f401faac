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
			check(t, "the exit", score(t, screener, "text").Exit, test.want)
			check(t, "EndsEarly", screener.EndsEarly(), test.want > 0)
		})
	}
	check(t, "the exit of a classifier without exits", score(t, toxscreen.New(classifier.classify), "text").Exit, 0)
}
