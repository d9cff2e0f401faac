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

// Combined is a rule and a fusion for one judge.
type Combined interface {
	Decide(found toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision
	Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error)
	Version() string
}

// rule is the part of an opinion that decides which texts are judged.
type rule = func(found toxscreen.Classification, thresholds toxscreen.Scores) toxscreen.Decision

// Simulation configures a simulation. Everything is real except the answers of the
// judge, which are random, and of the classifier, which are read from the rows.
type Simulation struct {
	// Dev are the rows to fit on, Test the rows to measure on. Both need a score
	// and a label for toxicity; a text is toxic if at least half of the people say
	// so.
	Dev, Test  []toxscreen.Labelled
	Model      string // the model that scored the rows
	Thresholds toxscreen.Scores
	Judges     []SimulatedJudge
	// Fit fits on rows that have verdicts of a judge. price is the price of a
	// verdict in addition to the common price of a call.
	Fit func(rows []toxscreen.Labelled, price float64) (Combined, error)
	// FalseAlarm, Miss and Call are the prices in the costs of outcomes.
	FalseAlarm, Miss, Call float64
	// Budget is the share of Texts texts that the outcome of Fit may have judged.
	Budget float64
	Texts  int
	Fixed  toxscreen.Band // the fixed band to compare with
	Seed   uint64
}

// Outcome is the result of one system with one judge on the test rows.
type Outcome struct {
	Judge  string `json:"judge"`
	System string `json:"system"`
	// Cost is the expected price of the errors in 1,000 texts, CostWithCalls
	// includes the calls.
	Cost          float64 `json:"cost"`
	CostWithCalls float64 `json:"cost_with_calls"`
	Accuracy      float64 `json:"accuracy"`
	F1            float64 `json:"f1"`
	AP            float64 `json:"ap"`
	ECE           float64 `json:"ece"`
	LogLoss       float64 `json:"log_loss"`
	Judged        float64 `json:"judged"` // share of texts

	// On the judged texts: the log losses of the classifier, of the judge's own
	// P(yes) and of the fused score, and how far the ECE of the fused score is over
	// the ECE of a perfect predictor. 0 if no text is judged.
	JudgedClassifier float64 `json:"judged_classifier,omitempty"`
	JudgedJudge      float64 `json:"judged_judge,omitempty"`
	JudgedFused      float64 `json:"judged_fused,omitempty"`
	JudgedECE        float64 `json:"judged_ece_over_perfect,omitempty"`
	// JudgedECENoise is the standard deviation of a perfect predictor's ECE there.
	JudgedECENoise float64 `json:"judged_ece_noise,omitempty"`
	// Held is the number of resamplings, of 100, in which the budget held; nil if
	// there is no budget.
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
		return nil, errors.New("failed to simulate: it needs rows to fit on and rows to measure on")
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
			rule rule
		}{{Alone, nil}, {Everything, toxscreen.Band{Low: 0, High: 1}.Decide}, {FixedBand, s.Fixed.Decide}, {Ours, combined.Decide}} {
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

// random returns the source of random numbers, the same for every judge.
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
			return nil, fmt.Errorf("row %d has no score or no label for toxicity", i+1)
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

// replay is a classifier and a judge that return what the rows contain. A text is
// the number of its row.
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

func (r replay) Classify(_ context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	return r.row(text).Found, nil
}

func (r replay) Info() toxscreen.ModelInfo {
	return toxscreen.ModelInfo{Version: r.model, Thresholds: r.thresholds, Parallel: 1}
}

func (r replay) Judge(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	return *r.row(text).Verdict, nil
}

// run scores all rows with a screener.
func (s Simulation) run(ctx context.Context, rows []toxscreen.Labelled, judge SimulatedJudge, rule rule, f Combined) (Outcome, error) {
	source := replay{rows, s.Model, s.Thresholds}
	opinion := toxscreen.Opinion{Fuse: f.Fuse, Version: f.Version()}
	if rule != nil {
		opinion.Decide, opinion.Ask = rule, source.Judge
	}
	screener := toxscreen.New(source, toxscreen.WithOpinion(opinion))
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

// held returns the number of samples, of 100, in which at most a share of the rows
// was judged. A sample has as many rows as texts says, drawn by weight.
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
