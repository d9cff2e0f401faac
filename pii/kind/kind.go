// Package kind declares the types of personal data, those that are alike in one file. A declaration
// has everything that the rest of the program says or does about its type; see [scan.Kind] for its
// parts. The numbers that countries give out are in package national.
package kind

import (
	"slices"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii/national"
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

var names = []scan.Kind{
	{Type: Person, Description: "the name of a person", HIPAA: "A", Network: true},
	{Type: Location, Description: "a city, state, country or landmark", HIPAA: "B", Network: true},
	{Type: Address, Description: "a postal address", HIPAA: "B", Network: true},
	{Type: Organization, Description: "a company, an authority, a club", Network: true},
	{Type: NRP, Description: "a nationality, a religious or political group", Network: true},
}

// All are all kinds, with those of package national, in the order of the documentation. Do not
// change them.
var All = slices.Concat(names, mails, phones, internet, money, national.All(), vehicles, medicine, dates, ages, titles, secrets)

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
