package fusion_test

import (
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
)

// A judge that passed its self-test moves a borderline score. No call is made
// here: the verdict is given.
func Example() {
	f, err := fusion.New(fusion.Default(), "toxicity-en@1.0.0")
	if err != nil {
		log.Fatal(err)
	}
	f = f.With("mistral-small:24b@8039dd90c113", "attributes@1f0e", &fusion.Tested{Attributes: map[toxscreen.Attribute]fusion.Weights{
		toxscreen.Insult: {Slope: 0.5, Cap: 4, Lower: 2.5, TruePositive: 0.85, FalsePositive: 0.15, High: 1},
	}})

	var found toxscreen.Classification
	found.Scores.Set(toxscreen.Insult, 0.5)
	var thresholds toxscreen.Scores
	thresholds.Set(toxscreen.Insult, 0.5)
	decision := f.Decide(found, thresholds)

	attribute, yes := toxscreen.Insult, toxscreen.Probability(0.95)
	fused, err := f.Fuse(found.Scores, &toxscreen.Verdict{
		Model: "mistral-small:24b@8039dd90c113", Rubric: "attributes@1f0e",
		Aspects: []toxscreen.AspectVerdict{{Name: "insult", Attribute: &attribute, Yes: true, PYes: &yes}},
	})
	if err != nil {
		log.Fatal(err)
	}
	insult, _ := fused.Scores.Get(toxscreen.Insult)
	fmt.Printf("ask: %t, insult: 0.50 before and %.2f after the verdict\n", decision.Ask, insult)
	// Output: ask: true, insult: 0.50 before and 0.81 after the verdict
}
