// Package eval measures scores against labels:
//
//	mean := eval.Bootstrap(len(scores), 1, func(texts []int) float64 { return meanOf(scores, texts) })
//	fmt.Println(mean.Value, mean.Interval)
//
// Its folders measure one thing each: generation the texts of language models, migration
// scores against older ones, audit how much abuse there is, and fairness how texts about
// different people are scored. They give their results to report, which shows them.
package eval

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a text with its score and label.
type Scored struct {
	P      float64 // probability in 0..1 of being toxic
	Toxic  bool    // the label
	Weight float64 // over 0
}

// Shared returns the rows of a text that a share of people in 0..1 calls toxic: a
// toxic row with this share of the weight, and a clean row with the rest.
func Shared(p, share, weight float64) []Scored {
	var rows []Scored
	for _, r := range []Scored{{p, true, weight * share}, {p, false, weight - weight*share}} {
		if r.Weight > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// least keeps probabilities off 0 and 1 in a log loss.
const least = 1e-6

// LogLoss is the weighted mean of −ln of the probability of the true label, in
// nats.
func LogLoss(rows []Scored) float64 {
	sum, weights := 0.0, 0.0
	for _, r := range rows {
		p := min(max(r.P, least), 1-least)
		if !r.Toxic {
			p = 1 - p
		}
		sum -= r.Weight * math.Log(p)
		weights += r.Weight
	}
	return sum / weights
}

// bins is the number of bins of equal weight for the calibration error.
const bins = 15

// Bin is one point of a reliability diagram.
type Bin struct {
	Mean     float64 // probability
	Observed float64 // share of toxic texts
	Weight   float64
}

// Reliability divides rows into up to 15 bins of equal weight, by rising
// probability.
func Reliability(rows []Scored) []Bin {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b Scored) int { return cmp.Compare(a.P, b.P) })
	total := 0.0
	for _, r := range sorted {
		total += r.Weight
	}
	var all []Bin
	var bin Bin
	before := 0.0
	for i, r := range sorted {
		bin.Weight += r.Weight
		bin.Mean += r.Weight * r.P
		if r.Toxic {
			bin.Observed += r.Weight
		}
		if before+bin.Weight >= total*float64(len(all)+1)/bins || i == len(sorted)-1 {
			before += bin.Weight
			bin.Mean /= bin.Weight
			bin.Observed /= bin.Weight
			all = append(all, bin)
			bin = Bin{}
		}
	}
	return all
}

// ECE is the expected calibration error: the weighted mean distance of the bins
// of [Reliability] from the diagonal.
func ECE(rows []Scored) float64 {
	sum, weights := 0.0, 0.0
	for _, bin := range Reliability(rows) {
		sum += bin.Weight * math.Abs(bin.Mean-bin.Observed)
		weights += bin.Weight
	}
	return sum / weights
}

// Thresholds returns 1/n, 2/n … (n-1)/n and some others, rising and each once.
func Thresholds(n int, others ...float64) []float64 {
	all := slices.Clone(others)
	for i := 1; i < n; i++ {
		all = append(all, float64(i)/float64(n))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// HistogramBins is the number of bins of [Histogram].
const HistogramBins = 20

// Histogram returns the shares of values in bins of 0..1, nil without values.
func Histogram(values []float64) []float64 {
	if len(values) == 0 {
		return nil
	}
	shares := make([]float64, HistogramBins)
	for _, v := range values {
		shares[min(max(int(v*HistogramBins), 0), HistogramBins-1)] += 1 / float64(len(values))
	}
	return shares
}
