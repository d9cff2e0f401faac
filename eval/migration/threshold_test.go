package migration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/toxscreen/toxscreen/eval"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// squares are texts whose new score is the square of the old one: both rank alike.
func squares(n int) sample {
	s := sample{labels: make([]mark, n)}
	for i := range n {
		old := (float64(i) + 0.5) / float64(n)
		s.old, s.new = append(s.old, old), append(s.new, old*old)
	}
	return s
}

// If both systems rank alike, the map is the function between their scores, and nothing
// is decided otherwise.
func TestTheMapFindsAFunctionBetweenScores(t *testing.T) {
	all := squares(1000).thresholds(t.Context(), eval.Thresholds(20, 0.7))
	if len(all) != 19 {
		t.Fatalf("%d thresholds are mapped, want 19", len(all))
	}
	for _, found := range all {
		if want := found.Old * found.Old; found.New == nil || math.Abs(found.New.Value-want) > 0.002 {
			t.Errorf("%v becomes %+v, want about %v", found.Old, found.New, want)
			continue
		}
		if found.New.Interval == nil || found.New.Interval.Low > found.New.Value || found.New.Interval.High < found.New.Value {
			t.Errorf("%v: interval %+v around %v", found.Old, found.New.Interval, found.New.Value)
		}
		if found.Changed.Value != 0 || found.Changed.Interval != nil || !near(found.Flagged, found.NewFlagged) {
			t.Errorf("%v: %+v of the texts are decided otherwise", found.Old, found.Changed)
		}
	}
}

// The scores of Kolen and Brennan's example of equipercentile equating (2004, table
// 2.3), each 30 times and divided by 4. Their function at 1.5 is 2.5, since 5 of 10 are
// higher in both.
func TestTheMapIsEquipercentile(t *testing.T) {
	var s sample
	for i, x := range []float64{0, 0, 1, 1, 1, 2, 2, 3, 3, 4} {
		for range Support {
			s.old = append(s.old, x/4)
			s.new = append(s.new, []float64{0, 1, 1, 2, 2, 3, 3, 3, 4, 4}[i]/4)
		}
	}
	s.labels = make([]mark, len(s.old))
	for _, c := range []struct{ old, low, high, flagged, updated float64 }{
		{0.25, 0, 0.25, 0.8, 0.9}, // 7 or 9 of 10: as near as equal scores allow, and the more careful
		{0.5, 0.5, 0.75, 0.5, 0.5},
		{0.75, 0.75, 1, 0.3, 0.2}, // 2 or 5 of 10
	} {
		got := s.thresholds(t.Context(), []float64{c.old})[0]
		if got.New == nil || !(got.New.Value > c.low && got.New.Value <= c.high) || !near(got.Flagged, c.flagged) || !near(got.NewFlagged, c.updated) {
			t.Errorf("%v: %+v", c.old, got)
		}
	}
	if middle := s.ranked([]float64{0.5}).levels(ones(len(s.old)))[0].equal.middle(); !near(4*middle, 2.5) {
		t.Errorf("1.5 becomes %v, want 2.5", 4*middle)
	}
}

func ones(n int) []int32 {
	times := make([]int32, n)
	for i := range times {
		times[i] = 1
	}
	return times
}

// A threshold with few texts on one side is not mapped.
func TestTheMapEndsWhereTextsAreFew(t *testing.T) {
	s := squares(100)
	all := s.thresholds(t.Context(), []float64{0.29, 0.3, 0.7, 0.71})
	if all[1].New == nil || all[2].New == nil {
		t.Errorf("%+v", all)
	}
	for at, want := range map[int]string{0: "29 old scores stay below it, at least 30 are needed.", 3: "29 old scores reach it, at least 30 are needed."} {
		if all[at].New != nil || all[at].Changed != nil || all[at].Problem != want {
			t.Errorf("%+v, want %q", all[at], want)
		}
	}
}

// random returns scores with many ties, and some labels.
func random(rng *rand.Rand, n int) sample {
	var s sample
	digits := math.Pow10(1 + rng.IntN(3))
	for range n {
		hidden := rng.Float64()
		old, updated := (hidden+rng.Float64())/2, (hidden*hidden+rng.Float64())/2
		s.old, s.new = append(s.old, math.Round(old*digits)/digits), append(s.new, math.Round(updated*digits)/digits)
		s.labels = append(s.labels, mark(rng.IntN(3)))
	}
	return s
}

// A higher old threshold never has a lower new one, whatever the scores are.
func TestTheMapIsMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		s := random(rng, 60+rng.IntN(100))
		levels := s.ranked(eval.Thresholds(20, rng.Float64())).levels(ones(len(s.old)))
		if !slices.IsSortedFunc(levels, func(a, b level) int {
			switch {
			case a.equal.shortest() < b.equal.shortest():
				return -1
			case a.equal.shortest() > b.equal.shortest():
				return 1
			}
			return 0
		}) {
			t.Fatalf("%+v of %+v", levels, s)
		}
	}
}

// The one pass over sorted texts finds what counting each text for each threshold finds.
func TestLevelsAreThoseOfCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	olds := eval.Thresholds(20, 0.33)
	for range 200 {
		s := random(rng, 40+rng.IntN(60))
		times := make([]int32, len(s.old))
		for range times {
			times[rng.IntN(len(times))]++
		}
		for j, l := range s.ranked(olds).levels(times) {
			old := s.count(times, func(i int) bool { return s.old[i] >= olds[j] })
			if l.flagged != old.all || l.labels.oldFlagged != old.labelled || l.labels.oldRight != old.right {
				t.Fatalf("%v: %+v, counted %+v", olds[j], l, old)
			}
			at := func(c cut) counted {
				return s.count(times, func(i int) bool { return s.new[i] >= c.shortest() })
			}
			both := s.count(times, func(i int) bool { return s.old[i] >= olds[j] && s.new[i] >= l.equal.shortest() })
			updated := at(l.equal)
			if l.newFlagged != updated.all || l.both != both.all || l.labels.newFlagged != updated.labelled || l.labels.newRight != updated.right {
				t.Fatalf("%v: %+v, counted %+v and %+v", olds[j], l, updated, both)
			}
			// No other threshold flags a nearer number, has the recall from higher up,
			// or the precision from further down.
			all := s.count(times, func(int) bool { return true })
			distance := func(n int) int { return max(n-old.all, old.all-n) }
			for _, score := range s.new {
				if other := s.count(times, func(i int) bool { return s.new[i] >= score }); other.all > 0 {
					if distance(other.all) < distance(updated.all) {
						t.Fatalf("%v: %v flags %d, nearer to %d than %d", olds[j], score, other.all, old.all, updated.all)
					}
					if all.right == 0 || all.right == all.labelled {
						continue
					}
					if old.right > 0 && other.right >= old.right && other.all < at(*l.equalRecall).all {
						t.Fatalf("%v: %v has the recall too, and flags less than %+v", olds[j], score, l.equalRecall)
					}
					if old.labelled > 0 && other.labelled > 0 && other.right*old.labelled >= old.right*other.labelled && (l.equalPrecision == nil || other.all > at(*l.equalPrecision).all) {
						t.Fatalf("%v: %v has the precision too, and flags more than %+v", olds[j], score, l.equalPrecision)
					}
				}
			}
			if l.equalRecall != nil && at(*l.equalRecall).right < old.right {
				t.Fatalf("%v: %+v has not the recall", olds[j], l.equalRecall)
			}
			if l.equalPrecision != nil {
				if c := at(*l.equalPrecision); c.right*old.labelled < old.right*c.labelled || c.labelled != l.right {
					t.Fatalf("%v: %+v has not the precision", olds[j], l.equalPrecision)
				}
			}
		}
	}
}

// counted are numbers of texts.
type counted struct{ all, labelled, right int }

func (s sample) count(times []int32, flagged func(i int) bool) (c counted) {
	for i := range s.old {
		if !flagged(i) {
			continue
		}
		n := int(times[i])
		c.all += n
		if s.labels[i] != unlabelled {
			c.labelled += n
		}
		if s.labels[i] == positive {
			c.right += n
		}
	}
	return c
}

// The jackknife of a mean of as many values as there are groups is its standard error,
// s/√n.
func TestJackknife(t *testing.T) {
	const parts = eval.MostLeftOut
	values := make([]float64, parts)
	rng := rand.New(rand.NewPCG(5, 6))
	sum, squares := 0.0, 0.0
	for i := range values {
		values[i] = rng.NormFloat64()
		sum += values[i]
	}
	mean := sum / parts
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	e := jackknife(parts, plain, func(units []int) float64 {
		total := 0.0
		for _, unit := range units {
			total += values[unit]
		}
		return total / float64(len(units))
	})
	half := 1.959963984540054 * math.Sqrt(squares/(parts-1)/parts)
	if !near(e.Value, mean) {
		t.Errorf("the mean is %v, want %v", e.Value, mean)
	}
	if !near(e.Interval.Low, mean-half) || !near(e.Interval.High, mean+half) {
		t.Errorf("the interval is %v, want %v ± %v", *e.Interval, mean, half)
	}
}

// For many texts, intervals come from a jackknife. It says about what the bootstrap says.
func TestTheJackknifeAgreesWithTheBootstrap(t *testing.T) {
	s := random(rand.New(rand.NewPCG(7, 8)), 600)
	spearman := func(units []int) float64 { return eval.Spearman(selected(s.old, units), selected(s.new, units)) }
	few, many := eval.Bootstrap(len(s.old), seed, spearman), jackknife(len(s.old), fisher, spearman)
	for _, ends := range [][2]float64{{few.Interval.Low, many.Interval.Low}, {few.Interval.High, many.Interval.High}} {
		if math.Abs(ends[0]-ends[1]) > 0.1*(few.Interval.High-few.Interval.Low) {
			t.Errorf("%+v by the bootstrap, %+v by the jackknife", few.Interval, many.Interval)
		}
	}
}
