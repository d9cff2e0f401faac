package pii

import (
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/kind"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// Identifier is one of the 18 kinds of identifiers that HIPAA's Safe Harbor requires to
// remove from health data, 45 CFR 164.514(b)(2)(i).
type Identifier struct {
	// Letter is the letter in the regulation, A to R.
	Letter string
	Name   string
	// Note says what the types leave out, or why nothing looks for the identifier.
	Note string
	// Types are the types that find the identifier; empty if nothing looks for it.
	Types []toxscreen.EntityType
}

// HIPAA returns the 18 identifiers in the order of the regulation.
func HIPAA() []Identifier {
	all := []Identifier{
		{Letter: "A", Name: "names"},
		{Letter: "B", Name: "geographic subdivisions smaller than a state", Note: "states and countries are found, too; a ZIP code is found as a part of an address"},
		{Letter: "C", Name: "dates except the year, and ages over 89", Note: "a year alone may stay and is not found"},
		{Letter: "D", Name: "telephone numbers"},
		{Letter: "E", Name: "fax numbers"},
		{Letter: "F", Name: "e-mail addresses"},
		{Letter: "G", Name: "social security numbers"},
		{Letter: "H", Name: "medical record numbers", Note: "with a cue right before"},
		{Letter: "I", Name: "health plan beneficiary numbers", Note: "other plans' with a cue right before"},
		{Letter: "J", Name: "account numbers", Note: "accounts without a form with a cue right before"},
		{Letter: "K", Name: "certificate and license numbers", Note: "with a cue or a checksum; other certificates are not found"},
		{Letter: "L", Name: "vehicle identifiers and serial numbers, including license plates", Note: "plates have no form of their own and are not found"},
		{Letter: "M", Name: "device identifiers and serial numbers", Note: "serial numbers have no form of their own and are not found"},
		{Letter: "N", Name: "web addresses"},
		{Letter: "O", Name: "IP addresses"},
		{Letter: "P", Name: "biometric identifiers, including finger and voice prints", Note: "they are not text"},
		{Letter: "Q", Name: "full-face photographs and comparable images", Note: "they are not text"},
		{Letter: "R", Name: "any other unique identifying number, characteristic, or code", Note: "these and what own recognizers find"},
	}
	for i, identifier := range all {
		all[i].Types = typesOf(func(k scan.Kind) bool { return strings.Contains(k.HIPAA, identifier.Letter) })
	}
	return all
}

// healthWord is the type of words about somebody's health. Alone, they identify nobody.
const healthWord toxscreen.EntityType = "HEALTH"

// HealthInformation returns what makes a text protected health information under HIPAA: the
// identifiers of Safe Harbor among its entities and, if there are any, the words about
// health. entities have byte offsets and are ordered by Start; so is the result. Whatever
// the caller's own recognizers find counts as an identifier; an age under 90 does not. For
// a text without identifiers the result is empty: it counts as de-identified.
func HealthInformation(text string, entities []toxscreen.Entity) []toxscreen.Entity {
	found := []toxscreen.Entity{}
	for _, e := range entities {
		if isIdentifier(text, e) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return found
	}
	identifiers := found
	for _, r := range healthContent(text) {
		i, _ := slices.BinarySearchFunc(identifiers, r.Start, func(e toxscreen.Entity, start int) int { return e.End - start - 1 })
		if i < len(identifiers) && identifiers[i].Start < r.End {
			continue // a part of an identifier, like the name of a hospital
		}
		found = append(found, toxscreen.Entity{Type: healthWord, Start: r.Start, End: r.End, Score: 1, Why: []string{"health term beside an identifier"}})
	}
	slices.SortFunc(found, func(a, b toxscreen.Entity) int { return a.Start - b.Start })
	return found
}

// isIdentifier tells whether an entity is one of [HIPAA]'s identifiers, or can be one: an
// entity of the caller's own recognizers.
func isIdentifier(text string, e toxscreen.Entity) bool {
	if e.Type == kind.Age {
		return kind.IsSafeHarborAge(text[e.Start:e.End])
	}
	all := kind.All
	i := slices.IndexFunc(all, func(k scan.Kind) bool { return k.Type == e.Type })
	return i < 0 || all[i].HIPAA != ""
}

// healthContent returns the words about somebody's health in a text: conditions, symptoms,
// examinations, treatments and medicines, in the order of the text and without overlap. It
// compares words with a list and ignores the context: "cancer" can also be a sign of the
// zodiac.
func healthContent(text string) []toxscreen.Range {
	found := []toxscreen.Range{}
	for at := 0; at < len(text); {
		if !scan.Is(text, at, scan.Word) {
			at++
			continue
		}
		end := scan.Run(text, at, scan.Word)
		if to := healthTerms.longest(text, at, end); to > at {
			found = append(found, toxscreen.Range{Start: at, End: to})
			end = to
		}
		at = end
	}
	return found
}
