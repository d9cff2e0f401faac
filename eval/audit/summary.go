package audit

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Summary returns the most important results as lines of text for people.
func (r Results) Summary() string {
	var b strings.Builder
	for _, one := range r.Attributes {
		fmt.Fprintf(&b, "%s: %s of %s it (95 %%: %s), from %s\n",
			one.Attribute, report.Percent(one.Prevalence.Value), plural.Count(r.Design.Rows, "text has", "texts have"), report.Range(one.Prevalence.Interval, report.Percent), plural.Count(one.Labelled, "label", "labels"))
		for _, t := range one.Thresholds {
			if one.Threshold == nil || t.Threshold != *one.Threshold {
				continue
			}
			fmt.Fprintf(&b, "  threshold %v flags %s", t.Threshold, report.Percent(t.Flagged))
			if t.Precision != nil && t.Recall != nil {
				fmt.Fprintf(&b, ": precision %s, recall %s", report.Value(*t.Precision, report.Percent), report.Value(*t.Recall, report.Percent))
			}
			b.WriteByte('\n')
		}
		for _, g := range one.Guarantees {
			if g.Threshold == nil {
				fmt.Fprintf(&b, "  %s: refused: %s\n", g.Requirement, g.Refused)
			} else {
				fmt.Fprintf(&b, "  %s: threshold %v, which flags %s, with a confidence of %v\n", g.Requirement, *g.Threshold, report.Percent(*g.Flagged), r.Confidence)
			}
		}
	}
	return b.String()
}
