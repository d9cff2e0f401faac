// Package scan finds personal data by patterns. It reads a text once, word by word, and
// tries at each word the patterns that kinds of data declare. Packages kind and national
// declare the kinds:
//
//	patterns := scan.Compile(kind.All)
//	entities, err := patterns.Scan(ctx, scan.Fold(text).Text, scan.Options{})
//
// A kind is found in one of three ways: by layouts, which are forms of numbers, often with
// a checksum; by its own code; or as a loose number, which only a cue makes personal. The
// shape of a word and the byte after it select what is tried there, so that plain words
// cost little. The time of a scan is linear in the length of the text.
package scan

import (
	"context"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// Options are what a scan depends on, apart from its text.
type Options struct {
	// Regions are the ISO 3166 codes of the regions whose national phone numbers are found.
	Regions []string
	Cues    Cues // cues for every type, beside those of the types
	// Asked are the types that are asked for by name.
	Asked []toxscreen.EntityType
}

// Scanner reads a folded text once, word by word, and tries at each word what may begin
// there. It serves one goroutine.
type Scanner struct {
	Text    string
	Regions []string
	Found   []toxscreen.Entity
	// WordEnd is the end of the last part that was taken as a whole: nothing else begins
	// inside. DateEnd and AddressEnd are the ends of the last date and of the last network
	// address, inside which no number begins.
	WordEnd, DateEnd, AddressEnd int
	// Memory is what patterns note about the text so far. They agree on its indexes
	// themselves.
	Memory [8]int

	patterns *Patterns
	hooks    *hooks
	extra    Cues // cues that support every type
	cues     Cues // of the types
	asked    typeSet
	skipEnd  int // where the scan goes on after a pattern took more than a word
	looseEnd int // where the last number without a form ends

	table table

	// The words before and after the offsets of the last request, and the cues among them.
	words, later      []string
	before, after     []near
	beforeAt, afterAt int
}

// New returns a scanner for [Scanner.AddOwn], whose entities cues and extra support.
func New(text string, cues, extra Cues) *Scanner {
	return &Scanner{Text: text, cues: cues, extra: extra, table: table{text: text, end: -1}, beforeAt: -1, afterAt: -1}
}

// Stride is the number of bytes that are scanned between two checks of the context.
const Stride = 1 << 14

// Scan returns the entities in a folded text, in any order and with overlaps; offsets are
// bytes of that text. The only error is that of ctx.
func (p *Patterns) Scan(ctx context.Context, text string, o Options) ([]toxscreen.Entity, error) {
	s := New(text, p.cues, o.Cues)
	s.patterns, s.hooks, s.Regions = p, &p.usual, o.Regions
	for _, t := range o.Asked {
		s.asked |= p.setOf(t)
		if slices.ContainsFunc(p.kinds, func(k Kind) bool { return k.Type == t && k.OnRequest }) {
			s.hooks = &p.all
		}
	}
	look := Stride
	for at := 0; at < len(text); {
		if at >= look {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			look = at + Stride
		}
		if classes[text[at]]&Word == 0 {
			for _, find := range s.hooks.bytes[text[at]] {
				find(s, at, at)
			}
			at = max(at+1, s.skipEnd)
			continue
		}
		end, seen := at, byte(0)
		for end < len(text) && classes[text[end]]&Word != 0 {
			seen |= classes[text[end]]
			end++
		}
		if at >= s.WordEnd { // not inside what was taken as a whole
			s.word(at, end, seen)
		}
		at = end
	}
	return s.Found, nil
}

// word tries what may begin with the word from start to end. seen are the classes of its
// bytes.
func (s *Scanner) word(start, end int, seen byte) {
	if seen&Digit != 0 && s.uuid(start, end) {
		return
	}
	var next byte
	if end < len(s.Text) {
		next = s.Text[end]
	}
	shape := shapeOf(seen)
	hooks := &s.hooks.words[shape][next]
	for i := range hooks.early {
		if h := &hooks.early[i]; h.least <= end-start && end-start <= h.most {
			h.find(s, start, end)
		}
	}
	if shape != foreignShape && (seen&Digit != 0 || s.beginsNumber(start, end, next)) {
		s.layouts(start, end)
		s.loose(start)
	}
	for i := range hooks.late {
		if h := &hooks.late[i]; h.least <= end-start && end-start <= h.most {
			h.find(s, start, end)
		}
	}
}

const foreignShape = 3 // the number of Foreign

// shapeOf returns the number of the [Shape] of a word.
func shapeOf(seen byte) int {
	switch {
	case seen&Other != 0:
		return foreignShape
	case seen&Digit == 0:
		return 0
	case seen == Digit:
		return 1
	}
	return 2
}

// beginsNumber tells whether letters may be the first group of a number: there are few, and
// a digit follows right after the separator. Letters before a colon, or two letters before
// a dash or a stop, count as the first byte of a hardware address.
func (s *Scanner) beginsNumber(start, end int, next byte) bool {
	length := end - start
	return length <= 3 && s.Is(end+1, Digit) && next != ':' && !(length == 2 && (next == '-' || next == '.'))
}

// uuid skips an identifier like 123e4567-e89b-12d3-a456-426614174000, whose groups look
// like other numbers.
func (s *Scanner) uuid(start, end int) bool {
	const length = 36
	if end-start != 8 || !s.Has(end, '-') || start+length > len(s.Text) || s.Is(start+length, Word) {
		return false
	}
	for i := range length {
		b := s.Text[start+i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if b != '-' {
				return false
			}
		} else if !IsHexDigit(b) {
			return false
		}
	}
	s.WordEnd = start + length
	return true
}

// Skip continues the scan at offset to, once the pattern that was tried at a byte returns.
func (s *Scanner) Skip(to int) { s.skipEnd = to }

// Asked tells whether a type was asked for by name.
func (s *Scanner) Asked(t toxscreen.EntityType) bool {
	return s.asked != 0 && s.asked&s.patterns.setOf(t) != 0
}

// Add adds an entity of one of the patterns' types. base is its score in 0..1 without a
// cue; a cue within reach raises it. why are the reasons for the score, for people.
func (s *Scanner) Add(t toxscreen.EntityType, start, end int, base float64, why ...string) {
	i := s.patterns.numbers[t]
	s.add(t, 1<<i, s.patterns.kinds[i].Reach, start, end, base, why...)
}

// AddOwn is [Scanner.Add] for an entity of any type. Every cue of the scanner supports it.
func (s *Scanner) AddOwn(t toxscreen.EntityType, start, end int, base float64, why ...string) {
	s.add(t, everyType, Usual, start, end, base, why...)
}

// AddAlone adds an entity whose score cues do not change.
func (s *Scanner) AddAlone(t toxscreen.EntityType, start, end int, score float64, why ...string) {
	s.Found = append(s.Found, toxscreen.Entity{Type: t, Start: start, End: end, Score: toxscreen.Probability(score), Why: why})
}

func (s *Scanner) add(t toxscreen.EntityType, types typeSet, reach Reach, start, end int, base float64, why ...string) {
	cue, ok := best(s.cuesBefore(start), types, reach)
	if reach.After > 0 && (!ok || cue.distance > 0) {
		if later, found := best(s.cuesAfter(end), types, reach); found && (!ok || later.distance < cue.distance) {
			cue, ok = later, true
		}
	}
	if ok {
		base = min(1, base+cueLift-cueFade*float64(cue.distance))
		why = append(why, `cue "`+cue.text+`"`)
	}
	s.AddAlone(t, start, end, base, why...)
}

// WordsBefore returns the last words before an offset, in lower case.
func (s *Scanner) WordsBefore(at int) []string { return leading(nil, s.Text, 0, at) }

// WordsAfter returns the first words after an offset, in lower case.
func (s *Scanner) WordsAfter(at int) []string {
	words, _ := trailing(nil, s.Text, at)
	return words
}

// CueBefore tells whether a cue of type t stands before an offset, with at most the given
// number of words between them.
func (s *Scanner) CueBefore(t toxscreen.EntityType, at, words int) bool {
	_, ok := best(s.cuesBefore(at), s.patterns.setOf(t), Reach{Before: words})
	return ok
}

// cuesBefore returns the cues before an offset, and those in the heading of its table
// column.
func (s *Scanner) cuesBefore(at int) []near {
	if s.beforeAt != at {
		from := 0
		heading := s.table.heading(at)
		if heading != "" {
			from = s.table.start
		}
		s.words = leading(s.words[:0], s.Text, from, at)
		s.words = append(s.words, leading(nil, heading, 0, len(heading))...)
		s.before = s.cuesAmong(s.before[:0], s.words, false)
		s.beforeAt = at
	}
	return s.before
}

// cuesAfter returns the cues after an offset, except those that introduce a number in the
// next clause: "account 12345678, routing 021000021".
func (s *Scanner) cuesAfter(at int) []near {
	if s.afterAt != at {
		words, clause := trailing(s.later[:0], s.Text, at)
		s.after = slices.DeleteFunc(s.cuesAmong(s.after[:0], words, true), func(n near) bool {
			next := n.distance + 1 + strings.Count(n.text, " ")
			return n.distance >= clause && next < len(words) && (words[next] == "" || Is(words[next], 0, Digit))
		})
		s.afterAt, s.later = at, words
	}
	return s.after
}

func (s *Scanner) cuesAmong(found []near, words []string, after bool) []near {
	return s.extra.find(s.cues.find(found, words, after), words, after)
}

// Opposed tells whether a word says that the number at an offset is something else, and no
// cue of type t stands about as near. Such a word stands right before the number, or before
// "number" and the like.
func (s *Scanner) Opposed(t toxscreen.EntityType, at int) bool {
	return s.opposed(s.patterns.setOf(t), at)
}

func (s *Scanner) opposed(types typeSet, at int) bool {
	other, ok := best(s.cuesBefore(at), against, Reach{Before: 1})
	if !ok || other.distance == 1 && !numberWords[s.words[len(s.words)-1]] {
		return false
	}
	own, supported := best(s.before, types, Usual)
	return !supported || own.distance > other.distance+1
}

var numberWords = Words("no nr num number is was")

// Supported tells whether a cue of type t stands within reach of the part from start to
// end.
func (s *Scanner) Supported(t toxscreen.EntityType, start, end int) bool {
	if _, ok := best(s.cuesBefore(start), s.patterns.setOf(t), Usual); ok {
		return true
	}
	_, ok := best(s.cuesAfter(end), s.patterns.setOf(t), Usual)
	return ok
}

// ApartBefore tells whether something begins at an offset on its own: it does not continue
// a longer number, a code, a path or a decimal fraction.
func (s *Scanner) ApartBefore(start int) bool {
	if start == 0 {
		return true
	}
	switch b := s.Text[start-1]; b {
	case '-', '+', '\\':
		return !s.Is(start-2, Word)
	case '.', '_', ':', '\'', '*':
		return !s.Is(start-2, Digit)
	case '/', '$', '@':
		return false
	default:
		return classes[b]&Word == 0
	}
}

// ApartAfter tells the same of the end of a number, see [Scanner.ApartBefore].
func (s *Scanner) ApartAfter(end int) bool {
	if end == len(s.Text) {
		return true
	}
	switch b := s.Text[end]; b {
	case '-', '/', '+', '\\', '_', '@', '=':
		return !s.Is(end+1, Word)
	case '.', ':', '\'', '*':
		return !s.Is(end+1, Digit)
	case '%':
		return false
	default:
		return classes[b]&Word == 0
	}
}

// InRow tells whether a number in groups with blanks between them is part of a row of
// numbers, in which any neighbours could form such a number: the group beside it is as long
// as its own first or last group.
func (s *Scanner) InRow(start, end int) bool {
	first, last := start, end
	for s.Is(first, Digit) {
		first++
	}
	for s.Is(last-1, Digit) {
		last--
	}
	before, after := start-1-(first-start), end+1+(end-last)
	return isBlank(s.Text, start-1) && areDigits(s.Text, before, start-1) && (before == 0 || isBlank(s.Text, before-1)) ||
		isBlank(s.Text, end) && areDigits(s.Text, end+1, after) && !s.Is(after, Word) && s.ApartAfter(after)
}

func isBlank(text string, at int) bool { return Has(text, at, ' ') || Has(text, at, '\t') }

// areDigits tells whether the bytes from one offset to another are digits.
func areDigits(text string, from, to int) bool {
	return from >= 0 && from < to && to <= len(text) && Run(text[:to], from, Digit) == to
}
