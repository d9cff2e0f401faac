package migration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval/migration"
)

// pairs returns texts whose new toxicity is about the square of the old one, with labels
// that follow both.
func pairs(n int) []migration.Pair {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]migration.Pair, n)
	for i := range all {
		p := &all[i]
		old := rng.Float64()
		p.Number, p.ID, p.Text, p.Language = int64(i+1), fmt.Sprint("id", i+1), fmt.Sprint("text ", i+1), "en"
		p.Scores.Set(toxscreen.Toxicity, old)
		p.New.Set(toxscreen.Toxicity, min(max(old*old+0.1*(rng.Float64()-0.5), 0), 1))
		label := 0.0
		if rng.Float64() < old {
			label = 1
		}
		p.Labels.Set(toxscreen.Toxicity, label)
	}
	return all
}

func measure(t *testing.T, all []migration.Pair, o migration.Options) (migration.Results, migration.Comparison) {
	t.Helper()
	r, err := migration.Measure(t.Context(), all, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Compared[0]
}

func TestMeasure(t *testing.T) {
	r, c := measure(t, pairs(200), migration.Options{Old: "old", New: "new", Input: "file", Examples: 3})
	use, l := c.AtInUse(), c.AtInUse().Labelled
	proposed, _ := r.Thresholds.Get(toxscreen.Toxicity)
	sum := 0.0
	for _, share := range c.OldHistogram {
		sum += share
	}
	gained := func(s migration.Shift) float64 { return s.NewRank - s.OldRank }
	for _, one := range []struct {
		what      string
		got       float64
		low, high float64 // between which it is
	}{
		{"texts", float64(r.Texts), 200, 200},
		{"texts of the attribute", float64(c.Texts), 200, 200},
		{"attributes", float64(len(r.Compared)), 1, 1},
		{"warnings", float64(len(r.Warnings)), 0, 0},
		{"Spearman", c.Spearman.Value, 0.95, 1},
		{"lower end of Spearman", c.Spearman.Interval.Low, 0, c.Spearman.Value},
		{"Kendall", c.Kendall.Value, 0, c.Spearman.Value},
		{"old threshold", use.Old, migration.InUse, migration.InUse},
		{"new threshold", use.New.Value, 0.44, 0.54},
		{"its lower end", use.New.Interval.Low, 0.3, 0.49},
		{"its upper end", use.New.Interval.High, 0.49, 0.7},
		{"proposed threshold", proposed, use.New.Value, use.New.Value},
		{"decided otherwise", use.Changed.Value, 0.001, 0.3},
		{"newly and no longer flagged", use.Newly.Value + use.NoLonger.Value, use.Changed.Value - 1e-9, use.Changed.Value + 1e-9},
		{"old precision", *l.OldPrecision, 0.7, 1},
		{"new recall", *l.NewRecall, 0, 0.7},
		{"threshold of equal recall", l.EqualRecall.Value, use.New.Value - 0.1, use.New.Value + 0.1},
		{"threshold of equal precision", l.EqualPrecision.Value, 0, 1},
		{"labelled texts", float64(c.Labelled.Texts), 200, 200},
		{"lower end of the difference of AUCs", c.Labelled.Difference.Interval.Low, -1, c.Labelled.Difference.Value},
		{"operating points", float64(len(c.Labelled.Points)), 19, 19},
		{"texts that have risen", float64(len(c.Risen)), 3, 3},
		{"texts that have fallen", float64(len(c.Fallen)), 3, 3},
		{"largest rise", gained(c.Risen[0]), gained(c.Risen[2]), 1},
		{"largest fall", gained(c.Fallen[0]), -1, 0},
		{"sum of the old histogram", sum, 1 - 1e-9, 1 + 1e-9},
		{"bins of the new histogram", float64(len(c.NewHistogram)), 20, 20},
	} {
		if !(one.got >= one.low && one.got <= one.high) {
			t.Errorf("%s: %v, want %v to %v", one.what, one.got, one.low, one.high)
		}
	}
	if c.Attribute != toxscreen.Toxicity {
		t.Errorf("the attribute is %s, want toxicity", c.Attribute)
	}
}

// Resamples are the same in every run, so that a report can be repeated.
func TestTheSameTextsGiveTheSameResults(t *testing.T) {
	first, _ := measure(t, pairs(60), migration.Options{Examples: 3})
	if again, _ := measure(t, pairs(60), migration.Options{Examples: 3}); !reflect.DeepEqual(first, again) {
		t.Error("the same texts give other results")
	}
}

// The values are those of scipy 1.17.1 (spearmanr, kendalltau) for the scores of the
// loop.
func TestRankAgreement(t *testing.T) {
	var all []migration.Pair
	for i := range 40 {
		var p migration.Pair
		p.Scores.Set(toxscreen.Toxicity, float64(i*7%40)/40)
		p.New.Set(toxscreen.Toxicity, float64((i*7%40*3+i%5*11)%50)/50)
		all = append(all, p)
	}
	_, c := measure(t, all, migration.Options{})
	const spearman, kendall = 0.04296435272045029, -0.023076923076923078
	if math.Abs(c.Spearman.Value-spearman) > 1e-9 {
		t.Errorf("Spearman is %v, want %v", c.Spearman.Value, spearman)
	}
	if math.Abs(c.Kendall.Value-kendall) > 1e-9 {
		t.Errorf("Kendall is %v, want %v", c.Kendall.Value, kendall)
	}
}

// What cannot be measured is absent, with a sentence, and nothing is a number that is
// none.
func TestWhatCannotBeMeasuredIsAbsent(t *testing.T) {
	all := pairs(100)
	edited := func(edit func(i int, p *migration.Pair)) []migration.Pair {
		changed := slices.Clone(all)
		for i := range changed {
			edit(i, &changed[i])
		}
		return changed
	}
	var none toxscreen.Scores
	for name, c := range map[string]struct {
		pairs []migration.Pair
		want  string // in the Markdown
	}{
		"constant old scores": {edited(func(_ int, p *migration.Pair) { p.Scores.Set(toxscreen.Toxicity, 0.5) }), "All old scores are 0.5: they rank nothing."},
		"constant new scores": {edited(func(_ int, p *migration.Pair) { p.New.Set(toxscreen.Toxicity, 0.25) }), "All new scores are 0.25: they rank nothing."},
		"one class":           {edited(func(_ int, p *migration.Pair) { p.Labels.Set(toxscreen.Toxicity, 1) }), "All 100 labelled texts are toxic: nothing shows what is flagged wrongly."},
		"no toxic text":       {edited(func(_ int, p *migration.Pair) { p.Labels.Set(toxscreen.Toxicity, 0.49) }), "None of the 100 labelled texts is toxic"},
		"half-labelled": {edited(func(i int, p *migration.Pair) {
			if i%2 == 0 {
				p.Labels = none
			}
		}), "50 texts have a label, "},
		"few labels": {edited(func(i int, p *migration.Pair) {
			if i > 2 {
				p.Labels = none
			}
		}), "Only 3 texts have a label, at least 30 are needed."},
		"no labels":   {edited(func(_ int, p *migration.Pair) { p.Labels = none }), "new threshold"},
		"labels only": {edited(func(_ int, p *migration.Pair) { p.Scores = none }), "No text has an old score."},
		"few old": {edited(func(i int, p *migration.Pair) {
			if i > 0 {
				p.Scores = none
			}
		}), "Only 1 text has both scores, at least 30 are needed."},
		"another attribute": {edited(func(_ int, p *migration.Pair) { p.Scores.Set(toxscreen.Threat, 0.5) }), "new threshold"},
		"the threshold in use has no texts": {edited(func(_ int, p *migration.Pair) {
			old, _ := p.Scores.Get(toxscreen.Toxicity)
			p.Scores.Set(toxscreen.Toxicity, old/2)
		}), "There are no thresholds to propose"},
	} {
		t.Run(name, func(t *testing.T) {
			r, first := measure(t, c.pairs, migration.Options{})
			if first.Attribute != toxscreen.Toxicity || len(r.Compared) != 1 {
				t.Errorf("%+v", r.Compared)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
			var b bytes.Buffer
			if err := r.Document().Markdown(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.want) {
				t.Errorf("%q is not in %s", c.want, b.String())
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Error(b.String())
			}
		})
	}
}

func TestTooFewTextsAreRefused(t *testing.T) {
	all := pairs(40)
	var other, empty, failed migration.Pair
	other.Scores.Set(toxscreen.Threat, 0.5)
	other.New.Set(toxscreen.Insult, 0.5)
	failed.Failed = "why"
	for name, c := range map[string]struct {
		pairs []migration.Pair
		want  string
	}{
		"3 rows":            {all[:3], "only 3 texts have a new score and an old one or a label, at least 30 are needed"},
		"1 row":             {all[:1], "only 1 text has a new"},
		"nothing to read":   {[]migration.Pair{empty, empty}, "2 rows, none with old scores or labels"},
		"nothing in common": {[]migration.Pair{other}, "the old and the new scores have no attribute in common"},
		"failures":          {[]migration.Pair{failed}, "no row is left: 1 failed and 0 are in languages that the model does not know"},
		"no rows":           {nil, "no row is left"},
	} {
		if _, err := migration.Measure(t.Context(), c.pairs, migration.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Rows that are left out, and texts that are there twice, are said first.
func TestWarnings(t *testing.T) {
	all := pairs(60)
	all[0].Failed, all[1].NotDecided, all[2].Scores, all[2].Labels = "why", "why", toxscreen.Scores{}, toxscreen.Scores{}
	all[3].Text, all[4].Unknown = all[5].Text, []string{"FLIRTATION"}
	r, _ := measure(t, all, migration.Options{Unmatched: migration.Unmatched{Old: 2, New: 3}})
	want := []string{
		"Rows without a partner in the other file are left out: 2 old and 3 new ones.",
		"1 row failed and is left out.",
		"1 text is in a language that the model does not know and is left out: toxscreen flags no such text.",
		"1 row has neither old scores nor labels and is left out.",
		`"FLIRTATION" is no attribute of toxscreen and has no comparison.`,
		"1 text repeats an earlier one. Intervals take texts to be independent, so they are too narrow.",
	}
	if !slices.Equal(r.Warnings, want) {
		t.Errorf("the warnings are\n%q, want\n%q", r.Warnings, want)
	}
	if r.Texts != 57 {
		t.Errorf("%d texts are compared, want 57", r.Texts)
	}
}

// A group sees the thresholds of all texts. One with few texts is named, and has no
// shares.
func TestGroups(t *testing.T) {
	all := pairs(300)
	for i := range all {
		all[i].Groups = map[string][]string{"forum": {"news"}}
		switch {
		case i < 100: // the new scores of these texts are higher than the old ones say
			all[i].Groups["forum"] = []string{"games", "all"}
			all[i].New.Set(toxscreen.Toxicity, 0.9)
		case i < 110:
			all[i].Groups["forum"] = []string{"small"}
		}
		if i < 50 {
			all[i].Text = strings.Repeat("ä", 200)
		}
	}
	r, c := measure(t, all, migration.Options{Groups: []string{"forum"}})
	shares := map[string]string{}
	for _, g := range c.Slices {
		shares[g.Column+" "+g.Value] = fmt.Sprint(g.Texts)
		if g.Changed != nil {
			shares[g.Column+" "+g.Value] += fmt.Sprintf(", now flagged %v", g.NewFlagged.Value)
		}
	}
	for group, want := range map[string]string{
		"length under 50 characters": "250, ", "length 200 to 999 characters": "50, now flagged 1", "language en": "300, ",
		"forum games": "100, now flagged 1", "forum all": "100, now flagged 1", "forum news": "190, ", "forum small": "10",
	} {
		if got := shares[group]; !strings.HasPrefix(got, want) || want == "10" && got != want {
			t.Errorf("%s: %q, want %q", group, got, want)
		}
	}
	var b bytes.Buffer
	if err := r.Document().Markdown(&b); err != nil || !strings.Contains(b.String(), "Too small, with fewer than 30 texts: forum small (10).") {
		t.Errorf("%v %s", err, b.String())
	}
}

// The page has the texts behind a click, and none with no examples.
func TestTextsAreOnlyInExamples(t *testing.T) {
	for examples, want := range map[int]bool{0: false, 2: true} {
		r, _ := measure(t, pairs(60), migration.Options{Examples: examples})
		var page, markdown bytes.Buffer
		if err := r.Document().HTML(&page); err != nil {
			t.Fatal(err)
		}
		if err := r.Document().Markdown(&markdown); err != nil {
			t.Fatal(err)
		}
		results, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), ">text "); got != want {
			t.Errorf("%d examples: the page has texts: %v", examples, got)
		}
		if strings.Contains(markdown.String(), "text 1") {
			t.Errorf("%d examples: texts are in the Markdown", examples)
		}
		if bytes.Contains(results, []byte("text ")) {
			t.Errorf("%d examples: texts are in the JSON", examples)
		}
	}
}

// Each scale of a model is compared with the same old scores: one that is their square has another threshold
// than one that is the old scores themselves, which keeps it.
func TestEachScaleIsCompared(t *testing.T) {
	all := pairs(200)
	for i := range all {
		all[i].Others = map[toxscreen.Scale]toxscreen.Scores{toxscreen.PerspectiveScale: all[i].Scores}
	}
	r, c := measure(t, all, migration.Options{})
	if r.Scale != toxscreen.GuidelineScale || len(r.OtherScales) != 1 || r.OtherScales[0].Scale != toxscreen.PerspectiveScale {
		t.Fatalf("the scales are %q and %+v", r.Scale, r.OtherScales)
	}
	other := r.OtherScales[0]
	if got := c.AtInUse().New.Value; !(got > 0.44 && got < 0.54) {
		t.Errorf("the threshold on the guideline's scale is %v, want about 0.49", got)
	}
	if got, _ := other.Thresholds.Get(toxscreen.Toxicity); math.Abs(got-0.7) > 0.02 {
		t.Errorf("the threshold on the same scale is %v, want about 0.7", got)
	}
	if s := other.Compared[0].Spearman.Value; s < 1-1e-9 {
		t.Errorf("Spearman is %v on the same scale", s)
	}
}
