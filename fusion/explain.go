package fusion

import (
	"fmt"
	"math"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// Explain repeats the fusion of a result in steps. It returns a sentence for each attribute:
// how the probability in the result was computed.
func (f *Fusion) Explain(r toxscreen.Result) ([]string, error) {
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
	var all []string
	for a, p := range scores.All() {
		all = append(all, a.String()+": "+f.explain(a, p, fused, r.Attributes[a]))
	}
	return all, nil
}

// explain returns how the classifier's probability p became the score of an attribute.
func (f *Fusion) explain(a toxscreen.Attribute, p float64, fused toxscreen.Fused, measured toxscreen.AttributeResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the classifier says %.2f", p)
	prior := logodds.Probability(f.prior(a, p))
	if fmt.Sprintf("%.2f", prior) != fmt.Sprintf("%.2f", p) {
		fmt.Fprintf(&b, ", calibrated %.2f", prior)
	}
	fmt.Fprintf(&b, ", odds of %s", odds(prior))
	posterior, _ := fused.Scores.Get(a)
	switch evidence, heard := fused.Evidence.Get(a); {
	case !heard:
		b.WriteString("; no verdict counted")
	case evidence >= 0:
		fmt.Fprintf(&b, "; the verdict multiplies them by %.3g (%+.2f in log-odds): %.2f, odds of %s", math.Exp(evidence), evidence, posterior, odds(posterior))
	default:
		fmt.Fprintf(&b, "; the verdict divides them by %.3g (%+.2f in log-odds): %.2f, odds of %s", math.Exp(-evidence), evidence, posterior, odds(posterior))
	}
	if measured.Score.Rounded() > toxscreen.Probability(posterior).Rounded() {
		fmt.Fprintf(&b, "; parts of the text that the judge did not see hold it at %.2f", float64(measured.Score))
	}
	side := "under"
	if measured.Score >= measured.Threshold {
		side = "at or over"
	}
	fmt.Fprintf(&b, "; %s its threshold %.2f", side, float64(measured.Threshold))
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
