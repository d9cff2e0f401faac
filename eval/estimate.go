package eval

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a confidence interval of 95 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Estimate is a measured value. Interval is nil if the data do not allow one: too few
// units, or resamples that all have the same value.
type Estimate struct {
	Value    float64   `json:"value"`
	Interval *Interval `json:"interval,omitempty"`
}

// Known returns the estimate, or nil if it has no value.
func (e Estimate) Known() *Estimate {
	if math.IsNaN(e.Value) {
		return nil
	}
	return &e
}

const (
	// resamples is the number of resamples of a bootstrap. Efron and Tibshirani, An
	// Introduction to the Bootstrap (1993), section 14.3, ask for 1,000 or more.
	resamples = 2000
	// undefined is the largest share of resamples without a value.
	undefined = 0.05
)

// Bootstrap returns a statistic of n units with its interval by the bias-corrected and
// accelerated bootstrap (Efron, Better Bootstrap Confidence Intervals, 1987). The
// acceleration is that of a jackknife over at most 200 groups of units.
//
// statistic gets the numbers, 0 to n-1, of units, some of them repeatedly. It returns NaN
// for units that have no value. A statistic of pairs is a statistic of
// units, too: the same numbers select both sides. The units must be independent of
// each other: of several generations for one prompt, the unit is the prompt. The same
// seed gives the same interval.
func Bootstrap(n int, seed uint64, statistic func(units []int) float64) Estimate {
	return Bootstraps(n, seed, func(units []int) []float64 { return []float64{statistic(units)} })[0]
}

// Bootstraps is [Bootstrap] of several statistics of the same units, for those that are
// computed faster together. statistics returns one value for each, always as many; the
// slice is not kept. Each estimate is as Bootstrap returns it for its statistic alone.
func Bootstraps(n int, seed uint64, statistics func(units []int) []float64) []Estimate {
	var all []Estimate
	for _, value := range statistics(numbers(n)) {
		all = append(all, Estimate{Value: value})
	}
	if n < 2 {
		return all
	}
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // resamples that can be repeated
	draws := make([][]float64, len(all))  // of each statistic, those with a value
	drawn := make([]int, n)
	for range resamples {
		for i := range drawn {
			drawn[i] = rng.IntN(n)
		}
		for s, v := range statistics(drawn) {
			if !math.IsNaN(v) {
				draws[s] = append(draws[s], v)
			}
		}
	}
	accelerations := jackknife(n, len(all), statistics)
	for s := range all {
		all[s].Interval = interval(all[s].Value, draws[s], accelerations[s])
	}
	return all
}

// interval returns the interval of a value by its resamples and its acceleration a, or nil
// if there is none.
func interval(value float64, draws []float64, a float64) *Interval {
	if math.IsNaN(value) || float64(len(draws)) < (1-undefined)*resamples {
		return nil
	}
	slices.Sort(draws)
	if draws[0] == draws[len(draws)-1] {
		return nil
	}
	below := 0.0
	for _, v := range draws {
		switch {
		case v < value:
			below++
		case v == value:
			below += 0.5 // a statistic with few values, such as a share
		}
	}
	// Resamples that are all on one side have a finite bias.
	share := min(max(below, 0.5), float64(len(draws))-0.5) / float64(len(draws))
	normal := distuv.UnitNormal
	bias := normal.Quantile(share)
	at := func(p float64) float64 {
		z := bias + normal.Quantile(p)
		return quantile(draws, normal.CDF(bias+z/(1-a*z)))
	}
	return &Interval{at(0.025), at(0.975)}
}

// MostLeftOut is the largest number of groups of units that [LeaveOut] leaves out in turn, so
// that it costs no more than a tenth of the resamples of a bootstrap.
const MostLeftOut = 200

// LeaveOut yields the numbers of n units without those of one group, for each group in turn:
// a jackknife.
func LeaveOut(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		parts := min(n, MostLeftOut)
		for part := range parts {
			// Every 200th unit of many, so that rows that are sorted give groups that are alike.
			rest := make([]int, 0, n)
			for i := range n {
				if i%parts != part {
					rest = append(rest, i)
				}
			}
			if !yield(rest) {
				return
			}
		}
	}
}

// jackknife returns the acceleration of each of count statistics of n units.
func jackknife(n, count int, statistics func([]int) []float64) []float64 {
	values := make([][]float64, count)
	for rest := range LeaveOut(n) {
		for s, v := range statistics(rest) {
			values[s] = append(values[s], v)
		}
	}
	all := make([]float64, count)
	for s := range all {
		all[s] = acceleration(values[s])
	}
	return all
}

// acceleration is the skewness of jackknife values, equation 14.15 of Efron and
// Tibshirani. It is 0 if the statistic has no value without one of the groups.
func acceleration(values []float64) float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	squares, cubes := 0.0, 0.0
	for _, v := range values {
		d := mean - v
		squares += d * d
		cubes += d * d * d
	}
	a := cubes / (6 * math.Pow(squares, 1.5))
	if math.IsNaN(a) || math.IsInf(a, 0) {
		return 0
	}
	return a
}

// Percentiles returns the interval that holds the middle 95 % of draws, in any order. It
// returns nil if there are none.
func Percentiles(draws []float64) *Interval {
	if len(draws) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(draws))
	return &Interval{quantile(sorted, 0.025), quantile(sorted, 0.975)}
}

// quantile returns the value at a share p in 0..1 of sorted values, interpolated linearly
// between neighbours: type 7 of Hyndman and Fan (1996).
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

// Share returns the share k/n with the exact interval of Clopper and Pearson (1934).
// There is no interval if n is 0; the value is NaN then.
func Share(k, n int) Estimate {
	e := Estimate{Value: float64(k) / float64(n)}
	if n == 0 {
		return e
	}
	e.Interval = &Interval{Low: 0, High: 1}
	if k > 0 {
		e.Interval.Low = distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(0.025)
	}
	if k < n {
		e.Interval.High = distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(0.975)
	}
	return e
}
