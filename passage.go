package toxscreen

import (
	"cmp"
	"slices"
)

// Window is a part of a text that a model scored at once.
type Window struct {
	// Start and End are byte offsets into the text, End exclusive.
	Start, End int
	// Scores holds the calibrated probability in 0..1 of each attribute that the model
	// measures, as if the window were the whole text.
	Scores Scores
}

// Passage is a part of a text that is toxic by itself.
type Passage struct {
	Start int `json:"start"` // offset of its first unit
	End   int `json:"end"`   // offset after its last unit
	// Score is the probability in 0..1 that people would call the passage toxic if it
	// were the whole text. If the model does not measure toxicity, it is the highest
	// probability of an attribute that the passage is flagged for.
	Score Probability `json:"score"`
}

// maxPassages is the number of passages that a reader looks at before deciding.
const maxPassages = 3

// passages returns the passages of a flagged text with the given score: its worst
// windows that reach a threshold by themselves, at most [maxPassages], without overlap,
// the worst first. A judge has read the whole text, so a verdict counts only if the text
// is one window.
func (g *Screening) passages(score Probability) ([]Passage, error) {
	if len(g.found.Windows) == 1 {
		whole := g.found.Windows[0]
		return []Passage{{whole.Start, whole.End, score}}, nil
	}
	var flagged []Passage
	for _, w := range g.found.Windows {
		fused, err := g.screener.fuse(w.Scores, nil)
		if err != nil {
			return nil, err
		}
		if score, ok := alone(fused.Scores, g.thresholds); ok {
			flagged = append(flagged, Passage{w.Start, w.End, Probability(score)})
		}
	}
	slices.SortStableFunc(flagged, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) })
	var worst []Passage
	for _, p := range flagged {
		if !slices.ContainsFunc(worst, func(w Passage) bool { return p.Start < w.End && w.Start < p.End }) {
			worst = append(worst, p)
		}
		if len(worst) == maxPassages {
			break
		}
	}
	return worst, nil
}

// alone returns the score of a passage with the given probabilities. ok is false if none
// reaches its threshold.
func alone(scores, thresholds Scores) (score float64, ok bool) {
	for a, p := range scores.All() {
		if threshold, limited := thresholds.Get(a); limited && p >= threshold {
			score, ok = max(score, p), true
		}
	}
	if toxicity, measured := scores.Get(Toxicity); measured {
		score = toxicity
	}
	return score, ok
}
