package eval_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
)

// Several statistics at once have the estimates that each has alone, also beside one that
// has no value.
func TestBootstrapsAreBootstraps(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}
	mean := func(units []int) float64 {
		sum := 0.0
		for _, unit := range units {
			sum += values[unit]
		}
		return sum / float64(len(units))
	}
	highest := func(units []int) float64 {
		high := values[units[0]]
		for _, unit := range units {
			high = max(high, values[unit])
		}
		return high
	}
	got := eval.Bootstraps(len(values), 1, func(units []int) []float64 { return []float64{mean(units), math.NaN(), highest(units)} })
	if !math.IsNaN(got[1].Value) || got[1].Interval != nil {
		t.Errorf("%+v", got[1])
	}
	if want := []eval.Estimate{eval.Bootstrap(len(values), 1, mean), eval.Bootstrap(len(values), 1, highest)}; !reflect.DeepEqual(slices.Delete(got, 1, 2), want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
