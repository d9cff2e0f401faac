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
	if string(report) != want || standing.Source != toxscreen.SourceClassifier || standing.Score != 0.5 || asked.Load() != 0 {
		t.Errorf("asked %d times, judge %s, %+v", asked.Load(), report, standing)
	}

	final, err := screening.Consult(t.Context())
	if err != nil || final.Judge.Pending || final.Source != toxscreen.SourceFused || !final.Attributes[toxscreen.Insult].Flagged || asked.Load() != 1 {
		t.Errorf("asked %d times, %v, %+v", asked.Load(), err, final)
	}
	scored, err := screener.Score(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	final.Judge.Milliseconds, scored.Judge.Milliseconds = 0, 0
	if diff := cmp.Diff(scored, final, equalScores); diff != "" {
		t.Errorf("Score and Begin with Consult differ:\n%s", diff)
	}
	// The earlier result does not change.
	if standing.Attributes[toxscreen.Insult].Judge != nil || !screening.Result().Judge.Pending {
		t.Errorf("the standing result changed: %+v", standing)
	}
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
		if diff := cmp.Diff(screening.Result(), final, equalScores); err != nil || diff != "" || final.Judge.Pending || final.Judge.Error != "" {
			t.Errorf("%s: %v, %+v%s", name, err, final.Judge, diff)
		}
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
	if standing := screening.Result(); standing.Score != 0.6 || !standing.Judge.Pending {
		t.Errorf("%+v", standing)
	}
	if final, err := screening.Consult(t.Context()); err != nil || len(final.Judge.Verdicts) != 1 {
		t.Errorf("%v, %+v", err, final)
	}
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
		if standing.Judge.Pending != pending || standing.Attributes[toxscreen.Insult].Flagged == pending || !standing.Judge.Asked {
			t.Errorf("%s: %+v", text, standing)
		}
		final, err := screening.Consult(t.Context())
		if err != nil || (final.Judge.Error == "asked about new") != pending {
			t.Errorf("%s: %v, %+v", text, err, final.Judge)
		}
	}
	// A text that the judge is not asked about gets no verdict, even a stored one.
	known.Decide = toxscreen.Band{Low: 0.9, High: 1}.Decide
	result, err := screener.With(toxscreen.WithOpinion(known)).Score(t.Context(), "known")
	if err != nil || result.Judge.Asked || len(result.Judge.Verdicts) != 0 {
		t.Errorf("%v, %+v", err, result.Judge)
	}
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
		if diff := cmp.Diff(want, final.Judge); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
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
		result, err := s.Score(t.Context(), "x")
		if err != nil || result.Attributes[toxscreen.Insult].Threshold != want || result.Attributes[toxscreen.Toxicity].Threshold != 0.5 {
			t.Errorf("%v, %+v, want %v", err, result.Attributes, want)
		}
	}
}
