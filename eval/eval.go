// Package eval measures scores against labels:
//
//	rows := []eval.Scored{{P: 0.9, Toxic: true, Weight: 1}, {P: 0.2, Toxic: false, Weight: 1}}
//	loss, f1 := eval.LogLoss(rows), eval.Decide(rows, 0.5).F1()
//
// [Simulate] measures a rule and a fusion with simulated judges. This package fits
// nothing: the caller does.
package eval

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
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

// PerfectECE returns the mean and the standard deviation of the ECE of a perfectly
// calibrated predictor, with the same probabilities and weights. The mean is not 0,
// since labels are random.
func PerfectECE(rows []Scored, rng *rand.Rand) (mean, deviation float64) {
	all := make([]float64, 50)
	drawn := slices.Clone(rows)
	for i := range all {
		for j := range drawn {
			drawn[j].Toxic = rng.Float64() < drawn[j].P
		}
		all[i] = ECE(drawn)
	}
	return stat.MeanStdDev(all, nil)
}

// AveragePrecision is the area under the precision-recall curve, in steps. Rows
// with the same probability are one step.
func AveragePrecision(rows []Scored) float64 {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b Scored) int { return cmp.Compare(b.P, a.P) })
	all := 0.0
	for _, r := range sorted {
		if r.Toxic {
			all += r.Weight
		}
	}
	area, found, taken := 0.0, 0.0, 0.0
	for i := 0; i < len(sorted); {
		step := 0.0
		p := sorted[i].P
		for ; i < len(sorted) && sorted[i].P == p; i++ {
			taken += sorted[i].Weight
			if sorted[i].Toxic {
				step += sorted[i].Weight
			}
		}
		found += step
		area += step / all * found / taken
	}
	return area
}

// Decisions are the weighted shares of the outcomes of texts at a threshold.
type Decisions struct {
	Found, Missed, FalseAlarms, Passed float64 // they sum to 1
}

// Decide flags the rows at or over a threshold.
func Decide(rows []Scored, threshold float64) Decisions {
	var d Decisions
	weights := 0.0
	for _, r := range rows {
		weights += r.Weight
		switch flagged := r.P >= threshold; {
		case flagged && r.Toxic:
			d.Found += r.Weight
		case flagged:
			d.FalseAlarms += r.Weight
		case r.Toxic:
			d.Missed += r.Weight
		default:
			d.Passed += r.Weight
		}
	}
	d.Found /= weights
	d.Missed /= weights
	d.FalseAlarms /= weights
	d.Passed /= weights
	return d
}

// Accuracy is the share of correct decisions.
func (d Decisions) Accuracy() float64 { return d.Found + d.Passed }

// F1 is the harmonic mean of precision and recall.
func (d Decisions) F1() float64 {
	return 2 * d.Found / (2*d.Found + d.Missed + d.FalseAlarms)
}
