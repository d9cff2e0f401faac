package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// simulated is a judge whose log-odds of P(yes) are normal around mean[label]. With
// means ±2z² and a deviation of 2z, where z is the normal quantile of its true
// positive rate, they are calibrated; confidence stretches them, since language
// models are overconfident.
type simulated struct {
	name       string
	mean       [2]float64 // clean, toxic
	deviation  float64
	confidence float64
	correlated float64 // with the classifier's error, in 0..1
}

var judges = []simulated{
	{"perfect", [2]float64{-20, 20}, 1, 1, 0},
	{"good", [2]float64{-3.28, 3.28}, 2.56, 2, 0},
	{"fair", [2]float64{-0.55, 0.55}, 1.05, 3, 0},
	{"useless", [2]float64{0, 0}, 2, 2, 0},
	{"always yes", [2]float64{4, 4}, 0.5, 1, 0},
	{"adversarial", [2]float64{3.28, -3.28}, 2.56, 2, 0},
	{"correlated", [2]float64{-1, 1}, 1.5, 2, 0.4},
	{"biased", [2]float64{0.5, 4}, 1.5, 2, 0},
}

func judgeNamed(t *testing.T, name string) simulated {
	t.Helper()
	for _, j := range judges {
		if j.name == name {
			return j
		}
	}
	t.Fatalf("no judge %s", name)
	return simulated{}
}

// world draws texts of a calibrated classifier whose log-odds are between two
// bounds, with a verdict on each.
func world(rng *rand.Rand, j simulated, n int, low, high float64) []toxscreen.Labelled {
	rows := make([]toxscreen.Labelled, n)
	for i := range rows {
		x := low - 1
		for x < low || x > high {
			x = -3 + 2.5*rng.NormFloat64()
		}
		p, y := 1/(1+math.Exp(-x)), 0
		if rng.Float64() < p {
			y = 1
		}
		noise := rng.NormFloat64()
		if j.correlated > 0 {
			wrong := (p - float64(y)) * 2 // the classifier's error, about one deviation
			noise = j.correlated*wrong + math.Sqrt(1-j.correlated*j.correlated)*noise
		}
		s := j.confidence * (j.mean[y] + j.deviation*noise)
		rows[i] = toxscreen.Labelled{
			Name: fmt.Sprint(i), Found: toxicity(p), Weight: 1, Seconds: 2,
			Labels:  scores(toxscreen.Toxicity, float64(y)),
			Verdict: verdict(toxscreen.Toxicity, 1/(1+math.Exp(-s))),
		}
		rows[i].Verdict.InputTokens, rows[i].Verdict.OutputTokens = 900, 100
	}
	return rows
}

const (
	judgeModel  = "some-model:8b@0123456789ab"
	judgeRubric = "attributes@0123"
)

var thresholds = scores(toxscreen.Toxicity, 0.5)

// scores returns the Scores with one attribute.
func scores(a toxscreen.Attribute, p float64) toxscreen.Scores {
	var s toxscreen.Scores
	s.Set(a, p)
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

// fuse returns the fused toxicity of a classifier's probability and a verdict.
func fuse(t *testing.T, f *fusion.Fusion, p float64, v *toxscreen.Verdict) float64 {
	t.Helper()
	fused, err := f.Fuse(scores(toxscreen.Toxicity, p), v)
	if err != nil {
		t.Fatal(err)
	}
	result, _ := fused.Scores.Get(toxscreen.Toxicity)
	return result
}

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

func options() fit.Options {
	return fit.Options{Model: "tiny@1.0.0", Thresholds: thresholds, Prices: fusion.Prices{Call: 0.02}}
}

// fitted fits rows and returns the Fusion that knows their judge.
func fitted(t *testing.T, rows []toxscreen.Labelled, o fit.Options) (*fusion.Fusion, fusion.Params, fit.Report) {
	t.Helper()
	p, report, err := fit.Params(rows, o)
	if err != nil {
		t.Fatal(err)
	}
	_, file, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := fusion.New(file, p.Model)
	if err != nil {
		t.Fatal(err)
	}
	return f.With(fusion.Judge{Model: judgeModel, Rubric: judgeRubric, Tested: &fusion.Tested{Lower: 7}}), p, report
}

// With 300 rows, a useless judge rarely passes the gate, and otherwise moves no
// score.
func TestAUselessJudgeMovesNoScore(t *testing.T) {
	for _, name := range []string{"useless", "always yes", "adversarial"} {
		rng := rand.New(rand.NewPCG(3, 4))
		moving := 0
		const fits = 30
		for range fits {
			f, _, _ := fitted(t, world(rng, judgeNamed(t, name), 300, -3, 3), options())
			most := 0.0
			for p := 0.02; p < 1; p += 0.04 {
				alone := fuse(t, f, p, nil)
				for _, yes := range []float64{0.001, 0.2, 0.8, 0.999} {
					most = max(most, math.Abs(fuse(t, f, p, verdict(toxscreen.Toxicity, yes))-alone))
				}
			}
			if most > 0.02 {
				moving++
			}
		}
		if moving > 0 {
			t.Errorf("%s: moves a score by more than 0.02 in %d of %d fits", name, moving, fits)
		}
	}
}

// loss is the mean log loss of probabilities kept off 0 and 1 by 1e-6.
func loss(p, y float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return -y*math.Log(p) - (1-y)*math.Log(1-p)
}

// For texts with a verdict, the fused score is never worse than the better of both
// stages by more than 0.002 nats, for every judge.
func TestFusionIsNeverWorseThanTheBetterStage(t *testing.T) {
	for _, j := range judges {
		rng := rand.New(rand.NewPCG(5, 6))
		rows, tests := world(rng, j, 2000, -3, 3), world(rng, j, 20000, -3, 3)
		f, p, _ := fitted(t, rows, options())
		classifier, judged, fused, n := 0.0, 0.0, 0.0, 0.0
		low, high, ok := f.Band(toxscreen.Toxicity, 0.5)
		if !ok {
			low, high = 0.05, 0.95
		}
		for _, row := range tests {
			x, _ := row.Found.Scores.Get(toxscreen.Toxicity)
			if x < low || x > high {
				continue
			}
			y, _ := row.Labels.Get(toxscreen.Toxicity)
			classifier += loss(x, y)
			judged += loss(float64(*row.Verdict.Aspects[0].PYes), y)
			fused += loss(fuse(t, f, x, row.Verdict), y)
			n++
		}
		classifier, judged, fused = classifier/n, judged/n, fused/n
		t.Logf("%-12s band %.2f–%.2f: classifier %.4f, judge %.4f, fused %.4f; %+v", j.name, low, high, classifier, judged, fused, p.Judges[0].Attributes[toxscreen.Toxicity])
		if n < 1000 {
			t.Errorf("%s: only %v texts are in the band", j.name, n)
		}
		if j.name == "good" && fused > classifier-0.1 {
			t.Errorf("%s: log loss %.4f, hardly below the classifier's %.4f", j.name, fused, classifier)
		}
		if fused > min(classifier, judged)+0.002 {
			t.Errorf("%s: log loss %.4f, classifier %.4f, judge %.4f", j.name, fused, classifier, judged)
		}
	}
}

// The budget also holds for texts that were not fitted on.
func TestTheBudgetHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	good := judgeNamed(t, "good")
	o := options()
	o.Budget = fusion.Budget{Share: 0.08, Texts: 1000}
	f, _, report := fitted(t, world(rng, good, 4000, -20, 20), o)
	held, sum := 0, 0.0
	for range 100 {
		judged := 0.0
		for _, row := range world(rng, good, 1000, -20, 20) {
			if ask, _ := f.Escalate(t.Context(), row.Found, thresholds); ask {
				judged++
			}
		}
		sum += judged / 1000
		if judged <= 80 {
			held++
		}
	}
	t.Logf("held in %d of 100; judged on average %.4f, expected %.4f, a verdict must be worth %.3f", held, sum/100, report.Share, report.Least)
	if held < 99 {
		t.Errorf("the budget of 0.08 held in %d of 100 samples", held)
	}
	if sum/100 < 0.05 {
		t.Errorf("only a share of %.4f is judged, of a budget of 0.08", sum/100)
	}
}

// A limit of seconds or tokens per minute becomes a share of the texts per minute.
func TestTrafficIsAShare(t *testing.T) {
	rows := world(rand.New(rand.NewPCG(9, 10)), judgeNamed(t, "good"), 2000, -20, 20)
	for name, traffic := range map[string]fit.Traffic{
		"seconds": {Texts: 600, Seconds: 60},    // 2 s per verdict
		"tokens":  {Texts: 600, Tokens: 30_000}, // 1,000 per verdict
	} {
		o := options()
		o.Traffic = traffic
		_, p, report := fitted(t, rows, o)
		if !near(p.Budget.Share, 0.05, 1e-9) {
			t.Errorf("%s: the budget is %v, want 0.05", name, p.Budget.Share)
		}
		if report.Share == 0 || report.Share > 0.05 {
			t.Errorf("%s: a share of %v is judged, want some, and at most 0.05", name, report.Share)
		}
		if p.Judges[0].LeastValue <= 0 {
			t.Errorf("%s: any verdict is worth a call", name)
		}
	}
	o := options()
	o.Traffic.Seconds = 60
	if _, _, err := fit.Params(rows, o); err == nil || !strings.Contains(err.Error(), "texts per minute") {
		t.Errorf("seconds per minute without texts per minute: %v", err)
	}
}

// An overconfident classifier is corrected, a calibrated one is not.
func TestCalibration(t *testing.T) {
	rows := world(rand.New(rand.NewPCG(11, 12)), judgeNamed(t, "useless"), 1000, -20, 20)
	for i := range rows {
		rows[i].Verdict = nil
	}
	if _, p, _ := fitted(t, rows, options()); len(p.Calibration) != 0 {
		t.Errorf("a calibrated classifier was corrected: %+v", p.Calibration)
	}
	for i := range rows {
		x, _ := rows[i].Found.Scores.Get(toxscreen.Toxicity)
		rows[i].Found = toxicity(1 / (1 + math.Exp(-(2*logodds.Of(x) + 1))))
	}
	_, p, report := fitted(t, rows, options())
	line := p.Calibration[toxscreen.Toxicity]
	if !near(line.Slope, 0.5, 0.07) {
		t.Errorf("the slope is %v, want 0.5", line.Slope)
	}
	if !near(line.Intercept, -0.5, 0.25) {
		t.Errorf("the intercept is %v, want -0.5", line.Intercept)
	}
	r := report.Attributes[0]
	if !r.Calibrated {
		t.Error("the report does not say that the classifier is corrected")
	}
	if r.After >= r.Before {
		t.Errorf("the loss is %v after the correction, %v before", r.After, r.Before)
	}
	if len(r.Held) != len(rows) {
		t.Errorf("%d rows are held for plots, want %d", len(r.Held), len(rows))
	}
}

func TestFitIsRepeatable(t *testing.T) {
	rows := world(rand.New(rand.NewPCG(13, 14)), judgeNamed(t, "good"), 500, -3, 3)
	_, first, _ := fitted(t, rows, options())
	_, second, _ := fitted(t, rows, options())
	a, _, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := second.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("the first fit is\n%s\nthe second\n%s", a, b)
	}
}

// Fitting a judge keeps the parameters of other judges.
func TestFitKeepsOtherJudges(t *testing.T) {
	o := options()
	o.Base.Judges = []fusion.JudgeParams{{Model: "other@ffffffffffff", Rubric: judgeRubric}}
	_, p, _ := fitted(t, world(rand.New(rand.NewPCG(15, 16)), judgeNamed(t, "good"), 500, -3, 3), o)
	var models []string
	for _, judge := range p.Judges {
		models = append(models, judge.Model)
	}
	if want := []string{"other@ffffffffffff", judgeModel}; !slices.Equal(models, want) {
		t.Errorf("the parameters are of %q, want %q", models, want)
	}
}

// Unusable rows are rejected, with numbers.
func TestFitRejects(t *testing.T) {
	label := func(y func(i int) float64) func([]toxscreen.Labelled) []toxscreen.Labelled {
		return func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			for i := range rows {
				rows[i].Labels = scores(toxscreen.Toxicity, y(i))
			}
			return rows
		}
	}
	for name, c := range map[string]struct {
		change func([]toxscreen.Labelled) []toxscreen.Labelled
		want   string
	}{
		"too few rows": {func(rows []toxscreen.Labelled) []toxscreen.Labelled { return rows[:60] },
			"toxicity: 60 rows are too few, effectively "},
		"too few toxic rows": {label(func(i int) float64 { return float64((1000 - i) / 990) }),
			"clean: 100 are needed, and 20 of each class"},
		"hardly too few toxic rows": {label(func(i int) float64 {
			switch {
			case i < 19:
				return 1
			case i == 19:
				return 0.6 // 19.8 in effect
			}
			return 0
		}), "300 rows are too few, effectively 19 toxic and 280 clean"},
		"one class only": {label(func(int) float64 { return 0 }),
			"toxicity: 300 rows have the same label"},
		"labels that contradict each other": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			rows[7].Name, rows[7].Labels = "text", scores(toxscreen.Toxicity, 1.0)
			rows[9].Name, rows[9].Labels = "text", scores(toxscreen.Toxicity, 0.0)
			return rows
		}, "labels contradict another one of the same text (1, in 300 rows): rows 8 and 10 have 1 and 0 for toxicity"},
		"a label that is no share": {label(func(int) float64 { return 2 }), "row 1: label 2 for toxicity"},
		"a score that is not a number": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			rows[4].Found = toxicity(math.NaN())
			return rows
		}, "row 5: score NaN for toxicity"},
		"a verdict that is not a number": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			rows[4].Verdict = verdict(toxscreen.Toxicity, math.NaN())
			return rows
		}, "row 5: the verdict gives NaN"},
		"no weight": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			rows[2].Weight = 0
			return rows
		}, "row 3: weight 0"},
		"two judges": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			rows[2].Verdict.Model = "other@ffffffffffff"
			return rows
		}, "row 3: the verdict is from other@ffffffffffff"},
		"too few verdicts": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			for i := 50; i < len(rows); i++ {
				rows[i].Verdict = nil
			}
			return rows
		}, "toxicity: verdicts: 50 rows"},
		"no labels": {func(rows []toxscreen.Labelled) []toxscreen.Labelled {
			for i := range rows {
				rows[i].Labels = toxscreen.Scores{}
			}
			return rows
		}, "300 rows, none with a label"},
		"a budget that so few rows cannot guarantee": {func(rows []toxscreen.Labelled) []toxscreen.Labelled { return rows[:150] },
			"are too few to guarantee that at most 1 % of 10000 texts are judged"},
	} {
		o := options()
		o.Budget = fusion.Budget{Share: 0.01}
		rows := c.change(world(rand.New(rand.NewPCG(17, 18)), judgeNamed(t, "good"), 300, -3, 3))
		if _, _, err := fit.Params(rows, o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "failed to fit fusion parameters") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
