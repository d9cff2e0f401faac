package fairness

import (
	"cmp"
	"math"
	"slices"

	"github.com/toxscreen/toxscreen/eval"
)

// overall are the measures of all texts, in the order of [table.all].
var overall = []Metric{AUC, FalsePositiveRate, FalseNegativeRate}

// The numbers of [metrics] and of [AUCs], which are the first of them.
const (
	metricCount = 7
	areaCount   = 3
)

// The classes of texts, as indices.
const (
	clean = iota
	toxic
	classes
)

var classNames = [classes]string{"clean", "toxic"}

func classOf(isToxic bool) int {
	if isToxic {
		return toxic
	}
	return clean
}

// table has texts in a form whose measures are computed in one pass, since a bootstrap
// computes them thousands of times: rows in the order of their scores.
type table struct {
	rows   []row
	units  int
	levels int // different scores
	groups []*group

	// Of the current pass:
	times  []float64          // of each unit, how often it was drawn
	below  [classes][]float64 // of each level, the weight of lower ones and half of its own
	total  [classes]float64
	result []float64
}

type row struct {
	level, unit, class int
	flagged            bool
	weight             float64
}

// group is a group of a table.
type group struct {
	size     Size
	rows     []int             // by rising score
	measured [metricCount]bool // by the order of [metrics]
	shifts   shifts
}

func newTable(texts []Text, of func(Text) []string, s Settings) *table {
	order := eval.Order(len(texts), func(a, b int) int { return cmp.Compare(texts[a].Score, texts[b].Score) })
	place := make([]int, len(texts)) // of each text among the rows
	levels := make([]int, len(texts))
	t := &table{rows: make([]row, len(texts))}
	for i, at := range order {
		if i == 0 || texts[at].Score > texts[order[i-1]].Score {
			t.levels++
		}
		place[at], levels[at] = i, t.levels-1
	}
	units, byName := numbers{}, numbers{}
	for i, text := range texts {
		r := row{level: levels[i], unit: units.of(text.Unit), class: classOf(text.Toxic), flagged: text.Score >= s.Threshold, weight: text.Weight}
		t.rows[place[i]] = r
		for _, name := range of(text) {
			n := byName.of(name)
			if n == len(t.groups) {
				t.groups = append(t.groups, &group{size: Size{Name: name}})
			}
			t.groups[n].rows = append(t.groups[n].rows, place[i])
		}
	}
	t.units = len(units)
	t.times = make([]float64, t.units)
	for class := range t.below {
		t.below[class] = make([]float64, t.levels)
	}
	for _, g := range t.groups {
		slices.Sort(g.rows)
		g.rows = slices.Compact(g.rows)
		t.size(g, s.MinSize)
	}
	t.addShifts(texts, of, byName, units, s)
	return t
}

// numbers numbers names in the order in which they come.
type numbers map[string]int

func (n numbers) of(name string) int {
	number, known := n[name]
	if !known {
		number = len(n)
		n[name] = number
	}
	return number
}

// size counts the units of a group and of its background, and decides what can be
// measured of it.
func (t *table) size(g *group, least int) {
	var seen, behind [classes][]bool
	for class := range seen {
		seen[class], behind[class] = make([]bool, t.units), make([]bool, t.units)
	}
	at := 0
	for i, r := range t.rows {
		if at < len(g.rows) && g.rows[at] == i {
			seen[r.class][r.unit] = true
			at++
		} else {
			behind[r.class][r.unit] = true
		}
	}
	count := func(units []bool) (n int) {
		for _, is := range units {
			if is {
				n++
			}
		}
		return n
	}
	g.size.Texts, g.size.Toxic, g.size.Clean = len(g.rows), count(seen[toxic]), count(seen[clean])
	ownToxic, ownClean := g.size.Toxic >= least, g.size.Clean >= least
	otherToxic, otherClean := count(behind[toxic]) >= least, count(behind[clean]) >= least
	g.measured = [metricCount]bool{
		ownToxic && ownClean, otherToxic && ownClean, ownToxic && otherClean,
		ownToxic && otherToxic, ownClean && otherClean, ownClean, ownToxic,
	}
}

// estimates returns a function that returns the next measure with each call: those of all
// texts, the power means, and for each group its metrics and its shifts. What is not
// measured is NaN.
func (t *table) estimates(seed uint64) (next func() eval.Estimate) {
	all := eval.Bootstraps(t.units, seed, t.values)
	return func() eval.Estimate {
		e := all[0]
		all = all[1:]
		return e
	}
}

// values returns all measures of the texts of the given units.
func (t *table) values(units []int) []float64 {
	clear(t.times)
	for _, unit := range units {
		t.times[unit]++
	}
	t.result = append(t.result[:0], t.all()...)
	means := len(t.result)
	var areas [areaCount][]float64
	for range areas {
		t.result = append(t.result, math.NaN())
	}
	for _, g := range t.groups {
		found := t.of(g)
		for i, is := range g.measured {
			if !is {
				found[i] = math.NaN()
			}
		}
		for i := range areas {
			if !math.IsNaN(found[i]) {
				areas[i] = append(areas[i], found[i])
			}
		}
		t.result = append(t.result, found[:]...)
		t.result = g.shifts.append(t.result, t.times)
	}
	for i, values := range areas {
		t.result[means+i] = powerMean(values)
	}
	for i, v := range t.result {
		// Sums of weights have errors of 1e-15, by which resamples would differ that do not.
		t.result[i] = math.Round(v*1e12) / 1e12
	}
	return t.result
}

// all returns the measures of all texts, and prepares those of groups.
func (t *table) all() []float64 {
	var flagged [classes]float64
	for class := range t.below {
		clear(t.below[class])
	}
	for _, r := range t.rows {
		weight := t.times[r.unit] * r.weight
		t.below[r.class][r.level] += weight
		if r.flagged {
			flagged[r.class] += weight
		}
	}
	higher, lower := 0.0, 0.0 // pairs in which the toxic text scores higher
	for level := range t.levels {
		here := t.below[toxic][level]
		higher += here * (lower + t.below[clean][level]/2)
		lower += t.below[clean][level]
	}
	for class, weights := range t.below {
		sum := 0.0
		for level, here := range weights {
			weights[level] = sum + here/2
			sum += here
		}
		t.total[class] = sum
	}
	return []float64{higher / (t.total[toxic] * t.total[clean]), flagged[clean] / t.total[clean], (t.total[toxic] - flagged[toxic]) / t.total[toxic]}
}

// of returns the metrics of a group in the order of [metrics]. A pair of texts with the same
// score counts half (Mann and Whitney, 1947).
func (t *table) of(g *group) [metricCount]float64 {
	var own, flagged [classes]float64
	// Pairs, by weight, in which the group's text scores higher: its toxic texts than its
	// clean ones, than the background's clean and toxic ones, its clean texts than the
	// background's toxic and clean ones.
	var within, toxicClean, toxicToxic, cleanToxic, cleanClean float64
	for i := 0; i < len(g.rows); {
		level := t.rows[g.rows[i]].level
		var here [classes]float64
		for ; i < len(g.rows) && t.rows[g.rows[i]].level == level; i++ {
			r := t.rows[g.rows[i]]
			weight := t.times[r.unit] * r.weight
			here[r.class] += weight
			if r.flagged {
				flagged[r.class] += weight
			}
		}
		below := [classes]float64{own[clean] + here[clean]/2, own[toxic] + here[toxic]/2}
		behind := [classes]float64{t.below[clean][level] - below[clean], t.below[toxic][level] - below[toxic]}
		within += here[toxic] * below[clean]
		toxicClean += here[toxic] * behind[clean]
		toxicToxic += here[toxic] * behind[toxic]
		cleanToxic += here[clean] * behind[toxic]
		cleanClean += here[clean] * behind[clean]
		own[clean] += here[clean]
		own[toxic] += here[toxic]
	}
	others := [classes]float64{t.total[clean] - own[clean], t.total[toxic] - own[toxic]}
	for class := range others {
		if others[class] < 1e-9*t.total[class] { // of a sum's error: there are no others
			others[class] = math.NaN()
		}
	}
	return [metricCount]float64{
		within / (own[toxic] * own[clean]),
		1 - cleanToxic/(own[clean]*others[toxic]),
		toxicClean / (own[toxic] * others[clean]),
		toxicToxic/(own[toxic]*others[toxic]) - 0.5,
		cleanClean/(own[clean]*others[clean]) - 0.5,
		flagged[clean] / own[clean],
		(own[toxic] - flagged[toxic]) / own[toxic],
	}
}

// powerMean is the generalised mean of values with the exponent -5. It is NaN if there are
// none.
func powerMean(values []float64) float64 {
	const exponent = -5
	sum := 0.0
	for _, v := range values {
		sum += math.Pow(max(v, 0), exponent) / float64(len(values)) // 0 may be -1e-17
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return math.Pow(sum, 1.0/exponent)
}
