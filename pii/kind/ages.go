package kind

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Age is the age of a person, in years, or of a small child.
const Age toxscreen.EntityType = "AGE"

var ages = []scan.Kind{
	{
		Type: Age, Description: "an age over 89; every age if AGE is asked for by name",
		HIPAA: "C",
		Cues:  []string{"age", "aged", "turned", "turning"},
		Reach: scan.Close,
		Patterns: []scan.Pattern{
			{At: scan.Digits, Most: 3, Find: age},
			{At: scan.Mixed, Find: age},
		},
		Examples: []string{
			// the tests ask for the type by name, so every age is found
			"he is «93 years old»", "a «101-year-old» woman", "aged «95»", "she turned «99»", "Age: «92»", "«97 y/o» male", "her «94th birthday»",
			"I am «34».", "I'm «34», she's «7» and he is «12».", "i’m «34»", "my son is «7» now", "When I was «5», we moved.", "she is already «60» and retired", "Anna Berg, «34», of Leeds", "a «45-year-old»",
			"«34 yo» female", "«34yo»", "aged «7»", "at the age of «16»", "Age/Sex: «34»/M", "I («34»M) and my wife («32»F)", "«3 months old», a «2-week-old» kitten", "he turns «40», just turned «50»", "his «5th birthday»",
			"{\"age\": «34»}", "name,age,town\nAnna,«34»,Leeds\nTom,«7»,York\n", "my mother is «89 years old»",
		},
		Counterexamples: []string{
			"aged 90 days", "aged 6 months", "93 years", "130 years old", "page 93", "I am 34 minutes late", "she is 5 feet tall", "I am 100% sure", "he is 2 blocks away", "It is 34.", "we are 12", "version 34", "In May, 5, 6 and 7 people came",
			"lines 12, 34, 56", "it turned 30 degrees", "chapter 7", "the result is 12",
		},
	},
}

// safeHarborAge is the lowest age that counts as an identifier under HIPAA's Safe Harbor,
// ages over 89, 45 CFR 164.514(b)(2)(i)(C). Lower ages are found only if AGE is asked for
// by name.
const safeHarborAge = 90

const maxAge = 125 // years

// ageUnits follow the number of an age.
var ageUnits = [...]string{
	"-year-old", " years old", " year old", "-years-old", " year-old", " years of age", "-yr-old", " yrs old", " y/o", " yo", "yo", "y/o", " y.o.", "-yo", " yr old", "-year old",
	"st birthday", "nd birthday", "rd birthday", "th birthday",
}

// infantUnits follow the number of a small child's age.
var infantUnits = [...]string{
	"-month-old", " months old", " month old", "-months-old", " month-old", " months of age", "-week-old", " weeks old", " week old", "-weeks-old", " weeks of age", "-day-old", " days old", " day old",
	"-days-old", " days of age",
}

// age finds an age with its unit or right after a cue. If every age was asked for, it also
// finds one after "I am", and one between commas after a name.
func age(s *scan.Scanner, start, end int) {
	value, n := decimal(s, start, 3)
	least := safeHarborAge
	if s.Asked(Age) {
		least = 0
	}
	if n == 0 || value < least || value > maxAge || !s.ApartBefore(start) {
		return
	}
	if to := unit(s, start+n, ageUnits[:]); to > 0 {
		s.Add(Age, start, to, 0.8, "pattern")
		return
	}
	if s.Asked(Age) {
		if to := unit(s, start+n, infantUnits[:]); to > 0 {
			s.Add(Age, start, to, 0.8, "pattern")
			return
		}
		if ageAndSex(s, start, start+n) {
			return
		}
	}
	if start+n != end || !s.ApartAfter(end) {
		return
	}
	words := s.WordsAfter(end)
	isOther := len(words) > 0 && notAfterAge[strings.TrimSuffix(words[0], "s")] && !s.Is(end, scan.Word)
	// After a cue, and not of something else: "aged 90 days".
	if s.CueBefore(Age, start, 1) {
		if !isOther && !isUnderCells(s, start) {
			s.Add(Age, start, end, 0.2, "pattern")
		}
		return
	}
	if s.Asked(Age) && (isSaid(s, start, end, words) || isApposition(s, start, end)) {
		s.Add(Age, start, end, 0.5, "pattern")
	}
}

// isUnderCells tells whether a number begins a line below a row of cells. A cue in that row
// then belongs to another column.
func isUnderCells(s *scan.Scanner, start int) bool {
	line := strings.LastIndexByte(s.Text[:start], '\n') + 1
	if line == 0 || strings.TrimLeft(s.Text[line:start], " \"|") != "" {
		return false
	}
	above := strings.TrimRight(s.Text[:line], "\r\n")
	return strings.ContainsAny(above[strings.LastIndexByte(above, '\n')+1:], ",;\t")
}

// IsSafeHarborAge tells whether an age, as it stands in a text, counts as an identifier
// under HIPAA's Safe Harbor: it is over 89 years.
func IsSafeHarborAge(found string) bool {
	s := scan.New(scan.Fold(found).Text, nil, nil)
	start := max(0, strings.IndexAny(s.Text, "0123456789"))
	years, n := decimal(s, start, 3)
	return years >= safeHarborAge && unit(s, start+n, infantUnits[:]) == 0
}

// unit returns the end of the unit, one of units, that begins at an offset, or 0 if none
// does.
func unit(s *scan.Scanner, at int, units []string) int {
	for _, unit := range units {
		to := at + len(unit)
		if to <= len(s.Text) && strings.EqualFold(s.Text[at:to], unit) && !s.Is(to, scan.Word) {
			return to
		}
	}
	return 0
}

// notAfterAge are units that show a number after "aged" or "turned" to be something else.
var notAfterAge = scan.Words("day hour minute second week month percent mile degree")

// ageAndSex finds 34M and F34 in parentheses, and 34/F.
func ageAndSex(s *scan.Scanner, start, end int) bool {
	isSex := func(at int) bool { return at >= 0 && at < len(s.Text) && strings.IndexByte("MFmf", s.Text[at]) >= 0 }
	if s.Has(end, '/') && isSex(end+1) && !s.Is(end+2, scan.Word) || s.Has(start-1, '(') && isSex(end) && s.Has(end+1, ')') {
		s.Add(Age, start, end, 0.6, "pattern")
		return true
	}
	return false
}

// isSaid tells whether a sentence gives a number as somebody's age: "I am 34", "she's 34
// now", but not "I am 34 minutes late". after are the words after the number.
func isSaid(s *scan.Scanner, start, end int, after []string) bool {
	before := s.WordsBefore(start)
	said := strings.TrimRight(s.Text[:start], " ")
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
	return len(after) == 0 || !s.Has(end, ' ') || afterAge[after[0]]
}

var (
	persons  = scan.Words("i he she who they you son daughter mother father mum mom dad sister brother wife husband grandmother grandfather boy girl man woman child baby patient client")
	forms    = scan.Words("am is was are were m re be turn turns turned became")
	onlyJust = scan.Words("only just now almost nearly about already over under still barely")
	afterAge = scan.Words("and but or so now today already too who because then yet when while living married single from")
)

// isApposition tells whether a number stands between commas after a capitalised word other
// than a month, as in "Anna Berg, 34, of Leeds".
func isApposition(s *scan.Scanner, start, end int) bool {
	if !s.Has(start-1, ' ') || !s.Has(start-2, ',') || !s.Has(end, ',') || !s.Has(end+1, ' ') || s.Is(end+2, scan.Digit) {
		return false
	}
	from := start - 2
	for s.Is(from-1, scan.Word) {
		from--
	}
	word := s.Text[from : start-2]
	return len(word) > 1 && scan.Is(word, 0, scan.Upper) && scan.Is(word, 1, scan.Lower|scan.Other) && !months[strings.ToLower(word)]
}
