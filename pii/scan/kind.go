package scan

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Kind declares a type of personal data: what it is called, how it is found, and texts in which
// it is and is not found.
type Kind struct {
	Type toxscreen.EntityType
	// Description says in a line what it is and when it is found.
	Description string
	// HIPAA has the letters of the identifiers of HIPAA's Safe Harbor that it is, 45 CFR
	// 164.514(b)(2)(i); none if the regulation does not name it.
	HIPAA string
	// Network is true for the types that a network of names finds.
	Network bool
	// OnRequest is true for the types that are found only where they are asked for by name.
	OnRequest bool
	// Container is true for the types whose text may contain entities of other types.
	Container bool

	// Cues are the words and phrases near by that support it, in lower case, within Reach.
	Cues  []string
	Reach Reach // zero is Usual

	// Layouts are how its numbers are written: 0 stands for a digit, A for a capital letter, * for
	// either, and anything else for itself. Each has the score of what passes Check without a cue.
	// Check gets a number without its separators, in capitals.
	Layouts map[string]float64
	Check   func(id string) Verdict
	// Loose tells whether what follows a cue closely is of the type, for numbers that have
	// hardly a form.
	Loose func(Loose) bool
	// Patterns find by code what has more of a form than layouts can say.
	Patterns []Pattern

	// Examples are texts in which it is found, between « and ». Nothing of the type is found in
	// the Counterexamples. The tests of package pii try them.
	Examples, Counterexamples []string
}

// DefaultThreshold is the lowest score of an entity unless the settings of a finder say otherwise.
const DefaultThreshold = 0.4

// Reach is how far from an entity the cues of its type may stand, in words between.
type Reach struct{ Before, After int }

var (
	// Usual is where cues stand unless the type says otherwise: before an entity in the
	// sentence that introduces it, or right after it ("is my SSN").
	Usual = Reach{Before: 8, After: 3}
	// Close is for numbers that are nothing without their cue.
	Close = Reach{Before: 4}
)

// Pattern finds entities by code. It looks at a bounded part of a text, or ends where the next
// one of its kind may begin, so that the time of a scan is linear in the length of the text.
type Pattern struct {
	// At are the words at which it is tried. Next are the bytes of which one must follow the
	// word, "" for any, and Least and Most the bytes that the word may have, 0 for any.
	At          Shape
	Next        string
	Least, Most int
	// Bytes are those outside of words at which it is tried, too.
	Bytes string
	Turn  Turn
	// Find adds what begins with the word from start to end, or is around the byte at start.
	Find func(s *Scanner, start, end int)
}

// Shape is a set of shapes of words.
type Shape uint8

// The shapes of words.
const (
	Letters Shape = 1 << iota // of ASCII
	Digits
	Mixed   // letters and digits of ASCII
	Foreign // with characters beyond ASCII

	shapes = 4
)

// Turn orders the patterns that are tried at one word: what takes a word as a whole is tried
// before what may be a part of it.
type Turn uint8

// The turns. Layouts and loose numbers are tried after Early.
const (
	Early Turn = iota
	Late
	Last
)

// Patterns are kinds that are ready to be found. They are safe for concurrent use.
type Patterns struct {
	kinds   []Kind
	numbers map[toxscreen.EntityType]int // of the kinds
	cues    Cues
	loose   []int // the kinds that have one
	// layouts are those of all kinds by the length of their first group, so that a word is
	// compared with the few that it may begin.
	layouts [maxGroup + 1][]layout
	usual   hooks // of the kinds that need not be asked for
	all     hooks
}

// hooks are patterns by the places where they are tried.
type hooks struct {
	words [shapes][256]struct{ early, late []hook } // by the shape of a word and the byte after it
	bytes [256][]func(s *Scanner, start, end int)
}

type hook struct {
	find        func(s *Scanner, start, end int)
	least, most int
	turn        Turn
}

// Compile returns patterns for at most 63 kinds. It panics if there are more, or if a cue is wrong.
func Compile(kinds []Kind) *Patterns {
	p := &Patterns{kinds: kinds, numbers: map[toxscreen.EntityType]int{}, cues: Cues{}}
	if len(kinds) > maxKinds {
		panic("failed to compile patterns: there are more kinds than bits in a typeSet")
	}
	for i := range kinds {
		p.add(i)
	}
	for _, text := range againstWords {
		must(p.cues.add(text, against))
	}
	return p
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// add adds the kind with a number.
func (p *Patterns) add(number int) {
	k := &p.kinds[number]
	p.numbers[k.Type] = number
	if k.Reach == (Reach{}) {
		k.Reach = Usual
	}
	for _, text := range k.Cues {
		must(p.cues.add(text, 1<<number))
	}
	for _, form := range slices.Sorted(maps.Keys(k.Layouts)) {
		first := firstGroup(form)
		p.layouts[first] = append(p.layouts[first], layout{form, k.Layouts[form], number})
	}
	if k.Loose != nil {
		p.loose = append(p.loose, number)
	}
	for _, pattern := range k.Patterns {
		p.all.add(pattern)
		if !k.OnRequest {
			p.usual.add(pattern)
		}
	}
}

func (x *hooks) add(p Pattern) {
	h := hook{p.Find, p.Least, cmp.Or(p.Most, math.MaxInt), p.Turn}
	for i := range len(p.Bytes) {
		b := p.Bytes[i]
		x.bytes[b] = append(x.bytes[b], p.Find)
	}
	for shape := range shapes {
		if p.At>>shape&1 == 0 {
			continue
		}
		for next := range 256 {
			if p.Next == "" || strings.IndexByte(p.Next, byte(next)) >= 0 {
				place := &x.words[shape][next]
				if p.Turn == Early {
					place.early = append(place.early, h)
				} else {
					place.late = append(place.late, h)
					slices.SortStableFunc(place.late, func(a, b hook) int { return cmp.Compare(a.turn, b.turn) })
				}
			}
		}
	}
}
