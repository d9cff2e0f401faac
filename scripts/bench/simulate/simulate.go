package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
)

const (
	// At most the share budget of any budgetTexts texts may be judged: the goal in
	// docs/fusion.md.
	budget, budgetTexts = 0.15, 10_000
	seed                = 1
)

// simulation measures every system with every judge. Everything is real except the answers
// of the judge, which are random, and of the classifier, which are read from the rows.
type simulation struct {
	// dev are the rows to fit on, test the rows to measure on. Both need a score
	// and a label for toxicity; a text is toxic if at least half of the people say
	// so.
	dev, test  []toxscreen.Labelled
	model      string // the model that scored the rows
	thresholds toxscreen.Scores
	prices     fusion.Prices
}

// outcome is the result of one system with one judge on the test rows.
type outcome struct {
	judge, system string
	// cost is the expected price of the errors in 1,000 texts, costWithCalls
	// includes the calls.
	cost, costWithCalls            float64
	accuracy, f1, ap, ece, logLoss float64
	judged                         float64 // share of texts

	// On the judged texts: the log losses of the classifier, of the judge's own
	// P(yes) and of the fused score, and how far the ECE of the fused score is over
	// the ECE of a perfect predictor. 0 if no text is judged.
	judgedClassifier, judgedJudge, judgedFused, judgedECE float64
	// judgedECENoise is the standard deviation of a perfect predictor's ECE there.
	judgedECENoise float64
	// held is the number of resamplings, of 100, in which the budget held; of ours only.
	held int

	asked []bool
}

// The systems, in the order of the table.
const (
	alone      = "classifier alone"
	everything = "judge everything"
	fixedBand  = "fixed band"
	ours       = "toxscreen"
)

// outcomes runs every system with every judge.
func (s simulation) outcomes(ctx context.Context) ([]outcome, error) {
	var all []outcome
	for _, judge := range judges {
		rng := random()
		dev, err := judge.judged(rng, s.dev)
		if err != nil {
			return nil, fmt.Errorf("failed to simulate: dev: %w", err)
		}
		test, err := judge.judged(rng, s.test)
		if err != nil {
			return nil, fmt.Errorf("failed to simulate: test: %w", err)
		}
		// Prices of errors follow from the threshold.
		fitted, err := fit.Fusion(dev, fit.Options{
			Model: s.model, Thresholds: s.thresholds, Prices: fusion.Prices{Call: s.prices.Call + judge.price},
			Budget: fusion.Budget{Share: budget, Texts: budgetTexts},
		})
		if err != nil {
			return nil, fmt.Errorf("failed to simulate judge %s: %w", judge.name, err)
		}
		for _, system := range []struct {
			name string
			rule toxscreen.Rule
		}{{alone, nil}, {everything, toxscreen.Band{Low: 0, High: 1}}, {fixedBand, toxscreen.DefaultBand}, {ours, fitted}} {
			o, err := s.run(ctx, test, judge, system.rule, fitted)
			if err != nil {
				return nil, fmt.Errorf("failed to simulate judge %s, %s: %w", judge.name, system.name, err)
			}
			o.judge, o.system = judge.name, system.name
			if system.name == ours {
				o.held = held(test, o.asked, rng)
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// random returns the source of random numbers, the same for every judge.
func random() *rand.Rand {
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a simulation that can be repeated
}

// judged returns rows with a verdict drawn for each.
func (j judge) judged(rng *rand.Rand, rows []toxscreen.Labelled) ([]toxscreen.Labelled, error) {
	logOdds, weights := [2][]float64{}, [2][]float64{} // of clean and of toxic texts
	kind := make([]int, len(rows))
	x := make([]float64, len(rows))
	for i, row := range rows {
		p, scored := row.Found.Scores.Get(toxscreen.Toxicity)
		y, labelled := row.Labels.Get(toxscreen.Toxicity)
		if !scored || !labelled {
			return nil, fmt.Errorf("row %d has no score or no label for toxicity", i+1)
		}
		x[i] = fusion.LogOdds(p)
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
		all[i].Verdict = &v
		all[i].Labels.Set(toxscreen.Toxicity, float64(kind[i]))
	}
	return all, nil
}

// replay is a classifier and a judge that return what the rows contain. A text is
// the number of its row.
type replay struct {
	simulation

	rows []toxscreen.Labelled
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

func (r replay) Judge(_ context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	return *r.row(text).Verdict, nil
}

func (r replay) Parallel() int { return 1 }

// run scores all rows with a screener.
func (s simulation) run(ctx context.Context, rows []toxscreen.Labelled, judge judge, rule toxscreen.Rule, f toxscreen.Fusion) (outcome, error) {
	source := replay{s, rows}
	options := []toxscreen.Option{toxscreen.WithFusion(f)}
	if rule != nil {
		options = append(options, toxscreen.WithJudge(source, rule))
	}
	screener := toxscreen.New(source, options...)
	var all, judged, byClassifier, byJudge []eval.Scored
	o := outcome{asked: make([]bool, len(rows))}
	weights, asked := 0.0, 0.0
	for i, row := range rows {
		result, err := screener.Score(ctx, strconv.Itoa(i))
		if err != nil {
			return o, err
		}
		y, _ := row.Labels.Get(toxscreen.Toxicity)
		one := eval.Scored{P: float64(result.Score), Toxic: y == 1, Weight: row.Weight}
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
	threshold, _ := s.thresholds.Get(toxscreen.Toxicity)
	decided := decide(all, threshold)
	o.cost = 1000 * (decided.falseAlarms*s.prices.FalseAlarm + decided.missed*s.prices.Miss)
	o.judged = asked / weights
	o.costWithCalls = o.cost + 1000*o.judged*(s.prices.Call+judge.price)
	o.accuracy, o.f1, o.ap = decided.accuracy(), decided.f1(), averagePrecision(all)
	o.ece, o.logLoss = eval.ECE(all), eval.LogLoss(all)
	if len(judged) > 0 {
		o.judgedClassifier, o.judgedJudge, o.judgedFused = eval.LogLoss(byClassifier), eval.LogLoss(byJudge), eval.LogLoss(judged)
		var perfect float64
		perfect, o.judgedECENoise = perfectECE(judged, random())
		o.judgedECE = eval.ECE(judged) - perfect
	}
	return o, nil
}

// held returns the number of samples, of 100, in which the budget held. A sample has
// budgetTexts rows, drawn by weight.
func held(rows []toxscreen.Labelled, asked []bool, rng *rand.Rand) int {
	upTo := make([]float64, len(rows))
	sum := 0.0
	for i, row := range rows {
		sum += row.Weight
		upTo[i] = sum
	}
	draw := func() int {
		at := rng.Float64() * sum
		return sort.Search(len(rows)-1, func(i int) bool { return upTo[i] > at })
	}
	kept := 0
	for range 100 {
		judged := 0
		for range budgetTexts {
			if asked[draw()] {
				judged++
			}
		}
		if float64(judged) <= budget*budgetTexts {
			kept++
		}
	}
	return kept
}
