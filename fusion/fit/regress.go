package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/toxscreen/toxscreen/internal/logodds"
)

// gaussian is the normal prior of a coefficient.
type gaussian struct{ mean, deviation float64 }

// regress returns the coefficients of a logistic regression with the highest posterior
// density. The problem is convex, and proper priors give it a solution for every set of
// rows, even if the classes are separable.
func regress(all []sample, features func(sample) []float64, prior []gaussian) []float64 {
	return regressFixed(all, features, prior, nil)
}

// regressFixed is regress with some coefficients, by their index, held at a value.
func regressFixed(all []sample, features func(sample) []float64, prior []gaussian, fixed map[int]float64) []float64 {
	open := []int{}
	theta := make([]float64, len(prior))
	for j, g := range prior {
		theta[j] = g.mean
		if value, ok := fixed[j]; ok {
			theta[j] = value
		} else {
			open = append(open, j)
		}
	}
	rows := make([][]float64, len(all))
	for i, one := range all {
		rows[i] = features(one)
	}
	at := func(x []float64) []float64 {
		full := slices.Clone(theta)
		for k, j := range open {
			full[j] = x[k]
		}
		return full
	}
	dot := func(row, theta []float64) float64 {
		z := 0.0
		for j, value := range row {
			z += value * theta[j]
		}
		return z
	}
	start := make([]float64, len(open))
	for k, j := range open {
		start[k] = theta[j]
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			full, sum := at(x), 0.0
			for i, one := range all {
				sum += one.w * lossOf(dot(rows[i], full), one.y)
			}
			for _, j := range open {
				d := (full[j] - prior[j].mean) / prior[j].deviation
				sum += d * d / 2
			}
			return sum
		},
		Grad: func(grad, x []float64) {
			full := at(x)
			for k, j := range open {
				grad[k] = (full[j] - prior[j].mean) / (prior[j].deviation * prior[j].deviation)
			}
			for i, one := range all {
				d := one.w * (logodds.Probability(dot(rows[i], full)) - one.y)
				for k, j := range open {
					grad[k] += d * rows[i][j]
				}
			}
		},
		Hess: func(hess *mat.SymDense, x []float64) {
			full := at(x)
			hess.Zero()
			for k, j := range open {
				hess.SetSym(k, k, 1/(prior[j].deviation*prior[j].deviation))
			}
			for i, one := range all {
				p := logodds.Probability(dot(rows[i], full))
				d := one.w * p * (1 - p)
				for k, j := range open {
					for l := k; l < len(open); l++ {
						hess.SetSym(k, l, hess.At(k, l)+d*rows[i][j]*rows[i][open[l]])
					}
				}
			}
		},
	}
	// If the last step is too small to measure, the method reports a failure
	// although it is at the optimum.
	result, err := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 100, GradientThreshold: 1e-8}, &optimize.Newton{})
	if result == nil {
		panic(err) // an invalid problem: a bug here
	}
	return at(result.X)
}

// bound is the range of a coefficient.
type bound struct{ low, high float64 }

var (
	free     = bound{math.Inf(-1), math.Inf(1)}
	rising   = bound{0, math.Inf(1)}
	fraction = bound{0, 1}
)

// regressBounded is regress with bounds. It holds a coefficient outside its bounds at the
// bound, and fits the others again.
func regressBounded(all []sample, features func(sample) []float64, prior []gaussian, bounds []bound) []float64 {
	fixed := map[int]float64{}
	for {
		theta := regressFixed(all, features, prior, fixed)
		before := len(fixed)
		for j, b := range bounds {
			if held := min(max(theta[j], b.low), b.high); held != theta[j] {
				fixed[j] = held
			}
		}
		if len(fixed) == before {
			return theta
		}
	}
}

// outside returns the rows of all other folds.
func outside(all []sample, fold int) []sample {
	return slices.DeleteFunc(slices.Clone(all), func(one sample) bool { return one.fold == fold })
}

// crossValidated returns the log-odds of each row by a regression on the other folds.
func crossValidated(all []sample, features func(sample) []float64, prior []gaussian) []float64 {
	held := make([]float64, len(all))
	for fold := range folds {
		theta := regress(outside(all, fold), features, prior)
		for i, one := range all {
			if one.fold != fold {
				continue
			}
			for j, value := range features(one) {
				held[i] += theta[j] * value
			}
		}
	}
	return held
}

// mostOver returns the largest number k of n texts that may lie over some value, or -1 if
// even 0 is too many. For each k up to it the following holds with 99 % confidence: if k of
// n texts lie over a value, then at most 1 in 100 batches of future texts from the same
// distribution has more than the given share over the value.
//
// For every distribution, the probability that a text lies over the (k+1)th largest of n
// values follows Beta(k+1, n−k). The computation takes the 99 % quantile of this as the
// probability, and a binomial number of texts in a batch.
func mostOver(n, texts int, share float64) int {
	allowed := math.Floor(share * float64(texts))
	low, high := -1, n-1 // the property holds for low, not for high+1
	for low < high {
		k := (low + high + 1) / 2
		chance := distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.99)
		if 1-(distuv.Binomial{N: float64(texts), P: chance}).CDF(allowed) <= 0.01 {
			low = k
		} else {
			high = k - 1
		}
	}
	return low
}
