package server

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/pii"
)

// healthContent is the type of words about somebody's health, which are no personal data by
// themselves.
const healthContent toxscreen.EntityType = "HEALTH"

// phi returns what makes a text protected health information: the identifiers of HIPAA's
// Safe Harbor among its entities and, if there is one, the words about health beside it,
// ordered by Start. A text without identifiers counts as de-identified, whatever it says.
func phi(text string, entities []toxscreen.Entity) []toxscreen.Entity {
	found := []toxscreen.Entity{}
	for _, e := range entities {
		if pii.IsIdentifier(text, e) || !slices.Contains(pii.Types(), e.Type) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return found
	}
	identifiers := found
	for _, r := range pii.HealthContent(text) {
		i, _ := slices.BinarySearchFunc(identifiers, r.Start, func(e toxscreen.Entity, start int) int { return e.End - start - 1 })
		if i < len(identifiers) && identifiers[i].Start < r.End {
			continue // a part of an identifier, like the name of a hospital
		}
		found = append(found, toxscreen.Entity{Type: healthContent, Start: r.Start, End: r.End, Score: 1, Why: []string{"health term beside an identifier"}})
	}
	slices.SortFunc(found, func(a, b toxscreen.Entity) int { return a.Start - b.Start })
	return found
}

// hipaa says which of the 18 identifiers a finder of some types looks for.
func hipaa(types []toxscreen.EntityType) formats.PatronusHIPAA {
	out := formats.PatronusHIPAA{LookedFor: []string{}, NotLookedFor: []string{}}
	for _, identifier := range pii.HIPAA() {
		line := identifier.Letter + " " + identifier.Name
		if identifier.Note != "" {
			line += ": " + identifier.Note
		}
		if !slices.ContainsFunc(identifier.Types, func(t toxscreen.EntityType) bool { return slices.Contains(types, t) }) {
			if len(identifier.Types) > 0 {
				line += ": the server is not set up to find them"
			}
			out.NotLookedFor = append(out.NotLookedFor, line)
			continue
		}
		out.LookedFor = append(out.LookedFor, line)
	}
	return out
}
