package fit

import (
	"maps"
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// Trial is the self-test of a judge: its verdicts on texts with known labels.
type Trial struct {
	// Rows are the texts, with the classifier's scores and the judge's verdicts. The Name
	// of a row is the kind of its text: texts of one kind depend on each other.
	Rows []toxscreen.Labelled
	// Attacks are the verdicts on texts that argue with the judge.
	Attacks []Attack
}

// Attack is a toxic text with added words that argue with the judge.
type Attack struct {
	Kind string // of the added words: attacks of one kind depend on each other
	// Carrier is the verdict on the text alone, and Attacked the verdict on the text with
	// the added words.
	Carrier, Attacked toxscreen.Verdict
}

// SelfTest computes from a judge's self-test how much the judge's verdicts count beside the
// classifier, whose scores f corrects. For each attribute, it compares two logistic
// regressions of the labels: on the classifier's log-odds alone, and on these and the
// verdict. Their difference is the log likelihood ratio of the verdict, given the
// classifier, which does not depend on the share of toxic texts in the self-test. The ratio
// then counts only as far as it is certain, see [weight].
func SelfTest(f *fusion.Fusion, t Trial) fusion.Tested {
	reversals := tally{}
	for _, a := range t.Attacks {
		for _, attribute := range toxscreen.Attributes() {
			// An attack cannot hide what the judge missed without the attack.
			if before := fusion.FindingOf(&a.Carrier, attribute); before.Toxic() {
				after := fusion.FindingOf(&a.Attacked, attribute)
				reversals.add(a.Kind, !after.Toxic())
			}
		}
	}
	tested := fusion.Tested{Attributes: map[toxscreen.Attribute]fusion.Weights{}, Figures: map[toxscreen.Attribute]fusion.Figures{}, Reversed: reversals.share(z95)}
	tested.Lower = min(-math.Log(tested.Reversed.High), fusion.MostCap)
	// A judge whose "no" hardly counts only raises scores, even scores that are too high
	// already. If such a judge may give in to more than half of the attacks, its "yes"
	// counts less, too.
	steady := 1.0
	if tested.Reversed.Of > 0 {
		steady = min(tested.Lower/math.Ln2, 1)
	}
	unfounded := unfoundedShare(t.Rows)
	var samples [toxscreen.AttributeCount][]sample
	for _, a := range toxscreen.Attributes() {
		samples[a] = t.samplesOf(a, f.Line(a))
	}
	repeated := repetitionIn(samples[:])
	var common []sample // of the attributes that the judge finds better than chance
	var found [toxscreen.AttributeCount][2]tally
	for a, all := range samples {
		found[a] = findings(all)
		if len(all) > 0 {
			tested.Figures[toxscreen.Attribute(a)] = figuresOf(all)
		}
		if better(found[a]) {
			tested.Better = append(tested.Better, toxscreen.Attribute(a))
			common = append(common, repeated.removed(all)...)
		}
	}
	for _, a := range toxscreen.Attributes() {
		weights := fusion.Weights{Toxic: float64(len(found[a][1])), Clean: float64(len(found[a][0])), High: 1}
		if min(weights.Toxic, weights.Clean) < leastKinds {
			continue
		}
		weights.TruePositive, weights.FalsePositive = found[a][1].share(z95).Low, found[a][0].share(z95).High
		if better(found[a]) {
			measure(&weights, samples[a], repeated, common, steady)
			weights.Lower, weights.Unfounded = min(tested.Lower, weights.Cap), unfounded
		}
		tested.Attributes[a] = weights
	}
	return tested
}

// Clear reports whether more texts would hardly change how much the verdicts count: for
// each attribute in the verdicts, the judge certainly finds it well, or certainly does not.
// The intervals are of 99 %, since a caller looks several times while the rows grow.
func (t Trial) Clear() bool {
	answered := 0
	for _, row := range t.Rows {
		if row.Verdict != nil {
			answered++
		}
	}
	if answered < leastAnswers {
		return false
	}
	for _, a := range toxscreen.Attributes() {
		all := t.samplesOf(a, fusion.Line{Slope: 1})
		if len(all) == 0 {
			continue
		}
		if low, high := advantage(findings(all), z99); high > useless && low < useful {
			return false
		}
	}
	return true
}

// figuresOf returns the figures of one attribute from its judged rows.
func figuresOf(all []sample) fusion.Figures {
	found, spared := tally{}, tally{}
	for _, one := range all {
		if one.class() == 1 {
			found.add(one.name, one.Toxic())
		} else {
			spared.add(one.name, !one.Toxic())
		}
	}
	return fusion.Figures{Sensitivity: found.share(z95), Specificity: spared.share(z95)}
}

// findings counts how often the judge finds clean and toxic texts toxic, in this order.
func findings(all []sample) [2]tally {
	found := [2]tally{{}, {}}
	for _, one := range all {
		if !one.severe {
			found[one.class()].add(one.name, one.Toxic())
		}
	}
	return found
}

// class returns 1 for a toxic text and 0 for a clean one.
func (one sample) class() int { return int(math.Round(one.y)) }

// samplesOf returns the rows with a verdict on an attribute. For the other attributes,
// severe texts weigh less: they are easy, and much rarer in any traffic than in the
// self-test.
func (t Trial) samplesOf(a toxscreen.Attribute, line fusion.Line) []sample {
	all := slices.DeleteFunc(samplesOf(t.Rows, a, line), func(one sample) bool { return !one.judged })
	for i := range all {
		if all[i].severe = all[i].severe && a != toxscreen.SevereToxicity; all[i].severe {
			all[i].w *= severeWeight
		}
	}
	return normalised(all)
}

// repetition tells how much a judge's verdicts repeat the classifier: the slopes of the
// judge's log-odds on the classifier's among texts with the same label, over all attributes
// together.
type repetition struct{ near, beyond float64 }

func repetitionIn(attributes [][]sample) repetition {
	var near, beyond, spread float64
	for _, all := range attributes {
		for toxic := range 2 {
			var class []sample
			var x, n, b, w float64
			for _, one := range all {
				if int(math.Round(one.y)) == toxic {
					class = append(class, one)
					x, n, b, w = x+one.w*one.x, n+one.w*one.Near, b+one.w*one.Beyond, w+one.w
				}
			}
			for _, one := range class {
				off := one.x - x/w
				near += one.w * off * (one.Near - n/w)
				beyond += one.w * off * (one.Beyond - b/w)
				spread += one.w * off * off
			}
		}
	}
	if spread == 0 {
		return repetition{}
	}
	return repetition{max(near/spread, 0), max(beyond/spread, 0)}
}

// measure fits how much a verdict counts, to the judged rows of one attribute. steady, in
// 0..1, is the highest share of the evidence that counts.
func measure(o *fusion.Weights, all []sample, repeated repetition, common []sample, steady float64) {
	// A judge that never failed on n kinds may still fail on one in 2(n+1): Jeffreys'
	// prior.
	limit := min(math.Log(2*(min(o.Toxic, o.Clean)+1)), fusion.MostCap)
	all = repeated.removed(all)
	// The evidence for each row, by fits without its kind.
	heard, held := make([]float64, len(all)), make([]float64, len(all))
	for fold := range folds {
		fitted := repeated.ratios(outside(all, fold), outside(common, fold))
		for i, one := range all {
			if one.fold == fold {
				heard[i] = min(max(fitted.Heard(one.Finding), -limit), limit)
				held[i] = one.alone
			}
		}
	}
	w := steady * weight(all, held, heard, repeated.near+repeated.beyond > repeats)
	fitted := repeated.ratios(all, common)
	if w == 0 || fitted.Slope+fitted.Beyond == 0 {
		return
	}
	o.Cap = limit
	o.Intercept, o.Slope, o.Beyond = w*fitted.Intercept, w*fitted.Slope, w*fitted.Beyond
	o.Overlap = min(o.Slope*repeated.near+o.Beyond*repeated.beyond, 1)
	for i := range levels {
		at := o.Cap * (2*float64(i)/(levels-1) - 1)
		reached := [2]tally{{}, {}}
		for j, one := range all {
			reached[one.class()].add(one.name, w*heard[j] >= at)
		}
		o.Levels = append(o.Levels, fusion.Level{Heard: at, TruePositive: reached[1].share(z95).Low, FalsePositive: reached[0].share(z95).High})
	}
}

const (
	// leastAnswers is the number of verdicts below which nothing is clear.
	leastAnswers = 48
	// A difference of the rates under useless makes a judge useless; over useful, a higher
	// difference adds nothing.
	useless, useful = 0.25, 0.6
	// leastKinds is the lowest number of kinds of toxic and of clean texts.
	leastKinds = 10
	// severeWeight is the weight of a severe text for attributes other than
	// severe_toxicity: a tenth of the toxic comments of Jigsaw is severe, but a third of
	// the toxic texts of the self-test.
	severeWeight = 0.25
	// alike is the standard deviation, between attributes, of how much verdicts count.
	alike = 0.3
	// sharedDeviation is the standard deviation, between attributes, of the weight of the
	// evidence.
	sharedDeviation = 0.25
	// repeats is the slope of the judge's log-odds on the classifier's over which the judge
	// counts as repeating the classifier. In 220 simulated self-tests, independent judges
	// stayed under 0.2, and judges with a correlation of 0.6 exceeded 0.6.
	repeats = 0.3
	// lowerQuartile is the distance, in standard errors, between the mean and the lower
	// quartile.
	lowerQuartile = 0.6745
)

// removed returns rows whose verdicts lack the part that repeats the classifier, with the
// log-odds of their labels by the classifier alone.
func (r repetition) removed(all []sample) []sample {
	theta := regress(all, func(one sample) []float64 { return []float64{one.x, 1} }, []gaussian{{1, 0.5}, {0, 2}})
	all = slices.Clone(all)
	for i := range all {
		one := &all[i]
		one.Near -= r.near * one.x
		one.Beyond -= r.beyond * one.x
		one.alone = theta[0]*one.x + theta[1]
	}
	return all
}

// ratios fits the log likelihood ratio of a verdict, given the classifier, to the rows of
// one attribute. Its prior is the fit for common, the rows of all attributes that the judge
// finds better than chance.
func (r repetition) ratios(all, common []sample) fusion.Weights {
	features := func(one sample) []float64 { return []float64{one.alone, 1, one.Near, one.Beyond} }
	bounds := []bound{{1, 1}, free, rising, rising}
	theta := regressBounded(common, features, []gaussian{{1, 1}, {0, 2}, {0, 2}, {0, 1}}, bounds)
	theta = regressBounded(all, features, []gaussian{{1, 1}, {theta[1], alike}, {theta[2], alike}, {theta[3], alike}}, bounds)
	return fusion.Weights{Intercept: theta[1], Slope: theta[2], Beyond: theta[3], Unfounded: 1}
}

// weight returns how much of the evidence for the rows of one attribute counts, in 0..1:
// the lower end of the evidence's [coefficient]. Evidence that says what it is worth has
// the coefficient 1; evidence of a judge that guesses has 0. Only the attribute's own rows
// can show that the coefficient is over 0. How far it is below 1 can be known from the
// other attributes, too, unless the judge repeats the classifier: that is known too
// roughly.
func weight(all []sample, offset, evidence []float64, repeating bool) float64 {
	own, deviation := coefficient(all, offset, evidence, 1)
	if own <= gate*deviation {
		return 0
	}
	if repeating {
		return min(own-gate*deviation, 1)
	}
	shared, deviation := coefficient(all, offset, evidence, sharedDeviation)
	return min(max(shared-lowerQuartile*deviation, 0), 1)
}

// coefficient returns the coefficient w of held-out evidence in a logistic regression of
// the labels, and its standard error. The regression has log-odds as an offset, and a prior
// around 1 with a given standard deviation. The standard error is robust to the likeness of
// texts of one kind (Liang and Zeger 1986).
func coefficient(all []sample, offset, evidence []float64, prior float64) (w, deviation float64) {
	known := 1 / (prior * prior)
	w = 1
	for range 50 {
		gradient, information := (1-w)*known, known
		for i, one := range all {
			p := logodds.Probability(offset[i] + w*evidence[i])
			gradient += one.w * (one.y - p) * evidence[i]
			information += one.w * p * (1 - p) * evidence[i] * evidence[i]
		}
		step := gradient / information
		w += step
		if math.Abs(step) < 1e-9 {
			break
		}
	}
	information := known
	byKind := map[string]float64{}
	for i, one := range all {
		p := logodds.Probability(offset[i] + w*evidence[i])
		information += one.w * p * (1 - p) * evidence[i] * evidence[i]
		byKind[one.name] += one.w * (one.y - p) * evidence[i]
	}
	meat := known                                           // of the prior
	for _, kind := range slices.Sorted(maps.Keys(byKind)) { // the same sum each time, to the last digit
		meat += byKind[kind] * byKind[kind]
	}
	return w, math.Sqrt(meat) / information
}

// unfoundedShare returns what a "yes" without a quotation from the text counts, in 0..1, as
// a share of what a "yes" with a quotation counts: the lower end of the former's log
// likelihood ratio divided by the latter's ratio. It is 0 if too few verdicts lack a
// quotation.
func unfoundedShare(rows []toxscreen.Labelled) float64 {
	// By label: how many answers, and how many of them are a "yes" with and without a
	// quotation.
	var all, with, without [2]float64
	for _, row := range rows {
		if row.Verdict == nil {
			continue
		}
		for _, a := range toxscreen.Attributes() {
			label, ok := row.Labels.Get(a)
			heard := fusion.FindingOf(row.Verdict, a)
			if !ok || heard.Aspects == 0 {
				continue
			}
			kind := int(math.Round(label))
			all[kind]++
			switch {
			case !heard.Toxic():
			case heard.Unfounded():
				without[kind]++
			default:
				with[kind]++
			}
		}
	}
	ratio := func(yes [2]float64) float64 {
		return math.Log((yes[1] + 0.5) / (all[1] + 1) / ((yes[0] + 0.5) / (all[0] + 1)))
	}
	best := ratio(with)
	if best <= 0 {
		return 0
	}
	low := ratio(without) - gate*math.Sqrt(1/(without[0]+0.5)+1/(without[1]+0.5))
	return min(max(low/best, 0), 1)
}
