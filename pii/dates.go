package pii

import "strings"

// date finds a date or a time that begins with digits.
func (s *scanner) date(start int) {
	if start < s.dateEnd || !s.apartBefore(start) || s.isPosition(start) {
		return
	}
	if end, score := s.numericDate(start); end > start {
		s.addDate(start, s.timeAfter(end), score)
		return
	}
	if end := s.introducedDate(start); end > start {
		s.addDate(start, s.timeAfter(end), weakScore)
		return
	}
	if end := s.dayAndMonth(start); end > start {
		s.addDate(start, s.timeAfter(end), 0.7)
		return
	}
	if end, score := s.timeOfDay(start); end > start {
		s.addDate(start, end, score)
	}
}

// isPosition tells whether a number follows the name of a file, as in main.go:10:25.
func (s *scanner) isPosition(start int) bool {
	if !has(s.text, start-1, ':') {
		return false
	}
	const ending = 5
	at := start - 1
	for at > start-1-ending && is(s.text, at-1, letterClass) {
		at--
	}
	return at < start-1 && has(s.text, at-1, '.')
}

func (s *scanner) addDate(start, end int, score float64) {
	s.dateEnd = end
	s.add(DateTime, start, end, score, "pattern")
}

// decimal reads up to most digits at an offset; length is 0 if there are none, or more.
func (s *scanner) decimal(at, most int) (value, length int) {
	for is(s.text, at+length, digitClass) {
		if length == most {
			return 0, 0
		}
		value = value*10 + int(s.text[at+length]-'0')
		length++
	}
	return value, length
}

// numericDate reads 2024-01-31, 31.01.2024, 1/31/24, 31-Jan-2024 and the like.
func (s *scanner) numericDate(start int) (end int, score float64) {
	first, n := s.decimal(start, 4)
	at := start + n
	if n == 0 || n == 3 || at >= len(s.text) || strings.IndexByte("-/.", s.text[at]) < 0 {
		return 0, 0
	}
	separator := s.text[at]
	second, m := s.decimal(at+1, 2)
	at += 1 + m
	if m == 0 {
		if n > 2 || !isDay(first) {
			return 0, 0
		}
		return s.monthAndYear(at, separator)
	}
	third, k := s.decimal(at+1, 4)
	end = at + 1 + k
	if !has(s.text, at, separator) || !s.dateEnds(end, separator) {
		return 0, 0
	}
	either := isMonth(first) && isDay(second) || isDay(first) && isMonth(second)
	switch {
	case isYear(first, n):
		if isMonth(second) && isDay(third) && k >= 1 && k <= 2 {
			return end, 0.7
		}
	case isYear(third, k):
		if either {
			return end, 0.7
		}
	case n <= 2 && k == 2 && (either || n == 2 && isMonth(second) && isDay(third)):
		if separator == '/' {
			return end, 0.5
		}
		return end, 0.2 // 10.12.15 is as likely a version
	}
	return 0, 0
}

// introducedDate reads 22/5 and 11/2023 right after a cue: without one, they are shares as
// often.
func (s *scanner) introducedDate(start int) int {
	first, n := s.decimal(start, 2)
	at := start + n + 1
	second, m := s.decimal(at, 4)
	if n == 0 || !has(s.text, at-1, '/') || !s.apartAfter(at+m) {
		return 0
	}
	if !(isMonth(first) && isYear(second, m)) && !(n+m >= 3 && m <= 2 && isDayAndMonth(first, second)) {
		return 0
	}
	if _, ok := best(s.cuesBefore(start), setOf(DateTime), cueReach{}); !ok {
		return 0
	}
	return at + m
}

// isDayAndMonth tells whether two numbers are a day and a month in either order, and not
// what never closes, 24/7.
func isDayAndMonth(first, second int) bool {
	return isDay(first) && isMonth(second) && !(first == 24 && second == 7) || isMonth(first) && isDay(second)
}

// monthAndYear reads the rest of 31-Jan-2024 and 31/Jan/24.
func (s *scanner) monthAndYear(at int, separator byte) (end int, score float64) {
	word := run(s.text, at, letterClass)
	if word-at > 9 || !months[strings.ToLower(s.text[at:word])] || !has(s.text, word, separator) {
		return 0, 0
	}
	year, k := s.decimal(word+1, 4)
	if end = word + 1 + k; !isYear(year, k) && k != 2 || is(s.text, end, wordClass) {
		return 0, 0
	}
	return end, 0.7
}

// dateEnds tells whether a date of numbers ends at an offset: no more of them follow, and no
// word but the T before a time.
func (s *scanner) dateEnds(end int, separator byte) bool {
	switch {
	case is(s.text, end, wordClass):
		return has(s.text, end, 'T') || has(s.text, end, 't')
	case has(s.text, end, separator), has(s.text, end, '.'), has(s.text, end, '/'):
		return !is(s.text, end+1, wordClass)
	}
	return true
}

func isMonth(n int) bool        { return n >= 1 && n <= 12 }
func isDay(n int) bool          { return n >= 1 && n <= 31 }
func isYear(n, length int) bool { return length == 4 && n >= 1000 && n <= 2999 }

// months are the names of the months and their abbreviations.
var months = set("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")

var (
	weekdays        = set("monday tuesday wednesday thursday friday saturday sunday")
	weekdaysInShort = set("mon tue tues wed thu thur thurs fri sat sun")
)

// dayAndMonth reads 31 January 2024, 31st of January and the like.
func (s *scanner) dayAndMonth(start int) int {
	day, n := s.decimal(start, 2)
	at := start + n
	if n == 0 || !isDay(day) {
		return 0
	}
	at = s.ordinal(at)
	if !has(s.text, at, ' ') && !has(s.text, at, '-') {
		return 0
	}
	at++
	if strings.HasPrefix(s.text[at:], "of ") {
		at += len("of ")
	}
	end := s.month(at)
	if end == 0 {
		return 0
	}
	return s.yearAfter(end)
}

// ordinal passes over st, nd, rd or th.
func (s *scanner) ordinal(at int) int {
	if at+2 <= len(s.text) && !is(s.text, at+2, wordClass) {
		switch s.text[at : at+2] {
		case "st", "nd", "rd", "th":
			return at + 2
		}
	}
	return at
}

// month returns the end of the name of a month after a day, or 0.
func (s *scanner) month(at int) int {
	end := run(s.text, at, letterClass)
	if end-at < 3 || end-at > 9 || !months[strings.ToLower(s.text[at:end])] {
		return 0
	}
	if has(s.text, end, '.') {
		return end + 1
	}
	return end
}

// yearAfter passes over a year after a month or a day.
func (s *scanner) yearAfter(at int) int {
	to := at
	if has(s.text, to, ',') {
		to++
	}
	if has(s.text, to, ' ') || has(s.text, to, '-') {
		to++
	}
	if year, n := s.decimal(to, 4); to > at && isYear(year, n) && s.dateEnds(to+n, '-') {
		return to + n
	}
	if end := s.shortYear(to); end > to {
		return end
	}
	if has(s.text, at-1, '.') && !has(s.text, at, ' ') { // the stop ended the sentence
		return at - 1
	}
	return at
}

// shortYear passes over '23.
func (s *scanner) shortYear(at int) int {
	if _, n := s.decimal(at+1, 2); has(s.text, at, '\'') && n == 2 && !is(s.text, at+3, wordClass) {
		return at + 3
	}
	return at
}

// writtenDate finds a date that begins with the name of a month or is a day of the week.
func (s *scanner) writtenDate(start, end int) {
	length := end - start
	if start < s.dateEnd || length < 3 || length > 9 || strings.IndexByte("jfmasondJFMASONDtwTW", s.text[start]) < 0 {
		return
	}
	word := strings.ToLower(s.text[start:end])
	if weekdays[word] {
		s.addDate(start, end, 0.5)
		return
	}
	if weekdaysInShort[word] {
		s.dateAfterWeekday(start, end)
		return
	}
	if !months[word] {
		return
	}
	at := end
	if has(s.text, at, '.') {
		at++
	}
	if !has(s.text, at, ' ') && !has(s.text, at, '-') {
		return
	}
	at++
	if year, n := s.decimal(at, 4); isYear(year, n) && !is(s.text, at+n, wordClass) {
		s.addDate(start, at+n, 0.6)
		return
	}
	if to := s.shortYear(at); to > at {
		s.addDate(start, to, 0.6)
		return
	}
	if strings.HasPrefix(s.text[at:], "the ") {
		at += len("the ")
	}
	day, n := s.decimal(at, 2)
	if n == 0 || !isDay(day) {
		return
	}
	number := at + n
	at = s.ordinal(number)
	// "may 5" and "march 3" are dates where something else says so.
	if whole := s.text[start:end]; (whole == "may" || whole == "march") && at == number && !s.supported(DateTime, start, at) {
		return
	}
	if is(s.text, at, wordClass) || has(s.text, at, '%') || has(s.text, at, ':') || has(s.text, at, '.') && is(s.text, at+1, digitClass) {
		return
	}
	s.addDate(start, s.timeAfter(s.yearAfter(at)), 0.6)
}

// dateAfterWeekday finds a date or a time after the short name of a day: Tue 8 Oct, Sat.,
// June 8. The short name alone is none, since "sat" and "sun" are words.
func (s *scanner) dateAfterWeekday(start, end int) {
	at := end
	for has(s.text, at, '.') || has(s.text, at, ',') {
		at++
	}
	if !has(s.text, at, ' ') {
		return
	}
	at++
	before := len(s.found)
	switch {
	case is(s.text, at, digitClass):
		s.date(at)
	case is(s.text, at, letterClass):
		if to := run(s.text, at, letterClass); months[strings.ToLower(s.text[at:min(to, at+9)])] {
			s.writtenDate(at, to)
		}
	}
	if len(s.found) > before {
		s.found[before].Start = start
	}
}

// timeAfter passes over the time of day after a date.
func (s *scanner) timeAfter(end int) int {
	at := end
	switch {
	case has(s.text, at, 'T'), has(s.text, at, 't'), has(s.text, at, ' '):
		at++
	case has(s.text, at, ',') && has(s.text, at+1, ' '):
		at += 2
	default:
		return end
	}
	if to, _ := s.timeOfDay(at); to > at {
		return to
	}
	return end
}

// timeOfDay reads 9:30, 09:30:15.123, 9:30 pm, 9.30pm, 9 pm, 9 o'clock, 0930 hrs and zones
// after them.
func (s *scanner) timeOfDay(start int) (end int, score float64) {
	hour, n := s.decimal(start, 2)
	at := start + n
	if n == 0 {
		return s.militaryTime(start)
	}
	if hour > 24 {
		return 0, 0
	}
	if end, score := s.wordedTime(at, hour); end > at {
		return end, score
	}
	score = 0.5
	minutes := false
	if minute, m := s.decimal(at+1, 2); has(s.text, at, ':') && m == 2 && minute < 60 {
		minutes = true
		at += 3
		if second, k := s.decimal(at+1, 2); has(s.text, at, ':') && k == 2 && second <= 60 {
			at += 3
			if (has(s.text, at, '.') || has(s.text, at, ',')) && is(s.text, at+1, digitClass) {
				at = run(s.text, at+1, digitClass)
			}
		}
		if n == 1 {
			score = 0.4
		}
	}
	if to := s.halfOfDay(at); to > at && hour >= 1 && hour <= 12 {
		return to, 0.6
	}
	if !minutes || has(s.text, at, ':') && is(s.text, at+1, wordClass) {
		return 0, 0
	}
	at = s.zone(at)
	if is(s.text, at, wordClass) {
		return 0, 0
	}
	return at, score
}

// zone passes over Z, +01, +0100 or +01:00.
func (s *scanner) zone(at int) int {
	if has(s.text, at, 'Z') && !is(s.text, at+1, wordClass) {
		return at + 1
	}
	if !has(s.text, at, '+') && !has(s.text, at, '-') {
		return at
	}
	_, k := s.decimal(at+1, 4)
	if k == 2 && has(s.text, at+3, ':') {
		if _, l := s.decimal(at+4, 2); l == 2 {
			k = 5
		}
	}
	if k >= 4 || k == 2 {
		return at + 1 + k
	}
	return at
}

// wordedTime reads what follows the hour in 9.30pm, 14.30 Uhr and 9 o'clock.
func (s *scanner) wordedTime(at, hour int) (end int, score float64) {
	ofHalf := hour >= 1 && hour <= 12
	if minute, m := s.decimal(at+1, 2); has(s.text, at, '.') && m == 2 && minute < 60 {
		at += 3
		if to := s.halfOfDay(at); to > at && ofHalf {
			return to, 0.6
		}
		if to := at + len(" Uhr"); strings.HasPrefix(s.text[at:], " Uhr") && !is(s.text, to, wordClass) {
			return to, 0.6
		}
		return 0, 0
	}
	if to := at + len(" o'clock"); to <= len(s.text) && ofHalf && strings.EqualFold(s.text[at:to], " o'clock") && !is(s.text, to, wordClass) {
		return to, 0.5
	}
	return 0, 0
}

// militaryTime reads 0930 hrs. Without the 0 it may be a duration, so that it needs a cue.
func (s *scanner) militaryTime(start int) (end int, score float64) {
	clock, n := s.decimal(start, 4)
	if n != 4 || clock >= 2400 || clock%100 >= 60 {
		return 0, 0
	}
	for _, unit := range [...]string{" hrs", " hours"} {
		if to := start + n + len(unit); strings.HasPrefix(s.text[start+n:], unit) && !is(s.text, to, wordClass) {
			return to, either(s.text[start] == '0', 0.5, 0.2)
		}
	}
	return 0, 0
}

// halfOfDay passes over am, pm, a.m. or p.m.
func (s *scanner) halfOfDay(at int) int {
	to := at
	if has(s.text, to, ' ') {
		to++
	}
	rest := s.text[to:min(len(s.text), to+4)]
	for _, half := range [...]string{"a.m.", "p.m.", "am", "pm"} {
		if len(rest) >= len(half) && strings.EqualFold(rest[:len(half)], half) && !is(s.text, to+len(half), wordClass) {
			return to + len(half)
		}
	}
	return at
}
