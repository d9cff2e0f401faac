package audit

import (
	"math"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
)

const endless = 1_000_000_000 // texts, so that no correction for the size of the corpus shows

var (
	twoStrata = []cell{{0.75, 750, 50, 5}, {0.25, 250, 50, 40}}
	// The labels of the largest stratum have no positive one.
	threeStrata = []cell{{0.8, 8000, 60, 0}, {0.15, 1500, 40, 4}, {0.05, 500, 50, 35}}
)

// The values are by hand, and the intervals by scipy: the likeliest rates from
// optimize.minimize (SLSQP), the statistic from numpy.roots, the ends from optimize.brentq.
func TestProportion(t *testing.T) {
	for _, test := range []struct {
		name   string
		cells  []cell
		shares []float64
		want   eval.Estimate
	}{
		{"one stratum without a positive label", []cell{{1, endless, 20, 0}}, []float64{1}, eval.Estimate{Value: 0, Interval: &eval.Interval{Low: 0, High: 0.129716}}},
		{"one stratum", []cell{{1, endless, 20, 3}}, []float64{1}, eval.Estimate{Value: 0.15, Interval: &eval.Interval{Low: 0.041183, High: 0.352370}}},
		{"half of a corpus", []cell{{1, 40, 20, 3}}, []float64{1}, eval.Estimate{Value: 0.15, Interval: &eval.Interval{Low: 0.063087, High: 0.286757}}},
		{"two strata", twoStrata, []float64{0.75, 0.25}, eval.Estimate{Value: 0.275, Interval: &eval.Interval{Low: 0.220086, High: 0.354896}}},
		{"three strata", threeStrata, []float64{0.8, 0.15, 0.05}, eval.Estimate{Value: 0.05, Interval: &eval.Interval{Low: 0.037617, High: 0.087997}}},
	} {
		t.Run(test.name, func(t *testing.T) { near(t, proportion(test.cells, test.shares), test.want) })
	}
}

// The ends are by scipy, as in [TestProportion].
func TestWithin(t *testing.T) {
	over := []float64{0, 0, 0.05} // the last stratum is flagged
	near(t, within(threeStrata, over, false), eval.Estimate{Value: 0.7, Interval: &eval.Interval{Low: 0.396170, High: 0.874453}})
	near(t, within(threeStrata, over, true), eval.Estimate{Value: 0.015 / 0.95, Interval: &eval.Interval{Low: 0.010120, High: 0.022438}})
	if none := within([]cell{{1, 100, 10, 0}}, []float64{0.5}, false); !math.IsNaN(none.Value) || none.Interval != nil {
		t.Errorf("%+v, want none: no label is positive", none)
	}
}

func near(t *testing.T, got, want eval.Estimate) {
	t.Helper()
	if math.Abs(got.Value-want.Value) > 1e-9 || math.Abs(got.Interval.Low-want.Interval.Low) > 1e-5 || math.Abs(got.Interval.High-want.Interval.High) > 1e-5 {
		t.Errorf("%v with %v, want %v with %v", got.Value, *got.Interval, want.Value, *want.Interval)
	}
}

// A census leaves no doubt, in one stratum or in all.
func TestCensus(t *testing.T) {
	all := proportion([]cell{{0.5, 10, 10, 3}, {0.5, 10, 10, 0}}, []float64{0.5, 0.5})
	if all.Value != 0.15 || math.Abs(all.Interval.Low-0.15) > 1e-6 || math.Abs(all.Interval.High-0.15) > 1e-6 {
		t.Errorf("%v with %v, want exactly 0.15", all.Value, *all.Interval)
	}
	one := proportion([]cell{{0.5, 10, 10, 3}, {0.5, 10, 5, 0}}, []float64{0.5, 0.5})
	if one.Interval.Low < 0.15-1e-6 || one.Interval.High > 0.4 {
		t.Errorf("%v, want at least the 0.15 that are known", *one.Interval)
	}
}

// By hand: the variance is 0.75²·0.1·0.9/53.5 + 0.25²·0.8·0.2/62.25 = 0.0011069, and that of
// n labels of a random sample 0.275·0.725/n.
func TestWorth(t *testing.T) {
	if got := worth(0.275, twoStrata); got == nil || math.Abs(*got-180.12) > 0.01 {
		t.Errorf("%v, want 180.12", got)
	}
	if got := worth(0, []cell{{1, 100, 10, 0}}); got != nil {
		t.Errorf("%v, want none: the labels show no variance", *got)
	}
}

// By hand: the errors of the first stratum are -0.1 and 0.7, of the second, all of whose texts
// are labelled, 0.2 and -0.6; 0.4 + 0.3·4/6 - 0.2·2/6 = 0.5333. The variance is
// (4/6)²·(1-2/4)·0.32/2.
func TestDifference(t *testing.T) {
	strata := []stratum{
		{size: 4, labels: []label{{0.1, false}, {0.3, true}}},
		{size: 2, labels: []label{{0.8, true}, {0.6, false}}},
	}
	cells, _ := whole(strata, 6)
	wide := critical * math.Sqrt(4./9*0.5*0.32/2)
	near(t, difference(0.4, strata, cells), eval.Estimate{Value: 8. / 15, Interval: &eval.Interval{Low: 8./15 - wide, High: 8./15 + wide}})
	strata[0].labels = strata[0].labels[:1]
	if got := difference(0.4, strata, cells); got.Interval != nil {
		t.Errorf("%v, want no interval: one label has no variance", *got.Interval)
	}
}

// A threshold cuts the stratum that it goes through, and only that. A side without a
// label is taken to be like the other.
func TestPieces(t *testing.T) {
	strata := []stratum{
		{size: 4, scores: []float64{0, 0, 0.1, 0.2}, labels: []label{{0, false}}},
		{size: 4, scores: []float64{0.3, 0.4, 0.5, 0.6}, labels: []label{{0.3, false}, {0.5, true}, {0.6, true}}},
		{size: 2, scores: []float64{0.7, 0.9}, labels: []label{{0.7, true}}},
	}
	cells, shares := pieces(strata, 10, 0.5)
	if want := []cell{{0.4, 4, 1, 0}, {0.2, 2, 1, 0}, {0.2, 2, 2, 2}, {0.2, 2, 1, 1}}; !slices.Equal(cells, want) {
		t.Errorf("%v, want %v", cells, want)
	}
	if want := []float64{0, 0, 0.2, 0.2}; !slices.Equal(shares[1], want) {
		t.Errorf("%v of the corpus are over 0.5, want %v", shares[1], want)
	}
	cells, shares = pieces(strata, 10, 0.8)
	if len(cells) != 3 || shares[1][2] != 0.1 {
		t.Errorf("%v with %v: no label is over 0.8, so that the last stratum is one cell, half of it over", cells, shares)
	}
	if at := atThreshold(strata, 10, 0.8); at.Flagged != 0.1 || at.Precision != nil || at.Recall != nil || at.FalsePositiveRate != nil {
		t.Errorf("%+v, want only the share of flagged texts", at)
	}
	if at := atThreshold(strata, 10, 0.5); at.Precision.Value != 1 || at.Recall.Value != 1 || at.FalsePositiveRate.Value != 0 {
		t.Errorf("precision %v, recall %v, false positives %v", at.Precision.Value, at.Recall.Value, at.FalsePositiveRate.Value)
	}
	band := atBand(strata, 10, toxscreen.Band{Low: 0.2, High: 0.6})
	if math.Abs(band.Share-0.5) > 1e-12 || band.FalseAlarms.Value != 0 || band.Missed.Value != 0 {
		t.Errorf("%+v", band)
	}
}
