package store

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// LabelledText is what all label sets of one text say together.
type LabelledText struct {
	// Hash is that of the label sets, and Text is the text where one of them has
	// it.
	Hash, Text string
	// Labels holds the mean of the labels by their weights: the share in 0..1 of
	// people who say that the text has an attribute.
	Labels toxscreen.Scores
	// Weight is how many texts of the traffic the attribute with the most labels
	// stands for.
	Weight float64
	// LabelSets is how many there are of the text.
	LabelSets int
	// Result is the newest of the model that was asked for: if possible one with a
	// verdict of the judge that was asked for, else one of the whole network.
	Result toxscreen.Result
	// Estimates tells that the text left the network early in every Result there is, so
	// that nothing can be fitted on its scores.
	Estimates bool
	// OtherModel tells that the text was only scored by other models: there is no
	// Result.
	OtherModel bool
	// OtherJudge tells that the Result had a verdict of another judge, which is
	// left out.
	OtherJudge bool
}

// Texts yields each text that [Feedback.All] yields label sets of, in the order
// of the hashes. Results are of the Model of by, and their verdicts are of its
// JudgeModel and Rubric, as [Feedback.Newest] returns them; where it names no
// model any will do. Labels of one caller for one token take the place of those
// before. An error ends it. Until it ends, f has to wait with everything else.
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

// merged returns what label sets of one text, the oldest first, say together.
func merged(sets []LabelSet, by toxscreen.Versions) LabelledText {
	t := LabelledText{Hash: sets[0].Hash, LabelSets: len(sets), OtherModel: true}
	t.Labels, t.Weight = mean(sets)
	judged := false
	for _, set := range slices.Backward(sets) {
		t.Text = cmp.Or(t.Text, set.Text)
		v := set.Result.Versions
		if judged || by.Model != "" && v.Model != by.Model {
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

// voice is who has the last word on an attribute of a text.
type voice struct {
	caller, community, token string
	attribute                toxscreen.Attribute
}

// mean returns the mean of the labels of one text, whose label sets are the
// oldest first, and how many texts they stand for.
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
