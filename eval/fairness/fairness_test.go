package fairness

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
)

// scored returns texts about a group, or about nobody, each a unit of its own.
func scored(group string, isToxic bool, scores ...float64) []Text {
	var all []Text
	for i, score := range scores {
		t := Text{Score: score, Toxic: isToxic, Weight: 1, Unit: fmt.Sprintf("%s %t %d", group, isToxic, i)}
		if group != "" {
			t.Groups = []string{group}
		}
		all = append(all, t)
	}
	return all
}

func joined(parts ...[]Text) []Text {
	var all []Text
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// groupsOf selects the groups of a text.
func groupsOf(t Text) []string { return t.Groups }

func measure(t *testing.T, texts []Text, s Settings) Grid {
	t.Helper()
	grid, err := newGrid(texts, groupsOf, s)
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The expected values are counted by hand, and scikit-learn 1.9's roc_auc_score and SciPy 1.17's
// mannwhitneyu, called as in Jigsaw's model_bias_analysis.py, give the same.
func TestMetricsAreThoseOfBorkan(t *testing.T) {
	texts := joined(
		scored("a", true, 0.9, 0.6, 0.3), scored("a", false, 0.7, 0.3, 0.2, 0.1),
		scored("", true, 0.8, 0.7, 0.5), scored("", false, 0.4, 0.3, 0.05),
	)
	grid := measure(t, texts, Settings{Threshold: 0.5, MinSize: 2, Seed: 1})
	want := map[Metric]float64{
		SubgroupAUC: 9.5 / 12,  // 0.9 over 4, 0.6 over 3, 0.3 over 2 and a tie
		BPSNAUC:     10.5 / 12, // 0.8 over 4, 0.7 over 3 and a tie, 0.5 over 3
		BNSPAUC:     7.5 / 9,   // 0.9 and 0.6 over 3, 0.3 over 1 and a tie
		PositiveAEG: 4.0/9 - 0.5,
		NegativeAEG: 6.5/12 - 0.5,

		FalsePositiveRate: 1.0 / 4,
		FalseNegativeRate: 1.0 / 3,
	}
	if len(grid.Groups) != 1 || grid.Groups[0].Size != (Size{Name: "a", Toxic: 3, Clean: 4, Texts: 7}) {
		t.Fatalf("%+v", grid)
	}
	for _, m := range metrics {
		if got := grid.Groups[0].Metrics[m].Value; !near(got, want[m]) {
			t.Errorf("%s %v, want %v", m, got, want[m])
		}
	}
	if got := grid.Overall[AUC].Value; !near(got, 36.5/42) {
		t.Errorf("AUC of all texts %v", got)
	}
	for _, m := range AUCs() { // of one group
		if got := grid.PowerMeans[m].Value; !near(got, want[m]) {
			t.Errorf("power mean of %s %v, want %v", m, got, want[m])
		}
	}
}

// With other groups than one, the mean is nearest the lowest: (mean of x^-5)^(-1/5).
func TestPowerMeanIsNearTheLowest(t *testing.T) {
	texts := joined(
		scored("good", true, 0.9, 0.8), scored("good", false, 0.2, 0.1),
		scored("bad", true, 0.9, 0.15), scored("bad", false, 0.2, 0.1),
	)
	grid := measure(t, texts, Settings{Threshold: 0.5, MinSize: 2})
	if got, want := grid.PowerMeans[SubgroupAUC].Value, math.Pow((1+math.Pow(0.75, -5))/2, -1.0/5); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	lowest, ok := grid.Lowest(SubgroupAUC)
	if !ok {
		t.Fatal("no group has a subgroup AUC")
	}
	if lowest.Name != "bad" {
		t.Errorf("the lowest group is %q, want bad", lowest.Name)
	}
	if got := lowest.Metrics[SubgroupAUC].Value; !near(got, 0.75) {
		t.Errorf("its AUC is %v, want 0.75", got)
	}
}

// A group that is told apart perfectly has an AUC of 1, and no interval since no resample
// differs. If all its texts score higher than others, both gaps are 0.5; if lower, -0.5.
func TestGapsHaveTheSignOfTheShift(t *testing.T) {
	for _, test := range []struct {
		toxic, clean float64
		want         float64
	}{{0.9, 0.4, 0.5}, {0.6, 0.05, -0.5}} {
		texts := joined(
			scored("a", true, test.toxic, test.toxic, test.toxic), scored("a", false, test.clean, test.clean, test.clean),
			scored("", true, 0.7, 0.7, 0.7), scored("", false, 0.1, 0.1, 0.1),
		)
		measured := measure(t, texts, Settings{Threshold: 0.5, MinSize: 3}).Groups[0].Metrics
		if auc := measured[SubgroupAUC]; auc != (eval.Estimate{Value: 1}) {
			t.Errorf("subgroup AUC %+v", auc)
		}
		for _, m := range []Metric{PositiveAEG, NegativeAEG} {
			if got := measured[m].Value; !near(got, test.want) {
				t.Errorf("%s %v, want %v", m, got, test.want)
			}
		}
	}
}

// A weight counts like as many texts.
func TestWeightsCountLikeTexts(t *testing.T) {
	light := joined(scored("a", true, 0.9, 0.3), scored("a", false, 0.5, 0.2), scored("", true, 0.7, 0.8), scored("", false, 0.4, 0.1))
	light[1].Weight = 3
	heavy := append(joined(light), light[1], light[1])
	for i := range heavy {
		heavy[i].Weight = 1
	}
	o := Settings{Threshold: 0.5, MinSize: 2, Seed: 7}
	a, b := measure(t, light, o).Groups[0].Metrics, measure(t, heavy, o).Groups[0].Metrics
	for _, m := range metrics {
		if !near(a[m].Value, b[m].Value) {
			t.Errorf("%s %v with a weight, %v with texts", m, a[m].Value, b[m].Value)
		}
	}
}

// Ten copies of each text say no more than one: if copies are one unit, intervals are as
// wide as without them, and if each counts as a unit, they are too narrow.
func TestCopiesDoNotNarrowIntervals(t *testing.T) {
	single := joined(
		scored("a", true, 0.9, 0.55, 0.5, 0.8, 0.3, 0.45), scored("a", false, 0.6, 0.35, 0.2, 0.1, 0.5, 0.52),
		scored("", true, 0.8, 0.7, 0.4), scored("", false, 0.3, 0.2, 0.1),
	)
	var copies, apart []Text
	for i := range 10 {
		copies = append(copies, single...)
		for _, text := range single {
			text.Unit += fmt.Sprint(i)
			apart = append(apart, text)
		}
	}
	width := func(texts []Text) float64 {
		e := measure(t, texts, Settings{Threshold: 0.5, MinSize: 3, Seed: 1}).Groups[0].Metrics[SubgroupAUC]
		return e.Interval.High - e.Interval.Low
	}
	if one, ten := width(single), width(copies); !near(one, ten) {
		t.Errorf("width %v without copies, %v with", one, ten)
	}
	if one, ten := width(single), width(apart); ten > one/2 {
		t.Errorf("width %v of texts, %v of ten times as many", one, ten)
	}
}

func TestSameSeedSameResults(t *testing.T) {
	texts := Sample(CrossTemplates(), 3_000, 1)
	for i := range texts {
		texts[i].Score = float64(len(texts[i].Text)*31%97) / 97
	}
	o := Settings{Threshold: 0.5, MinSize: 3, Seed: 1}
	first, again := measure(t, texts, o), measure(t, texts, o)
	if !reflect.DeepEqual(first, again) {
		t.Error("the same texts and seed gave other results")
	}
	o.Seed = 2
	if reflect.DeepEqual(first, measure(t, texts, o)) {
		t.Error("another seed gave the same intervals")
	}
}

// What a group has too few texts for is absent, not 0, and JSON has neither NaN nor null.
func TestSmallGroupsHaveNoNumber(t *testing.T) {
	texts := joined(
		scored("clean only", false, 0.4, 0.3, 0.2), scored("tiny", true, 0.9), scored("tiny", false, 0.1),
		scored("", true, 0.9, 0.8, 0.7), scored("", false, 0.1, 0.2, 0.3),
	)
	grid := measure(t, texts, Settings{Threshold: 0.5, MinSize: 3})
	if len(grid.Groups) != 1 || len(grid.TooSmall) != 1 || grid.TooSmall[0] != (Size{Name: "tiny", Toxic: 1, Clean: 1, Texts: 2}) {
		t.Fatalf("%+v", grid)
	}
	var measured []Metric
	for _, m := range metrics {
		if _, ok := grid.Groups[0].Metrics[m]; ok {
			measured = append(measured, m)
		}
	}
	if want := []Metric{BPSNAUC, NegativeAEG, FalsePositiveRate}; !reflect.DeepEqual(measured, want) {
		t.Errorf("measured %v, want %v", measured, want)
	}
	if _, err := json.Marshal(grid); err != nil {
		t.Error(err)
	}
	if _, ok := grid.PowerMeans[SubgroupAUC]; ok {
		t.Error("a power mean of no group")
	}
}

// A group that every text is about has no background to be compared with.
func TestGroupWithoutBackground(t *testing.T) {
	texts := joined(scored("all", true, 0.9, 0.8), scored("all", false, 0.1, 0.2))
	measured := measure(t, texts, Settings{Threshold: 0.5, MinSize: 2}).Groups[0].Metrics
	if e, ok := measured[BPSNAUC]; ok {
		t.Errorf("the AUC with a background is %v, although there is none", e)
	}
	if got := measured[SubgroupAUC].Value; got != 1 {
		t.Errorf("the AUC within the group is %v, want 1", got)
	}
}

func TestNothingToMeasure(t *testing.T) {
	for name, test := range map[string]struct {
		texts []Text
		want  string
	}{
		"no texts":        {nil, "there are no texts"},
		"constant scores": {joined(scored("a", true, 0.5, 0.5), scored("", false, 0.5)), "3 texts all have the score 0.5"},
		"a score of NaN":  {scored("a", true, math.NaN(), 0.5), "score NaN"},
	} {
		if _, err := Measure(Settings{MinSize: 2}, test.texts, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	few := joined(scored("a", true, 0.9), scored("a", false, 0.1), scored("b", true, 0.8))
	want := "every group is too small: a measure needs 30 toxic or clean texts of a group, and as many of others; the largest group, a, has 1 toxic and 1 clean"
	if _, err := Measure(Settings{MinSize: 30}, few, few); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("3 rows: %v", err)
	}
}

// Two templates, each with three groups. By hand: the means are 0.3 and 0.6, so that c is
// shifted by 0.3 in the first, over the threshold, and by 0 in the second.
func TestShiftsByHand(t *testing.T) {
	var texts []Text
	for frame, scores := range map[string][]float64{"… is nice": {0.1, 0.2, 0.6}, "… is bad": {0.4, 0.8, 0.6}} {
		for i, score := range scores {
			group := string(rune('a' + i))
			texts = append(texts, Text{Text: group + frame, Score: score, Toxic: frame == "… is bad", Groups: []string{group}, Unit: frame, Frame: frame, Weight: 1})
		}
	}
	// Of no frame, and of one with a single group: neither says what a name changes.
	texts = append(texts, Text{Score: 0.9, Groups: []string{"c"}, Unit: "x", Weight: 1},
		Text{Score: 0.9, Groups: []string{"c"}, Unit: "y", Frame: "y", Weight: 1})
	grid := measure(t, texts, Settings{Threshold: 0.5, MinSize: 1})
	shifts := map[string]*Shift{}
	for _, g := range grid.Groups {
		shifts[g.Name] = g.Shift
	}
	for name, want := range map[string]struct {
		clean, toxic, largest float64
		flips                 int
	}{"a": {-0.2, -0.2, -0.2, 1}, "b": {-0.1, 0.2, 0.2, 0}, "c": {0.3, 0, 0.3, 1}} {
		s := shifts[name]
		if !near(s.Clean.Value, want.clean) {
			t.Errorf("%s: clean texts are shifted by %v, want %v", name, s.Clean.Value, want.clean)
		}
		if !near(s.Toxic.Value, want.toxic) {
			t.Errorf("%s: toxic texts are shifted by %v, want %v", name, s.Toxic.Value, want.toxic)
		}
		if !near(s.Largest, want.largest) {
			t.Errorf("%s: the largest shift is %v, want %v", name, s.Largest, want.largest)
		}
		if s.Flips != want.flips || s.Texts != 2 {
			t.Errorf("%s: %d of %d texts are decided otherwise, want %d of 2", name, s.Flips, s.Texts, want.flips)
		}
		if !near(s.Flipped.Value, float64(want.flips)/2) {
			t.Errorf("%s: the share that is decided otherwise is %v, want %d of 2", name, s.Flipped.Value, want.flips)
		}
	}
}

// The number of intervals is that of the intervals in the results, and one in twenty of them
// misses by chance. Without a text about two groups, there are no intersections.
func TestIntervalsAreCounted(t *testing.T) {
	texts := joined(scored("a", true, 0.9, 0.3), scored("a", false, 0.1, 0.6), scored("", true, 0.7, 0.2), scored("", false, 0.8, 0.4))
	r, err := Measure(Settings{MinSize: 2, Threshold: 0.5}, texts, texts)
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(string(written), `"interval"`); want == 0 || r.Intervals != want {
		t.Errorf("%d intervals are counted, want %d", r.Intervals, want)
	}
	if !near(r.Missed, float64(r.Intervals)/20) {
		t.Errorf("%v of %d intervals miss by chance, want a twentieth", r.Missed, r.Intervals)
	}
	if r.Intersections != nil {
		t.Errorf("there are intersections %+v of texts about one group", r.Intersections)
	}
}

// The templates have the origin of madlibs, and their labels are for toxicity only.
func TestResultsSayWhatTheTemplatesCannot(t *testing.T) {
	texts := joined(scored("a", true, 0.9, 0.8), scored("a", false, 0.1, 0.2), scored("", true, 0.7, 0.6), scored("", false, 0.3, 0.4))
	s := Settings{Templates: true, Data: []string{"jigsaw", "madlibs"}, Attribute: toxscreen.IdentityAttack, MinSize: 2, Threshold: 0.5}
	r, err := Measure(s, texts, texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "trained on madlibs") || !strings.Contains(r.Warnings[1], "labelled for toxicity only") {
		t.Errorf("the warnings are %q, want one about madlibs and one about labels", r.Warnings)
	}
	s.Templates = false
	r, err = Measure(s, texts, texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("rows have the warnings %q of templates", r.Warnings)
	}
}
