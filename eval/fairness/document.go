package fairness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Document returns the results for people, in the form of a model card (Mitchell et al.,
// Model Cards for Model Reporting, arXiv 1810.03993).
func (r Results) Document() report.Document {
	d := report.Document{
		Title: "Fairness of " + r.Model,
		Subtitle: fmt.Sprintf("%s of %s %s about %s of people, from %s.",
			r.Attribute, humanize.Comma(int64(r.Groups.Texts)), plural.Word(r.Groups.Texts, "text", "texts"), plural.Count(len(r.Groups.Groups), "group", "groups"), r.Source),
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

// Summary returns a few lines with what matters most.
func (r Results) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s about %s, by %s\n", r.Attribute, plural.Count(r.Groups.Texts, "text", "texts"), plural.Count(len(r.Groups.Groups), "group", "groups"), r.Model)
	add := func(what string, g Grid) {
		for _, m := range AUCs() {
			if lowest, ok := g.Lowest(m); ok {
				fmt.Fprintf(&b, "%s: power mean %s; lowest %s %s, %s\n", m, report.Value(g.PowerMeans[m], area), what, lowest.Name, report.Value(lowest.Metrics[m], area))
			}
		}
		for class, name := range classNames {
			if group, e := g.mostShifted(class); e != nil {
				fmt.Fprintf(&b, "largest mean shift of %s texts: %s %s, %s\n", name, what, group, report.Value(*e, signed))
			}
		}
		if n := len(g.TooSmall); n > 0 {
			fmt.Fprintf(&b, "%ss too small to be measured: %d\n", what, n)
		}
	}
	add("group", r.Groups)
	if r.Intersections != nil {
		add("intersection", *r.Intersections)
	}
	return b.String()
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
		return area
	}
}

// area is [report.Number] of an AUC, of which only a perfect one is shown as 1.
func area(x float64) string {
	if text := report.Number(x); x == 1 || text != report.Number(1) {
		return text
	}
	return ">0.999"
}

// signed is [report.Number] with a sign.
func signed(x float64) string { return report.Signed(x, report.Number) }

func (r Results) headline() []report.Block {
	var figures report.Figures
	for _, m := range AUCs() {
		lowest, ok := r.Groups.Lowest(m)
		if !ok {
			continue
		}
		e := lowest.Metrics[m]
		figures = append(figures, report.Figure{
			Label: "Lowest " + titles[m] + ": " + lowest.Name, Value: area(e.Value), Interval: report.Range(e.Interval, area),
			Note: "power mean of all groups " + report.Value(r.Groups.PowerMeans[m], area),
		})
	}
	for class, name := range classNames {
		if group, e := r.Groups.mostShifted(class); e != nil {
			figures = append(figures, report.Figure{
				Label: "Largest mean shift of " + name + " texts: " + group, Value: signed(e.Value), Interval: report.Range(e.Interval, signed),
				Note: "of the score, against the same texts about others",
			})
		}
	}
	blocks := []report.Block{figures}
	if e, ok := r.Groups.Overall[AUC]; ok {
		blocks = append(blocks, report.Text("The AUC of all texts together is "+report.Value(e, area)+"."))
	}
	return append(blocks, report.Text(fmt.Sprintf(
		"In brackets are intervals of 95 %%. The report has %s of them: about %.0f miss the true value by chance. The lowest of many groups is partly the lowest by chance, so its true value is probably somewhat nearer to the others'.",
		humanize.Comma(int64(r.Intervals)), r.Missed)))
}

func (r Results) groups() []report.Block {
	fewest, most := math.MaxInt, 0
	for _, g := range r.Groups.Groups {
		fewest, most = min(fewest, g.Texts), max(most, g.Texts)
	}
	blocks := []report.Block{
		report.Text(fmt.Sprintf("%s %s to %s texts each. A dash is what was not measured.", plural.Count(len(r.Groups.Groups), "group has", "groups have"), humanize.Comma(int64(fewest)), humanize.Comma(int64(most)))),
		r.grid("How well toxic texts are told from clean ones. The darker, the farther under 1.", AUCs()),
		r.grid("How much higher texts about a group rank than others, and errors at the threshold. The darker, the farther from 0.", metrics[areaCount:]),
	}
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

// grid returns the groups with some of the metrics, and all texts below.
func (r Results) grid(caption string, metrics []Metric) report.Table {
	table := report.Table{Caption: caption, Columns: []string{"group"}, Numeric: 1}
	for _, m := range metrics {
		table.Columns = append(table.Columns, titles[m])
	}
	for _, g := range r.Groups.Groups {
		cells := report.Row(g.Name)
		for _, m := range metrics {
			cells = append(cells, cell(m, g.Metrics))
		}
		table.Rows = append(table.Rows, cells)
	}
	all := report.Row("all texts")
	for _, m := range metrics {
		if m == SubgroupAUC {
			m = AUC // the subgroup of all
		}
		all = append(all, cell(m, r.Groups.Overall))
	}
	table.Rows = append(table.Rows, all)
	return table
}

// cell shows a measure of a group, shaded by how bad it is.
func cell(m Metric, measured Estimates) report.Cell {
	e, ok := measured[m]
	if !ok {
		return report.Cell{Text: report.Absent}
	}
	text := report.Value(e, m.format())
	text = strings.Replace(text, " % to", " to", 1) // for narrow columns
	return report.Cell{Text: text, Shade: shade(m, e.Value)}
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

// widestShift is the mean shift, up or down, that has the full shade.
const widestShift = 0.25

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
	low = min(0.99, math.Floor(low*100)/100)
	caption := fmt.Sprintf("The %s with the lowest %s, from %s with %s.", plural.Count(len(points), "group", "groups"), titles[m], points[0].Label, report.Value(points[0].Estimate, area))
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
		Caption: "How much higher or lower a text scores with the name of this group than the mean of the same text with those of all groups. A decision flips if it differs from that of the mean. Means and shares weigh a sentence by the number that it stands for; counts are of those scored.",
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
		for class := range classNames {
			e := s.mean(class)
			if e == nil {
				cells = append(cells, report.Cell{Text: report.Absent})
				continue
			}
			cells = append(cells, report.Cell{Text: report.Value(*e, signed), Shade: math.Abs(e.Value) / widestShift})
			points = append(points, report.Point{Label: g.Name, Estimate: *e, Series: class})
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
	for class := range classNames {
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
		report.Intervals("The largest mean shifts of the score, over clean and over toxic texts. 0 is no shift.", "shift", -widest, widest, classNames[:], shown),
		examples,
	}
}

func (r Results) intersections() []report.Block {
	g := *r.Intersections
	var blocks []report.Block
	blocks = append(blocks, report.Text(fmt.Sprintf("%s %s, of them %s toxic, with %s of two groups that %s large enough.",
		humanize.Comma(int64(g.Texts)), plural.Word(g.Texts, "text", "texts"), humanize.Comma(int64(g.Toxic)), plural.Count(len(g.Groups), "intersection", "intersections"), plural.Word(len(g.Groups), "is", "are"))))
	summary := report.Table{Caption: "All intersections together.", Columns: []string{"", "lowest", "of", "power mean"}, Numeric: 1}
	beside := report.Table{Columns: []string{"", "lowest", "power mean", "Perspective: lowest", "Perspective: power mean"}, Numeric: 1}
	for _, m := range AUCs() {
		lowest, ok := g.Lowest(m)
		if !ok {
			continue
		}
		e, mean := lowest.Metrics[m], g.PowerMeans[m]
		summary.Rows = append(summary.Rows, report.Row(titles[m], report.Value(e, area), lowest.Name, report.Value(mean, area)))
		theirs, theirMean := perspective(m)
		beside.Rows = append(beside.Rows, report.Row(titles[m], area(e.Value), area(mean.Value), area(theirs), area(theirMean)))
	}
	if len(summary.Rows) > 0 {
		blocks = append(blocks, summary)
	}
	if r.Templates && r.Attribute == toxscreen.Toxicity && len(beside.Rows) > 0 {
		blocks = append(blocks, report.Text("As orientation, what Jigsaw published of Perspective's model TOXICITY@6 on all of these sentences. It counts a text about african americans as one about africans, too. A model that was trained on madlibs has an advantage here."), beside)
	}
	for _, m := range []Metric{SubgroupAUC, BPSNAUC} {
		table, ok := g.crossed(titles[m]+" of intersections", func(group Group) (report.Cell, bool) {
			e, ok := group.Metrics[m]
			return report.Cell{Text: area(e.Value), Shade: shade(m, e.Value)}, ok
		})
		if ok {
			blocks = append(blocks, table)
		}
	}
	for class, name := range classNames {
		table, ok := g.crossed("Mean shift of "+name+" texts about intersections", func(group Group) (report.Cell, bool) {
			e := group.Shift.mean(class)
			if e == nil {
				return report.Cell{}, false
			}
			return report.Cell{Text: signed(e.Value), Shade: math.Abs(e.Value) / widestShift}, true
		})
		if ok {
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

// crossed returns a measure of the intersections as a table with the first groups down and
// the second ones across. It returns false if no intersection has the measure, or if there are
// too many for a table.
func (g Grid) crossed(caption string, show func(Group) (report.Cell, bool)) (report.Table, bool) {
	const most = 40
	var down, across []string
	cells := map[string]report.Cell{}
	for _, group := range g.Groups {
		c, ok := show(group)
		if !ok {
			continue
		}
		a, b, _ := strings.Cut(group.Name, " × ")
		cells[group.Name] = c
		if !slices.Contains(down, a) {
			down = append(down, a)
		}
		if !slices.Contains(across, b) {
			across = append(across, b)
		}
	}
	table := report.Table{Caption: caption + ". report.json has the intervals.", Columns: append([]string{""}, across...), Numeric: 1}
	for _, a := range down {
		row := report.Row(a)
		for _, b := range across {
			row = append(row, cells[intersection(a, b)])
		}
		table.Rows = append(table.Rows, row)
	}
	return table, len(down) > 0 && max(len(down), len(across)) <= most
}

func (r Results) explanation() []report.Block {
	unit := "rows. They say how figures would vary with other rows of this kind."
	if r.Groups.Units < r.Groups.Texts {
		unit = "templates, since the sentences of a template are alike. They say how figures would vary with other templates of this kind. Templates share their words with each other, so that intervals are rather too narrow."
	}
	return []report.Block{
		report.Text("The background of a group is every other text. Subgroup AUC: how often a toxic text about the group scores higher than a clean one about it. BPSN AUC: a toxic text of the background against a clean one about the group; it is low if clean texts about the group score too high. BNSP AUC: a toxic text about the group against a clean one of the background; it is low if toxic texts about the group score too low. 1 is perfect, 0.5 is chance (Borkan et al. 2019, arXiv 1903.04561)."),
		report.Text("Positive and negative AEG, the average equality gaps: how often a toxic (positive) or clean (negative) text about the group scores higher than one of the background, less a half. 0 is equal, over 0 the group's texts score higher, and 0.5 is the most. A gap is about ranks: it can be large where scores differ by a hundredth."),
		report.Text("The power mean has the exponent -5, so that the worst groups count most. Error rates are shares of the clean texts at or over the threshold, and of the toxic ones under it."),
		report.Text("Intervals are from 2,000 resamples (bootstrap, bias-corrected and accelerated) of " + unit + " A number without an interval had the same value in all resamples."),
	}
}

// card is what a model card says beside the numbers.
func (r Results) card() []report.Block {
	factors := "Groups and intersections as the rows name them."
	data := fmt.Sprintf("%s: %s texts with a label and a score, %s of them toxic.", r.Source, humanize.Comma(int64(r.Groups.Texts)), humanize.Comma(int64(r.Groups.Toxic)))
	caveats := "Labels say what raters thought; if they judged groups differently, the figures take that for the truth. A group with few texts has wide intervals, and a group that is too small has no number, which is no sign of fairness."
	if r.Templates {
		factors = "50 words for ethnicity, religion, gender, sexuality, age and disability, and 255 intersections of an ethnicity with a gender or a sexuality, in American English."
		data = fmt.Sprintf("Perspective's Sentence Templates (Conversation AI, CC-BY-4.0), English: %s of %s sentences about groups and their intersections. Half are labelled toxic, for the verb or adjective in them.",
			humanize.Comma(int64(r.scored())), humanize.Comma(int64(r.Sentences)))
		caveats = "The sentences are short and simple, and hardly like what people write; their authors say that they may reflect their own biases. A good result here is necessary, not sufficient: measure texts of your own with -i. Words for groups that are not among the 50 are not tested, nor are dialects, names or spelling. Some sentences are ungrammatical."
	}
	table := report.Table{Columns: []string{"", ""}, Numeric: 2}
	for _, line := range [][2]string{
		{"Model", r.Model},
		{"Intended use", r.Use},
		{"Not for", r.Misuse},
		{"Trained on", strings.Join(r.Data, ", ")},
		{"Scored by", "toxscreen " + r.Toxscreen + ", the whole network, no judge, calibration " + r.Calibration},
		{"Measured", fmt.Sprintf("%s, flagged at or over %v", r.Attribute, r.Threshold)},
		{"Evaluation data", data},
		{"Factors", factors},
		{"Metrics", "Subgroup, BPSN and BNSP AUC, positive and negative AEG, error rates at the threshold, shifts of the score between groups; power means of AUCs"},
		{"Smallest group", fmt.Sprintf("%d toxic or clean texts (templates, where there are), and as many of others", r.MinSize)},
		{"Seed", strconv.FormatUint(r.Seed, 10)},
		{"Caveats", caveats},
	} {
		if line[1] != "" {
			table.Rows = append(table.Rows, report.Row(line[0], line[1]))
		}
	}
	return []report.Block{table}
}

// scored returns the number of sentences of templates that were scored.
func (r Results) scored() int {
	n := r.Groups.Texts
	if r.Intersections != nil {
		n += r.Intersections.Texts
	}
	return n
}
