package fusion

import (
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// Tested is what a judge's self-test allows its verdicts to change.
type Tested struct {
	// Attributes has what verdicts count for each attribute that the judge was
	// measured on. Weights with Cap 0 ignore them.
	Attributes map[toxscreen.Attribute]Weights
	// Figures are the judge's figures for the attributes that it answers for.
	Figures map[toxscreen.Attribute]Figures
	// Better are the attributes at which the judge is certainly better than chance, in
	// their order. Its verdicts on them may still say no more than the classifier.
	Better []toxscreen.Attribute
	// Lower is how far a verdict may lower a score, in nats, 0 or more: ln 1/q, where q
	// is the upper end of the share of verdicts that an attack reversed.
	Lower float64
	// Reversed is this share.
	Reversed Share
	// Why is a sentence that says why verdicts are ignored, for results; empty for a
	// general one.
	Why string
}

// Figures are a judge's sensitivity and specificity for an attribute: how many of the
// texts that have it are found to have it, and how many of the others are not.
type Figures struct {
	Sensitivity Share `json:"sensitivity"`
	Specificity Share `json:"specificity"`
}

// Share is a share with its 95 % interval.
type Share struct {
	Count int `json:"count"`
	Of    int `json:"of"`
	// Low and High are the ends of Wilson's interval for the effective number of
	// cases: cases of one kind count less the more alike they are.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Estimate returns Count/Of; NaN if Of is 0.
func (s Share) Estimate() float64 { return float64(s.Count) / float64(s.Of) }

// Trusted returns the attributes whose scores verdicts may change, in their order.
func (t Tested) Trusted() []toxscreen.Attribute {
	return trusted(func(a toxscreen.Attribute) Weights { return t.Attributes[a] })
}

// Trusted returns the attributes whose scores verdicts of the judge in use may change, in
// their order.
func (f *Fusion) Trusted() []toxscreen.Attribute {
	return trusted(func(a toxscreen.Attribute) Weights { return f.weights[a] })
}

func trusted(weights func(toxscreen.Attribute) Weights) []toxscreen.Attribute {
	return slices.DeleteFunc(toxscreen.Attributes(), func(a toxscreen.Attribute) bool { return weights(a).Cap == 0 })
}

// Strongest returns the largest factor by which a "yes" multiplies the odds, or the
// smallest one of a "no", at even odds.
func (o Weights) Strongest(yes bool) float64 {
	farthest := o.farthest()
	if !yes {
		farthest = -farthest
	}
	return math.Exp(o.evidence(0, o.Intercept+farthest))
}

// farthest returns how far the surest answer is from Intercept, in nats.
func (o Weights) farthest() float64 { return o.Slope*knee + o.Beyond*(logOdds(1, sure)-knee) }
