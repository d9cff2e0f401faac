package eval

import (
	"fmt"
	"strings"

	"github.com/toxscreen/toxscreen/internal/plural"
)

// Table returns the outcomes of [Simulate] as tables in Markdown: the cost and the
// accuracy of each system, and how far the goals of docs/fusion.md are met.
func (s Simulation) Table(outcomes []Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Fitted on %s, measured on %d, scored by %s.\n\n", plural.Count(len(s.Dev), "row", "rows"), len(s.Test), s.Model)
	b.WriteString("| judge | system | cost per 1,000 | with calls | accuracy | F1 | AP | ECE | log loss | judged |\n|---|---|---|---|---|---|---|---|---|---|\n")
	kinds := map[string]string{}
	for _, j := range s.Judges {
		kinds[j.Name] = j.String()
	}
	by := map[[2]string]Outcome{}
	for _, o := range outcomes {
		by[[2]string{o.Judge, o.System}] = o
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.4f | %.3f | %.3f | %.4f | %.4f | %.1f %% |\n",
			kinds[o.Judge], o.System, o.Cost, o.CostWithCalls, o.Accuracy, o.F1, o.AP, o.ECE, o.LogLoss, 100*o.Judged)
	}
	b.WriteString("\nOn the texts that toxscreen has judged:\n\n| judge | log loss of the classifier | of the judge | fused | ECE over a perfect predictor's | cost saved, relative to judging everything | budget held |\n|---|---|---|---|---|---|---|\n")
	for _, j := range s.Judges {
		o, alone, everything := by[[2]string{j.Name, Ours}], by[[2]string{j.Name, Alone}], by[[2]string{j.Name, Everything}]
		if o.Judged == 0 {
			fmt.Fprintf(&b, "| %s | – | – | – | – | – | nothing is judged |\n", j.Name)
			continue
		}
		saved := "–"
		if all := alone.Cost - everything.Cost; all > 0 {
			saved = fmt.Sprintf("%.0f %%", 100*(alone.Cost-o.Cost)/all)
		}
		kept := "–"
		if o.Held != nil {
			kept = fmt.Sprintf("%d of 100", *o.Held)
		}
		fmt.Fprintf(&b, "| %s | %.4f | %.4f | %.4f | %+.4f ± %.4f | %s | %s |\n", j.Name, o.JudgedClassifier, o.JudgedJudge, o.JudgedFused, o.JudgedECE, o.JudgedECENoise, saved, kept)
	}
	return b.String()
}
