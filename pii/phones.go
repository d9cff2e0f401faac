package pii

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers/v2"
)

const (
	minPhoneDigits = 6
	maxPhoneDigits = 15 // ITU-T E.164, beside the prefix of an international call
	maxPhoneGroups = 7
)

// dialled is what may be a phone number: groups of digits and what stands between them.
type dialled struct {
	plus       bool
	ends       [maxPhoneGroups]int // of the groups, as offsets of the text
	sizes      [maxPhoneGroups]int // of the groups, in digits
	groups     int
	digits     int
	parenthese int // the group in parentheses, or -1
	spaces     bool
	marks      bool // dashes, stops or slashes between groups
}

// phone finds a phone number that begins at an offset: with +, an opening parenthesis, or a
// digit. The library knows which numbers exist, but takes microseconds to tell: it is asked
// only about what is grouped like a phone number.
func (s *scanner) phone(start int) {
	if start < s.phoneEnd || start < s.dateEnd || start < s.addressEnd && !has(s.text, start, '+') || start < s.wordEnd || !s.phoneBegins(start) {
		return
	}
	d := s.dialled(start)
	for d.groups > 0 {
		end := d.ends[d.groups-1]
		if d.digits >= minPhoneDigits && s.phoneEnds(end) {
			if score := s.phoneScore(start, d); score > 0 {
				end = s.extension(end)
				s.add(PhoneNumber, start, end, score, "pattern")
				// A weak one may have begun too early: "room 93 415-555-2671".
				if score >= DefaultThreshold || !(d.spaces && d.marks) && s.supported(PhoneNumber, start, end) {
					s.phoneEnd = end
				}
				return
			}
		}
		// Without the last group: "415-555-2671 5 people".
		d.groups--
		d.digits -= d.sizes[d.groups]
		if d.parenthese == d.groups {
			d.parenthese = -1
		}
		s.between(&d, start)
	}
}

func (s *scanner) phoneBegins(start int) bool {
	switch {
	case has(s.text, start-1, '('): // of the number's first group, which was tried with it, or of a sentence
		return !has(s.text, run(s.text, start, digitClass), ')') && !is(s.text, start-2, wordClass)
	case has(s.text, start, '+'), has(s.text, start, '('):
		return !is(s.text, start-1, wordClass) && s.apartBefore(start)
	}
	return s.apartBefore(start)
}

func (s *scanner) phoneEnds(end int) bool {
	if has(s.text, end, '-') && is(s.text, end+1, letterClass) { // 555-0100-fax
		return true
	}
	return s.apartAfter(end) || has(s.text, end, 'x') && is(s.text, end+1, digitClass)
}

// dialled reads groups of digits from an offset on.
func (s *scanner) dialled(start int) dialled {
	d := dialled{parenthese: -1}
	at := start
	if has(s.text, at, '+') {
		d.plus = true
		at++
	}
	for d.groups < maxPhoneGroups {
		open := has(s.text, at, '(')
		if open {
			at++
		}
		end := run(s.text, at, digitClass)
		size := end - at
		if size == 0 || size > maxPhoneDigits || d.digits+size > maxPhoneDigits+3 {
			break
		}
		if open {
			if d.parenthese >= 0 || !has(s.text, end, ')') || size > 5 {
				break
			}
			d.parenthese = d.groups
			end++
		}
		d.ends[d.groups], d.sizes[d.groups] = end, size
		d.groups++
		d.digits += size
		at = end
		switch {
		case has(s.text, at, ' ') && has(s.text, at+1, '-') && has(s.text, at+2, ' '):
			at += 3
		case d.groups == 1 && s.text[start] == '0' && strings.HasPrefix(s.text[at:], " / "): // 0341 / 55 50 123
			at += 3
		case has(s.text, at, '-') && has(s.text, at+1, '('):
			at++
		case has(s.text, at, '.') || has(s.text, at, '-') || has(s.text, at, '/') || has(s.text, at, ' '):
			at++
		}
		if at == end && !open && !has(s.text, at, '(') {
			break
		}
	}
	s.between(&d, start)
	return d
}

// between notes what stands between the groups of a number.
func (s *scanner) between(d *dialled, start int) {
	if d.groups > 0 {
		text := s.text[start:d.ends[d.groups-1]]
		d.spaces, d.marks = strings.Contains(text, " "), strings.ContainsAny(text, "-./")
	}
}

// phoneScore returns the score of a number without a cue, 0 if it is none.
func (s *scanner) phoneScore(start int, d dialled) float64 {
	end := d.ends[d.groups-1]
	text := s.text[start:end]
	sizes := d.sizes[:d.groups]
	for i, n := range sizes {
		// Groups of one digit: 1 415 555 2671, +33 (0)1 42 68 53 00, (0)1 42 68 53 00.
		if n == 1 && !(i == 0 && s.text[start] == '1' || d.plus && i <= 2 || d.parenthese == i || d.parenthese == 0 && i == 1) {
			return 0
		}
	}
	if d.parenthese >= 0 && d.groups == 1 {
		return 0
	}
	if d.plus {
		if d.digits < 7 {
			return 0
		}
		if !s.ask() {
			return 0.5
		}
		switch n, err := phonenumbers.Parse(text, ""); {
		case err != nil:
			return 0
		case phonenumbers.IsValidNumber(n):
			return 0.75
		case phonenumbers.IsPossibleNumber(n):
			return 0.5
		default:
			return 0.3
		}
	}
	if s.opposed(PhoneNumber, start) {
		return 0
	}
	weak := d.spaces && !d.marks && d.parenthese < 0 && s.inRow(start, end)
	if score := s.nationalScore(text, d, sizes, !weak && (d.groups > 1 || s.supported(PhoneNumber, start, end))); !weak {
		return score
	} else if score > 0 {
		return 0.05
	}
	return 0
}

// nationalScore scores a number without + before it. ask tells whether the library may be
// asked.
func (s *scanner) nationalScore(text string, d dialled, sizes []int, ask bool) float64 {
	grouped := len(sizes) > 1
	if rest, ok := afterPrefix(text); ok {
		return s.internationalScore(rest, sizes, ask)
	}
	if d.digits > 12 || d.digits == 12 && text[0] != '0' && !grouped {
		return 0
	}
	if endWith(sizes, 3, 3, 4) && (len(sizes) == 3 || len(sizes) == 4 && text[0] == '1') || d.parenthese == 0 && endWith(sizes, 3, 7) {
		apart := d.marks || d.parenthese >= 0
		if ask && s.existsInAmerica(text) {
			return either(apart, 0.6, 0.45)
		}
		return either(apart, 0.4, 0.1) // an area code that does not exist: made up, or new
	}
	if ask {
		if score := s.existingScore(text, d, grouped); score > 0 {
			return score
		}
	}
	switch {
	case len(sizes) == 2 && endWith(sizes, 3, 4):
		return 0.15
	case grouped && d.parenthese >= 0 && d.digits >= 8:
		return 0.3
	case d.digits < 7 && len(sizes) < 3: // "14 3684 Court Street"
		return 0
	case len(sizes) == 2 && sizes[0] == 4 && sizes[1] < 4: // 2023-119, the number of a case
		return 0
	}
	return 0.05
}

// afterPrefix returns what follows the prefix of an international call.
func afterPrefix(text string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(text, "011"); ok {
		return rest, true
	}
	return strings.CutPrefix(text, "00")
}

// internationalScore scores a number by what follows its prefix.
func (s *scanner) internationalScore(rest string, sizes []int, ask bool) float64 {
	switch {
	case ask && s.existsAnywhere("+"+strings.TrimLeft(rest, " -.)")):
		return either(len(sizes) > 1, 0.6, 0.3)
	case endWith(sizes, 3, 3, 4):
		return 0.45
	}
	return 0.05
}

// existingScore scores a number that the library knows, 0 if it does not.
func (s *scanner) existingScore(text string, d dialled, grouped bool) float64 {
	switch {
	case strings.TrimLeft(text, "(")[0] == '0' && d.digits >= 9 && s.existsWithTrunk(text):
		return either(grouped, 0.5, 0.25)
	case grouped && d.digits >= 8 && s.existsWithoutTrunk(text, d):
		return 0.45
	case !grouped && d.digits == 10 && text[0] >= '2' && s.existsInAmerica(text):
		return 0.2
	}
	return 0
}

func either(ok bool, score, other float64) float64 {
	if ok {
		return score
	}
	return other
}

// endWith tells whether the last groups have the given sizes.
func endWith(sizes []int, last ...int) bool {
	return len(sizes) >= len(last) && slices.Equal(sizes[len(sizes)-len(last):], last)
}

// maxLookups bounds how often the library is asked about the numbers of a text, since it takes
// about 10 µs. Whatever is grouped like a number that exists counts as one from there on.
const maxLookups = 5_000

func (s *scanner) ask() bool {
	s.lookups++
	return s.lookups <= maxLookups
}

// existsAnywhere tells whether an international number exists.
func (s *scanner) existsAnywhere(text string) bool {
	if !s.ask() {
		return true
	}
	n, err := phonenumbers.Parse(text, "")
	return err == nil && phonenumbers.IsValidNumber(n)
}

// existsIn tells whether a national number exists in a region.
func (s *scanner) existsIn(text, region string) bool {
	if !s.ask() {
		return true
	}
	n, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsValidNumberForRegion(n, region)
}

// existsInAmerica tells whether a number exists in one of the regions that have +1 and are
// looked for.
func (s *scanner) existsInAmerica(text string) bool {
	return slices.ContainsFunc(s.regions, func(region string) bool { return phonenumbers.IsNANPACountry(region) && s.existsIn(text, region) })
}

// existsWithTrunk tells whether a number that begins with 0 exists in a region where
// national numbers do.
func (s *scanner) existsWithTrunk(text string) bool {
	return slices.ContainsFunc(s.regions, func(region string) bool { return trunk(region) == "0" && s.existsIn(text, region) })
}

// existsWithoutTrunk tells whether a number in groups exists in a region whose national
// numbers have no 0 before them, or are written without it.
func (s *scanner) existsWithoutTrunk(text string, d dialled) bool {
	return slices.ContainsFunc(s.regions, func(region string) bool {
		var usual bool
		switch region {
		case "IN":
			usual = d.groups == 2 && d.sizes[0] == 5 && d.sizes[1] == 5 && text[0] >= '6' && text[5] != '/' && text[5] != '.'
		case "BR":
			usual = d.groups == 3 && d.sizes[0] == 2 && d.parenthese == 0 && d.sizes[2] == 4
		default:
			usual = d.groups >= 3 && text[0] != '0' && trunk(region) == ""
		}
		return usual && s.existsIn(text, region)
	})
}

// trunk returns the digits before the national numbers of a region.
func trunk(region string) string { return phonenumbers.GetNddPrefixForRegion(region, true) }

// extension passes over the extension after a number: x123, ext. 123.
func (s *scanner) extension(end int) int {
	at := end
	for has(s.text, at, ' ') || has(s.text, at, ',') && has(s.text, at+1, ' ') {
		if at++; at > end+2 {
			return end
		}
	}
	rest := strings.ToLower(s.text[at:min(len(s.text), at+len("extension "))])
	for _, word := range [...]string{"extension ", "ext. ", "ext.", "ext ", "ext", "x ", "x"} {
		if !strings.HasPrefix(rest, word) {
			continue
		}
		to := run(s.text, at+len(word), digitClass)
		if n := to - at - len(word); n >= 1 && n <= 6 && !is(s.text, to, wordClass) {
			return to
		}
	}
	return end
}
