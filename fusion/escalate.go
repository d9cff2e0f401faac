package fusion

import (
	"context"
	"fmt"
	"math"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// worth returns the expected price of the errors that a verdict prevents at a
// probability p. A verdict changes the decision if its evidence reaches the
// distance between p and the threshold. The judge's rates at that level say how
// often it does so for toxic and for clean texts.
func (o Opinion) worth(p, threshold float64, prices Prices) float64 {
	if o.Cap <= 0 || p < o.Low || p > o.High {
		return 0
	}
	falseAlarm, miss := prices.errors(threshold)
	x := LogOdds(p)
	away := LogOdds(threshold) - x
	if away > o.Cap || away <= -o.Lower {
		return 0 // no verdict moves p that far
	}
	truly, falsely := o.rates(away + o.Overlap*x)
	gain := p*truly*miss - (1-p)*falsely*falseAlarm
	if p >= threshold {
		gain = (1-p)*(1-falsely)*falseAlarm - p*(1-truly)*miss
	}
	return max(gain, 0)
}

// rates returns how often the evidence is at least heard, for toxic and for clean
// texts.
func (o Opinion) rates(heard float64) (truly, falsely float64) {
	if len(o.Levels) == 0 {
		farthest := o.farthest()
		switch {
		case heard > o.Intercept+farthest:
			return 0, 0
		case heard <= o.Intercept-farthest:
			return 1, 1
		}
		return o.TruePositive, o.FalsePositive
	}
	i := 0 // index of the first level that is as strong
	for i < len(o.Levels) && o.Levels[i].Heard < heard {
		i++
	}
	switch {
	case i == len(o.Levels):
		return 0, 0
	case i == 0:
		return 1, 1
	}
	from, to := o.Levels[i-1], o.Levels[i]
	part := (heard - from.Heard) / (to.Heard - from.Heard)
	return from.TruePositive + part*(to.TruePositive-from.TruePositive), from.FalsePositive + part*(to.FalsePositive-from.FalsePositive)
}

// cost returns the minimum worth of a verdict.
func (f *Fusion) cost() float64 { return max(f.file.Prices.Call, f.least) }

// doubt is a reason to trust the classifier less than its score says.
type doubt uint8

const (
	none      doubt = iota
	noSpan          // a high score that no word explains
	disguised       // undoing disguise changed the score
)

// decision says whether to ask the judge about a text, with the numbers behind it.
type decision struct {
	ask       bool
	attribute toxscreen.Attribute
	doubt     doubt
	p         float64 // of the attribute, calibrated
	doubted   float64 // p with the doubt taken into account; p without doubt
	threshold float64
	value     float64
}

// decide finds the attribute for which a verdict is worth most; if none is worth
// its cost, it is toxicity. One call answers for all attributes, but their worth is
// not summed: the errors in the attributes of a text are correlated, and count as
// one error.
func (f *Fusion) decide(found *toxscreen.Classification, thresholds *toxscreen.Scores) decision {
	var best decision
	known := false
	for _, a := range toxscreen.Attributes() {
		p, ok := found.Scores.Get(a)
		threshold, limited := thresholds.Get(a)
		if !ok || !limited {
			continue
		}
		x := f.prior(a, p)
		taken, why := f.doubted(found, a, x, threshold)
		value := f.opinions[a].worth(logodds.Probability(taken), threshold, f.file.Prices)
		if !known || value > max(best.value, f.cost()) {
			known = true
			best = decision{value > f.cost(), a, why, logodds.Probability(x), logodds.Probability(taken), threshold, value}
		}
	}
	return best
}

// doubted returns the log-odds that the decision uses. A score that no word
// explains counts as half as far from the threshold, and one that rests on undone
// disguise counts as the mean of both readings. The score itself does not change.
func (f *Fusion) doubted(found *toxscreen.Classification, a toxscreen.Attribute, x, threshold float64) (float64, doubt) {
	if plain, ok := found.Plain.Get(a); ok {
		return (x + f.prior(a, plain)) / 2, disguised
	}
	if at := LogOdds(threshold); x >= at && found.Spans != nil && len(found.Spans) == 0 {
		return (x + at) / 2, noSpan
	}
	return x, none
}

// Escalate implements [toxscreen.Rule]. It ignores the context, since it never
// waits.
func (f *Fusion) Escalate(_ context.Context, found toxscreen.Classification, thresholds toxscreen.Scores) (ask bool, why string) {
	if f.why != "" {
		return false, "a verdict would be ignored: " + f.why
	}
	d := f.decide(&found, &thresholds)
	return d.ask, f.sentence(d)
}

// sentence returns why a text is judged, or why not.
func (f *Fusion) sentence(d decision) string {
	score := fmt.Sprintf("%s %.2f", d.attribute, d.p)
	switch d.doubt {
	case noSpan:
		score += fmt.Sprintf(", which no word explains and so counts as %.2f here,", d.doubted)
	case disguised:
		score += fmt.Sprintf(", which rests on undone disguise and so counts as %.2f here,", d.doubted)
	case none:
	}
	cost := fmt.Sprintf("a call costs %.2g", f.file.Prices.Call)
	if f.cost() > f.file.Prices.Call {
		cost = fmt.Sprintf("the budget of %.3g %% of texts requires %.2g", 100*f.file.Budget.Share, f.cost())
	}
	low, high, ok := f.Band(d.attribute, d.threshold)
	place := "has no band in which a verdict is worth a call"
	if ok {
		place = "is outside the band"
		if d.doubted >= low && d.doubted <= high {
			place = "is inside the band"
		}
		place += fmt.Sprintf(" %.2f–%.2f", low, high)
	}
	return fmt.Sprintf("%s %s: a verdict is worth %.2g errors, %s", score, place, d.value, cost)
}

// Value returns how many errors a verdict on a text is expected to prevent.
func (f *Fusion) Value(found *toxscreen.Classification, thresholds *toxscreen.Scores) float64 {
	return f.decide(found, thresholds).value
}

// Band returns the range of probabilities in which a verdict on this attribute
// alone is worth more than it costs; ok is false if there is none.
func (f *Fusion) Band(a toxscreen.Attribute, threshold float64) (low, high float64, ok bool) {
	return f.opinions[a].Band(threshold, f.file.Prices, f.cost())
}

// Band returns the range of probabilities in which a verdict is worth more than a cost; ok
// is false if there is none.
func (o Opinion) Band(threshold float64, prices Prices, cost float64) (low, high float64, ok bool) {
	pays := func(p float64) bool { return o.worth(p, threshold, prices) > cost }
	below, above := math.Nextafter(threshold, 0), threshold
	below, above = min(below, o.High), max(above, o.Low)
	low, high = threshold, threshold
	if pays(below) {
		low = edge(0, below, pays)
	}
	if pays(above) {
		high = edge(1, above, pays)
	}
	return low, high, low < high
}

// edge returns the boundary of a condition that does not hold at out and holds at
// in.
func edge(out, in float64, holds func(float64) bool) float64 {
	for range 30 {
		middle := (out + in) / 2
		if holds(middle) {
			in = middle
		} else {
			out = middle
		}
	}
	return in
}
