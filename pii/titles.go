package pii

import "strings"

// titles are forms of address, degrees and ranks that stand before names.
var titles = set(`mr mrs ms mx miss dr prof professor doctor sir dame madam madame rev reverend hon honourable honorable rabbi imam sheikh sen senator rep gov governor capt captain lt lieutenant sgt
	sergeant col colonel gen maj cpl adm admiral msgr fr herr frau monsieur mme mlle senor senora signor signora ing`)

// smallTitles are written in small letters, too; ms is a unit.
var smallTitles = set("mr mrs dr prof professor")

// stoppedTitles are titles with a full stop only: "Gen Z", "rep", "Rev 2".
var stoppedTitles = set("rev hon sen rep gov col gen maj cpl adm msgr fr ing")

// title finds the titles that begin with a word, like "Prof. Dr.": before a name or after a
// greeting. Elsewhere they need a cue.
func (s *scanner) title(start, end int) {
	if start < s.titleEnd || !s.isTitle(start, end) || s.isStreet(start, end) {
		return
	}
	first, last, next := start, start, end
	for {
		if end = next; has(s.text, end, '.') {
			end++
		}
		next = end
		for has(s.text, next, ' ') {
			next++
		}
		if start = next; start == end && !has(s.text, end-1, '.') {
			break
		}
		if next = run(s.text, start, wordClass); start == next || !s.isTitle(start, next) {
			break
		}
		last = start
	}
	s.titleEnd = end
	isApart := start > end || has(s.text, end-1, '.')
	switch {
	case isApart && (is(s.text, start, upperClass|otherClass) || is(s.text, start, lowerClass) && is(s.text, last, lowerClass) && !between[s.text[start:next]]):
		s.add(Title, first, end, 0.9, "pattern")
	case s.isGreeted(first):
		s.add(Title, first, end, 0.6, "pattern")
	default:
		s.add(Title, first, end, 0.3, "pattern")
	}
}

// isTitle tells whether a word is a title: with a capital, or in full capitals. MS is a product or
// a disease without its full stop.
func (s *scanner) isTitle(start, end int) bool {
	word := s.text[start:end]
	lower := strings.ToLower(word)
	switch {
	case !titles[lower] || start > 0 && strings.IndexByte("./\\@_-=#&", s.text[start-1]) >= 0: // a part of an address or a path
		return false
	case is(s.text, start, lowerClass):
		return smallTitles[lower]
	case stoppedTitles[lower] || word == "MS":
		return has(s.text, end, '.')
	}
	return true
}

// isStreet tells whether a word is the end of a street's name, as in "12 Elm Dr. Springfield".
func (s *scanner) isStreet(start, end int) bool {
	if !strings.EqualFold(s.text[start:end], "dr") {
		return false
	}
	before := leading(nil, s.text, 0, start)
	n := len(before)
	for i := n - 2; i >= max(0, n-4); i-- {
		if is(before[i], 0, digitClass) {
			return has(s.text, start-1, ' ') && is(s.text, start-1-len(before[n-1]), upperClass) && !months[before[n-1]]
		}
	}
	return false
}

// isGreeted tells whether a greeting stands before, as in "Dear Sir or Madam".
func (s *scanner) isGreeted(at int) bool {
	before := leading(nil, s.text, 0, at)
	n := len(before)
	return n > 0 && greetings[before[n-1]] || n > 1 && before[n-1] == "or" && titles[before[n-2]]
}

var (
	greetings = set("dear hello hi yes no thanks thank you please sorry")
	between   = set("and or of the is was has in on at to for with will said")
)
