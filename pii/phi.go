package pii

import (
	"slices"

	"github.com/toxscreen/toxscreen"
)

// Identifier is one of the 18 kinds of identifiers that must be removed from health data
// under HIPAA's Safe Harbor, 45 CFR 164.514(b)(2)(i).
type Identifier struct {
	// Letter is the one in the regulation, A to R.
	Letter string
	Name   string
	// Types are those that find it; there are none if it is not looked for.
	Types []toxscreen.EntityType
	// Note says what the types leave out, or why there are none.
	Note string
}

// HIPAA returns the 18 identifiers in the order of the regulation.
func HIPAA() []Identifier {
	return []Identifier{
		{"A", "names", []toxscreen.EntityType{Person}, ""},
		{"B", "geographic subdivisions smaller than a state", []toxscreen.EntityType{Location, Address},
			"states and countries are found, too; a ZIP code is found as a part of an address"},
		{"C", "dates except the year, and ages over 89", []toxscreen.EntityType{DateTime, Age}, "a year alone may stay and is not found"},
		{"D", "telephone numbers", []toxscreen.EntityType{PhoneNumber}, ""},
		{"E", "fax numbers", []toxscreen.EntityType{PhoneNumber}, ""},
		{"F", "e-mail addresses", []toxscreen.EntityType{EmailAddress}, ""},
		{"G", "social security numbers", []toxscreen.EntityType{USSSN, USITIN}, ""},
		{"H", "medical record numbers", []toxscreen.EntityType{MedicalRecord}, "with a cue right before"},
		{"I", "health plan beneficiary numbers", []toxscreen.EntityType{HealthPlan, USMBI, UKNHS, AUMedicare}, "other plans' with a cue right before"},
		{"J", "account numbers", []toxscreen.EntityType{USBankNumber, ABARouting, IBANCode, CreditCard, Crypto}, "accounts without a form with a cue right before"},
		{"K", "certificate and license numbers", []toxscreen.EntityType{USDriverLicense, MedicalLicense, USNPI, USPassport}, "with a cue or a checksum; other certificates are not found"},
		{"L", "vehicle identifiers and serial numbers, including license plates", []toxscreen.EntityType{VIN}, "plates have no form of their own and are not found"},
		{"M", "device identifiers and serial numbers", []toxscreen.EntityType{MACAddress}, "serial numbers have no form of their own and are not found"},
		{"N", "web addresses", []toxscreen.EntityType{URL}, ""},
		{"O", "IP addresses", []toxscreen.EntityType{IPAddress}, ""},
		{"P", "biometric identifiers, including finger and voice prints", nil, "they are not text"},
		{"Q", "full-face photographs and comparable images", nil, "they are not text"},
		{"R", "any other unique identifying number, characteristic, or code", []toxscreen.EntityType{
			UKNINO, CASIN, AUTFN, INAadhaar, Secret,
		}, "these and what own recognizers find"},
	}
}

// PHITypes returns the types that find any of [HIPAA]'s identifiers, in the order of
// [Kinds].
func PHITypes() []toxscreen.EntityType {
	wanted := map[toxscreen.EntityType]bool{}
	for _, identifier := range HIPAA() {
		for _, t := range identifier.Types {
			wanted[t] = true
		}
	}
	return slices.DeleteFunc(Types(), func(t toxscreen.EntityType) bool { return !wanted[t] })
}

// IsIdentifier tells whether an entity of a text, with byte offsets, is one of [HIPAA]'s identifiers:
// its type is, and an age is over 89.
func IsIdentifier(text string, e toxscreen.Entity) bool {
	return slices.Contains(PHITypes(), e.Type) && (e.Type != Age || isSafeHarborAge(text[e.Start:e.End]))
}

// HealthContent returns the words of a text that are about somebody's health: conditions,
// symptoms, examinations, treatments and medicines, in the order of the text and without
// overlap. Together with an identifier they make health information personal. It knows a
// list of words and phrases and no context: "cancer" is also a sign of the zodiac.
func HealthContent(text string) []toxscreen.Range {
	found := []toxscreen.Range{}
	for at := 0; at < len(text); {
		if !is(text, at, wordClass) {
			at++
			continue
		}
		end := run(text, at, wordClass)
		if to := healthTerms.longest(text, at, end); to > at {
			found = append(found, toxscreen.Range{Start: at, End: to})
			end = to
		}
		at = end
	}
	return found
}

// healthContent is the type of words about somebody's health, which alone identify nobody.
const healthContent toxscreen.EntityType = "HEALTH"

// HealthInformation returns what makes a text protected health information: the identifiers of
// HIPAA's Safe Harbor among its entities, which have byte offsets, and, if there is one, the
// words about health beside it, ordered by Start. A text without identifiers counts as
// de-identified, whatever it says.
func HealthInformation(text string, entities []toxscreen.Entity) []toxscreen.Entity {
	found := []toxscreen.Entity{}
	for _, e := range entities {
		if IsIdentifier(text, e) || !slices.Contains(Types(), e.Type) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return found
	}
	identifiers := found
	for _, r := range HealthContent(text) {
		i, _ := slices.BinarySearchFunc(identifiers, r.Start, func(e toxscreen.Entity, start int) int { return e.End - start - 1 })
		if i < len(identifiers) && identifiers[i].Start < r.End {
			continue // a part of an identifier, like the name of a hospital
		}
		found = append(found, toxscreen.Entity{Type: healthContent, Start: r.Start, End: r.End, Score: 1, Why: []string{"health term beside an identifier"}})
	}
	slices.SortFunc(found, func(a, b toxscreen.Entity) int { return a.Start - b.Start })
	return found
}
