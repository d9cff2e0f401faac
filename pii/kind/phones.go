package kind

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers/v2"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// PhoneNumber is a number of a telephone or a fax machine.
const PhoneNumber toxscreen.EntityType = "PHONE_NUMBER"

var phones = []scan.Kind{
	{
		Type: PhoneNumber, Description: "a phone or fax number: international, or national in one of the regions; unusual forms with a cue",
		HIPAA: "DE",
		Cues: []string{
			"phone", "telephone", "tel", "mobile", "cell", "cellphone", "fax", "call", "calling", "dial", "ring", "sms", "whatsapp", "telegram", "office",
			"landline", "hotline", "reach", "contact", "answering", "ph", "pager", "voicemail", "handy", "telefon", "mobil", "tél", "helpline",
			"my number", "your number", "his number", "her number", "their number", "mob", "txt me", "text me",
		},
		Patterns: []scan.Pattern{
			{At: scan.Digits | scan.Mixed, Bytes: "+(", Turn: scan.Last, Find: phone},
		},
		Examples: []string{
			"«(415) 555-2671»", "«415-555-2671», «415.555.2671»", "«+44 20 7946 0958»", "«+1-415-555-2671 x1234»", "«020 7946 0958»", "«01 42 68 53 00»", "call «4155552671»", "Tel. «555-0123»",
			"(«415-555-2671»)", "“«415-555-2671»”…", "«+33 (0)1 42 68 53 00»", "«(0)20 7946 0958»", "my number is «14155552671»", "«001-415-555-2671»", "reach me at «(37) 788-063»", "«9469 9966» office", "«415-555-2671»-Fax", "«(11) 91234-5678»", "«+1 415 555 2671»", "«0044 20 7946 0958», «01144 20 7946 0958»", "fax «166-684-7899 ext. 12»", "«98765 43210»", "«030 901820»",
			"Mob=«9840012345»", "text me «5035550142»", "my # is «5035550142»", "«0341 / 55 50 123»",
		},
		Counterexamples: []string{
			"4155552671", "ISBN 978-3-16-148410-0", "0-306-40615-2", "1,234,567,890", "2024-01-15", "12:30:45", "order 415-555-2671", "1700000000", "-33.8688, 151.2093", "555-0123", "12 345 678 901 234",
			"550e8400-e29b-41d4-a716-446655440000", "part no. 948-958-8223", "0.4155552671", "RFC 7519", "deltas (91155/91155)", "call about 2023-119", "ref 2291-4471, call back", "call about PO 4155552671", "3 / 4155552671", "https://x.example/4155552671",
		},
	},
}

const (
	minPhoneDigits = 6
	maxPhoneDigits = 15 // ITU-T E.164, beside the prefix of an international call
	maxPhoneGroups = 7
)

// dialled is a candidate for a phone number: groups of digits and what stands between them.
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

// phone finds a phone number that begins at an offset with +, an opening parenthesis or a
// digit. The library knows which numbers exist, but needs about 10 µs for an answer: it is
// asked only about candidates in the groups of a phone number.
func phone(s *scan.Scanner, start, _ int) {
	if start < s.Memory[phoneEnd] || start < s.DateEnd || start < s.AddressEnd && !s.Has(start, '+') || start < s.WordEnd || !phoneBegins(s, start) {
		return
	}
	d := dialledAt(s, start)
	for d.groups > 0 {
		end := d.ends[d.groups-1]
		if d.digits >= minPhoneDigits && phoneEnds(s, end) {
			if score := phoneScore(s, start, d); score > 0 {
				end = extension(s, end)
				s.Add(PhoneNumber, start, end, score, "pattern")
				// A weak one may have begun too early: "room 93 415-555-2671".
				if score >= scan.DefaultThreshold || !(d.spaces && d.marks) && s.Supported(PhoneNumber, start, end) {
					s.Memory[phoneEnd] = end
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
		noteBetween(s, &d, start)
	}
}

func phoneBegins(s *scan.Scanner, start int) bool {
	switch {
	case s.Has(start-1, '('): // of the number's first group, which was tried with it, or of a sentence
		return !s.Has(s.Run(start, scan.Digit), ')') && !s.Is(start-2, scan.Word)
	case s.Has(start, '+'), s.Has(start, '('):
		return !s.Is(start-1, scan.Word) && s.ApartBefore(start)
	}
	return s.ApartBefore(start)
}

func phoneEnds(s *scan.Scanner, end int) bool {
	if s.Has(end, '-') && s.Is(end+1, scan.Letter) { // 555-0100-fax
		return true
	}
	return s.ApartAfter(end) || s.Has(end, 'x') && s.Is(end+1, scan.Digit)
}

// dialledAt reads groups of digits from an offset on.
func dialledAt(s *scan.Scanner, start int) dialled {
	d := dialled{parenthese: -1}
	at := start
	if s.Has(at, '+') {
		d.plus = true
		at++
	}
	for d.groups < maxPhoneGroups {
		open := s.Has(at, '(')
		if open {
			at++
		}
		end := s.Run(at, scan.Digit)
		size := end - at
		if size == 0 || size > maxPhoneDigits || d.digits+size > maxPhoneDigits+3 {
			break
		}
		if open {
			if d.parenthese >= 0 || !s.Has(end, ')') || size > 5 {
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
		case s.Has(at, ' ') && s.Has(at+1, '-') && s.Has(at+2, ' '):
			at += 3
		case d.groups == 1 && s.Text[start] == '0' && strings.HasPrefix(s.Text[at:], " / "): // 0341 / 55 50 123
			at += 3
		case s.Has(at, '-') && s.Has(at+1, '('):
			at++
		case s.Has(at, '.') || s.Has(at, '-') || s.Has(at, '/') || s.Has(at, ' '):
			at++
		}
		if at == end && !open && !s.Has(at, '(') {
			break
		}
	}
	noteBetween(s, &d, start)
	return d
}

// noteBetween records what stands between the groups of a number.
func noteBetween(s *scan.Scanner, d *dialled, start int) {
	if d.groups > 0 {
		text := s.Text[start:d.ends[d.groups-1]]
		d.spaces, d.marks = strings.Contains(text, " "), strings.ContainsAny(text, "-./")
	}
}

// phoneScore returns the score of a candidate without a cue, 0 if it is not a phone number.
func phoneScore(s *scan.Scanner, start int, d dialled) float64 {
	end := d.ends[d.groups-1]
	text := s.Text[start:end]
	sizes := d.sizes[:d.groups]
	for i, n := range sizes {
		// Groups of one digit: 1 415 555 2671, +33 (0)1 42 68 53 00, (0)1 42 68 53 00.
		if n == 1 && !(i == 0 && s.Text[start] == '1' || d.plus && i <= 2 || d.parenthese == i || d.parenthese == 0 && i == 1) {
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
		if !ask(s) {
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
	if s.Opposed(PhoneNumber, start) {
		return 0
	}
	weak := d.spaces && !d.marks && d.parenthese < 0 && s.InRow(start, end)
	if score := nationalScore(s, text, d, sizes, !weak && (d.groups > 1 || s.Supported(PhoneNumber, start, end))); !weak {
		return score
	} else if score > 0 {
		return 0.05
	}
	return 0
}

// nationalScore returns the score of a candidate without + before it. ask says that the
// library may be asked.
func nationalScore(s *scan.Scanner, text string, d dialled, sizes []int, ask bool) float64 {
	grouped := len(sizes) > 1
	if rest, ok := afterPrefix(text); ok {
		return internationalScore(s, rest, sizes, ask)
	}
	if d.digits > 12 || d.digits == 12 && text[0] != '0' && !grouped {
		return 0
	}
	if endWith(sizes, 3, 3, 4) && (len(sizes) == 3 || len(sizes) == 4 && text[0] == '1') || d.parenthese == 0 && endWith(sizes, 3, 7) {
		apart := d.marks || d.parenthese >= 0
		if ask && existsInAmerica(s, text) {
			return either(apart, 0.6, 0.45)
		}
		return either(apart, 0.4, 0.1) // an area code that does not exist: made up, or new
	}
	if ask {
		if score := existingScore(s, text, d, grouped); score > 0 {
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

// internationalScore returns the score of a candidate by the part after its international
// prefix.
func internationalScore(s *scan.Scanner, rest string, sizes []int, ask bool) float64 {
	switch {
	case ask && existsAnywhere(s, "+"+strings.TrimLeft(rest, " -.)")):
		return either(len(sizes) > 1, 0.6, 0.3)
	case endWith(sizes, 3, 3, 4):
		return 0.45
	}
	return 0.05
}

// existingScore returns the score of a number that the library knows, 0 for another number.
func existingScore(s *scan.Scanner, text string, d dialled, grouped bool) float64 {
	switch {
	case strings.TrimLeft(text, "(")[0] == '0' && d.digits >= 9 && existsWithTrunk(s, text):
		return either(grouped, 0.5, 0.25)
	case grouped && d.digits >= 8 && existsWithoutTrunk(s, text, d):
		return 0.45
	case !grouped && d.digits == 10 && text[0] >= '2' && existsInAmerica(s, text):
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

// maxLookups limits how often the library is asked about the numbers of one text, at about
// 10 µs each. Beyond the limit, a number counts as existing if its groups are like those of
// one.
const maxLookups = 5_000

func ask(s *scan.Scanner) bool {
	s.Memory[lookups]++
	return s.Memory[lookups] <= maxLookups
}

// existsAnywhere tells whether an international number exists.
func existsAnywhere(s *scan.Scanner, text string) bool {
	if !ask(s) {
		return true
	}
	n, err := phonenumbers.Parse(text, "")
	return err == nil && phonenumbers.IsValidNumber(n)
}

// existsIn tells whether a national number exists in a region.
func existsIn(s *scan.Scanner, text, region string) bool {
	if !ask(s) {
		return true
	}
	n, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsValidNumberForRegion(n, region)
}

// existsInAmerica tells whether a number exists in one of the selected regions with the
// country code +1.
func existsInAmerica(s *scan.Scanner, text string) bool {
	return slices.ContainsFunc(s.Regions, func(region string) bool { return phonenumbers.IsNANPACountry(region) && existsIn(s, text, region) })
}

// existsWithTrunk tells whether a number that begins with 0 exists in a selected region
// where national numbers begin so.
func existsWithTrunk(s *scan.Scanner, text string) bool {
	return slices.ContainsFunc(s.Regions, func(region string) bool { return trunk(region) == "0" && existsIn(s, text, region) })
}

// existsWithoutTrunk tells whether a number in groups exists in a selected region whose
// national numbers begin without a 0, or are often written without it.
func existsWithoutTrunk(s *scan.Scanner, text string, d dialled) bool {
	return slices.ContainsFunc(s.Regions, func(region string) bool {
		var usual bool
		switch region {
		case "IN":
			usual = d.groups == 2 && d.sizes[0] == 5 && d.sizes[1] == 5 && text[0] >= '6' && text[5] != '/' && text[5] != '.'
		case "BR":
			usual = d.groups == 3 && d.sizes[0] == 2 && d.parenthese == 0 && d.sizes[2] == 4
		default:
			usual = d.groups >= 3 && text[0] != '0' && trunk(region) == ""
		}
		return usual && existsIn(s, text, region)
	})
}

// trunk returns the digits before the national numbers of a region.
func trunk(region string) string { return phonenumbers.GetNddPrefixForRegion(region, true) }

// extension skips the extension after a number: x123, ext. 123.
func extension(s *scan.Scanner, end int) int {
	at := end
	for s.Has(at, ' ') || s.Has(at, ',') && s.Has(at+1, ' ') {
		if at++; at > end+2 {
			return end
		}
	}
	rest := strings.ToLower(s.Text[at:min(len(s.Text), at+len("extension "))])
	for _, word := range [...]string{"extension ", "ext. ", "ext.", "ext ", "ext", "x ", "x"} {
		if !strings.HasPrefix(rest, word) {
			continue
		}
		to := s.Run(at+len(word), scan.Digit)
		if n := to - at - len(word); n >= 1 && n <= 6 && !s.Is(to, scan.Word) {
			return to
		}
	}
	return end
}

// Region returns the ISO 3166 code of a region that has phone numbers, in capitals. name
// may be in small letters, and UK stands for GB. ok is false for any other name.
func Region(name string) (code string, ok bool) {
	code = strings.ToUpper(name)
	if code == "UK" { // not a code, but what everybody writes
		code = "GB"
	}
	return code, phonenumbers.GetSupportedRegions()[code]
}
