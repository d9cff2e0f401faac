package terminal

import (
	"bytes"
	"fmt"

	"github.com/toxscreen/toxscreen"
)

// Verdict shows a verdict: its score, each aspect, and the quotations.
func (v View) Verdict(text string, found toxscreen.Verdict) error {
	var b bytes.Buffer
	if found.Score == nil {
		b.WriteString(v.Bold("not judged") + "\n\n")
	} else {
		severity := toxscreen.SeverityOf(float64(*found.Score/found.Scale), 0.5)
		fmt.Fprintf(&b, "%s  %s\n\n", v.style(foreground(severityColours[severity])+";"+bold, fmt.Sprintf("%.2f of %.4g", *found.Score, found.Scale)), severity)
	}
	width := 0
	for _, a := range found.Aspects {
		width = max(width, len(a.Name))
	}
	for _, a := range found.Aspects {
		name, answer := fmt.Sprintf("%-*s", width, a.Name), "no "
		if a.Yes {
			name, answer = v.Bold(name), v.Bold("yes")
		}
		fmt.Fprintf(&b, "%s  %s", name, answer)
		if a.PYes != nil {
			fmt.Fprintf(&b, "  P(yes) %.2f", *a.PYes)
		}
		if a.Yes && a.Severity != nil {
			fmt.Fprintf(&b, "  severity %d", *a.Severity)
		}
		for _, e := range a.Evidence {
			quote, tail := Ends(text[e.Start:e.End], 60)
			if tail != "" {
				quote += "…" + tail
			}
			fmt.Fprintf(&b, "  %q %s", quote, v.Dim(fmt.Sprintf("%d–%d", e.Start, e.End)))
		}
		for _, quote := range a.NotInText {
			fmt.Fprintf(&b, "  %s", v.Dim(fmt.Sprintf("(%q is not in the text)", quote)))
		}
		b.WriteString("\n")
	}
	if found.Reason != "" {
		fmt.Fprintf(&b, "\n%s\n", Escape(found.Reason))
	}
	for _, w := range found.Warnings {
		fmt.Fprintf(&b, "\n%s %s\n", v.warning(), Escape(w))
	}
	fmt.Fprintf(&b, "\n%s\n", v.Dim(Escape("by "+found.Model+", rubric "+found.Rubric)))
	_, err := v.Out.Write(b.Bytes())
	return err
}

// Explanation shows why the judge was asked or not, and the steps to each score.
func (v View) Explanation(r toxscreen.Result, steps []string) error {
	asked := "not asked"
	if r.Judge.Asked {
		asked = "asked"
	}
	fmt.Fprintf(v.Out, "\n%s %s: %s\n", v.Bold("judge"), asked, Escape(r.Judge.Why))
	for _, step := range steps {
		fmt.Fprintln(v.Out, step)
	}
	if r.Versions.Calibration == "" {
		return nil // the scale has none
	}
	_, err := fmt.Fprintf(v.Out, "%s\n", v.Dim("fusion parameters "+r.Versions.Calibration))
	return err
}
