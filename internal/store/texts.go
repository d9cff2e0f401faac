package store

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// LabelledText combines all label sets of one text.
type LabelledText struct {
	// Hash is the hash in the label sets. Text is the text, if one of them has it.
	Hash, Text string
	// Labels holds, for each attribute, the weighted mean of the labels: the share in 0..1
	// of people who say that the text has the attribute.
	Labels toxscreen.Scores
	// Weight is the number of texts in the traffic that the text represents, by the
	// attribute with the most labels.
	Weight float64
	// LabelSets is the number of label sets of the text.
	LabelSets int
	// Result is the newest result of the requested model: if possible, one with a verdict
	// of the requested judge, else one of the whole network.
	Result toxscreen.Result
	// Estimates says that the text left the network early in every result, so that its
	// scores are estimates and nothing can be fitted on them.
	Estimates bool
	// OtherModel says that only other models scored the text, so that Result is empty.
	OtherModel bool
	// OtherJudge says that Result had a verdict of another judge, which was removed.
	OtherJudge bool
}

// Texts yields the texts of [Feedback.All], ordered by hash, each with its label sets
// combined. by names the requested versions, as [Feedback.Newest] returns them: results are
// of by.Model on by.Scale, or of any model if that is empty, and verdicts are of by.JudgeModel and
// by.Rubric. Later labels of one caller for one token replace earlier ones. An error ends
// the sequence. Other calls of f wait until the sequence ends.
func (f *Feedback) Texts(ctx context.Context, by toxscreen.Versions) iter.Seq2[LabelledText, error] {
	return func(yield func(LabelledText, error) bool) {
		var sets []LabelSet // of one text
		for set, err := range f.All(ctx) {
			if err != nil {
				yield(LabelledText{}, err)
				return
			}
			if len(sets) > 0 && sets[0].Hash != set.Hash {
				if !yield(merged(sets, by), nil) {
					return
				}
				sets = sets[:0]
			}
			sets = append(sets, set)
		}
		if len(sets) > 0 {
			yield(merged(sets, by), nil)
		}
	}
}

// merged combines the label sets of one text, which are ordered from the oldest.
func merged(sets []LabelSet, by toxscreen.Versions) LabelledText {
	t := LabelledText{Hash: sets[0].Hash, LabelSets: len(sets), OtherModel: true}
	t.Labels, t.Weight = mean(sets)
	judged := false
	for _, set := range slices.Backward(sets) {
		t.Text = cmp.Or(t.Text, set.Text)
		v := set.Result.Versions
		if judged || by.Model != "" && (v.Model != by.Model || v.Scale != by.Scale) {
			continue
		}
		judged = len(set.Result.Judge.Verdicts) > 0 && (by.Model == "" || v.Rubric == by.Rubric && v.JudgeModel == by.JudgeModel)
		if judged || t.OtherModel || t.Estimates && set.Result.Exit == 0 {
			t.Result, t.OtherModel = set.Result, false
		}
		t.Estimates = t.Result.Exit > 0
	}
	if len(t.Result.Judge.Verdicts) > 0 && !judged {
		t.OtherJudge, t.Result.Judge.Verdicts = true, nil
	}
	return t
}

// voice identifies whose last label for an attribute of a text counts.
type voice struct {
	caller, community, token string
	attribute                toxscreen.Attribute
}

// mean returns the mean labels of one text, whose label sets are ordered from the oldest,
// and the number of texts in the traffic that it represents.
func mean(sets []LabelSet) (labels toxscreen.Scores, weight float64) {
	last := map[voice]int{}
	of := func(set LabelSet, a toxscreen.Attribute) voice {
		return voice{set.Caller, set.Community, set.Token, a}
	}
	for i, set := range sets {
		for a := range set.Labels.All() {
			last[of(set, a)] = i
		}
	}
	var weights toxscreen.Scores
	for i, set := range sets {
		for a, share := range set.Labels.All() {
			if set.Token != "" && last[of(set, a)] != i {
				continue
			}
			sum, _ := labels.Get(a)
			total, _ := weights.Get(a)
			w := cmp.Or(set.Weight, 1)
			labels.Set(a, sum+w*share)
			weights.Set(a, total+w)
			weight = max(weight, total+w)
		}
	}
	for a, sum := range labels.All() {
		total, _ := weights.Get(a)
		labels.Set(a, sum/total)
	}
	return labels, weight
}
