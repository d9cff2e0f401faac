package kind

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Title is a form of address, a degree or a rank.
const Title toxscreen.EntityType = "TITLE"

var titles = []scan.Kind{
	{
		Type: Title, Description: "a title before a name, like Dr. or Ms; only if TITLE is asked for by name",
		OnRequest: true,
		Cues:      []string{"title", "salutation"},
		Reach:     scan.Close,
		Patterns: []scan.Pattern{
			{At: scan.Letters, Turn: scan.Late, Find: title},
		},
		Examples: []string{
			"«Dr.» Anna Berg and «Mr» Hill", "«Ms.» Okafor, «Mrs.» Novak, «Miss» Lee", "«Professor» Ängström", "«Prof. Dr.» Anna Berg", "dear «mr» smith", "«MR» HILL", "Dear «Sir» or «Madam»,", "Thank you, «Doctor»!", "«Sir» Tim", "«Rev.» Green", "title,name\n«Dr»,Anna\n",
			"On May 5, «Dr.» Berg came.", "Title: «Ms»",
		},
		Counterexamples: []string{
			"12 Elm Dr. Springfield", "the professor said", "mr and mrs", "5 ms later", "MS Word", "I miss Anna", "Gen Z", "a drive, sir", "Rev 2", "www.dr.example",
		},
	},
}

// titleWords are forms of address, degrees and ranks that stand before names.
var titleWords = scan.Words(`mr mrs ms mx miss dr prof professor doctor sir dame madam madame rev reverend hon honourable honorable rabbi imam sheikh sen senator rep gov governor capt captain lt lieutenant sgt
	sergeant col colonel gen maj cpl adm admiral msgr fr herr frau monsieur mme mlle senor senora signor signora ing`)

// smallTitles are the titles that also count in small letters. ms is missing: it is a unit.
var smallTitles = scan.Words("mr mrs dr prof professor")

// stoppedTitles are titles that need a full stop. Without one they mean something else:
// "Gen Z", "rep", "Rev 2".
var stoppedTitles = scan.Words("rev hon sen rep gov col gen maj cpl adm msgr fr ing")

// title finds the titles that begin with a word, like "Prof. Dr.", before a name or after a
// greeting. Elsewhere a title needs a cue.
func title(s *scan.Scanner, start, end int) {
	if start < s.Memory[titleEnd] || !isTitle(s, start, end) || isStreet(s, start, end) {
		return
	}
	first, last, next := start, start, end
	for {
		if end = next; s.Has(end, '.') {
			end++
		}
		next = end
		for s.Has(next, ' ') {
			next++
		}
		if start = next; start == end && !s.Has(end-1, '.') {
			break
		}
		if next = s.Run(start, scan.Word); start == next || !isTitle(s, start, next) {
			break
		}
		last = start
	}
	s.Memory[titleEnd] = end
	isApart := start > end || s.Has(end-1, '.')
	switch {
	case isApart && (s.Is(start, scan.Upper|scan.Other) || s.Is(start, scan.Lower) && s.Is(last, scan.Lower) && !between[s.Text[start:next]]):
		s.Add(Title, first, end, 0.9, "pattern")
	case isGreeted(s, first):
		s.Add(Title, first, end, 0.6, "pattern")
	default:
		s.Add(Title, first, end, 0.3, "pattern")
	}
}

// isTitle tells whether a word is a title: it begins with a capital or consists of
// capitals. MS without a full stop is a product or a disease.
func isTitle(s *scan.Scanner, start, end int) bool {
	word := s.Text[start:end]
	lower := strings.ToLower(word)
	switch {
	case !titleWords[lower] || start > 0 && strings.IndexByte("./\\@_-=#&", s.Text[start-1]) >= 0: // a part of an address or a path
		return false
	case s.Is(start, scan.Lower):
		return smallTitles[lower]
	case stoppedTitles[lower] || word == "MS":
		return s.Has(end, '.')
	}
	return true
}

// isStreet tells whether a word ends the name of a street, as in "12 Elm Dr. Springfield".
func isStreet(s *scan.Scanner, start, end int) bool {
	if !strings.EqualFold(s.Text[start:end], "dr") {
		return false
	}
	before := s.WordsBefore(start)
	n := len(before)
	for i := n - 2; i >= max(0, n-4); i-- {
		if scan.Is(before[i], 0, scan.Digit) {
			return s.Has(start-1, ' ') && s.Is(start-1-len(before[n-1]), scan.Upper) && !months[before[n-1]]
		}
	}
	return false
}

// isGreeted tells whether a greeting stands before an offset, as in "Dear Sir or Madam".
func isGreeted(s *scan.Scanner, at int) bool {
	before := s.WordsBefore(at)
	n := len(before)
	return n > 0 && greetings[before[n-1]] || n > 1 && before[n-1] == "or" && titleWords[before[n-2]]
}

var (
	greetings = scan.Words("dear hello hi yes no thanks thank you please sorry")
	between   = scan.Words("and or of the is was has in on at to for with will said")
)
