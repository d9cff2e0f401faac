package fairness

import (
	"math"

	"github.com/toxscreen/toxscreen/eval"
)

// shifts has the shifts of a group's texts, summed up for each unit.
type shifts struct {
	units []unitShifts
	// measured tells of which class there are enough units.
	measured [classes]bool
	flips    int
	texts    int
	largest  float64
	text     string
}

// unitShifts are the weighted sums of the texts of a unit.
type unitShifts struct {
	unit    int
	shift   [classes]float64
	weight  [classes]float64
	flipped float64
}

// addShifts compares the texts of each frame that has texts about different groups.
func (t *table) addShifts(texts []Text, of func(Text) []string, groups, units numbers, settings Settings) {
	type frame struct {
		sum, count float64
		first      string
		several    bool // groups
	}
	frames := map[string]*frame{}
	for _, text := range texts {
		names := of(text)
		if text.Frame == "" || len(names) == 0 {
			continue
		}
		f := frames[text.Frame]
		if f == nil {
			f = &frame{first: names[0]}
			frames[text.Frame] = f
		}
		f.sum += text.Score
		f.count++
		for _, name := range names {
			f.several = f.several || name != f.first
		}
	}
	places := map[[2]int]int{} // of a group's unit in its list
	for _, text := range texts {
		f := frames[text.Frame]
		if f == nil || !f.several {
			continue
		}
		mean := f.sum / f.count
		shift, flipped := text.Score-mean, (text.Score >= settings.Threshold) != (mean >= settings.Threshold)
		for _, name := range of(text) {
			number, unit := groups[name], units[text.Unit]
			s := &t.groups[number].shifts
			place, known := places[[2]int{number, unit}]
			if !known {
				place = len(s.units)
				places[[2]int{number, unit}] = place
				s.units = append(s.units, unitShifts{unit: unit})
			}
			sums := &s.units[place]
			sums.shift[classOf(text.Toxic)] += text.Weight * shift
			sums.weight[classOf(text.Toxic)] += text.Weight
			s.texts++
			if flipped {
				sums.flipped += text.Weight
				s.flips++
			}
			if math.Abs(shift) > math.Abs(s.largest) {
				s.largest, s.text = shift, text.Text
			}
		}
	}
	for _, g := range t.groups {
		var count [classes]int
		for _, sums := range g.shifts.units {
			for class, weight := range sums.weight {
				if weight > 0 {
					count[class]++
				}
			}
		}
		for class, n := range count {
			g.shifts.measured[class] = n >= settings.MinSize
		}
	}
}

// append appends the mean shifts of clean and of toxic texts and the share of flipped
// decisions, for units that were drawn so many times.
func (s shifts) append(to, times []float64) []float64 {
	var shift, weight [classes]float64
	flipped := 0.0
	for _, sums := range s.units {
		n := times[sums.unit]
		for class := range classes {
			shift[class] += n * sums.shift[class]
			weight[class] += n * sums.weight[class]
		}
		flipped += n * sums.flipped
	}
	for class := range classes {
		v := math.NaN()
		if s.measured[class] {
			v = shift[class] / weight[class]
		}
		to = append(to, v)
	}
	share := math.NaN()
	if s.measured[clean] || s.measured[toxic] {
		share = flipped / (weight[clean] + weight[toxic])
	}
	return append(to, share)
}

// shift returns the shifts with the next estimates, nil if nothing was measured.
func (g *group) shift(next func() eval.Estimate) *Shift {
	var found [3]*eval.Estimate
	for i := range found {
		found[i] = next().Known()
	}
	if found[2] == nil {
		return nil
	}
	s := g.shifts
	return &Shift{Clean: found[0], Toxic: found[1], Flipped: *found[2], Flips: s.flips, Texts: s.texts, Largest: s.largest, Text: s.text}
}
