package eval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
)

func TestLogLossByHand(t *testing.T) {
	rows := []eval.Scored{
		{P: 0.9, Toxic: true, Weight: 1},
		{P: 0.8, Toxic: false, Weight: 1},
		{P: 0.6, Toxic: true, Weight: 2},
		{P: 0.1, Toxic: false, Weight: 4},
	}
	want := -(math.Log(0.9) + math.Log(0.2) + 2*math.Log(0.6) + 4*math.Log(0.9)) / 8
	if got := eval.LogLoss(rows); math.Abs(got-want) > 1e-9 {
		t.Errorf("log loss %v, want %v", got, want)
	}
}

// A calibrated predictor is off by what random labels cost in 15 bins of 5,000 texts,
// about 0.013, an overconfident one by more.
func TestECE(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	right, sure := make([]eval.Scored, 5000), make([]eval.Scored, 5000)
	for i := range right {
		p := rng.Float64()
		right[i] = eval.Scored{P: p, Toxic: rng.Float64() < p, Weight: 1}
		sure[i] = right[i]
		sure[i].P = p * p / (p*p + (1-p)*(1-p))
	}
	if got := eval.ECE(right); got < 0.005 || got > 0.025 {
		t.Errorf("a calibrated predictor is off by %v, want about 0.013", got)
	}
	if got := eval.ECE(sure); got < 0.08 {
		t.Errorf("an overconfident predictor is off by only %v", got)
	}
}

// A row that a share of people calls toxic counts with this share as toxic, and with the
// rest as clean. Rows with no weight are left out.
func TestShared(t *testing.T) {
	if got, want := eval.LogLoss(eval.Shared(0.8, 0.25, 2)), -0.25*math.Log(0.8)-0.75*math.Log(0.2); math.Abs(got-want) > 1e-9 {
		t.Errorf("log loss %v, want %v", got, want)
	}
	if got := eval.Shared(0.8, 1, 2); len(got) != 1 {
		t.Errorf("a text that all call toxic has the rows %v, want one", got)
	}
}
