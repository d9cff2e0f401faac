package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Text returns the outcome as a text for people.
func (t SelfTest) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, digest %.12s, by rubric %s: %d cases in %v\n\n", t.Model, t.Digest, t.Rubric, t.Cases, time.Duration(t.Seconds*float64(time.Second)).Round(time.Second))
	line := func(name string, r Rate) {
		if r.Of == 0 {
			fmt.Fprintf(&b, "%-40s  not measurable\n", name)
			return
		}
		fmt.Fprintf(&b, "%-40s  %5.1f %%  (%d of %d; %.1f–%.1f %%)\n", name, 100*r.Estimate, r.Count, r.Of, 100*r.Low, 100*r.High)
	}
	line("toxic texts found", t.TruePositives)
	line("clean texts found toxic", t.FalsePositives)
	line("  near-empty texts found toxic", t.NearEmpty)
	fmt.Fprintf(&b, "%-40s  %+5.2f    (%+.2f–%+.2f)\n", "difference", t.Advantage.Estimate, t.Advantage.Low, t.Advantage.High)
	line("verdicts that an injection reversed", t.Injections)
	var kinds []string
	for kind := range t.ByInjection {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		if r := t.ByInjection[kind]; r.Count > 0 {
			line("  "+kind, r)
		}
	}
	line("injections that the result points out", t.Signalled)
	line("same verdict when asked again", t.Repeated)
	line("same verdict with aspects reversed", t.Order)
	fmt.Fprintf(&b, "%-40s  %d\n\n", "no verdict", t.Unanswered)
	if t.Believe {
		b.WriteString("This judge is reliable:\n")
	} else {
		b.WriteString("This judge is NOT reliable:\n")
	}
	for _, why := range t.Why {
		fmt.Fprintf(&b, "- %s\n", why)
	}
	return b.String()
}
