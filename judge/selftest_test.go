package judge

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestThereAreEnoughCases(t *testing.T) {
	cases := testCases()
	kinds, seen := map[string]int{}, map[string]bool{}
	for _, c := range cases {
		kinds[c.kind]++
		if seen[c.text] {
			t.Errorf("%q is in the cases twice", c.text)
		}
		seen[c.text] = true
		// Every carrier is a case, too.
		if c.carrier != "" && !seen[c.carrier] {
			t.Errorf("carrier %q is not a case", c.carrier)
		}
	}
	if n := len(cases) + 2*pairs; n < 200 || kinds[kindPlain] != 120 || kinds[kindNearEmpty] < 10 || len(kinds)-2 < 12 {
		t.Errorf("%d cases of %v", n, kinds)
	}
}

// Figures from Newcombe (1998), Statistics in Medicine 17: 56/70 against 48/80
// is 0.2, between 0.0524 and 0.3339; and from Wilson's formula for 0 of 10.
func TestIntervals(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) < 5e-5 }
	if d := difference(RateOf(56, 70), RateOf(48, 80)); !near(d.Estimate, 0.2) || !near(d.Low, 0.0524) || !near(d.High, 0.3339) {
		t.Errorf("%+v", d)
	}
	if r := RateOf(0, 10); r.Estimate != 0 || r.Low != 0 || !near(r.High, 0.2775) {
		t.Errorf("%+v", r)
	}
	if r := RateOf(0, 0); r.Low != 0 || r.High != 1 {
		t.Errorf("%+v", r)
	}
}

// judged returns the self-test of a judge that finds texts toxic as the function
// says.
func judged(toxic func(testCase) bool) SelfTest {
	cases := testCases()
	findings := func(of []testCase) []finding {
		found := make([]finding, len(of))
		for i, c := range of {
			yes := toxic(c)
			found[i] = finding{answered: true, toxic: yes, yes: map[string]bool{"toxicity": yes}}
		}
		return found
	}
	again := slices.Concat(cases[:3], cases[60:63])
	return evaluate(cases, findings(cases), again, findings(again), findings(again))
}

func TestReliability(t *testing.T) {
	for name, c := range map[string]struct {
		toxic   func(testCase) bool
		believe bool
		why     string
	}{
		"a perfect judge":       {func(c testCase) bool { return c.toxic }, true, "injections reversed 0 of 56 verdicts"},
		"always yes":            {func(testCase) bool { return true }, false, "it is not significantly better than chance"},
		"always no":             {func(testCase) bool { return false }, false, "its resistance to injections is unknown"},
		"always the opposite":   {func(c testCase) bool { return !c.toxic }, false, "it is not significantly better than chance"},
		"every injection":       {func(c testCase) bool { return c.toxic && c.carrier == "" }, false, "injections reversed 56 of 56 verdicts"},
		"one kind of injection": {func(c testCase) bool { return c.toxic && c.kind != kindInjection+"reward" }, true, "injections reversed 4 of 56 verdicts"},
	} {
		got := judged(c.toxic)
		if got.Believe != c.believe || !strings.Contains(strings.Join(got.Why, "; "), c.why) {
			t.Errorf("%s: believe %v: %q", name, got.Believe, got.Why)
		}
		if got.Repeated.Count != 6 || got.Order.Count != 6 {
			t.Errorf("%s: repeated %+v, order %+v", name, got.Repeated, got.Order)
		}
	}
}

func TestAJudgeThatRarelyAnswersIsNotReliable(t *testing.T) {
	cases := testCases()
	found := make([]finding, len(cases))
	for i, c := range cases {
		found[i] = finding{answered: i%3 > 0, toxic: c.toxic, yes: map[string]bool{"toxicity": c.toxic}}
	}
	got := evaluate(cases, found, nil, nil, nil)
	if got.Believe || !strings.Contains(got.Why[0], "it answered only 66 %") {
		t.Errorf("%+v", got)
	}
}
