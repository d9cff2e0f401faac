package main

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen/eval"
)

// perfectECE returns the mean and the standard deviation of the ECE of a perfectly
// calibrated predictor, with the same probabilities and weights. The mean is not 0,
// since labels are random.
func perfectECE(rows []eval.Scored, rng *rand.Rand) (mean, deviation float64) {
	all := make([]float64, 50)
	drawn := slices.Clone(rows)
	for i := range all {
		for j := range drawn {
			drawn[j].Toxic = rng.Float64() < drawn[j].P
		}
		all[i] = eval.ECE(drawn)
	}
	return stat.MeanStdDev(all, nil)
}

// averagePrecision is the area under the precision-recall curve, in steps. Rows
// with the same probability are one step.
func averagePrecision(rows []eval.Scored) float64 {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b eval.Scored) int { return cmp.Compare(b.P, a.P) })
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

// decisions are the weighted shares of the outcomes of texts at a threshold.
type decisions struct {
	found, missed, falseAlarms, passed float64 // they sum to 1
}

// decide flags the rows at or over a threshold.
func decide(rows []eval.Scored, threshold float64) decisions {
	var d decisions
	weights := 0.0
	for _, r := range rows {
		weights += r.Weight
		switch flagged := r.P >= threshold; {
		case flagged && r.Toxic:
			d.found += r.Weight
		case flagged:
			d.falseAlarms += r.Weight
		case r.Toxic:
			d.missed += r.Weight
		default:
			d.passed += r.Weight
		}
	}
	d.found /= weights
	d.missed /= weights
	d.falseAlarms /= weights
	d.passed /= weights
	return d
}

// accuracy is the share of correct decisions.
func (d decisions) accuracy() float64 { return d.found + d.passed }

// f1 is the harmonic mean of precision and recall.
func (d decisions) f1() float64 {
	return 2 * d.found / (2*d.found + d.missed + d.falseAlarms)
}
