// Package spelling finds the name that is most similar to a misspelt one:
//
//	name, similar := spelling.Nearest("thresold", []string{"threshold", "threads"}) // threshold, true
package spelling

import (
	"cmp"
	"slices"

	"github.com/agext/levenshtein"
)

// Nearest returns the name that is most similar to a misspelt one, and whether it is
// similar enough for a suggestion. Without names it returns "".
func Nearest(misspelt string, names []string) (name string, similar bool) {
	if len(names) == 0 {
		return "", false
	}
	name = slices.MaxFunc(names, func(a, b string) int {
		return cmp.Compare(levenshtein.Match(misspelt, a, nil), levenshtein.Match(misspelt, b, nil))
	})
	return name, levenshtein.Similarity(misspelt, name, nil) >= 0.5
}

// DidYouMean returns "; did you mean …?" with the nearest of the names, or nothing if no
// name is similar.
func DidYouMean(misspelt string, names []string) string {
	if name, similar := Nearest(misspelt, names); similar {
		return "; did you mean " + name + "?"
	}
	return ""
}
