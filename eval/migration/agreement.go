package migration

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/internal/plural"
)

const (
	// bootstrapped is the highest number of texts whose rank statistics have an interval by
	// the bootstrap. For as many, its 2,000 resamples of Kendall's tau take 3 s on a core,
	// and a jackknife a fifth of that.
	bootstrapped = 2000
	seed         = 1
)

// scale is where a statistic is about normal, and the way back.
type scale struct{ to, from func(float64) float64 }

var (
	fisher   = scale{math.Atanh, math.Tanh} // of a correlation
	logistic = scale{logodds.Of, logodds.Probability}
	plain    = scale{func(x float64) float64 { return x }, func(x float64) float64 { return x }}
)

// agreement returns the rank correlations of two columns.
func agreement(old, updated []float64) (spearman, kendall *eval.Estimate) {
	of := func(statistic func(x, y []float64) float64) *eval.Estimate {
		return estimate(len(old), fisher, func(units []int) float64 {
			return statistic(selected(old, units), selected(updated, units))
		}).Known()
	}
	return of(eval.Spearman), of(eval.Kendall)
}

func selected(values []float64, units []int) []float64 {
	of := make([]float64, len(units))
	for i, unit := range units {
		of[i] = values[unit]
	}
	return of
}

// estimate returns a statistic of n texts with its interval, for a statistic that takes
// long: by the bootstrap for up to [bootstrapped] texts, else by the jackknife. For so
// many texts it is normal on its scale, so that a standard error is enough.
func estimate(n int, on scale, statistic func(units []int) float64) eval.Estimate {
	if n <= bootstrapped {
		return eval.Bootstrap(n, seed, statistic)
	}
	return jackknife(n, on, statistic)
}

// jackknife returns a statistic with its interval by leaving out groups of texts in turn
// (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 11.5).
func jackknife(n int, on scale, statistic func(units []int) float64) eval.Estimate {
	units := make([]int, n)
	for i := range units {
		units[i] = i
	}
	e := eval.Estimate{Value: statistic(units)}
	var values []float64
	for rest := range eval.LeaveOut(n) {
		values = append(values, on.to(statistic(rest)))
	}
	parts, mean := float64(len(values)), 0.0
	for _, v := range values {
		mean += v / parts
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	middle, half := on.to(e.Value), distuv.UnitNormal.Quantile(0.975)*math.Sqrt(squares*(parts-1)/parts)
	if low, high := on.from(middle-half), on.from(middle+half); half > 0 && !math.IsNaN(low) && !math.IsNaN(high) {
		e.Interval = &eval.Interval{Low: low, High: high}
	}
	return e
}

// Labelled compares scores with what people say.
type Labelled struct {
	Texts int `json:"texts"` // with a label and a new score
	Toxic int `json:"toxic"` // by half of the people or more
	// Problem is a sentence that says why there are no measures.
	Problem string `json:"problem,omitempty"`
	// OldAUC and NewAUC are the areas under the ROC curve. Old and Difference, new minus
	// old, are of the texts with an old score, and absent without any.
	OldAUC     *eval.Estimate `json:"old_auc,omitempty"`
	NewAUC     *eval.Estimate `json:"new_auc,omitempty"`
	Difference *eval.Estimate `json:"auc_difference,omitempty"`
	// Points are decisions by thresholds on the new scores, from 0.05 to 0.95.
	Points []Operating `json:"points,omitempty"`
}

// Operating is what a threshold does among labelled texts. Precision and Recall are
// absent if too few texts are flagged or toxic.
type Operating struct {
	Threshold float64        `json:"threshold"`
	Flagged   eval.Estimate  `json:"flagged"` // share of the labelled texts
	Precision *eval.Estimate `json:"precision,omitempty"`
	Recall    *eval.Estimate `json:"recall,omitempty"`
}

// labelledTexts are the scores of texts with labels. old is NaN for a text without an
// old score.
type labelledTexts struct {
	old, new []float64
	toxic    []bool
}

func (l *labelledTexts) add(old float64, before bool, updated float64, isToxic bool) {
	if !before {
		old = math.NaN()
	}
	l.old, l.new, l.toxic = append(l.old, old), append(l.new, updated), append(l.toxic, isToxic)
}

// measure returns nil if there are no labels.
func (l labelledTexts) measure() *Labelled {
	if len(l.new) == 0 {
		return nil
	}
	m := &Labelled{Texts: len(l.new), Toxic: l.positives()}
	if m.Problem = problemOf(m.Texts, m.Toxic); m.Problem != "" {
		return m
	}
	m.NewAUC = l.auc(l.new)
	for _, t := range eval.Thresholds(20, InUse) {
		m.Points = append(m.Points, l.at(t, m.Toxic))
	}
	if before := l.withOld(); problemOf(len(before.new), before.positives()) == "" {
		m.OldAUC = before.auc(before.old)
		m.Difference = estimate(len(before.new), plain, func(units []int) float64 {
			return before.aucOf(before.new, units) - before.aucOf(before.old, units)
		}).Known()
	}
	return m
}

// problemOf says why labels cannot be compared with scores.
func problemOf(all, positive int) string {
	switch {
	case all < Support:
		return fmt.Sprintf("Only %s a label, at least %d are needed.", plural.Count(all, "text has", "texts have"), Support)
	case positive == 0:
		return fmt.Sprintf("None of the %d labelled texts is toxic: there is neither precision nor recall.", all)
	case positive == all:
		return fmt.Sprintf("All %d labelled texts are toxic: nothing shows what is flagged wrongly.", all)
	}
	return ""
}

func (l labelledTexts) withOld() labelledTexts {
	var rest labelledTexts
	for i, old := range l.old {
		if !math.IsNaN(old) {
			rest.add(old, true, l.new[i], l.toxic[i])
		}
	}
	return rest
}

func (l labelledTexts) positives() int {
	n := 0
	for _, yes := range l.toxic {
		if yes {
			n++
		}
	}
	return n
}

func (l labelledTexts) auc(scores []float64) *eval.Estimate {
	return estimate(len(scores), logistic, func(units []int) float64 { return l.aucOf(scores, units) }).Known()
}

func (l labelledTexts) aucOf(scores []float64, units []int) float64 {
	isToxic := make([]bool, len(units))
	for i, unit := range units {
		isToxic[i] = l.toxic[unit]
	}
	return eval.AUC(selected(scores, units), isToxic)
}

// at returns what a threshold on the new scores does.
func (l labelledTexts) at(threshold float64, positives int) Operating {
	flagged, right := 0, 0
	for i, score := range l.new {
		if score >= threshold {
			flagged++
			if l.toxic[i] {
				right++
			}
		}
	}
	point := Operating{Threshold: threshold, Flagged: eval.Share(flagged, len(l.new))}
	if flagged >= Support {
		point.Precision = eval.Share(right, flagged).Known()
	}
	if positives >= Support {
		point.Recall = eval.Share(right, positives).Known()
	}
	return point
}
