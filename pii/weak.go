package pii

import (
	"strings"

	"github.com/toxscreen/toxscreen"
)

// weakScore is the score of numbers that are nothing without a cue.
const weakScore = 0.1

// weakTypes are the types whose numbers have hardly a form. They are looked for where one
// of their cues stands close before.
var weakTypes = []struct {
	typ   toxscreen.EntityType
	takes func(digits, letters, marks int, id string) bool
}{
	{USPassport, func(digits, letters, marks int, id string) bool {
		return marks == 0 && (digits == 9 && letters == 0 || digits >= 6 && digits <= 8 && letters > 0 && letters <= 2 && is(id, 0, upperClass|lowerClass))
	}},
	{USDriverLicense, func(digits, letters, marks int, _ string) bool {
		return digits+letters >= 5 && digits+letters <= 17 && digits >= 4 && marks <= 4
	}},
	{USBankNumber, func(digits, letters, marks int, _ string) bool {
		return letters == 0 && digits >= 7 && digits <= 17 && marks <= 3
	}},
	{MedicalRecord, func(digits, letters, _ int, _ string) bool {
		return digits >= 4 && digits+letters <= 15 && letters <= 6
	}},
	{HealthPlan, func(digits, letters, _ int, _ string) bool {
		return digits >= 5 && digits+letters <= 20
	}},
}

// weak finds the numbers that only a cue makes personal.
func (s *scanner) weak(start int) {
	if start < s.wordEnd || start < s.dateEnd || start < s.addressEnd || start > 0 && strings.IndexByte("./$@+\\", s.text[start-1]) >= 0 ||
		has(s.text, start-1, '-') && is(s.text, start-2, wordClass) || start < s.weakEnd {
		return
	}
	digits, letters, marks := 0, 0, 0
	at := start
	const most = 24
read:
	for at < len(s.text) && at-start <= most {
		switch class := classes[s.text[at]]; {
		case class == digitClass:
			digits++
		case class&(lowerClass|upperClass) != 0:
			letters++
		case s.text[at] == '-' && is(s.text, at+1, digitClass|upperClass):
			marks++
		default:
			break read
		}
		at++
	}
	s.weakEnd = at
	if digits < 4 || at-start > most || is(s.text, at, wordClass) || has(s.text, at, '.') && is(s.text, at+1, digitClass) || has(s.text, at, '/') && is(s.text, at+1, wordClass) ||
		has(s.text, at, '%') || has(s.text, at, '@') {
		return
	}
	id := s.text[start:at]
	for _, w := range weakTypes {
		if !w.takes(digits, letters, marks, id) {
			continue
		}
		if cue, ok := best(s.cuesBefore(start), setOf(w.typ), closeReach); ok && cue.types != everyType {
			s.add(w.typ, start, at, weakScore, "pattern")
		}
	}
}
