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
// the worst first. A verdict, which is nil if it does not count, is about the windows that
// the judge saw.
func (g *Screening) passages(score Probability, verdict *Verdict) ([]Passage, error) {
	if len(g.found.Windows) == 1 {
		whole := g.found.Windows[0]
		return []Passage{{whole.Start, whole.End, score}}, nil
	}
	var flagged []Passage
	for i, w := range g.found.Windows {
		about := verdict
		if verdict != nil && !g.saw(*verdict, w) {
			about = nil
		}
		fused, err := g.fuse(w.Scores, about)
		if err != nil {
			return nil, err
		}
		if score, ok := alone(fused.Scores, g.found.limits[i]); ok {
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

// saw reports whether the judge saw what a window was scored for: all of its spans, or the
// middle of a window without spans. A verdict without a passage does not tell.
func (g *Screening) saw(v Verdict, w Window) bool {
	if v.Passage == nil {
		return false
	}
	inside := func(start, end int) bool { return v.Passage.Start <= start && end <= v.Passage.End }
	spans := 0
	for _, s := range g.found.Spans {
		if s.Start < w.End && w.Start < s.End {
			if !inside(s.Start, s.End) {
				return false
			}
			spans++
		}
	}
	middle := (w.Start + w.End) / 2
	return spans > 0 || inside(middle, middle)
}

// holdUp raises fused scores that a verdict on a passage lowered below those of the windows
// that the judge did not see: any part of a text counts. It returns the names of the
// attributes that it raised.
func (g *Screening) holdUp(fused *Fused, v Verdict) ([]string, error) {
	if v.Passage == nil {
		return nil, nil
	}
	var held Scores
	for _, w := range g.found.Windows {
		if g.saw(v, w) {
			continue
		}
		unseen, err := g.fuse(w.Scores, nil)
		if err != nil {
			return nil, err
		}
		for a, p := range unseen.Scores.All() {
			// A window alone may score more than the text, which has several.
			before, _ := g.fused.Scores.Get(a)
			if now, ok := fused.Scores.Get(a); ok && now < min(p, before) {
				fused.Scores.Set(a, min(p, before))
				held.Set(a, 1)
			}
		}
	}
	var raised []string
	for a := range held.All() {
		raised = append(raised, a.String())
	}
	return raised, nil
}

// alone returns the score of a passage with the given probabilities. ok is false if no
// probability reaches its threshold.
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
