package kind

import (
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// DateTime is a date or a time of day.
const DateTime toxscreen.EntityType = "DATE_TIME"

var dates = []scan.Kind{
	{
		Type: DateTime, Description: "a date, a day of the week, or a time of day",
		HIPAA: "C",
		Cues: []string{
			"date", "dob", "born", "birth", "birthday", "birthdate", "since", "on", "dated", "expires", "died", "admitted", "discharged", "until", "exp", "thru",
		},
		Reach: scan.Reach{Before: 3},
		Patterns: []scan.Pattern{
			{At: scan.Digits, Most: 4, Find: date},
			{At: scan.Mixed, Most: 4, Find: dateOrTime},
			{At: scan.Letters, Least: 3, Most: 9, Turn: scan.Late, Find: writtenDate},
		},
		Examples: []string{
			"«2024-01-15T10:30:00Z»", "«15.01.2024»", "«1/15/2024», «15/01/24»", "«January 15, 1985» and «Jan 5th»", "«15 March 2024»", "the «4th of July»", "«May 2024»", "at «10:30 am», «5 pm»", "«23:59:59.123»", "«10:30:00+02:00»", "«9:30 a.m.»", "«12:00-0500»", "«5 Jan. 2024»", "«Mar. 5, 2020»", "«March the 5th»",
			"see you «Monday»", "«31-Jan-2024»", "born on «may 5»", "«2024-01-15 19:28:54»", "«September 3, 2020»",
			"«Tue 8 Oct», «Sat., June 8», «Wed 10:30»", "«Nov '23» and «4 Nov '23»", "at «5.30pm», «14.30 Uhr», «9 o'clock», «0215 hrs»", "on «22/5», 4/12 «10:30»", "exp «04/27», thru «09/2026»",
		},
		Counterexamples: []string{
			"2024", "version 1.2.2024.5", "10.12.15", "13/13/2024", "25:61", "2024-13-01", "you may 5 times", "1/2", "main.go:10:25", "3-1", "22/5", "on 24/7", "on 1/2", "step 10/2000", "the sun sat on mon wed", "1430 hours", "0260 hrs", "5.30",
		},
	},
}

// dateOrTime is [date] for a word that may begin with letters.
func dateOrTime(s *scan.Scanner, start, _ int) {
	if s.Is(start, scan.Digit) {
		date(s, start, 0)
	}
}

// date finds a date or a time that begins with digits.
func date(s *scan.Scanner, start, _ int) {
	if start < s.DateEnd || !s.ApartBefore(start) || isPosition(s, start) {
		return
	}
	if end, score := numericDate(s, start); end > start {
		addDate(s, start, timeAfter(s, end), score)
		return
	}
	if end := introducedDate(s, start); end > start {
		addDate(s, start, timeAfter(s, end), scan.LooseScore)
		return
	}
	if end := dayAndMonth(s, start); end > start {
		addDate(s, start, timeAfter(s, end), 0.7)
		return
	}
	if end, score := timeOfDay(s, start); end > start {
		addDate(s, start, end, score)
	}
}

// isPosition tells whether a number follows the name of a file, as in main.go:10:25.
func isPosition(s *scan.Scanner, start int) bool {
	if !s.Has(start-1, ':') {
		return false
	}
	const ending = 5
	at := start - 1
	for at > start-1-ending && s.Is(at-1, scan.Letter) {
		at--
	}
	return at < start-1 && s.Has(at-1, '.')
}

func addDate(s *scan.Scanner, start, end int, score float64) {
	s.DateEnd = end
	s.Add(DateTime, start, end, score, "pattern")
}

// decimal reads the digits at an offset. length is 0 if there are none, or more than most.
func decimal(s *scan.Scanner, at, most int) (value, length int) {
	for s.Is(at+length, scan.Digit) {
		if length == most {
			return 0, 0
		}
		value = value*10 + int(s.Text[at+length]-'0')
		length++
	}
	return value, length
}

// numericDate reads 2024-01-31, 31.01.2024, 1/31/24, 31-Jan-2024 and the like.
func numericDate(s *scan.Scanner, start int) (end int, score float64) {
	first, n := decimal(s, start, 4)
	at := start + n
	if n == 0 || n == 3 || at >= len(s.Text) || strings.IndexByte("-/.", s.Text[at]) < 0 {
		return 0, 0
	}
	separator := s.Text[at]
	second, m := decimal(s, at+1, 2)
	at += 1 + m
	if m == 0 {
		if n > 2 || !isDay(first) {
			return 0, 0
		}
		return monthAndYear(s, at, separator)
	}
	third, k := decimal(s, at+1, 4)
	end = at + 1 + k
	if !s.Has(at, separator) || !dateEnds(s, end, separator) {
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

// introducedDate reads 22/5 and 11/2023 right after a cue. Without a cue, such numbers are
// as often fractions.
func introducedDate(s *scan.Scanner, start int) int {
	first, n := decimal(s, start, 2)
	at := start + n + 1
	second, m := decimal(s, at, 4)
	if n == 0 || !s.Has(at-1, '/') || !s.ApartAfter(at+m) {
		return 0
	}
	if !(isMonth(first) && isYear(second, m)) && !(n+m >= 3 && m <= 2 && isDayAndMonth(first, second)) {
		return 0
	}
	if !s.CueBefore(DateTime, start, 0) {
		return 0
	}
	return at + m
}

// isDayAndMonth tells whether two numbers are a day and a month in either order. It refuses
// 24/7, which mostly means "at all times".
func isDayAndMonth(first, second int) bool {
	return isDay(first) && isMonth(second) && !(first == 24 && second == 7) || isMonth(first) && isDay(second)
}

// monthAndYear reads the rest of 31-Jan-2024 and 31/Jan/24.
func monthAndYear(s *scan.Scanner, at int, separator byte) (end int, score float64) {
	word := s.Run(at, scan.Letter)
	if word-at > 9 || !months[strings.ToLower(s.Text[at:word])] || !s.Has(word, separator) {
		return 0, 0
	}
	year, k := decimal(s, word+1, 4)
	if end = word + 1 + k; !isYear(year, k) && k != 2 || s.Is(end, scan.Word) {
		return 0, 0
	}
	return end, 0.7
}

// dateEnds tells whether a date in numbers ends at an offset: neither another number of the
// date follows nor a word, except the T before a time.
func dateEnds(s *scan.Scanner, end int, separator byte) bool {
	switch {
	case s.Is(end, scan.Word):
		return s.Has(end, 'T') || s.Has(end, 't')
	case s.Has(end, separator), s.Has(end, '.'), s.Has(end, '/'):
		return !s.Is(end+1, scan.Word)
	}
	return true
}

func isMonth(n int) bool        { return n >= 1 && n <= 12 }
func isDay(n int) bool          { return n >= 1 && n <= 31 }
func isYear(n, length int) bool { return length == 4 && n >= 1000 && n <= 2999 }

// months are the names of the months and their abbreviations.
var months = scan.Words("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")

var (
	weekdays        = scan.Words("monday tuesday wednesday thursday friday saturday sunday")
	weekdaysInShort = scan.Words("mon tue tues wed thu thur thurs fri sat sun")
)

// dayAndMonth reads 31 January 2024, 31st of January and the like.
func dayAndMonth(s *scan.Scanner, start int) int {
	day, n := decimal(s, start, 2)
	at := start + n
	if n == 0 || !isDay(day) {
		return 0
	}
	at = ordinal(s, at)
	if !s.Has(at, ' ') && !s.Has(at, '-') {
		return 0
	}
	at++
	if strings.HasPrefix(s.Text[at:], "of ") {
		at += len("of ")
	}
	end := month(s, at)
	if end == 0 {
		return 0
	}
	return yearAfter(s, end)
}

// ordinal skips st, nd, rd or th.
func ordinal(s *scan.Scanner, at int) int {
	if at+2 <= len(s.Text) && !s.Is(at+2, scan.Word) {
		switch s.Text[at : at+2] {
		case "st", "nd", "rd", "th":
			return at + 2
		}
	}
	return at
}

// month returns the end of the name of a month after a day, or 0.
func month(s *scan.Scanner, at int) int {
	end := s.Run(at, scan.Letter)
	if end-at < 3 || end-at > 9 || !months[strings.ToLower(s.Text[at:end])] {
		return 0
	}
	if s.Has(end, '.') {
		return end + 1
	}
	return end
}

// yearAfter skips a year after a month or a day.
func yearAfter(s *scan.Scanner, at int) int {
	to := at
	if s.Has(to, ',') {
		to++
	}
	if s.Has(to, ' ') || s.Has(to, '-') {
		to++
	}
	if year, n := decimal(s, to, 4); to > at && isYear(year, n) && dateEnds(s, to+n, '-') {
		return to + n
	}
	if end := shortYear(s, to); end > to {
		return end
	}
	if s.Has(at-1, '.') && !s.Has(at, ' ') { // the stop ended the sentence
		return at - 1
	}
	return at
}

// shortYear skips a year like '23.
func shortYear(s *scan.Scanner, at int) int {
	if _, n := decimal(s, at+1, 2); s.Has(at, '\'') && n == 2 && !s.Is(at+3, scan.Word) {
		return at + 3
	}
	return at
}

// writtenDate finds a date that begins with the name of a month or is a day of the week.
func writtenDate(s *scan.Scanner, start, end int) {
	length := end - start
	if start < s.DateEnd || length < 3 || length > 9 || strings.IndexByte("jfmasondJFMASONDtwTW", s.Text[start]) < 0 {
		return
	}
	word := strings.ToLower(s.Text[start:end])
	if weekdays[word] {
		addDate(s, start, end, 0.5)
		return
	}
	if weekdaysInShort[word] {
		dateAfterWeekday(s, start, end)
		return
	}
	if !months[word] {
		return
	}
	at := end
	if s.Has(at, '.') {
		at++
	}
	if !s.Has(at, ' ') && !s.Has(at, '-') {
		return
	}
	at++
	if year, n := decimal(s, at, 4); isYear(year, n) && !s.Is(at+n, scan.Word) {
		addDate(s, start, at+n, 0.6)
		return
	}
	if to := shortYear(s, at); to > at {
		addDate(s, start, to, 0.6)
		return
	}
	if strings.HasPrefix(s.Text[at:], "the ") {
		at += len("the ")
	}
	day, n := decimal(s, at, 2)
	if n == 0 || !isDay(day) {
		return
	}
	number := at + n
	at = ordinal(s, number)
	// "may 5" and "march 3" are dates where something else says so.
	if whole := s.Text[start:end]; (whole == "may" || whole == "march") && at == number && !s.Supported(DateTime, start, at) {
		return
	}
	if s.Is(at, scan.Word) || s.Has(at, '%') || s.Has(at, ':') || s.Has(at, '.') && s.Is(at+1, scan.Digit) {
		return
	}
	addDate(s, start, timeAfter(s, yearAfter(s, at)), 0.6)
}

// dateAfterWeekday finds a date or a time after the short name of a day: Tue 8 Oct, Sat.,
// June 8. The short name alone does not count, since "sat" and "sun" are words.
func dateAfterWeekday(s *scan.Scanner, start, end int) {
	at := end
	for s.Has(at, '.') || s.Has(at, ',') {
		at++
	}
	if !s.Has(at, ' ') {
		return
	}
	at++
	before := len(s.Found)
	switch {
	case s.Is(at, scan.Digit):
		date(s, at, 0)
	case s.Is(at, scan.Letter):
		if to := s.Run(at, scan.Letter); months[strings.ToLower(s.Text[at:min(to, at+9)])] {
			writtenDate(s, at, to)
		}
	}
	if len(s.Found) > before {
		s.Found[before].Start = start
	}
}

// timeAfter skips the time of day after a date.
func timeAfter(s *scan.Scanner, end int) int {
	at := end
	switch {
	case s.Has(at, 'T'), s.Has(at, 't'), s.Has(at, ' '):
		at++
	case s.Has(at, ',') && s.Has(at+1, ' '):
		at += 2
	default:
		return end
	}
	if to, _ := timeOfDay(s, at); to > at {
		return to
	}
	return end
}

// timeOfDay reads 9:30, 09:30:15.123, 9:30 pm, 9.30pm, 9 pm, 9 o'clock, 0930 hrs and zones
// after them.
func timeOfDay(s *scan.Scanner, start int) (end int, score float64) {
	hour, n := decimal(s, start, 2)
	at := start + n
	if n == 0 {
		return militaryTime(s, start)
	}
	if hour > 24 {
		return 0, 0
	}
	if end, score := wordedTime(s, at, hour); end > at {
		return end, score
	}
	score = 0.5
	minutes := false
	if minute, m := decimal(s, at+1, 2); s.Has(at, ':') && m == 2 && minute < 60 {
		minutes = true
		at += 3
		if second, k := decimal(s, at+1, 2); s.Has(at, ':') && k == 2 && second <= 60 {
			at += 3
			if (s.Has(at, '.') || s.Has(at, ',')) && s.Is(at+1, scan.Digit) {
				at = s.Run(at+1, scan.Digit)
			}
		}
		if n == 1 {
			score = 0.4
		}
	}
	if to := halfOfDay(s, at); to > at && hour >= 1 && hour <= 12 {
		return to, 0.6
	}
	if !minutes || s.Has(at, ':') && s.Is(at+1, scan.Word) {
		return 0, 0
	}
	at = zone(s, at)
	if s.Is(at, scan.Word) {
		return 0, 0
	}
	return at, score
}

// zone skips the offset of a time zone: Z, +01, +0100 or +01:00.
func zone(s *scan.Scanner, at int) int {
	if s.Has(at, 'Z') && !s.Is(at+1, scan.Word) {
		return at + 1
	}
	if !s.Has(at, '+') && !s.Has(at, '-') {
		return at
	}
	_, k := decimal(s, at+1, 4)
	if k == 2 && s.Has(at+3, ':') {
		if _, l := decimal(s, at+4, 2); l == 2 {
			k = 5
		}
	}
	if k >= 4 || k == 2 {
		return at + 1 + k
	}
	return at
}

// wordedTime reads what follows the hour in 9.30pm, 14.30 Uhr and 9 o'clock.
func wordedTime(s *scan.Scanner, at, hour int) (end int, score float64) {
	ofHalf := hour >= 1 && hour <= 12
	if minute, m := decimal(s, at+1, 2); s.Has(at, '.') && m == 2 && minute < 60 {
		at += 3
		if to := halfOfDay(s, at); to > at && ofHalf {
			return to, 0.6
		}
		if to := at + len(" Uhr"); strings.HasPrefix(s.Text[at:], " Uhr") && !s.Is(to, scan.Word) {
			return to, 0.6
		}
		return 0, 0
	}
	if to := at + len(" o'clock"); to <= len(s.Text) && ofHalf && strings.EqualFold(s.Text[at:to], " o'clock") && !s.Is(to, scan.Word) {
		return to, 0.5
	}
	return 0, 0
}

// militaryTime reads 0930 hrs. A number without a 0 at the beginning may be a duration, so
// it needs a cue.
func militaryTime(s *scan.Scanner, start int) (end int, score float64) {
	clock, n := decimal(s, start, 4)
	if n != 4 || clock >= 2400 || clock%100 >= 60 {
		return 0, 0
	}
	for _, unit := range [...]string{" hrs", " hours"} {
		if to := start + n + len(unit); strings.HasPrefix(s.Text[start+n:], unit) && !s.Is(to, scan.Word) {
			return to, either(s.Text[start] == '0', 0.5, 0.2)
		}
	}
	return 0, 0
}

// halfOfDay skips am, pm, a.m. or p.m.
func halfOfDay(s *scan.Scanner, at int) int {
	to := at
	if s.Has(to, ' ') {
		to++
	}
	rest := s.Text[to:min(len(s.Text), to+4)]
	for _, half := range [...]string{"a.m.", "p.m.", "am", "pm"} {
		if len(rest) >= len(half) && strings.EqualFold(rest[:len(half)], half) && !s.Is(to+len(half), scan.Word) {
			return to + len(half)
		}
	}
	return at
}
