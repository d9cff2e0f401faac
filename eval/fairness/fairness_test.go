package fairness_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/eval/fairness"
)

// scored returns texts about a group, or about nobody, each a unit of its own.
func scored(group string, isToxic bool, scores ...float64) []fairness.Text {
	var all []fairness.Text
	for i, score := range scores {
		t := fairness.Text{Score: score, Toxic: isToxic, Weight: 1, Unit: fmt.Sprintf("%s %t %d", group, isToxic, i)}
		if group != "" {
			t.Groups = []string{group}
		}
		all = append(all, t)
	}
	return all
}

func joined(parts ...[]fairness.Text) []fairness.Text {
	var all []fairness.Text
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func measure(t *testing.T, texts []fairness.Text, o fairness.Options) fairness.Grid {
	t.Helper()
	grid, err := fairness.Measure(texts, fairness.Groups, o)
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
	grid := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 2, Seed: 1})
	want := map[fairness.Metric]float64{
		fairness.SubgroupAUC: 9.5 / 12,  // 0.9 over 4, 0.6 over 3, 0.3 over 2 and a tie
		fairness.BPSNAUC:     10.5 / 12, // 0.8 over 4, 0.7 over 3 and a tie, 0.5 over 3
		fairness.BNSPAUC:     7.5 / 9,   // 0.9 and 0.6 over 3, 0.3 over 1 and a tie
		fairness.PositiveAEG: 4.0/9 - 0.5,
		fairness.NegativeAEG: 6.5/12 - 0.5,

		fairness.FalsePositiveRate: 1.0 / 4,
		fairness.FalseNegativeRate: 1.0 / 3,
	}
	if len(grid.Groups) != 1 || grid.Groups[0].Size != (fairness.Size{Name: "a", Toxic: 3, Clean: 4, Texts: 7}) {
		t.Fatalf("%+v", grid)
	}
	for _, m := range fairness.Metrics() {
		if got := grid.Groups[0].Metrics[m].Value; !near(got, want[m]) {
			t.Errorf("%s %v, want %v", m, got, want[m])
		}
	}
	if got := grid.Overall[fairness.AUC].Value; !near(got, 36.5/42) {
		t.Errorf("AUC of all texts %v", got)
	}
	for _, m := range fairness.AUCs() { // of one group
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
	grid := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 2})
	if got, want := grid.PowerMeans[fairness.SubgroupAUC].Value, math.Pow((1+math.Pow(0.75, -5))/2, -1.0/5); !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	lowest, ok := grid.Lowest(fairness.SubgroupAUC)
	if !ok || lowest.Name != "bad" || !near(lowest.Metrics[fairness.SubgroupAUC].Value, 0.75) {
		t.Errorf("%+v", lowest)
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
		measured := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 3}).Groups[0].Metrics
		if auc := measured[fairness.SubgroupAUC]; auc != (eval.Estimate{Value: 1}) {
			t.Errorf("subgroup AUC %+v", auc)
		}
		for _, m := range []fairness.Metric{fairness.PositiveAEG, fairness.NegativeAEG} {
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
	o := fairness.Options{Threshold: 0.5, MinSize: 2, Seed: 7}
	a, b := measure(t, light, o).Groups[0].Metrics, measure(t, heavy, o).Groups[0].Metrics
	for _, m := range fairness.Metrics() {
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
	var copies, apart []fairness.Text
	for i := range 10 {
		copies = append(copies, single...)
		for _, text := range single {
			text.Unit += fmt.Sprint(i)
			apart = append(apart, text)
		}
	}
	width := func(texts []fairness.Text) float64 {
		e := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 3, Seed: 1}).Groups[0].Metrics[fairness.SubgroupAUC]
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
	texts := fairness.Sample(fairness.CrossTemplates(), 3_000, 1)
	for i := range texts {
		texts[i].Score = float64(len(texts[i].Text)*31%97) / 97
	}
	o := fairness.Options{Threshold: 0.5, MinSize: 3, Seed: 1}
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
	grid := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 3})
	if len(grid.Groups) != 1 || len(grid.TooSmall) != 1 || grid.TooSmall[0] != (fairness.Size{Name: "tiny", Toxic: 1, Clean: 1, Texts: 2}) {
		t.Fatalf("%+v", grid)
	}
	var measured []fairness.Metric
	for _, m := range fairness.Metrics() {
		if _, ok := grid.Groups[0].Metrics[m]; ok {
			measured = append(measured, m)
		}
	}
	if want := []fairness.Metric{fairness.BPSNAUC, fairness.NegativeAEG, fairness.FalsePositiveRate}; !reflect.DeepEqual(measured, want) {
		t.Errorf("measured %v, want %v", measured, want)
	}
	if _, err := json.Marshal(grid); err != nil {
		t.Error(err)
	}
	if _, ok := grid.PowerMeans[fairness.SubgroupAUC]; ok {
		t.Error("a power mean of no group")
	}
}

// A group that every text is about has no background to be compared with.
func TestGroupWithoutBackground(t *testing.T) {
	texts := joined(scored("all", true, 0.9, 0.8), scored("all", false, 0.1, 0.2))
	measured := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 2}).Groups[0].Metrics
	if _, ok := measured[fairness.BPSNAUC]; ok || measured[fairness.SubgroupAUC].Value != 1 {
		t.Errorf("%+v", measured)
	}
}

func TestNothingToMeasure(t *testing.T) {
	for name, test := range map[string]struct {
		texts []fairness.Text
		want  string
	}{
		"no texts":        {nil, "there are no texts"},
		"constant scores": {joined(scored("a", true, 0.5, 0.5), scored("", false, 0.5)), "3 texts all have the score 0.5"},
		"a score of NaN":  {scored("a", true, math.NaN(), 0.5), "score NaN"},
	} {
		if _, err := fairness.Measure(test.texts, fairness.Groups, fairness.Options{MinSize: 2}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	few := joined(scored("a", true, 0.9), scored("a", false, 0.1), scored("b", true, 0.8))
	want := "every group is too small: a measure needs 30 toxic or clean texts of a group, and as many of others; the largest group, a, has 1 toxic and 1 clean"
	if _, err := fairness.NewResults(fairness.Settings{MinSize: 30}, few, few); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("3 rows: %v", err)
	}
}

// Two templates, each with three groups. By hand: the means are 0.3 and 0.6, so that c is
// shifted by 0.3 in the first, over the threshold, and by 0 in the second.
func TestShiftsByHand(t *testing.T) {
	var texts []fairness.Text
	for frame, scores := range map[string][]float64{"… is nice": {0.1, 0.2, 0.6}, "… is bad": {0.4, 0.8, 0.6}} {
		for i, score := range scores {
			group := string(rune('a' + i))
			texts = append(texts, fairness.Text{Text: group + frame, Score: score, Toxic: frame == "… is bad", Groups: []string{group}, Unit: frame, Frame: frame, Weight: 1})
		}
	}
	// Of no frame, and of one with a single group: neither says what a name changes.
	texts = append(texts, fairness.Text{Score: 0.9, Groups: []string{"c"}, Unit: "x", Weight: 1},
		fairness.Text{Score: 0.9, Groups: []string{"c"}, Unit: "y", Frame: "y", Weight: 1})
	grid := measure(t, texts, fairness.Options{Threshold: 0.5, MinSize: 1})
	shifts := map[string]*fairness.Shift{}
	for _, g := range grid.Groups {
		shifts[g.Name] = g.Shift
	}
	for name, want := range map[string]struct {
		clean, toxic, largest float64
		flips                 int
	}{"a": {-0.2, -0.2, -0.2, 1}, "b": {-0.1, 0.2, 0.2, 0}, "c": {0.3, 0, 0.3, 1}} {
		s := shifts[name]
		if !near(s.Clean.Value, want.clean) || !near(s.Toxic.Value, want.toxic) || !near(s.Largest, want.largest) || s.Flips != want.flips || s.Texts != 2 || !near(s.Flipped.Value, float64(want.flips)/2) {
			t.Errorf("%s: %+v, clean %v, toxic %v", name, *s, s.Clean.Value, s.Toxic.Value)
		}
	}
}

// The templates have the origin of madlibs, and their labels are for toxicity only.
func TestResultsSayWhatTheTemplatesCannot(t *testing.T) {
	texts := joined(scored("a", true, 0.9, 0.8), scored("a", false, 0.1, 0.2), scored("", true, 0.7, 0.6), scored("", false, 0.3, 0.4))
	s := fairness.Settings{Templates: true, Data: []string{"jigsaw", "madlibs"}, Attribute: toxscreen.IdentityAttack, MinSize: 2, Threshold: 0.5}
	r, err := fairness.NewResults(s, texts, texts)
	if err != nil || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "trained on madlibs") || !strings.Contains(r.Warnings[1], "labelled for toxicity only") {
		t.Errorf("%q, %v", r.Warnings, err)
	}
	if want := r.Groups.Intervals(); r.Intervals != want || !near(r.Missed, float64(want)/20) || r.Intersections != nil {
		t.Errorf("%d intervals, of them %v missed by chance, want a twentieth of %d", r.Intervals, r.Missed, want)
	}
	s.Templates = false
	if r, err := fairness.NewResults(s, texts, texts); err != nil || len(r.Warnings) > 0 {
		t.Errorf("%q, %v", r.Warnings, err)
	}
}
