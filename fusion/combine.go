package fusion

import (
	"fmt"
	"math"

	"github.com/toxscreen/toxscreen"
)

const (
	// surest limits the classifier's probability on both sides: even a model that
	// says 0 or 1 has not seen more than a million texts.
	surest = 1e-6
	// sure limits the judge's P(yes) on both sides.
	sure = 1e-4
)

// knee is the log-odds beyond which the judge has a separate slope, at a P(yes) of
// 0.95: how sure language models are beyond that depends more on their training
// than on how often they are right.
var knee = math.Log(19)

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logOdds returns the log-odds of a probability, which is limited to off from 0 and
// 1.
func logOdds(p, off float64) float64 {
	p = min(max(p, off), 1-off)
	return math.Log(p / (1 - p))
}

// apply returns corrected log-odds.
func (l Line) apply(x float64) float64 { return l.Slope*x + l.Intercept }

// said is what a verdict says about one attribute, summed over the aspects that
// measure it.
type said struct {
	aspects  int
	measured int     // how many have P(yes)
	near     float64 // log-odds of P(yes) up to the knee, summed
	beyond   float64 // the rest of them
	yes, no  int     // answers of the aspects without P(yes)
}

// add adds an aspect.
func (s *said) add(a toxscreen.AspectVerdict) {
	s.aspects++
	if a.PYes == nil {
		if a.Yes {
			s.yes++
		} else {
			s.no++
		}
		return
	}
	s.measured++
	z := logOdds(float64(*a.PYes), sure)
	// An answer that the model itself finds improbable has no weight.
	if a.Yes {
		z = max(z, 0)
	} else {
		z = min(z, 0)
	}
	near := min(max(z, -knee), knee)
	s.near += near
	s.beyond += z - near
}

// heard returns the log likelihood ratio of what was said, in nats, before the
// overlap. The aspects of a verdict come from one model and are not independent, so
// their mean counts: contradicting aspects cancel out.
func (o Opinion) heard(s said) float64 {
	sum := 0.0
	if s.measured > 0 {
		sum += o.Slope*s.near + o.Beyond*s.beyond + o.Intercept*float64(s.measured)
	}
	if s.yes+s.no > 0 && o.Slope > 0 {
		sum += float64(s.yes)*ratio(o.TruePositive, o.FalsePositive) + float64(s.no)*ratio(1-o.TruePositive, 1-o.FalsePositive)
	}
	return sum / float64(s.aspects)
}

// ratio returns the logarithm of the likelihood ratio of two rates.
func ratio(a, b float64) float64 { return math.Log(max(a, surest) / max(b, surest)) }

// evidence returns how far the judge moves the classifier's log-odds x. The sum x +
// evidence rises with x and with heard.
func (o Opinion) evidence(x, heard float64) float64 {
	return min(max(heard-o.Overlap*x, -o.Cap), o.Cap)
}

// Fuse implements [toxscreen.Fusion]. It ignores verdicts of judges other than the
// one in use.
func (f *Fusion) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	var heard [toxscreen.AttributeCount]said
	if verdict != nil {
		for i := range verdict.Aspects {
			aspect := &verdict.Aspects[i]
			if p := aspect.PYes; p != nil && !(*p >= 0 && *p <= 1) {
				return toxscreen.Fused{}, fmt.Errorf("failed to fuse a verdict of %s: it gives %v for %s, which is not a probability", verdict.Model, float64(*p), aspect.Name)
			}
			if aspect.Attribute == nil || *aspect.Attribute >= toxscreen.Attribute(toxscreen.AttributeCount) || len(verdict.Addressed) > 0 && !aspect.Yes {
				continue
			}
			heard[*aspect.Attribute].add(*aspect)
		}
	}
	ours := verdict != nil && f.digest != "" && digestOf(verdict.Model) == f.digest && verdict.Rubric == f.rubric
	fused := toxscreen.Fused{Scores: scores}
	for _, a := range toxscreen.Attributes() {
		p, ok := scores.Get(a)
		if !ok {
			continue
		}
		if !(p >= 0 && p <= 1) {
			return toxscreen.Fused{}, fmt.Errorf("failed to fuse scores: %v for %s is not a probability", p, a)
		}
		moved := 0.0
		if o := &f.opinions[a]; ours && heard[a].aspects > 0 && o.Cap > 0 {
			moved = o.evidence(f.prior(a, p), o.heard(heard[a]))
			if len(verdict.Addressed) > 0 {
				moved = max(moved, 0)
			}
			fused.Evidence.Set(a, moved)
		}
		// Scores that do not change keep all their digits.
		if moved != 0 || f.lines[a] != (Line{Slope: 1}) {
			fused.Scores.Set(a, sigmoid(f.prior(a, p)+moved))
		}
	}
	return fused, nil
}

// prior returns the calibrated log-odds of the classifier's probability.
func (f *Fusion) prior(a toxscreen.Attribute, p float64) float64 {
	return f.lines[a].apply(logOdds(p, surest))
}
