package classifier

import (
	"math"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
)

// plain is a spec with nothing wrong.
func plain() Spec {
	return Spec{
		Inputs:     []string{"input_ids", "attention_mask"},
		Outputs:    Outputs{Scores: "logits"},
		Labels:     []Label{{Name: "toxic", Attribute: attribute(toxscreen.Toxicity)}, {Name: "other"}},
		Activation: Sigmoid,
		Window:     Window{Tokens: 128, Overlap: 16, Pooling: 2},
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
		{"none has the attribute toxicity", func(s *Spec) { s.Labels = []Label{{Name: "spam"}} }},
		{"two have the attribute toxicity", func(s *Spec) { s.Labels = append(s.Labels, s.Labels[0]) }},
		{`unknown "tanh"`, func(s *Spec) { s.Activation = "tanh" }},
		{"needs two labels", func(s *Spec) { s.Activation, s.Labels = Softmax, s.Labels[:1] }},
		{"spans.labels: none", func(s *Spec) { s.Outputs.Tokens, s.Spans = "t", &SpanSpec{Threshold: 0.5} }},
		{"spans.threshold: 1 is not", func(s *Spec) { s.Outputs.Tokens, s.Spans = "t", &SpanSpec{Labels: s.Labels, Threshold: 1} }},
		{"window.tokens: 0 is not", func(s *Spec) { s.Window.Tokens = 0 }},
		{"window.pooling: NaN is not", func(s *Spec) { s.Window.Pooling = math.NaN() }},
		{"threat is not among the labels", func(s *Spec) { s.calibrate(toxscreen.Threat, [2]float64{0, 0}, [2]float64{1, 1}) }},
		{"1 knots given", func(s *Spec) { s.calibrate(toxscreen.Toxicity, [2]float64{0, 0}) }},
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

// The sigmoid of a softmax's log-odds gives the softmax's probabilities.
func TestAgainstTheRest(t *testing.T) {
	logits := []float64{2, -1, 0.5}
	total := 0.0
	for _, z := range logits {
		total += math.Exp(z)
	}
	for i, odds := range againstTheRest(logits) {
		if got, want := sigmoid(odds), math.Exp(logits[i])/total; math.Abs(got-want) > 1e-12 {
			t.Errorf("label %d: %v, want %v", i, got, want)
		}
	}
}
