// Package kind declares the types of personal data, similar types in one file. Whatever the
// program says or does about a type follows from its declaration; see [scan.Kind] for its
// parts. Package national declares the numbers that countries give out.
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

// All are all kinds, those of package national included, in the order of the documentation.
// Nothing may change them.
var All = slices.Concat(names, mails, phones, internet, money, national.All(), vehicles, medicine, dates, ages, titles, secrets)

// Indexes into [scan.Scanner].Memory: where the last match of some patterns ends, inside
// which no other begins, and how often the library of phone numbers was asked.
const (
	urlEnd = iota
	domainEnd
	phoneEnd
	titleEnd
	lookups
)
