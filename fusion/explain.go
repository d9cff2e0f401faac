package fusion

import (
	"fmt"
	"math"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// Explanation shows how the final probability of an attribute was computed.
type Explanation struct {
	Attribute  toxscreen.Attribute
	Classifier float64 // the model's probability
	Prior      float64 // after calibration
	// Evidence is the evidence of the verdict, in nats; 0 if Heard is false.
	Evidence  float64
	Heard     bool // whether a verdict counted
	Posterior float64
	// Score is the probability in the result. It is more than Posterior if parts of the
	// text that the judge did not see hold it up.
	Score     float64
	Threshold float64
}

// Explain repeats the fusion of a result in steps.
func (f *Fusion) Explain(r toxscreen.Result) ([]Explanation, error) {
	var scores toxscreen.Scores
	for a, measured := range r.Attributes {
		scores.Set(a, float64(measured.Classifier))
	}
	var verdict *toxscreen.Verdict
	if len(r.Judge.Verdicts) > 0 && r.Source == toxscreen.SourceFused {
		verdict = &r.Judge.Verdicts[0]
	}
	fused, err := f.Fuse(scores, verdict)
	if err != nil {
		return nil, err
	}
	var all []Explanation
	for a, p := range scores.All() {
		posterior, _ := fused.Scores.Get(a)
		moved, heard := fused.Evidence.Get(a)
		all = append(all, Explanation{
			Attribute: a, Classifier: p, Prior: logodds.Probability(f.prior(a, p)), Evidence: moved, Heard: heard,
			Posterior: posterior, Score: float64(r.Attributes[a].Score), Threshold: float64(r.Attributes[a].Threshold),
		})
	}
	return all, nil
}

// String returns the explanation as a sentence.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the classifier says %.2f", e.Attribute, e.Classifier)
	if e.Prior != e.Classifier && fmt.Sprintf("%.2f", e.Prior) != fmt.Sprintf("%.2f", e.Classifier) {
		fmt.Fprintf(&b, ", calibrated %.2f", e.Prior)
	}
	fmt.Fprintf(&b, ", odds of %s", odds(e.Prior))
	switch {
	case !e.Heard:
		b.WriteString("; no verdict counted")
	case e.Evidence >= 0:
		fmt.Fprintf(&b, "; the verdict multiplies them by %.3g (%+.2f in log-odds): %.2f, odds of %s", math.Exp(e.Evidence), e.Evidence, e.Posterior, odds(e.Posterior))
	default:
		fmt.Fprintf(&b, "; the verdict divides them by %.3g (%+.2f in log-odds): %.2f, odds of %s", math.Exp(-e.Evidence), e.Evidence, e.Posterior, odds(e.Posterior))
	}
	if toxscreen.Probability(e.Score).Rounded() > toxscreen.Probability(e.Posterior).Rounded() {
		fmt.Fprintf(&b, "; parts of the text that the judge did not see hold it at %.2f", e.Score)
	}
	side := "under"
	if e.Score >= e.Threshold {
		side = "at or over"
	}
	fmt.Fprintf(&b, "; %s its threshold %.2f", side, e.Threshold)
	return b.String()
}

// odds returns a probability as "3 to 1".
func odds(p float64) string {
	if p <= 0 || p >= 1 {
		return fmt.Sprintf("%v to %v", p, 1-p)
	}
	if p >= 0.5 {
		return fmt.Sprintf("%.3g to 1", p/(1-p))
	}
	return fmt.Sprintf("1 to %.3g", (1-p)/p)
}
