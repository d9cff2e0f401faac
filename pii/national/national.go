// Package national declares the numbers that countries give to people and businesses: one file a
// country. To add a number, write a file like poland.go, or add to that of its country. Nothing else
// changes but the tables of docs/personal-data.md, which a test compares.
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

// declare adds the kinds of a country, which has a code of two letters. It returns something, since
// a file calls it to initialise a variable.
func declare(country string, kinds ...scan.Kind) struct{} { //nolint:unparam // see above
	declared = append(declared, declaration{country, kinds})
	return struct{}{}
}

// englishSpeaking countries come first in documentation, since English texts have their numbers.
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

// isDate tells whether there is such a day in the longest months, and such a month.
func isDate(day, month int) bool { return day >= 1 && day <= 31 && month >= 1 && month <= 12 }
