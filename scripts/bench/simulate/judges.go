package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// judge is a simulated judge with known error rates. The log-odds of its P(yes) are
// normal, with one mean for clean and another for toxic texts, and stretched by
// confidence, since language models are overconfident.
type judge struct {
	name string
	// clean and toxic are the means, deviation is the standard deviation of both.
	clean, toxic, deviation float64
	confidence              float64
	// correlated in 0..1 is the correlation of the judge's log-odds with the
	// classifier's, among toxic and among clean texts.
	correlated float64
	// price is that of a verdict in addition to the common price of a call.
	price float64
}

// judges are the judges in the table of docs/fusion.md. The comments have their true and
// false positive rates.
var judges = []judge{
	{name: "perfect", clean: -20, toxic: 20, deviation: 1, confidence: 1},                               // 1, 0
	{name: "good", clean: -3.285, toxic: 3.285, deviation: 2.563, confidence: 2},                        // 0.9, 0.1
	{name: "fair", clean: -0.55, toxic: 0.55, deviation: 1.049, confidence: 3},                          // 0.7, 0.3
	{name: "useless", deviation: 2, confidence: 2},                                                      // 0.5, 0.5
	{name: "adversarial", clean: 3.285, toxic: -3.285, deviation: 2.563, confidence: 2},                 // 0.1, 0.9
	{name: "correlated", clean: -3.285, toxic: 3.285, deviation: 2.563, confidence: 2, correlated: 0.6}, // 0.9, 0.1
	{name: "slow", clean: -3.285, toxic: 3.285, deviation: 2.563, confidence: 2, price: 0.2},            // 0.9, 0.1
}

// rates returns how often it answers "yes" about toxic and about clean texts.
func (j judge) rates() (truePositive, falsePositive float64) {
	over := func(mean float64) float64 { return 0.5 * math.Erfc(-mean/j.deviation/math.Sqrt2) }
	return over(j.toxic), over(j.clean)
}

// verdict draws a verdict on a toxic or a clean text. off is how far the
// classifier's log-odds are from the mean of such texts, in standard deviations.
func (j judge) verdict(rng *rand.Rand, toxic bool, off float64) toxscreen.Verdict {
	mean := j.clean
	if toxic {
		mean = j.toxic
	}
	noise := j.correlated*off + math.Sqrt(1-j.correlated*j.correlated)*rng.NormFloat64()
	z := j.confidence * (mean + j.deviation*noise)
	yes := toxscreen.Probability(logodds.Probability(z))
	attribute := toxscreen.Toxicity
	return toxscreen.Verdict{
		Model: j.name + "@simulated", Rubric: "simulated@1",
		Aspects: []toxscreen.AspectVerdict{{Name: attribute.String(), Attribute: &attribute, Yes: yes >= 0.5, PYes: &yes}},
	}
}

// String returns the name and the rates.
func (j judge) String() string {
	truly, falsely := j.rates()
	return fmt.Sprintf("%s (TPR %.2f, FPR %.2f)", j.name, truly, falsely)
}
