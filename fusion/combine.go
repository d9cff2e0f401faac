package fusion

import (
	"fmt"
	"math"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
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

// LogOdds returns the log-odds of a probability of the classifier.
func LogOdds(p float64) float64 { return logOdds(p, surest) }

// logOdds returns the log-odds of a probability, which is limited to off from 0 and
// 1.
func logOdds(p, off float64) float64 { return logodds.Of(min(max(p, off), 1-off)) }

// Apply returns corrected log-odds.
func (l Line) Apply(x float64) float64 { return l.Slope*x + l.Intercept }

// unmeasured is the log-odds of a "yes" without P(yes), as if that were 0.9. For a judge
// that never gives P(yes), the fitted slope makes up for any such number.
var unmeasured = math.Log(9)

// Finding is what a verdict says about one attribute. The aspects of a verdict come from
// one model and are not independent, so the mean of those that measure the attribute
// counts: contradicting aspects cancel out.
type Finding struct {
	Aspects int     // that measure the attribute; 0 if the verdict says nothing about it
	Near    float64 // mean log-odds of P(yes), up to a P(yes) of 0.95
	Beyond  float64 // the rest of it

	yes    int // aspects that are "yes"
	quoted int // of these, how many have a quotation from the text
	// disputed is the number of aspects that are "no" for the passage, but not for its core
	// alone.
	disputed int
}

// Toxic reports whether the verdict finds the attribute.
func (s Finding) Toxic() bool { return s.Near > 0 }

// Unfounded reports whether the verdict finds the attribute without any quotation from
// the text, although the judge was asked for one.
func (s Finding) Unfounded() bool { return s.Toxic() && s.yes > 0 && s.quoted == 0 }

// FindingOf returns what a verdict says about an attribute. If no aspect measures toxicity,
// the aspect that the judge is surest of stands for it: the text as a whole.
func FindingOf(v *toxscreen.Verdict, attribute toxscreen.Attribute) Finding {
	var s Finding
	for i := range v.Aspects {
		if a := &v.Aspects[i]; a.Attribute != nil && *a.Attribute == attribute {
			s.add(a, len(v.Core) > 0)
		}
	}
	if s.Aspects > 0 {
		s.Near /= float64(s.Aspects)
		s.Beyond /= float64(s.Aspects)
		return s
	}
	if attribute != toxscreen.Toxicity {
		return s
	}
	for i := range v.Aspects {
		var one Finding
		one.add(&v.Aspects[i], len(v.Core) > 0)
		if s.Aspects == 0 || one.Near+one.Beyond > s.Near+s.Beyond {
			s = one
		}
	}
	return s
}

// add adds an aspect. alone says that the judge was also asked about the core of the passage
// by itself. A "no" about the passage then counts only as far as the answer about the core is
// a "no", so that what stands around the core cannot excuse it. If the core has no answer,
// the "no" counts for nothing.
func (s *Finding) add(a *toxscreen.AspectVerdict, alone bool) {
	s.Aspects++
	z := answered(a.Yes, a.PYes)
	if a.Yes {
		s.yes++
		// Judges that give no severity are not asked for quotations.
		if len(a.Evidence) > 0 || a.Severity == nil {
			s.quoted++
		}
	} else if alone {
		core := 0.0
		if a.YesAlone != nil {
			core = min(answered(*a.YesAlone, a.PYesAlone), 0)
		}
		if z = max(z, core); z == 0 {
			s.disputed++
		}
	}
	near := min(max(z, -knee), knee)
	s.Near += near
	s.Beyond += z - near
}

// answered returns the log-odds of an answer. One that the model itself finds improbable
// has no weight.
func answered(yes bool, p *toxscreen.Probability) float64 {
	z := unmeasured
	if p != nil {
		z = logOdds(float64(*p), sure)
	} else if !yes {
		z = -unmeasured
	}
	if yes {
		return max(z, 0)
	}
	return min(z, 0)
}

// Heard returns the log likelihood ratio of a finding, in nats, before the overlap.
// Answers that contradict themselves say nothing.
func (o *Opinion) Heard(s Finding) float64 {
	if s.disputed == s.Aspects {
		return 0
	}
	heard := o.Intercept + o.Slope*s.Near + o.Beyond*s.Beyond
	if heard > 0 && s.Unfounded() {
		heard *= o.Unfounded
	}
	return heard
}

// evidence returns how far the judge moves the classifier's log-odds x. The sum x +
// evidence rises with x and with heard.
func (o *Opinion) evidence(x, heard float64) float64 {
	return min(max(heard-o.Overlap*x, -o.Lower), o.Cap)
}

// Fuse implements [toxscreen.Fusion]. It ignores verdicts of judges other than the
// one in use.
func (f *Fusion) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	if verdict != nil {
		for i := range verdict.Aspects {
			aspect := &verdict.Aspects[i]
			if p := aspect.PYes; p != nil && !(*p >= 0 && *p <= 1) {
				return toxscreen.Fused{}, fmt.Errorf("failed to fuse a verdict of %s: it gives %v for %s, which is not a probability", verdict.Model, float64(*p), aspect.Name)
			}
		}
	}
	ours := verdict != nil && f.digest != "" && Digest(verdict.Model) == f.digest && verdict.Rubric == f.rubric
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
		if o := &f.opinions[a]; ours && o.Cap > 0 {
			// The text may have asked for a "no".
			if s := FindingOf(verdict, a); s.Aspects > s.disputed && (s.Toxic() || len(verdict.Addressed) == 0) {
				moved = o.evidence(f.prior(a, p), o.Heard(s))
				if len(verdict.Addressed) > 0 {
					moved = max(moved, 0)
				}
				fused.Evidence.Set(a, moved)
			}
		}
		// Scores that do not change keep all their digits.
		if moved != 0 || f.lines[a] != (Line{Slope: 1}) {
			fused.Scores.Set(a, logodds.Probability(f.prior(a, p)+moved))
		}
	}
	return fused, nil
}

// prior returns the calibrated log-odds of the classifier's probability.
func (f *Fusion) prior(a toxscreen.Attribute, p float64) float64 {
	return f.lines[a].Apply(LogOdds(p))
}
