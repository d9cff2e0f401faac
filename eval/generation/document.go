package generation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/report"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// published are figures for RealToxicityPrompts, scored by Perspective in 2020, from the
// notebooks of Gehman et al. (allenai/real-toxicity-prompts): expected maximum toxicity
// and toxicity probability for toxic and non-toxic prompts.
var published = [][]report.Cell{
	report.Row("GPT-2", "0.745", "0.870", "0.506", "0.471"),
	report.Row("GPT-3 davinci", "0.747", "0.861", "0.521", "0.496"),
	report.Row("GPT-1", "0.772", "0.901", "0.580", "0.600"),
	report.Row("GPT-2, trained further on non-toxic text (DAPT)", "0.566", "0.584", "0.366", "0.223"),
	report.Row("GPT-2, steered (PPLM)", "0.517", "0.489", "0.316", "0.168"),
}

// Document shows the results of a run. examples is the number of the worst generations that the report
// has.
func (r Results) Document(run Run, examples int) report.Document {
	s := r.Settings
	d := report.Document{
		Title: "Toxicity of " + s.Model,
		Subtitle: fmt.Sprintf("%s (%s), %s each, scored by %s, toxscreen %s, %s.",
			plural.Count(r.Prompts, "prompt", "prompts"), setName(s), plural.Count(s.Protocol.Generations, "generation", "generations"), s.Classifier, s.Toxscreen, s.Started.UTC().Format(time.DateOnly)),
		Warnings: r.Warnings,
	}
	main := r.Attributes[0]
	headline := report.Figures{
		{Label: "Expected maximum " + main.Attribute.String(), Value: report.Number(main.ExpectedMaximum.Value), Interval: report.Range(main.ExpectedMaximum.Interval, report.Number), Note: "mean of the highest score of each prompt"},
		{Label: "Toxicity probability", Value: report.Percent(main.Probability.Value), Interval: report.Range(main.Probability.Interval, report.Percent), Note: fmt.Sprintf("prompts with a generation at or over %g", main.Threshold)},
		{Label: "Toxic fraction", Value: report.Percent(main.Fraction.Value), Interval: report.Range(main.Fraction.Interval, report.Percent), Note: "of all generations"},
	}
	if main.Corrected != nil {
		headline = append(headline, report.Figure{Label: "Toxic fraction, corrected", Value: report.Percent(main.Corrected.Value), Interval: report.Range(main.Corrected.Interval, report.Percent), Note: "without the classifier's errors, whose uncertainty is in the interval"})
	}
	var highest, all []float64
	for _, sample := range run.Samples {
		if incomplete(sample) {
			continue
		}
		top := 0.0
		for _, g := range sample.Generations {
			p, _ := g.Scores.Get(main.Attribute)
			all, top = append(all, p), max(top, p)
		}
		highest = append(highest, top)
	}
	d.Sections = append(d.Sections, report.Section{Title: "Results", Blocks: []report.Block{
		headline,
		report.Histogram("How scores are distributed: of all generations, and the highest of each prompt", main.Attribute.String(),
			report.Series{Name: "all generations", Values: all}, report.Series{Name: "highest of each prompt", Values: highest}),
	}})
	d.Sections = append(d.Sections, r.attributes())
	if len(main.Bands) > 0 {
		d.Sections = append(d.Sections, section("Bands of prompts", main.Attribute, main.Bands))
	}
	if len(main.Groups) > 0 {
		d.Sections = append(d.Sections, section("Groups", main.Attribute, main.Groups))
	}
	if worst := r.Worst[:min(examples, len(r.Worst))]; len(worst) > 0 {
		shown := report.Examples{Caption: "The generations with the highest toxicity. Click to read; texts are often offensive."}
		for _, w := range worst {
			note := fmt.Sprintf("%s %s, generation %d", toxscreen.Toxicity, report.Number(w.Toxicity), w.Generated)
			if w.Band != "" {
				note += " of a prompt in " + w.Band
			}
			shown.Items = append(shown.Items, report.Example{Note: note, Text: w.Prompt + " […] " + w.Text})
		}
		d.Sections = append(d.Sections, report.Section{Title: "Worst generations", Blocks: []report.Block{shown}})
	}
	d.Sections = append(d.Sections,
		report.Section{Title: "For orientation", Blocks: []report.Block{
			report.Text("These models were measured with RealToxicityPrompts' own prompts and scored by Perspective in 2020. Other prompts and another classifier give other numbers: compare orders of magnitude, not digits. " +
				"Scoring the same generations again two years later already halved the number of toxic prompts (Pozzobon et al., 2023)."),
			report.Table{
				Caption: "Published figures, 25 generations of 20 tokens", Numeric: 1,
				Columns: []string{"model", "toxic prompts: expected maximum", "probability", "non-toxic prompts: expected maximum", "probability"}, Rows: published,
			},
		}},
		report.Section{Title: "How to read this", Blocks: []report.Block{
			report.Text("Intervals hold the true value in 95 % of such runs. They come from drawing the prompts anew, by the bias-corrected and accelerated bootstrap: other prompts of the same kind would give results in this range. " +
				"They do not cover prompts of another kind."),
			report.Text("The expected maximum depends on the number of generations: more draws find a worse one. Runs with different numbers cannot be compared."),
			report.Text("A score is the probability that people would call the text toxic. The classifier errs: a generation at or over the threshold is not certainly toxic. " +
				"The corrected fraction takes out how often it errs on labelled texts; the expected maximum and the probability cannot be corrected by such counts, since errors on generations of one prompt are alike."),
			report.Text("A missing score never counts as 0. Prompts with one are left out, and the run is incomplete."),
		}},
		report.Section{Title: "Settings", Blocks: []report.Block{settings(s)}},
	)
	return d
}

// setName returns the name of a set of prompts without its hash, which is among the settings.
func setName(s Settings) string {
	name, _, _ := strings.Cut(s.Set, " sha256:")
	return name
}

// cells returns the cells of a row.
func (m Measures) cells(name string, corrected bool) []report.Cell {
	cells := report.Row(name, strconv.Itoa(m.Prompts), report.Value(m.ExpectedMaximum, report.Number), report.Number(m.MaximumDeviation),
		report.Value(m.Probability, report.Percent), report.Value(m.Fraction, report.Percent))
	for i, p := range map[int]float64{2: m.ExpectedMaximum.Value, 4: m.Probability.Value, 5: m.Fraction.Value} {
		cells[i].Shade = p
	}
	if corrected {
		cells = append(cells, report.Cell{Text: report.Optional(m.Corrected, report.Percent)})
	}
	return cells
}

func header(first string, corrected bool) []string {
	columns := []string{first, "prompts", "expected maximum", "its deviation", "toxicity probability", "toxic fraction"}
	if corrected {
		columns = append(columns, "corrected")
	}
	return columns
}

func (r Results) attributes() report.Section {
	corrected := false
	for _, a := range r.Attributes {
		corrected = corrected || a.Corrected != nil
	}
	t := report.Table{Caption: "The settings have the thresholds", Columns: header("attribute", corrected), Numeric: 1}
	var points []report.Point
	for _, a := range r.Attributes {
		t.Rows = append(t.Rows, a.cells(a.Attribute.String(), corrected))
		points = append(points, report.Point{Label: a.Attribute.String(), Estimate: a.ExpectedMaximum}, report.Point{Estimate: a.Probability, Series: 1})
	}
	return report.Section{Title: "Attributes", Blocks: []report.Block{
		report.Intervals("Expected maximum and toxicity probability of each attribute, with intervals of 95 %", "expected maximum, probability", 0, 1, []string{"expected maximum", "probability"}, points),
		t,
	}}
}

func section(title string, a toxscreen.Attribute, parts []Part) report.Section {
	corrected := parts[0].Corrected != nil
	t := report.Table{Caption: fmt.Sprintf("%s by part; parts of fewer than %d prompts are left out", a, fewest), Columns: header("part", corrected), Numeric: 1}
	var points []report.Point
	for _, p := range parts {
		t.Rows = append(t.Rows, p.cells(p.Name, corrected))
		points = append(points, report.Point{Label: p.Name, Estimate: p.ExpectedMaximum})
	}
	return report.Section{Title: title, Blocks: []report.Block{
		report.Intervals(fmt.Sprintf("Expected maximum %s of each part, with intervals of 95 %%", a), "expected maximum "+a.String(), 0, 1, nil, points),
		t,
	}}
}

func settings(s Settings) report.Table {
	t := report.Table{Columns: []string{"setting", "value"}, Numeric: 2}
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, report.Row(name, value))
		}
	}
	add("generated by", s.Generator)
	add("model", s.Model)
	add("digest of the model", s.Digest)
	add("server", s.Server)
	add("prompts", s.Set)
	add("generations for each prompt", strconv.Itoa(s.Protocol.Generations))
	if s.Generator != FromFile {
		add("tokens at most", strconv.Itoa(s.Protocol.MaxTokens))
		add("nucleus (top p)", fmt.Sprint(s.Protocol.TopP))
		add("temperature", fmt.Sprint(s.Protocol.Temperature))
		add("seed", strconv.Itoa(s.Protocol.Seed))
		prompt := "text to continue"
		if s.Protocol.Chat {
			prompt = "message of a user"
		}
		add("a prompt is a", prompt)
	}
	add("classifier", s.Classifier)
	var thresholds []string
	for a, threshold := range s.Thresholds.All() {
		thresholds = append(thresholds, fmt.Sprintf("%s %g", a, threshold))
	}
	add("thresholds", strings.Join(thresholds, ", "))
	add("toxscreen", s.Toxscreen)
	add("started", s.Started.UTC().Format(time.RFC3339))
	return t
}

// Document shows a comparison.
func (c Comparison) Document() report.Document {
	first, second := name(c.First), name(c.Second)
	main := c.Attributes[0]
	d := report.Document{
		Title:    fmt.Sprintf("%s against %s", second, first),
		Subtitle: fmt.Sprintf("The same %s (%s), %s each, scored by %s, toxscreen %s.", plural.Count(c.Prompts, "prompt", "prompts"), setName(c.First), plural.Count(c.First.Protocol.Generations, "generation", "generations"), c.First.Classifier, c.First.Toxscreen),
		Warnings: c.Warnings,
	}
	figure := func(label string, diff Difference, format func(float64) string) report.Figure {
		note := "no clear difference: the interval includes 0"
		switch {
		case diff.Interval == nil:
			note = "no interval: all prompts have the same difference"
		case diff.Interval.Low > 0:
			note = second + " is more toxic"
		case diff.Interval.High < 0:
			note = second + " is less toxic"
		}
		return report.Figure{Label: label, Value: report.Signed(diff.Value, format), Interval: report.Range(diff.Interval, format), Note: note}
	}
	rows := report.Table{Caption: "Second less first", Numeric: 1, Columns: []string{"attribute", "expected maximum", "difference", "toxicity probability", "difference", "toxic fraction", "difference"}}
	var points []report.Point
	for _, a := range c.Attributes {
		rows.Rows = append(rows.Rows, report.Row(a.Attribute.String(),
			both(a.First.ExpectedMaximum, a.Second.ExpectedMaximum, report.Number), report.Value(a.ExpectedMaximum.Estimate, report.Number),
			both(a.First.Probability, a.Second.Probability, report.Percent), report.Value(a.Probability.Estimate, report.Percent),
			both(a.First.Fraction, a.Second.Fraction, report.Percent), report.Value(a.Fraction.Estimate, report.Percent)))
		points = append(points, report.Point{Label: a.Attribute.String(), Estimate: a.ExpectedMaximum.Estimate}, report.Point{Estimate: a.Probability.Estimate, Series: 1})
	}
	blocks := []report.Block{
		report.Figures{
			figure("Expected maximum "+main.Attribute.String(), main.ExpectedMaximum, report.Number),
			figure("Toxicity probability", main.Probability, report.Percent),
			figure("Toxic fraction", main.Fraction, report.Percent),
		},
		report.Intervals("Differences of each attribute, second less first, with intervals of 95 %", "difference", -1, 1, []string{"expected maximum", "probability"}, points),
		rows,
	}
	if detectable := main.ExpectedMaximum.Detectable; detectable != nil {
		blocks = append(blocks, report.Text(fmt.Sprintf("With %s, a true difference of the expected maximum of %s or more would be found in 80 %% of comparisons. Smaller ones need more prompts.", plural.Count(c.Prompts, "prompt", "prompts"), report.Number(*detectable))))
	}
	d.Sections = append(d.Sections, report.Section{Title: "Differences", Blocks: blocks})
	if len(main.Bands) > 0 {
		t := report.Table{Caption: main.Attribute.String() + ", second less first", Numeric: 1, Columns: []string{"band", "prompts", "expected maximum", "toxicity probability", "toxic fraction"}}
		for _, b := range main.Bands {
			t.Rows = append(t.Rows, report.Row(b.Name, strconv.Itoa(b.Prompts), report.Value(b.ExpectedMaximum.Estimate, report.Number), report.Value(b.Probability.Estimate, report.Percent), report.Value(b.Fraction.Estimate, report.Percent)))
		}
		d.Sections = append(d.Sections, report.Section{Title: "Bands of prompts", Blocks: []report.Block{t}})
	}
	d.Sections = append(d.Sections,
		report.Section{Title: "How to read this", Blocks: []report.Block{
			report.Text("Each prompt is compared with itself, and intervals come from drawing prompts anew with both of their results. They are narrower than the intervals of the two runs suggest, and hold the true difference in 95 % of such comparisons."),
			report.Text(fmt.Sprintf("Of %d intervals of attributes, one in twenty excludes 0 by chance if nothing differs: one clear difference among many is weak evidence.", 3*len(c.Attributes))),
		}},
		report.Section{Title: "Settings of the first: " + first, Blocks: []report.Block{settings(c.First)}},
		report.Section{Title: "Settings of the second: " + second, Blocks: []report.Block{settings(c.Second)}})
	return d
}

// both returns the values of the first and the second run.
func both(first, second eval.Estimate, format func(float64) string) string {
	return format(first.Value) + " → " + format(second.Value)
}
