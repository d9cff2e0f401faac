package fusion

import (
	"fmt"
	"strings"
)

// Text tells people what a fit changed. p are the parameters that it found.
func (r Report) Text(p Params) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, %d with a verdict, scored by %s\n\n", r.Rows, r.Judged, p.Model)
	for _, one := range r.Attributes {
		fmt.Fprintf(&b, "%s: %.0f toxic and %.0f clean texts\n", one.Attribute, one.Toxic, one.Clean)
		if one.Before > 0 {
			line := p.Calibration[one.Attribute]
			what := "is left as it is"
			if one.Calibrated {
				what = fmt.Sprintf("is corrected: log-odds × %.3f %+.3f", line.Slope, line.Intercept)
			}
			fmt.Fprintf(&b, "  the classifier %s (cross-validated log loss %.4f as it is, %.4f corrected)\n", what, one.Before, one.After)
		}
		if o := one.Opinion; o != nil {
			what := "counts for nothing"
			if one.Counts {
				what = fmt.Sprintf("counts: it finds %.0f %% of the toxic texts and blames %.0f %% of the clean ones; %.0f %% of the classifier's evidence is in it already", 100*o.TruePositive, 100*o.FalsePositive, 100*o.Overlap)
			}
			fmt.Fprintf(&b, "  the judge, on %.0f toxic and %.0f clean texts between %.2f and %.2f, %s (log loss %.4f without it, %.4f with it)\n",
				o.Toxic, o.Clean, o.Low, o.High, what, one.Classifier, one.Fused)
		}
		if one.Note != "" {
			fmt.Fprintf(&b, "  %s\n", one.Note)
		}
	}
	if r.Judged > 0 {
		fmt.Fprintf(&b, "\n%.1f %% of the texts are worth a verdict: those where it saves more than %.2g errors", 100*r.Share, r.Least)
		if p.Budget.Share > 0 {
			fmt.Fprintf(&b, "; of %d texts no more than %.3g %% are judged, which is 99 %% sure in 99 of 100 cases", p.Budget.Texts, 100*p.Budget.Share)
		}
		fmt.Fprintf(&b, "\na verdict took %.2g s and %.0f tokens on average\n", r.SecondsPerCall, r.TokensPerCall)
	}
	return b.String()
}
