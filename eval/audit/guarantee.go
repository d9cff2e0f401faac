package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Requirement is a limit that a threshold must keep, such as "at most 1 % of the texts
// without the attribute are flagged".
type Requirement struct {
	Measure Measured `json:"measure"`
	// Limit, between 0 and 1, is the highest value of a rate of errors, or the lowest value
	// of precision and recall.
	Limit float64 `json:"limit"`
}

// Measured is a figure that a [Requirement] limits.
type Measured string

// The figures that requirements limit: the first two from above, the others from below.
const (
	FalsePositiveRate Measured = "false_positive_rate" // flagged, of the texts without the attribute
	MissRate          Measured = "miss_rate"           // not flagged, of the texts with the attribute
	Precision         Measured = "precision"           // with the attribute, of the flagged texts
	Recall            Measured = "recall"              // flagged, of the texts with the attribute
)

// Upper reports whether requirements limit the figure from above.
func (m Measured) Upper() bool { return m == FalsePositiveRate || m == MissRate }

// ParseRequirement reads a requirement like false_positive_rate=0.01. upper selects the
// figures that are limited from above.
func ParseRequirement(text string, upper bool) (Requirement, error) {
	name, value, _ := strings.Cut(text, "=")
	r := Requirement{Measure: Measured(name)}
	all, example := []Measured{FalsePositiveRate, MissRate}, "false_positive_rate=0.01"
	if !upper {
		all, example = []Measured{Precision, Recall}, "precision=0.9"
	}
	if !slices.Contains(all, r.Measure) {
		return r, fmt.Errorf("%q is not %s or %s: it must be like %s", name, all[0], all[1], example)
	}
	limit, err := strconv.ParseFloat(value, 64)
	if err != nil || !(limit > 0 && limit < 1) {
		return r, fmt.Errorf("%q is not a share between 0 and 1: it must be like %s", value, example)
	}
	r.Limit = limit
	return r, nil
}

// String returns the requirement in words.
func (r Requirement) String() string {
	limit := percent(r.Limit)
	switch r.Measure {
	case FalsePositiveRate:
		return "at most " + limit + " of the texts without the attribute are flagged"
	case MissRate:
		return "at most " + limit + " of the texts with the attribute are missed"
	case Precision:
		return "at least " + limit + " of the flagged texts have the attribute"
	case Recall:
		return "at least " + limit + " of the texts with the attribute are flagged"
	}
	return string(r.Measure)
}

// Guarantee is the answer to a requirement: a threshold, or the reason for its absence.
type Guarantee struct {
	Requirement Requirement `json:"requirement"`
	// Threshold keeps the requirement with the confidence of the results. Of the proved
	// thresholds it is the lowest for false positives and precision, and the highest for
	// misses and recall. nil if no threshold is proved.
	Threshold *float64 `json:"threshold,omitempty"`
	// Flagged is the share of the corpus at or over Threshold; nil without one.
	Flagged *float64 `json:"flagged,omitempty"`
	// Refused says why there is no threshold.
	Refused string `json:"refused,omitempty"`
	// LabelsNeeded is about how many labels to hold back for a proof; nil if there is a
	// threshold, or if no number of labels would prove one.
	LabelsNeeded *int `json:"labels_needed,omitempty"`
}

// candidates are the thresholds among which a guarantee chooses. They must not depend on
// labels.
var candidates = eval.Thresholds(100)

// loss is what one text counts against a requirement. The requirement is kept exactly if
// the mean loss over the corpus is at most 0.
func (r Requirement) loss(flagged, positive bool) float64 {
	errs, counts, limit := false, false, r.Limit
	switch r.Measure {
	case FalsePositiveRate:
		errs, counts = flagged, !positive
	case MissRate:
		errs, counts = !flagged, positive
	case Precision:
		errs, counts, limit = !positive, flagged, 1-r.Limit
	case Recall:
		errs, counts, limit = !flagged, positive, 1-r.Limit
	}
	switch {
	case !counts:
		return 0
	case errs:
		return 1 - limit
	}
	return -limit
}

// worst returns the highest loss of a text, flagged or not, over both possible labels.
func (r Requirement) worst(flagged bool) float64 {
	return max(r.loss(flagged, true), r.loss(flagged, false))
}

// guarantee proves thresholds with the labels that are held back, by the method Learn then
// Test (Angelopoulos et al., 2021). It tests thresholds one after another, the most
// promising first, each at the full level, and stops at the first that fails
// (fixed-sequence testing). The scores and the other labels, chosen, decide the order.
//
// The test of a threshold multiplies 1 - bet·weight·loss over the held back texts, where
// weight corrects for the stratum's share of the sample. If the requirement is violated,
// the expectation of the product is at most 1. With replacement, the reason is that the
// mean of weight·loss is positive; for fixed numbers per stratum, the inequality of
// arithmetic and geometric means; without replacement, Hoeffding (1963, theorem 4). So the
// product exceeds 1/(1-confidence) with a probability of at most 1-confidence (Markov), for
// any number of labels. This is testing by betting (Waudby-Smith and Ramdas, 2024). For a
// simple random sample without an error it equals the exact binomial test.
func guarantee(chosen, held []stratum, total int, r Requirement, confidence float64) Guarantee {
	g := Guarantee{Requirement: r}
	none := held[0].drawn == 0 // then of every stratum
	// Without held back rows, the plan is for as many as were drawn, divided in the same way.
	weights, draws := weightsOf(chosen, total)
	if !none {
		weights, draws = weightsOf(held, total)
	}
	need := -math.Log(1 - confidence)
	var bets []bet // the most promising first
	for _, threshold := range candidates {
		// A threshold that flags nothing, or everything, keeps half of the requirements
		// and helps nobody.
		if over := flagged(chosen, total, threshold); over > 0 && over < 1 {
			bets = append(bets, r.bet(chosen, draws, weights, threshold))
		}
	}
	if len(bets) == 0 {
		g.Refused = "every threshold flags all texts or none: the scores do not tell them apart"
		return g
	}
	slices.SortStableFunc(bets, func(a, b bet) int { return cmp.Compare(b.growth, a.growth) })
	best := bets[0]
	if best.growth <= 0 {
		best = slices.MaxFunc(bets, func(a, b bet) int { return cmp.Compare(a.flawless, b.flawless) })
		if best.flawless <= 0 {
			g.Refused = "no number of labels proves it"
			return g
		}
		n := int(math.Ceil(need/best.flawless - 1e-9))
		g.LabelsNeeded = &n
		g.Refused = fmt.Sprintf("the labels that are not held back do not promise it for any threshold; it needs at least %s held back, if none of them is an error", plural.Count(n, "label that is", "labels that are"))
		return g
	}
	n := best.labels(need)
	g.LabelsNeeded = &n
	if none {
		g.Refused = fmt.Sprintf("no labels are held back, and it needs about %d: draw a sample that holds back as many", n)
		return g
	}
	for _, b := range bets {
		if r.evidence(held, weights, b) < need {
			break
		}
		t := b.threshold
		lowest := r.Measure == FalsePositiveRate || r.Measure == Precision
		if g.Threshold == nil || lowest == (t < *g.Threshold) {
			g.Threshold = &t
		}
	}
	if g.Threshold != nil {
		over := flagged(chosen, total, *g.Threshold)
		g.Flagged, g.LabelsNeeded = &over, nil
		return g
	}
	have, unlabelled := 0, 0
	for _, s := range held {
		have += len(s.labels)
		unlabelled += len(s.rows)
	}
	g.Refused = fmt.Sprintf("%s held back, and it needs about %d: draw a sample that holds back as many", plural.Count(have, "label is", "labels are"), n)
	if have >= n {
		// The labels that are not held back promised too much.
		n = 2 * have
		g.LabelsNeeded = &n
		g.Refused = fmt.Sprintf("the %s prove it for any threshold, though fewer should: it needs about %d, or is not true", plural.Count(have, "label that is held back does not", "labels that are held back do not"), n)
	}
	if unlabelled > 0 {
		g.Refused += fmt.Sprintf("; %s no label, and each counts as an error", plural.Count(unlabelled, "row that is held back has", "rows that are held back have"))
	}
	return g
}

// bet describes the test of one threshold.
type bet struct {
	threshold float64
	size      float64 // factor of weight·loss, 0 or more
	// growth and spread are the mean and the standard deviation of the logarithm of a
	// factor, as the labels that are not held back predict them.
	growth, spread float64
	// flawless is the highest growth if no label is an error.
	flawless float64
}

// labels returns how many labels prove the requirement with a probability of about 84 %: so
// many that the expected evidence exceeds need by one standard deviation.
func (b bet) labels(need float64) int {
	root := (b.spread + math.Sqrt(b.spread*b.spread+4*b.growth*need)) / (2 * b.growth)
	return int(math.Ceil(root*root - 1e-9))
}

// weightsOf returns two figures for each stratum: its share of the corpus relative to its
// share of the draws, and its share of the draws.
func weightsOf(strata []stratum, total int) (weights, draws []float64) {
	all := 0
	for _, s := range strata {
		all += s.drawn
	}
	weights, draws = make([]float64, len(strata)), make([]float64, len(strata))
	for h, s := range strata {
		draws[h] = float64(s.drawn) / float64(all)
		weights[h] = float64(s.size) / float64(total) / draws[h]
	}
	return weights, draws
}

// prior is the number of labels for which the scores count, where the chosen labels predict
// the test.
const prior = 2

// bet returns the bet with the highest expected growth.
func (r Requirement) bet(chosen []stratum, draws, weights []float64, threshold float64) bet {
	type outcome struct{ probability, loss float64 }
	var outcomes []outcome
	for h, s := range chosen {
		at, _ := slices.BinarySearch(s.scores, threshold)
		for _, flagged := range []bool{false, true} {
			side := s.scores[:at]
			if flagged {
				side = s.scores[at:]
			}
			if len(side) == 0 {
				continue
			}
			n, k := float64(prior), prior*mean(side)
			for _, one := range s.labels {
				if (one.score >= threshold) == flagged {
					n++
					if one.positive {
						k++
					}
				}
			}
			probability := draws[h] * float64(len(side)) / float64(s.size)
			outcomes = append(outcomes,
				outcome{probability * k / n, weights[h] * r.loss(flagged, true)},
				outcome{probability * (1 - k/n), weights[h] * r.loss(flagged, false)})
		}
	}
	growth := func(size float64) (middle, spread float64) {
		squares := 0.0
		for _, o := range outcomes {
			x := math.Log1p(-size * o.loss)
			middle += o.probability * x
			squares += o.probability * x * x
		}
		return middle, math.Sqrt(max(squares-middle*middle, 0))
	}
	// The growth is concave in the size of the bet. A bet of everything would be lost with
	// the first error. Strata on one side of the threshold, as their scores tell, may have
	// no error at all.
	highest := 1e-6
	for _, o := range outcomes {
		highest = max(highest, o.loss)
	}
	largest := (1 - 1e-3) / highest
	low, high := 0.0, largest
	for range 40 {
		a, b := low+(high-low)/3, high-(high-low)/3
		x, _ := growth(a)
		y, _ := growth(b)
		if x < y {
			low = a
		} else {
			high = b
		}
	}
	b := bet{threshold: threshold, size: (low + high) / 2}
	for _, o := range outcomes {
		b.flawless += o.probability * math.Log1p(-largest*min(o.loss, 0))
	}
	if b.growth, b.spread = growth(b.size); b.growth < 1e-12 {
		b.size, b.growth, b.spread = 0, 0, 0
	}
	return b
}

// evidence returns the logarithm of the product of the test. A text without a label counts
// as if it had the label that is worse for the requirement.
func (r Requirement) evidence(held []stratum, weights []float64, b bet) float64 {
	if b.size == 0 {
		return 0
	}
	total := 0.0
	for h, s := range held {
		factor := -b.size * weights[h]
		for _, one := range s.labels {
			total += math.Log1p(factor * r.loss(one.score >= b.threshold, one.positive))
		}
		for _, score := range s.unlabelled {
			total += math.Log1p(factor * r.worst(score >= b.threshold))
		}
	}
	return total
}
