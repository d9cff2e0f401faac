// Package sentence finds the sentences of a text:
//
//	sentence.Ends("Go away. Now!") // [9 13]
package sentence

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxRun is the number of characters without a letter or a number after which a
// sentence ends. Some rules look ahead from each of them, so that a text of nothing
// else would take quadratic time.
const maxRun = 32

// Ends returns the byte offsets at which the sentences of a text end, ascending; the
// last one is the length of the text. Sentences are those of Unicode Standard Annex
// #29, each with the white space after it. Pieces without letters, numbers and
// symbols, such as empty lines, belong to the sentence before them, or to the first
// one. An empty text has none.
func Ends(text string) []int {
	var ends []int
	at := 0
	for at < len(text) {
		state := -1
		for rest := text[at : at+calm(text[at:])]; rest != ""; {
			var sentence string
			sentence, rest, state = uniseg.FirstSentenceInString(rest, state)
			at += len(sentence)
			last := len(ends) - 1
			// White space at the beginning has no sentence before it.
			if last >= 0 && (nothingIn(sentence) || last == 0 && nothingIn(text[:ends[0]])) {
				ends[last] = at
			} else {
				ends = append(ends, at)
			}
		}
	}
	return ends
}

// calm returns the length in bytes of the beginning of a text that has no run of
// more than maxRun characters without a letter or a number.
func calm(text string) int {
	run := 0
	for i, c := range text {
		switch {
		case unicode.IsLetter(c) || unicode.IsNumber(c):
			run = 0
		case unicode.IsMark(c) || unicode.Is(unicode.Cf, c): // belongs to the character before it
		default:
			if run++; run > maxRun {
				return i
			}
		}
	}
	return len(text)
}

// nothingIn reports whether a piece of a text has nothing that could be scored.
// Symbols could be: they include emoji.
func nothingIn(piece string) bool {
	return strings.IndexFunc(piece, func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsSymbol(c)
	}) < 0
}
