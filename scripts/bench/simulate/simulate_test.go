package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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

// The guarantees of docs/fusion.md hold on simulated texts.
func TestGuarantees(t *testing.T) {
	s := simulation{dev: texts(1, 5000), test: texts(2, 10000), model: "tiny@1", prices: fusion.Prices{FalseAlarm: 1, Miss: 1, Call: 0.01}}
	s.thresholds.Set(toxscreen.Toxicity, 0.5)
	outcomes, err := s.outcomes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]outcome{}
	for _, o := range outcomes {
		by[o.judge+", "+o.system] = o
	}
	t.Log("\n" + s.tables(outcomes))
	for _, judge := range judges {
		alone, ours := by[judge.name+", "+alone], by[judge.name+", "+ours]
		if ours.judged > 0 && ours.judgedFused > min(ours.judgedClassifier, ours.judgedJudge)+0.002 {
			t.Errorf("%s: log loss on judged texts %.4f, of the classifier %.4f, of the judge %.4f", judge.name, ours.judgedFused, ours.judgedClassifier, ours.judgedJudge)
		}
		if ours.logLoss > alone.logLoss+0.002 {
			t.Errorf("%s: log loss %.4f, of the classifier alone %.4f", judge.name, ours.logLoss, alone.logLoss)
		}
		if ours.judgedECE > 0.01+2*ours.judgedECENoise {
			t.Errorf("%s: the ECE on judged texts is %.4f over a perfect predictor's, which varies by %.4f", judge.name, ours.judgedECE, ours.judgedECENoise)
		}
		if ours.held < 99 {
			t.Errorf("%s: the budget held in %d of 100 resamplings", judge.name, ours.held)
		}
	}
	// A good judge can also change decisions far from the threshold, so a budget of
	// 15 % does not save all costs.
	alone, everything, good := by["good, "+alone], by["good, "+everything], by["good, "+ours]
	if saved, all := alone.cost-good.cost, alone.cost-everything.cost; saved < 0.85*all {
		t.Errorf("the good judge saves %.1f of %.1f errors", saved, all)
	}
	if good.judged == 0 || good.judged > 0.15 {
		t.Errorf("the good judge is asked about %.3f of the texts", good.judged)
	}
	if useless := by["useless, "+ours]; useless.judged > 0 {
		t.Errorf("a useless judge is asked about %.3f of the texts", useless.judged)
	}
}

// The command reads results of batch, and writes the same tables each time, and a plot.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	dev, test, plot := filepath.Join(folder, "dev.jsonl"), filepath.Join(folder, "test.jsonl"), filepath.Join(folder, "plot.svg")
	write(t, dev, texts(1, 3000))
	write(t, test, texts(2, 600))
	var out, again bytes.Buffer
	if err := run(dev, test, plot, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`^Fitted on 3000 rows, measured on 600, scored by tiny@1\.\n`,
		`\n\| good \(TPR 0\.90, FPR 0\.10\) \| toxscreen \| \d+\.\d \| \d+\.\d \| 0\.\d{4} \|`,
		`\n\| useless \| – \| – \| – \| – \| – \| nothing is judged \|\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
	drawn, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(drawn, []byte("adversarial")) {
		t.Errorf("the plot does not name a judge:\n%s", drawn)
	}
	if err := run(dev, test, plot, &again); err != nil {
		t.Fatal(err)
	}
	if again.String() != out.String() {
		t.Error("the tables differ the second time")
	}
}

// write writes rows as batch does.
func write(t *testing.T, path string, all []toxscreen.Labelled) {
	t.Helper()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, row := range all {
		p, _ := row.Found.Scores.Get(toxscreen.Toxicity)
		y, _ := row.Labels.Get(toxscreen.Toxicity)
		err := lines.Encode(map[string]any{
			"id": row.Name, "score": p, "versions": map[string]any{"model": "tiny@1"},
			"spans":      []any{map[string]any{"start": 0, "end": 1, "attributes": map[string]any{}}},
			"attributes": map[string]any{"toxicity": map[string]any{"score": p, "classifier": p, "threshold": 0.5}},
			"input":      map[string]any{"labels": map[string]any{"toxicity": y}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMeasuresByHand(t *testing.T) {
	rows := []eval.Scored{
		{P: 0.9, Toxic: true, Weight: 1},
		{P: 0.8, Toxic: false, Weight: 1},
		{P: 0.6, Toxic: true, Weight: 2},
		{P: 0.1, Toxic: false, Weight: 4},
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	// A third of the toxic weight at precision 1, the rest at 3 of 4.
	near("average precision", averagePrecision(rows), 1.0/3+2.0/3*3/4)
	tied := []eval.Scored{{P: 0.5, Toxic: true, Weight: 1}, {P: 0.5, Weight: 1}}
	near("average precision of a constant", averagePrecision(tied), 0.5) // the share of toxic texts
	d := decide(rows, 0.7)
	if want := (decisions{found: 1.0 / 8, falseAlarms: 1.0 / 8, missed: 2.0 / 8, passed: 4.0 / 8}); d != want {
		t.Errorf("decisions %+v, want %+v", d, want)
	}
	near("accuracy", d.accuracy(), 5.0/8)
	near("F1", d.f1(), 2.0/5)
}

// A calibrated predictor has the ECE of a perfect one.
func TestPerfectECE(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	right := make([]eval.Scored, 5000)
	for i := range right {
		p := rng.Float64()
		right[i] = eval.Scored{P: p, Toxic: rng.Float64() < p, Weight: 1}
	}
	perfect, deviation := perfectECE(right, rng)
	if perfect < 0.01 {
		t.Errorf("a perfect predictor's ECE is %v, although labels are random", perfect)
	}
	if over := eval.ECE(right) - perfect; math.Abs(over) > 3*deviation {
		t.Errorf("a calibrated predictor is %v over a perfect one's %v ± %v", over, perfect, deviation)
	}
}
