package eval_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
)

// skewed are 40 draws of an exponential distribution.
var skewed = []float64{
	1.073, 0.308, 5.375, 0.366, 0.115, 1.8, 0.499, 0.551, 0.03, 0.764, 1.041, 0.231, 1.677, 0.209, 0.786, 0.129, 0.923, 0.462, 0.689, 2.649,
	1.115, 0.899, 2.84, 2.031, 1.166, 0.329, 1.435, 0.158, 8.423, 0.236, 2.478, 1.902, 0.32, 1.801, 0.048, 1.356, 1.197, 0.059, 1.104, 3.756,
}

func meanOf(values []float64) func([]int) float64 {
	return func(units []int) float64 {
		sum := 0.0
		for _, i := range units {
			sum += values[i]
		}
		return sum / float64(len(units))
	}
}

// TestBootstrapAgreesWithSciPy compares with scipy.stats.bootstrap(method="BCa") of
// 20,000 resamples: 0.934 to 0.946 and 1.969 to 2.006, by the seed. A plain percentile
// interval would be 0.87 to 1.83.
func TestBootstrapAgreesWithSciPy(t *testing.T) {
	e := eval.Bootstrap(len(skewed), 1, meanOf(skewed))
	if math.Abs(e.Value-1.30825) > 1e-9 {
		t.Errorf("mean is %v, want 1.30825", e.Value)
	}
	if math.Abs(e.Interval.Low-0.94) > 0.04 {
		t.Errorf("the interval begins at %v, want 0.94", e.Interval.Low)
	}
	if math.Abs(e.Interval.High-1.99) > 0.08 {
		t.Errorf("the interval ends at %v, want 1.99", e.Interval.High)
	}
	if again := eval.Bootstrap(len(skewed), 1, meanOf(skewed)); *again.Interval != *e.Interval {
		t.Errorf("the same seed gives %v and %v", *e.Interval, *again.Interval)
	}
}

// TestBootstrapWithoutInterval has data that allow no interval: it is absent, and the
// value is still there.
func TestBootstrapWithoutInterval(t *testing.T) {
	for name, values := range map[string][]float64{"one unit": {0.3}, "constant units": {0.3, 0.3, 0.3}} {
		if e := eval.Bootstrap(len(values), 1, meanOf(values)); e.Interval != nil || math.Abs(e.Value-0.3) > 1e-12 {
			t.Errorf("%s: %v, want 0.3 without an interval", name, e)
		}
	}
	// One resample in nine has no value.
	rare := eval.Bootstrap(3, 1, func(units []int) float64 {
		if slices.Min(units) == slices.Max(units) {
			return math.NaN()
		}
		return float64(slices.Min(units))
	})
	if rare.Interval != nil {
		t.Errorf("a statistic that is often undefined has the interval %v", rare.Interval)
	}
}

// TestShareAgreesWithSciPy has values of scipy.stats.beta.ppf.
func TestShareAgreesWithSciPy(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	three := eval.Share(3, 20)
	near("low of 3/20", three.Interval.Low, 0.0320709371854637)
	near("high of 3/20", three.Interval.High, 0.37892682654531396)
	near("low of 0/20", eval.Share(0, 20).Interval.Low, 0)
	near("high of 0/20", eval.Share(0, 20).Interval.High, 0.1684334709830853)
	near("low of 20/20", eval.Share(20, 20).Interval.Low, 0.8315665290169267)
	near("high of 20/20", eval.Share(20, 20).Interval.High, 1)
	if none := eval.Share(0, 0); !math.IsNaN(none.Value) || none.Interval != nil {
		t.Errorf("0 of 0 is %v, want no number", none)
	}
}

// TestPercentiles has values of numpy.quantile.
func TestPercentiles(t *testing.T) {
	got := eval.Percentiles([]float64{3, 1, 2, 10})
	if math.Abs(got.Low-1.075) > 1e-12 {
		t.Errorf("the lower end is %v, want 1.075", got.Low)
	}
	if math.Abs(got.High-9.475) > 1e-12 {
		t.Errorf("the upper end is %v, want 9.475", got.High)
	}
	if none := eval.Percentiles(nil); none != nil {
		t.Errorf("no draws have the interval %v", *none)
	}
}

// TestRankStatistics has values of scipy.stats and sklearn.metrics.
func TestRankStatistics(t *testing.T) {
	x := []float64{0.1, 0.4, 0.4, 0.2, 0.9, 0.7, 0.7, 0.3}
	y := []float64{0.2, 0.5, 0.1, 0.2, 0.8, 0.9, 0.4, 0.4}
	for _, one := range []struct {
		name      string
		got, want float64
	}{
		{"Spearman", eval.Spearman(x, y), 0.676829268292683},
		{"Kendall", eval.Kendall(x, y), 0.5384615384615385},
		{"AUC", eval.AUC(x, []bool{false, true, false, false, true, true, false, true}), 0.75},
	} {
		if math.Abs(one.got-one.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", one.name, one.got, one.want)
		}
	}
	constant := make([]float64, len(x))
	if got := eval.Spearman(x, constant); !math.IsNaN(got) {
		t.Errorf("Spearman with a constant is %v, want NaN", got)
	}
	if got := eval.Kendall(x, constant); !math.IsNaN(got) {
		t.Errorf("Kendall with a constant is %v, want NaN", got)
	}
	if got := eval.AUC(x, make([]bool, len(x))); !math.IsNaN(got) {
		t.Errorf("AUC of one class is %v, want NaN", got)
	}
}

func ExampleBootstrap() {
	e := eval.Bootstrap(len(skewed), 1, meanOf(skewed))
	fmt.Printf("%.2f (%.1f to %.1f)\n", e.Value, e.Interval.Low, e.Interval.High)
	// Output: 1.31 (0.9 to 2.0)
}
