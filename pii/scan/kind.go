package scan

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Kind declares a type of personal data: its name, how it is found, and texts with and
// without it.
type Kind struct {
	Type toxscreen.EntityType
	// Description says in one line what the type is and when it is found.
	Description string
	// HIPAA has the letters of the identifiers in 45 CFR 164.514(b)(2)(i), HIPAA's Safe
	// Harbor, that the type belongs to. It is empty if the regulation does not name the
	// type.
	HIPAA string
	// Network says that a network of names finds the type.
	Network bool
	// OnRequest says that the type is found only if it is asked for by name.
	OnRequest bool
	// Container says that entities of other types may lie inside one of this type.
	Container bool

	// Cues are words and phrases, in lower case, that support an entity within Reach of
	// them.
	Cues  []string
	Reach Reach // zero is Usual

	// Layouts are the forms of the type's numbers: 0 stands for a digit, A for a capital
	// letter, * for either, and any other character for itself. Each form maps to the
	// score, in 0..1, of a number that passes Check and has no cue. Check gets the number
	// without its separators and in capitals.
	Layouts map[string]float64
	Check   func(id string) Verdict
	// Loose tells whether a number with hardly a form can be of the type. Such a number is
	// found only if a cue of the type stands close before it.
	Loose func(Loose) bool
	// Patterns find by code what layouts cannot describe.
	Patterns []Pattern

	// Examples are texts that mark each entity of the type with « and ». Counterexamples
	// are texts without one. The tests of package pii try both.
	Examples, Counterexamples []string
}

// DefaultThreshold is the lowest score of an entity, in 0..1, unless a finder's settings
// name another.
const DefaultThreshold = 0.4

// Reach is the highest number of words between an entity and a cue of its type that stands
// before or after it.
type Reach struct{ Before, After int }

var (
	// Usual is the reach of most types: a cue introduces the entity earlier in the
	// sentence, or follows right after it ("is my SSN").
	Usual = Reach{Before: 8, After: 3}
	// Close is the reach for numbers that only a cue close before them makes personal.
	Close = Reach{Before: 4}
)

// Pattern finds entities by code. Find must look at a bounded part of the text, or stop
// where the next entity of its kind may begin: the time of a scan must stay linear in the
// length of the text.
type Pattern struct {
	// At are the shapes of the words at which Find is tried. Next are the bytes one of
	// which must follow the word ("": any byte may). Least and Most bound the length of the
	// word in bytes (0: no bound).
	At          Shape
	Next        string
	Least, Most int
	// Bytes are the bytes outside of words at which Find is tried, too.
	Bytes string
	Turn  Turn
	// Find adds the entities that begin with the word from start to end, or that surround
	// the byte at start.
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

// Turn orders the patterns that are tried at one word: those that take the whole word come
// before those that may take a part of it.
type Turn uint8

// The turns. Layouts and loose numbers are tried after Early.
const (
	Early Turn = iota
	Late
	Last
)

// Patterns are compiled kinds. They are immutable and safe for concurrent use.
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

// Compile returns the patterns of kinds. It panics if there are more than 63 kinds, or if a
// cue of one is invalid, see [Cues.Add].
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
