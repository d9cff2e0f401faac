package fit

import (
	"maps"
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/logodds"
)

// Trial is a judge's self-test: its verdicts on texts whose labels are known.
type Trial struct {
	// Rows are the texts, with the classifier's scores and the judge's verdicts. The
	// Name of a row is its kind: texts of one kind are not independent.
	Rows []toxscreen.Labelled
	// Attacks are the verdicts on texts that argue with the judge.
	Attacks []Attack
}

// Attack is a toxic text to which words were added that argue with the judge.
type Attack struct {
	Kind string // of the added words: attacks of one kind are not independent
	// Carrier is the verdict on the text alone, Attacked the one with the added words.
	Carrier, Attacked toxscreen.Verdict
}

// SelfTest computes what a judge's verdicts count from its self-test, beside the
// classifier as f corrects it. For each attribute
// it compares two logistic regressions of the labels, on the classifier's log-odds alone
// and on these and the verdict. Their difference is the log likelihood ratio of the
// verdict, given the classifier: it does not depend on the share of toxic texts in the
// self-test. It then counts as far as it is certain, see [weight].
func SelfTest(f *fusion.Fusion, t Trial) fusion.Tested {
	reversals := tally{}
	for _, a := range t.Attacks {
		for _, attribute := range toxscreen.Attributes() {
			// What was not found without the attack was not hidden by it.
			if before := fusion.FindingOf(&a.Carrier, attribute); before.Toxic() {
				after := fusion.FindingOf(&a.Attacked, attribute)
				reversals.add(a.Kind, !after.Toxic())
			}
		}
	}
	tested := fusion.Tested{Attributes: map[toxscreen.Attribute]fusion.Opinion{}, Figures: map[toxscreen.Attribute]fusion.Figures{}, Reversed: reversals.share(z95)}
	tested.Lower = min(-math.Log(tested.Reversed.High), fusion.MostCap)
	// A judge whose "no" hardly counts only ever raises scores, also those that are too high
	// already. If it may give in to more than half of the attacks, a "yes" counts less, too.
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
		opinion := fusion.Opinion{Toxic: float64(len(found[a][1])), Clean: float64(len(found[a][0])), High: 1}
		if min(opinion.Toxic, opinion.Clean) < leastKinds {
			continue
		}
		opinion.TruePositive, opinion.FalsePositive = found[a][1].share(z95).Low, found[a][0].share(z95).High
		if better(found[a]) {
			measure(&opinion, samples[a], repeated, common, steady)
			opinion.Lower, opinion.Unfounded = min(tested.Lower, opinion.Cap), unfounded
		}
		tested.Attributes[a] = opinion
	}
	return tested
}

// Clear reports whether more texts would hardly change what the verdicts count: each
// attribute that the judge answers for is certainly found well or certainly not found.
// The 99 % intervals allow for several looks at the growing rows.
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

// figuresOf returns the figures of the judged rows of one attribute.
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

// findings returns how often toxic and clean texts are found toxic.
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

// samplesOf returns the rows with a verdict on an attribute. Severe texts are the easy
// part of the other attributes, and much rarer in any traffic than in the self-test.
func (t Trial) samplesOf(a toxscreen.Attribute, line fusion.Line) []sample {
	all := slices.DeleteFunc(samplesOf(t.Rows, a, line), func(one sample) bool { return !one.judged })
	for i := range all {
		if all[i].severe = all[i].severe && a != toxscreen.SevereToxicity; all[i].severe {
			all[i].w *= severeWeight
		}
	}
	return normalised(all)
}

// repetition is how much of what a judge says repeats the classifier, for all
// attributes together: the slopes of its log-odds on the classifier's, among texts with
// the same label.
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

// measure fits what the verdict counts to the judged rows of one attribute. The most that it
// counts is steady, in 0..1.
func measure(o *fusion.Opinion, all []sample, repeated repetition, common []sample, steady float64) {
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
	// leastAnswers is the number of verdicts before which nothing is clear.
	leastAnswers = 48
	// A difference of the rates under useless is of no use, one over useful is as good as
	// any.
	useless, useful = 0.25, 0.6
	// leastKinds is the minimum number of kinds of toxic and of clean texts.
	leastKinds = 10
	// severeWeight is the weight of a severe text for attributes other than
	// severe_toxicity: a tenth of the toxic comments of Jigsaw are severe, and a third of
	// the toxic texts of the self-test.
	severeWeight = 0.25
	// alike is the standard deviation of what the verdicts on one attribute count around
	// what those on all attributes count.
	alike = 0.3
	// sharedDeviation is the same for the weight of an attribute.
	sharedDeviation = 0.25
	// repeats is the slope of the judge's log-odds on the classifier's over which the judge
	// is taken to repeat it. In 220 simulated self-tests, judges that are independent of
	// the classifier stayed under 0.2, and those with a correlation of 0.6 were over 0.6.
	repeats = 0.3
	// lowerQuartile is the number of standard errors from the mean to the lower quartile.
	lowerQuartile = 0.6745
)

// removed returns rows whose verdicts are without what repeats the classifier, and with
// the log-odds of their labels by the classifier alone.
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
// one attribute. The fit for all attributes together is its prior.
func (r repetition) ratios(all, common []sample) fusion.Opinion {
	features := func(one sample) []float64 { return []float64{one.alone, 1, one.Near, one.Beyond} }
	bounds := []bound{{1, 1}, free, rising, rising}
	theta := regressBounded(common, features, []gaussian{{1, 1}, {0, 2}, {0, 2}, {0, 1}}, bounds)
	theta = regressBounded(all, features, []gaussian{{1, 1}, {theta[1], alike}, {theta[2], alike}, {theta[3], alike}}, bounds)
	return fusion.Opinion{Intercept: theta[1], Slope: theta[2], Beyond: theta[3], Unfounded: 1}
}

// weight returns how much of the evidence for the rows of one attribute counts, in 0..1:
// the lower end of its [coefficient]. Evidence that says what it is worth has the
// coefficient 1, evidence of a judge that guesses 0. The attribute's own rows must show
// that it is over 0. How far it is below 1 is then also known from the other attributes,
// unless the judge repeats the classifier, which is known too roughly for that.
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

// coefficient returns the coefficient of held-out evidence in a logistic regression of
// the labels, with log-odds as an offset and the given standard deviation of the prior
// around 1, and its standard error, which is robust to texts of one kind being alike
// (Liang and Zeger 1986).
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

// unfoundedShare returns what a "yes" without a quotation from the text counts, as a
// share of one with it, in 0..1: the lower end of its log likelihood ratio over that of
// the latter. It is 0 if there are too few of them to tell.
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
