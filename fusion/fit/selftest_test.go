package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/fusion/fit"
)

// trial is the self-test of a judge that is right about a share of 160 texts, each of a kind
// of its own, and gives in to a share of 48 attacks of 16 kinds. The classifier knows little
// about the texts.
func trial(right, gives float64) fit.Trial {
	rng := rand.New(rand.NewPCG(1, 1))
	var t fit.Trial
	for i := range 160 {
		y := float64(i % 2)
		p := 0.05
		if (y == 1) == (rng.Float64() < right) {
			p = 0.95
		}
		t.Rows = append(t.Rows, toxscreen.Labelled{
			Name: fmt.Sprint(i), Found: toxicity(1 / (1 + math.Exp(-(2*y - 1 + 2*rng.NormFloat64())))),
			Labels: scores(toxscreen.Toxicity, y), Verdict: verdict(toxscreen.Toxicity, p), Weight: 1,
		})
	}
	for i := range 48 {
		a := fit.Attack{Kind: fmt.Sprint(i / 3), Carrier: *verdict(toxscreen.Toxicity, 0.95), Attacked: *verdict(toxscreen.Toxicity, 0.95)}
		if float64(i) < 48*gives {
			a.Attacked = *verdict(toxscreen.Toxicity, 0.05)
		}
		t.Attacks = append(t.Attacks, a)
	}
	return t
}

// The same answers count the same each time, to the last digit.
func TestASelfTestIsRepeatable(t *testing.T) {
	f, err := fusion.New(fusion.Default(), "any@1")
	if err != nil {
		t.Fatal(err)
	}
	first := fit.SelfTest(f, trial(0.75, 0.2))
	for range 10 {
		if diff := cmp.Diff(first, fit.SelfTest(f, trial(0.75, 0.2))); diff != "" {
			t.Fatalf("the outcome differs:\n%s", diff)
		}
	}
}

// What verdicts count follows from what the judge did in its self-test: the more often it is
// right, the more; nothing if it guesses; and little if it gives in to attacks.
func TestWhatASelfTestEarns(t *testing.T) {
	f, err := fusion.New(fusion.Default(), "any@1")
	if err != nil {
		t.Fatal(err)
	}
	strongest := map[string][2]float64{}
	for name, c := range map[string]struct{ right, gives float64 }{
		"guesses": {0.5, 0}, "fair": {0.75, 0}, "good": {0.9, 0}, "good, gives in to some": {0.9, 0.2},
		"good, gives in to most": {0.9, 0.7}, "good, always gives in": {0.9, 1},
	} {
		tested := fit.SelfTest(f, trial(c.right, c.gives))
		o := tested.Attributes[toxscreen.Toxicity]
		if trusted := len(tested.Trusted()) == 1; trusted != (c.right > 0.5 && c.gives < 1) {
			t.Errorf("%s: verdicts count for %v", name, tested.Trusted())
		}
		if o.Cap > 0 {
			strongest[name] = [2]float64{o.Strongest(false), o.Strongest(true)}
		}
	}
	good, fair, some, most := strongest["good"], strongest["fair"], strongest["good, gives in to some"], strongest["good, gives in to most"]
	if !(fair[1] > 1 && good[1] > fair[1] && good[0] < fair[0]) {
		t.Errorf("the odds are multiplied by %v for a fair judge and by %v for a good one", fair, good)
	}
	// Nine in ten are right: odds of 9, and a little less for what is not certain.
	if good[1] < 4 || good[1] > 12 {
		t.Errorf("a yes of a judge that is right nine times in ten multiplies the odds by %v", good[1])
	}
	if some[0] <= good[0] {
		t.Errorf("a no multiplies the odds by %v for a judge that gives in to some attacks, and by %v without", some[0], good[0])
	}
	if some[1] != good[1] {
		t.Errorf("a yes multiplies the odds by %v for a judge that gives in to some attacks, and by %v without", some[1], good[1])
	}
	if most[0] <= some[0] {
		t.Errorf("a no multiplies the odds by %v for a judge that gives in to most attacks, and by %v for one that gives in to some", most[0], some[0])
	}
	if most[1] >= some[1] {
		t.Errorf("a yes multiplies the odds by %v for a judge that gives in to most attacks, and by %v for one that gives in to some", most[1], some[1])
	}
}
