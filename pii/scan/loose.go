package scan

import "strings"

// LooseScore is the base score of numbers that only a cue makes personal: under
// [DefaultThreshold].
const LooseScore = 0.1

// Loose describes a number that has hardly a form: it consists of digits, letters and
// dashes.
type Loose struct {
	Text                   string
	Digits, Letters, Marks int // the number of each; marks are dashes
}

// loose finds the loose number at an offset, if a cue of its type stands close before it.
func (s *Scanner) loose(start int) {
	if start < s.WordEnd || start < s.DateEnd || start < s.AddressEnd || start > 0 && strings.IndexByte("./$@+\\", s.Text[start-1]) >= 0 ||
		s.Has(start-1, '-') && s.Is(start-2, Word) || start < s.looseEnd {
		return
	}
	digits, letters, marks := 0, 0, 0
	at := start
	const most = 24
read:
	for at < len(s.Text) && at-start <= most {
		switch class := classes[s.Text[at]]; {
		case class == Digit:
			digits++
		case class&(Lower|Upper) != 0:
			letters++
		case s.Text[at] == '-' && s.Is(at+1, Digit|Upper):
			marks++
		default:
			break read
		}
		at++
	}
	s.looseEnd = at
	if digits < 4 || at-start > most || s.Is(at, Word) || s.Has(at, '.') && s.Is(at+1, Digit) || s.Has(at, '/') && s.Is(at+1, Word) ||
		s.Has(at, '%') || s.Has(at, '@') {
		return
	}
	number := Loose{s.Text[start:at], digits, letters, marks}
	for _, i := range s.patterns.loose {
		kind := &s.patterns.kinds[i]
		if !kind.Loose(number) {
			continue
		}
		if cue, ok := best(s.cuesBefore(start), 1<<i, Close); ok && cue.types != everyType {
			s.add(kind.Type, 1<<i, kind.Reach, start, at, LooseScore, "pattern")
		}
	}
}
