package eval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMeasuresByHand(t *testing.T) {
	rows := []eval.Scored{
		{P: 0.9, Toxic: true, Weight: 1},
		{P: 0.8, Toxic: false, Weight: 1},
		{P: 0.6, Toxic: true, Weight: 2},
		{P: 0.1, Toxic: false, Weight: 4},
	}
	if got, want := eval.LogLoss(rows), -(math.Log(0.9)+math.Log(0.2)+2*math.Log(0.6)+4*math.Log(0.9))/8; !near(got, want) {
		t.Errorf("log loss %v, want %v", got, want)
	}
	// A third of the toxic weight at precision 1, the rest at 3 of 4.
	if got := eval.AveragePrecision(rows); !near(got, 1.0/3+2.0/3*3/4) {
		t.Errorf("average precision %v", got)
	}
	d := eval.Decide(rows, 0.7)
	if d != (eval.Decisions{Found: 1.0 / 8, FalseAlarms: 1.0 / 8, Missed: 2.0 / 8, Passed: 4.0 / 8}) || !near(d.Accuracy(), 5.0/8) || !near(d.F1(), 2.0/5) {
		t.Errorf("%+v", d)
	}
	tied := []eval.Scored{{P: 0.5, Toxic: true, Weight: 1}, {P: 0.5, Weight: 1}}
	if got := eval.AveragePrecision(tied); !near(got, 0.5) {
		t.Errorf("average precision of a constant %v, want the share of toxic texts", got)
	}
}

// A calibrated predictor has the ECE of a perfect one, an overconfident one has
// more.
func TestECE(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	right, sure := make([]eval.Scored, 5000), make([]eval.Scored, 5000)
	for i := range right {
		p := rng.Float64()
		right[i] = eval.Scored{P: p, Toxic: rng.Float64() < p, Weight: 1}
		sure[i] = right[i]
		sure[i].P = p * p / (p*p + (1-p)*(1-p))
	}
	perfect, deviation := eval.PerfectECE(right, rng)
	if over := eval.ECE(right) - perfect; math.Abs(over) > 3*deviation || perfect < 0.01 {
		t.Errorf("a calibrated predictor is %v over a perfect one's %v ± %v", over, perfect, deviation)
	}
	if got := eval.ECE(sure); got < 0.08 {
		t.Errorf("an overconfident predictor: %v", got)
	}
}
