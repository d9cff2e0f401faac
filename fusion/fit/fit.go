// Package fit computes the parameters of package fusion from texts with known labels:
//
//	params, report, err := fit.Params(rows, fit.Options{Model: version, Thresholds: thresholds, Prices: prices})
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Print(report.Text(params))
//
// [SelfTest] computes how much the verdicts of a judge count, from the judge's self-test.
// Package fusion applies the parameters.
package fit

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/fusion"
	"github.com/toxscreen/toxscreen/internal/logodds"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Options configure a fit.
type Options struct {
	Model      string           // version of the model that the rows were scored with
	Thresholds toxscreen.Scores // scores at and over which attributes are flagged
	Prices     fusion.Prices
	Budget     fusion.Budget // LeastValue is ignored
	Traffic    Traffic
	// Base are parameters whose judges are kept, besides the judge that is fitted.
	Base fusion.Params
}

// Traffic limits the use of a judge. [Params] converts the limits into a share of texts, by
// the means over the verdicts in the rows.
type Traffic struct {
	Texts float64 // scored per minute; 0 if unknown
	// Tokens and Seconds are the limits of all verdicts together, per minute; 0 for no
	// limit.
	Tokens, Seconds float64
}

// The minimum for a fit. With fewer rows, only luck would pass the gate below.
const (
	leastRows  = 100
	leastClass = 20 // of each class
	// With this many rows near the band, a fit is off by about 0.015 in
	// probability.
	enoughNear = 1000
	folds      = 5
	levels     = 15 // of the evidence, from −cap to cap
	// gate is the number of standard errors by which a parameter must lower the
	// cross-validated loss to be accepted: a useless parameter passes with a probability
	// under 5 %.
	gate = 1.645
)

// Report describes a fit.
type Report struct {
	Attributes []AttributeReport
	// Rows is the number of rows, and Judged the number of rows with a verdict.
	Rows, Judged int
	// Share is the expected share of judged texts, in 0..1, as the rows tell. Least is the
	// least worth of a verdict at which the judge is asked.
	Share, Least float64
	// Curve gives the worth of verdicts by the share of judged texts, if the texts with the
	// highest worth are judged first.
	Curve []Point
	// SecondsPerCall and TokensPerCall are means over the verdicts.
	SecondsPerCall, TokensPerCall float64
}

// Point is a point of a curve: a share of judged texts in 0..1, and the worth of their
// verdicts as a mean over all texts.
type Point struct{ Share, Worth float64 }

// AttributeReport describes the fit of one attribute. Losses are cross-validated log
// losses, in nats per row.
type AttributeReport struct {
	Attribute    toxscreen.Attribute
	Toxic, Clean float64
	// The calibration of the classifier: the losses before and after, and whether the
	// correction was accepted.
	Before, After float64
	Calibrated    bool
	// The judge inside the band: the losses of the classifier alone and of both together,
	// and the judge's weights. Weights is nil if there were too few rows; Note then says
	// so.
	Classifier, Fused float64
	Counts            bool
	Weights           *fusion.Weights
	Note              string
	// Held are the probabilities of the rows by parameters that were fitted without the
	// row's fold, for plots.
	Held []Held
}

// Held is a row with its probabilities by parameters that were fitted without the row.
type Held struct {
	Before, After float64 // probabilities without and with the parameters
	Label, Weight float64
}

// ErrVerdicts is in the error chain if rows have too few verdicts, so that the judge must
// be asked about more of them.
var ErrVerdicts = errors.New("verdicts")

// Params computes the parameters from labelled texts. It leaves out a parameter unless
// cross-validation shows that the parameter lowers the loss. The error says what is wrong
// with rows: too few, contradicting, or of one class only.
func Params(rows []toxscreen.Labelled, o Options) (fusion.Params, Report, error) {
	fitted, report, err := fit(rows, o)
	if err != nil {
		return fusion.Params{}, Report{}, fmt.Errorf("failed to fit fusion parameters: %w", err)
	}
	return fitted, report, nil
}

func fit(rows []toxscreen.Labelled, o Options) (fusion.Params, Report, error) {
	report := Report{Rows: len(rows)}
	if err := check(rows); err != nil {
		return fusion.Params{}, report, err
	}
	p := fusion.Params{Format: fusion.Format, Model: o.Model, Prices: o.Prices, Budget: o.Budget, Calibration: map[toxscreen.Attribute]fusion.Line{}}
	p.Budget.LeastValue = o.Base.Budget.LeastValue
	judge, err := judgeOf(rows, &report)
	if err != nil {
		return p, report, err
	}
	if p.Budget.Share, err = o.share(judge != nil, report); err != nil {
		return p, report, err
	}
	unfounded := unfoundedShare(rows)
	for _, a := range toxscreen.Attributes() {
		all := samplesOf(rows, a, fusion.Line{Slope: 1})
		if len(all) == 0 {
			continue
		}
		r := AttributeReport{Attribute: a}
		r.Toxic, r.Clean = classes(all)
		if why := tooFew(all); why != "" {
			if a == toxscreen.Toxicity {
				return p, report, fmt.Errorf("%s: %s", a, why)
			}
			r.Note = why + ": not calibrated"
			report.Attributes = append(report.Attributes, r)
			continue
		}
		line := calibrate(all, &r)
		if r.Calibrated {
			p.Calibration[a] = line
		}
		if judge != nil {
			threshold, ok := o.Thresholds.Get(a)
			if !ok {
				return p, report, fmt.Errorf("%s has labels but no threshold", a)
			}
			if err := fitOpinion(samplesOf(rows, a, line), threshold, o.Prices, &r); err != nil {
				return p, report, fmt.Errorf("%s: %w", a, err)
			}
			if r.Weights != nil {
				r.Weights.Unfounded = unfounded
				judge.Attributes[a] = *r.Weights
			} else if a == toxscreen.Toxicity {
				return p, report, fmt.Errorf("%s: %w: %s", a, ErrVerdicts, r.Note)
			}
		}
		report.Attributes = append(report.Attributes, r)
	}
	if len(report.Attributes) == 0 {
		return p, report, fmt.Errorf("%s, none with a label", plural.Count(len(rows), "row", "rows"))
	}
	for _, known := range o.Base.Judges {
		if judge == nil || fusion.Digest(known.Model) != fusion.Digest(judge.Model) || known.Rubric != judge.Rubric {
			p.Judges = append(p.Judges, known)
		}
	}
	if judge != nil {
		p.Judges = append(p.Judges, *judge)
		if err := spend(&p, rows, o, &report); err != nil {
			return p, report, err
		}
	}
	return p, report, nil
}

// check returns an error for rows that cannot be used, or that contradict each other.
func check(rows []toxscreen.Labelled) error {
	seen := map[string]int{}
	var contradicting int
	first := ""
	for i, row := range rows {
		if !(row.Weight > 0) || math.IsInf(row.Weight, 0) {
			return fmt.Errorf("row %d: weight %v: it must be a number over 0", i+1, row.Weight)
		}
		for a, p := range row.Found.Scores.All() {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("row %d: score %v for %s is not a probability", i+1, p, a)
			}
		}
		for a, y := range row.Labels.All() {
			if !(y >= 0 && y <= 1) {
				return fmt.Errorf("row %d: label %v for %s is not a share of people in 0..1", i+1, y, a)
			}
		}
		if row.Name == "" {
			continue
		}
		before, ok := seen[row.Name]
		if !ok {
			seen[row.Name] = i
			continue
		}
		for a, y := range row.Labels.All() {
			if was, ok := rows[before].Labels.Get(a); ok && (was >= 0.5) != (y >= 0.5) {
				if contradicting++; first == "" {
					first = fmt.Sprintf("rows %d and %d have %v and %v for %s", before+1, i+1, was, y, a)
				}
			}
		}
	}
	if contradicting > 0 {
		return fmt.Errorf("labels contradict another one of the same text (%d, in %d rows): %s; give each text once, with the share of people who say so as its label", contradicting, len(rows), first)
	}
	return nil
}

// judgeOf returns the only judge with verdicts in rows, or nil if rows have no verdicts.
func judgeOf(rows []toxscreen.Labelled, report *Report) (*fusion.JudgeParams, error) {
	var judge *fusion.JudgeParams
	weights := 0.0
	for i, row := range rows {
		v := row.Verdict
		if v == nil {
			continue
		}
		if judge == nil {
			judge = &fusion.JudgeParams{Model: v.Model, Rubric: v.Rubric, Attributes: map[toxscreen.Attribute]fusion.Weights{}}
			if fusion.Digest(v.Model) == "" {
				return nil, fmt.Errorf("row %d: the verdict is from %q, which has no digest", i+1, v.Model)
			}
		}
		if fusion.Digest(v.Model) != fusion.Digest(judge.Model) || v.Rubric != judge.Rubric {
			return nil, fmt.Errorf("row %d: the verdict is from %s under %s, but earlier ones are from %s under %s: fit one judge at a time", i+1, v.Model, v.Rubric, judge.Model, judge.Rubric)
		}
		for _, a := range v.Aspects {
			if a.PYes != nil && !(*a.PYes >= 0 && *a.PYes <= 1) {
				return nil, fmt.Errorf("row %d: the verdict gives %v for %s, which is not a probability", i+1, float64(*a.PYes), a.Name)
			}
		}
		report.Judged++
		weights += row.Weight
		report.SecondsPerCall += row.Weight * row.Seconds
		report.TokensPerCall += row.Weight * float64(v.InputTokens+v.OutputTokens)
	}
	if judge != nil {
		report.SecondsPerCall /= weights
		report.TokensPerCall /= weights
	}
	return judge, nil
}

// share returns the lowest share of judged texts among those that the limits allow, or 0
// without a limit.
func (o Options) share(judged bool, r Report) (float64, error) {
	share := o.Budget.Share
	for _, bound := range []struct {
		perMinute, perCall float64
		unit               string
	}{{o.Traffic.Tokens, r.TokensPerCall, "tokens"}, {o.Traffic.Seconds, r.SecondsPerCall, "seconds"}} {
		if bound.perMinute == 0 || !judged {
			continue
		}
		if !(o.Traffic.Texts > 0) || !(bound.perCall > 0) {
			return 0, fmt.Errorf("budget: a limit of %v %s per minute also needs the number of texts per minute, and verdicts that say how many %s they took", bound.perMinute, bound.unit, bound.unit)
		}
		allowed := bound.perMinute / (bound.perCall * o.Traffic.Texts)
		if allowed < 1 && (share == 0 || allowed < share) {
			share = allowed
		}
	}
	return share, nil
}

// sample is one row in the fit of one attribute.
type sample struct {
	fusion.Finding // what the judge says

	name   string  // of the row
	severe bool    // a text that is severely toxic
	x      float64 // calibrated log-odds of the classifier
	alone  float64 // log-odds of the label by a regression on x
	judged bool
	y      float64 // label
	w      float64 // weight; they sum to the effective number of rows
	fold   int
}

// samplesOf returns the rows with a label and a score of an attribute.
func samplesOf(rows []toxscreen.Labelled, a toxscreen.Attribute, line fusion.Line) []sample {
	var all []sample
	for i, row := range rows {
		y, labelled := row.Labels.Get(a)
		p, scored := row.Found.Scores.Get(a)
		if !labelled || !scored {
			continue
		}
		name := row.Name
		if name == "" {
			name = strconv.Itoa(i)
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(name)) // never fails
		severe, _ := row.Labels.Get(toxscreen.SevereToxicity)
		one := sample{name: name, severe: severe >= 0.5 && y >= 0.5, x: line.Apply(fusion.LogOdds(p)), y: y, w: row.Weight, fold: int(h.Sum32() % folds)}
		if v := row.Verdict; v != nil {
			if s := fusion.FindingOf(v, a); s.Aspects > 0 && (s.Toxic() || len(v.Addressed) == 0) {
				one.judged, one.Finding = true, s
			}
		}
		all = append(all, one)
	}
	return normalised(all)
}

// normalised scales weights so that they sum to the effective number of rows,
// (Σw)²/Σw².
func normalised(all []sample) []sample {
	sum, squares := 0.0, 0.0
	for _, one := range all {
		sum += one.w
		squares += one.w * one.w
	}
	for i := range all {
		all[i].w *= sum / squares
	}
	return all
}

// classes returns the effective numbers of toxic and of clean rows. If a share of people
// finds a row toxic, the row counts as toxic by this share and as clean by the rest.
func classes(all []sample) (toxic, clean float64) {
	effective := func(share func(y float64) float64) float64 {
		sum, squares := 0.0, 0.0
		for _, one := range all {
			sum += one.w * share(one.y)
			squares += one.w * one.w * share(one.y)
		}
		if squares == 0 {
			return 0
		}
		return sum * sum / squares
	}
	return effective(func(y float64) float64 { return y }), effective(func(y float64) float64 { return 1 - y })
}

// tooFew returns why a fit needs more rows; it is empty if there are enough.
func tooFew(all []sample) string {
	toxic, clean := classes(all)
	switch {
	case toxic == 0 || clean == 0:
		return fmt.Sprintf("%s the same label: at least %d toxic and %d clean ones are needed", plural.Count(len(all), "row has", "rows have"), leastClass, leastClass)
	case toxic+clean < leastRows || toxic < leastClass || clean < leastClass:
		// Rounded down: 19.8 are not the 20 that are needed.
		return fmt.Sprintf("%s, effectively %.0f toxic and %.0f clean: %d are needed, and %d of each class", plural.Count(len(all), "row is too few", "rows are too few"), math.Floor(toxic), math.Floor(clean), leastRows, leastClass)
	}
	return ""
}

// calibrate fits the line that corrects the classifier's log-odds.
func calibrate(all []sample, r *AttributeReport) fusion.Line {
	features := func(one sample) []float64 { return []float64{one.x, 1} }
	as := make([]float64, len(all))
	for i, one := range all {
		as[i] = one.x
	}
	prior := []gaussian{{1, 0.5}, {0, 1}}
	held := crossValidated(all, features, prior)
	r.Before, r.After, r.Calibrated = compare(all, as, held)
	for i, one := range all {
		r.Held = append(r.Held, Held{Before: logodds.Probability(one.x), After: logodds.Probability(one.x), Label: one.y, Weight: one.w})
		if r.Calibrated {
			r.Held[i].After = logodds.Probability(held[i])
		}
	}
	theta := regress(all, features, prior)
	if !r.Calibrated || theta[0] <= 0 {
		r.Calibrated = false
		return fusion.Line{Slope: 1}
	}
	return fusion.Line{Slope: theta[0], Intercept: theta[1]}
}

// lossOf returns the log loss, in nats, of log-odds z for a label y.
func lossOf(z, y float64) float64 {
	// ln(1+e^z) − y·z, without overflow.
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - y*z
}

// compare returns the mean losses of the log-odds before and after, and whether the loss
// falls by more than the [gate].
func compare(all []sample, before, after []float64) (lossBefore, lossAfter float64, better bool) {
	gains, weights := make([]float64, len(all)), make([]float64, len(all))
	n := 0.0
	for i, one := range all {
		was, is := lossOf(before[i], one.y), lossOf(after[i], one.y)
		gains[i], weights[i] = was-is, one.w
		lossBefore += one.w * was
		lossAfter += one.w * is
		n += one.w
	}
	mean, deviation := stat.MeanStdDev(gains, weights)
	return lossBefore / n, lossAfter / n, mean > gate*deviation/math.Sqrt(n)
}

// fitOpinion fits the judge's verdicts on one attribute: first on the rows that are neither
// certainly toxic nor certainly clean, then on the rows near the band that results.
func fitOpinion(all []sample, threshold float64, prices fusion.Prices, r *AttributeReport) error {
	judged := slices.DeleteFunc(slices.Clone(all), func(one sample) bool { return !one.judged })
	if len(judged) == 0 {
		r.Note = "no verdict measures it"
		return nil
	}
	// Texts far from every threshold would dominate the fit, which is not about them.
	near := around(judged, fusion.LogOdds(0.05), fusion.LogOdds(0.95))
	if why := tooFew(near); why != "" {
		r.Note = why
		return nil
	}
	for range 3 {
		weights, err := r.weigh(near, threshold)
		if err != nil {
			return err
		}
		r.Weights = &weights
		low, high, ok := weights.Band(threshold, prices, prices.Call)
		if !ok {
			return nil
		}
		inside := around(judged, fusion.LogOdds(low), fusion.LogOdds(high))
		if len(inside) == len(near) || tooFew(inside) != "" {
			return nil
		}
		near = inside
	}
	return nil
}

// around returns the rows in a range of log-odds. It widens the range by 0.5 on both sides,
// so that the band can grow again, and further until there are enough rows.
func around(judged []sample, from, to float64) []sample {
	for widened := 0.5; ; widened += 0.5 {
		inside := normalised(slices.DeleteFunc(slices.Clone(judged), func(one sample) bool { return one.x < from-widened || one.x > to+widened }))
		if toxic, clean := classes(inside); toxic+clean >= enoughNear || len(inside) == len(judged) {
			return inside
		}
	}
}

// weigh fits the weights of the judge on rows near the band.
func (r *AttributeReport) weigh(near []sample, threshold float64) (fusion.Weights, error) {
	o := fusion.Weights{Low: 1, High: 0}
	o.Toxic, o.Clean = classes(near)
	for _, one := range near {
		o.Low, o.High = min(o.Low, logodds.Probability(one.x)), max(o.High, logodds.Probability(one.x))
	}
	alone := func(one sample) []float64 { return []float64{one.x, 1} }
	both := func(one sample) []float64 { return []float64{one.x, 1, one.Near, one.Beyond} }
	prior := []gaussian{{1, 0.5}, {0, 2}, {0, 2}, {0, 1}}
	bounds := []bound{fraction, free, rising, rising} // so that the outcome rises with the score and with the verdict
	heldAlone := crossValidated(near, alone, prior[:2])
	held := crossValidated(near, both, prior)
	r.Classifier, r.Fused, r.Counts = compare(near, heldAlone, held)

	theta := regressBounded(near, both, prior, bounds)
	if theta[2]+theta[3] <= 0 {
		r.Counts = false
	}
	// The evidence for each row, by fits without its fold. If the classifier is
	// undecided, the judge finds a text toxic when its evidence reaches the
	// threshold.
	at := fusion.LogOdds(threshold)
	heard, needed := make([]float64, len(near)), make([]float64, len(near))
	for fold := range folds {
		without := regressBounded(outside(near, fold), both, prior, bounds)
		for i, one := range near {
			if one.fold == fold {
				heard[i] = without[1] + without[2]*one.Near + without[3]*one.Beyond
				needed[i] = (1 - without[0]) * at
			}
		}
	}
	rates := func(toxic func(i int) bool) (truly, falsely float64) {
		all, found := [2]float64{}, [2]float64{} // weights of clean and of toxic rows
		for i, one := range near {
			for kind, w := range []float64{one.w * (1 - one.y), one.w * one.y} {
				all[kind] += w
				if toxic(i) {
					found[kind] += w
				}
			}
		}
		// Jeffreys' prior: half a case of each outcome.
		return (found[1]/all[1]*o.Toxic + 0.5) / (o.Toxic + 1), (found[0]/all[0]*o.Clean + 0.5) / (o.Clean + 1)
	}
	o.TruePositive, o.FalsePositive = rates(func(i int) bool { return heard[i] > needed[i] })
	if !r.Counts {
		return o, nil
	}
	o.Overlap, o.Intercept, o.Slope, o.Beyond = 1-theta[0], theta[1], theta[2], theta[3]
	// Without an error among the rows, the rate of errors is as low as that prior allows,
	// and no likelihood ratio exceeds its inverse.
	o.Cap = min(math.Log(2*(min(o.Toxic, o.Clean)+1)), fusion.MostCap)
	o.Lower = o.Cap
	for i := range levels {
		level := fusion.Level{Heard: o.Cap * (2*float64(i)/(levels-1) - 1)}
		level.TruePositive, level.FalsePositive = rates(func(i int) bool { return heard[i] >= level.Heard })
		o.Levels = append(o.Levels, level)
	}
	if slices.ContainsFunc([]float64{o.Overlap, o.Intercept, o.Slope, o.Beyond, o.Cap}, math.IsNaN) {
		return o, fmt.Errorf("the fit gave %+v", o)
	}
	return o, nil
}

// spend sets the least worth of a verdict at which the judge is asked, so that the budget
// holds.
func spend(p *fusion.Params, rows []toxscreen.Labelled, o Options, report *Report) error {
	judge := &p.Judges[len(p.Judges)-1]
	f, err := fusion.New(fusion.File{Params: *p}, p.Model)
	if err != nil {
		return err
	}
	f = f.With(judge.Model, judge.Rubric, &fusion.Tested{Lower: fusion.MostCap})
	type valued struct{ value, weight float64 }
	values := make([]valued, len(rows))
	sum, squares := 0.0, 0.0
	for i, row := range rows {
		values[i] = valued{f.Value(&row.Found, &o.Thresholds), row.Weight}
		sum += row.Weight
		squares += row.Weight * row.Weight
	}
	slices.SortFunc(values, func(a, b valued) int { return -cmp.Compare(a.value, b.value) })
	least := 0.0
	if p.Budget.Share > 0 {
		n := sum * sum / squares
		texts := cmp.Or(o.Budget.Texts, 10_000)
		p.Budget.Texts = texts
		allowed := mostOver(int(n), texts, p.Budget.Share)
		if allowed < 0 {
			return fmt.Errorf("budget: %s, effectively %.0f, %s too few to guarantee that at most %.3g %% of %s judged: label more texts, or raise the budget",
				plural.Count(len(rows), "row", "rows"), n, plural.Word(len(rows), "is", "are"), 100*p.Budget.Share, plural.Count(texts, "text is", "texts are"))
		}
		// Only values over the first one that exceeds the limit are judged.
		over := 0.0
		for _, v := range values {
			if over += v.weight / sum * n; over > float64(allowed) {
				least = v.value
				break
			}
		}
	}
	judge.LeastValue = least
	cost := max(least, p.Prices.Call)
	var at Point
	for i, v := range values {
		if v.value > cost {
			report.Share += v.weight / sum
		}
		at.Share += v.weight / sum
		at.Worth += v.weight / sum * v.value
		if i%max(len(values)/200, 1) == 0 || i == len(values)-1 {
			report.Curve = append(report.Curve, at)
		}
	}
	report.Least = cost
	return nil
}

// Fusion returns a Fusion with the parameters that [Params] computes from rows. If rows
// have verdicts, it knows their judge, and assumes that this judge resists attacks.
func Fusion(rows []toxscreen.Labelled, o Options) (*fusion.Fusion, error) {
	params, _, err := Params(rows, o)
	if err != nil {
		return nil, err
	}
	_, file, err := params.Encode()
	if err != nil {
		return nil, err
	}
	f, err := fusion.New(file, o.Model)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if v := row.Verdict; v != nil {
			return f.With(v.Model, v.Rubric, &fusion.Tested{Lower: fusion.MostCap}), nil
		}
	}
	return f, nil
}
