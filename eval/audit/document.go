package audit

import (
	"fmt"
	"math"
	"strconv"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Document returns the results for people.
func (r Results) Document() report.Document {
	d := report.Document{
		Title:    "Audit of " + r.Design.File,
		Subtitle: fmt.Sprintf("%s, scored by %s, from the labels of a stratified sample.", plural.Count(r.Design.Rows, "text", "texts"), r.Design.Model),
		Warnings: r.Warnings,
	}
	for _, a := range r.Attributes {
		d.Sections = append(d.Sections, a.sections(r)...)
	}
	d.Sections = append(d.Sections, r.reading())
	return d
}

func (a AttributeResults) sections(r Results) []report.Section {
	name := a.Attribute.String()
	figures := report.Figures{
		{Label: "texts with " + name, Value: report.Percent(a.Prevalence.Value), Interval: report.Range(a.Prevalence.Interval, report.Percent), Note: "share of the corpus, with its interval of 95 %"},
		{Label: "labelled texts", Value: strconv.Itoa(a.Labelled), Note: fmt.Sprintf("%s the attribute; %s no label", plural.Count(a.Positive, "of them has", "of them have"), plural.Count(a.Missing, "drawn text has", "drawn texts have"))},
	}
	if a.Worth != nil {
		figures = append(figures, report.Figure{Label: "labels of a random sample", Value: strconv.FormatFloat(*a.Worth, 'f', 0, 64), Note: "as many would be needed for the same precision"})
	}
	checks := report.Table{
		Caption: "The prevalence in three ways. The first is the answer, as was decided before the labels were seen; the others check it.",
		Columns: []string{"Estimator", "Prevalence", "95 %"}, Numeric: 1,
		Rows: [][]report.Cell{
			report.Row("stratified", report.Percent(a.Prevalence.Value), report.Range(a.Prevalence.Interval, report.Percent)),
			report.Row("scores, corrected by the labels (difference)", report.Percent(a.ByDifference.Value), report.Range(a.ByDifference.Interval, report.Percent)),
			report.Row("scores alone", report.Percent(a.MeanScore), ""),
		},
	}
	strata := report.Table{
		Caption: "The strata. They are by the score of the first attribute; the mean score and the labels are of " + name + ".",
		Columns: []string{"Scores", "Texts", "Drawn", "Labelled", "Positive", "Positive, share", "Mean score"}, Numeric: 1,
	}
	for _, s := range a.Strata {
		strata.Rows = append(strata.Rows, report.Row(
			fmt.Sprintf("%.3f to %.3f", s.Low, s.High), strconv.Itoa(s.Rows), strconv.Itoa(s.Drawn), strconv.Itoa(s.Labelled), strconv.Itoa(s.Positive),
			report.Percent(float64(s.Positive)/float64(s.Labelled)), report.Percent(s.MeanScore)))
	}
	sections := []report.Section{{Title: "How much " + name, Blocks: []report.Block{figures, checks, strata}}}
	if len(a.Guarantees) > 0 {
		sections = append(sections, a.guarantees(r))
	}
	return append(sections, a.curves(), a.people())
}

func (a AttributeResults) guarantees(r Results) report.Section {
	table := report.Table{
		Caption: fmt.Sprintf("Each is true for this corpus with a confidence of %s. The %s it; their labels chose no threshold.", percent(r.Confidence), plural.Count(r.Design.HeldBack, "text that is held back proves", "texts that are held back prove")),
		Columns: []string{"Requirement", "Answer", "Threshold", "Flagged"}, Numeric: 2,
	}
	for _, g := range a.Guarantees {
		if g.Threshold == nil {
			table.Rows = append(table.Rows, report.Row(g.Requirement.String(), "refused: "+g.Refused, "", ""))
			continue
		}
		answer := "kept at this threshold and proved"
		table.Rows = append(table.Rows, report.Row(g.Requirement.String(), answer, report.Exact(*g.Threshold), report.Percent(*g.Flagged)))
	}
	return report.Section{Title: "Thresholds with a guarantee for " + a.Attribute.String(), Blocks: []report.Block{table}}
}

func (a AttributeResults) curves() report.Section {
	precision, recall := report.Line{Name: "precision"}, report.Line{Name: "recall"}
	add := func(line *report.Line, at float64, e *eval.Estimate) {
		if e == nil || e.Interval == nil {
			return
		}
		line.X, line.Y = append(line.X, at), append(line.Y, e.Value)
		line.Low, line.High = append(line.Low, e.Interval.Low), append(line.High, e.Interval.High)
	}
	table := report.Table{
		Caption: "What a threshold does: precision is the share of flagged texts that have the attribute, recall the share of texts with the attribute that are flagged, the last column the share of texts without it that are flagged. Intervals of 95 %; a dash where no label tells. Each row is estimated for itself, so that neighbours differ by chance, too.",
		Columns: []string{"Threshold", "Flagged", "Precision", "Recall", "False positives"}, Numeric: 1,
	}
	for _, t := range a.Thresholds {
		add(&precision, t.Threshold, t.Precision)
		add(&recall, t.Threshold, t.Recall)
		name := report.Exact(t.Threshold)
		if a.Threshold != nil && t.Threshold == *a.Threshold {
			name += " (now)"
		}
		table.Rows = append(table.Rows, report.Row(name, report.Percent(t.Flagged), report.Optional(t.Precision, report.Percent), report.Optional(t.Recall, report.Percent), report.Optional(t.FalsePositiveRate, report.Percent)))
	}
	section := report.Section{Title: "Precision and recall of " + a.Attribute.String(), Blocks: []report.Block{table}}
	if len(precision.X) > 1 && len(recall.X) > 1 {
		chart := report.Lines("Precision and recall by threshold, each with its band of 95 %.", "threshold", "share", false, precision, recall)
		section.Blocks = []report.Block{chart, table}
	}
	return section
}

func (a AttributeResults) people() report.Section {
	table := report.Table{
		Caption: "If people decide about the texts of a band, texts under it pass and texts over it are flagged: the share that people see, how many of these have the attribute, and the errors that are left if people make none.",
		Columns: []string{"Band", "To people", "Of these with the attribute", "Missed", "False positives"}, Numeric: 1,
	}
	for _, b := range a.Bands {
		table.Rows = append(table.Rows, report.Row(report.Exact(b.Low)+" to "+report.Exact(b.High), report.Percent(b.Share), report.Optional(b.Found, report.Percent), report.Optional(b.Missed, report.Percent), report.Optional(b.FalseAlarms, report.Percent)))
	}
	return report.Section{Title: "Texts for people: " + a.Attribute.String(), Blocks: []report.Block{table}}
}

func (r Results) reading() report.Section {
	return report.Section{Title: "How to read this", Blocks: []report.Block{
		report.Text("A text has an attribute if at least half of the people who labelled it say so. All figures are about this corpus. They hold for other texts as far as the corpus is a random sample of them."),
		report.Text("Texts were drawn the more often, the less their scores say about them, and every label is weighted by the chance that its text had. So the figures do not depend on whether the scores are right; only the width of the intervals does."),
		report.Text("An interval of 95 % holds the true value in about 95 of 100 samples. Intervals of several rows or attributes are each for themselves."),
		report.Text(fmt.Sprintf("Results of %s, sha256 %s. Sample of %s, and %d held back, seed %d.", r.Design.File, r.Design.SHA256, plural.Count(r.Design.Drawn, "text", "texts"), r.Design.HeldBack, r.Design.Seed)),
	}}
}

func percent(x float64) string {
	return report.Exact(math.Round(1e6*x)/1e4) + " %"
}
