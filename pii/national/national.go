// Package national declares the numbers that countries give to people and businesses, in
// one file for each country. To add a number, write a file like poland.go, or extend the
// file of its country, and list the number in the tables of docs/personal-data.md, which a
// test compares with the declarations.
package national

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen/pii/scan"
)

type declaration struct {
	country string
	kinds   []scan.Kind
}

var declared []declaration

// declare registers the kinds of a country by its code of two letters (ISO 3166; UK for
// GB). It returns a value, so that a file can call it in the declaration of a variable.
func declare(country string, kinds ...scan.Kind) struct{} { //nolint:unparam // see above
	declared = append(declared, declaration{country, kinds})
	return struct{}{}
}

// englishSpeaking are the countries that come first in the documentation: English texts
// mention their numbers most.
const englishSpeaking = "US UK CA AU IN"

// All returns the kinds of all countries in the order of the documentation.
func All() []scan.Kind {
	rank := func(country string) int {
		if i := strings.Index(englishSpeaking, country); i >= 0 {
			return i
		}
		return len(englishSpeaking)
	}
	slices.SortFunc(declared, func(a, b declaration) int {
		return cmp.Or(cmp.Compare(rank(a.country), rank(b.country)), strings.Compare(a.country, b.country))
	})
	var all []scan.Kind
	for _, d := range declared {
		all = append(all, d.kinds...)
	}
	return all
}

// isDate tells whether a day is in 1..31 and a month in 1..12. It takes every month to have
// 31 days.
func isDate(day, month int) bool { return day >= 1 && day <= 31 && month >= 1 && month <= 12 }
