package pii

import (
	"context"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// scanner goes through a folded text once, from word to word, and tries at each word what
// may begin there. What is tried looks at a bounded part of the text or ends where the next
// word of its kind begins, so that the time is linear in the length of the text.
type scanner struct {
	text    string
	regions []string
	extra   cueIndex // cues that support every type
	cues    cueIndex // of the types
	found   []finding

	table table

	// The words before and after the offsets that were asked for last, and the cues among them.
	words, later      []string
	before, after     []near
	beforeAt, afterAt int

	asked   asked
	lookups int // how often the library of phone numbers was asked

	// Where the last address, date and phone number end: no other begins inside.
	urlEnd, domainEnd, addressEnd, dateEnd, phoneEnd, weakEnd, wordEnd, titleEnd int
}

// asked is what is found only if it was asked for by name.
type asked struct{ ages, titles bool }

// newScanner returns a scanner whose entities are supported by cues.
func newScanner(text string, cues, extra cueIndex) *scanner {
	return &scanner{text: text, cues: cues, extra: extra, table: table{text: text, end: -1}, beforeAt: -1, afterAt: -1}
}

// stride is how many bytes are scanned between looks at the context.
const stride = 1 << 14

// scan returns the findings of all patterns.
func scan(ctx context.Context, text string, regions []string, extra cueIndex, a asked) ([]finding, error) {
	s := newScanner(text, builtInCues, extra)
	s.regions, s.asked = regions, a
	look := stride
	for at := 0; at < len(text); {
		if at >= look {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			look = at + stride
		}
		if classes[text[at]]&wordClass == 0 {
			switch text[at] {
			case '@':
				s.email(at)
			case '+', '(':
				s.phone(at)
			case ':':
				s.ipv6(at)
			case '-':
				if strings.HasPrefix(text[at:], pemBegin) {
					at = s.pem(at)
					continue
				}
			}
			at++
			continue
		}
		end, seen := at, byte(0)
		for end < len(text) && classes[text[end]]&wordClass != 0 {
			seen |= classes[text[end]]
			end++
		}
		s.word(at, end, seen)
		at = end
	}
	return s.found, nil
}

// word tries what may begin with a word; seen are the classes of its bytes.
func (s *scanner) word(start, end int, seen byte) {
	length := end - start
	if start < s.wordEnd { // inside what was taken as a whole
		return
	}
	if seen&digitClass == 0 {
		switch {
		case has(s.text, end, ':') && strings.HasPrefix(s.text[end:], "://"):
			s.url(start, end)
		case has(s.text, end, '.') && is(s.text, end+1, wordClass), has(s.text, end, '-') && is(s.text, end+1, wordClass):
			s.domain(start)
		}
		switch {
		case seen&otherClass != 0:
			return
		case has(s.text, end, ':'):
			s.mac(start)
			s.ipv6(start)
		case (length == 2 || length == 4) && (has(s.text, end, '-') || has(s.text, end, '.')):
			s.mac(start)
		case length <= 3 && is(s.text, end+1, digitClass):
			s.layouts(start, end)
			s.weak(start)
		}
		s.writtenDate(start, end)
		s.assignment(start, end)
		s.key(start, end)
		if s.asked.titles {
			s.title(start, end)
		}
		return
	}
	if s.uuid(start, end) {
		return
	}
	if has(s.text, end, ':') && strings.HasPrefix(s.text[end:], "://") {
		s.url(start, end)
	}
	if (has(s.text, end, '.') || has(s.text, end, '-')) && is(s.text, end+1, letterClass) {
		s.domain(start)
	}
	if seen&^digitClass == 0 {
		s.number(start, end)
		return
	}
	if seen&otherClass != 0 {
		return
	}
	if length <= 4 && is(s.text, start, digitClass) {
		s.date(start)
	}
	s.iban(start, end)
	s.crypto(start, end)
	s.mac(start)
	if has(s.text, end, ':') {
		s.ipv6(start)
	}
	s.layouts(start, end)
	s.weak(start)
	s.age(start, end)
	s.key(start, end)
	s.phone(start)
	s.assignment(start, end)
}

// number tries what may begin with a run of digits.
func (s *scanner) number(start, end int) {
	length := end - start
	if length <= 3 {
		s.ipv4(start)
		s.age(start, end)
	}
	if length <= 4 {
		s.date(start)
	}
	if length == 2 || length == 4 {
		s.mac(start)
	}
	if has(s.text, end, ':') && length <= 4 {
		s.ipv6(start)
	}
	s.layouts(start, end)
	if length >= 26 {
		s.crypto(start, end)
	}
	s.weak(start)
	s.phone(start)
}

// add adds a finding whose score without cues is base. A cue within reach raises it.
func (s *scanner) add(t toxscreen.EntityType, start, end int, base float64, why ...string) {
	i := numberOf[t]
	s.addNear(t, typeSet(1)<<i, kinds[i].reach, start, end, base, why...)
}

func (s *scanner) addNear(t toxscreen.EntityType, types typeSet, reach cueReach, start, end int, base float64, why ...string) {
	cue, ok := best(s.cuesBefore(start), types, reach)
	if reach.after > 0 && (!ok || cue.distance > 0) {
		if later, found := best(s.cuesAfter(end), types, reach); found && (!ok || later.distance < cue.distance) {
			cue, ok = later, true
		}
	}
	if ok {
		base = min(1, base+cueLift-cueFade*float64(cue.distance))
		why = append(why, `cue "`+cue.text+`"`)
	}
	s.found = append(s.found, pattern(t, start, end, base, why...))
}

// cuesBefore returns the cues before an offset, the heading of its column in a table
// included.
func (s *scanner) cuesBefore(at int) []near {
	if s.beforeAt != at {
		from := 0
		heading := s.table.heading(at)
		if heading != "" {
			from = s.table.start
		}
		s.words = leading(s.words[:0], s.text, from, at)
		s.words = append(s.words, leading(nil, heading, 0, len(heading))...)
		s.before = s.cuesAmong(s.before[:0], s.words, false)
		s.beforeAt = at
	}
	return s.before
}

// cuesAfter returns the cues after an offset, without those that begin another clause with a
// number of its own: "account 12345678, routing 021000021".
func (s *scanner) cuesAfter(at int) []near {
	if s.afterAt != at {
		words, clause := trailing(s.later[:0], s.text, at)
		s.after = slices.DeleteFunc(s.cuesAmong(s.after[:0], words, true), func(n near) bool {
			next := n.distance + 1 + strings.Count(n.text, " ")
			return n.distance >= clause && next < len(words) && (words[next] == "" || is(words[next], 0, digitClass))
		})
		s.afterAt, s.later = at, words
	}
	return s.after
}

func (s *scanner) cuesAmong(found []near, words []string, after bool) []near {
	return s.extra.find(s.cues.find(found, words, after), words, after)
}

// opposed tells whether a word right before, or before "number" and the like, says that a
// number is something else, and no cue of the type is about as near.
func (s *scanner) opposed(t toxscreen.EntityType, at int) bool {
	other, ok := best(s.cuesBefore(at), against, cueReach{before: 1})
	if !ok || other.distance == 1 && !numberWords[s.words[len(s.words)-1]] {
		return false
	}
	own, supported := best(s.before, setOf(t), usualReach)
	return !supported || own.distance > other.distance+1
}

var numberWords = set("no nr num number is was")

// supported tells whether a cue of a type is near a part of the text.
func (s *scanner) supported(t toxscreen.EntityType, start, end int) bool {
	if _, ok := best(s.cuesBefore(start), setOf(t), usualReach); ok {
		return true
	}
	_, ok := best(s.cuesAfter(end), setOf(t), usualReach)
	return ok
}

// apartBefore tells whether what begins at an offset is not a part of a longer number, a
// code, a path or a decimal fraction.
func (s *scanner) apartBefore(start int) bool {
	if start == 0 {
		return true
	}
	switch b := s.text[start-1]; b {
	case '-', '+', '\\':
		return !is(s.text, start-2, wordClass)
	case '.', '_', ':', '\'', '*':
		return !is(s.text, start-2, digitClass)
	case '/', '$', '@':
		return false
	default:
		return classes[b]&wordClass == 0
	}
}

// apartAfter is [scanner.apartBefore] for the end of a number.
func (s *scanner) apartAfter(end int) bool {
	if end == len(s.text) {
		return true
	}
	switch b := s.text[end]; b {
	case '-', '/', '+', '\\', '_', '@', '=':
		return !is(s.text, end+1, wordClass)
	case '.', ':', '\'', '*':
		return !is(s.text, end+1, digitClass)
	case '%':
		return false
	default:
		return classes[b]&wordClass == 0
	}
}

// inRow tells whether a number whose groups are set apart by blanks stands in a row of
// numbers, any few of which make up a longer one: one as long as its first or last group
// stands beside it.
func (s *scanner) inRow(start, end int) bool {
	first, last := start, end
	for is(s.text, first, digitClass) {
		first++
	}
	for is(s.text, last-1, digitClass) {
		last--
	}
	before, after := start-1-(first-start), end+1+(end-last)
	return isBlank(s.text, start-1) && areDigits(s.text, before, start-1) && (before == 0 || isBlank(s.text, before-1)) ||
		isBlank(s.text, end) && areDigits(s.text, end+1, after) && !is(s.text, after, wordClass) && s.apartAfter(after)
}

func isBlank(text string, at int) bool { return has(text, at, ' ') || has(text, at, '\t') }

// areDigits tells whether there are digits from one offset to another.
func areDigits(text string, from, to int) bool {
	return from >= 0 && from < to && to <= len(text) && run(text[:to], from, digitClass) == to
}
