package eval_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
)

// texts draws rows of a calibrated classifier: its log-odds are normal in both
// classes of texts, its AUC is 0.98, and a tenth of the texts is toxic.
func texts(seed uint64, n int) []toxscreen.Labelled {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([]toxscreen.Labelled, n)
	for i := range rows {
		const apart = 3.0 // deviations between the means
		y, x := 0.0, -apart*apart/2
		if rng.Float64() < 0.1 {
			y, x = 1, apart*apart/2
		}
		x += apart*rng.NormFloat64() + math.Log(1.0/9)
		p := 1 / (1 + math.Exp(-x))
		var found, label toxscreen.Scores
		found.Set(toxscreen.Toxicity, p)
		label.Set(toxscreen.Toxicity, y)
		rows[i] = toxscreen.Labelled{
			Name:  fmt.Sprint(seed, "/", i),
			Found: toxscreen.Classification{Scores: found, Spans: []toxscreen.Span{{End: 1}}}, Labels: label, Weight: 1,
		}
	}
	return rows
}

// simulation returns a simulation with the fit of package fusion and a budget of 15
// % of texts.
func simulation(dev, test []toxscreen.Labelled) eval.Simulation {
	var thresholds toxscreen.Scores
	thresholds.Set(toxscreen.Toxicity, 0.5)
	return eval.Simulation{
		Dev: dev, Test: test, Model: "tiny@1", Thresholds: thresholds, Judges: eval.SimulatedJudges,
		FalseAlarm: 1, Miss: 1, Call: 0.01, Budget: 0.15, Texts: 10_000, Fixed: toxscreen.Band{Low: 0.3, High: 0.7}, Seed: 1,
		Fit: func(rows []toxscreen.Labelled, price float64) (eval.Combined, error) {
			return fusion.Fitted(rows, fusion.Options{
				Model: "tiny@1", Thresholds: thresholds, Prices: fusion.Prices{Call: 0.01 + price}, Budget: fusion.Budget{Share: 0.15, Texts: 10_000},
			})
		},
	}
}

// The guarantees of docs/fusion.md hold on simulated texts.
func TestGuarantees(t *testing.T) {
	outcomes, err := eval.Simulate(t.Context(), simulation(texts(1, 5000), texts(2, 10000)))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]eval.Outcome{}
	for _, o := range outcomes {
		by[o.Judge+", "+o.System] = o
		t.Logf("%-12s %-17s cost %5.1f (%5.1f)  acc %.4f  F1 %.3f  AP %.3f  ECE %.4f  loss %.4f  judged %.3f | %.4f %.4f %.4f ece %+.4f",
			o.Judge, o.System, o.Cost, o.CostWithCalls, o.Accuracy, o.F1, o.AP, o.ECE, o.LogLoss, o.Judged, o.JudgedClassifier, o.JudgedJudge, o.JudgedFused, o.JudgedECE)
	}
	for _, judge := range eval.SimulatedJudges {
		alone, ours := by[judge.Name+", "+eval.Alone], by[judge.Name+", "+eval.Ours]
		if ours.Judged > 0 && ours.JudgedFused > min(ours.JudgedClassifier, ours.JudgedJudge)+0.002 {
			t.Errorf("%s: log loss on judged texts %.4f, of the classifier %.4f, of the judge %.4f", judge.Name, ours.JudgedFused, ours.JudgedClassifier, ours.JudgedJudge)
		}
		if ours.LogLoss > alone.LogLoss+0.002 {
			t.Errorf("%s: log loss %.4f, of the classifier alone %.4f", judge.Name, ours.LogLoss, alone.LogLoss)
		}
		if ours.JudgedECE > 0.01+2*ours.JudgedECENoise {
			t.Errorf("%s: the ECE on judged texts is %.4f over a perfect predictor's, which varies by %.4f", judge.Name, ours.JudgedECE, ours.JudgedECENoise)
		}
		if *ours.Held < 99 {
			t.Errorf("%s: the budget held in %d of 100 resamplings", judge.Name, *ours.Held)
		}
	}
	// A good judge can also change decisions far from the threshold, so a budget of
	// 15 % does not save all costs.
	alone, everything, ours := by["good, "+eval.Alone], by["good, "+eval.Everything], by["good, "+eval.Ours]
	if saved, all := alone.Cost-ours.Cost, alone.Cost-everything.Cost; saved < 0.85*all || ours.Judged > 0.15 {
		t.Errorf("the good judge saves %.1f of %.1f errors with %.3f of the calls", saved, all, ours.Judged)
	}
	if useless := by["useless, "+eval.Ours]; useless.Judged > 0 {
		t.Errorf("a useless judge is asked about %.3f of the texts", useless.Judged)
	}
}

func TestPlots(t *testing.T) {
	outcomes := []eval.Outcome{{Judge: "good", System: eval.Alone, Cost: 30}, {Judge: "good", System: eval.Ours, Judged: 0.1, Cost: 20}}
	rows := []eval.Scored{{P: 0.2, Weight: 1}, {P: 0.7, Toxic: true, Weight: 1}}
	for name, plot := range map[string]func(*bytes.Buffer) error{
		"good":       func(b *bytes.Buffer) error { return eval.PlotSimulation(b, outcomes) },
		"after, ECE": func(b *bytes.Buffer) error { return eval.PlotReliability(b, "toxicity", rows, rows) },
		"5 % are judged": func(b *bytes.Buffer) error {
			return eval.PlotEscalation(b, "toxicity", []eval.Saving{{Share: 0.01, Worth: 4}, {Share: 0.05, Worth: 9}, {Share: 0.5, Worth: 10}}, 0.05)
		},
	} {
		var b bytes.Buffer
		if err := plot(&b); err != nil || !strings.Contains(b.String(), "<svg") || !strings.Contains(b.String(), name) {
			t.Errorf("%s: %v, %d bytes", name, err, b.Len())
		}
	}
}
