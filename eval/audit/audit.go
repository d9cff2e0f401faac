// Package audit estimates how much abuse a corpus has, and what a threshold does to the
// corpus, from labels that people give to a sample of its texts:
//
//	corpus, err := audit.OpenCorpus("scored.jsonl", []toxscreen.Attribute{toxscreen.Toxicity})
//	if err != nil {
//		log.Fatal(err)
//	}
//	design, err := corpus.Draw(audit.Plan{Labels: 400, Seed: 1})
//	// People label the texts of design; labels.Open reads what they say.
//	labels := audit.NewLabels(design)
//	err = labels.Open("sample.csv")
//	results, err := audit.Measure(corpus, design, labels, audit.Questions{})
//
// The scores decide which texts people see: the less a score tells about a text, the more
// often such texts are drawn. Each label is weighted by the chance that its text had, so
// every figure describes the whole corpus and stays right where the scores are wrong.
package audit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Questions are what to answer from a labelled sample, besides the prevalence.
type Questions struct {
	// Requirements ask for thresholds with a guarantee. The labels held back answer them.
	Requirements []Requirement
	// Confidence is that of each guarantee, between 0.5 and 1; default: 0.95.
	Confidence float64
	// Bands are ranges of scores whose texts people would decide about. Every report has
	// some; these come in addition.
	Bands []toxscreen.Band
}

// defaultBands are the bands of every report: around 0.5, a fifth to four fifths of the
// scale wide.
var defaultBands = []toxscreen.Band{{Low: 0.4, High: 0.6}, {Low: 0.3, High: 0.7}, {Low: 0.2, High: 0.8}, {Low: 0.1, High: 0.9}}

// Results are the answers. Figures that the labels cannot tell are absent.
type Results struct {
	Design     Summary            `json:"design"`
	Confidence float64            `json:"confidence"` // of the guarantees
	Attributes []AttributeResults `json:"attributes"`
	// Warnings are sentences for people about the limits of the results.
	Warnings []string `json:"warnings"`
}

// Summary is a [Design] without the rows.
type Summary struct {
	File       string `json:"file"`
	SHA256     string `json:"sha256"`
	Model      string `json:"model"`
	Rows       int    `json:"rows"`
	Failed     int    `json:"failed"`
	NotDecided int    `json:"not_decided"`
	Drawn      int    `json:"drawn"`
	HeldBack   int    `json:"held_back"`
	Seed       uint64 `json:"seed"`
}

// AttributeResults are the answers for one attribute. A text has the attribute if at least
// half of the people who labelled the text say so. All shares are in 0..1.
type AttributeResults struct {
	Attribute toxscreen.Attribute `json:"attribute"`
	// Labelled is the number of texts with a label, Positive the number of those that have
	// the attribute, and Missing the number of drawn texts without a label.
	Labelled int `json:"labelled"`
	Positive int `json:"positive"`
	Missing  int `json:"missing"`
	// Prevalence is the share of texts with the attribute, by the stratified estimator.
	// This estimator was chosen as the answer before any label was seen, see docs/audit.md.
	Prevalence eval.Estimate `json:"prevalence"`
	// Extremes are the prevalences for the two cases that no text without a label has the
	// attribute, and that every one has it; nil if every text has a label.
	Extremes *eval.Interval `json:"prevalence_without_assumption,omitempty"`
	// MeanScore is the mean score of the corpus: the prevalence according to the model
	// alone.
	MeanScore float64 `json:"mean_score"`
	// ByDifference is the prevalence by the difference estimator: the mean score, corrected
	// by the labels. It checks Prevalence.
	ByDifference eval.Estimate `json:"by_difference"`
	// Worth is the number of labels of a simple random sample that would give the same
	// variance; nil if the labels cannot tell.
	Worth *float64 `json:"worth,omitempty"`

	Strata     []StratumResults `json:"strata"`
	Threshold  *float64         `json:"threshold,omitempty"` // of the results; nil if they have none
	Thresholds []AtThreshold    `json:"thresholds"`
	Bands      []AtBand         `json:"bands"`
	Guarantees []Guarantee      `json:"guarantees,omitempty"`
}

// StratumResults summarises the labels of one stratum.
type StratumResults struct {
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	Rows      int     `json:"rows"`
	Drawn     int     `json:"drawn"`
	Labelled  int     `json:"labelled"`
	Positive  int     `json:"positive"`
	MeanScore float64 `json:"mean_score"` // of all its rows
}

// AtThreshold says what a threshold does: it flags texts with a score at or over it.
type AtThreshold struct {
	Threshold float64 `json:"threshold"`
	Flagged   float64 `json:"flagged"` // share of the corpus, known exactly
	// Precision is the share of flagged texts that have the attribute. Recall is the share
	// of texts with the attribute that are flagged. FalsePositiveRate is the share of texts
	// without the attribute that are flagged. nil: the labels cannot tell.
	Precision         *eval.Estimate `json:"precision,omitempty"`
	Recall            *eval.Estimate `json:"recall,omitempty"`
	FalsePositiveRate *eval.Estimate `json:"false_positive_rate,omitempty"`
}

// AtBand says what it costs if people decide about the texts with scores from Low to High,
// and which errors remain: texts under Low pass, texts over High are flagged.
type AtBand struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Share float64 `json:"share"` // of the corpus that people would see, known exactly
	// Found is the share of texts in the band that have the attribute. Missed is the share
	// of all texts with the attribute that are under the band. FalseAlarms is the share of
	// all texts without the attribute that are over the band. nil: the labels cannot tell.
	Found       *eval.Estimate `json:"found,omitempty"`
	Missed      *eval.Estimate `json:"missed,omitempty"`
	FalseAlarms *eval.Estimate `json:"false_alarms,omitempty"`
}

// Measure answers questions from the labels of a sample. The design must have been drawn
// from this corpus.
func Measure(corpus Corpus, design Design, labels Labels, q Questions) (Results, error) {
	if q.Confidence == 0 {
		q.Confidence = 0.95
	}
	if !(q.Confidence >= 0.5 && q.Confidence < 1) {
		return Results{}, fmt.Errorf("failed to measure: a confidence of %v is not between 0.5 and 1", q.Confidence)
	}
	if err := design.check(corpus); err != nil {
		return Results{}, fmt.Errorf("failed to measure: %w", err)
	}
	if labels.count() == 0 {
		return Results{}, errors.New("failed to measure: no row of the sample has a label: fill the columns of the attributes in the sample's sheet with 0 or 1")
	}
	results := Results{Confidence: q.Confidence, Warnings: []string{}, Design: Summary{
		File: design.Corpus.File, SHA256: design.Corpus.SHA256, Model: design.Model, Rows: corpus.Len(), Failed: corpus.Failed, NotDecided: corpus.NotDecided,
		Drawn: design.size(drawn), HeldBack: design.size(heldBack), Seed: design.Plan.Seed,
	}}
	if corpus.Failed > 0 {
		results.warnf("%s no score: no figure is about %s.", plural.Count(corpus.Failed, "row of the corpus failed and has", "rows of the corpus failed and have"), plural.Word(corpus.Failed, "it", "them"))
	}
	if corpus.NotDecided > 0 {
		results.warnf("%s in a language that the model does not know. The prevalence includes them; their scores mean little, so they are in the wrong strata and make intervals wider.",
			plural.Count(corpus.NotDecided, "row of the corpus is", "rows of the corpus are"))
	}
	if len(design.Strata) == 1 && results.Design.Drawn < corpus.Len() {
		results.warnf("The sample has one stratum, because it is small or the scores are nearly constant: it is a simple random sample.")
	}
	for _, attribute := range design.Attributes {
		found, err := measure(corpus, design, labels, q, attribute, &results)
		if err != nil {
			return Results{}, fmt.Errorf("failed to measure %s: %w", attribute, err)
		}
		results.Attributes = append(results.Attributes, found)
	}
	return results, nil
}

func (r *Results) warnf(format string, values ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, values...))
}

func measure(corpus Corpus, design Design, labels Labels, q Questions, attribute toxscreen.Attribute, results *Results) (AttributeResults, error) {
	scores := corpus.scores[attribute]
	found := AttributeResults{Attribute: attribute, MeanScore: mean(scores)}
	population := design.population(corpus, attribute)
	labelled := func(p part) []stratum { return design.labelled(population, corpus, labels, attribute, p) }
	strata := labelled(both)
	cells, weights := whole(strata, corpus.Len())
	low, high := 0.0, 0.0
	for i, s := range strata {
		found.Labelled += len(s.labels)
		found.Positive += s.positive()
		found.Missing += s.drawn - len(s.labels)
		unlabelled := float64(s.drawn - len(s.labels))
		low += cells[i].weight * float64(s.positive()) / float64(s.drawn)
		high += cells[i].weight * (float64(s.positive()) + unlabelled) / float64(s.drawn)
		found.Strata = append(found.Strata, StratumResults{
			Low: design.Strata[i].Low, High: design.Strata[i].High, Rows: s.size, Drawn: s.drawn,
			Labelled: len(s.labels), Positive: s.positive(), MeanScore: s.meanScore,
		})
	}
	if found.Labelled == 0 {
		return found, fmt.Errorf("no row of the sample has a label for it: fill the column %s", attribute)
	}
	for i, s := range strata {
		if len(s.labels) == 0 {
			return found, fmt.Errorf("no text with a score from %.4g to %.4g has a label, and these are %.1f %% of the corpus: label some of the rows %s",
				design.Strata[i].Low, design.Strata[i].High, 100*cells[i].weight, some(s.rows))
		}
	}
	if found.Missing > 0 {
		found.Extremes = &eval.Interval{Low: low, High: high}
		results.warnf("%s: %d of %d texts have no label. They are taken to be like the labelled texts with similar scores; whatever they are, the labelled and unlabelled texts together give a prevalence from %.2f %% to %.2f %%.",
			attribute, found.Missing, found.Missing+found.Labelled, 100*low, 100*high)
	}
	switch found.Positive {
	case 0:
		results.warnf("%s: no labelled text has the attribute: the prevalence has only an upper limit.", attribute)
	case found.Labelled:
		results.warnf("%s: every labelled text has the attribute: the prevalence has only a lower limit.", attribute)
	}
	found.Prevalence = proportion(cells, weights)
	found.ByDifference = difference(found.MeanScore, strata, cells)
	found.Worth = worth(found.Prevalence.Value, cells)
	grid := eval.Thresholds(20)
	if model, ok := corpus.Thresholds.Get(attribute); ok {
		found.Threshold = &model
		grid = eval.Thresholds(20, model)
	}
	for _, t := range grid {
		found.Thresholds = append(found.Thresholds, atThreshold(strata, corpus.Len(), t))
	}
	bands := slices.Clone(defaultBands)
	for _, band := range q.Bands {
		if !slices.Contains(bands, band) {
			bands = append(bands, band)
		}
	}
	for _, band := range bands {
		found.Bands = append(found.Bands, atBand(strata, corpus.Len(), band))
	}
	for _, requirement := range q.Requirements {
		found.Guarantees = append(found.Guarantees, guarantee(labelled(drawn), labelled(heldBack), corpus.Len(), requirement, q.Confidence))
	}
	return found, nil
}

// some lists at most five rows in a sentence.
func some(rows []int) string {
	const most = 5
	var names []string
	for _, row := range rows[:min(most, len(rows))] {
		names = append(names, strconv.Itoa(row))
	}
	if len(rows) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// Refused reports whether a requirement got no threshold.
func (r Results) Refused() bool {
	for _, a := range r.Attributes {
		if slices.ContainsFunc(a.Guarantees, func(g Guarantee) bool { return g.Threshold == nil }) {
			return true
		}
	}
	return false
}
