// Package migration compares the scores of two systems for the same texts, so that the
// thresholds of the old one can be carried over to the new one:
//
//	results, err := migration.Measure(ctx, pairs, migration.Options{Old: "Perspective", New: "toxicity-en"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	err = results.Document().Save("report", results)
//
// [Columns] reads scores in the forms in which people keep them, and [Match] pairs the
// rows of two files. The package proposes thresholds and changes nothing that scoring
// uses.
package migration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/eval"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// Support is the lowest number of texts that a number is based on: texts with both
// scores, texts at or over a threshold and below it, labelled texts that are flagged or
// toxic, and the texts of a group. With fewer it is absent.
const Support = 30

// InUse is the old threshold unless [Options.InUse] has another.
const InUse = 0.7

// toxic is the lowest share of people who call a text toxic at which it counts as toxic.
const toxic = 0.5

// Options are the options of [Measure].
type Options struct {
	// Old and New name what computed the scores, and Input the file or files with the
	// texts.
	Old, New, Input string
	// InUse are the thresholds in use on the old scores; [InUse] for an attribute
	// without one.
	InUse toxscreen.Scores
	// Groups are the columns of [Row].Groups to report.
	Groups []string
	// Examples is the number of texts to show for each attribute and direction.
	Examples int
	// Unmatched counts rows that are not among the pairs.
	Unmatched Unmatched
}

// Results are what [Measure] found. What could not be measured is absent, and a
// sentence says why.
type Results struct {
	Old      string   `json:"old,omitempty"`
	New      string   `json:"new"`
	Input    string   `json:"input"`
	Texts    int      `json:"texts"` // compared
	LeftOut  LeftOut  `json:"left_out"`
	Warnings []string `json:"warnings,omitempty"`
	OnScale
	// OtherScales are the same comparisons with the scores on other scales.
	OtherScales []OnScale `json:"other_scales,omitempty"`
}

// OnScale are the comparisons with the new scores on one scale.
type OnScale struct {
	Scale    toxscreen.Scale `json:"scale,omitempty"` // empty if there is no other
	Compared []Comparison    `json:"attributes"`
	// Thresholds are the new thresholds at which the share of flagged texts is that of
	// the old thresholds in use.
	Thresholds toxscreen.Scores `json:"thresholds"`
}

// LeftOut counts rows that are not compared.
type LeftOut struct {
	Failed     int       `json:"failed"`      // without a score because of an error
	NotDecided int       `json:"not_decided"` // in a language that the model does not know
	Empty      int       `json:"empty"`       // with neither old scores nor labels
	Unmatched  Unmatched `json:"unmatched"`   // in one of two files
}

// Comparison is the comparison for one attribute.
type Comparison struct {
	Attribute toxscreen.Attribute `json:"attribute"`
	Texts     int                 `json:"texts"` // with both scores
	// Problem is a sentence that says why there is nothing about the old scores.
	Problem  string         `json:"problem,omitempty"`
	Spearman *eval.Estimate `json:"spearman,omitempty"`
	Kendall  *eval.Estimate `json:"kendall_tau_b,omitempty"`
	// InUse is the old threshold in use, one of Thresholds.
	InUse      float64     `json:"in_use,omitempty"`
	Thresholds []Threshold `json:"thresholds,omitempty"`
	Slices     []Slice     `json:"groups,omitempty"` // at the threshold in use
	// Labelled is nil if no text has a label for the attribute.
	Labelled *Labelled `json:"labelled,omitempty"`
	// OldHistogram and NewHistogram are the shares of texts by score, in 20 bins.
	OldHistogram []float64 `json:"old_histogram,omitempty"`
	NewHistogram []float64 `json:"new_histogram,omitempty"`
	// Risen and Fallen are the texts whose rank changed most.
	Risen  []Shift `json:"risen,omitempty"`
	Fallen []Shift `json:"fallen,omitempty"`

	old, new []float64 // of the texts with both
}

// Measure compares the old and the new scores of texts for each attribute that both
// systems or the new system and the labels have. Intervals are of 95 %, by
// resampling texts. It is deterministic.
//
// It is an error if no attribute has [Support] texts with a new score and an old
// one or a label.
func Measure(ctx context.Context, pairs []Pair, o Options) (Results, error) {
	r := Results{Old: o.Old, New: o.New, Input: o.Input, LeftOut: LeftOut{Unmatched: o.Unmatched}}
	var used []Pair
	unknown := map[string]bool{}
	for _, p := range pairs {
		for _, name := range p.Unknown {
			unknown[name] = true
		}
		switch {
		case p.Failed != "":
			r.LeftOut.Failed++
		case p.NotDecided != "":
			r.LeftOut.NotDecided++
		case p.Scores.Len() == 0 && p.Labels.Len() == 0:
			r.LeftOut.Empty++
		default:
			used = append(used, p)
		}
	}
	r.Texts = len(used)
	r.OnScale = compared(ctx, used, o)
	for _, scale := range scalesOf(used) {
		r.Scale = toxscreen.GuidelineScale
		other := compared(ctx, onScale(used, scale), o)
		other.Scale = scale
		r.OtherScales = append(r.OtherScales, other)
	}
	if err := ctx.Err(); err != nil {
		return r, fmt.Errorf("failed to compare: %w", err)
	}
	if !slices.ContainsFunc(r.Compared, func(c Comparison) bool { return c.Texts >= Support || c.Labelled != nil && c.Labelled.Texts >= Support }) {
		return r, fmt.Errorf("failed to compare: %w", tooFew(used, r.LeftOut, r.Compared))
	}
	r.Warnings = warnings(used, r, slices.Sorted(maps.Keys(unknown)))
	return r, nil
}

// scalesOf returns the other scales of pairs.
func scalesOf(pairs []Pair) []toxscreen.Scale {
	all := map[toxscreen.Scale]bool{}
	for _, p := range pairs {
		for scale := range p.Others {
			all[scale] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// onScale returns pairs with the new scores on another scale.
func onScale(pairs []Pair, scale toxscreen.Scale) []Pair {
	on := slices.Clone(pairs)
	for i := range on {
		on[i].New = on[i].Others[scale]
	}
	return on
}

// tooFew says why there is nothing to compare.
func tooFew(used []Pair, left LeftOut, all []Comparison) error {
	most := 0
	for _, c := range all {
		most = max(most, c.Texts)
		if c.Labelled != nil {
			most = max(most, c.Labelled.Texts)
		}
	}
	switch {
	case len(used) == 0 && left.Empty > 0:
		return &ColumnError{fmt.Errorf("%s, none with old scores or labels", plural.Count(left.Empty, "row", "rows")), []string{"old", "label"}}
	case len(used) == 0:
		return fmt.Errorf("no row is left: %d failed and %s that the model does not know", left.Failed, plural.Count(left.NotDecided, "is in a language", "are in languages"))
	case most == 0:
		return errors.New("the old and the new scores have no attribute in common")
	}
	return fmt.Errorf("only %s a new score and an old one or a label, at least %d are needed", plural.Count(most, "text has", "texts have"), Support)
}

// warnings returns what a reader has to know before the numbers.
func warnings(used []Pair, r Results, unknown []string) []string {
	var all []string
	add := func(format string, values ...any) { all = append(all, fmt.Sprintf(format, values...)) }
	if n := r.LeftOut.Unmatched.Old + r.LeftOut.Unmatched.New; n > 0 {
		add("Rows without a partner in the other file are left out: %d old and %d new ones.", r.LeftOut.Unmatched.Old, r.LeftOut.Unmatched.New)
	}
	if n := r.LeftOut.Failed; n > 0 {
		add("%s left out.", plural.Count(n, "row failed and is", "rows failed and are"))
	}
	if n := r.LeftOut.NotDecided; n > 0 {
		add("%s left out: toxscreen flags no such text.", plural.Count(n, "text is in a language that the model does not know and is", "texts are in languages that the model does not know and are"))
	}
	if n := r.LeftOut.Empty; n > 0 {
		add("%s left out.", plural.Count(n, "row has neither old scores nor labels and is", "rows have neither old scores nor labels and are"))
	}
	for i, name := range unknown {
		if i == 10 {
			add("%s of toxscreen.", plural.Count(len(unknown)-i, "more column of scores is no attribute", "more columns of scores are no attributes"))
			break
		}
		add("%q is no attribute of toxscreen and has no comparison.", name)
	}
	seen, repeated := map[string]bool{}, 0
	for _, p := range used {
		if p.Text != "" && seen[p.Text] {
			repeated++
		}
		seen[p.Text] = true
	}
	if repeated > 0 {
		add("%s an earlier one. Intervals take texts to be independent, so they are too narrow.", plural.Count(repeated, "text repeats", "texts repeat"))
	}
	return all
}

// compared compares the attributes in parallel.
func compared(ctx context.Context, used []Pair, o Options) OnScale {
	all := make([]*Comparison, toxscreen.AttributeCount)
	var each sync.WaitGroup
	for i, a := range toxscreen.Attributes() {
		each.Go(func() { all[i] = compare(ctx, used, a, o) })
	}
	each.Wait()
	var found OnScale
	for _, c := range all {
		if c == nil {
			continue
		}
		found.Compared = append(found.Compared, *c)
		if t := c.AtInUse(); t != nil && t.New != nil {
			found.Thresholds.Set(c.Attribute, t.New.Value)
		}
	}
	return found
}

// compare returns nil if no text has a new score and an old one or a label.
func compare(ctx context.Context, used []Pair, a toxscreen.Attribute, o Options) *Comparison {
	inUse, ok := o.InUse.Get(a)
	if !ok {
		inUse = InUse
	}
	c := &Comparison{Attribute: a}
	var both []Pair
	s := sample{}
	l := labelledTexts{}
	for _, p := range used {
		updated, measured := p.New.Get(a)
		if !measured {
			continue
		}
		old, before := p.Scores.Get(a)
		share, labelled := p.Labels.Get(a)
		mark := unlabelled
		if labelled {
			mark = clean
			if share >= toxic {
				mark = positive
			}
			l.add(old, before, updated, mark == positive)
		}
		if before {
			both = append(both, p)
			s.old, s.new, s.labels = append(s.old, old), append(s.new, updated), append(s.labels, mark)
		}
	}
	if len(both) == 0 && len(l.new) == 0 {
		return nil
	}
	c.Texts, c.old, c.new = len(both), s.old, s.new
	c.OldHistogram, c.NewHistogram = eval.Histogram(s.old), eval.Histogram(s.new)
	c.Labelled = l.measure()
	if c.Problem = s.problem(); c.Problem != "" {
		return c
	}
	c.Spearman, c.Kendall = agreement(s.old, s.new)
	c.InUse = inUse
	c.Thresholds = s.thresholds(ctx, eval.Thresholds(20, inUse))
	if t := c.AtInUse(); t != nil && t.New != nil {
		c.Slices = slicesOf(both, s, o.Groups, inUse, t.New.Value)
	}
	c.Risen, c.Fallen = shifts(both, s, o.Examples)
	return c
}

// problem says why the old and the new scores cannot be compared.
func (s sample) problem() string {
	switch {
	case len(s.old) == 0:
		return "No text has an old score."
	case len(s.old) < Support:
		return fmt.Sprintf("Only %s both scores, at least %d are needed.", plural.Count(len(s.old), "text has", "texts have"), Support)
	case slices.Min(s.old) == slices.Max(s.old):
		return fmt.Sprintf("All old scores are %v: they rank nothing.", s.old[0])
	case slices.Min(s.new) == slices.Max(s.new):
		return fmt.Sprintf("All new scores are %v: they rank nothing.", s.new[0])
	}
	return ""
}

// AtInUse returns the old threshold in use, nil if there is none.
func (c Comparison) AtInUse() *Threshold {
	for i, t := range c.Thresholds {
		if t.Old == c.InUse {
			return &c.Thresholds[i]
		}
	}
	return nil
}
