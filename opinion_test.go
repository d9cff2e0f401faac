package toxscreen_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
)

// opinion is the option of an Opinion: of a judge that is asked about the texts in a band, and of
// a fusion. Both may be nil.
func opinion(f fuser, j asker, band toxscreen.Band) toxscreen.Option {
	o := toxscreen.Opinion{Decide: band.Decide}
	if j != nil {
		o.Ask = j.Judge
	}
	if f != nil {
		o.Fuse, o.Version = f.Fuse, f.Version()
	}
	return toxscreen.WithOpinion(o)
}

type asker interface {
	Judge(ctx context.Context, text string, found toxscreen.Classification) (toxscreen.Verdict, error)
}

type fuser interface {
	Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error)
	Version() string
}

// fusing is a fusion that lowers the classifier's scores by 0.1 and replaces them
// by those of a verdict. Package fusion tests the real one.
type fusing struct{}

func (fusing) Version() string { return "sha256:0123" }

func (fusing) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	var fused toxscreen.Fused
	for a, p := range scores.All() {
		fused.Scores.Set(a, p-0.1)
	}
	if verdict == nil {
		return fused, nil
	}
	if verdict.Model == "broken@1" {
		return fused, errors.New("failed to fuse a verdict of broken@1")
	}
	for a, p := range verdict.Measured().All() {
		if before, ok := fused.Scores.Get(a); ok {
			fused.Evidence.Set(a, p-before)
			fused.Scores.Set(a, p)
		}
	}
	return fused, nil
}

// all is the band of every text.
var all = toxscreen.Band{Low: 0, High: 1}

func TestTheFusedScoreIsTheResult(t *testing.T) {
	judge := judging(func(string) (toxscreen.Verdict, error) { return verdictOf(toxscreen.Insult, true, 0.9), nil })
	screener := toxscreen.New(borderline, opinion(fusing{}, judge, all))
	result := score(t, screener, "😀 idiot")
	check(t, "the source", result.Source, toxscreen.SourceFused)
	check(t, "the calibration", result.Versions.Calibration, "sha256:0123")
	judged := toxscreen.Probability(0.9)
	want := toxscreen.AttributeResult{Score: 0.9, Classifier: 0.4, Judge: &judged, Threshold: 0.7, Flagged: true}
	if diff := cmp.Diff(want, result.Attributes[toxscreen.Insult]); diff != "" {
		t.Error(diff)
	}
	// The judge said nothing about toxicity, but the fusion corrects it, too. The
	// insult flags the text.
	check(t, "the score", result.Score, 0.5)
	check(t, "the severity", result.Severity, toxscreen.SeverityModerate)
	check(t, "flagged", result.Flagged, true)
}

func TestWithoutAVerdictTheFusionStillCorrects(t *testing.T) {
	result := score(t, toxscreen.New(borderline, opinion(fusing{}, nil, toxscreen.Band{})), "x")
	check(t, "the score", result.Score, 0.5)
	check(t, "the classifier's score", result.Attributes[toxscreen.Toxicity].Classifier, 0.6)
	check(t, "the source", result.Source, toxscreen.SourceClassifier)
}

// Quotations of the judge are added to the spans of the classifier. They are
// coarser: a quotation marks the spans that it overlaps, and becomes a span itself
// if it overlaps none.
func TestEvidenceJoinsTheSpans(t *testing.T) {
	word := func(start, end int, s toxscreen.Scores) toxscreen.Span {
		return toxscreen.Span{Start: start, End: end, Attributes: s}
	}
	spans := []toxscreen.Span{word(10, 15, scores(toxscreen.Toxicity, 0.7)), word(30, 33, scores(toxscreen.Toxicity, 0.6))}
	classifier := classify(func(context.Context, string) (toxscreen.Classification, error) {
		return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, 0.6, toxscreen.Insult, 0.4), Spans: spans}, nil
	})
	quotes := []toxscreen.Evidence{{Start: 8, End: 20}, {Start: 2, End: 5}}
	for name, c := range map[string]struct {
		p    toxscreen.Probability
		want []toxscreen.Span
	}{
		"an attribute that it raised": {0.9, []toxscreen.Span{
			word(2, 5, scores(toxscreen.Insult, 0.9)),
			word(10, 15, scores(toxscreen.Toxicity, 0.7, toxscreen.Insult, 0.9)),
			word(30, 33, scores(toxscreen.Toxicity, 0.6)),
		}},
		"an attribute that it lowered": {0.2, spans},
	} {
		judge := judging(func(string) (toxscreen.Verdict, error) {
			v := verdictOf(toxscreen.Insult, true, c.p)
			v.Aspects[0].Evidence = quotes
			return v, nil
		})
		result, err := toxscreen.New(classifier, opinion(fusing{}, judge, all)).Score(t.Context(), strings.Repeat("x", 40))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, result.Spans, cmp.Comparer(func(a, b toxscreen.Scores) bool { return a == b })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if spans[0].Attributes.Len() != 1 {
		t.Error("the classifier's own spans were changed")
	}
}

// A verdict with an invalid number, or one that the fusion rejects, counts as no
// verdict.
func TestABrokenVerdictIsAnErrorAndNoScore(t *testing.T) {
	broken := verdictOf(toxscreen.Toxicity, true, 0.9)
	broken.Model = "broken@1"
	for name, c := range map[string]struct {
		verdict toxscreen.Verdict
		want    string
	}{
		"not a number": {verdictOf(toxscreen.Toxicity, true, toxscreen.Probability(math.NaN())), "gave NaN for toxicity"},
		"over one":     {verdictOf(toxscreen.Toxicity, true, 1.5), "gave 1.5 for toxicity"},
		"refused":      {broken, "failed to fuse a verdict of broken@1"},
	} {
		judge := judging(func(string) (toxscreen.Verdict, error) { return c.verdict, nil })
		result := score(t, toxscreen.New(borderline, opinion(fusing{}, judge, all)), "x")
		check(t, name+": the score", result.Score, 0.5)
		check(t, name+": the source", result.Source, toxscreen.SourceClassifier)
		if !strings.Contains(result.Judge.Error, c.want) {
			t.Errorf("%s: the judge's error is %q, want %q", name, result.Judge.Error, c.want)
		}
	}
}

// A broken fusion gives an error, never a score.
type brokenFusion struct{ fusing }

func (brokenFusion) Fuse(toxscreen.Scores, *toxscreen.Verdict) (toxscreen.Fused, error) {
	return toxscreen.Fused{}, nil
}

func TestAFusionThatLosesAnAttributeIsRefused(t *testing.T) {
	_, err := toxscreen.New(borderline, opinion(brokenFusion{}, nil, toxscreen.Band{})).Score(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "the fusion sha256:0123 gave 0 for toxicity") {
		t.Errorf("error %v", err)
	}
}
