package main

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/internal/plural"
)

// tables returns the outcomes as tables in Markdown: the cost and the accuracy of each
// system, and how far the goals of docs/fusion.md are met.
func (s simulation) tables(outcomes []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Fitted on %s, measured on %d, scored by %s.\n\n", plural.Count(len(s.dev), "row", "rows"), len(s.test), s.model)
	b.WriteString("| judge | system | cost per 1,000 | with calls | accuracy | F1 | AP | ECE | log loss | judged |\n|---|---|---|---|---|---|---|---|---|---|\n")
	kinds := map[string]string{}
	for _, j := range judges {
		kinds[j.name] = j.String()
	}
	by := map[[2]string]outcome{}
	for _, o := range outcomes {
		by[[2]string{o.judge, o.system}] = o
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.4f | %.3f | %.3f | %.4f | %.4f | %.1f %% |\n",
			kinds[o.judge], o.system, o.cost, o.costWithCalls, o.accuracy, o.f1, o.ap, o.ece, o.logLoss, 100*o.judged)
	}
	b.WriteString("\nOn the texts that toxscreen has judged:\n\n| judge | log loss of the classifier | of the judge | fused | ECE over a perfect predictor's | cost saved, relative to judging everything | budget held |\n|---|---|---|---|---|---|---|\n")
	for _, j := range judges {
		o, alone, everything := by[[2]string{j.name, ours}], by[[2]string{j.name, alone}], by[[2]string{j.name, everything}]
		if o.judged == 0 {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | nothing is judged |\n", j.name)
			continue
		}
		saved := "–"
		if all := alone.cost - everything.cost; all > 0 {
			saved = fmt.Sprintf("%.0f %%", 100*(alone.cost-o.cost)/all)
		}
		fmt.Fprintf(&b, "| %s | %.4f | %.4f | %.4f | %+.4f ± %.4f | %s | %d of 100 |\n", j.name, o.judgedClassifier, o.judgedJudge, o.judgedFused, o.judgedECE, o.judgedECENoise, saved, o.held)
	}
	return b.String()
}
