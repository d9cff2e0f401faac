package migration

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/toxscreen/toxscreen/eval"
)

// mostValues is the highest number of values of a column that are reported, the most
// frequent ones: a column may name the author.
const mostValues = 50

// Slice is what the old threshold in use and the new one for all texts do to the texts
// of one length, one language or one group.
type Slice struct {
	Column string `json:"column"`
	Value  string `json:"value"`
	Texts  int    `json:"texts"`
	// OldFlagged and NewFlagged are shares of the texts; the others are as in
	// [Threshold]. Intervals are exact ones and take the thresholds as given. All are
	// nil if there are fewer than [Support] texts.
	OldFlagged *eval.Estimate `json:"old_flagged,omitempty"`
	NewFlagged *eval.Estimate `json:"new_flagged,omitempty"`
	Changed    *eval.Estimate `json:"changed,omitempty"`
	Newly      *eval.Estimate `json:"newly_flagged,omitempty"`
	NoLonger   *eval.Estimate `json:"no_longer_flagged,omitempty"`
}

// counts are numbers of texts of a slice.
type counts struct{ all, old, new, both int }

// slicesOf compares the texts by length, language and groups, the largest slices of each
// first.
func slicesOf(pairs []Pair, s sample, columns []string, old, updated float64) []Slice {
	all := sliced(pairs, s, "length", old, updated, func(p Pair) []string { return present(lengthOf(p.Text)) })
	all = append(all, sliced(pairs, s, "language", old, updated, func(p Pair) []string { return present(p.Language) })...)
	for _, column := range columns {
		all = append(all, sliced(pairs, s, column, old, updated, func(p Pair) []string { return p.Groups[column] })...)
	}
	return all
}

// sliced compares the texts by one column.
func sliced(pairs []Pair, s sample, column string, old, updated float64, valuesOf func(Pair) []string) []Slice {
	found := map[string]*counts{}
	for i, p := range pairs {
		for _, value := range valuesOf(p) {
			c := found[value]
			if c == nil {
				c = &counts{}
				found[value] = c
			}
			c.add(s.old[i] >= old, s.new[i] >= updated)
		}
	}
	var all []Slice
	for value, c := range found {
		all = append(all, c.slice(column, value))
	}
	slices.SortFunc(all, func(a, b Slice) int { return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Value, b.Value)) })
	return all[:min(len(all), mostValues)]
}

func present(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// lengthOf returns the class of a text's length, empty if the text is unknown.
func lengthOf(text string) string {
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		return ""
	case n < 50:
		return "under 50 characters"
	case n < 200:
		return "50 to 199 characters"
	case n < 1000:
		return "200 to 999 characters"
	}
	return "1000 characters or more"
}

func (c *counts) add(old, updated bool) {
	c.all++
	if old {
		c.old++
	}
	if updated {
		c.new++
	}
	if old && updated {
		c.both++
	}
}

func (c *counts) slice(column, value string) Slice {
	s := Slice{Column: column, Value: value, Texts: c.all}
	if c.all < Support {
		return s
	}
	share := func(n int) *eval.Estimate { return eval.Share(n, c.all).Known() }
	s.OldFlagged, s.NewFlagged = share(c.old), share(c.new)
	s.Changed, s.Newly, s.NoLonger = share(c.old+c.new-2*c.both), share(c.new-c.both), share(c.old-c.both)
	return s
}

// Shift is a text whose rank differs between the two systems. Ranks are shares of the
// texts with lower scores, where equal scores count half: they do not depend on how the
// scores are scaled.
type Shift struct {
	Row     int64   `json:"row"` // in the file with the old scores
	ID      string  `json:"id,omitempty"`
	Old     float64 `json:"old"`
	New     float64 `json:"new"`
	OldRank float64 `json:"old_rank"`
	NewRank float64 `json:"new_rank"`

	text string
}

// shifts returns up to most texts whose rank has risen, and whose rank has fallen, the
// largest shifts first.
func shifts(pairs []Pair, s sample, most int) (risen, fallen []Shift) {
	old, updated := eval.Ranks(s.old), eval.Ranks(s.new)
	share := func(rank float64) float64 { return (rank - 0.5) / float64(len(pairs)) }
	var all []Shift
	for i, p := range pairs {
		if old[i] != updated[i] {
			all = append(all, Shift{p.Number, p.ID, s.old[i], s.new[i], share(old[i]), share(updated[i]), p.Text})
		}
	}
	slices.SortStableFunc(all, func(a, b Shift) int { return cmp.Compare(b.NewRank-b.OldRank, a.NewRank-a.OldRank) })
	for _, one := range all[:min(most, len(all))] {
		if one.NewRank > one.OldRank {
			risen = append(risen, one)
		}
	}
	slices.Reverse(all)
	for _, one := range all[:min(most, len(all))] {
		if one.NewRank < one.OldRank {
			fallen = append(fallen, one)
		}
	}
	return risen, fallen
}
