// Package kind declares the types of personal data: one file a country, or a family of types that
// are found alike. A declaration has everything that the rest of the program says or does about
// its type; see [scan.Kind] for its parts.
//
// To add a type of a country, write a file like poland.go. Nothing else changes but the tables of
// docs/personal-data.md, which a test compares.
package kind

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/scan"
)

// The types that a network of names finds.
const (
	Person       toxscreen.EntityType = "PERSON"
	Location     toxscreen.EntityType = "LOCATION"
	Address      toxscreen.EntityType = "ADDRESS"
	Organization toxscreen.EntityType = "ORGANIZATION"
	NRP          toxscreen.EntityType = "NRP"
)

var _ = declare(names,
	scan.Kind{Type: Person, Description: "the name of a person", HIPAA: "A", Network: true},
	scan.Kind{Type: Location, Description: "a city, state, country or landmark", HIPAA: "B", Network: true},
	scan.Kind{Type: Address, Description: "a postal address", HIPAA: "B", Network: true},
	scan.Kind{Type: Organization, Description: "a company, an authority, a club", Network: true},
	scan.Kind{Type: NRP, Description: "a nationality, a religious or political group", Network: true},
)

// family is what the types of a file have in common. Families are documented in their order.
type family struct {
	place   int
	country string // a code, of the families of numbers that a country gives out
}

var (
	names    = family{place: 0}
	mails    = family{place: 1}
	phones   = family{place: 2}
	internet = family{place: 3}
	money    = family{place: 4}
	// The numbers of countries are here, see national.
	vehicles = family{place: 6}
	medicine = family{place: 7}
	dates    = family{place: 8}
	ages     = family{place: 9}
	titles   = family{place: 10}
	secrets  = family{place: 11}
)

// national returns the family of a country. Those whose numbers stand in English texts come first.
func national(country string) family { return family{place: 5, country: country} }

const englishSpeaking = "US UK CA AU IN"

func (f family) compare(other family) int {
	rank := func(country string) int {
		if i := strings.Index(englishSpeaking, country); i >= 0 {
			return i
		}
		return len(englishSpeaking)
	}
	return cmp.Or(cmp.Compare(f.place, other.place), cmp.Compare(rank(f.country), rank(other.country)), cmp.Compare(f.country, other.country))
}

// declared are the kinds in the order of the files' names.
var declared []declaration

type declaration struct {
	family
	scan.Kind
}

// declare adds the kinds of a family. It returns something, so that a file can call it in the
// declaration of a variable.
func declare(f family, kinds ...scan.Kind) struct{} {
	for _, k := range kinds {
		declared = append(declared, declaration{f, k})
	}
	return struct{}{}
}

// All returns all kinds in the order of the documentation. Do not change them.
var All = sync.OnceValue(func() []scan.Kind {
	slices.SortStableFunc(declared, func(a, b declaration) int { return a.compare(b.family) })
	all := make([]scan.Kind, len(declared))
	for i, d := range declared {
		all[i] = d.Kind
	}
	return all
})

// What the patterns of this package remember of a text, see [scan.Scanner].Memory: where the last
// of some ends, so that no other begins inside, and how often the library of phone numbers was
// asked.
const (
	urlEnd = iota
	domainEnd
	phoneEnd
	titleEnd
	lookups
)
