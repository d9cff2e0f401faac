package migration

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Document shows the results to people.
func (r Results) Document() report.Document {
	d := report.Document{
		Title:    "From the old scores to the new",
		Subtitle: fmt.Sprintf("%s of %s: %s compared with %s.", plural.Count(r.Texts, "text", "texts"), r.Input, cmp.Or(r.Old, "the labels"), r.New),
		Warnings: r.Warnings,
	}
	scales := append([]OnScale{r.OnScale}, r.OtherScales...)
	if len(scales) > 1 {
		d.Sections = append(d.Sections, between(scales))
	}
	for _, on := range scales {
		d.Sections = append(d.Sections, on.overview())
	}
	d.Sections = append(d.Sections, assumptions)
	for _, on := range scales {
		for _, c := range on.Compared {
			section := c.section()
			section.Title = on.titled(section.Title)
			d.Sections = append(d.Sections, section)
		}
	}
	d.Sections = append(d.Sections, method)
	return d
}

// titled returns a title with the scale, if there are several.
func (r OnScale) titled(title string) string {
	if r.Scale == "" {
		return title
	}
	return fmt.Sprintf("%s, scale %s", title, r.Scale)
}

// between shows which scale is more like the old scores.
func between(scales []OnScale) report.Section {
	table := report.Table{
		Caption: "How alike the old and the new scores rank the texts (Spearman), and the share of texts that the new thresholds decide otherwise, on each scale of the model.",
		Columns: []string{"attribute"}, Numeric: 1,
	}
	cells := map[toxscreen.Attribute][]report.Cell{}
	for _, on := range scales {
		table.Columns = append(table.Columns, fmt.Sprintf("Spearman, %s", on.Scale), fmt.Sprintf("decided otherwise, %s", on.Scale))
		for _, c := range on.Compared {
			var changed *eval.Estimate
			if t := c.AtInUse(); t != nil {
				changed = t.Changed
			}
			cells[c.Attribute] = append(cells[c.Attribute], report.Row(report.Optional(c.Spearman, report.Number), report.Optional(changed, report.Percent))...)
		}
	}
	for _, a := range toxscreen.Attributes() {
		if len(cells[a]) == 2*len(scales) {
			table.Rows = append(table.Rows, append(report.Row(name(a.String())), cells[a]...))
		}
	}
	return report.Section{Title: "Which scale", Blocks: []report.Block{
		table,
		report.Text("On the scale guideline, a score is the share of people who would call the text toxic: its thresholds have a meaning of their own. " +
			"On the scale perspective, it estimates the number that the Perspective API gave: where both agree, old thresholds hardly change. Choose one with the setting scale, and take over the thresholds of that scale only. " +
			"The server answers clients of the Perspective API on the scale perspective in any case."),
	}}
}

// overview has the results of all attributes.
func (r OnScale) overview() report.Section {
	s := report.Section{Title: r.titled("Results")}
	if main := r.main(); main != nil {
		s.Blocks = append(s.Blocks, main.figures())
	}
	changes := report.Table{
		Caption: "At the old thresholds in use, and the new thresholds that flag the same share of the texts. Brackets are intervals of 95 %.",
		Columns: []string{"attribute", "old threshold", "new threshold", "decided otherwise", "newly flagged", "no longer flagged"}, Numeric: 1,
	}
	agreement := report.Table{
		Caption: "How alike both systems rank all texts: 1 is the same order, 0 is no relation. Where most texts are harmless, this is mostly about their order, which decides nothing.",
		Columns: []string{"attribute", "texts", "Spearman", "Kendall's tau-b"}, Numeric: 1,
	}
	var points []report.Point
	low := 0.0
	for _, c := range r.Compared {
		t := c.AtInUse()
		if t == nil {
			continue
		}
		of := name(c.Attribute.String())
		changes.Rows = append(changes.Rows, append(report.Row(of, report.Exact(t.Old), threshold(t.New)), t.changes()...))
		agreement.Rows = append(agreement.Rows, report.Row(of, strconv.Itoa(c.Texts), report.Optional(c.Spearman, report.Number), report.Optional(c.Kendall, report.Number)))
		for i, e := range []*eval.Estimate{c.Spearman, c.Kendall} {
			if e != nil {
				points = append(points, report.Point{Label: of, Estimate: *e, Series: i})
				if e.Value < 0 || e.Interval != nil && e.Interval.Low < 0 {
					low = -1
				}
			}
		}
	}
	if len(changes.Rows) > 0 {
		s.Blocks = append(s.Blocks, changes, agreement, report.Intervals("Rank correlations with their intervals of 95 %.", "rank correlation", low, 1, []string{"Spearman", "Kendall's tau-b"}, points))
	}
	for _, c := range r.Compared {
		of := name(c.Attribute.String())
		if c.Problem != "" {
			s.Blocks = append(s.Blocks, report.Text(fmt.Sprintf("Nothing is carried over for %s: %s", of, c.Problem)))
		} else if t := c.AtInUse(); t.New == nil {
			s.Blocks = append(s.Blocks, report.Text(fmt.Sprintf("No new threshold for %s in place of %s: %s", of, report.Exact(t.Old), t.Problem)))
		}
	}
	if code := r.configuration(); code != "" {
		s.Blocks = append(s.Blocks, report.Code{Caption: "For toxscreen.yaml: the new thresholds at equal flag rate. See below who is affected before you take them over.", Text: code})
	} else {
		s.Blocks = append(s.Blocks, report.Text("There are no thresholds to propose."))
	}
	return s
}

// main returns toxicity, or the first other attribute with a threshold; nil if there is
// none.
func (r OnScale) main() *Comparison {
	for i, c := range r.Compared {
		if t := c.AtInUse(); t != nil && t.New != nil {
			return &r.Compared[i]
		}
	}
	return nil
}

func (c Comparison) figures() report.Figures {
	t := c.AtInUse()
	of := name(c.Attribute.String())
	figures := report.Figures{{Label: "New threshold for " + of, Value: report.Exact(t.New.Value), Interval: report.Range(t.New.Interval, report.Number), Note: "in place of " + report.Exact(t.Old)}}
	if t.Changed != nil {
		figures = append(figures, report.Figure{Label: "Decided otherwise", Value: report.Percent(t.Changed.Value), Interval: report.Range(t.Changed.Interval, report.Percent), Note: "of the texts, at that threshold"})
	}
	if c.Spearman != nil {
		figures = append(figures, report.Figure{Label: "Rank agreement", Value: report.Number(c.Spearman.Value), Interval: report.Range(c.Spearman.Interval, report.Number), Note: "Spearman, " + of})
	}
	if l := c.Labelled; l != nil && l.Difference != nil {
		figures = append(figures, report.Figure{Label: "AUC, new less old", Value: report.Number(l.Difference.Value), Interval: report.Range(l.Difference.Interval, report.Number), Note: "against the labels"})
	}
	return figures
}

// configuration returns the section thresholds for toxscreen.yaml, empty if there are
// none.
func (r OnScale) configuration() string {
	if r.Thresholds.Len() == 0 {
		return ""
	}
	var b strings.Builder
	if r.Scale != "" {
		fmt.Fprintf(&b, "scale: %s\n", r.Scale)
	}
	b.WriteString("thresholds:\n")
	for _, c := range r.Compared {
		if t, ok := r.Thresholds.Get(c.Attribute); ok {
			fmt.Fprintf(&b, "  %s: %s # in place of %s\n", c.Attribute, report.Exact(t), report.Exact(c.InUse))
		}
	}
	return b.String()
}

// assumptions are what shares depend on.
var assumptions = report.Section{Title: "What these numbers assume", Blocks: []report.Block{
	report.Text("Equal numbers do not mean the same. Perspective's scores were calibrated on a set of which half was toxic (Jigsaw, What do Perspective's scores mean?). " +
		"A score of toxscreen on the scale guideline estimates the share of people who would call the text toxic, in traffic with the share of toxic texts that its calibration assumes. " +
		"So an old threshold is not kept but mapped, also where both systems rank the texts alike."),
	report.Text("Shares of flagged texts, and precision, are those of this sample. They are those of your traffic only if the sample was drawn from it at random. " +
		"Of a sample with more toxic texts than the traffic, the new thresholds keep the flag rate of the sample, not that of the traffic."),
	report.Text("Nothing here changes what toxscreen scores. Thresholds of a program that compares scores by itself, such as a client of the Perspective API, are changed in that program. " +
		"With a threshold lower than the model's own, toxscreen runs the whole network on every text, which takes longer."),
}}

// method tells how the numbers were found.
var method = report.Section{Title: "How this was measured", Blocks: []report.Block{
	report.Text("Scores are those of the whole network. A text is flagged if its score reaches the threshold. The new threshold flags as many of the texts as the old one: equipercentile linking, " +
		"as in Kolen and Brennan, Test Equating, Scaling, and Linking (2004). It never falls as the old one rises. A regression of one score on the other would shrink toward the mean and flag other shares."),
	report.Text(fmt.Sprintf("Intervals are of 95 %%. Those of thresholds and of shares decided otherwise are the middle of %d resamples of the texts, in each of which the new threshold is chosen anew. "+
		"Those of rank correlations and of AUCs are by the bias-corrected and accelerated bootstrap for up to %d texts, and by a jackknife over %d groups of texts for more. Those of lengths, languages and groups are exact "+
		"(Clopper and Pearson) for the thresholds as given.", resamples, bootstrapped, eval.MostLeftOut)),
	report.Text(fmt.Sprintf("Nothing is computed from fewer than %d texts: a dash means that there are fewer on one side of a threshold, or that no threshold has the precision. "+
		"A text counts as toxic if half of the people say so; precision and recall are of the labelled texts only. The lowest new threshold with at least the old precision is shown, and the highest with at least the old recall.", Support)),
	report.Text("Ranks of single texts are the shares of texts with lower scores, so that the shifts do not depend on how scores are scaled."),
}}

// section shows one attribute.
func (c Comparison) section() report.Section {
	title := name(c.Attribute.String())
	s := report.Section{Title: strings.ToUpper(title[:1]) + title[1:]}
	add := func(blocks ...report.Block) { s.Blocks = append(s.Blocks, blocks...) }
	if c.Problem != "" {
		add(report.Text(c.Problem))
	}
	if len(c.Thresholds) > 0 {
		add(report.Histogram(fmt.Sprintf("How the scores of %s are distributed.", plural.Count(c.Texts, "text", "texts")), "score", report.Series{Name: "old", Values: c.old}, report.Series{Name: "new", Values: c.new}))
		add(c.mapped()...)
		add(c.thresholds())
		add(c.byLabels()...)
	}
	if c.Labelled != nil {
		add(c.Labelled.blocks()...)
	}
	add(c.slices()...)
	add(shifted("Texts that the new scores rank higher than the old ones, the largest shifts first.", c.Risen)...)
	add(shifted("Texts that the new scores rank lower than the old ones, the largest shifts first.", c.Fallen)...)
	return s
}

// mapped draws the map, if it has two points or more.
func (c Comparison) mapped() []report.Block {
	line := report.Line{Name: "new threshold"}
	for _, t := range c.Thresholds {
		if t.New == nil {
			continue
		}
		in := t.New.Interval
		if in == nil {
			in = &eval.Interval{Low: t.New.Value, High: t.New.Value}
		}
		line.X, line.Y = append(line.X, t.Old), append(line.Y, t.New.Value)
		line.Low, line.High = append(line.Low, in.Low), append(line.High, in.High)
	}
	if len(line.X) < 2 {
		return nil
	}
	return []report.Block{report.Lines("The new threshold that flags the same share of the texts, with its interval of 95 %. The dashed line would keep the number.", "old threshold", "new threshold", true, line)}
}

// thresholds is the table of the map and of what the thresholds do.
func (c Comparison) thresholds() report.Table {
	table := report.Table{
		Caption: fmt.Sprintf("For each old threshold, the new one that flags the same share of %s, and what it decides otherwise.", plural.Count(c.Texts, "text", "texts")),
		Columns: []string{"old threshold", "flagged", "new threshold", "decided otherwise", "newly flagged", "no longer flagged"}, Numeric: 1,
	}
	for _, t := range c.Thresholds {
		table.Rows = append(table.Rows, append(report.Row(c.oldThreshold(t), report.Percent(t.Flagged), threshold(t.New)), t.changes()...))
	}
	return table
}

// oldThreshold is the first cell of the row of an old threshold.
func (c Comparison) oldThreshold(t Threshold) string {
	if t.Old == c.InUse {
		return report.Exact(t.Old) + " (in use)"
	}
	return report.Exact(t.Old)
}

// byLabels is the table of what labels say about the thresholds, if there are labels.
func (c Comparison) byLabels() []report.Block {
	table := report.Table{
		Caption: "By the labels: precision and recall at the old threshold, then at the new one above; and the new thresholds with the same precision and with the same recall as the old one.",
		Columns: []string{"old threshold", "precision", "recall", "new threshold, same precision", "new threshold, same recall"}, Numeric: 1,
	}
	for _, t := range c.Thresholds {
		if l := t.Labelled; l != nil && *l != (ByLabels{}) {
			table.Rows = append(table.Rows, report.Row(c.oldThreshold(t), two(l.OldPrecision, l.NewPrecision), two(l.OldRecall, l.NewRecall), threshold(l.EqualPrecision), threshold(l.EqualRecall)))
		}
	}
	if len(table.Rows) == 0 {
		return nil
	}
	return []report.Block{table}
}

// changes are the cells of the texts that are decided otherwise.
func (t Threshold) changes() []report.Cell {
	cells := report.Row(report.Optional(t.Changed, report.Percent), share(t.Newly), share(t.NoLonger))
	if t.Changed != nil {
		cells[0].Shade = 4 * t.Changed.Value // full at a quarter of the texts
	}
	return cells
}

func (l Labelled) blocks() []report.Block {
	text := fmt.Sprintf("%s a label, %s toxic.", plural.Count(l.Texts, "text has", "texts have"), plural.Count(l.Toxic, "of them is", "of them are"))
	if l.Problem != "" {
		return []report.Block{report.Text(text + " " + l.Problem)}
	}
	if l.NewAUC != nil {
		text += " The area under the ROC curve of the new scores is " + report.Value(*l.NewAUC, report.Number)
		if l.OldAUC != nil {
			text += ", that of the old scores " + report.Value(*l.OldAUC, report.Number)
		}
		if l.Difference != nil {
			text += "; the difference on the same texts is " + report.Value(*l.Difference, report.Number)
		}
		text += "."
	}
	table := report.Table{
		Caption: "What thresholds on the new scores do among the labelled texts.",
		Columns: []string{"new threshold", "flagged", "precision", "recall"}, Numeric: 1,
	}
	for _, p := range l.Points {
		table.Rows = append(table.Rows, report.Row(report.Exact(p.Threshold), report.Value(p.Flagged, report.Percent), report.Optional(p.Precision, report.Percent), report.Optional(p.Recall, report.Percent)))
	}
	return []report.Block{report.Text(text), table}
}

// slices is the table of lengths, languages and groups.
func (c Comparison) slices() []report.Block {
	if len(c.Slices) == 0 {
		return nil
	}
	table := report.Table{
		Caption: "Who is affected at the old threshold in use and the new one.",
		Columns: []string{"by", "group", "texts", "flagged by the old", "flagged by the new", "decided otherwise", "newly flagged", "no longer flagged"}, Numeric: 2,
	}
	var small []string
	for _, g := range c.Slices {
		if g.Changed == nil {
			small = append(small, fmt.Sprintf("%s %s (%d)", g.Column, g.Value, g.Texts))
			continue
		}
		row := report.Row(g.Column, g.Value, strconv.Itoa(g.Texts), share(g.OldFlagged), share(g.NewFlagged),
			report.Optional(g.Changed, report.Percent), share(g.Newly), share(g.NoLonger))
		row[5].Shade = 4 * g.Changed.Value
		table.Rows = append(table.Rows, row)
	}
	var blocks []report.Block
	if len(table.Rows) > 0 {
		blocks = append(blocks, table)
	}
	if len(small) > 0 {
		more := ""
		if hidden := len(small) - 20; hidden > 0 {
			small, more = small[:20], fmt.Sprintf(" and %d more", hidden)
		}
		blocks = append(blocks, report.Text(fmt.Sprintf("Too small, with fewer than %d texts: %s%s.", Support, strings.Join(small, ", "), more)))
	}
	return blocks
}

// shownText is the number of characters of an example that are shown.
const shownText = 600

func shifted(caption string, all []Shift) []report.Block {
	if len(all) == 0 {
		return nil
	}
	examples := report.Examples{Caption: caption}
	table := report.Table{Caption: caption, Columns: []string{"text", "old score", "old rank", "new score", "new rank"}, Numeric: 1}
	withText := false
	for _, s := range all {
		of := cmp.Or(s.ID, "row "+strconv.FormatInt(s.Row, 10))
		table.Rows = append(table.Rows, report.Row(of, report.Number(s.Old), report.Percent(s.OldRank), report.Number(s.New), report.Percent(s.NewRank)))
		text := []rune(s.text)
		if len(text) > shownText {
			text = append(text[:shownText], '…')
		}
		withText = withText || len(text) > 0
		examples.Items = append(examples.Items, report.Example{
			Note: fmt.Sprintf("%s: %s, above %s of the texts; now %s, above %s", of, report.Number(s.Old), report.Percent(s.OldRank), report.Number(s.New), report.Percent(s.NewRank)),
			Text: string(text),
		})
	}
	if withText {
		return []report.Block{examples}
	}
	return []report.Block{table}
}

// name returns the name of an attribute in a sentence.
func name(attribute string) string { return strings.ReplaceAll(attribute, "_", " ") }

// share returns a share without its interval, which report.json has.
func share(e *eval.Estimate) string {
	if e == nil {
		return report.Absent
	}
	return report.Percent(e.Value)
}

// threshold returns a threshold with all its digits, and its interval.
func threshold(e *eval.Estimate) string {
	switch {
	case e == nil:
		return report.Absent
	case e.Interval == nil:
		return report.Exact(e.Value)
	}
	return fmt.Sprintf("%s (%s)", report.Exact(e.Value), report.Range(e.Interval, report.Number))
}

// two returns an old and a new share.
func two(old, updated *float64) string {
	of := func(v *float64) string {
		if v == nil {
			return report.Absent
		}
		return report.Percent(*v)
	}
	return of(old) + " → " + of(updated)
}
