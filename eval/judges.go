package eval

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/toxscreen/toxscreen"
)

// SimulatedJudge is a judge with known error rates. The log-odds of its P(yes) are
// normal, with one mean for clean and another for toxic texts, and stretched by
// Confidence, since language models are overconfident.
type SimulatedJudge struct {
	Name string
	// Clean and Toxic are the means, Deviation is the standard deviation of both.
	Clean, Toxic, Deviation float64
	Confidence              float64
	// Correlated in 0..1 is the correlation of the judge's log-odds with the
	// classifier's, among toxic and among clean texts.
	Correlated float64
	// Seconds is the duration of a verdict, Price its price in addition to the
	// common price of a call.
	Seconds, Price float64
}

// SimulatedJudges are the judges in the table of docs/fusion.md. The comments have
// their true and false positive rates.
var SimulatedJudges = []SimulatedJudge{
	{Name: "perfect", Clean: -20, Toxic: 20, Deviation: 1, Confidence: 1},                                 // 1, 0
	{Name: "good", Clean: -3.285, Toxic: 3.285, Deviation: 2.563, Confidence: 2},                          // 0.9, 0.1
	{Name: "fair", Clean: -0.55, Toxic: 0.55, Deviation: 1.049, Confidence: 3},                            // 0.7, 0.3
	{Name: "useless", Deviation: 2, Confidence: 2},                                                        // 0.5, 0.5
	{Name: "adversarial", Clean: 3.285, Toxic: -3.285, Deviation: 2.563, Confidence: 2},                   // 0.1, 0.9
	{Name: "correlated", Clean: -3.285, Toxic: 3.285, Deviation: 2.563, Confidence: 2, Correlated: 0.6},   // 0.9, 0.1
	{Name: "slow", Clean: -3.285, Toxic: 3.285, Deviation: 2.563, Confidence: 2, Seconds: 30, Price: 0.2}, // 0.9, 0.1
}

// simulatedRubric is the rubric in the verdicts of simulated judges.
const simulatedRubric = "simulated@1"

func (j SimulatedJudge) model() string { return j.Name + "@simulated" }

// rates returns how often it answers "yes" about toxic and about clean texts.
func (j SimulatedJudge) rates() (truePositive, falsePositive float64) {
	over := func(mean float64) float64 { return 0.5 * math.Erfc(-mean/j.Deviation/math.Sqrt2) }
	return over(j.Toxic), over(j.Clean)
}

// verdict draws a verdict on a toxic or a clean text. off is how far the
// classifier's log-odds are from the mean of such texts, in standard deviations.
func (j SimulatedJudge) verdict(rng *rand.Rand, toxic bool, off float64) toxscreen.Verdict {
	mean := j.Clean
	if toxic {
		mean = j.Toxic
	}
	noise := j.Correlated*off + math.Sqrt(1-j.Correlated*j.Correlated)*rng.NormFloat64()
	z := j.Confidence * (mean + j.Deviation*noise)
	yes := toxscreen.Probability(1 / (1 + math.Exp(-z)))
	attribute := toxscreen.Toxicity
	return toxscreen.Verdict{
		Model: j.model(), Rubric: simulatedRubric,
		Aspects: []toxscreen.AspectVerdict{{Name: attribute.String(), Attribute: &attribute, Yes: yes >= 0.5, PYes: &yes}},
	}
}

// String returns the name and the rates.
func (j SimulatedJudge) String() string {
	truly, falsely := j.rates()
	return fmt.Sprintf("%s (TPR %.2f, FPR %.2f)", j.Name, truly, falsely)
}
