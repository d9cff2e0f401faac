package pii

import "strings"

// safeHarborAge is the least age that HIPAA's Safe Harbor counts as an identifier: ages over 89,
// 45 CFR 164.514(b)(2)(i)(C). Where AGE was not asked for by its name, only these are found.
const safeHarborAge = 90

const maxAge = 125 // years

// ageUnits follow an age.
var ageUnits = [...]string{
	"-year-old", " years old", " year old", "-years-old", " year-old", " years of age", "-yr-old", " yrs old", " y/o", " yo", "yo", "y/o", " y.o.", "-yo", " yr old", "-year old",
	"st birthday", "nd birthday", "rd birthday", "th birthday",
}

// infantUnits follow the age of a small child.
var infantUnits = [...]string{
	"-month-old", " months old", " month old", "-months-old", " month-old", " months of age", "-week-old", " weeks old", " week old", "-weeks-old", " weeks of age", "-day-old", " days old", " day old",
	"-days-old", " days of age",
}

// age finds an age: with its unit, right after a cue or, if every age was asked for, after "I am"
// or between commas after a name.
func (s *scanner) age(start, end int) {
	value, n := s.decimal(start, 3)
	least := safeHarborAge
	if s.asked.ages {
		least = 0
	}
	if n == 0 || value < least || value > maxAge || !s.apartBefore(start) {
		return
	}
	if to := s.unit(start+n, ageUnits[:]); to > 0 {
		s.add(Age, start, to, 0.8, "pattern")
		return
	}
	if s.asked.ages {
		if to := s.unit(start+n, infantUnits[:]); to > 0 {
			s.add(Age, start, to, 0.8, "pattern")
			return
		}
		if s.ageAndSex(start, start+n) {
			return
		}
	}
	if start+n != end || !s.apartAfter(end) {
		return
	}
	words, _ := trailing(nil, s.text, end)
	isOther := len(words) > 0 && notAfterAge[strings.TrimSuffix(words[0], "s")] && !is(s.text, end, wordClass)
	// After a cue, and not of something else: "aged 90 days".
	if _, ok := best(s.cuesBefore(start), setOf(Age), cueReach{before: 1}); ok {
		if !isOther && !s.isUnderCells(start) {
			s.add(Age, start, end, 0.2, "pattern")
		}
		return
	}
	if s.asked.ages && (s.isSaid(start, end, words) || s.isApposition(start, end)) {
		s.add(Age, start, end, 0.5, "pattern")
	}
}

// isUnderCells tells whether a number begins a line that follows a row of cells: a cue in that
// row is of another column.
func (s *scanner) isUnderCells(start int) bool {
	line := strings.LastIndexByte(s.text[:start], '\n') + 1
	if line == 0 || strings.TrimLeft(s.text[line:start], " \"|") != "" {
		return false
	}
	above := strings.TrimRight(s.text[:line], "\r\n")
	return strings.ContainsAny(above[strings.LastIndexByte(above, '\n')+1:], ",;\t")
}

// isSafeHarborAge tells whether an age that was found counts as an identifier.
func isSafeHarborAge(found string) bool {
	s := newScanner(fold(found).text, nil, nil)
	start := max(0, strings.IndexAny(s.text, "0123456789"))
	years, n := s.decimal(start, 3)
	return years >= safeHarborAge && s.unit(start+n, infantUnits[:]) == 0
}

// unit returns where one of some units ends that begins at an offset, 0 if there is none.
func (s *scanner) unit(at int, units []string) int {
	for _, unit := range units {
		to := at + len(unit)
		if to <= len(s.text) && strings.EqualFold(s.text[at:to], unit) && !is(s.text, to, wordClass) {
			return to
		}
	}
	return 0
}

// notAfterAge are units of something else that stands after "aged" or "turned".
var notAfterAge = set("day hour minute second week month percent mile degree")

// ageAndSex finds 34M and F34 in parentheses, and 34/F.
func (s *scanner) ageAndSex(start, end int) bool {
	isSex := func(at int) bool { return at >= 0 && at < len(s.text) && strings.IndexByte("MFmf", s.text[at]) >= 0 }
	if has(s.text, end, '/') && isSex(end+1) && !is(s.text, end+2, wordClass) || has(s.text, start-1, '(') && isSex(end) && has(s.text, end+1, ')') {
		s.add(Age, start, end, 0.6, "pattern")
		return true
	}
	return false
}

// isSaid tells whether a number is what somebody is: "I am 34", "she's 34 now", and not "I am 34
// minutes late". after are the words after it.
func (s *scanner) isSaid(start, end int, after []string) bool {
	before := leading(nil, s.text, 0, start)
	said := strings.TrimRight(s.text[:start], " ")
	for len(before) > 0 && onlyJust[before[len(before)-1]] {
		said = strings.TrimRight(said[:len(said)-len(before[len(before)-1])], " ")
		before = before[:len(before)-1]
	}
	n := len(before)
	switch { // leading leaves out the s of "she's"
	case n > 0 && persons[before[n-1]] && strings.HasSuffix(said, "'s"):
	case n > 1 && persons[before[n-2]] && forms[before[n-1]]:
	default:
		return false
	}
	return len(after) == 0 || !has(s.text, end, ' ') || afterAge[after[0]]
}

var (
	persons  = set("i he she who they you son daughter mother father mum mom dad sister brother wife husband grandmother grandfather boy girl man woman child baby patient client")
	forms    = set("am is was are were m re be turn turns turned became")
	onlyJust = set("only just now almost nearly about already over under still barely")
	afterAge = set("and but or so now today already too who because then yet when while living married single from")
)

// isApposition tells whether a number stands between commas after a capitalised word that is no
// month, as in "Anna Berg, 34, of Leeds".
func (s *scanner) isApposition(start, end int) bool {
	if !has(s.text, start-1, ' ') || !has(s.text, start-2, ',') || !has(s.text, end, ',') || !has(s.text, end+1, ' ') || is(s.text, end+2, digitClass) {
		return false
	}
	from := start - 2
	for is(s.text, from-1, wordClass) {
		from--
	}
	word := s.text[from : start-2]
	return len(word) > 1 && is(word, 0, upperClass) && is(word, 1, lowerClass|otherClass) && !months[strings.ToLower(word)]
}
