package pii

import (
	"cmp"
	"context"
	"slices"

	"github.com/toxscreen/toxscreen"
)

// ForMasking returns a finder for texts that are masked by operators afterwards. Masking
// can bring new entities to light: with fewer words between, a cue reaches a number, and
// the network reads other words around a name. So this finder masks the text, searches the
// result again, at most three times, and returns the entities of all searches.
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

// searches is the highest number of searches of a masked text. Few texts have anything left
// for the first, and far fewer for each later one.
const searches = 3

// maxSearchedValue is the limit, in bytes, of a new value that is searched. It bounds the
// growth of a text with many entities.
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

// beforeMasking returns the entities of a masked text with their offsets in the text before
// masking. It leaves out those that contain a masked entity, or what replaced it.
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
