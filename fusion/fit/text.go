package fit

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Text returns a report of the fit for people, in lines. p are the fitted parameters.
func (r Report) Text(p fusion.Params) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d with a verdict, scored by %s\n\n", plural.Count(r.Rows, "row", "rows"), r.Judged, p.Model)
	for _, one := range r.Attributes {
		fmt.Fprintf(&b, "%s: %.0f toxic and %.0f clean texts\n", one.Attribute, one.Toxic, one.Clean)
		if one.Before > 0 {
			line := p.Calibration[one.Attribute]
			what := "is not corrected"
			if one.Calibrated {
				what = fmt.Sprintf("is corrected: log-odds × %.3f %+.3f", line.Slope, line.Intercept)
			}
			fmt.Fprintf(&b, "  the classifier %s (cross-validated log loss %.4f before, %.4f after correction)\n", what, one.Before, one.After)
		}
		if o := one.Weights; o != nil {
			what := "is ignored"
			if one.Counts {
				what = fmt.Sprintf("counts: true positive rate %.0f %%, false positive rate %.0f %%; it repeats %.0f %% of the classifier's evidence", 100*o.TruePositive, 100*o.FalsePositive, 100*o.Overlap)
			}
			fmt.Fprintf(&b, "  the judge, on %.0f toxic and %.0f clean texts between %.2f and %.2f, %s (log loss %.4f without it, %.4f with it)\n",
				o.Toxic, o.Clean, o.Low, o.High, what, one.Classifier, one.Fused)
		}
		if one.Note != "" {
			fmt.Fprintf(&b, "  %s\n", one.Note)
		}
	}
	if r.Judged > 0 {
		fmt.Fprintf(&b, "\na verdict is worth its cost for %.1f %% of the texts: it prevents more than %.2g errors there", 100*r.Share, r.Least)
		if p.Budget.Share > 0 {
			fmt.Fprintf(&b, "; at most %.3g %% of %s judged, in 99 of 100 cases with 99 %% confidence", 100*p.Budget.Share, plural.Count(p.Budget.Texts, "text is", "texts are"))
		}
		fmt.Fprintf(&b, "\na verdict took %.2g s and %.0f tokens on average\n", r.SecondsPerCall, r.TokensPerCall)
	}
	return b.String()
}
