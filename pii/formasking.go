package pii

import (
	"cmp"
	"context"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// ForMasking returns a finder for texts that are then masked by operators. It also finds what
// only comes to light once the rest is masked: without the words between, a cue stands near a
// number that it did not reach before, and the network reads other words around a name. For this
// it searches the masked text again, at most three times.
func (f *Finder) ForMasking(operators Operators) toxscreen.EntityFinder {
	short := Operators{}
	for t, o := range operators {
		if o.NewValue != nil && len(*o.NewValue) > maxSearchedValue {
			value := (*o.NewValue)[:maxSearchedValue]
			o.NewValue = &value
		}
		short[t] = o
	}
	return maskedFinder{f, short}
}

// maskedFinder is a Finder that searches again what it has masked.
type maskedFinder struct {
	*Finder

	operators Operators
}

// searches bounds how often a masked text is searched. What is found then is rare, and what is
// found after that is rarer by as much.
const searches = 3

// maxSearchedValue is how many bytes of a new value are searched again. It bounds what a text
// with many entities grows to; a longer one is text of its own.
const maxSearchedValue = 128

// Find implements [toxscreen.EntityFinder]. The error for wrong operators comes from [Mask].
func (m maskedFinder) Find(ctx context.Context, text string) ([]toxscreen.Entity, error) {
	entities, err := m.Finder.Find(ctx, text)
	if err != nil {
		return nil, err
	}
	for range searches {
		if len(entities) == 0 {
			break
		}
		masked, err := Mask(text, entities, m.operators)
		if err != nil {
			return entities, nil //nolint:nilerr // Mask returns it to who masks.
		}
		more, err := m.Finder.Find(ctx, masked.Text)
		if err != nil {
			return nil, err
		}
		more = beforeMasking(more, masked.Items)
		if len(more) == 0 {
			break
		}
		entities = append(entities, more...)
		slices.SortFunc(entities, func(a, b toxscreen.Entity) int { return cmp.Compare(a.Start, b.Start) })
	}
	return entities, nil
}

// beforeMasking returns entities of a masked text with their offsets in the text before, without
// those that include what became of another one, or its place.
func beforeMasking(found []toxscreen.Entity, items []MaskedItem) []toxscreen.Entity {
	kept := found[:0]
	shift, at := 0, 0
	for _, e := range found {
		for at < len(items) && items[at].End <= e.Start {
			shift += len(items[at].Original) - len(items[at].Text)
			at++
		}
		if at < len(items) && items[at].Start < e.End {
			continue
		}
		e.Start, e.End = e.Start+shift, e.End+shift
		kept = append(kept, e)
	}
	return kept
}
