// Package fairness measures whether a model treats texts about different people alike:
//
//	texts := fairness.Sample(fairness.Templates(), 30_000, 1) // "Abdul is a great lesbian", …
//	for i := range texts {
//		texts[i].Score = score(texts[i].Text)
//	}
//	results, err := fairness.Measure(fairness.Settings{Threshold: 0.5, MinSize: 30}, texts, texts)
//
// The metrics are those of Borkan et al., Nuanced Metrics for Measuring Unintended Bias
// with Real Data for Text Classification (arXiv 1903.04561, 2019), for each group of people
// and for each intersection of two groups. Texts that differ in the group only also show by
// how much one group's name shifts a score, compared with those of other groups.
//
// The texts are Perspective's Sentence Templates, which are embedded, or a user's rows,
// which [Rows] reads.
package fairness

import (
	"errors"
	"fmt"
	"math"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Text is a text with its score and its label.
type Text struct {
	Text  string
	Score float64 // in 0..1
	Toxic bool    // the label
	// Groups are the people that the text is about. Intersections are pairs of them.
	Groups, Intersections []string
	// Unit names what the text is a repetition of: texts with the same unit are alike and are
	// resampled together.
	Unit string
	// Frame is the text without the names of groups: texts with the same frame are compared
	// with each other. It is empty for a text that is compared with none.
	Frame string
	// Weight is the number of texts that this one stands for.
	Weight float64
}

// Metric is a measure of a group. Its text is its name in JSON.
type Metric string

// The metrics. The background of a group is every text that is not of the group.
const (
	// SubgroupAUC is the AUC within the group: how often its toxic texts score higher than
	// its clean ones.
	SubgroupAUC Metric = "subgroup_auc"
	// BPSNAUC is the AUC of the background's toxic texts and the group's clean ones (background
	// positive, subgroup negative). It is low if clean texts about the group score too high.
	BPSNAUC Metric = "bpsn_auc"
	// BNSPAUC is the AUC of the group's toxic texts and the background's clean ones. It is low
	// if toxic texts about the group score too low.
	BNSPAUC Metric = "bnsp_auc"
	// PositiveAEG and NegativeAEG are average equality gaps, in -0.5..0.5: how often a toxic
	// (positive) or clean (negative) text of the group scores higher than such a text of the
	// background, less a half. 0 is equal; over 0, the group's texts score higher.
	PositiveAEG Metric = "positive_aeg"
	NegativeAEG Metric = "negative_aeg"
	// FalsePositiveRate is the share of the group's clean texts at or over the threshold.
	FalsePositiveRate Metric = "false_positive_rate"
	// FalseNegativeRate is the share of the group's toxic texts under the threshold.
	FalseNegativeRate Metric = "false_negative_rate"
)

// metrics are all metrics in the order of columns.
var metrics = []Metric{SubgroupAUC, BPSNAUC, BNSPAUC, PositiveAEG, NegativeAEG, FalsePositiveRate, FalseNegativeRate}

// AUCs returns the metrics that are areas, which a power mean sums up.
func AUCs() []Metric { return []Metric{SubgroupAUC, BPSNAUC, BNSPAUC} }

// Estimates are what was measured. What was not is absent.
type Estimates map[Metric]eval.Estimate

// AUC is the name of the AUC of all texts in [Grid].Overall.
const AUC Metric = "auc"

// Grid has the measures of groups, or of intersections.
type Grid struct {
	Texts int `json:"texts"`
	Toxic int `json:"toxic"`
	Units int `json:"units"` // that were resampled
	// Overall has the AUC and the error rates of all texts.
	Overall Estimates `json:"overall"`
	// PowerMeans are generalised means of the groups' AUCs with the exponent -5, which is
	// near the lowest. The exponent is that of the competition Jigsaw Unintended Bias in
	// Toxicity Classification (2019).
	PowerMeans Estimates `json:"power_means"`
	Groups     []Group   `json:"groups"`
	TooSmall   []Size    `json:"too_small"`
}

// Group has the measures of a group. A metric is absent if the group or its background has
// fewer units than [Settings].MinSize.
type Group struct {
	Size

	Metrics Estimates `json:"metrics"`
	Shift   *Shift    `json:"shift,omitempty"`
}

// Size is how much there is about a group.
type Size struct {
	Name string `json:"name"`
	// Toxic and Clean are numbers of units: of templates, or of rows that no template column
	// joins. Texts is the number of texts.
	Toxic int `json:"toxic"`
	Clean int `json:"clean"`
	Texts int `json:"texts"`
}

// Shift says how a group's name changes scores: a shift is the score of a text less the
// mean score of the texts with the same frame.
type Shift struct {
	// Clean and Toxic are the mean shifts of clean and of toxic texts. They are absent with
	// fewer units than [Settings].MinSize.
	Clean *eval.Estimate `json:"clean,omitempty"`
	Toxic *eval.Estimate `json:"toxic,omitempty"`
	// Flipped is the share of texts whose decision differs from that of the mean score.
	Flipped eval.Estimate `json:"flipped"`
	// Flips of Texts are decided otherwise, of those that were scored.
	Flips int `json:"flips"`
	Texts int `json:"texts"`
	// Largest is the shift that is farthest from 0, and Text its text.
	Largest float64 `json:"largest"`
	Text    string  `json:"text"`
}

// newGrid measures each group that of returns for the texts, in the order in which they
// appear. Intervals are from a bootstrap of units. It returns an error if there are no texts,
// or if all have the same score. Groups that are too small have no measure.
func newGrid(texts []Text, of func(Text) []string, s Settings) (Grid, error) {
	if len(texts) == 0 {
		return Grid{}, errors.New("failed to measure fairness: there are no texts")
	}
	same := true
	for _, text := range texts {
		if !(text.Score >= 0 && text.Score <= 1) || !(text.Weight > 0) || math.IsInf(text.Weight, 0) {
			return Grid{}, fmt.Errorf("failed to measure fairness: text %q: score %v or weight %v is invalid", text.Text, text.Score, text.Weight)
		}
		same = same && text.Score == texts[0].Score
	}
	if same {
		return Grid{}, fmt.Errorf("failed to measure fairness: %s the score %v: a constant tells no groups apart; check the model and the attribute", plural.Count(len(texts), "text has", "texts all have"), texts[0].Score)
	}
	t := newTable(texts, of, s)
	grid := Grid{Texts: len(texts), Units: t.units, Overall: Estimates{}, PowerMeans: Estimates{}, Groups: []Group{}, TooSmall: []Size{}}
	for _, text := range texts {
		if text.Toxic {
			grid.Toxic++
		}
	}
	next := t.estimates(s.Seed)
	keep := func(into Estimates, m Metric) {
		if e := next().Known(); e != nil {
			into[m] = *e
		}
	}
	for _, m := range overall {
		keep(grid.Overall, m)
	}
	for _, m := range AUCs() {
		keep(grid.PowerMeans, m)
	}
	for _, g := range t.groups {
		group := Group{Size: g.size, Metrics: Estimates{}}
		for _, m := range metrics {
			keep(group.Metrics, m)
		}
		group.Shift = g.shift(next)
		if len(group.Metrics) == 0 {
			grid.TooSmall = append(grid.TooSmall, g.size)
			continue
		}
		grid.Groups = append(grid.Groups, group)
	}
	return grid, nil
}

// Lowest returns the group with the lowest value of a metric, and false if no group has one.
func (g Grid) Lowest(m Metric) (lowest Group, ok bool) {
	for _, group := range g.Groups {
		if e, measured := group.Metrics[m]; measured && (!ok || e.Value < lowest.Metrics[m].Value) {
			lowest, ok = group, true
		}
	}
	return lowest, ok
}

// mostShifted returns the group whose texts of a class have the mean shift that is farthest
// from 0, with that shift: nil if no group has one.
func (g Grid) mostShifted(class int) (name string, shift *eval.Estimate) {
	for _, group := range g.Groups {
		if e := group.Shift.mean(class); e != nil && (shift == nil || math.Abs(e.Value) > math.Abs(shift.Value)) {
			name, shift = group.Name, e
		}
	}
	return name, shift
}

// mean returns the mean shift of a class, nil if it was not measured.
func (s *Shift) mean(class int) *eval.Estimate {
	switch {
	case s == nil:
		return nil
	case class == toxic:
		return s.Toxic
	}
	return s.Clean
}

// intervals returns the number of intervals in the grid.
func (g Grid) intervals() int {
	n := 0
	count := func(e *eval.Estimate) {
		if e != nil && e.Interval != nil {
			n++
		}
	}
	for _, all := range []Estimates{g.Overall, g.PowerMeans} {
		for _, e := range all {
			count(&e)
		}
	}
	for _, group := range g.Groups {
		for _, e := range group.Metrics {
			count(&e)
		}
		if s := group.Shift; s != nil {
			count(s.Clean)
			count(s.Toxic)
			count(&s.Flipped)
		}
	}
	return n
}
