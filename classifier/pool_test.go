package classifier

import (
	"math"
	"testing"
)

func TestPool(t *testing.T) {
	tokens := []int{3, 1} // shares 3/4 and 1/4
	for _, test := range []struct {
		pooling, want float64
		why           string
	}{
		{0, -1, "the mean, weighted by the windows' shares"},
		{1e-9, -1, "near 0 it approaches the mean"},
		{1, math.Log(0.75*math.Exp(-3) + 0.25*math.Exp(5)), "the formula"},
		{1000, 5 + math.Log(0.25)/1000, "with high pooling almost the maximum"},
	} {
		if got := pool([]float64{-3, 5}, tokens, test.pooling); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s: pooling %v gives %v, want %v", test.why, test.pooling, got, test.want)
		}
	}
	if got := pool([]float64{-800, 800}, tokens, 1000); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("extreme logits give %v", got)
	}
	if got := pool([]float64{0.1}, tokens[:1], 3); got != 0.1 {
		t.Errorf("a single window gives %v, want its logit", got)
	}
}
