package generation

import (
	"fmt"
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Comparison is the difference of two runs of the same prompts.
type Comparison struct {
	First   Settings `json:"first"`
	Second  Settings `json:"second"`
	Prompts int      `json:"prompts"` // that both runs have all scores of
	LeftOut int      `json:"prompts_left_out,omitempty"`
	// Attributes are in their numeric order.
	Attributes []AttributeComparison `json:"attributes"`
	Warnings   []string              `json:"warnings,omitempty"`
}

// AttributeComparison is the difference of two runs in an attribute.
type AttributeComparison struct {
	Attribute toxscreen.Attribute `json:"attribute"`
	// First and Second are the measures of each run.
	First  Measures `json:"first"`
	Second Measures `json:"second"`
	// Differences are those of the second run less the first.
	Differences
	// Bands are in the order of their names.
	Bands []PartDifferences `json:"bands,omitempty"`
}

// PartDifferences are the differences in a band of prompts.
type PartDifferences struct {
	Name    string `json:"name"`
	Prompts int    `json:"prompts"`
	Differences
}

// Differences are differences of measures.
type Differences struct {
	ExpectedMaximum Difference `json:"expected_maximum_toxicity_difference"`
	Probability     Difference `json:"toxicity_probability_difference"`
	Fraction        Difference `json:"toxic_fraction_difference"`
}

// Difference is a difference of two runs with the interval of pairs.
type Difference struct {
	eval.Estimate
	// Detectable is the smallest true difference that a comparison of as many prompts
	// finds in 80 % of cases at 95 % confidence: 2.8 standard errors (Miller, 2024,
	// section 5). It is nil if all pairs have the same difference.
	Detectable *float64 `json:"detectable,omitempty"`
}

// Clear reports whether the interval excludes 0.
func (d Difference) Clear() bool {
	return d.Interval != nil && (d.Interval.Low > 0 || d.Interval.High < 0)
}

// Compare compares two runs by their pairs: each prompt is its own control, so the
// interval of the difference is narrower than those of the runs suggest. The runs must
// have the same prompts, the same number of generations and the same classifier.
func Compare(first, second Run) (Comparison, error) {
	for _, run := range []Run{first, second} {
		if err := run.Check(); err != nil {
			return Comparison{}, err
		}
	}
	if err := mayCompare(first.Settings, second.Settings); err != nil {
		return Comparison{}, err
	}
	c := Comparison{First: first.Settings, Second: second.Settings}
	for _, run := range []Run{first, second} {
		for _, warning := range run.Warnings {
			c.Warnings = append(c.Warnings, name(run.Settings)+": "+warning)
		}
	}
	byID := map[string]Sample{}
	for _, s := range second.Samples {
		byID[s.ID] = s
	}
	if len(first.Samples) != len(second.Samples) {
		return Comparison{}, notSame(first, second, fmt.Sprintf("the first has %d, the second %d", len(first.Samples), len(second.Samples)))
	}
	var one, other []Sample
	for _, s := range first.Samples {
		t, ok := byID[s.ID]
		if !ok || t.Text != s.Text {
			return Comparison{}, notSame(first, second, fmt.Sprintf("prompt %q of the first is missing or another text in the second", s.ID))
		}
		if incomplete(s) || incomplete(t) {
			c.LeftOut++
			continue
		}
		one, other = append(one, s), append(other, t)
	}
	if c.Prompts = len(one); c.Prompts < 2 {
		return Comparison{}, fmt.Errorf("failed to compare %s and %s: %s all scores in both: %w", name(first.Settings), name(second.Settings), plural.Count(c.Prompts, "prompt has", "prompts have"), errFew)
	}
	if c.LeftOut > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d of %s left out, since a score is missing in one of the runs", c.LeftOut, plural.Count(len(first.Samples), "prompt is", "prompts are")))
	}
	for _, a := range toxscreen.Attributes() {
		threshold, ok := first.Settings.Thresholds.Get(a)
		if !ok || !measured(one, a) || !measured(other, a) {
			continue
		}
		x, y := column(one, a, threshold), column(other, a, threshold)
		all := AttributeComparison{Attribute: a, First: x.measure(nil), Second: y.measure(nil), Differences: x.less(y)}
		for band, prompts := range named(one, func(p Prompt) string { return p.Band }) {
			all.Bands = append(all.Bands, PartDifferences{band, len(prompts), x.of(prompts).less(y.of(prompts))})
		}
		c.Attributes = append(c.Attributes, all)
	}
	return c, nil
}

func notSame(first, second Run, why string) error {
	return fmt.Errorf("failed to compare %s and %s: they have different prompts: %s; let both models continue the same prompts", name(first.Settings), name(second.Settings), why)
}

// mayCompare reports why the settings of two runs rule out a comparison.
func mayCompare(first, second Settings) error {
	switch {
	case first.Protocol.Generations != second.Protocol.Generations:
		return fmt.Errorf("failed to compare %s and %s: %d and %d generations for each prompt: the highest of more scores is higher; generate the same number for both",
			name(first), name(second), first.Protocol.Generations, second.Protocol.Generations)
	case first.Classifier != second.Classifier:
		return fmt.Errorf("failed to compare %s and %s: they were scored by %s and %s: score both with one model", name(first), name(second), first.Classifier, second.Classifier)
	case first.Thresholds != second.Thresholds:
		return fmt.Errorf("failed to compare %s and %s: their thresholds differ: measure both with the same --threshold", name(first), name(second))
	}
	return nil
}

// name returns what a run is called in sentences.
func name(s Settings) string {
	if s.Generator == FromFile {
		return s.Model
	}
	return fmt.Sprintf("%s at temperature %g", s.Model, s.Protocol.Temperature)
}

func incomplete(s Sample) bool {
	return slices.ContainsFunc(s.Generations, func(g Generation) bool { return g.Error != "" })
}

// less returns the differences of y less x, prompt by prompt.
func (c columns) less(y columns) Differences {
	return Differences{difference(c.highest, y.highest), difference(c.any, y.any), difference(c.share, y.share)}
}

func difference(x, y []float64) Difference {
	pairs := make([]float64, len(x))
	average, squares := 0.0, 0.0
	for i := range pairs {
		pairs[i] = y[i] - x[i]
		average += pairs[i] / float64(len(pairs))
	}
	for _, d := range pairs {
		squares += (d - average) * (d - average)
	}
	found := Difference{Estimate: mean(pairs)}
	if squares > 0 {
		n := float64(len(pairs))
		detectable := 2.8 * math.Sqrt(squares/(n-1)/n)
		found.Detectable = &detectable
	}
	return found
}
