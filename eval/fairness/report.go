package fairness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
)

// Document returns the results for people, in the form of a model card (Mitchell et al.,
// Model Cards for Model Reporting, arXiv 1810.03993).
func (r Results) Document() report.Document {
	d := report.Document{
		Title:    "Fairness of " + r.Model,
		Subtitle: fmt.Sprintf("%s of %s texts about %d groups of people, from %s.", r.Attribute, thousands(r.Groups.Texts), len(r.Groups.Groups), r.Source),
		Warnings: r.Warnings,
	}
	d.Sections = append(d.Sections, report.Section{Title: "Results", Blocks: r.headline()}, report.Section{Title: "Groups", Blocks: r.groups()})
	if shifts := r.shifts(); len(shifts) > 0 {
		d.Sections = append(d.Sections, report.Section{Title: "The same text about other people", Blocks: shifts})
	}
	if r.Intersections != nil {
		d.Sections = append(d.Sections, report.Section{Title: "Intersections", Blocks: r.intersections()})
	}
	d.Sections = append(d.Sections,
		report.Section{Title: "How to read it", Blocks: r.explanation()},
		report.Section{Title: "Model card", Blocks: r.card()})
	return d
}

// titles are the names of metrics for people.
var titles = map[Metric]string{
	AUC: "AUC", SubgroupAUC: "subgroup AUC", BPSNAUC: "BPSN AUC", BNSPAUC: "BNSP AUC", PositiveAEG: "positive AEG", NegativeAEG: "negative AEG",
	FalsePositiveRate: "false positives", FalseNegativeRate: "false negatives",
}

// format returns how numbers of a metric are shown.
func (m Metric) format() func(float64) string {
	switch m {
	case FalsePositiveRate, FalseNegativeRate:
		return report.Percent
	case PositiveAEG, NegativeAEG:
		return signed
	default:
		return report.Number
	}
}

// signed is [report.Number] with a sign.
func signed(x float64) string {
	if text := report.Number(x); x > 0 {
		return "+" + text
	}
	return report.Number(x)
}

// thousands returns a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func (r Results) headline() []report.Block {
	var figures report.Figures
	for _, m := range AUCs() {
		lowest, ok := r.Groups.Lowest(m)
		if !ok {
			continue
		}
		e, mean := lowest.Metrics[m], r.Groups.PowerMeans[m]
		figures = append(figures, report.Figure{
			Label: "Lowest " + titles[m] + ": " + lowest.Name, Value: report.Number(e.Value), Interval: report.Range(e.Interval, report.Number),
			Note: "power mean of all groups " + report.Value(mean, report.Number),
		})
	}
	blocks := []report.Block{figures}
	if e, ok := r.Groups.Overall[AUC]; ok {
		blocks = append(blocks, report.Text("The AUC of all texts together is "+report.Value(e, report.Number)+"."))
	}
	return append(blocks, report.Text(fmt.Sprintf(
		"In brackets are intervals of 95 %%. The report has %s of them: about %.0f miss the true value by chance. The lowest of many groups is partly the lowest by chance, so its true value is probably somewhat higher than shown.",
		thousands(r.Intervals), r.Missed)))
}

func (r Results) groups() []report.Block {
	table := report.Table{
		Caption: "Each group with its intervals. The darker, the worse: AUCs under 1, gaps away from 0, errors over 0.",
		Columns: []string{"group", "texts"}, Numeric: 1,
	}
	for _, m := range Metrics() {
		table.Columns = append(table.Columns, titles[m])
	}
	for _, g := range r.Groups.Groups {
		cells := report.Row(g.Name, thousands(g.Texts))
		for _, m := range Metrics() {
			cells = append(cells, cell(m, g.Metrics))
		}
		table.Rows = append(table.Rows, cells)
	}
	all := report.Row("all texts", thousands(r.Groups.Texts))
	for _, m := range Metrics() {
		c := report.Cell{Text: "–"}
		if e, ok := r.Groups.Overall[m]; ok {
			c.Text = report.Value(e, m.format())
		}
		all = append(all, c)
	}
	table.Rows = append(table.Rows, all)
	blocks := []report.Block{table}
	for _, m := range AUCs() {
		if chart, ok := r.Groups.chart(m); ok {
			blocks = append(blocks, chart)
		}
	}
	if small := r.Groups.small(r.MinSize); small != "" {
		blocks = append(blocks, report.Text(small))
	}
	return blocks
}

// cell shows a measure of a group, shaded by how bad it is.
func cell(m Metric, measured Estimates) report.Cell {
	e, ok := measured[m]
	if !ok {
		return report.Cell{Text: "–"}
	}
	return report.Cell{Text: report.Value(e, m.format()), Shade: shade(m, e.Value)}
}

// shade returns 1 for an AUC of 0.8 or less, a gap of 0.25 or more, and for every second
// decision that is wrong.
func shade(m Metric, value float64) float64 {
	switch m {
	case PositiveAEG, NegativeAEG:
		return math.Abs(value) / 0.25
	case FalsePositiveRate, FalseNegativeRate:
		return value / 0.5
	default:
		return (1 - value) / 0.2
	}
}

// chart draws the groups with the lowest values of a metric.
func (g Grid) chart(m Metric) (report.Chart, bool) {
	const most = 20
	var points []report.Point
	low := 1.0
	for _, group := range g.Groups {
		if e, ok := group.Metrics[m]; ok {
			points = append(points, report.Point{Label: group.Name, Estimate: e})
		}
	}
	if len(points) < 2 {
		return report.Chart{}, false
	}
	slices.SortStableFunc(points, func(a, b report.Point) int { return cmp.Compare(a.Estimate.Value, b.Estimate.Value) })
	points = points[:min(most, len(points))]
	for _, p := range points {
		low = min(low, p.Estimate.Value)
		if p.Estimate.Interval != nil {
			low = min(low, p.Estimate.Interval.Low)
		}
	}
	if low = math.Floor(low*10) / 10; low == 1 {
		low = 0.9
	}
	caption := fmt.Sprintf("The %d groups with the lowest %s, from %s with %s.", len(points), titles[m], points[0].Label, report.Value(points[0].Estimate, report.Number))
	return report.Intervals(caption, titles[m], low, 1, nil, points), true
}

// small names the groups that are too small.
func (g Grid) small(least int) string {
	const most = 30
	if len(g.TooSmall) == 0 {
		return ""
	}
	var names []string
	for _, s := range g.TooSmall[:min(most, len(g.TooSmall))] {
		names = append(names, fmt.Sprintf("%s (%d toxic, %d clean)", s.Name, s.Toxic, s.Clean))
	}
	if more := len(g.TooSmall) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more in report.json", more))
	}
	return fmt.Sprintf("Too small to be measured, with fewer than %d toxic and fewer than %d clean texts: %s.", least, least, strings.Join(names, ", "))
}

func (r Results) shifts() []report.Block {
	table := report.Table{
		Caption: "How much higher or lower a text scores with the name of this group than the mean of the same text with those of all groups. A decision flips if it differs from that of the mean.",
		Columns: []string{"group", "clean texts", "toxic texts", "largest", "flipped decisions"}, Numeric: 1,
	}
	var points []report.Point
	var largest []Group
	widest := 0.0
	for _, g := range r.Groups.Groups {
		s := g.Shift
		if s == nil {
			continue
		}
		largest = append(largest, g)
		cells := report.Row(g.Name)
		for i, e := range []*eval.Estimate{s.Clean, s.Toxic} {
			if e == nil {
				cells = append(cells, report.Cell{Text: "–"})
				continue
			}
			cells = append(cells, report.Cell{Text: report.Value(*e, signed), Shade: math.Abs(e.Value) / 0.25})
			points = append(points, report.Point{Label: g.Name, Estimate: *e, Series: i})
			widest = max(widest, math.Abs(e.Value))
			if e.Interval != nil {
				widest = max(widest, -e.Interval.Low, e.Interval.High)
			}
		}
		cells = append(cells, report.Cell{Text: signed(s.Largest), Shade: math.Abs(s.Largest)},
			report.Cell{Text: fmt.Sprintf("%s, %d of %d", report.Value(s.Flipped, report.Percent), s.Flips, s.Texts), Shade: s.Flipped.Value / 0.5})
		table.Rows = append(table.Rows, cells)
	}
	if len(table.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(points, func(a, b report.Point) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(math.Abs(b.Estimate.Value), math.Abs(a.Estimate.Value)))
	})
	const most = 12 // of each class
	var shown []report.Point
	for class := range classes {
		own := slices.DeleteFunc(slices.Clone(points), func(p report.Point) bool { return p.Series != class })
		shown = append(shown, own[:min(most, len(own))]...)
	}
	widest = math.Ceil(max(widest, 0.01)*20) / 20
	slices.SortStableFunc(largest, func(a, b Group) int {
		return cmp.Compare(math.Abs(b.Shift.Largest), math.Abs(a.Shift.Largest))
	})
	examples := report.Examples{Caption: "The largest shifts of single texts."}
	for _, g := range largest[:min(10, len(largest))] {
		examples.Items = append(examples.Items, report.Example{Note: fmt.Sprintf("%s: %s", g.Name, signed(g.Shift.Largest)), Text: g.Shift.Text})
	}
	return []report.Block{
		table,
		report.Intervals("The largest mean shifts of the score, over clean and over toxic texts. 0 is no shift.", "shift", -widest, widest, []string{"clean", "toxic"}, shown),
		examples,
	}
}

func (r Results) intersections() []report.Block {
	g := *r.Intersections
	var blocks []report.Block
	blocks = append(blocks, report.Text(fmt.Sprintf("%s texts, of them %s toxic, with %d intersections of two groups that are large enough.", thousands(g.Texts), thousands(g.Toxic), len(g.Groups))))
	summary := report.Table{Caption: "All intersections together.", Columns: []string{"", "lowest", "of", "power mean"}, Numeric: 1}
	published := r.Templates && r.Attribute == toxscreen.Toxicity
	if published {
		summary.Caption = "All intersections together. Beside it, what Jigsaw published of Perspective's model TOXICITY@6 on all of these sentences, as orientation: it counts a text about african americans as one about africans, too."
		summary.Columns = append(summary.Columns, "Perspective: lowest", "power mean")
	}
	for _, m := range AUCs() {
		lowest, ok := g.Lowest(m)
		if !ok {
			continue
		}
		cells := report.Row(titles[m], report.Value(lowest.Metrics[m], report.Number), lowest.Name, report.Value(g.PowerMeans[m], report.Number))
		if published {
			least, mean := perspective(m)
			cells = append(cells, report.Row(report.Number(least), report.Number(mean))...)
		}
		summary.Rows = append(summary.Rows, cells)
	}
	if len(summary.Rows) > 0 {
		blocks = append(blocks, summary)
	}
	for _, m := range []Metric{SubgroupAUC, BPSNAUC} {
		if table, ok := g.crossed(m); ok {
			blocks = append(blocks, table)
		}
	}
	if chart, ok := g.chart(SubgroupAUC); ok {
		blocks = append(blocks, chart)
	}
	if small := g.small(r.MinSize); small != "" {
		blocks = append(blocks, report.Text(small))
	}
	return blocks
}

// crossed returns a metric of the intersections as a table with the first groups down and
// the second ones across.
func (g Grid) crossed(m Metric) (report.Table, bool) {
	var down, across []string
	measured := map[string]Group{}
	for _, group := range g.Groups {
		a, b, _ := strings.Cut(group.Name, " × ")
		if _, ok := group.Metrics[m]; !ok {
			continue
		}
		measured[group.Name] = group
		if !slices.Contains(down, a) {
			down = append(down, a)
		}
		if !slices.Contains(across, b) {
			across = append(across, b)
		}
	}
	table := report.Table{Caption: titles[m] + " of intersections. report.json has the intervals and the other metrics.", Columns: append([]string{""}, across...), Numeric: 1}
	for _, a := range down {
		cells := report.Row(a)
		for _, b := range across {
			c := report.Cell{}
			if group, ok := measured[Intersection(a, b)]; ok {
				value := group.Metrics[m].Value
				c = report.Cell{Text: strconv.FormatFloat(value, 'f', 2, 64), Shade: shade(m, value)}
			}
			cells = append(cells, c)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table, len(table.Rows) > 0 && max(len(down), len(across)) <= 40 // of words of a user's
}

func (r Results) explanation() []report.Block {
	unit := "rows"
	if r.Groups.Units < r.Groups.Texts {
		unit = "templates, since the sentences of a template are alike"
	}
	return []report.Block{
		report.Text("The background of a group is every other text. Subgroup AUC: how often a toxic text about the group scores higher than a clean one about it. BPSN AUC: a toxic text of the background against a clean one about the group; it is low if clean texts about the group score too high. BNSP AUC: a toxic text about the group against a clean one of the background; it is low if toxic texts about the group score too low. 1 is perfect, 0.5 is chance (Borkan et al. 2019, arXiv 1903.04561)."),
		report.Text("Positive and negative AEG, the average equality gaps: how often a toxic (positive) or clean (negative) text about the group scores higher than one of the background, less a half. 0 is equal, over 0 the group's texts score higher, and 0.5 is the most. A gap is about ranks: it can be large where scores differ by a hundredth."),
		report.Text("The power mean has the exponent -5, so that the worst groups count most. Error rates are shares of the clean texts at or over the threshold, and of the toxic ones under it."),
		report.Text("Intervals are from 2,000 resamples (bootstrap, bias-corrected and accelerated) of " + unit + ". A number without an interval had the same value in all resamples. Templates share their words with each other, so that intervals are rather too narrow. They say how figures would vary with other such texts, not with other kinds of texts."),
	}
}

// card is what a model card says beside the numbers.
func (r Results) card() []report.Block {
	factors := "Groups and intersections as the rows name them."
	data := fmt.Sprintf("%s: %s texts with a label and a score, %s of them toxic.", r.Source, thousands(r.Groups.Texts), thousands(r.Groups.Toxic))
	caveats := "Labels say what raters thought; if they judged groups differently, the figures take that for the truth. A group with few texts has wide intervals, and a group that is too small has no number, which is no sign of fairness."
	if r.Templates {
		factors = "50 words for ethnicity, religion, gender, sexuality, age and disability, and 255 intersections of an ethnicity with a gender or a sexuality, in American English."
		data = fmt.Sprintf("Perspective's Sentence Templates (Conversation AI, CC-BY-4.0), English: %s of %s sentences about groups and their intersections. Half are labelled toxic, for the verb or adjective in them.",
			thousands(r.scored()), thousands(r.Sentences))
		caveats = "The sentences are short and simple, and hardly like what people write; their authors say that they may reflect their own biases. A good result here is necessary, not sufficient: measure texts of your own with -i. Words for groups that are not among the 50 are not tested, nor are dialects, names or spelling. Some sentences are ungrammatical."
	}
	return []report.Block{report.Table{
		Columns: []string{"", ""}, Numeric: 2,
		Rows: [][]report.Cell{
			report.Row("Model", r.Model),
			report.Row("Scored by", "toxscreen "+r.Toxscreen+", the whole network, no judge, calibration "+r.Calibration),
			report.Row("Measured", fmt.Sprintf("%s, flagged at or over %v", r.Attribute, r.Threshold)),
			report.Row("Data", data),
			report.Row("Factors", factors),
			report.Row("Metrics", "Subgroup, BPSN and BNSP AUC, positive and negative AEG, error rates at the threshold, shifts of the score between groups; power means of AUCs"),
			report.Row("Smallest group", fmt.Sprintf("%d toxic or clean texts (templates, where there are), and as many of others", r.MinSize)),
			report.Row("Seed", strconv.FormatUint(r.Seed, 10)),
			report.Row("Caveats", caveats),
		},
	}}
}

// scored returns the number of sentences of templates that were scored.
func (r Results) scored() int {
	n := r.Groups.Texts
	if r.Intersections != nil {
		n += r.Intersections.Texts
	}
	return n
}
