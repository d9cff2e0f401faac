package migration

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Threshold is an old threshold and the new ones that stand for it. A text is flagged at
// or over a threshold.
//
// New is equipercentile linking, e(x) = G⁻¹(F(x)) (Kolen and Brennan, Test Equating,
// Scaling, and Linking, 2004, chapter 2): the threshold that flags as many texts by their
// new scores as Old does by the old ones. A regression of the new scores on the old ones,
// such as an isotonic one, gives another map: it shrinks toward the mean, so that its
// thresholds flag other shares of the texts, and the regression of the old scores on the
// new ones is not its inverse (chapter 1, symmetry). New never falls as Old rises.
type Threshold struct {
	Old float64 `json:"old"`
	// Problem is a sentence that says why there is nothing else.
	Problem string `json:"problem,omitempty"`
	// Flagged is the share of texts that Old flags, and NewFlagged the share that New
	// flags. They differ if texts share a new score.
	Flagged    float64 `json:"flagged"`
	NewFlagged float64 `json:"new_flagged,omitempty"`
	// New is the new threshold. Its interval takes the texts for a sample of the traffic.
	New *eval.Estimate `json:"new,omitempty"`
	// Changed are the shares of texts that New decides otherwise than Old: of all texts,
	// of those that New flags in addition, and of those that it flags no longer.
	Changed  *eval.Estimate `json:"changed,omitempty"`
	Newly    *eval.Estimate `json:"newly_flagged,omitempty"`
	NoLonger *eval.Estimate `json:"no_longer_flagged,omitempty"`
	// Labelled is nil without labels of toxic and of clean texts.
	Labelled *ByLabels `json:"labelled,omitempty"`
}

// ByLabels is what labels say about an old threshold. A field is absent if fewer than
// [Support] labelled texts are flagged, or toxic.
type ByLabels struct {
	OldPrecision *float64 `json:"old_precision,omitempty"`
	OldRecall    *float64 `json:"old_recall,omitempty"`
	NewPrecision *float64 `json:"new_precision,omitempty"` // at the threshold of equal flag rate
	NewRecall    *float64 `json:"new_recall,omitempty"`
	// EqualPrecision is the lowest new threshold with at least the old precision, and
	// EqualRecall the highest one with at least the old recall.
	EqualPrecision *eval.Estimate `json:"equal_precision,omitempty"`
	EqualRecall    *eval.Estimate `json:"equal_recall,omitempty"`
}

// mark is the label of a text.
type mark uint8

const (
	unlabelled mark = iota
	clean
	positive
)

// sample are the scores of texts with both.
type sample struct {
	old, new []float64
	labels   []mark
}

// resamples is the number of resamples for the intervals of thresholds and shares.
const resamples = 2000

// thresholds compares old thresholds, in rising order. Intervals are the middle 95 % of
// resamples in which the new thresholds are chosen anew.
//
// It returns nil if ctx ends.
func (s sample) thresholds(ctx context.Context, olds []float64) []Threshold {
	n := len(s.old)
	r := s.ranked(olds)
	once := make([]int32, n)
	for i := range once {
		once[i] = 1
	}
	found := r.levels(once)
	draws := make([]drawn, len(olds))
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // resamples that can be repeated
	times := make([]int32, n)
	for range resamples {
		if ctx.Err() != nil {
			return nil
		}
		clear(times)
		for range n {
			times[rng.IntN(n)]++
		}
		for j, l := range r.levels(times) {
			draws[j].add(l, float64(n))
		}
	}
	all := make([]Threshold, len(olds))
	for j, old := range olds {
		all[j] = found[j].threshold(old, n, &draws[j])
	}
	return all
}

// ranked is a sample in falling order of its new scores, with equal ones in one step.
type ranked struct {
	steps []step
	texts []text // in the same order
	olds  []float64
}

// step are the texts with one new score.
type step struct {
	score float64
	texts int // their number
}

type text struct {
	unit  int
	above int // how many old thresholds its old score reaches
	label mark
}

func (s sample) ranked(olds []float64) ranked {
	r := ranked{olds: olds}
	for _, unit := range eval.Order(len(s.new), func(a, b int) int { return cmp.Compare(s.new[b], s.new[a]) }) {
		// Scores that are shown as 0.7 reach 0.7.
		above, exact := slices.BinarySearch(olds, s.old[unit])
		if exact {
			above++
		}
		r.texts = append(r.texts, text{unit, above, s.labels[unit]})
		if k := len(r.steps); k > 0 && r.steps[k-1].score == s.new[unit] {
			r.steps[k-1].texts++
			continue
		}
		r.steps = append(r.steps, step{s.new[unit], 1})
	}
	return r
}

// cut is a threshold between two new scores: it flags High and all over it.
type cut struct{ low, high float64 }

// middle returns the threshold in the middle of a cut.
func (c cut) middle() float64 { return (c.low + c.high) / 2 }

// shortest returns the threshold of a cut with the fewest digits, near the middle.
func (c cut) shortest() float64 {
	for digits := 2; digits <= 6; digits++ {
		power := math.Pow10(digits)
		if v := math.Round(c.middle()*power) / power; v > c.low && v <= c.high {
			return v
		}
	}
	return c.high
}

// level is what an old threshold and the new ones for it do.
type level struct {
	flagged, newFlagged, both int // texts
	equal                     cut
	labels                    labelCounts
	equalPrecision            *cut // nil if no threshold has it
	equalRecall               *cut
	right                     int // labelled texts that equalPrecision flags
}

// labelCounts are numbers of labelled texts.
type labelCounts struct {
	all, toxic           int
	oldFlagged, oldRight int
	newFlagged, newRight int
}

// point is the state after a step: what its score as a threshold flags.
type point struct {
	cut

	flagged         int
	labelled, right int
}

// levels returns what each old threshold and the new ones for it do if each unit counts
// several times. It takes as many steps as there are texts.
func (r ranked) levels(times []int32) []level {
	found := make([]level, len(r.olds))
	var labels labelCounts
	above := make([]int, len(r.olds)+1) // texts by the number of old thresholds that they reach
	labelledAbove, rightAbove := make([]int, len(above)), make([]int, len(above))
	points := make([]point, 0, len(r.steps))
	at := 0
	now := point{}
	for _, s := range r.steps {
		before := now.flagged
		for _, t := range r.texts[at : at+s.texts] {
			n := int(times[t.unit])
			now.flagged += n
			above[t.above] += n
			if t.label != unlabelled {
				now.labelled += n
				labelledAbove[t.above] += n
			}
			if t.label == positive {
				now.right += n
				rightAbove[t.above] += n
			}
		}
		at += s.texts
		if now.flagged == before {
			continue // none of them is in the resample
		}
		if k := len(points); k > 0 {
			points[k-1].low = s.score
		}
		now.high, now.low = s.score, 0
		points = append(points, now)
	}
	labels.all, labels.toxic = now.labelled, now.right
	sums := labelCounts{}
	flagged := 0
	for j := len(found) - 1; j >= 0; j-- {
		flagged += above[j+1]
		sums.oldFlagged += labelledAbove[j+1]
		sums.oldRight += rightAbove[j+1]
		found[j].flagged = flagged
		found[j].labels = labels
		found[j].labels.oldFlagged, found[j].labels.oldRight = sums.oldFlagged, sums.oldRight
	}
	r.equalRates(times, points, found)
	if labels.toxic > 0 && labels.toxic < labels.all {
		equalRecalls(points, found)
		equalPrecisions(points, found)
	}
	return found
}

// equalRates finds the thresholds that flag as many texts as the old ones, or the
// nearest number that texts with equal scores allow, and how many texts both flag.
func (r ranked) equalRates(times []int32, points []point, found []level) {
	above := make([]int, len(r.olds)+1)
	at, step := 0, 0
	k := 0
	for j := len(found) - 1; j >= 0; j-- { // the highest old threshold flags the fewest
		for k+1 < len(points) && points[k+1].flagged-found[j].flagged <= found[j].flagged-points[k].flagged {
			k++
		}
		for step < len(r.steps) && r.steps[step].score >= points[k].high {
			for _, t := range r.texts[at : at+r.steps[step].texts] {
				above[t.above] += int(times[t.unit])
			}
			at += r.steps[step].texts
			step++
		}
		l := &found[j]
		l.equal, l.newFlagged = points[k].cut, points[k].flagged
		l.labels.newFlagged, l.labels.newRight = points[k].labelled, points[k].right
		for reached := j + 1; reached < len(above); reached++ {
			l.both += above[reached]
		}
	}
}

// equalRecalls finds the highest thresholds with at least the old recall.
func equalRecalls(points []point, found []level) {
	k := 0
	for j := len(found) - 1; j >= 0; j-- {
		if found[j].labels.oldRight == 0 {
			continue
		}
		for points[k].right < found[j].labels.oldRight {
			k++
		}
		found[j].equalRecall = &points[k].cut
	}
}

// equalPrecisions finds the lowest thresholds with at least the old precision.
func equalPrecisions(points []point, found []level) {
	var wanted []*level
	for j := range found {
		if found[j].labels.oldFlagged > 0 {
			wanted = append(wanted, &found[j])
		}
	}
	slices.SortStableFunc(wanted, func(a, b *level) int {
		return cmp.Compare(a.labels.oldRight*b.labels.oldFlagged, b.labels.oldRight*a.labels.oldFlagged)
	})
	for k := len(points) - 1; k >= 0 && len(wanted) > 0; k-- {
		p := &points[k]
		for len(wanted) > 0 && p.labelled > 0 && p.right*wanted[0].labels.oldFlagged >= wanted[0].labels.oldRight*p.labelled {
			wanted[0].equalPrecision, wanted[0].right = &p.cut, p.labelled
			wanted = wanted[1:]
		}
	}
}

// drawn are the values of resamples.
type drawn struct {
	threshold, changed, newly, noLonger, precision, recall []float64
}

func (d *drawn) add(l level, n float64) {
	d.threshold = append(d.threshold, l.equal.middle())
	newly, noLonger := float64(l.newFlagged-l.both)/n, float64(l.flagged-l.both)/n
	d.changed = append(d.changed, newly+noLonger)
	d.newly = append(d.newly, newly)
	d.noLonger = append(d.noLonger, noLonger)
	if l.equalPrecision != nil {
		d.precision = append(d.precision, l.equalPrecision.middle())
	}
	if l.equalRecall != nil {
		d.recall = append(d.recall, l.equalRecall.middle())
	}
}

// within returns a value with the interval of its resamples. There is none if many
// resamples have no value, or all have the same.
func within(value float64, draws []float64) *eval.Estimate {
	e := &eval.Estimate{Value: value}
	if len(draws) >= resamples*95/100 && slices.Min(draws) < slices.Max(draws) {
		e.Interval = eval.Percentiles(draws)
	}
	return e
}

// threshold returns the results of a level among n texts.
func (l level) threshold(old float64, n int, d *drawn) Threshold {
	t := Threshold{Old: old, Flagged: float64(l.flagged) / float64(n)}
	if short := min(l.flagged, n-l.flagged); short < Support {
		side := plural.Word(short, "reaches", "reach")
		if l.flagged >= Support {
			side = plural.Word(short, "stays below", "stay below")
		}
		t.Problem = fmt.Sprintf("%s %s it, at least %d are needed.", plural.Count(short, "old score", "old scores"), side, Support)
		return t
	}
	share := func(count int) float64 { return float64(count) / float64(n) }
	t.NewFlagged = share(l.newFlagged)
	t.New = within(l.equal.shortest(), d.threshold)
	t.Changed = within(share(l.newFlagged+l.flagged-2*l.both), d.changed)
	t.Newly = within(share(l.newFlagged-l.both), d.newly)
	t.NoLonger = within(share(l.flagged-l.both), d.noLonger)
	if c := l.labels; c.toxic > 0 && c.toxic < c.all {
		t.Labelled = l.byLabels(d)
	}
	return t
}

func (l level) byLabels(d *drawn) *ByLabels {
	of := func(count, all int) *float64 {
		if all < Support {
			return nil
		}
		share := float64(count) / float64(all)
		return &share
	}
	c := l.labels
	b := &ByLabels{
		OldPrecision: of(c.oldRight, c.oldFlagged), OldRecall: of(c.oldRight, c.toxic),
		NewPrecision: of(c.newRight, c.newFlagged), NewRecall: of(c.newRight, c.toxic),
	}
	if b.OldPrecision != nil && l.equalPrecision != nil && l.right >= Support {
		b.EqualPrecision = within(l.equalPrecision.shortest(), d.precision)
	}
	if b.OldRecall != nil && l.equalRecall != nil {
		b.EqualRecall = within(l.equalRecall.shortest(), d.recall)
	}
	return b
}
