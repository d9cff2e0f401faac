// Package plural writes counts in sentences:
//
//	plural.Count(1, "row is", "rows are")  // 1 row is
//	plural.Count(20, "row is", "rows are") // 20 rows are
package plural

import "fmt"

// Count returns a number with the words for one thing, or for several. 0 things are
// several.
func Count[N int | int64](n N, one, several string) string {
	return fmt.Sprintf("%d %s", n, Word(n, one, several))
}

// Word returns the words for one thing, or for several, without the number.
func Word[N int | int64](n N, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
