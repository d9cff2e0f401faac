package store_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
)

func texts(t *testing.T, f *store.Feedback, by toxscreen.Versions) []store.LabelledText {
	t.Helper()
	var found []store.LabelledText
	for text, err := range f.Texts(t.Context(), by) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, text)
	}
	return found
}

// What several people say of a text is one label: the share of those who say so.
func TestWhatLabelSetsSayTogether(t *testing.T) {
	set := func(token string, weight float64, pairs ...any) store.LabelSet {
		l := said("you idiot")
		l.Token, l.Weight, l.Labels = token, weight, toxscreen.Scores{}
		for i := 0; i < len(pairs); i += 2 {
			l.Labels.Set(pairs[i].(toxscreen.Attribute), pairs[i+1].(float64))
		}
		return l
	}
	toxicity, insult := toxscreen.Toxicity, toxscreen.Insult
	// Another caller's token is another token.
	other := set("a", 0, toxicity, 0.0)
	other.Caller = "blog"
	for name, c := range map[string]struct {
		sets   []store.LabelSet
		want   string
		weight float64
	}{
		"one":                       {[]store.LabelSet{set("", 0, toxicity, 1.0)}, `{"toxicity":1}`, 1},
		"several without a name":    {[]store.LabelSet{set("", 0, toxicity, 1.0), set("", 0, toxicity, 1.0), set("", 0, toxicity, 0.0)}, `{"toxicity":0.666667}`, 3},
		"with weights":              {[]store.LabelSet{set("a", 3, toxicity, 1.0), set("b", 0, toxicity, 0.0)}, `{"toxicity":0.75}`, 4},
		"a change of mind":          {[]store.LabelSet{set("a", 0, toxicity, 0.0), set("b", 0, toxicity, 0.0), set("a", 0, toxicity, 1.0)}, `{"toxicity":0.5}`, 2},
		"one attribute at a time":   {[]store.LabelSet{set("a", 0, toxicity, 1.0), set("a", 0, insult, 0.0)}, `{"toxicity":1,"insult":0}`, 1},
		"more of one than another":  {[]store.LabelSet{set("a", 0, toxicity, 1.0, insult, 1.0), set("b", 0, toxicity, 0.0)}, `{"toxicity":0.5,"insult":1}`, 2},
		"a mind that changes twice": {[]store.LabelSet{set("a", 0, toxicity, 1.0), set("a", 5, toxicity, 0.0), set("a", 0, toxicity, 1.0)}, `{"toxicity":1}`, 1},
		"two callers":               {[]store.LabelSet{set("a", 0, toxicity, 1.0), other}, `{"toxicity":0.5}`, 2},
	} {
		f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{})
		for _, l := range c.sets {
			if err := f.Add(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		found := texts(t, f, toxscreen.Versions{})
		if len(found) != 1 || found[0].LabelSets != len(c.sets) {
			t.Errorf("%s: %+v, want one text with %d label sets", name, found, len(c.sets))
			continue
		}
		got, err := json.Marshal(found[0].Labels)
		if err != nil || string(got) != c.want || found[0].Weight != c.weight {
			t.Errorf("%s: %s with weight %v, %v; want %s with %v", name, got, found[0].Weight, err, c.want, c.weight)
		}
	}
}

// Nothing can be fitted on the estimates of a text that left the network early. Of a text that
// was scored by the whole network, too, that result counts, though it is an older one.
func TestResultsOfTheWholeNetworkComeBeforeEstimates(t *testing.T) {
	for name, c := range map[string]struct {
		exits []int // of the label sets, the oldest first
		want  int
	}{
		"the whole network":  {[]int{0}, 0},
		"an estimate since":  {[]int{0, 2}, 0},
		"an estimate before": {[]int{2, 0}, 0},
		"only estimates":     {[]int{1, 2}, 2},
	} {
		f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{})
		for i, exit := range c.exits {
			l := said("tea")
			l.Token, l.Result.Exit, l.Result.Judge = fmt.Sprint(i), exit, toxscreen.JudgeReport{}
			if err := f.Add(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		found := texts(t, f, toxscreen.Versions{})
		if len(found) != 1 || found[0].Result.Exit != c.want || found[0].Estimates != (c.want > 0) {
			t.Errorf("%s: %+v, want the result that left at exit %d", name, found, c.want)
		}
	}
}

// Parameters are for one model and one judge: of each text there is the result
// that they can be fitted to, if there is one.
func TestTextsAreOfOneModelAndOneJudge(t *testing.T) {
	f := openFeedback(t, filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{KeepText: true})
	for i, c := range []struct {
		text, model, judge string
		score              toxscreen.Probability
	}{
		{"the old model only", "old@1", "judge@1", 0.1},
		{"both models", "old@1", "", 0.2},
		{"both models", "new@1", "", 0.3},
		{"another judge", "new@1", "judge@0", 0.4},
		{"judged once", "new@1", "judge@1", 0.5},
		{"judged once", "new@1", "", 0.6},
	} {
		l := said(c.text)
		l.Token = fmt.Sprint(i)
		l.Result.Score = c.score
		l.Result.Versions.Model, l.Result.Versions.JudgeModel = c.model, c.judge
		if c.judge == "" {
			l.Result.Judge, l.Result.Versions.Rubric = toxscreen.JudgeReport{}, ""
		}
		if err := f.Add(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	type short struct {
		Score                  toxscreen.Probability
		Verdicts               int
		OtherModel, OtherJudge bool
		LabelSets              int
	}
	of := func(by toxscreen.Versions) map[string]short {
		found := map[string]short{}
		for _, text := range texts(t, f, by) {
			found[text.Text] = short{text.Result.Score, len(text.Result.Judge.Verdicts), text.OtherModel, text.OtherJudge, text.LabelSets}
		}
		return found
	}
	newest, err := f.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]short{
		"the old model only": {0, 0, true, false, 1},
		"both models":        {0.3, 0, false, false, 2},
		"another judge":      {0.4, 0, false, true, 1},
		"judged once":        {0.5, 1, false, false, 2},
	}, of(newest)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]short{
		"the old model only": {0.1, 1, false, false, 1},
		"both models":        {0.3, 0, false, false, 2},
		"another judge":      {0.4, 1, false, false, 1},
		"judged once":        {0.5, 1, false, false, 2},
	}, of(toxscreen.Versions{})); diff != "" {
		t.Error(diff)
	}
}
