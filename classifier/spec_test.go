package classifier

import (
	"math"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// plain is a spec with nothing wrong.
func plain() Spec {
	return Spec{
		Inputs:     []string{"input_ids", "attention_mask"},
		Outputs:    Outputs{Scores: "logits"},
		Labels:     []Label{{Name: "toxic", Attribute: attribute(toxscreen.Toxicity)}, {Name: "other"}},
		Activation: Sigmoid,
		Window:     Window{Tokens: 128, Overlap: 16, Correction: Correction{Slope: 0.25, Until: 3}},
	}
}

// Each possible fault of a spec is named in the error.
func TestValidateNamesTheFault(t *testing.T) {
	if err := plain().Validate(); err != nil {
		t.Fatalf("a plain spec is refused: %v", err)
	}
	for _, test := range []struct {
		want  string
		spoil func(*Spec)
	}{
		{"input_ids is missing", func(s *Spec) { s.Inputs = []string{"attention_mask"} }},
		{"scores is missing", func(s *Spec) { s.Outputs.Scores = "" }},
		{"must be given together", func(s *Spec) { s.Outputs.Tokens = "token_logits" }},
		{"labels: toxicity is missing", func(s *Spec) { s.Labels = []Label{{Name: "spam"}} }},
		{"two have the attribute toxicity", func(s *Spec) { s.Labels = append(s.Labels, s.Labels[0]) }},
		{`unknown "tanh"`, func(s *Spec) { s.Activation = "tanh" }},
		{"needs two labels", func(s *Spec) { s.Activation, s.Labels = Softmax, s.Labels[:1] }},
		{"spans.labels: at least one", func(s *Spec) { s.Outputs.Tokens, s.Spans = "t", &SpanSpec{Threshold: 0.5} }},
		{"spans.threshold: 1 is not", func(s *Spec) { s.Outputs.Tokens, s.Spans = "t", &SpanSpec{Labels: s.Labels, Threshold: 1} }},
		{"window.tokens: 0 is not", func(s *Spec) { s.Window.Tokens = 0 }},
		{"window.correction: missing", func(s *Spec) { s.Window.Correction = Correction{} }},
		{"window.correction.slope: -1 is not", func(s *Spec) { s.Window.Correction.Slope = -1 }},
		{"window.correction.slope: NaN is not", func(s *Spec) { s.Window.Correction.Slope = math.NaN() }},
		{"window.correction.until: 0 is not", func(s *Spec) { s.Window.Correction.Until = 0 }},
		{"window.correction.until: +Inf is not", func(s *Spec) { s.Window.Correction.Until = math.Inf(1) }},
		{"threat is not among the labels", func(s *Spec) { s.calibrate(toxscreen.Threat, [2]float64{0, 0}, [2]float64{1, 1}) }},
		{"1 knot given", func(s *Spec) { s.calibrate(toxscreen.Toxicity, [2]float64{0, 0}) }},
		{"knot 1 does not rise", func(s *Spec) { s.calibrate(toxscreen.Toxicity, [2]float64{0, 1}, [2]float64{1, 0}) }},
		{"knot 0 is not finite", func(s *Spec) { s.calibrate(toxscreen.Toxicity, [2]float64{math.Inf(-1), 1}, [2]float64{1, 2}) }},
	} {
		spec := plain()
		test.spoil(&spec)
		if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

func (s *Spec) calibrate(a toxscreen.Attribute, knots ...[2]float64) {
	s.Calibration = map[toxscreen.Attribute]Calibration{a: {Knots: knots}}
}

func TestCalibrationGoesThroughItsKnotsAndBeyond(t *testing.T) {
	c := Calibration{Knots: [][2]float64{{-2, -1}, {0, 0}, {1, 4}}}
	for logit, want := range map[float64]float64{-4: -2, -2: -1, -1: -0.5, 0: 0, 0.5: 2, 1: 4, 2: 8} {
		if got := c.Apply(logit); math.Abs(got-want) > 1e-12 {
			t.Errorf("Apply(%v) = %v, want %v", logit, got, want)
		}
	}
}

// TestCorrection: the highest of several windows loses slope·ln(windows) where its
// log-odds are 0 or less, nothing where they reach until, and a part between.
func TestCorrection(t *testing.T) {
	c := Correction{Slope: 0.25, Until: 3}
	const windows = 10
	full := 0.25 * math.Log(windows)
	for odds, want := range map[float64]float64{
		-5: -5 - full, 0: -full, // harmless: in full
		1.5: 1.5 - full/2, 2.4: 2.4 - full/5, // doubtful: in part
		3: 3, 8: 8, // a strong passage: not at all
	} {
		if got := c.Apply(odds, windows); math.Abs(got-want) > 1e-12 {
			t.Errorf("log-odds of %v become %v, want %v", odds, got, want)
		}
	}
	for odds := -4.0; odds < 4; odds += 0.01 {
		if got := c.Apply(odds, 1); got != odds {
			t.Errorf("one window is corrected from %v to %v", odds, got)
		}
		if low, high := c.Apply(odds, 4000), c.Apply(odds+0.01, 4000); low > high {
			t.Errorf("the correction reverses %v and %v", low, high)
		}
	}
	if got := (Correction{Until: 3}).Apply(-2, windows); got != -2 {
		t.Errorf("a slope of 0 gives %v, want the plain maximum", got)
	}
}

// TestCombine: each attribute has its own highest window.
func TestCombine(t *testing.T) {
	odds := func(toxicity, threat float64) toxscreen.Scores {
		var odds toxscreen.Scores
		odds.Set(toxscreen.Toxicity, toxicity)
		odds.Set(toxscreen.Threat, threat)
		return odds
	}
	c := Correction{Slope: 0.25, Until: 3}
	got := combine([]window{{odds: odds(-4, 3.5)}, {odds: odds(-1, -6)}, {odds: odds(-2, 0)}}, c)
	if want := odds(-1-0.25*math.Log(3), 3.5); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := combine([]window{{odds: odds(-4, 1)}}, c), odds(-4, 1); got != want {
		t.Errorf("one window gives %v, want %v", got, want)
	}
}

// The sigmoid of a softmax's log-odds gives the softmax's probabilities.
func TestAgainstTheRest(t *testing.T) {
	logits := []float32{2, -1, 0.5}
	total := 0.0
	for _, z := range logits {
		total += math.Exp(float64(z))
	}
	for i, z := range logits {
		if got, want := logodds.Probability(againstTheRest(logits, i)), math.Exp(float64(z))/total; math.Abs(got-want) > 1e-12 {
			t.Errorf("label %d: %v, want %v", i, got, want)
		}
	}
}
