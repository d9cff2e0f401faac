package fit

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/toxscreen/toxscreen/fusion"
)

// ShareOf returns the share of count among of independent cases, with its interval of 95 %.
func ShareOf(count, of int) fusion.Share {
	t := tally{}
	for i := range of {
		t.add(strconv.Itoa(i), i < count)
	}
	return t.share(z95)
}

// tally counts the outcomes of each kind.
type tally map[string][2]int // of each kind: outcomes that hold, all

func (t tally) add(kind string, holds bool) {
	n := t[kind]
	n[1]++
	if holds {
		n[0]++
	}
	t[kind] = n
}

// Quantiles of the normal distribution for intervals of 95 % and of 99 %.
const (
	z95 = 1.959964
	z99 = 2.575829
)

// share returns the share with its Wilson interval, whose ends are z standard errors away.
// The design effect is Kish's: the variance between kinds divided by the variance of
// independent cases, at least 1.
func (t tally) share(z float64) fusion.Share {
	s := fusion.Share{Low: 0, High: 1}
	for _, n := range t {
		s.Count += n[0]
		s.Of += n[1]
	}
	if s.Of == 0 {
		return s
	}
	n, p := float64(s.Of), s.Estimate()
	effect := 1.0
	if spread := p * (1 - p) / n; spread > 0 && len(t) > 1 {
		between := 0.0
		for _, kind := range slices.Sorted(maps.Keys(t)) { // the same sum each time, to the last digit
			off := float64(t[kind][0]) - p*float64(t[kind][1])
			between += off * off
		}
		k := float64(len(t))
		effect = max(k/(k-1)*between/(n*n)/spread, 1)
	}
	n /= effect
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	// At 0 and 1, rounding must not exclude the estimate.
	s.Low, s.High = min(p, max(centre-half, 0)), max(p, min(centre+half, 1))
	return s
}

// advantage returns the interval of a difference: how much more often toxic texts are found
// toxic than clean ones, by Newcombe's method (Statistics in Medicine 17, 1998, method 10).
// found has the findings in clean and in toxic texts, in this order.
func advantage(found [2]tally, z float64) (low, high float64) {
	truly, falsely := found[1].share(z), found[0].share(z)
	if truly.Of == 0 || falsely.Of == 0 {
		return -1, 1
	}
	p, q := truly.Estimate(), falsely.Estimate()
	return p - q - math.Hypot(p-truly.Low, falsely.High-q), p - q + math.Hypot(truly.High-p, q-falsely.Low)
}

// better reports whether the judge certainly finds toxic texts toxic more often than clean
// ones.
func better(found [2]tally) bool {
	low, _ := advantage(found, z95)
	return low > 0
}
