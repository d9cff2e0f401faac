package fusion_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
)

const (
	judgeModel  = "some-model:8b@0123456789ab"
	judgeRubric = "attributes@0123"
)

var thresholds = scores(toxscreen.Toxicity, 0.5, toxscreen.Insult, 0.5, toxscreen.Threat, 0.5)

// scores makes Scores of alternating attributes and numbers.
func scores(pairs ...any) toxscreen.Scores {
	var s toxscreen.Scores
	for i := 0; i < len(pairs); i += 2 {
		s.Set(pairs[i].(toxscreen.Attribute), pairs[i+1].(float64))
	}
	return s
}

// toxicity returns a classification with a toxicity and one span.
func toxicity(p float64) toxscreen.Classification {
	return toxscreen.Classification{Scores: scores(toxscreen.Toxicity, p), Spans: []toxscreen.Span{{Start: 0, End: 1}}}
}

// verdict returns a verdict on one attribute, with P(yes) and the matching answer.
func verdict(a toxscreen.Attribute, p float64) *toxscreen.Verdict {
	yes := toxscreen.Probability(p)
	return &toxscreen.Verdict{
		Model: judgeModel, Rubric: judgeRubric,
		Aspects: []toxscreen.AspectVerdict{{Name: a.String(), Attribute: &a, Yes: p >= 0.5, PYes: &yes}},
	}
}

// good is a judge with a true positive rate of 0.9 and a false positive rate of
// 0.1 whose P(yes) is calibrated.
var good = fusion.Weights{Slope: 1, Cap: 5, Lower: 5, Unfounded: 1, TruePositive: 0.9, FalsePositive: 0.1, High: 1, Toxic: 100, Clean: 100}

func params(weights map[toxscreen.Attribute]fusion.Weights) fusion.Params {
	return fusion.Params{
		Format: fusion.Format, Model: "tiny@1.0.0", Prices: fusion.Prices{Call: 0.02},
		Judges: []fusion.JudgeParams{{Model: judgeModel, Rubric: judgeRubric, Attributes: weights}},
	}
}

// with returns a Fusion with parameters and the judge in use.
func with(t testing.TB, p fusion.Params) *fusion.Fusion {
	t.Helper()
	_, file, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := fusion.New(file, p.Model)
	if err != nil {
		t.Fatal(err)
	}
	return f.With(judgeModel, judgeRubric, &fusion.Tested{Lower: 7})
}

func withGood(t testing.TB) *fusion.Fusion {
	t.Helper()
	return with(t, params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: good}))
}

// fuse returns the fused toxicity of a classifier's probability and a verdict.
func fuse(t testing.TB, f *fusion.Fusion, p float64, v *toxscreen.Verdict) float64 {
	t.Helper()
	fused, err := f.Fuse(scores(toxscreen.Toxicity, p), v)
	if err != nil {
		t.Fatal(err)
	}
	result, _ := fused.Scores.Get(toxscreen.Toxicity)
	return result
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// Bayes' rule by hand: even odds times 9 are 9 to 1.
func TestFuseIsBayesRule(t *testing.T) {
	f := withGood(t)
	for _, c := range []struct{ prior, yes, want float64 }{
		{0.5, 0.9, 0.9}, {0.5, 0.1, 0.1}, {0.5, 0.5, 0.5},
		{0.25, 0.9, 0.75}, // 1:3 times 9 is 3:1
		{0.9, 0.1, 0.5},   // 9:1 divided by 9 is even
	} {
		if got := fuse(t, f, c.prior, verdict(toxscreen.Toxicity, c.yes)); !near(got, c.want, 1e-9) {
			t.Errorf("prior %v and P(yes) %v give %v, want %v", c.prior, c.yes, got, c.want)
		}
	}
}

// The share of the classifier's evidence that the verdict repeats counts once.
func TestOverlapCountsOnce(t *testing.T) {
	o := good
	o.Overlap = 1
	f := with(t, params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: o}))
	if got := fuse(t, f, 0.8, verdict(toxscreen.Toxicity, 0.9)); !near(got, 0.9, 1e-9) {
		t.Errorf("a verdict that includes the classifier's evidence: %v, want its own 0.9", got)
	}
}

func TestCapBoundsEveryVerdict(t *testing.T) {
	o := good
	o.Slope, o.Cap, o.Lower = 50, math.Log(3), math.Log(3)
	f := with(t, params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: o}))
	for yes, want := range map[float64]float64{0: 0.25, 1: 0.75} {
		if got := fuse(t, f, 0.5, verdict(toxscreen.Toxicity, yes)); !near(got, want, 1e-9) {
			t.Errorf("P(yes) %v: %v, want %v: odds of 3 to 1 at most", yes, got, want)
		}
	}
}

// For all parameters, a higher probability from either stage never makes a text
// less toxic, and no verdict moves the log-odds by more than the cap.
func TestFuseRisesWithBothOpinions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	at := []float64{0, 1e-9, 0.01, 0.2, 0.4999, 0.5, 0.7, 0.98, 1 - 1e-9, 1}
	for range 200 {
		o := good
		o.Overlap, o.Slope, o.Beyond, o.Intercept, o.Cap = rng.Float64(), 3*rng.Float64(), rng.Float64(), 4*rng.Float64()-2, 7*rng.Float64()
		o.Lower = o.Cap * rng.Float64()
		p := params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: o})
		p.Calibration = map[toxscreen.Attribute]fusion.Line{toxscreen.Toxicity: {Slope: 0.1 + 2*rng.Float64(), Intercept: 2*rng.Float64() - 1}}
		f := with(t, p)
		for i, prior := range at {
			for j, yes := range at {
				got := fuse(t, f, prior, verdict(toxscreen.Toxicity, yes))
				if !(got >= 0 && got <= 1) {
					t.Fatalf("%+v: %v", o, got)
				}
				if i > 0 && got < fuse(t, f, at[i-1], verdict(toxscreen.Toxicity, yes))-1e-12 {
					t.Fatalf("%+v: falls from classifier %v to %v at P(yes) %v", o, at[i-1], prior, yes)
				}
				if j > 0 && got < fuse(t, f, prior, verdict(toxscreen.Toxicity, at[j-1]))-1e-12 {
					t.Fatalf("%+v: falls from P(yes) %v to %v at classifier %v", o, at[j-1], yes, prior)
				}
				alone := fuse(t, f, prior, nil)
				if moved := logit(got) - logit(alone); max(got, alone) < 1-1e-9 && math.Abs(moved) > o.Cap+1e-3 { // closer to 1, no digits are left
					t.Fatalf("%+v: moved by %v from classifier %v and P(yes) %v", o, moved, prior, yes)
				}
			}
		}
	}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func TestFuseIgnoresVerdictsThatDoNotCount(t *testing.T) {
	f := withGood(t)
	yes, no := toxscreen.Probability(0.9), toxscreen.Probability(0.1)
	tox, threat := toxscreen.Toxicity, toxscreen.Threat
	other := verdict(toxscreen.Toxicity, 0.9)
	other.Model = "some-model:8b@ffffffffffff"
	rubric := verdict(toxscreen.Toxicity, 0.9)
	rubric.Rubric = "mine@1"
	addressed := verdict(toxscreen.Toxicity, 0.1)
	addressed.Addressed = []toxscreen.Evidence{{End: 1}}
	renamed := verdict(toxscreen.Toxicity, 0.9)
	renamed.Model = "another-name@0123456789ab"
	aspects := func(a ...toxscreen.AspectVerdict) *toxscreen.Verdict {
		v := verdict(toxscreen.Toxicity, 0.5)
		v.Aspects = a
		return v
	}
	for name, c := range map[string]struct {
		verdict *toxscreen.Verdict
		want    float64
	}{
		"none":                       {nil, 0.5},
		"of another model":           {other, 0.5},
		"under another rubric":       {rubric, 0.5},
		"on the text as a whole":     {verdict(toxscreen.Threat, 0.9), 0.9},
		"without an aspect":          {aspects(), 0.5},
		"a no on an addressing text": {addressed, 0.5},
		"under another name":         {renamed, 0.9},
		"two that contradict":        {aspects(toxscreen.AspectVerdict{Attribute: &tox, Yes: true, PYes: &yes}, toxscreen.AspectVerdict{Attribute: &tox, PYes: &no}), 0.5},
		"two that agree":             {aspects(toxscreen.AspectVerdict{Attribute: &tox, Yes: true, PYes: &yes}, toxscreen.AspectVerdict{Attribute: &tox, Yes: true, PYes: &yes}), 0.9},
		"an improbable yes":          {aspects(toxscreen.AspectVerdict{Attribute: &tox, Yes: true, PYes: &no}), 0.5},
		"a yes without P(yes)":       {aspects(toxscreen.AspectVerdict{Attribute: &tox, Yes: true}), 0.9},
		"a no without P(yes)":        {aspects(toxscreen.AspectVerdict{Attribute: &tox}), 0.1},
		"besides an unknown":         {aspects(toxscreen.AspectVerdict{Yes: true}, toxscreen.AspectVerdict{Attribute: &threat, PYes: &no}, toxscreen.AspectVerdict{Attribute: &tox, Yes: true, PYes: &yes}), 0.9},
	} {
		if got := fuse(t, f, 0.5, c.verdict); !near(got, c.want, 1e-9) {
			t.Errorf("a verdict %s: %v, want %v", name, got, c.want)
		}
	}
}

// An attribute that the classifier did not measure stays absent, even if the judge
// measured it.
func TestFuseAddsNoAttribute(t *testing.T) {
	fused, err := withGood(t).Fuse(scores(toxscreen.Insult, 0.3), verdict(toxscreen.Toxicity, 0.9))
	if err != nil {
		t.Fatal(err)
	}
	if fused.Scores != scores(toxscreen.Insult, 0.3) {
		t.Errorf("the scores are %v, want the classifier's", fused.Scores)
	}
	if fused.Evidence.Len() != 0 {
		t.Errorf("the verdict is evidence %v for what was not measured", fused.Evidence)
	}
}

func TestFuseRejectsInvalidProbabilities(t *testing.T) {
	f := withGood(t)
	for _, bad := range []float64{math.NaN(), -0.1, 1.1, math.Inf(1)} {
		if _, err := f.Fuse(scores(toxscreen.Toxicity, bad), nil); err == nil {
			t.Errorf("a classifier's %v was fused", bad)
		}
		if _, err := f.Fuse(scores(toxscreen.Toxicity, 0.5), verdict(toxscreen.Toxicity, bad)); err == nil || !strings.Contains(err.Error(), judgeModel) {
			t.Errorf("a judge's %v: %v", bad, err)
		}
	}
}

// Without labelled texts, the weight of a judge is the one of its self-test.
func TestAJudgeWithoutLabelsHasTheWeightOfItsSelfTest(t *testing.T) {
	f, err := fusion.New(fusion.Default(), "any@1")
	if err != nil {
		t.Fatal(err)
	}
	passed := &fusion.Tested{Attributes: map[toxscreen.Attribute]fusion.Weights{
		toxscreen.Toxicity: {Slope: 0.5, Cap: math.Log(3), Lower: 1, TruePositive: 0.8, FalsePositive: 0.3, High: 1},
	}}
	failed := &fusion.Tested{Attributes: map[toxscreen.Attribute]fusion.Weights{
		toxscreen.Toxicity: {TruePositive: 0.5, FalsePositive: 0.5, High: 1},
	}}
	for name, c := range map[string]struct {
		tested  *fusion.Tested
		want    float64
		trusted []toxscreen.Attribute
		asked   bool
		why     string
	}{
		"passed": {passed, 0.75, []toxscreen.Attribute{toxscreen.Toxicity}, true, "is inside the band"}, // 3 to 1, the cap
		"failed": {failed, 0.5, nil, false, "the judge failed its self-test"},
		"none":   {nil, 0.5, nil, false, "has no self-test"},
	} {
		f := f.With(judgeModel, judgeRubric, c.tested)
		if got := fuse(t, f, 0.5, verdict(toxscreen.Toxicity, 0.999)); !near(got, c.want, 1e-9) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := f.Trusted(); !slices.Equal(got, c.trusted) {
			t.Errorf("%s: verdicts count for %v, want %v", name, got, c.trusted)
		}
		decision := f.Decide(toxicity(0.5), thresholds)
		if decision.Ask != c.asked {
			t.Errorf("%s: ask %v", name, decision.Ask)
		}
		if !strings.Contains(decision.Why, c.why) {
			t.Errorf("%s: %q, want %q", name, decision.Why, c.why)
		}
	}
}

// No verdict lowers a score further than the judge resisted attacks, whatever it was
// fitted on.
func TestTheSelfTestBoundsHowFarAVerdictLowers(t *testing.T) {
	_, file, err := params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: good}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := fusion.New(file, "tiny@1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tested *fusion.Tested
		want   float64
	}{
		"no attack succeeded":     {&fusion.Tested{Lower: 7}, 0.1},
		"some attacks succeeded":  {&fusion.Tested{Lower: math.Log(3)}, 0.25},
		"every attack succeeded":  {&fusion.Tested{}, 0.5},
		"no attack was tried yet": {nil, 0.5},
	} {
		f := f.With(judgeModel, judgeRubric, c.tested)
		if got := fuse(t, f, 0.5, verdict(toxscreen.Toxicity, 0.1)); !near(got, c.want, 1e-9) {
			t.Errorf("%s: %v after a no, want %v", name, got, c.want)
		}
		if got := fuse(t, f, 0.5, verdict(toxscreen.Toxicity, 0.9)); !near(got, 0.9, 1e-9) {
			t.Errorf("%s: %v after a yes, want 0.9", name, got)
		}
	}
}

// A "yes" whose quotations are all invented counts as little as it was measured to.
func TestAYesWithoutEvidenceCountsLess(t *testing.T) {
	o := good
	o.Unfounded = 0.5
	f := with(t, params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: o}))
	severity := 1
	for name, c := range map[string]struct {
		change func(*toxscreen.AspectVerdict)
		want   float64
	}{
		"a quotation from the text": {func(a *toxscreen.AspectVerdict) { a.Evidence = []toxscreen.Evidence{{End: 1}} }, 0.9},
		"an invented quotation":     {func(a *toxscreen.AspectVerdict) { a.NotInText = []string{"never said"} }, 0.75}, // the square root of 9 to 1
		"no quotation":              {func(*toxscreen.AspectVerdict) {}, 0.75},
		"a judge that quotes never": {func(a *toxscreen.AspectVerdict) { a.Severity = nil }, 0.9},
	} {
		v := verdict(toxscreen.Toxicity, 0.9)
		v.Aspects[0].Severity = &severity
		c.change(&v.Aspects[0])
		if got := fuse(t, f, 0.5, v); !near(got, c.want, 1e-9) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A "no" about a passage counts as far as one about its core, and not at all if the core
// was not judged.
func TestANoCountsAsFarAsTheCoreSupportsIt(t *testing.T) {
	biased := good
	biased.Intercept = -1
	f, often := withGood(t), with(t, params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: biased}))
	for name, c := range map[string]struct {
		yes  *bool
		p    float64
		want float64
	}{
		"the core is harmless, too":   {new(bool), 0.1, 0.1},
		"the core is less harmless":   {new(bool), 0.25, 0.25},
		"the core alone is toxic":     {func() *bool { yes := true; return &yes }(), 0.9, 0.5},
		"the core could not be asked": {nil, 0, 0.5},
	} {
		v := verdict(toxscreen.Toxicity, 0.1)
		v.Core = []toxscreen.Range{{End: 1}}
		if c.yes != nil {
			p := toxscreen.Probability(c.p)
			v.Aspects[0].YesAlone, v.Aspects[0].PYesAlone = c.yes, &p
		}
		if got := fuse(t, f, 0.5, v); !near(got, c.want, 1e-9) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		// An answer that contradicts itself says nothing, whatever answers say on average.
		if got := fuse(t, often, 0.5, v); c.want == 0.5 && got != 0.5 {
			t.Errorf("%s: %v with an intercept", name, got)
		}
	}
}

// aText is a classifier and a judge that know one text: what is found in it, and a verdict.
type aText struct {
	found   toxscreen.Classification
	verdict *toxscreen.Verdict
}

func (t aText) Classify(context.Context, string, toxscreen.Depth) (toxscreen.Classification, error) {
	return t.found, nil
}

func (t aText) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{Version: "tiny@1.0.0", Thresholds: thresholds}
}

func (t aText) Judge(context.Context, string, toxscreen.Classification) (toxscreen.Verdict, error) {
	return *t.verdict, nil
}

// An explanation gives the score of the result, also if it is more than the verdict leaves,
// because the judge saw a part of the text.
func TestAnExplanationGivesTheScoreOfTheResult(t *testing.T) {
	f := withGood(t)
	window := func(start, end int, p float64) toxscreen.Window {
		return toxscreen.Window{Start: start, End: end, Scores: scores(toxscreen.Toxicity, p)}
	}
	for name, c := range map[string]struct {
		windows []toxscreen.Window
		p       float64 // of the verdict on bytes 0 to 10
		want    string
	}{
		"the judge saw the text": {
			[]toxscreen.Window{window(0, 10, 0.75)}, 0.1,
			"toxicity: the classifier says 0.75, odds of 3 to 1; the verdict divides them by 9 (-2.20 in log-odds): 0.25, odds of 1 to 3; under its threshold 0.50",
		},
		"it did not see a toxic part": {
			[]toxscreen.Window{window(0, 10, 0.75), window(10, 20, 0.71)}, 0.1,
			"toxicity: the classifier says 0.75, odds of 3 to 1; the verdict divides them by 9 (-2.20 in log-odds): 0.25, odds of 1 to 3; " +
				"parts of the text that the judge did not see hold it at 0.71; at or over its threshold 0.50",
		},
		"the part is less toxic than what it saw": {
			[]toxscreen.Window{window(0, 10, 0.75), window(10, 20, 0.71)}, 0.9,
			"toxicity: the classifier says 0.75, odds of 3 to 1; the verdict multiplies them by 9 (+2.20 in log-odds): 0.96, odds of 27 to 1; at or over its threshold 0.50",
		},
	} {
		text := aText{toxicity(0.75), verdict(toxscreen.Toxicity, c.p)}
		text.found.Windows, text.found.Spans = c.windows, nil
		text.verdict.Passage = &toxscreen.Range{End: 10}
		result, err := toxscreen.New(text, toxscreen.WithOpinion(toxscreen.Opinion{Decide: f.Decide, Ask: text.Judge, Fuse: f.Fuse})).Score(t.Context(), strings.Repeat("x", 20))
		if err != nil {
			t.Fatal(err)
		}
		steps, err := f.Explain(result)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 1 {
			t.Fatalf("%s: %d attributes are explained, want 1", name, len(steps))
		}
		if got := steps[0]; got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

func TestDecide(t *testing.T) {
	p := params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: good, toxscreen.Insult: good})
	f := with(t, p)
	quiet := toxicity(0.95)
	quiet.Spans = []toxscreen.Span{}
	noTokenHead := toxicity(0.95)
	noTokenHead.Spans = nil
	disguised := toxicity(0.95)
	disguised.Plain = scores(toxscreen.Toxicity, 0.3)
	two := toxicity(0.11)
	two.Scores.Set(toxscreen.Insult, 0.11)
	other := toxicity(0.11)
	other.Scores.Set(toxscreen.Insult, 0.4)
	for name, c := range map[string]struct {
		found toxscreen.Classification
		ask   bool
		why   string
	}{
		"a close text": {toxicity(0.42), true,
			"toxicity 0.42 is inside the band 0.12–0.88: a verdict is worth 0.32 errors, a call costs 0.02"},
		"a clean one": {toxicity(0.05), false,
			"toxicity 0.05 is outside the band 0.12–0.88: a verdict is worth 0 errors, a call costs 0.02"},
		"a toxic one": {toxicity(0.95), false, "toxicity 0.95 is outside the band 0.12–0.88"},
		"two attributes that are each worth too little": {two, false, "toxicity 0.11 is outside the band"},
		"another attribute that is close":               {other, true, "insult 0.40 is inside the band"},
		"a score that no word explains":                 {quiet, true, "which no word explains and so counts as 0.81 here"},
		"no word where the model cannot tell":           {noTokenHead, false, "outside"},
		"two different readings":                        {disguised, true, "rests on undone disguise and so counts as 0.74 here"},
		"no attribute that has a threshold":             {toxscreen.Classification{Scores: scores(toxscreen.Profanity, 0.5)}, false, ""},
		"exactly 0":                                     {toxicity(0), false, "0.00"},
		"exactly 1":                                     {toxicity(1), false, "1.00"},
	} {
		decision := f.Decide(c.found, thresholds)
		if decision.Ask != c.ask {
			t.Errorf("%s: ask %v, want %v", name, decision.Ask, c.ask)
		}
		if !strings.Contains(decision.Why, c.why) {
			t.Errorf("%s: %q, want %q", name, decision.Why, c.why)
		}
	}
}

// The band by hand, from odds: a verdict changes a decision at p < ½ if p·TPR·miss
// > (1−p)·FPR·false alarm + the call's price.
func TestBandFollowsRatesAndPrices(t *testing.T) {
	band := func(change func(*fusion.Weights, *fusion.Params), threshold float64) (float64, float64) {
		o := good
		p := params(nil)
		p.Prices.Call = 0
		change(&o, &p)
		p.Judges[0].Attributes = map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: o}
		low, high, _ := with(t, p).Band(toxscreen.Toxicity, threshold)
		return low, high
	}
	for name, c := range map[string]struct {
		change    func(*fusion.Weights, *fusion.Params)
		threshold float64
		low, high float64
	}{
		"rates alone":               {func(*fusion.Weights, *fusion.Params) {}, 0.5, 0.1, 0.9},
		"many false positives":      {func(o *fusion.Weights, _ *fusion.Params) { o.FalsePositive = 0.3 }, 0.5, 0.25, 0.875},
		"few true positives":        {func(o *fusion.Weights, _ *fusion.Params) { o.TruePositive = 0.6 }, 0.5, 1.0 / 7, 9.0 / 13},
		"a high threshold":          {func(*fusion.Weights, *fusion.Params) {}, 0.9, 0.5, 81.0 / 82},
		"a call that costs":         {func(_ *fusion.Weights, p *fusion.Params) { p.Prices.Call = 0.2 }, 0.5, 0.3, 0.7},
		"a call that costs more":    {func(_ *fusion.Weights, p *fusion.Params) { p.Prices.Call = 0.5 }, 0.5, 0.5, 0.5},
		"misses that cost more":     {func(_ *fusion.Weights, p *fusion.Params) { p.Prices.FalseAlarm, p.Prices.Miss = 1, 9 }, 0.1, 1.0 / 82, 0.5},
		"a judge at chance":         {func(o *fusion.Weights, _ *fusion.Params) { o.TruePositive, o.FalsePositive = 0.5, 0.5 }, 0.5, 0.5, 0.5},
		"a judge that is too weak":  {func(o *fusion.Weights, _ *fusion.Params) { o.Cap, o.Lower = math.Log(3), math.Log(3) }, 0.5, 0.25, 0.75},
		"measured on close texts":   {func(o *fusion.Weights, _ *fusion.Params) { o.Low, o.High = 0.3, 0.6 }, 0.5, 0.3, 0.6},
		"a budget that allows less": {func(_ *fusion.Weights, p *fusion.Params) { p.Judges[0].LeastValue = 0.2 }, 0.5, 0.3, 0.7},
	} {
		low, high := band(c.change, c.threshold)
		if !near(low, c.low, 1e-3) || !near(high, c.high, 1e-3) {
			t.Errorf("%s: %.4f–%.4f, want %.4f–%.4f", name, low, high, c.low, c.high)
		}
	}
}

func TestParametersOfAnotherModelAreRejected(t *testing.T) {
	_, file, err := params(nil).Encode()
	if err != nil {
		t.Fatal(err)
	}
	_, err = fusion.New(file, "other@2.0.0")
	if err == nil || !strings.Contains(err.Error(), "tiny@1.0.0") || !strings.Contains(err.Error(), "other@2.0.0") {
		t.Errorf("%v: want both names", err)
	}
}

func TestReadRejectsInvalidParameters(t *testing.T) {
	data, file, err := params(map[toxscreen.Attribute]fusion.Weights{toxscreen.Toxicity: good}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := fusion.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if read.Hash != file.Hash {
		t.Errorf("the hash is %q, want %q as when the file was written", read.Hash, file.Hash)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"another format":    {`"format": 2`, `"format": 1`, "format: 1 is unknown to this version of toxscreen, which reads 2; create them again with toxscreen calibrate"},
		"no model":          {`"model": "tiny@1.0.0",`, ``, "model: missing"},
		"an unknown key":    {`"prices"`, `"prizes"`, "prizes"},
		"a negative price":  {`"call": 0.02`, `"call": -1`, "not a price"},
		"a falling judge":   {`"slope": 1`, `"slope": -1`, "slope and beyond 0 or more"},
		"an unbounded cap":  {`"cap": 5`, `"cap": 50`, "cap in 0..7"},
		"lower over cap":    {`"lower": 5`, `"lower": 6`, "lower must be in 0..cap"},
		"no rate":           {`"true_positive": 0.9`, `"true_positive": 1.9`, "not rates"},
		"no digest":         {judgeModel, "some-model", "has no digest"},
		"no attribute":      {`"toxicity": {`, `"toxcity": {`, "toxcity"},
		"something cut off": {`}`, ``, ""},
	} {
		if !strings.Contains(string(data), c.old) {
			t.Fatalf("%s: %q is not in %s", name, c.old, data)
		}
		_, err := fusion.Read([]byte(strings.Replace(string(data), c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestDefaultParametersChangeNoScore(t *testing.T) {
	f, err := fusion.New(fusion.Default(), "any@1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []float64{0, 1e-9, 0.3, 0.987654321, 1} {
		if got := fuse(t, f, p, verdict(toxscreen.Toxicity, 0.9)); got != p {
			t.Errorf("%v became %v", p, got)
		}
	}
}

func TestFuseDoesNotAllocate(t *testing.T) {
	f, v, found := withGood(t), verdict(toxscreen.Toxicity, 0.9), toxicity(0.5)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.Fuse(found.Scores, v); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFuse(b *testing.B) {
	all := map[toxscreen.Attribute]fusion.Weights{}
	var found toxscreen.Scores
	v := verdict(toxscreen.Toxicity, 0.9)
	v.Aspects = nil
	for _, a := range toxscreen.Attributes() {
		all[a] = good
		found.Set(a, 0.4)
		v.Aspects = append(v.Aspects, verdict(a, 0.8).Aspects...)
	}
	f := with(b, params(all))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Fuse(found, v); err != nil {
			b.Fatal(err)
		}
	}
}
