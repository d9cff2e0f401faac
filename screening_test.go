package toxscreen_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// equalScores lets cmp compare Scores, which have unexported fields.
var equalScores = cmp.Comparer(func(a, b toxscreen.Scores) bool { return a == b })

// A caller who cannot wait for the judge gets the classifier's result at once. It
// says that the judge is pending.
func TestAResultIsPendingUntilTheJudgeAnswers(t *testing.T) {
	var asked atomic.Int64
	screener := toxscreen.New(borderline, opinion(fusing{}, judging(func(string) (toxscreen.Verdict, error) {
		asked.Add(1)
		return verdictOf(toxscreen.Insult, true, 0.9), nil
	}), all))
	const text = "you, idiot"
	screening, err := screener.Begin(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	standing := screening.Result()
	report, err := json.Marshal(standing.Judge)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"asked":true,"pending":true,"why":"toxicity 0.60 is inside the fixed band 0.00–1.00"}`
	check(t, "the judge's report", string(report), want)
	check(t, "the standing source", standing.Source, toxscreen.SourceClassifier)
	check(t, "the standing score", standing.Score, 0.5)
	check(t, "how often the judge was asked before", asked.Load(), 0)

	final, err := screening.Consult(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "pending in the end", final.Judge.Pending, false)
	check(t, "the source in the end", final.Source, toxscreen.SourceFused)
	check(t, "flagged for insult in the end", final.Attributes[toxscreen.Insult].Flagged, true)
	check(t, "how often the judge was asked", asked.Load(), 1)
	scored := score(t, screener, text)
	final.Judge.Milliseconds, scored.Judge.Milliseconds = 0, 0
	if diff := cmp.Diff(scored, final, equalScores); diff != "" {
		t.Errorf("Score and Begin with Consult differ:\n%s", diff)
	}
	// The earlier result does not change.
	if p := standing.Attributes[toxscreen.Insult].Judge; p != nil {
		t.Errorf("the standing result has the judge's %v", *p)
	}
	check(t, "the standing result still pending", screening.Result().Judge.Pending, true)
}

func TestNothingIsPendingWhereTheJudgeIsNotAsked(t *testing.T) {
	refusing := judging(func(string) (toxscreen.Verdict, error) { return toxscreen.Verdict{}, errors.New("it was asked") })
	for name, option := range map[string]toxscreen.Option{
		"outside the band": opinion(nil, refusing, toxscreen.Band{Low: 0.9, High: 1}),
		"without a judge":  toxscreen.WithoutJudge("--no-judge was given"),
	} {
		screening, err := toxscreen.New(borderline, option).Begin(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		final, err := screening.Consult(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(screening.Result(), final, equalScores); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		check(t, name+": pending", final.Judge.Pending, false)
		check(t, name+": the judge's error", final.Judge.Error, "")
	}
}

// The caller limits the judge's time. When it ends, the classifier's result is
// still there, and the judge can be asked again.
func TestTheResultStandsWhenTheTimeForTheJudgeEnds(t *testing.T) {
	screener := toxscreen.New(borderline, opinion(nil, judging(func(string) (toxscreen.Verdict, error) {
		return verdictOf(toxscreen.Insult, true, 0.9), nil
	}), all))
	screening, err := screener.Begin(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := screening.Consult(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %+v", err, result)
	}
	check(t, "the standing score", screening.Result().Score, 0.6)
	check(t, "pending", screening.Result().Judge.Pending, true)
	final, err := screening.Consult(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(t, "the number of verdicts", len(final.Judge.Verdicts), 1)
}

// remembering is a judge that must not be asked: it has one stored verdict.
type remembering struct{ verdict toxscreen.Verdict }

func (remembering) Judge(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	return toxscreen.Verdict{}, errors.New("asked about " + text)
}

func (r remembering) recall(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, bool) {
	return r.verdict, text == "known"
}

// A stored verdict is part of the first answer.
func TestAStoredVerdictIsPartOfTheFirstAnswer(t *testing.T) {
	judge := remembering{verdictOf(toxscreen.Insult, true, 0.9)}
	known := toxscreen.Opinion{Decide: all.Decide, Recall: judge.recall, Ask: judge.Judge, Fuse: fusing{}.Fuse}
	screener := toxscreen.New(borderline, toxscreen.WithOpinion(known))
	for text, pending := range map[string]bool{"known": false, "new": true} {
		screening, err := screener.Begin(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		standing := screening.Result()
		check(t, text+": pending", standing.Judge.Pending, pending)
		check(t, text+": flagged", standing.Attributes[toxscreen.Insult].Flagged, !pending)
		check(t, text+": asked", standing.Judge.Asked, true)
		final, err := screening.Consult(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check(t, text+": asked again", final.Judge.Error == "asked about new", pending)
	}
	// A text that the judge is not asked about gets no verdict, even a stored one.
	known.Decide = toxscreen.Band{Low: 0.9, High: 1}.Decide
	result := score(t, screener.With(toxscreen.WithOpinion(known)), "known")
	check(t, "asked", result.Judge.Asked, false)
	check(t, "the number of verdicts", len(result.Judge.Verdicts), 0)
}

// Whether to ask may need a network call. A caller who does not wait for the judge does not wait
// for that either.
func TestWhetherToAskMayBePendingToo(t *testing.T) {
	judge := remembering{verdictOf(toxscreen.Insult, true, 0.9)} // stored, but nothing is decided yet
	for _, ask := range []bool{true, false} {
		decide := func(toxscreen.Classification, toxscreen.Scores) toxscreen.Decision {
			return toxscreen.Decision{Ask: true, Why: "perhaps", Settle: func(context.Context) toxscreen.Decision {
				return toxscreen.Decision{Ask: ask, Why: "now it is known"}
			}}
		}
		patient := toxscreen.Opinion{Decide: decide, Recall: judge.recall, Ask: judge.Judge}
		screening, err := toxscreen.New(borderline, toxscreen.WithOpinion(patient)).Begin(t.Context(), "known")
		if err != nil {
			t.Fatal(err)
		}
		want := toxscreen.JudgeReport{Asked: true, Pending: true, Why: "perhaps"}
		if diff := cmp.Diff(want, screening.Result().Judge); diff != "" {
			t.Error(diff)
		}
		final, err := screening.Consult(t.Context())
		final.Judge.Milliseconds = 0
		want = toxscreen.JudgeReport{Asked: ask, Why: "now it is known"}
		if ask {
			want.Error = "asked about known"
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, final.Judge); diff != "" {
			t.Error(diff)
		}
	}
}

func TestABrokenFusionBeginsNothing(t *testing.T) {
	screening, err := toxscreen.New(borderline, opinion(brokenFusion{}, nil, toxscreen.Band{})).Begin(t.Context(), "x")
	if screening != nil || err == nil || !strings.Contains(err.Error(), "gave 0 for toxicity") {
		t.Errorf("%v, %v", screening, err)
	}
}

// Callers with their own thresholds share a model and a judge.
func TestWithChangesACopy(t *testing.T) {
	screener := toxscreen.New(borderline)
	strict := screener.With(toxscreen.WithThresholds(scores(toxscreen.Insult, 0.3)))
	for s, want := range map[*toxscreen.Screener]toxscreen.Probability{screener: 0.7, strict: 0.3} {
		result := score(t, s, "x")
		check(t, "the threshold of insult", result.Attributes[toxscreen.Insult].Threshold, want)
		check(t, "the threshold of toxicity", result.Attributes[toxscreen.Toxicity].Threshold, 0.5)
	}
}
