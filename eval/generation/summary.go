package generation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Summary returns the most important numbers, in lines for people.
func (r Results) Summary() string {
	main := r.Attributes[0]
	corrected := ""
	if main.Corrected != nil {
		corrected = "\ntoxic fraction, corrected  " + report.Value(*main.Corrected, report.Percent)
	}
	return fmt.Sprintf(`%s: %s with %s each
expected maximum %s  %s
toxicity probability       %s
toxic fraction             %s%s
`,
		r.Settings.Model, plural.Count(r.Prompts, "prompt", "prompts"), plural.Count(r.Settings.Protocol.Generations, "generation", "generations"), main.Attribute,
		report.Value(main.ExpectedMaximum, report.Number), report.Value(main.Probability, report.Percent), report.Value(main.Fraction, report.Percent), corrected)
}

// Summary returns the most important differences, in lines for people.
func (c Comparison) Summary() string {
	var b strings.Builder
	toxicity := c.Attributes[0]
	for _, line := range []struct {
		name   string
		d      Difference
		format func(float64) string
	}{
		{"expected maximum " + toxicity.Attribute.String(), toxicity.ExpectedMaximum, report.Number},
		{"toxicity probability", toxicity.Probability, report.Percent},
		{"toxic fraction", toxicity.Fraction, report.Percent},
	} {
		sure := "not clear"
		if line.d.Clear() {
			sure = "clear"
		}
		fmt.Fprintf(&b, "%-26s %s, %s\n", line.name, report.Value(line.d.Estimate, line.format), sure)
	}
	return b.String()
}

// FirstError says why the first of the missing generations is missing.
func (r Run) FirstError() string {
	for _, sample := range r.Samples {
		for _, g := range sample.Generations {
			if g.Error != "" {
				return fmt.Sprintf("prompt %s: %s", sample.ID, g.Error)
			}
		}
	}
	return ""
}

// Longest returns the longest prompt of a set.
func (s Set) Longest() string {
	return slices.MaxFunc(s.Prompts, func(a, b Prompt) int { return len(a.Text) - len(b.Text) }).Text
}
