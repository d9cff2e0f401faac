package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen"
)

// Combined is a rule and a fusion that know a judge.
type Combined interface {
	toxscreen.Rule
	toxscreen.Fusion
}

// Simulation says what to simulate: everything is real but the judge's answer
// and the classifier's, which is read from the rows.
type Simulation struct {
	// Dev are the rows that is fitted on, Test those that is measured on. Both
	// need a toxicity and a label of it; a text is toxic where half of the
	// people or more say so.
	Dev, Test  []toxscreen.Labelled
	Model      string // that scored the rows
	Thresholds toxscreen.Scores
	Judges     []SimulatedJudge
	// Fit returns what is fitted on rows that have verdicts of a judge; price is
	// that of a verdict beyond the one that holds for all.
	Fit func(rows []toxscreen.Labelled, price float64) (Combined, error)
	// FalseAlarm, Miss and Call are the prices that outcomes are counted in.
	FalseAlarm, Miss, Call float64
	// Budget is the share of Texts texts that may be judged, by what Fit returns.
	Budget float64
	Texts  int
	Fixed  toxscreen.Band // the fixed band to compare with
	Seed   uint64
}

// Outcome is what one system does with one judge, on the test rows.
type Outcome struct {
	Judge  string `json:"judge"`
	System string `json:"system"`
	// Cost is the expected price of the errors of 1,000 texts, CostWithCalls
	// that with the calls.
	Cost          float64 `json:"cost"`
	CostWithCalls float64 `json:"cost_with_calls"`
	Accuracy      float64 `json:"accuracy"`
	F1            float64 `json:"f1"`
	AP            float64 `json:"ap"`
	ECE           float64 `json:"ece"`
	LogLoss       float64 `json:"log_loss"`
	Judged        float64 `json:"judged"` // share of texts

	// On the judged texts: the log losses of the classifier, of the judge's own
	// P(yes) and of the fused score, and how far its ECE is over that of a
	// perfect predictor. 0 where none is judged.
	JudgedClassifier float64 `json:"judged_classifier,omitempty"`
	JudgedJudge      float64 `json:"judged_judge,omitempty"`
	JudgedFused      float64 `json:"judged_fused,omitempty"`
	JudgedECE        float64 `json:"judged_ece_over_perfect,omitempty"`
	// JudgedECENoise is the standard deviation of a perfect predictor's ECE there.
	JudgedECENoise float64 `json:"judged_ece_noise,omitempty"`
	// Held is in how many of 100 resamplings of the budget's number of texts no
	// more than its share were judged; nil where there is no budget to keep.
	Held *int `json:"held,omitempty"`

	asked []bool
}

// The systems, in the order of the table.
const (
	Alone      = "classifier alone"
	Everything = "judge everything"
	FixedBand  = "fixed band"
	Ours       = "toxscreen"
)

// Simulate runs every system with every judge.
func Simulate(ctx context.Context, s Simulation) ([]Outcome, error) {
	if len(s.Test) == 0 || len(s.Dev) == 0 {
		return nil, errors.New("failed to simulate: there must be rows to fit on and rows to measure on")
	}
	var all []Outcome
	for _, judge := range s.Judges {
		rng := s.random()
		dev, err := judge.judged(rng, s.Dev)
		if err != nil {
			return nil, fmt.Errorf("failed to simulate: dev: %w", err)
		}
		test, err := judge.judged(rng, s.Test)
		if err != nil {
			return nil, fmt.Errorf("failed to simulate: test: %w", err)
		}
		combined, err := s.Fit(dev, judge.Price)
		if err != nil {
			return nil, fmt.Errorf("failed to simulate judge %s: %w", judge.Name, err)
		}
		for _, system := range []struct {
			name string
			rule toxscreen.Rule
		}{{Alone, nil}, {Everything, toxscreen.Band{Low: 0, High: 1}}, {FixedBand, s.Fixed}, {Ours, combined}} {
			outcome, err := s.run(ctx, test, judge, system.rule, combined)
			if err != nil {
				return nil, fmt.Errorf("failed to simulate judge %s, %s: %w", judge.Name, system.name, err)
			}
			outcome.Judge, outcome.System = judge.Name, system.name
			if s.Budget > 0 && system.name == Ours {
				kept := held(test, outcome.asked, s.Texts, s.Budget, rng)
				outcome.Held = &kept
			}
			all = append(all, outcome)
		}
	}
	return all, nil
}

// random returns the source of all that is drawn, the same for every judge.
func (s Simulation) random() *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, 0)) //nolint:gosec // a simulation that can be repeated
}

// judged returns rows with a verdict drawn for each.
func (j SimulatedJudge) judged(rng *rand.Rand, rows []toxscreen.Labelled) ([]toxscreen.Labelled, error) {
	logOdds, weights := [2][]float64{}, [2][]float64{} // of clean and of toxic texts
	kind := make([]int, len(rows))
	x := make([]float64, len(rows))
	for i, row := range rows {
		p, scored := row.Found.Scores.Get(toxscreen.Toxicity)
		y, labelled := row.Labels.Get(toxscreen.Toxicity)
		if !scored || !labelled {
			return nil, fmt.Errorf("row %d has no toxicity or no label of it", i+1)
		}
		p = min(max(p, least), 1-least)
		x[i] = math.Log(p / (1 - p))
		if y >= 0.5 {
			kind[i] = 1
		}
		logOdds[kind[i]] = append(logOdds[kind[i]], x[i])
		weights[kind[i]] = append(weights[kind[i]], row.Weight)
	}
	var mean, deviation [2]float64
	for k := range mean {
		if len(logOdds[k]) < 2 {
			return nil, errors.New("there must be toxic and clean rows")
		}
		mean[k], deviation[k] = stat.PopMeanStdDev(logOdds[k], weights[k])
	}
	all := slices.Clone(rows)
	for i := range all {
		v := j.verdict(rng, kind[i] == 1, (x[i]-mean[kind[i]])/deviation[kind[i]])
		all[i].Verdict, all[i].Seconds = &v, j.Seconds
		all[i].Labels.Set(toxscreen.Toxicity, float64(kind[i]))
	}
	return all, nil
}

// replay is a classifier and a judge that say what rows say. A text is the
// number of its row.
type replay struct {
	rows       []toxscreen.Labelled
	model      string
	thresholds toxscreen.Scores
}

func (r replay) row(text string) toxscreen.Labelled {
	i, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // run makes the texts
	}
	return r.rows[i]
}

func (r replay) Classify(_ context.Context, text string) (toxscreen.Classification, error) {
	found := r.row(text).Found
	found.Model, found.Thresholds = r.model, r.thresholds
	return found, nil
}

func (r replay) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{Version: r.model, Parallel: 1}
}

func (r replay) Judge(_ context.Context, text string, _ []toxscreen.Span) (toxscreen.Verdict, error) {
	return *r.row(text).Verdict, nil
}

func (r replay) Parallel() int { return 1 }

// run scores all rows with a screener.
func (s Simulation) run(ctx context.Context, rows []toxscreen.Labelled, judge SimulatedJudge, rule toxscreen.Rule, f toxscreen.Fusion) (Outcome, error) {
	source := replay{rows, s.Model, s.Thresholds}
	options := []toxscreen.Option{toxscreen.WithFusion(f)}
	if rule != nil {
		options = append(options, toxscreen.WithJudge(source, rule))
	}
	screener := toxscreen.New(source, options...)
	var all, judged, byClassifier, byJudge []Scored
	o := Outcome{asked: make([]bool, len(rows))}
	weights, asked := 0.0, 0.0
	for i, row := range rows {
		result, err := screener.Score(ctx, strconv.Itoa(i))
		if err != nil {
			return o, err
		}
		y, _ := row.Labels.Get(toxscreen.Toxicity)
		one := Scored{P: float64(result.Score), Toxic: y == 1, Weight: row.Weight}
		all = append(all, one)
		weights += row.Weight
		if !result.Judge.Asked {
			continue
		}
		o.asked[i] = true
		asked += row.Weight
		judged = append(judged, one)
		one.P = float64(result.Attributes[toxscreen.Toxicity].Classifier)
		byClassifier = append(byClassifier, one)
		one.P = float64(*row.Verdict.Aspects[0].PYes)
		byJudge = append(byJudge, one)
	}
	threshold, _ := s.Thresholds.Get(toxscreen.Toxicity)
	decided := Decide(all, threshold)
	o.Cost = 1000 * (decided.FalseAlarms*s.FalseAlarm + decided.Missed*s.Miss)
	o.Judged = asked / weights
	o.CostWithCalls = o.Cost + 1000*o.Judged*(s.Call+judge.Price)
	o.Accuracy, o.F1, o.AP = decided.Accuracy(), decided.F1(), AveragePrecision(all)
	o.ECE, o.LogLoss = ECE(all), LogLoss(all)
	if len(judged) > 0 {
		o.JudgedClassifier, o.JudgedJudge, o.JudgedFused = LogLoss(byClassifier), LogLoss(byJudge), LogLoss(judged)
		var perfect float64
		perfect, o.JudgedECENoise = PerfectECE(judged, s.random())
		o.JudgedECE = ECE(judged) - perfect
	}
	return o, nil
}

// held counts in how many of 100 samples of so many rows, drawn by weight, no
// more than a share was asked for.
func held(rows []toxscreen.Labelled, asked []bool, texts int, share float64, rng *rand.Rand) int {
	upTo := make([]float64, len(rows))
	sum := 0.0
	for i, row := range rows {
		sum += row.Weight
		upTo[i] = sum
	}
	draw := func() int {
		at, low, high := rng.Float64()*sum, 0, len(rows)-1
		for low < high {
			if middle := (low + high) / 2; upTo[middle] > at {
				high = middle
			} else {
				low = middle + 1
			}
		}
		return low
	}
	kept := 0
	for range 100 {
		judged := 0
		for range texts {
			if asked[draw()] {
				judged++
			}
		}
		if float64(judged) <= share*float64(texts) {
			kept++
		}
	}
	return kept
}
