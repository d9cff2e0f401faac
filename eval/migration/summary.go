package migration

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Summary returns what the report says first, in lines for people.
func (r Results) Summary() string {
	var b strings.Builder
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	fmt.Fprintf(&b, "%s\n", plural.Count(r.Texts, "text", "texts"))
	for _, on := range append([]OnScale{r.OnScale}, r.OtherScales...) {
		if on.Scale != "" {
			fmt.Fprintf(&b, "scale %s\n", on.Scale)
		}
		on.summary(&b)
	}
	return b.String()
}

func (r OnScale) summary(b *strings.Builder) {
	for _, c := range r.Compared {
		t := c.AtInUse()
		switch {
		case c.Problem != "":
			fmt.Fprintf(b, "%s: %s\n", c.Attribute, c.Problem)
		case t.New == nil:
			fmt.Fprintf(b, "%s: no new threshold for %v: %s\n", c.Attribute, t.Old, t.Problem)
		default:
			between := ""
			if t.New.Interval != nil {
				between = fmt.Sprintf(" (%s)", report.Range(t.New.Interval, report.Number))
			}
			fmt.Fprintf(b, "%s: %v becomes %v%s; %s of the texts are decided otherwise; Spearman %s\n", c.Attribute, t.Old, t.New.Value, between,
				report.Percent(t.Changed.Value), report.Value(*c.Spearman, report.Number))
		}
		if l := c.Labelled; l != nil && l.NewAUC != nil {
			fmt.Fprintf(b, "%s: AUC of the new scores %s, by %s\n", c.Attribute, report.Value(*l.NewAUC, report.Number), plural.Count(l.Texts, "label", "labels"))
		} else if l != nil && c.Problem != "" {
			fmt.Fprintf(b, "%s: %s\n", c.Attribute, l.Problem)
		}
	}
}
