package toxscreen

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is a part of a text that causes its score.
type Span struct {
	Start int `json:"start"` // offset of its first unit
	End   int `json:"end"`   // offset after its last unit
	// Attributes holds the probability in 0..1 of each attribute that the span
	// causes.
	Attributes Scores `json:"attributes"`
}

// Reading is a part of a text, one word or several, that is read differently than it is
// written.
type Reading struct {
	Start  int    `json:"start"`   // offset of its first unit
	End    int    `json:"end"`     // offset after its last unit
	ReadAs string `json:"read_as"` // what it is read as, never what is written there
}

// OffsetUnit is the unit of offsets into a text.
type OffsetUnit string

// The units of offsets.
const (
	Bytes      OffsetUnit = "byte"       // of the text as it was given; what Score returns
	UTF16Units OffsetUnit = "utf16"      // as JavaScript, Java and the Perspective API count
	CodePoints OffsetUnit = "code_point" // as Python counts
)

// ParseOffsetUnit returns the unit with the given name: byte, utf16 or
// code_point.
func ParseOffsetUnit(name string) (OffsetUnit, error) {
	switch unit := OffsetUnit(name); unit {
	case Bytes, UTF16Units, CodePoints:
		return unit, nil
	}
	return "", fmt.Errorf("unknown offset unit %q: it must be byte, utf16 or code_point", name)
}

// Units converts offsets into a text from bytes to another unit. It remembers where it is, so
// that ascending offsets cost one pass over the text. It is not safe for concurrent use.
type Units struct {
	unit      OffsetUnit
	text      string
	at, units int // the last offset, in bytes and in the unit
}

// NewUnits returns the converter to a unit for a text.
func NewUnits(unit OffsetUnit, text string) *Units { return &Units{unit: unit, text: text} }

// Range returns the offsets of the part text[start:end] in the unit. A byte that is not valid
// UTF-8 counts as one unit, since it is decoded as U+FFFD.
func (u *Units) Range(start, end int) (int, int) { return u.offset(start), u.offset(end) }

func (u *Units) offset(to int) int {
	if u.unit == Bytes {
		return to
	}
	if to < u.at { // passages and evidence are not sorted
		u.at, u.units = 0, 0
	}
	for u.at < to {
		c, size := utf8.DecodeRuneInString(u.text[u.at:])
		u.at += size
		u.units++
		if u.unit == UTF16Units && c > 0xFFFF {
			u.units++
		}
	}
	return u.units
}

// move returns a copy of parts of the text with their offsets in the unit; nil stays nil.
func move[Part any](u *Units, parts []Part, offsets func(*Part) (start, end *int)) []Part {
	moved := slices.Clone(parts)
	for i := range moved {
		start, end := offsets(&moved[i])
		*start, *end = u.Range(*start, *end)
	}
	return moved
}

// Entities returns a copy of entities with their offsets in the unit.
func (u *Units) Entities(found []Entity) []Entity {
	return move(u, found, func(e *Entity) (start, end *int) { return &e.Start, &e.End })
}

// In returns the result with its offsets in another unit. The result must be the
// one of text with offsets in bytes, as [Screener.Score] returns it.
func (r Result) In(unit OffsetUnit, text string) Result {
	if unit == r.OffsetUnit || r.OffsetUnit != Bytes {
		return r
	}
	u := NewUnits(unit, text)
	passage := func(p *Passage) (start, end *int) { return &p.Start, &p.End }
	r.Passages, r.Sentences = move(u, r.Passages, passage), move(u, r.Sentences, passage)
	r.Spans = move(u, r.Spans, func(s *Span) (start, end *int) { return &s.Start, &s.End })
	r.Readings = move(u, r.Readings, func(w *Reading) (start, end *int) { return &w.Start, &w.End })
	r.Entities = u.Entities(r.Entities)
	r.Judge.Verdicts = slices.Clone(r.Judge.Verdicts)
	for i, v := range r.Judge.Verdicts {
		r.Judge.Verdicts[i] = v.in(u)
	}
	r.OffsetUnit = unit
	return r
}

// In returns the verdict on a text with its offsets in another unit, like [Result.In].
func (v Verdict) In(unit OffsetUnit, text string) Verdict { return v.in(NewUnits(unit, text)) }

func (v Verdict) in(u *Units) Verdict {
	part := func(r *Range) (start, end *int) { return &r.Start, &r.End }
	evidence := func(e *Evidence) (start, end *int) { return &e.Start, &e.End }
	v.Addressed = move(u, v.Addressed, evidence)
	if v.Passage != nil {
		v.Passage = &move(u, []Range{*v.Passage}, part)[0]
	}
	v.Core = move(u, v.Core, part)
	v.Aspects = slices.Clone(v.Aspects)
	for i := range v.Aspects {
		v.Aspects[i].Evidence = move(u, v.Aspects[i].Evidence, evidence)
	}
	return v
}

// withEvidence returns spans with the judge's quotations for the attributes that it
// raised. A quotation is coarser than the words of the classifier: it adds the
// attribute to the spans that it overlaps, and becomes a span itself if it overlaps
// none. Its probability is the whole text's.
func withEvidence(spans []Span, v Verdict, fused Fused) []Span {
	joined := slices.Clone(spans)
	for _, aspect := range v.Aspects {
		if aspect.Attribute == nil || !aspect.Yes {
			continue
		}
		if moved, ok := fused.Evidence.Get(*aspect.Attribute); !ok || moved <= 0 {
			continue
		}
		p, _ := fused.Scores.Get(*aspect.Attribute)
		for _, e := range aspect.Evidence {
			touched := false
			for i := range joined {
				if joined[i].Start < e.End && e.Start < joined[i].End {
					touched = true
					if _, ok := joined[i].Attributes.Get(*aspect.Attribute); !ok {
						joined[i].Attributes.Set(*aspect.Attribute, p)
					}
				}
			}
			if !touched && e.Start < e.End {
				quoted := Span{Start: e.Start, End: e.End}
				quoted.Attributes.Set(*aspect.Attribute, p)
				joined = append(joined, quoted)
			}
		}
	}
	slices.SortFunc(joined, func(a, b Span) int { return a.Start - b.Start })
	return joined
}

// relevant returns the spans without the attributes that are nowhere near their
// thresholds, and without the spans that have no other: see [SeverityNone].
func relevant(spans []Span, measured AttributeResults) []Span {
	if spans == nil {
		return nil
	}
	kept := []Span{}
	for _, s := range spans {
		near := Span{Start: s.Start, End: s.End}
		for a, p := range s.Attributes.All() {
			if m, ok := measured[a]; ok && SeverityOf(float64(m.Score), float64(m.Threshold)) != SeverityNone {
				near.Attributes.Set(a, p)
			}
		}
		if near.Attributes.Len() > 0 {
			kept = append(kept, near)
		}
	}
	return kept
}

// SpansOf returns the spans that have any of the attributes. It is nil if Spans is.
func (r Result) SpansOf(attributes []Attribute) []Span {
	return slices.DeleteFunc(slices.Clone(r.Spans), func(s Span) bool {
		return !slices.ContainsFunc(attributes, func(a Attribute) bool { _, ok := s.Attributes.Get(a); return ok })
	})
}

// FlaggedSpans returns the spans that cause a decision: those of the attributes that
// are flagged. It is nil if Spans is.
func (r Result) FlaggedSpans() []Span {
	var flagged []Attribute
	for a, measured := range r.Attributes {
		if measured.Flagged {
			flagged = append(flagged, a)
		}
	}
	return r.SpansOf(flagged)
}

// Mask returns text with every character of the spans replaced by an
// asterisk. Blanks inside a span stay. The offsets must be in bytes.
func Mask(text string, spans []Span) string {
	var b strings.Builder
	b.Grow(len(text))
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start])
		for _, c := range text[s.Start:s.End] {
			switch c {
			case ' ', '\t', '\n', '\r':
				b.WriteRune(c)
			default:
				b.WriteByte('*')
			}
		}
		at = s.End
	}
	b.WriteString(text[at:])
	return b.String()
}
