package pii

import (
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
)

// layout is how an identifier is written: 0 stands for a digit, A for a capital letter, *
// for either, and anything else for itself. Small letters are read as capitals where a
// layout has letters, at a lower score.
type layout struct {
	form  string
	score float64 // of what passes the check, without a cue
}

// verdict is what a check says of an identifier without its separators.
type verdict uint8

const (
	impossible verdict = iota
	plausible          // it has the form and no more can be told
	checked            // the checksum is right
	sample             // a number that everybody knows from documentation
)

// identifiers are the types whose numbers have layouts. Scores follow the scale of the
// package comment.
var identifiers = []struct {
	typ     toxscreen.EntityType
	layouts []layout
	check   func(id string) verdict
}{
	{CreditCard, []layout{
		{"0000 0000 0000 0000", 1}, {"0000-0000-0000-0000", 1}, {"0000 000000 00000", 1}, {"0000-000000-00000", 1},
		{"0000 000000 0000", 1}, {"0000-000000-0000", 1}, {"0000 0000 0000 0000 000", 1}, {"0000-0000-0000-0000-000", 1},
		{"000000 0000000000000", 1}, {"0000 0000 0000 0000 00", 0.8}, {"0000 0000 0000", 0.2}, {"0000.0000.0000.0000", 0.8},
		{zeros(16), 0.9}, {zeros(15), 0.9}, {zeros(14), 0.7}, {zeros(19), 0.6}, {zeros(18), 0.4}, {zeros(17), 0.4}, {zeros(13), 0.2}, {zeros(12), 0.2},
	}, cardCheck},
	{USSSN, []layout{
		{"000-00-0000", 0.7}, {"000 00 0000", 0.35}, {"000.00.0000", 0.3}, {"000000000", 0.1}, {"000-000000", 0.1}, {"00000-0000", 0.1},
	}, ssnCheck},
	{USITIN, []layout{{"000-00-0000", 0.6}, {"000 00 0000", 0.5}, {"000000000", 0.1}}, itinCheck},
	{ABARouting, []layout{{"000000000", 0.3}, {"0000-0000-0", 0.5}}, passes(aba)},
	{USNPI, []layout{{"0000000000", 0.2}, {"0000-000-000", 0.2}}, passes(npi)},
	{USMBI, []layout{{"0A*0-A*0-AA00", 0.9}, {"0A*0A*0AA00", 0.7}, {"0A*0 A*0 AA00", 0.8}, {"0A00-A*0-AA00", 0.9}}, mbiCheck},
	{MedicalLicense, []layout{{"AA0000000", 0.5}, {"A90000000", 0.3}}, func(id string) verdict {
		return when(strings.IndexByte("ABCDEFGHJKLMPRSTUX", id[0]) >= 0 && dea(id), checked)
	}},
	{UKNHS, []layout{{"000 000 0000", 0.45}, {"000-000-0000", 0.2}, {"0000000000", 0.2}}, func(id string) verdict {
		return when(nhs(id) && !same(id), checked)
	}},
	{UKNINO, []layout{{"AA 00 00 00 A", 0.9}, {"AA000000A", 0.7}, {"AA 000000 A", 0.8}, {"AA-00-00-00-A", 0.8}, {"AA000000 A", 0.6}}, ninoCheck},
	{CASIN, []layout{{"000-000-000", 0.5}, {"000 000 000", 0.4}, {"000000000", 0.2}}, func(id string) verdict {
		if id[0] == '0' || id[0] == '8' { // of samples and companies
			return when(luhn(id), sample)
		}
		return when(luhn(id) && !same(id), checked)
	}},
	{AUTFN, []layout{{"000 000 000", 0.3}, {"000-000-000", 0.2}, {"000000000", 0.2}}, func(id string) verdict {
		return when(tfn(id) && !same(id), checked)
	}},
	{AUMedicare, []layout{{"0000 00000 0", 0.6}, {"0000-00000-0", 0.6}, {"0000000000", 0.2}}, passes(medicare)},
	{INAadhaar, []layout{{"0000 0000 0000", 0.6}, {"0000-0000-0000", 0.6}, {zeros(12), 0.2}}, func(id string) verdict {
		return when(id[0] >= '2' && verhoeff(id) && !same(id), checked)
	}},
	{VIN, []layout{{strings.Repeat("*", 17), 0.7}}, vinCheck},
}

// byLength are the layouts by the length of their first group and whether it may be letters
// only, so that a word is compared with the few that it may begin.
var byLength = func() (table [24][]indexed) {
	for i, id := range identifiers {
		for _, l := range id.layouts {
			first := strings.IndexAny(l.form, " -.")
			if first < 0 {
				first = len(l.form)
			}
			table[first] = append(table[first], indexed{l, i})
		}
	}
	return table
}()

type indexed struct {
	layout

	identifier int
}

func zeros(n int) string { return strings.Repeat("0", n) }

func when(ok bool, v verdict) verdict {
	if ok {
		return v
	}
	return impossible
}

// passes returns the check that is a checksum.
func passes(checksum func(string) bool) func(string) verdict {
	return func(id string) verdict { return when(checksum(id), checked) }
}

// sampleScore is the score of a well-known sample without a cue: below the default
// threshold, and above it with one.
const sampleScore = 0.15

// layouts finds the identifiers that begin with a word.
func (s *scanner) layouts(start, end int) {
	if end-start >= len(byLength) || len(byLength[end-start]) == 0 || !s.apartBefore(start) {
		return
	}
	var buffer [24]byte
	for _, l := range byLength[end-start] {
		to := start + len(l.form)
		if to > len(s.text) || is(s.text, to, wordClass) {
			continue
		}
		id, small, ok := read(s.text[start:to], l.form, buffer[:0])
		if !ok || !s.apartAfter(to) {
			continue
		}
		identifier := &identifiers[l.identifier]
		score := l.score
		why := []string{"pattern"}
		switch identifier.check(id) {
		case impossible:
			continue
		case checked:
			why = []string{"checksum"}
		case sample:
			score = min(score, sampleScore)
		case plausible:
		}
		if small {
			score = min(score, 0.3)
		}
		if strings.Contains(l.form, " ") && s.inRow(start, to) {
			score = min(score, 0.1)
		}
		if score <= 0.9 && s.opposed(identifier.typ, start) {
			continue
		}
		s.add(identifier.typ, start, to, score, why...)
	}
}

// read returns the identifier in a text of a form without its separators, in capitals.
// small is true if it had small letters.
func read(text, form string, buffer []byte) (id string, small, ok bool) {
	for i := range len(form) {
		b := text[i]
		class := classes[b]
		ok = true
		switch f := form[i]; f {
		case '0':
			ok = class == digitClass
		case '*', 'A':
			if class == lowerClass {
				b -= 'a' - 'A'
				small = true
			}
			ok = class&(lowerClass|upperClass) != 0 || f == '*' && class == digitClass
		default:
			if b != f {
				return "", false, false
			}
			if classes[f]&wordClass == 0 {
				continue
			}
		}
		if !ok {
			return "", false, false
		}
		buffer = append(buffer, b)
	}
	return string(buffer), small, true
}

// same tells whether all digits are the same: such numbers pass many checksums and are
// nobody's.
func same(digits string) bool { return strings.Count(digits, digits[:1]) == len(digits) }

// cardBrands are the prefixes and lengths of brands (ISO/IEC 7812 issuer identification
// numbers, as the brands publish them).
var cardBrands = []struct {
	from, to string // the first digits
	lengths  []int
}{
	{"4", "4", []int{13, 16, 19}},               // Visa
	{"51", "55", []int{16}},                     // Mastercard
	{"2221", "2720", []int{16}},                 // Mastercard, since 2017
	{"34", "34", []int{15}},                     // American Express
	{"37", "37", []int{15}},                     //
	{"6011", "6011", []int{16, 19}},             // Discover
	{"644", "659", []int{16, 19}},               //
	{"300", "305", []int{14, 16}},               // Diners Club
	{"3095", "3095", []int{14}},                 //
	{"36", "36", []int{14, 16}},                 //
	{"38", "39", []int{14, 16}},                 //
	{"3528", "3589", []int{16, 19}},             // JCB
	{"2131", "2131", []int{15}},                 //
	{"1800", "1800", []int{15}},                 //
	{"62", "62", []int{16, 17, 18, 19}},         // UnionPay
	{"81", "81", []int{16}},                     //
	{"5018", "5018", []int{12, 13, 16, 18, 19}}, // Maestro
	{"5020", "5020", []int{12, 13, 16, 18, 19}}, //
	{"5038", "5038", []int{12, 13, 16, 18, 19}}, //
	{"5893", "5893", []int{12, 13, 16, 18, 19}}, //
	{"6304", "6304", []int{12, 13, 16, 18, 19}}, //
	{"6759", "6763", []int{12, 13, 16, 18, 19}}, //
	{"2200", "2204", []int{16}},                 // Mir
	{"60", "60", []int{16}},                     // RuPay
	{"508", "508", []int{16}},                   //
}

// cardCheck wants a brand's prefix and length, and Luhn.
func cardCheck(id string) verdict {
	for _, b := range cardBrands {
		if first := id[:len(b.from)]; first >= b.from && first <= b.to && slices.Contains(b.lengths, len(id)) {
			return when(luhn(id) && strings.Count(id, "0") < len(id)-2, checked)
		}
	}
	return impossible
}

// ssnSamples are numbers of advertisements and documentation (Social Security
// Administration, "Social Security Cards Issued by Woolworth"; and those that everybody
// makes up).
var ssnSamples = map[string]bool{"078051120": true, "219099999": true, "123456789": true, "457555462": true, "123121234": true}

// ssnCheck knows the ranges that were never issued (20 CFR 422.103; Social Security
// Number Randomization, 2011).
func ssnCheck(id string) verdict {
	area, group, serial := id[:3], id[3:5], id[5:]
	switch {
	case area == "000" || area == "666" || area >= "900" || group == "00" || serial == "0000":
		return impossible
	case ssnSamples[id] || same(id):
		return sample
	}
	return plausible
}

// itinCheck knows the groups of taxpayer numbers (IRS Publication 4757).
func itinCheck(id string) verdict {
	group := id[3:5]
	return when(id[0] == '9' && (group >= "50" && group <= "65" || group >= "70" && group <= "88" || group >= "90" && group <= "92" || group >= "94"), plausible)
}

// mbiCheck knows the letters that beneficiary identifiers leave out (CMS, Understanding the
// Medicare Beneficiary Identifier Format).
func mbiCheck(id string) verdict {
	return when(id[0] != '0' && !strings.ContainsAny(id, "SLOIBZ"), plausible)
}

// ninoCheck knows the prefixes that are not issued (HMRC, NIM39110).
func ninoCheck(id string) verdict {
	return when(!strings.ContainsAny(id[:2], "DFIQUV") && id[1] != 'O' && !slices.Contains([]string{"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}, id[:2]) && id[8] <= 'D', plausible)
}

// vinCheck takes a number without a valid check digit, too: only North America demands it.
// It scores like a sample, so that it needs a cue.
func vinCheck(id string) verdict {
	letters := 0
	for i := range len(id) {
		if id[i] >= 'A' {
			letters++
		}
	}
	switch {
	case strings.ContainsAny(id, "IOQ") || letters < 3 || letters > 13 || id[16] >= 'A' || id[15] >= 'A':
		return impossible
	case vin(id):
		return checked
	}
	return sample
}
