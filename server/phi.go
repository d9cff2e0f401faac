package server

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/pii"
)

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
