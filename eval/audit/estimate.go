package audit

import (
	"math"
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
)

// stratum is a stratum with its labels for one attribute.
type stratum struct {
	size       int
	scores     []float64 // of all its rows, rising
	meanScore  float64
	drawn      int
	labels     []label
	rows       []int     // drawn and without a label
	unlabelled []float64 // their scores
}

// label is what people say about a text, beside its score.
type label struct {
	score    float64
	positive bool
}

// The parts of a sample.
type part int

const (
	drawn part = iota
	heldBack
	both // each row once
)

func (s Stratum) rowsOf(p part) []int {
	switch p {
	case drawn:
		return s.Drawn
	case heldBack:
		return s.HeldBack
	case both:
	}
	// Two samples without replacement that do not depend on each other: of a given
	// number of different rows, each set is as probable as any other.
	all := slices.Concat(s.Drawn, s.HeldBack)
	slices.Sort(all)
	return slices.Compact(all)
}

// size returns the number of texts of a part of the sample.
func (d Design) size(p part) int {
	n := 0
	for _, s := range d.Strata {
		n += len(s.rowsOf(p))
	}
	return n
}

// population returns the strata with the scores of their rows for an attribute.
func (d Design) population(c Corpus, attribute toxscreen.Attribute) []stratum {
	all := make([]stratum, len(d.Strata))
	scores := c.scores[attribute]
	for i, first := range c.scores[d.Attributes[0]] {
		s := &all[d.stratumOf(first)]
		s.scores = append(s.scores, scores[i])
	}
	for h := range all {
		s := &all[h]
		s.size, s.meanScore = len(s.scores), mean(s.scores)
		slices.Sort(s.scores)
	}
	return all
}

// labelled returns the strata of a population with the labels of a part of the sample.
func (d Design) labelled(population []stratum, c Corpus, l Labels, attribute toxscreen.Attribute, p part) []stratum {
	all := slices.Clone(population)
	for h := range all {
		s := &all[h]
		for _, row := range d.Strata[h].rowsOf(p) {
			s.drawn++
			i, _ := c.position(row)
			score := c.scores[attribute][i]
			positive, ok := l.has(row, attribute)
			if !ok {
				s.rows, s.unlabelled = append(s.rows, row), append(s.unlabelled, score)
				continue
			}
			s.labels = append(s.labels, label{score, positive})
		}
	}
	return all
}

func (s stratum) positive() int {
	n := 0
	for _, one := range s.labels {
		if one.positive {
			n++
		}
	}
	return n
}

// cell is a part of a corpus in which each text had the same probability to be labelled.
type cell struct {
	weight float64 // share of the corpus
	size   int     // texts
	n, k   int     // labels, and those that are positive
}

func (s stratum) cell(total int) cell {
	return cell{float64(s.size) / float64(total), s.size, len(s.labels), s.positive()}
}

// whole returns a cell for each stratum, and its share of the corpus.
func whole(strata []stratum, total int) (cells []cell, shares []float64) {
	for _, s := range strata {
		cells = append(cells, s.cell(total))
		shares = append(shares, float64(s.size)/float64(total))
	}
	return cells, shares
}

// region is a cell that cuts divide into pieces, with each piece's share of the corpus.
type region struct {
	cell

	pieces []float64
}

// regions cuts the strata at scores in rising order: a piece has the texts at or over one
// cut and under the next. If a piece of a stratum lacks labels, it is joined with its
// neighbour. Every stratum must have a label.
func regions(strata []stratum, total int, cuts ...float64) []region {
	var all []region
	for _, s := range strata {
		own, begin := region{pieces: make([]float64, len(cuts)+1)}, 0
		started := len(all)
		for j := range own.pieces {
			end, low, high := len(s.scores), math.Inf(-1), math.Inf(1)
			if j < len(cuts) {
				high = cuts[j]
				end, _ = slices.BinarySearch(s.scores, high)
			}
			if j > 0 {
				low = cuts[j-1]
			}
			piece := stratum{size: end - begin}
			for _, one := range s.labels {
				if one.score >= low && one.score < high {
					piece.labels = append(piece.labels, one)
				}
			}
			begin = end
			into := &own
			if len(piece.labels) == 0 && len(all) > started {
				into = &all[len(all)-1]
			}
			into.size += piece.size
			into.weight = float64(into.size) / float64(total)
			into.pieces[j] += float64(piece.size) / float64(total)
			if len(piece.labels) > 0 {
				own.n, own.k = len(piece.labels), piece.positive()
				all = append(all, own)
				own = region{pieces: make([]float64, len(cuts)+1)}
			}
		}
	}
	return all
}

// rate returns the share of positive labels.
func (c cell) rate() float64 { return float64(c.k) / float64(c.n) }

// effective returns the number of labels that would give the rate the same variance if
// texts were drawn with replacement. It is infinite if every text has a label.
func (c cell) effective() float64 {
	if c.n == c.size {
		return math.Inf(1)
	}
	return float64(c.n) * float64(c.size-1) / float64(c.size-c.n)
}

// critical is the quantile of the normal distribution for an interval of 95 %.
const critical = 1.959963984540054

// proportion estimates the share of positives among texts that make up the given share of
// the corpus in each cell. It is the stratified estimator (Cochran 1977, section 5.3) with
// the interval of the score test.
func proportion(cells []cell, shares []float64) eval.Estimate {
	positive, all := 0.0, 0.0
	for i, c := range cells {
		positive += shares[i] * c.rate()
		all += shares[i]
	}
	if !(all > 0) {
		return eval.Estimate{Value: math.NaN()}
	}
	value := positive / all
	return eval.Estimate{Value: value, Interval: accepted(value, func(share float64) float64 { return score(cells, shares, share*all) })}
}

// within estimates which share of all positive texts (or, with negative, of all negative
// ones) lies among the texts that make up the given share of the corpus in each cell. Its
// interval is that of the score test of sum((share-value·weight)·rate) = 0.
func within(cells []cell, shares []float64, negative bool) eval.Estimate {
	rate := cell.rate
	if negative {
		rate = func(c cell) float64 { return 1 - c.rate() }
	}
	above, below := 0.0, 0.0
	for i, c := range cells {
		above += shares[i] * rate(c)
		below += c.weight * rate(c)
	}
	if !(below > 0) {
		return eval.Estimate{Value: math.NaN()}
	}
	value := above / below
	factors := make([]float64, len(cells))
	return eval.Estimate{Value: value, Interval: accepted(value, func(share float64) float64 {
		target := 0.0
		for i, c := range cells {
			factors[i] = shares[i] - share*c.weight
			if negative {
				target += factors[i] // sum f(1-x) = 0 is sum f·x = sum f
			}
		}
		return score(cells, factors, target)
	})}
}

// accepted returns the interval of shares in 0..1 around a value whose test statistic, a
// standard normal deviate, is at most [critical].
func accepted(value float64, statistic func(share float64) float64) *eval.Interval {
	edge := func(outside float64) float64 {
		if math.Abs(statistic(outside)) <= critical {
			return outside
		}
		inside := value
		for range 40 {
			if middle := (inside + outside) / 2; math.Abs(statistic(middle)) <= critical {
				inside = middle
			} else {
				outside = middle
			}
		}
		return (inside + outside) / 2
	}
	return &eval.Interval{Low: edge(0), High: edge(1)}
}

// score returns the statistic of the score test of the hypothesis that sum(factor·rate)
// over the cells is target, with the correction for skewness of Gart and Nam (1988). It is
// the distance of the observed sum from target in standard deviations, at the rates that
// are most likely under the hypothesis. For one cell it is Wilson's statistic. The variance
// is that under the hypothesis, which keeps the coverage where a cell has no positive
// label: the rate of such a cell can then be as high as the hypothesis demands. The
// statistic is infinite if the hypothesis is impossible.
func score(cells []cell, factors []float64, target float64) float64 {
	var open []int // cells whose rate is not known exactly
	observed := 0.0
	for i, c := range cells {
		if math.IsInf(c.effective(), 1) {
			target -= factors[i] * c.rate()
			continue
		}
		open = append(open, i)
		observed += factors[i] * c.rate()
	}
	rates := likeliest(cells, open, factors, target)
	if rates == nil {
		return math.Inf(1)
	}
	variance, third := 0.0, 0.0
	for k, i := range open {
		n, x := cells[i].effective(), rates[k]
		moment := factors[i] * factors[i] * x * (1 - x) / n
		variance += moment
		third += moment * factors[i] * (1 - 2*x) / n
	}
	distance := observed - target
	if variance <= 0 {
		if math.Abs(distance) < 1e-9 {
			return 0
		}
		return math.Inf(1)
	}
	z, skew := distance/math.Sqrt(variance), third/math.Pow(variance, 1.5)/6
	// z is u + skew·(u²-1) for a normal u, the first term of the expansion of Cornish and
	// Fisher.
	inside := 1 + 4*skew*(skew+z)
	if math.Abs(skew) < 1e-9 || inside < 0 {
		return z
	}
	return (math.Sqrt(inside) - 1) / (2 * skew)
}

// likeliest returns the rates of the open cells with the highest likelihood under
// sum(factor·rate) = target, or nil if no rates satisfy it. By Lagrange's method, each rate
// p solves m·p² - (m+n)·p + y = 0, with m = multiplier·factor and y positives among n
// labels. The sum falls as the multiplier rises.
func likeliest(cells []cell, open []int, factors []float64, target float64) []float64 {
	least, most := 0.0, 0.0
	for _, i := range open {
		least, most = least+min(factors[i], 0), most+max(factors[i], 0)
	}
	if target < least-1e-9 || target > most+1e-9 {
		return nil
	}
	target = min(max(target, least), most)
	rates := make([]float64, len(open))
	sum := func(multiplier float64) float64 {
		total := 0.0
		for k, i := range open {
			n := cells[i].effective()
			m, y := multiplier*factors[i], n*cells[i].rate()
			root := math.Sqrt(max((m+n)*(m+n)-4*m*y, 0))
			switch {
			case m+n > 0:
				rates[k] = 2 * y / (m + n + root)
			default:
				rates[k] = (m + n - root) / (2 * m)
			}
			total += factors[i] * rates[k]
		}
		return total
	}
	low, high := -1.0, 1.0
	for range 60 {
		if sum(low) >= target {
			break
		}
		low *= 4
	}
	for range 60 {
		if sum(high) <= target {
			break
		}
		high *= 4
	}
	for range 60 {
		if middle := (low + high) / 2; sum(middle) >= target {
			low = middle
		} else {
			high = middle
		}
	}
	sum((low + high) / 2)
	return rates
}

// difference is the generalised difference estimator (Cassel, Särndal and Wretman 1976),
// which prediction-powered inference uses, too (Angelopoulos et al. 2023): the mean score
// plus the mean error of the scores. Its interval is the normal one, and nil if a stratum
// has fewer than two labels.
func difference(meanScore float64, strata []stratum, cells []cell) eval.Estimate {
	e := eval.Estimate{Value: meanScore}
	variance := 0.0
	known := true
	for i, s := range strata {
		n := float64(len(s.labels))
		middle, squares := 0.0, 0.0
		for _, one := range s.labels {
			middle += one.error() / n
		}
		for _, one := range s.labels {
			squares += (one.error() - middle) * (one.error() - middle)
		}
		w := cells[i].weight
		e.Value += w * middle
		if len(s.labels) == s.size {
			continue
		}
		known = known && n > 1
		variance += w * w * (1 - n/float64(s.size)) * squares / (n - 1) / n
	}
	e.Value = min(max(e.Value, 0), 1)
	if known {
		wide := critical * math.Sqrt(variance)
		e.Interval = &eval.Interval{Low: max(e.Value-wide, 0), High: min(e.Value+wide, 1)}
	}
	return e
}

// error returns how much too low the score is.
func (l label) error() float64 {
	if l.positive {
		return 1 - l.score
	}
	return -l.score
}

// worth returns the number of labels of a simple random sample with the same variance.
func worth(share float64, cells []cell) *float64 {
	variance := 0.0
	for _, c := range cells {
		variance += c.weight * c.weight * c.rate() * (1 - c.rate()) / c.effective()
	}
	if variance == 0 {
		return nil
	}
	n := share * (1 - share) / variance
	return &n
}

// atThreshold estimates what a threshold does.
func atThreshold(strata []stratum, total int, threshold float64) AtThreshold {
	cells, shares := pieces(strata, total, threshold)
	a := AtThreshold{Threshold: threshold, Flagged: flagged(strata, total, threshold)}
	if labelsFrom(strata, threshold, math.Inf(1)) > 0 {
		a.Precision = proportion(cells, shares[1]).Known()
		a.Recall = within(cells, shares[1], false).Known()
		a.FalsePositiveRate = within(cells, shares[1], true).Known()
	}
	return a
}

// atBand estimates what it costs if people decide about a band.
func atBand(strata []stratum, total int, band toxscreen.Band) AtBand {
	above := math.Nextafter(band.High, 2) // the band includes its ends
	cells, shares := pieces(strata, total, band.Low, above)
	b := AtBand{Low: band.Low, High: band.High, Share: sum(shares[1])}
	if labelsFrom(strata, band.Low, above) > 0 {
		b.Found = proportion(cells, shares[1]).Known()
	}
	if labelsFrom(strata, math.Inf(-1), band.Low) > 0 {
		b.Missed = within(cells, shares[0], false).Known()
	}
	if labelsFrom(strata, above, math.Inf(1)) > 0 {
		b.FalseAlarms = within(cells, shares[2], true).Known()
	}
	return b
}

// flagged returns the share of the corpus with a score at or over a threshold.
func flagged(strata []stratum, total int, threshold float64) float64 {
	over := 0
	for _, s := range strata {
		at, _ := slices.BinarySearch(s.scores, threshold)
		over += s.size - at
	}
	return float64(over) / float64(total)
}

// pieces returns the cells of strata that are cut at scores and, for each piece, the share
// of the corpus that the piece has in each cell.
func pieces(strata []stratum, total int, cuts ...float64) (cells []cell, shares [][]float64) {
	shares = make([][]float64, len(cuts)+1)
	for _, r := range regions(strata, total, cuts...) {
		cells = append(cells, r.cell)
		for j, share := range r.pieces {
			shares[j] = append(shares[j], share)
		}
	}
	return cells, shares
}

// labelsFrom counts the labels of texts with a score in low..high, high excluded.
func labelsFrom(strata []stratum, low, high float64) int {
	n := 0
	for _, s := range strata {
		for _, one := range s.labels {
			if one.score >= low && one.score < high {
				n++
			}
		}
	}
	return n
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }
